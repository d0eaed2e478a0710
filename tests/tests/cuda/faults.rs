//! What goes wrong on a device of CUDA, and what is left afterwards: on the host build of the kernels. Numbers such as
//! CHECKS 9 are those of the list of checks that the project keeps.

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bellwether_core::device::{CpuDevice, Device, DeviceError};
use bellwether_core::groth16::{Assignment, Cancellation, ProveError, Proven, Session};
use bellwether_cuda::{CudaDevice, CudaOptions, Testing};
use bellwether_tests::conformance::proofs::{Keyed, blinding, prove};
use bellwether_tests::cuda::{open, open_double, options, tables};
use bellwether_tests::program::Program;
use pollster::block_on;

fn device() -> Arc<CudaDevice> {
    Arc::new(open(&options()))
}

/// A circuit with its key from the CPU.
fn keyed(constraints: usize) -> Keyed {
    Keyed::new(&CpuDevice::new(), Program::satisfied(constraints, 2, 1))
}

/// What the CPU proves.
fn expected(keyed: &Keyed) -> Proven {
    prove(&keyed.session(Arc::new(CpuDevice::new())), &keyed.assignment())
}

fn try_prove(session: &Session<CudaDevice>, assignment: &Assignment) -> Result<Proven, ProveError> {
    block_on(session.prove(assignment, &blinding(), &Cancellation::new()))
}

fn open_session(keyed: &Keyed, device: &Arc<CudaDevice>) -> Result<Session<CudaDevice>, ProveError> {
    Session::for_circuit(Arc::clone(device), &keyed.key, Arc::clone(&keyed.r1cs))
}

/// The bytes somebody owns, after all recorded work.
fn bytes_in_use(device: &CudaDevice) -> u64 {
    device.testing().finish().expect("the device works");
    device.testing().bytes_in_use()
}

/// Polls a future so often, as long as it is pending; then gives it up.
fn poll_times<T>(times: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..times).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

fn is_lost(error: &ProveError) -> bool {
    matches!(error, ProveError::Device { error: DeviceError::DeviceLost { .. }, .. })
}

