//! CHECKS 2: a session stays as good as it was. CHECKS 10: memory is looked at before work begins. CHECKS 21:
//! cancellation between phases.

use std::sync::Arc;
use std::time::Duration;

use bellwether_core::device::CpuDevice;
use bellwether_core::groth16::{Assignment, Blinding, Cancellation, PhaseTimes, ProveError, Session, Step};
use bellwether_core::plan::{ProofSizes, proof_memory};
use bellwether_tests::conformance::proofs::{Keyed, blinding, prove};
use bellwether_tests::faulty::{Fault, Faulty, Operation, When};
use bellwether_tests::program::Program;
use blstrs::Scalar;
use ff::Field;
use pollster::block_on;

use crate::common::{PATHS, Setting, keyed};

/// Proof 200 is proof 2, byte for byte under the same blinding, and leaves as much on the device.
#[test]
fn proof_200_is_as_good_as_proof_2() {
    let setting = Setting::new(PATHS[0]);
    let live = setting.device.live();
    let second = prove(&setting.session, &setting.assignment);
    for number in 3..200 {
        let proven = block_on(setting.session.prove(
            &setting.assignment,
            &Blinding::random().expect("random"),
            &Cancellation::new(),
        ))
        .expect("a proof");
        assert_eq!((proven.attempts, setting.device.live()), (1, live), "proof {number}");
        assert_ne!(proven.proof, second.proof, "fresh blinding");
    }
    let last = prove(&setting.session, &setting.assignment);
    assert_eq!(last.proof.to_bytes(), second.proof.to_bytes());
    assert!(setting.keyed.verifies(&last));
    drop(setting.session);
    assert_eq!(setting.device.live(), 0, "a session frees its key");
}

/// Witnesses do not mix: many of them in turn on one session.
#[test]
fn one_session_proves_many_statements() {
    let statement = |seed: u64| {
        let mut program = Program::satisfied(30, 2, 1);
        program.steps[0] = bellwether_tests::program::Step::Input(seed.into());
        program
    };
    let keyed = Keyed::new(&CpuDevice::new(), statement(0));
    let session = keyed.session(Arc::new(CpuDevice::new()));
    for seed in 0..20 {
        let assignment = Assignment::collect(statement(seed)).expect("a witness");
        let proven = prove(&session, &assignment);
        assert_eq!((proven.attempts, proven.public_inputs[0]), (1, seed.into()));
    }
}

fn needed(keyed: &Keyed) -> u64 {
    let key = &keyed.key;
    proof_memory(&ProofSizes {
        domain: key.h.len() + 1,
        variables: keyed.r1cs.shape().num_variables(),
        // The key stands in memory that the CPU shares.
        g1_points: 0,
        g2_points: 0,
        matrix_entries: 0,
    })
}

#[test]
fn too_little_memory_is_foreseen() {
    let keyed = keyed();
    let needed = needed(&keyed);
    for path in PATHS {
        for free in [0, 1, needed / 2, needed - 1] {
            let device = Arc::new(Faulty::new(CpuDevice::new()).with_memory_free(free));
            let error = path.open(&keyed, Arc::clone(&device)).err().expect("refused");
            let message = error.to_string();
            assert!(
                matches!(error, ProveError::Memory { needed: n, free: f, .. } if (n, f) == (needed, free)),
                "{message}"
            );
            assert!(
                message.contains(&format!("{needed} bytes")) && message.contains(&format!("{free} are free")),
                "{message}"
            );
            assert!(error.is_device_fault());
            assert_eq!(device.disarm(), [], "no work is begun");
        }
        let device = Arc::new(Faulty::new(CpuDevice::new()).with_memory_free(needed));
        let session = path.open(&keyed, device).expect("just enough");
        assert!(keyed.verifies(&prove(&session, &path.assignment(&keyed))));
    }
}

/// The phase that is not begun when cancellation comes with this operation of the phase before.
fn phase_after(operation: Operation, in_g2: bool) -> Option<Step> {
    match operation {
        Operation::UploadWitness | Operation::Upload | Operation::Spmv => Some(Step::NttMsmH),
        Operation::CosetQuotient | Operation::Ntt | Operation::Quotient | Operation::Msm => {
            Some(Step::BatchAdd)
        }
        Operation::Select | Operation::BatchAdd => Some(Step::TailMsm),
        Operation::TailMsm if !in_g2 => Some(Step::BG2Msm),
        _ => None,
    }
}

