use std::sync::{Arc, Mutex};

use bellwether_core::device::{Detail, DeviceError};

use super::*;
use crate::testing::{FakeDevice, FakeDriver, Log};

fn options(choice: &str, require_gpu: bool) -> SelectOptions {
    SelectOptions { choice: choice.parse().unwrap(), require_gpu }
}

fn cuda(ordinal: usize) -> FakeDevice {
    FakeDevice::new(Backend::Cuda, ordinal, "Card")
}

fn wgpu(ordinal: usize, name: &str) -> FakeDevice {
    FakeDevice::new(Backend::Wgpu, ordinal, name)
}

/// Drivers of all backends; `None` leaves one out.
fn build(cuda: Option<Vec<FakeDevice>>, wgpu: Option<Vec<FakeDevice>>, log: &Log) -> Vec<Box<dyn Driver>> {
    let cpu = FakeDevice::new(Backend::Cpu, 0, "Host");
    [(Backend::Cuda, cuda), (Backend::Wgpu, wgpu), (Backend::Cpu, Some(vec![cpu]))]
        .into_iter()
        .filter_map(|(backend, devices)| Some(FakeDriver::boxed(backend, devices?, log)))
        .collect()
}

/// The name under which the device selected is known, `cuda:1`, or the error's message.
fn outcome(drivers: &[Box<dyn Driver>], options: &SelectOptions) -> String {
    match select(drivers, options) {
        Ok(selected) => {
            let info = selected.device.info();
            assert_eq!(selected.survey.chosen(), Some(info));
            format!("{}:{}", info.backend, info.ordinal)
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn auto_prefers_cuda_then_hardware_wgpu_then_the_cpu() {
    let soft = || wgpu(0, "llvmpipe").software();
    let table = [
        (Some(vec![cuda(0), cuda(1)]), Some(vec![wgpu(0, "GPU")]), "cuda:0"),
        (Some(vec![cuda(0).failing(), cuda(1)]), Some(vec![wgpu(0, "GPU")]), "cuda:1"),
        (Some(vec![cuda(0).failing()]), Some(vec![soft(), wgpu(1, "GPU")]), "wgpu:1"),
        (Some(vec![]), Some(vec![wgpu(0, "GPU").failing(), wgpu(1, "iGPU")]), "wgpu:1"),
        (None, Some(vec![soft()]), "cpu:0"),
        (None, Some(vec![wgpu(0, "GPU").failing()]), "cpu:0"),
        (None, None, "cpu:0"),
    ];
    for (cuda, wgpu, expected) in table {
        let drivers = build(cuda, wgpu, &Log::default());
        assert_eq!(outcome(&drivers, &options("auto", false)), expected);
    }
}

#[test]
fn a_card_is_chosen_by_its_uuid() {
    let with_uuid = |ordinal, uuid: &str| {
        let mut card = cuda(ordinal);
        card.info.details = vec![("uuid", Detail::Text(uuid.into()))];
        card
    };
    let cards =
        vec![cuda(0), with_uuid(1, "GPU-aa11-22"), with_uuid(2, "GPU-aa11-33"), with_uuid(3, "GPU-bb")];
    let drivers = build(Some(cards), None, &Log::default());
    for (choice, expected) in [
        ("cuda:GPU-aa11-22", "cuda:1"),
        ("cuda:GPU-AA11-33", "cuda:2"),
        ("cuda:GPU-b", "cuda:3"),
        ("cuda:GPU-aa", "cuda:1"),
    ] {
        assert_eq!(outcome(&drivers, &options(choice, false)), expected);
    }
    let there = "cuda:0 (Card), cuda:1 (Card), cuda:2 (Card), cuda:3 (Card)";
    assert_eq!(
        outcome(&drivers, &options("cuda:GPU-c", false)),
        format!("cuda:GPU-c cannot be used: there is no such device; there are {there}")
    );
}

#[test]
fn an_explicit_choice_never_falls_back() {
    let machine = || {
        let adapters = vec![wgpu(0, "llvmpipe").software(), wgpu(1, "Radeon").failing(), wgpu(2, "Arc A770")];
        build(Some(vec![cuda(0).failing(), cuda(1)]), Some(adapters), &Log::default())
    };
    let mismatch =
        |device| format!("fails its self-test: msm: {device} and the known answer differ at index 0");
    let table = [
        ("cpu", "cpu:0".to_owned()),
        ("cuda", "cuda:1".into()),
        ("cuda:1", "cuda:1".into()),
        ("cuda:0", format!("cuda:0 cannot be used: cuda:0 (Card): {}", mismatch("cuda:0 (Card)"))),
        (
            "cuda:7",
            "cuda:7 cannot be used: there is no such device; there are cuda:0 (Card), cuda:1 (Card)".into(),
        ),
        ("wgpu", "wgpu:2".into()),
        ("wgpu:0", "wgpu:0".into()),
        ("wgpu:LLVM", "wgpu:0".into()),
        ("wgpu:arc", "wgpu:2".into()),
        ("wgpu:1", format!("wgpu:1 cannot be used: wgpu:1 (Radeon): {}", mismatch("wgpu:1 (Radeon)"))),
    ];
    for (choice, expected) in table {
        assert_eq!(outcome(&machine(), &options(choice, false)), expected, "{choice}");
    }
}

#[test]
fn a_backend_without_hardware_is_not_used_by_its_bare_name() {
    let drivers = build(None, Some(vec![wgpu(0, "llvmpipe").software()]), &Log::default());
    assert_eq!(
        outcome(&drivers, &options("wgpu", false)),
        "wgpu cannot be used: wgpu:0 (llvmpipe): computes in software, which is used only by name: wgpu:0"
    );
}

#[test]
fn a_backend_that_is_not_built_is_named_with_those_that_are() {
    let drivers = build(None, None, &Log::default());
    assert_eq!(
        select(&drivers, &options("cuda:1", false)).unwrap_err(),
        SelectError::NotInBuild {
            choice: DeviceChoice::Cuda(Some(CudaCard::Index(1))),
            available: vec![Backend::Cpu]
        }
    );
    assert_eq!(outcome(&drivers, &options("wgpu", true)), "wgpu is not part of this build, which has cpu");
}

#[test]
fn require_gpu_never_ends_on_the_cpu() {
    let none = build(Some(vec![cuda(0).failing()]), None, &Log::default());
    let Err(SelectError::NoGpu { reasons }) = select(&none, &options("auto", true)) else {
        panic!("no error");
    };
    assert_eq!(reasons.len(), 2);
    assert!(reasons[0].starts_with("cuda:0 (Card): fails its self-test"));
    assert_eq!(reasons[1], "wgpu: not part of this build");

    let log = Log::default();
    let some = build(Some(vec![cuda(0)]), None, &log);
    assert_eq!(outcome(&some, &options("auto", true)), "cuda:0");
    assert_eq!(outcome(&some, &options("cuda", true)), "cuda:0");
    log.lock().unwrap().clear();
    assert_eq!(select(&some, &options("cpu", true)).unwrap_err(), SelectError::Contradiction);
    assert!(log.lock().unwrap().is_empty());
}

#[test]
fn a_software_adapter_is_no_gpu_even_by_name() {
    let drivers = build(None, Some(vec![wgpu(0, "llvmpipe").software()]), &Log::default());
    assert_eq!(outcome(&drivers, &options("wgpu:0", false)), "wgpu:0");
    assert_eq!(
        outcome(&drivers, &options("wgpu:0", true)),
        "wgpu:0 cannot be used: wgpu:0 (llvmpipe): a GPU is required, and this computes on the CPU"
    );
}

#[test]
fn cpu_mode_touches_no_other_driver() {
    let log = Log::default();
    let drivers = build(Some(vec![cuda(0)]), Some(vec![wgpu(0, "GPU")]), &log);
    let selected = select(&drivers, &options("cpu", false)).unwrap();
    assert_eq!(selected.device.info().backend, Backend::Cpu);
    let cpu_only = ["cpu probe", "cpu:0 open", "cpu:0 self-test"];
    assert_eq!(*log.lock().unwrap(), cpu_only);

    log.lock().unwrap().clear();
    let survey = survey(&drivers, &options("cpu", false));
    assert_eq!(survey.chosen().unwrap().backend, Backend::Cpu);
    assert_eq!(*log.lock().unwrap(), cpu_only);
    assert_eq!(
        survey.candidates[0].verdict,
        Verdict::PassedOver("not asked, since the choice is cpu".into())
    );
}

#[test]
fn a_driver_that_cannot_be_used_is_passed_over_with_its_reason() {
    let log = Log::default();
    let missing = DeviceError::NoDriver { found: None, needed: "525".into() };
    let mut drivers = build(None, None, &log);
    drivers.insert(0, FakeDriver::broken(Backend::Cuda, missing, &log));
    let selected = select(&drivers, &options("auto", false)).unwrap();
    assert_eq!(selected.device.info().backend, Backend::Cpu);
    assert_eq!(
        selected.survey.reasons(),
        ["cuda: no usable driver: none found, 525 needed", "wgpu: not part of this build"]
    );
    assert_eq!(
        outcome(&drivers, &options("cuda", false)),
        "cuda cannot be used: cuda: no usable driver: none found, 525 needed"
    );
}

#[test]
fn a_device_that_cannot_be_opened_is_unavailable() {
    let mut busy = cuda(0);
    busy.open = Err(DeviceError::OutOfMemory { asked: 10, free: Some(1) });
    let drivers = build(Some(vec![busy]), None, &Log::default());
    let selected = select(&drivers, &options("auto", false)).unwrap();
    assert_eq!(
        selected.survey.candidates[0].verdict,
        Verdict::Unavailable("out of memory: 10 bytes asked, 1 free".into())
    );
}

#[test]
fn a_survey_tests_every_device_and_marks_what_select_would_take() {
    let adapters = || vec![wgpu(0, "llvmpipe").software(), wgpu(1, "Radeon").failing(), wgpu(2, "Arc")];
    for choice in ["auto", "cuda", "cuda:1", "wgpu", "wgpu:0", "wgpu:arc", "cpu"] {
        for require_gpu in [false, true] {
            let log = Log::default();
            let drivers = build(Some(vec![cuda(0), cuda(1)]), Some(adapters()), &log);
            let options = options(choice, require_gpu);
            let survey = survey(&drivers, &options);
            let tests = log.lock().unwrap().iter().filter(|entry| entry.ends_with("self-test")).count();
            assert_eq!(tests, if choice == "cpu" { 1 } else { 6 }, "{choice}");
            let chosen = survey.chosen().map(ToString::to_string);
            let selected = select(&drivers, &options).ok();
            let selected = selected.map(|selected| selected.device.info().to_string());
            assert_eq!(chosen, selected, "{choice} {require_gpu}");
        }
    }
}

#[test]
fn verdicts_of_a_survey() {
    let adapters = vec![wgpu(0, "llvmpipe").software(), wgpu(1, "Arc")];
    let drivers = build(None, Some(adapters), &Log::default());
    let verdicts: Vec<Verdict> = survey(&drivers, &SelectOptions::default())
        .candidates
        .into_iter()
        .map(|candidate| candidate.verdict)
        .collect();
    assert_eq!(
        verdicts,
        [
            Verdict::Unavailable("not part of this build".into()),
            Verdict::PassedOver("computes in software, which is used only by name: wgpu:0".into()),
            Verdict::Chosen,
            Verdict::Usable,
        ]
    );
}

#[test]
fn a_trial_is_told_of_every_device_that_was_opened() {
    let mut closed = cuda(1);
    closed.open = Err(DeviceError::DeviceLost { reason: "asleep".into() });
    let drivers = build(Some(vec![cuda(0).failing(), closed]), None, &Log::default());
    let passed = |survey: &Survey| -> Vec<Option<bool>> {
        let candidates = survey.candidates.iter();
        candidates.map(|candidate| candidate.trial.map(|trial| trial.passed)).collect()
    };
    let survey = survey(&drivers, &SelectOptions::default());
    assert_eq!(passed(&survey), [Some(false), None, None, Some(true)]);
    let selected = select(&drivers, &options("cpu", false)).unwrap();
    assert_eq!(passed(&selected.survey), [None, None, Some(true)]);
}

#[test]
fn the_choice_is_logged_once_and_a_failing_card_warned_of() {
    let events = Events::default();
    let drivers = build(Some(vec![cuda(0).failing()]), None, &Log::default());
    tracing::subscriber::with_default(events.clone(), || {
        select(&drivers, &SelectOptions::default()).unwrap();
    });
    let events = events.0.lock().unwrap();
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[0].starts_with("WARN") && events[0].contains("cuda:0 (Card)"), "{events:?}");
    assert!(events[1].starts_with("INFO") && events[1].contains("device selected"), "{events:?}");
    assert!(events[1].contains("wgpu: not part of this build"), "{events:?}");
}

#[test]
fn the_real_cpu_is_selected() {
    let selected = select(&super::drivers(), &options("cpu", false)).unwrap();
    assert_eq!(selected.device.info().backend, Backend::Cpu);
}

/// Collects events as text.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Events {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("bellwether::select")
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!(" {field}={value:?}");
            }
        }
        let mut fields = Fields(event.metadata().level().to_string());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
