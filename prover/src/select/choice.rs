//! The user's choice of a device, in code, on a command line or in the environment.

use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

use bellwether_core::device::{Backend, Detail, DeviceInfo};

/// The environment variable that [`DeviceChoice::from_env`] reads.
pub const DEVICE_VARIABLE: &str = "BELLWETHER_DEVICE";

/// What [`DeviceChoice::from_str`] accepts, for messages and help texts.
const ACCEPTED: &str = "auto, cpu, cuda, cuda:N, cuda:GPU-UUID, wgpu, wgpu:N, wgpu:NAME";

/// Which device to prove on.
///
/// Written `auto`, `cpu`, `cuda`, `cuda:N`, `cuda:GPU-UUID`, `wgpu`, `wgpu:N` or `wgpu:NAME`, in lower case but for
/// identity and name.
/// All but `auto` are explicit: if the device cannot be used, that is an error and no other is tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// A CUDA card that passes the self-test, else a hardware wgpu adapter that does, else the CPU.
    #[default]
    Auto,
    /// The CPU; no other driver is touched.
    Cpu,
    /// This CUDA card, or the first that passes the self-test.
    Cuda(Option<CudaCard>),
    /// This wgpu adapter, or the first that passes the self-test and does not compute in software.
    Wgpu(Option<WgpuAdapter>),
}

/// A CUDA card, named explicitly.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CudaCard {
    /// The card with this ordinal, as `bellwether devices` lists them: among those that `CUDA_VISIBLE_DEVICES` shows.
    Index(usize),
    /// The first card whose UUID begins so: `GPU-` and hexadecimal digits in groups, as `nvidia-smi -L` prints it.
    Uuid(String),
}

/// A wgpu adapter, named explicitly. Only so is one used that computes in software.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WgpuAdapter {
    /// The adapter with this ordinal, as `bellwether devices` lists them.
    Index(usize),
    /// The first adapter whose name contains this text, in whatever case. A text of digits alone is written
    /// as, and so read as, an ordinal.
    Name(String),
}

/// A text that is no [`DeviceChoice`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceError {
    value: String,
    variable: Option<&'static str>,
}

impl ChoiceError {
    /// The text.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The environment variable that it comes from, if it does.
    pub fn variable(&self) -> Option<&str> {
        self.variable
    }
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(variable) = self.variable {
            write!(f, "{variable}: ")?;
        }
        write!(f, "unknown device {:?}; accepted are {ACCEPTED}", self.value)
    }
}

impl std::error::Error for ChoiceError {}

impl FromStr for DeviceChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let unknown = || ChoiceError { value: text.to_owned(), variable: None };
        match text.split_once(':') {
            None => match text {
                "auto" => Ok(DeviceChoice::Auto),
                "cpu" => Ok(DeviceChoice::Cpu),
                "cuda" => Ok(DeviceChoice::Cuda(None)),
                "wgpu" => Ok(DeviceChoice::Wgpu(None)),
                _ => Err(unknown()),
            },
            Some(("cuda", ordinal)) if is_digits(ordinal) => {
                let ordinal = ordinal.parse().map_err(|_| unknown())?;
                Ok(DeviceChoice::Cuda(Some(CudaCard::Index(ordinal))))
            }
            Some(("cuda", uuid)) if is_uuid(uuid) => {
                Ok(DeviceChoice::Cuda(Some(CudaCard::Uuid(uuid.to_owned()))))
            }
            Some(("wgpu", ordinal)) if is_digits(ordinal) => {
                let ordinal = ordinal.parse().map_err(|_| unknown())?;
                Ok(DeviceChoice::Wgpu(Some(WgpuAdapter::Index(ordinal))))
            }
            Some(("wgpu", name)) if !name.trim().is_empty() => {
                Ok(DeviceChoice::Wgpu(Some(WgpuAdapter::Name(name.to_owned()))))
            }
            Some(_) => Err(unknown()),
        }
    }
}

/// Whether a text is a number as an ordinal is written: `parse` alone would take "+1".
fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text begins as the UUID of a card does.
fn is_uuid(text: &str) -> bool {
    let is_part = |digits: &str| digits.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    text.strip_prefix("GPU-").is_some_and(|digits| !digits.is_empty() && is_part(digits))
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Cuda(None) => f.write_str("cuda"),
            DeviceChoice::Cuda(Some(CudaCard::Index(ordinal))) => write!(f, "cuda:{ordinal}"),
            DeviceChoice::Cuda(Some(CudaCard::Uuid(uuid))) => write!(f, "cuda:{uuid}"),
            DeviceChoice::Wgpu(None) => f.write_str("wgpu"),
            DeviceChoice::Wgpu(Some(WgpuAdapter::Index(ordinal))) => write!(f, "wgpu:{ordinal}"),
            DeviceChoice::Wgpu(Some(WgpuAdapter::Name(name))) => write!(f, "wgpu:{name}"),
        }
    }
}

impl DeviceChoice {
    /// The choice in [`DEVICE_VARIABLE`]; [`Auto`](DeviceChoice::Auto) if that is unset or empty.
    ///
    /// # Errors
    /// [`ChoiceError`], which names the variable, if it holds anything else.
    pub fn from_env() -> Result<Self, ChoiceError> {
        DeviceChoice::from_variable(std::env::var_os(DEVICE_VARIABLE))
    }

