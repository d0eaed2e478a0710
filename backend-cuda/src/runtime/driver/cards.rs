//! The cards there are.

use std::ffi::{CStr, c_char, c_int};
use std::sync::Arc;

use bellwether_core::device::{Backend, Detail, DeviceError, DeviceInfo};
use cudarc::driver::sys::{CUdevice, CUdevice_attribute, CUuuid};

use super::api::Api;

/// What kernels need: reductions over a warp, from compute capability 8.0 on.
const OLDEST: Architecture = Architecture { major: 8, minor: 0 };

/// A compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Architecture {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl Architecture {
    /// As compilers number it: 90 for 9.0.
    pub(crate) fn number(self) -> u32 {
        10 * self.major + self.minor
    }

    /// Of a compiler's number.
    pub(crate) fn of_number(number: u32) -> Architecture {
        Architecture { major: number / 10, minor: number % 10 }
    }
}

impl std::fmt::Display for Architecture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A card that nothing has been opened on.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    pub(crate) handle: CUdevice,
    pub(crate) ordinal: usize,
    pub(crate) name: String,
    pub(crate) uuid: String,
    pub(crate) architecture: Architecture,
    pub(crate) multiprocessors: usize,
    pub(crate) memory: u64,
    /// Bytes of shared memory that a block may ask for.
    pub(crate) shared_bytes: usize,
    /// Whether memory can be allocated in the order of a stream.
    pub(crate) pools: bool,
    driver: String,
}

/// All cards that the driver shows, which honours `CUDA_VISIBLE_DEVICES`.
pub(crate) fn cards(api: &Arc<Api>) -> Result<Vec<Card>, DeviceError> {
    let mut count = 0;
    // SAFETY: it takes a pointer to a number.
    api.check("counting cards", unsafe { (api.device_count)(&mut count) })?;
    (0..count).map(|number| Card::look_at(api, number)).collect()
}

impl Card {
    fn look_at(api: &Api, number: c_int) -> Result<Card, DeviceError> {
        const OPERATION: &str = "looking at a card";
        let mut handle = 0;
        // SAFETY: it takes a pointer to a handle, and the number is below the count.
        api.check(OPERATION, unsafe { (api.device_get)(&mut handle, number) })?;
        let attribute = |attribute: CUdevice_attribute| {
            let mut value = 0;
            // SAFETY: it takes a pointer to a number; the handle is the driver's.
            let asked = unsafe { (api.device_attribute)(&mut value, attribute, handle) };
            api.check(OPERATION, asked).map(|()| u32::try_from(value).unwrap_or(0))
        };
        let mut name = [0 as c_char; 256];
        // SAFETY: it writes a text of at most so many bytes, the zero at its end among them.
        api.check(OPERATION, unsafe { (api.device_name)(name.as_mut_ptr(), 256, handle) })?;
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: it writes sixteen bytes.
        api.check(OPERATION, unsafe { (api.device_uuid)(&mut uuid, handle) })?;
        let mut memory = 0;
        // SAFETY: it takes a pointer to a size.
        api.check(OPERATION, unsafe { (api.device_memory)(&mut memory, handle) })?;
        use CUdevice_attribute::*;
        Ok(Card {
            handle,
            ordinal: number as usize,
            name: text(&name.map(|byte| byte as u8)),
            uuid: uuid_text(&uuid.bytes.map(|byte| byte as u8)),
            architecture: Architecture {
                major: attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                minor: attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            },
            multiprocessors: attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as usize,
            memory: memory as u64,
            shared_bytes: attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize,
            pools: attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? != 0,
            driver: format!("CUDA {}", api.version()),
        })
    }

    /// Fails if kernels cannot run on it.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        match self.architecture >= OLDEST {
            true => Ok(()),
            false => Err(DeviceError::Unsupported {
                what: format!("compute capability {} of {}", self.architecture, self.name),
                why: format!("kernels need {OLDEST} or later"),
            }),
        }
    }

    /// What is known of it before it is opened.
    pub(crate) fn info(&self) -> DeviceInfo {
        DeviceInfo {
            backend: Backend::Cuda,
            ordinal: self.ordinal,
            name: self.name.clone(),
            api: None,
            driver: Some(self.driver.clone()),
            software: false,
            memory_total: Some(self.memory),
            memory_free: None,
            shares_host_memory: false,
            units: self.multiprocessors,
            details: vec![
                ("compute capability", Detail::Text(self.architecture.to_string())),
                ("uuid", Detail::Text(self.uuid.clone())),
            ],
        }
    }
}

/// The text before the first zero.
fn text(bytes: &[u8]) -> String {
    let text = CStr::from_bytes_until_nul(bytes).unwrap_or_default();
    text.to_string_lossy().trim().to_owned()
}

/// As the vendor's tools write it: `GPU-` and five groups of hexadecimal digits.
fn uuid_text(bytes: &[u8; 16]) -> String {
    let mut text = "GPU".to_owned();
    for (i, byte) in bytes.iter().enumerate() {
        if [0, 4, 6, 8, 10].contains(&i) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_written_as_the_tools_write_them() {
        let bytes = std::array::from_fn(|i| 0x11 * i as u8);
        assert_eq!(uuid_text(&bytes), "GPU-00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(text(b"NVIDIA H200\0rest"), "NVIDIA H200");
    }

    #[test]
    fn architectures_are_numbered_and_ordered() {
        for (number, text) in [(80, "8.0"), (89, "8.9"), (90, "9.0"), (100, "10.0"), (120, "12.0")] {
            let architecture = Architecture::of_number(number);
            assert_eq!((architecture.number(), architecture.to_string()), (number, text.to_owned()));
        }
        assert!(Architecture::of_number(100) > Architecture::of_number(90));
    }
}
