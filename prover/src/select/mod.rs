//! Selection of the device at run time.
//!
//! [`select`] opens the best device that passes the known-answer self-test, within what the user chose;
//! [`survey`] tests every device and says what [`select`] would do. Both take the drivers as a list and a
//! [`DeviceChoice`]; neither remembers anything.

mod choice;
mod examine;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bellwether_core::device::{Backend, DeviceInfo};
use bellwether_core::driver::{CpuDriver, Driver, OpenedDevice};

pub use choice::{ChoiceError, CudaCard, DEVICE_VARIABLE, DeviceChoice, WgpuAdapter};
use examine::{Examination, Extent};

/// The drivers of this build, fastest first.
pub fn drivers() -> Vec<Box<dyn Driver>> {
    vec![
        #[cfg(feature = "cuda")]
        Box::new(bellwether_cuda::CudaDriver::default()),
        #[cfg(feature = "wgpu")]
        Box::new(bellwether_wgpu::WgpuDriver::default()),
        Box::new(CpuDriver),
    ]
}

/// What the user wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectOptions {
    /// Which device.
    pub choice: DeviceChoice,
    /// Whether to fail rather than to end on the CPU, be it through a software adapter chosen by name.
    pub require_gpu: bool,
}

impl SelectOptions {
    /// The choice of the environment variable `BELLWETHER_DEVICE`; `auto` if it is not set.
    ///
    /// # Errors
    /// [`ChoiceError`] for a value that is no choice.
    pub fn from_env() -> Result<Self, ChoiceError> {
        Ok(SelectOptions { choice: DeviceChoice::from_env()?, require_gpu: false })
    }
}

/// The device to prove on.
#[derive(Clone)]
pub struct Selected {
    /// The device, open, its self-test passed.
    pub device: Arc<dyn OpenedDevice>,
    /// What there was to choose from, as far as it had to be looked at.
    pub survey: Survey,
}

impl fmt::Debug for Selected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selected").field("device", self.device.info()).field("survey", &self.survey).finish()
    }
}

/// All devices, and backends without one, in the order in which they are preferred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// One entry a device; one for a backend that is not part of the build, has no device or was not asked.
    pub candidates: Vec<Candidate>,
}

impl Survey {
    /// The device that was chosen.
    pub fn chosen(&self) -> Option<&DeviceInfo> {
        self.candidates.iter().find(|candidate| candidate.verdict == Verdict::Chosen)?.device.as_ref()
    }

    /// Why the others were not chosen, a line each.
    pub fn reasons(&self) -> Vec<String> {
        self.candidates.iter().filter_map(Candidate::reason).collect()
    }
}

/// A device or a backend, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The backend.
    pub backend: Backend,
    /// The device, as it is once it has been opened, if it was; `None` stands for the whole backend.
    pub device: Option<DeviceInfo>,
    /// How it came up; `None` if it was not opened.
    pub trial: Option<Trial>,
    /// What became of it.
    pub verdict: Verdict,
}

impl Candidate {
    /// Device or backend, and why it was not chosen, if there is a reason.
    fn reason(&self) -> Option<String> {
        let (Verdict::PassedOver(reason) | Verdict::Unavailable(reason)) = &self.verdict else {
            return None;
        };
        Some(match &self.device {
            Some(device) => format!("{device}: {reason}"),
            None => format!("{}: {reason}", self.backend),
        })
    }
}

/// How a device came up when it was opened and tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Opening it, which on a GPU includes compiling the kernels or loading compiled ones.
    pub open: Duration,
    /// The self-test. A device that compiles at first use does so here.
    pub self_test: Duration,
    /// Whether it passes the self-test.
    pub passed: bool,
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the one.
    Chosen,
    /// It passes the self-test; another one was chosen.
    Usable,
    /// It is there but not to be used, and why: the user's choice, a software adapter, a failed self-test.
    PassedOver(String),
    /// It cannot be used, and why: not part of the build, no driver, no device, cannot be opened.
    Unavailable(String),
}