/// Cancelled at every operation: the phase that follows is not begun, and the session stays usable.
#[test]
fn cancellation_ends_a_proof_between_phases() {
    for path in PATHS {
        let setting = Setting::new(path);
        let live = setting.device.live();
        let tails = |calls: &[Operation]| calls.iter().filter(|call| **call == Operation::TailMsm).count();
        let mut cancelled = 0;
        for (call, &operation) in setting.proving.iter().enumerate() {
            let cancellation = Cancellation::new();
            let switch = cancellation.clone();
            let action = Fault::Run(Arc::new(move || switch.cancel()));
            setting.device.arm(When::Calls(vec![call]), action);
            let outcome = setting.try_prove(&cancellation);
            let calls = setting.device.disarm();
            // The fourth tail is that of b in G2, in the last phase.
            let before = phase_after(operation, tails(&setting.proving[..call]) == 3);
            match (outcome, before) {
                (Err(ProveError::Cancelled { before: found }), Some(expected)) => {
                    assert_eq!(found, Some(expected), "{path:?}, call {call}, {operation:?}");
                    assert!(calls.len() < setting.proving.len(), "{calls:?}");
                    cancelled += 1;
                }
                // A mark between two phases: whichever comes next.
                (Err(ProveError::Cancelled { .. }), None) => assert_eq!(operation, Operation::Mark),
                (Ok(proven), None) => assert!(setting.keyed.verifies(&proven)),
                (outcome, before) => assert_eq!(
                    outcome.map(|proven| proven.attempts).map_err(|error| error.to_string()),
                    Ok(u32::MAX),
                    "{path:?}, call {call}, {operation:?}: expected {before:?}"
                ),
            }
            setting.check_usable(live);
        }
        assert!(cancelled > 10, "{cancelled}");
    }
}

#[test]
fn a_proof_cancelled_beforehand_does_no_work() {
    let setting = Setting::new(PATHS[0]);
    let cancellation = Cancellation::new();
    cancellation.cancel();
    for _ in 0..3 {
        let error = setting.try_prove(&cancellation).expect_err("cancelled");
        assert!(matches!(error, ProveError::Cancelled { before: Some(Step::Spmv) }), "{error}");
        assert!(!error.is_device_fault());
    }
    let calls = setting.device.disarm();
    assert!(calls.iter().all(|call| *call == Operation::Mark), "{calls:?}");
    setting.check_usable(setting.device.live());
}

/// Cancelling one proof does not touch another on the same session.
#[test]
fn cancellation_is_of_one_proof() {
    let keyed = keyed();
    let session: Session<CpuDevice> = keyed.session(Arc::new(CpuDevice::new()));
    let (ended, running) = (Cancellation::new(), Cancellation::new());
    ended.cancel();
    let assignment = keyed.assignment();
    assert!(block_on(session.prove(&assignment, &blinding(), &ended)).is_err());
    assert!(block_on(session.prove(&assignment, &blinding(), &running)).is_ok());
    assert!(!running.is_cancelled());
}

/// The time an operation takes is counted in its phase and in no other.
#[test]
fn time_is_counted_in_its_phase() {
    const PAUSE: Duration = Duration::from_millis(60);
    let setting = Setting::new(PATHS[0]);
    let calls_of = |wanted: Operation| {
        let calls = setting.proving.iter().enumerate().filter(move |(_, operation)| **operation == wanted);
        calls.map(|(call, _)| call).collect::<Vec<_>>()
    };
    let tails = calls_of(Operation::TailMsm);
    let first = |operation| calls_of(operation)[0];
    type PhaseOf = fn(&PhaseTimes) -> Duration;
    let phases: [(usize, PhaseOf); 7] = [
        (first(Operation::UploadWitness), |times| times.spmv),
        (first(Operation::Spmv), |times| times.spmv),
        (first(Operation::CosetQuotient), |times| times.ntt_msm_h),
        (first(Operation::Select), |times| times.batch_add),
        (first(Operation::BatchAdd), |times| times.batch_add),
        (tails[0], |times| times.tail_msm),
        (tails[3], |times| times.b_g2_msm),
    ];
    for (call, phase) in phases {
        let pause = Fault::Run(Arc::new(|| std::thread::sleep(PAUSE)));
        let proven = setting.prove_under(When::Calls(vec![call]), pause).expect("a proof");
        let times = proven.times;
        assert!(phase(&times) >= PAUSE, "call {call}: {times:?}");
        assert!(times.gpu_total >= PAUSE && times.gpu >= PAUSE && times.total >= PAUSE, "{times:?}");
        let all = [times.spmv, times.ntt_msm_h, times.batch_add, times.tail_msm, times.b_g2_msm];
        assert_eq!(all.iter().sum::<Duration>(), times.gpu_total);
    }
}

/// A witness whose constant is not one is the caller's fault, found before the device is touched.
#[test]
fn the_constant_one_is_checked() {
    let setting = Setting::new(PATHS[0]);
    let (variables, inputs) =
        (setting.keyed.r1cs.shape().num_variables(), setting.keyed.r1cs.shape().num_inputs);
    for constant in [Scalar::ZERO, Scalar::from(2u64)] {
        let witness = (0..variables).map(|variable| if variable == 0 { constant } else { Scalar::ONE });
        let assignment = Assignment::from_witness(witness.collect(), inputs);
        setting.device.disarm();
        let (blinding, cancellation) = (Blinding::none(), Cancellation::new());
        let error =
            block_on(setting.session.prove(&assignment, &blinding, &cancellation)).expect_err("refused");
        assert!(matches!(error, ProveError::NotOne) && !error.is_device_fault(), "{error}");
        assert_eq!(setting.device.disarm(), []);
    }
}
