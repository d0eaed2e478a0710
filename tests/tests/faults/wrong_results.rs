//! CHECKS 1: the k-th result is wrong and nobody says so, for every k. No unverified proof is returned.

use std::sync::Arc;

use bellwether_core::groth16::{ProveError, Proven};
use bellwether_tests::conformance::proofs::{blinding, prove};
use bellwether_tests::faulty::{Operation, When};
use pollster::block_on;

use crate::common::{PATHS, Setting, WRONG, faulty, keyed};

#[test]
fn a_result_is_wrong_once_and_the_second_proof_is_right() {
    for path in PATHS {
        let setting = Setting::new(path);
        let live = setting.device.live();
        for (call, operation) in setting.proving.iter().enumerate() {
            let proven =
                setting.prove_under(When::Calls(vec![call]), WRONG).expect("the second attempt succeeds");
            assert!(setting.keyed.verifies(&proven), "{path:?}, call {call}, {operation:?}");
            let expected = if operation.has_result() { 2 } else { 1 };
            assert_eq!(proven.attempts, expected, "{path:?}, call {call}, {operation:?}");
            setting.check_usable(live);
        }
    }
}

#[test]
fn a_result_is_wrong_in_both_attempts() {
    for path in PATHS {
        let setting = Setting::new(path);
        let (live, calls) = (setting.device.live(), setting.proving.len());
        let with_result = setting.proving.iter().enumerate().filter(|(_, operation)| operation.has_result());
        for (call, operation) in with_result {
            let outcome = setting.prove_under(When::Calls(vec![call, call + calls]), WRONG);
            check_refused(outcome, &format!("{path:?}, call {call}, {operation:?}"));
            setting.check_usable(live);
        }
    }
}

/// Every result of one kind of operation is wrong, as with a kernel that the compiler breaks.
#[test]
fn an_operation_is_always_wrong() {
    for path in PATHS {
        let setting = Setting::new(path);
        let mut operations = setting.proving.clone();
        operations.retain(|operation| operation.has_result());
        operations.dedup();
        for operation in operations {
            let outcome = setting.prove_under(When::Every(operation), WRONG);
            check_refused(outcome, &format!("{path:?}, {operation:?}"));
        }
    }
}

/// What was made resident when the session was opened is wrong: every proof fails, until a session is opened anew.
#[test]
fn the_resident_key_is_wrong() {
    for path in PATHS {
        let keyed = keyed();
        let assignment = path.assignment(&keyed);
        for (call, operation) in Setting::new(path).opening.into_iter().enumerate() {
            let device = faulty();
            device.arm(When::Calls(vec![call]), WRONG);
            let session = path.open(&keyed, Arc::clone(&device)).expect("nobody notices");
            device.disarm();
            for _ in 0..2 {
                let outcome = block_on(session.prove(&assignment, &blinding(), &Default::default()));
                check_refused(outcome, &format!("{path:?}, call {call}, {operation:?}"));
            }
            let session = path.open(&keyed, device).expect("a sound session");
            assert!(keyed.verifies(&prove(&session, &assignment)));
        }
    }
}

/// A fault that strikes twice in one proof, by two different operations.
#[test]
fn two_results_are_wrong() {
    let setting = Setting::new(PATHS[0]);
    let calls: Vec<usize> =
        (0..setting.proving.len()).filter(|&call| setting.proving[call].has_result()).collect();
    assert!(setting.proving.contains(&Operation::Msm));
    for pair in calls.windows(2) {
        let proven = setting.prove_under(When::Calls(pair.to_vec()), WRONG).expect("the second attempt");
        assert!(setting.keyed.verifies(&proven));
        assert_eq!(proven.attempts, 2);
    }
}

/// Two proofs were made, neither was returned, and the device is named.
fn check_refused(outcome: Result<Proven, ProveError>, what: &str) {
    match outcome {
        Ok(proven) => assert_eq!(proven.attempts, u32::MAX, "{what}: a proof in spite of the fault"),
        Err(error) => {
            assert!(matches!(error, ProveError::InvalidProof { attempts: 2, .. }), "{what}: {error}");
            assert!(error.is_device_fault(), "{what}");
            assert!(error.to_string().contains("cpu ("), "{what}: {error}");
        }
    }
}