    fn from_variable(value: Option<OsString>) -> Result<Self, ChoiceError> {
        let value = value.unwrap_or_default();
        if value.is_empty() {
            return Ok(DeviceChoice::Auto);
        }
        // What is not Unicode holds a replacement character afterwards and is refused unless it is part of a
        // name, where it matches no adapter.
        value
            .to_string_lossy()
            .parse()
            .map_err(|error| ChoiceError { variable: Some(DEVICE_VARIABLE), ..error })
    }

    /// The backend that an explicit choice means.
    pub fn backend(&self) -> Option<Backend> {
        match self {
            DeviceChoice::Auto => None,
            DeviceChoice::Cpu => Some(Backend::Cpu),
            DeviceChoice::Cuda(_) => Some(Backend::Cuda),
            DeviceChoice::Wgpu(_) => Some(Backend::Wgpu),
        }
    }

    /// Whether the choice leaves this backend open.
    pub(super) fn admits(&self, backend: Backend) -> bool {
        self.backend().is_none_or(|chosen| chosen == backend)
    }

    /// Whether the choice is for one device rather than for a backend, and for this one.
    pub(super) fn names(&self, device: &DeviceInfo) -> Option<bool> {
        match self {
            DeviceChoice::Cuda(Some(CudaCard::Index(ordinal)))
            | DeviceChoice::Wgpu(Some(WgpuAdapter::Index(ordinal))) => Some(*ordinal == device.ordinal),
            DeviceChoice::Cuda(Some(CudaCard::Uuid(uuid))) => {
                let is_it = |(name, detail): &(&str, Detail)| match detail {
                    Detail::Text(text) => {
                        *name == "uuid" && text.to_lowercase().starts_with(&uuid.to_lowercase())
                    }
                    Detail::Bytes(_) => false,
                };
                Some(device.details.iter().any(is_it))
            }
            DeviceChoice::Wgpu(Some(WgpuAdapter::Name(name))) => {
                Some(device.name.to_lowercase().contains(&name.to_lowercase()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(ordinal: usize) -> DeviceChoice {
        DeviceChoice::Cuda(Some(CudaCard::Index(ordinal)))
    }

    fn uuid(uuid: &str) -> DeviceChoice {
        DeviceChoice::Cuda(Some(CudaCard::Uuid(uuid.into())))
    }

    fn index(ordinal: usize) -> DeviceChoice {
        DeviceChoice::Wgpu(Some(WgpuAdapter::Index(ordinal)))
    }

    fn name(name: &str) -> DeviceChoice {
        DeviceChoice::Wgpu(Some(WgpuAdapter::Name(name.into())))
    }

    #[test]
    fn accepted_choices_and_what_they_mean() {
        let table = [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda", DeviceChoice::Cuda(None)),
            ("cuda:0", card(0)),
            ("cuda:17", card(17)),
            ("cuda:GPU-8932f937-d72c", uuid("GPU-8932f937-d72c")),
            (
                "cuda:GPU-8932F937-d72c-4106-c12f-20bd9faed9f6",
                uuid("GPU-8932F937-d72c-4106-c12f-20bd9faed9f6"),
            ),
            ("wgpu", DeviceChoice::Wgpu(None)),
            ("wgpu:0", index(0)),
            ("wgpu:3", index(3)),
            ("wgpu:Radeon RX 7900", name("Radeon RX 7900")),
            ("wgpu:llvmpipe (LLVM 15: 256 bits)", name("llvmpipe (LLVM 15: 256 bits)")),
            ("wgpu:-1", name("-1")),
        ];
        for (text, choice) in table {
            assert_eq!(text.parse(), Ok(choice.clone()), "{text}");
            assert_eq!(choice.to_string(), text);
        }
    }

    #[test]
    fn everything_else_is_refused_with_the_list() {
        for text in [
            "",
            " ",
            "gpu",
            "CPU",
            "Auto",
            "cpu ",
            " cpu",
            "cpu:0",
            "auto:",
            "auto:0",
            "cuda:",
            "cuda:x",
            "cuda:-1",
            "cuda:+1",
            "cuda: 1",
            "cuda:1:2",
            "cuda:GPU",
            "cuda:GPU-",
            "cuda:GPU-x",
            "cuda:gpu-8932f937",
            "cuda:8932f937-d72c",
            "cuda:GPU-12 34",
            "cuda:99999999999999999999999",
            "wgpu:",
            "wgpu: ",
            "wgpu:99999999999999999999999",
            "vulkan",
            "opencl:0",
            "0",
            "1",
            "true",
            ":",
            "cuda0",
        ] {
            let error = text.parse::<DeviceChoice>().unwrap_err();
            assert_eq!((error.value(), error.variable()), (text, None));
            let message = error.to_string();
            assert!(message.contains(ACCEPTED) && message.contains(&format!("{text:?}")), "{message}");
        }
    }

    #[test]
    fn the_variable_is_read_and_named() {
        let read = |text: &str| DeviceChoice::from_variable(Some(OsString::from(text)));
        assert_eq!(DeviceChoice::from_variable(None), Ok(DeviceChoice::Auto));
        assert_eq!(read(""), Ok(DeviceChoice::Auto));
        assert_eq!(read("cuda:2"), Ok(card(2)));
        let error = read("fastest").unwrap_err();
        assert_eq!(error.variable(), Some("BELLWETHER_DEVICE"));
        assert_eq!(
            error.to_string(),
            format!("BELLWETHER_DEVICE: unknown device \"fastest\"; accepted are {ACCEPTED}")
        );
    }
}
