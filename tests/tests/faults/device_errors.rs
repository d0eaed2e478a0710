//! CHECKS 9: the k-th operation fails, for every k.

use std::sync::Arc;

use bellwether_core::device::{CpuDevice, DeviceError};
use bellwether_core::groth16::{Generators, ProveError, SetupError, Trapdoor, generate_key};
use bellwether_tests::conformance::inputs::seeded;
use bellwether_tests::conformance::proofs::prove;
use bellwether_tests::faulty::{Fault, Faulty, When};
use pollster::block_on;

use crate::common::{PATHS, Setting, faulty, keyed};

/// One of each kind of error that a running device gives.
fn errors() -> [DeviceError; 4] {
    [
        DeviceError::OutOfMemory { asked: 1 << 30, free: Some(1 << 20) },
        DeviceError::DeviceLost { reason: "it fell off the bus".into() },
        DeviceError::Launch { operation: "msm_accumulate".into(), reason: "an illegal address".into() },
        DeviceError::Compile { kernel: "ntt".into(), log: "syntax error".into() },
    ]
}

/// The error is the one planted, in the words of the device.
fn check_named(found: &ProveError, planted: &DeviceError) {
    assert!(matches!(found, ProveError::Device { error, .. } if error == planted), "{found}");
    assert!(found.is_device_fault());
    let message = found.to_string();
    assert!(message.contains(&planted.to_string()) && message.contains("cpu ("), "{message}");
}

#[test]
fn every_operation_of_a_proof_fails_once() {
    for path in PATHS {
        let setting = Setting::new(path);
        let live = setting.device.live();
        assert!(setting.proving.len() > 25, "{:?}", setting.proving);
        for (call, operation) in setting.proving.iter().enumerate() {
            let planted = errors()[call % 4].clone();
            let outcome = setting.prove_under(When::Calls(vec![call]), Fault::Error(planted.clone()));
            let error = outcome.expect_err(&format!("{path:?}, call {call}, {operation:?}"));
            check_named(&error, &planted);
            setting.check_usable(live);
        }
    }
}

#[test]
fn a_device_is_lost_at_every_operation_and_comes_back() {
    let [_, lost, ..] = errors();
    let setting = Setting::new(PATHS[0]);
    let live = setting.device.live();
    for call in 0..setting.proving.len() {
        setting.device.arm(When::From(call), Fault::Error(lost.clone()));
        for _ in 0..2 {
            let error = setting.try_prove(&Default::default()).expect_err("the device is lost");
            check_named(&error, &lost);
        }
        setting.device.disarm();
        setting.check_usable(live);
    }
}

#[test]
fn every_operation_of_opening_a_session_fails_once() {
    for path in PATHS {
        let keyed = keyed();
        let calls = Setting::new(path).opening;
        assert!(calls.len() >= 9, "{calls:?}");
        for (call, operation) in calls.into_iter().enumerate() {
            let device = faulty();
            let planted = errors()[call % 4].clone();
            device.arm(When::Calls(vec![call]), Fault::Error(planted.clone()));
            match path.open(&keyed, Arc::clone(&device)) {
                Ok(_) => assert_eq!(call, usize::MAX, "opening {path:?} ignores a fault of {operation:?}"),
                Err(error) => check_named(&error, &planted),
            }
            assert_eq!(device.live(), 0, "what was made resident is freed");
            device.disarm();
            let session = path.open(&keyed, device).expect("the next attempt");
            let proven = prove(&session, &path.assignment(&keyed));
            assert!(keyed.verifies(&proven), "{path:?}, call {call}");
        }
    }
}

#[test]
fn every_operation_of_set_up_fails_once() {
    let keyed = keyed();
    let device = Faulty::new(CpuDevice::new());
    let make = || {
        let trapdoor = Trapdoor::from_rng(seeded(3));
        block_on(generate_key(&device, &keyed.r1cs, &trapdoor, &Generators::default()))
    };
    make().expect("a key");
    let calls = device.disarm();
    assert!(calls.len() > 10, "{calls:?}");
    for (call, planted) in (0..calls.len()).zip(errors().into_iter().cycle()) {
        device.arm(When::Calls(vec![call]), Fault::Error(planted.clone()));
        let error = make().expect_err("set-up reports the fault");
        assert!(matches!(&error, SetupError::Device(found) if *found == planted), "{error}");
        device.disarm();
        make().expect("the next attempt");
        assert_eq!(device.live(), 0);
    }
}