/// A way for the k-th of something to fail, counted from 1; and how many are left until then.
type Failing = (&'static str, for<'a> fn(&Testing<'a>, u64), for<'a> fn(&Testing<'a>) -> u64);

const FAILING: [Failing; 3] = [
    ("allocation", |testing, k| testing.fail_allocation(k), |testing| testing.allocations_left()),
    ("launch", |testing, k| testing.fail_launch(k), |testing| testing.launches_left()),
    ("copy", |testing, k| testing.fail_copy(k), |testing| testing.copies_left()),
];

/// Whether it is the failure that was asked for.
fn is_on_purpose(what: &str, error: &ProveError) -> bool {
    match error {
        ProveError::Device { error: DeviceError::OutOfMemory { .. }, .. } => what == "allocation",
        ProveError::Device { error: DeviceError::Launch { reason, .. }, .. } => {
            what != "allocation" && reason == "failed on purpose"
        }
        _ => false,
    }
}

/// CHECKS 9: the k-th allocation, launch or copy of a proof fails, for every k. The error is clear, nothing is left
/// behind, and the next proof is right.
fn every_failure_of_a_proof((what, fail, left): Failing, options: &CudaOptions) {
    let (keyed, device) = (keyed(300), Arc::new(open(options)));
    let (session, assignment) = (keyed.session(Arc::clone(&device)), keyed.assignment());
    let expected = expected(&keyed).proof.to_bytes();
    assert_eq!(prove(&session, &assignment).proof.to_bytes(), expected);
    let in_use = bytes_in_use(&device);
    let mut failed = 0;
    for k in 1.. {
        fail(&device.testing(), k);
        let outcome = try_prove(&session, &assignment);
        if left(&device.testing()) > 0 {
            fail(&device.testing(), 0);
            assert_eq!(outcome.expect("nothing failed").proof.to_bytes(), expected);
            break;
        }
        match outcome {
            Ok(proven) => assert_eq!(proven.proof.to_bytes(), expected, "{what} {k}"),
            Err(error) => assert!(is_on_purpose(what, &error), "{what} {k}: {error}"),
        }
        failed += 1;
        assert_eq!(bytes_in_use(&device), in_use, "{what} {k} leaves nothing behind");
        // Each time would take minutes.
        if k % 10 == 1 {
            assert_eq!(prove(&session, &assignment).proof.to_bytes(), expected, "after {what} {k}");
        }
    }
    println!("{failed} times: {what}");
    assert!(failed > 20, "{failed} times: {what}");
}

#[test]
fn every_allocation_of_a_proof_fails_once() {
    every_failure_of_a_proof(FAILING[0], &options());
}

#[test]
fn every_launch_of_a_proof_fails_once() {
    every_failure_of_a_proof(FAILING[1], &options());
}

#[test]
fn every_copy_of_a_proof_fails_once() {
    every_failure_of_a_proof(FAILING[2], &options());
}

/// The same while the key is made resident.
#[test]
fn every_failure_of_opening_a_session() {
    let keyed = keyed(20);
    for (what, fail, left) in FAILING {
        let device = Arc::new(open(&tables()));
        let before = bytes_in_use(&device);
        let mut failed = 0;
        for k in 1.. {
            fail(&device.testing(), k);
            let outcome = open_session(&keyed, &device);
            if left(&device.testing()) > 0 {
                fail(&device.testing(), 0);
                let session = outcome.expect("nothing failed");
                assert!(keyed.verifies(&prove(&session, &keyed.assignment())));
                break;
            }
            let error = outcome.err().unwrap_or_else(|| panic!("{what} {k} fails without a word"));
            assert!(is_on_purpose(what, &error), "{what} {k}: {error}");
            failed += 1;
            assert_eq!(bytes_in_use(&device), before, "{what} {k} leaves nothing behind");
        }
        println!("{failed} times: {what}");
        assert!(failed > 5, "{failed} times: {what}");
    }
}

/// CHECKS 10: too little memory is foreseen, with both numbers, before anything is allocated. What is foreseen suffices.
#[test]
fn too_little_memory_is_foreseen() {
    let keyed = keyed(5000);
    let limited = |limit| Arc::new(open(&CudaOptions { memory_limit: Some(limit), ..options() }));
    let device = limited(1 << 20);
    let needed = match open_session(&keyed, &device).err() {
        Some(ProveError::Memory { needed, free, .. }) => {
            assert!(needed > free && free <= 1 << 20, "{needed} bytes needed, {free} free");
            needed
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(device.testing().launches(), 0, "no work is begun");

    let outcome = |limit| {
        let session = open_session(&keyed, &limited(limit))?;
        try_prove(&session, &keyed.assignment())
    };
    assert!(matches!(outcome(needed - 1), Err(ProveError::Memory { .. })));
    for limit in [needed, needed + 1, 2 * needed, 16 * needed] {
        match outcome(limit) {
            Ok(proven) => assert!(keyed.verifies(&proven)),
            Err(error) => panic!("{limit} bytes, {needed} foreseen: {error}"),
        }
    }
}

/// CHECKS 13: the device is lost before a proof, and at several moments within one. Whoever waits is told; what was
/// resident can be dropped; a device opened anew proves.
#[test]
fn a_lost_device_is_told_and_another_one_proves() {
    let keyed = keyed(2000);
    let assignment = keyed.assignment();
    let expected = expected(&keyed).proof.to_bytes();
    let doubles = [0, 1, 2, 5].map(|polls| (polls, Arc::new(open_double())));
    for (polls, device) in [0, 1, 2, 1000].map(|polls| (polls, device())).into_iter().chain(doubles) {
        let session = keyed.session(Arc::clone(&device));
        let cancellation = Cancellation::new();
        let blinding = blinding();
        let mut proof = pin!(session.prove(&assignment, &blinding, &cancellation));
        let mut context = Context::from_waker(Waker::noop());
        let mut finished = None;
        for _ in 0..polls {
            if let Poll::Ready(outcome) = proof.as_mut().poll(&mut context) {
                finished = Some(outcome);
                break;
            }
        }
        device.testing().lose_device();
        match finished {
            Some(outcome) => assert_eq!(outcome.expect("a proof").proof.to_bytes(), expected),
            None => {
                let error = block_on(proof).expect_err("lost before the end");
                assert!(is_lost(&error), "{polls} polls: {error}");
                assert!(error.is_device_fault() && error.to_string().contains("cuda:"), "{error}");
            }
        }
        for _ in 0..2 {
            assert!(try_prove(&session, &assignment).is_err_and(|error| is_lost(&error)));
        }
        assert!(open_session(&keyed, &device).is_err_and(|error| is_lost(&error)));
        assert!(matches!(device.upload(&[], 10), Err(DeviceError::DeviceLost { .. })));
    }
    let session = keyed.session(device());
    assert_eq!(prove(&session, &assignment).proof.to_bytes(), expected);
}

/// A fault of the driver that shows within a proof is an error of the device, and the next proof is right.
#[test]
fn a_fault_of_the_driver_is_reported_once() {
    let (keyed, device) = (keyed(50), device());
    let (session, assignment) = (keyed.session(Arc::clone(&device)), keyed.assignment());
    for fault in [
        DeviceError::OutOfMemory { asked: 1, free: None },
        DeviceError::Launch { operation: "a command".into(), reason: "validation".into() },
    ] {
        device.testing().inject_fault(fault.clone());
        match try_prove(&session, &assignment) {
            Err(ProveError::Device { error, .. }) => assert_eq!(error, fault),
            other => panic!("{other:?}"),
        }
        assert!(keyed.verifies(&prove(&session, &assignment)));
    }
}

/// CHECKS 21: proofs given up after any number of polls, and cancelled ones, leave the device as it was.
#[test]
fn proofs_that_are_given_up() {
    // On the host build every result is there at the first poll.
    let (keyed, device) = (keyed(500), Arc::new(open_double()));
    let (session, assignment) = (keyed.session(Arc::clone(&device)), keyed.assignment());
    let expected = prove(&session, &assignment).proof;
    let in_use = bytes_in_use(&device);
    let mut given_up = 0;
    for polls in [1, 2, 3, 5, 8, 13, 100] {
        let (blinding, cancellation) = (blinding(), Cancellation::new());
        let proof = session.prove(&assignment, &blinding, &cancellation);
        given_up += usize::from(poll_times(polls, proof).is_none());
        assert_eq!(bytes_in_use(&device), in_use, "{polls} polls");
    }
    assert!(given_up > 0, "every proof was ready at the first poll");
    let cancellation = Cancellation::new();
    std::thread::scope(|scope| {
        let proof = scope.spawn(|| block_on(session.prove(&assignment, &blinding(), &cancellation)));
        cancellation.cancel();
        let outcome = proof.join().expect("no panic");
        assert!(!outcome.is_err_and(|error| !matches!(error, ProveError::Cancelled { .. })));
    });
    assert_eq!(bytes_in_use(&device), in_use);
    assert_eq!(prove(&session, &assignment).proof, expected);
}

/// Resident memory of this process in bytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4096
}

/// CHECKS 2: proof 40 takes no more memory than proof 10, on the device or, where that shows, in the process.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow() {
    let (keyed, device) = (keyed(2000), device());
    let assignment = keyed.assignment();
    let session = keyed.session(Arc::clone(&device));
    let expected = prove(&session, &assignment).proof;
    let mut after = Vec::new();
    for proofs in 2..=40 {
        assert_eq!(prove(&session, &assignment).proof, expected);
        let in_use = bytes_in_use(&device);
        after.push((in_use, resident()));
        if proofs % 10 == 0 {
            println!("{proofs} proofs: in use, resident: {:?}", after.last());
        }
    }
    let (early, late) = (after[8], after[38]);
    assert_eq!(late.0, early.0, "bytes in use");
    assert!(
        late.1 <= early.1 + (16 << 20),
        "resident bytes: {} after 10 proofs, {} after 40",
        early.1,
        late.1
    );
    drop(session);
    assert_eq!(bytes_in_use(&device), 0, "a session frees its key");
}

/// Two circuits, each in a thread of its own on a session of its own, on one device.
#[test]
fn two_threads_prove_on_one_device() {
    let device = device();
    let circuits = [keyed(400), keyed(1100)];
    std::thread::scope(|scope| {
        for keyed in &circuits {
            let device = Arc::clone(&device);
            scope.spawn(move || {
                let expected = expected(keyed).proof;
                let session = keyed.session(device);
                for round in 0..5 {
                    assert_eq!(prove(&session, &keyed.assignment()).proof, expected, "round {round}");
                }
            });
        }
    });
    assert_eq!(bytes_in_use(&device), 0);
}

/// Two devices in one process know nothing of each other.
#[test]
fn two_devices_in_one_process() {
    let keyed = keyed(100);
    let expected = expected(&keyed).proof;
    let [first, second] = [device(), device()];
    let sessions = [&first, &second].map(|device| keyed.session(Arc::clone(device)));
    for session in &sessions {
        assert_eq!(prove(session, &keyed.assignment()).proof, expected);
    }
    second.testing().lose_device();
    assert_eq!(prove(&sessions[0], &keyed.assignment()).proof, expected);
}
