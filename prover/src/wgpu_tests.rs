//! Selection and proofs with the wgpu driver of this build, on a software adapter that has to be there.
#![cfg(feature = "wgpu")]

use std::sync::Arc;

use bellwether_core::device::CpuDevice;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::*;
use crate::testing::Cubic;

/// What the driver tells of lavapipe, and its place among the adapters.
#[track_caller]
fn lavapipe() -> DeviceInfo {
    let drivers = drivers();
    let wgpu = drivers.iter().find(|driver| driver.backend() == Backend::Wgpu).expect("part of this build");
    let adapters = wgpu.probe().unwrap_or_default();
    let software = adapters.into_iter().find(|device| device.name.contains("llvmpipe"));
    software.expect("no software adapter is there: install libvulkan1 and mesa-vulkan-drivers")
}

fn options(choice: &str, require_gpu: bool) -> SelectOptions {
    SelectOptions { choice: choice.parse().unwrap(), require_gpu }
}

/// Why a device was not chosen.
fn reason(survey: &Survey, device: &DeviceInfo) -> String {
    let is_it = |found: &DeviceInfo| (found.backend, found.ordinal) == (device.backend, device.ordinal);
    let candidate = survey.candidates.iter().find(|candidate| candidate.device.as_ref().is_some_and(is_it));
    match candidate.unwrap().verdict.clone() {
        Verdict::PassedOver(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn auto_passes_a_software_adapter_over_and_says_why() {
    let software = lavapipe();
    let selected = select(&drivers(), &options("auto", false)).unwrap();
    let chosen = selected.device.info();
    assert!(!chosen.software, "{chosen}");
    // A machine with a card of its own does not get so far as to ask whether this is software.
    if chosen.backend == Backend::Cpu {
        let address = format!("wgpu:{}", software.ordinal);
        let expected = format!("computes in software, which is used only by name: {address}");
        assert_eq!(reason(&selected.survey, &software), expected);
        let reasons = selected.survey.reasons().join("; ");
        assert!(reasons.contains(&format!("{software}: {expected}")), "{reasons}");
    }
}

#[test]
fn a_backend_without_a_name_is_no_name() {
    lavapipe();
    match select(&drivers(), &options("wgpu", false)) {
        Ok(selected) => assert!(!selected.device.info().software),
        Err(error) => assert!(error.to_string().contains("used only by name: wgpu:"), "{error}"),
    }
}

#[test]
fn software_is_no_gpu() {
    let software = lavapipe();
    let error = select(&drivers(), &options("wgpu:llvmpipe", true)).unwrap_err();
    assert!(error.to_string().contains("a GPU is required, and this computes on the CPU"), "{error}");
    let error = select(&drivers(), &options("wgpu:4095", false)).unwrap_err().to_string();
    assert!(error.contains("there is no such device; there are"), "{error}");
    assert!(error.contains(&software.to_string()), "{error}");
}

#[test]
fn an_adapter_says_what_decides_how_it_computes() {
    let software = lavapipe();
    assert_eq!(software.api.as_deref(), Some("Vulkan"));
    assert!(software.driver.is_some());
    let names: Vec<&str> = software.details.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["tier", "binding", "workgroup memory"]);
    assert!(matches!(software.details[1].1, Detail::Bytes(binding) if binding >= 128 << 20));
}

/// The same key each time it is made.
fn key_made_on(device: &dyn OpenedDevice) -> ProvingKey {
    let trapdoor = Trapdoor::from_rng(StdRng::seed_from_u64(1));
    generate_key(device, Cubic::default(), &trapdoor, &Generators::default()).unwrap()
}

#[test]
fn a_named_software_adapter_makes_the_same_key() {
    let file = |key: ProvingKey| {
        let mut bytes = Vec::new();
        key.write(&mut bytes).unwrap();
        bytes
    };
    lavapipe();
    let selected = select(&drivers(), &options("wgpu:llvmpipe", false)).unwrap();
    assert!(file(key_made_on(&*selected.device)) == file(key_made_on(&CpuDevice::new())));
}

#[test]
fn a_named_software_adapter_makes_the_same_proof() {
    let software = lavapipe();
    let cpu = CpuDevice::new();
    let key = key_made_on(&cpu);
    let on_cpu = Prover::new(Arc::new(cpu), &key, Cubic::default()).unwrap();
    let blinding = || Blinding::from_rng(StdRng::seed_from_u64(2));
    let expected = on_cpu.prove_with(Cubic::solved(3), &blinding()).unwrap();

    for choice in [format!("wgpu:{}", software.ordinal), "wgpu:llvmpipe".into(), "wgpu:LLVMpipe".into()] {
        let selected = select(&drivers(), &options(&choice, false)).unwrap();
        let info = selected.device.info();
        assert_eq!((info.backend, info.ordinal), (Backend::Wgpu, software.ordinal), "{choice}");
        assert_eq!(selected.survey.chosen(), Some(info));
        let prover = Prover::new(selected.device, &key, Cubic::default()).unwrap();
        let proven = prover.prove_with(Cubic::solved(3), &blinding()).unwrap();
        assert_eq!(proven.proof.to_bytes(), expected.proof.to_bytes(), "{choice}");
        assert_eq!(proven.device, software.to_string());
    }
}
