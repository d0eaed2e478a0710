//! The walk over drivers and devices behind [`select`](super::select()) and [`survey`](super::survey()).

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use bellwether_core::device::{Backend, DeviceInfo};
use bellwether_core::driver::{Driver, OpenedDevice};

use super::{Candidate, DeviceChoice, SelectOptions, Survey, Trial, Verdict};

/// Backends in the order in which `auto` prefers them.
const PREFERENCE: [Backend; 3] = [Backend::Cuda, Backend::Wgpu, Backend::Cpu];

/// How far to go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Until a device is chosen, and only where the choice allows.
    UntilChosen,
    /// To every device, but for the choice `cpu`.
    All,
}

/// What was found, and the device chosen.
pub(super) struct Examination {
    pub(super) survey: Survey,
    pub(super) opened: Option<Arc<dyn OpenedDevice>>,
}

pub(super) fn examine(drivers: &[Box<dyn Driver>], options: &SelectOptions, extent: Extent) -> Examination {
    let mut walk = Walk { options, extent, survey: Survey::default(), opened: None };
    for backend in PREFERENCE {
        let mut missing = true;
        for driver in drivers.iter().filter(|driver| driver.backend() == backend) {
            missing = false;
            walk.visit_driver(&**driver);
        }
        if missing {
            walk.add(backend, Verdict::Unavailable("not part of this build".into()));
        }
    }
    Examination { survey: walk.survey, opened: walk.opened }
}

struct Walk<'a> {
    options: &'a SelectOptions,
    extent: Extent,
    survey: Survey,
    opened: Option<Arc<dyn OpenedDevice>>,
}

impl Walk<'_> {
    /// Adds an entry for a whole backend.
    fn add(&mut self, backend: Backend, verdict: Verdict) {
        self.survey.candidates.push(Candidate { backend, device: None, trial: None, verdict });
    }

    fn visit_driver(&mut self, driver: &dyn Driver) {
        let backend = driver.backend();
        if let Some(reason) = self.reason_not_to_ask(backend) {
            return self.add(backend, Verdict::PassedOver(reason));
        }
        match driver.probe() {
            Err(error) => self.add(backend, Verdict::Unavailable(error.to_string())),
            Ok(devices) if devices.is_empty() => {
                self.add(backend, Verdict::Unavailable("no device found".into()));
            }
            Ok(devices) => {
                for device in devices {
                    let candidate = self.judge(driver, device);
                    self.survey.candidates.push(candidate);
                }
            }
        }
    }

    /// Why a driver is not even probed.
    fn reason_not_to_ask(&self, backend: Backend) -> Option<String> {
        let choice = &self.options.choice;
        let ruled_out = !choice.admits(backend);
        // Somebody who asks for the CPU wants no driver loaded, be it for a survey.
        if ruled_out && (self.extent == Extent::UntilChosen || *choice == DeviceChoice::Cpu) {
            return Some(format!("not asked, since the choice is {choice}"));
        }
        if self.extent == Extent::UntilChosen {
            return self.reason_not_to_open(backend);
        }
        None
    }

    /// Why a device of this backend is not opened once the choice admits it.
    fn reason_not_to_open(&self, backend: Backend) -> Option<String> {
        if let Some(chosen) = &self.opened {
            return Some(format!("not asked, since {} comes first", chosen.info()));
        }
        (self.options.require_gpu && backend == Backend::Cpu).then(|| Objection::NoGpu.to_string())
    }

    fn judge(&mut self, driver: &dyn Driver, device: DeviceInfo) -> Candidate {
        let objection = self.objection(&device);
        let untried = |device: DeviceInfo, verdict| Candidate {
            backend: device.backend,
            device: Some(device),
            trial: None,
            verdict,
        };
        if self.extent == Extent::UntilChosen {
            let reason = self.reason_not_to_open(device.backend);
            if let Some(reason) = reason.or_else(|| objection.as_ref().map(Objection::to_string)) {
                return untried(device, Verdict::PassedOver(reason));
            }
        }
        let began = Instant::now();
        let opened = match driver.open(device.ordinal) {
            Ok(opened) => opened,
            Err(error) => return untried(device, Verdict::Unavailable(error.to_string())),
        };
        let open = began.elapsed();
        let outcome = pollster::block_on(opened.self_test());
        let trial = Trial { open, self_test: began.elapsed() - open, passed: outcome.is_ok() };
        // What it is once it is open, its free memory above all.
        let device = opened.info().clone();
        let verdict = match outcome {
            Err(error) => {
                tracing::warn!(%device, %error, "a device fails its self-test and is not used");
                Verdict::PassedOver(format!("fails its self-test: {error}"))
            }
            Ok(()) => self.verdict_on(opened, objection),
        };
        Candidate { backend: device.backend, device: Some(device), trial: Some(trial), verdict }
    }

    /// What becomes of a device that passes its self-test.
    fn verdict_on(&mut self, opened: Arc<dyn OpenedDevice>, objection: Option<Objection>) -> Verdict {
        match objection {
            None if self.opened.is_none() => {
                self.opened = Some(opened);
                Verdict::Chosen
            }
            None | Some(Objection::OtherChoice(_)) => Verdict::Usable,
            Some(objection) => Verdict::PassedOver(objection.to_string()),
        }
    }

    fn objection(&self, device: &DeviceInfo) -> Option<Objection> {
        let SelectOptions { choice, require_gpu } = self.options;
        let named = choice.names(device);
        if !choice.admits(device.backend) || named == Some(false) {
            return Some(Objection::OtherChoice(choice.clone()));
        }
        let is_cpu = device.backend == Backend::Cpu;
        if *require_gpu && (is_cpu || device.software) {
            return Some(Objection::NoGpu);
        }
        (device.software && !is_cpu && named.is_none())
            .then_some(Objection::Software(device.backend, device.ordinal))
    }
}

/// Why a device must not be chosen though it may pass its self-test.
enum Objection {
    OtherChoice(DeviceChoice),
    NoGpu,
    Software(Backend, usize),
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objection::OtherChoice(choice) => write!(f, "the choice is another device, {choice}"),
            Objection::NoGpu => f.write_str("a GPU is required, and this computes on the CPU"),
            Objection::Software(backend, ordinal) => {
                write!(f, "computes in software, which is used only by name: {backend}:{ordinal}")
            }
        }
    }
}