/// No device was selected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// The backend of an explicit choice is not part of this build.
    #[error("{choice} is not part of this build, which has {}", list(available))]
    NotInBuild {
        /// The choice.
        choice: DeviceChoice,
        /// The backends there are.
        available: Vec<Backend>,
    },
    /// A GPU is required and none can be used.
    #[error("a GPU is required and none can be used: {}", reasons.join("; "))]
    NoGpu {
        /// Why not, a line each device or backend.
        reasons: Vec<String>,
    },
    /// A GPU is required and the choice is the CPU.
    #[error("require_gpu and the choice cpu contradict each other")]
    Contradiction,
    /// The device of the choice cannot be used.
    #[error("{choice} cannot be used: {reason}")]
    NotUsable {
        /// The choice.
        choice: DeviceChoice,
        /// Why not.
        reason: String,
    },
}

fn list(backends: &[Backend]) -> String {
    let names: Vec<&str> = backends.iter().map(|backend| backend.name()).collect();
    match names.is_empty() {
        true => "no backend".into(),
        false => names.join(", "),
    }
}

/// Opens the device to prove on and runs its self-test, blocking until that is done.
///
/// [`DeviceChoice::Auto`] takes a CUDA card if one passes, else a hardware wgpu adapter that passes, else the
/// CPU. An explicit choice never falls back, and drivers that it rules out are not touched. The result, and
/// why others were passed over, is logged as one event; a device that fails its self-test gets a warning.
///
/// # Errors
/// [`SelectError::Contradiction`] and [`SelectError::NotInBuild`] before any driver is touched;
/// [`SelectError::NotUsable`] if the device chosen explicitly does not exist, cannot be opened or fails its
/// self-test; [`SelectError::NoGpu`] if a GPU is required and none passes.
pub fn select(drivers: &[Box<dyn Driver>], options: &SelectOptions) -> Result<Selected, SelectError> {
    check(drivers, options)?;
    let Examination { survey, opened } = examine::examine(drivers, options, Extent::UntilChosen);
    let Some(device) = opened else {
        return Err(nothing_usable(&survey, options));
    };
    tracing::info!(
        device = %device.info(),
        choice = %options.choice,
        passed_over = %survey.reasons().join("; "),
        "device selected"
    );
    Ok(Selected { device, survey })
}

/// Opens every device, runs its self-test, closes it, and marks the one that [`select`] would take.
///
/// With the choice `cpu` no other driver is touched here either. Devices that pass but that the choice rules
/// out are [`Verdict::Usable`].
pub fn survey(drivers: &[Box<dyn Driver>], options: &SelectOptions) -> Survey {
    examine::examine(drivers, options, Extent::All).survey
}

/// What is wrong with the options before any driver is asked.
fn check(drivers: &[Box<dyn Driver>], options: &SelectOptions) -> Result<(), SelectError> {
    if options.require_gpu && options.choice == DeviceChoice::Cpu {
        return Err(SelectError::Contradiction);
    }
    let available: Vec<Backend> = drivers.iter().map(|driver| driver.backend()).collect();
    match options.choice.backend() {
        Some(backend) if !available.contains(&backend) => {
            Err(SelectError::NotInBuild { choice: options.choice.clone(), available })
        }
        _ => Ok(()),
    }
}

/// The error for a survey in which nothing was chosen.
fn nothing_usable(survey: &Survey, options: &SelectOptions) -> SelectError {
    let admitted = || {
        let candidates = survey.candidates.iter();
        candidates.filter(|candidate| options.choice.admits(candidate.backend))
    };
    if options.require_gpu && options.choice == DeviceChoice::Auto {
        let gpus = admitted().filter(|candidate| candidate.backend != Backend::Cpu);
        return SelectError::NoGpu { reasons: gpus.filter_map(Candidate::reason).collect() };
    }
    let named = |candidate: &Candidate| {
        let device = candidate.device.as_ref();
        device.is_none_or(|device| options.choice.names(device) != Some(false))
    };
    let reasons: Vec<String> =
        admitted().filter(|candidate| named(candidate)).filter_map(Candidate::reason).collect();
    let reason = match reasons.is_empty() {
        false => reasons.join("; "),
        true => {
            let there: Vec<String> = admitted()
                .filter_map(|candidate| candidate.device.as_ref())
                .map(DeviceInfo::to_string)
                .collect();
            format!("there is no such device; there are {}", there.join(", "))
        }
    };
    SelectError::NotUsable { choice: options.choice.clone(), reason }
}
