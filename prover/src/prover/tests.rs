use std::task::{Context, Waker};

use bellwether_core::device::{Backend, CpuDevice};
use bellwether_core::groth16::{Generators, Step, Trapdoor};
use ff::Field;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::*;
use crate::testing::{Cubic, FakeDevice};

fn cpu() -> Arc<dyn OpenedDevice> {
    Arc::new(CpuDevice::new())
}

fn key() -> ProvingKey {
    let trapdoor = Trapdoor::from_rng(StdRng::seed_from_u64(1));
    crate::generate_key(&CpuDevice::new(), Cubic::default(), &trapdoor, &Generators::default()).unwrap()
}

fn on(device: &FakeDevice) -> Arc<dyn OpenedDevice> {
    Arc::new(device.clone())
}

#[test]
fn send_and_sync() {
    fn assert<T: Send + Sync>() {}
    assert::<Prover>();
    fn assert_send<T: Send>(_: &T) {}
    let prover = Prover::new(cpu(), &key(), Cubic::default()).unwrap();
    let (blinding, cancellation) = (Blinding::none(), Cancellation::new());
    assert_send(&prover.prove_async(Cubic::solved(3), &blinding, &cancellation));
}

#[test]
fn proves_many_and_in_parallel() {
    let prover = Prover::new(cpu(), &key(), Cubic::default()).unwrap();
    assert_eq!(prover.info().backend, Backend::Cpu);
    assert_eq!(prover.shape().num_constraints, 3);
    assert_eq!(prover.verifying_key(), &key().vk);
    std::thread::scope(|scope| {
        for x in 1..4 {
            let prover = &prover;
            scope.spawn(move || {
                let proven = prover.prove(Cubic::solved(x)).unwrap();
                let y = Scalar::from(x * x * x + x + 5);
                assert_eq!(proven.public_inputs, [y]);
                assert_eq!(prover.verify(&proven.proof, &[y]), Ok(true));
                assert_eq!(prover.verify(&proven.proof, &[y + Scalar::ONE]), Ok(false));
                let none = VerifyError::InputCount { expected: 1, found: 0 };
                assert_eq!(prover.verify(&proven.proof, &[]), Err(none));
            });
        }
    });
}

#[test]
fn proofs_with_one_blinding_are_one_and_with_random_ones_differ() {
    let prover = Prover::new(cpu(), &key(), Cubic::default()).unwrap();
    let fixed = || {
        let blinding = Blinding::from_rng(StdRng::seed_from_u64(2));
        prover.prove_with(Cubic::solved(3), &blinding).unwrap().proof
    };
    let random = || prover.prove(Cubic::solved(3)).unwrap().proof;
    assert_eq!(fixed(), fixed());
    assert_ne!(random(), random());
}

#[test]
fn an_unsatisfied_witness_is_named_and_no_fault_of_the_device() {
    let r1cs = Arc::new(Recorder::record_with_names(Cubic::default()).unwrap());
    let spare = FakeDevice::new(Backend::Cpu, 1, "Spare");
    let prover = Prover::from_r1cs(cpu(), &key(), r1cs).unwrap().with_fallback(on(&spare));
    let wrong = Cubic { y: Some(Scalar::ONE), ..Cubic::solved(3) };
    match prover.prove(wrong) {
        Err(error @ ProveError::Unsatisfied(_)) => {
            assert!(!error.is_device_fault());
            assert!(error.to_string().ends_with("constraint 2 (sum)"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert!(spare.log.lock().unwrap().is_empty());
}

#[test]
fn circuits_that_fail_or_are_others_are_told_apart() {
    let prover = Prover::new(cpu(), &key(), Cubic::default()).unwrap();
    assert!(matches!(prover.prove(Cubic::default()), Err(ProveError::Synthesis(_))));
    let longer = Cubic { padding: 2, ..Cubic::solved(3) };
    assert!(matches!(prover.prove(longer), Err(ProveError::WitnessLength { found: 7, expected: 5, .. })));
    assert!(matches!(Prover::new(cpu(), &key(), longer), Err(ProveError::KeyMismatch { .. })));
}

#[test]
fn the_fallback_is_opened_at_the_first_fault_and_kept() {
    let (first, second) =
        (FakeDevice::new(Backend::Cuda, 0, "Card"), FakeDevice::new(Backend::Cuda, 1, "Spare"));
    let prover = Prover::new(on(&first), &key(), Cubic::default()).unwrap().with_fallback(on(&second));
    prover.prove(Cubic::solved(2)).unwrap();
    assert!(second.log.lock().unwrap().is_empty());

    // Too little memory passes: the first device is asked again.
    let memory = || ProveError::Memory { device: "cuda:0".into(), needed: 2, free: 1 };
    for _ in 0..2 {
        first.faults.lock().unwrap().push_back(memory());
        prover.prove(Cubic::solved(2)).unwrap();
        prover.prove(Cubic::solved(2)).unwrap();
    }
    assert_eq!(*second.log.lock().unwrap(), ["cuda:1 session", "cuda:1 prove", "cuda:1 prove"]);
    assert_eq!(first.log.lock().unwrap().len(), 1 + 5);
    assert_eq!(prover.info().name, "Card");
}

#[test]
fn a_lost_device_is_set_aside() {
    let (first, second) =
        (FakeDevice::new(Backend::Cuda, 0, "Card"), FakeDevice::new(Backend::Cuda, 1, "Spare"));
    let prover = Prover::new(on(&first), &key(), Cubic::default()).unwrap().with_fallback(on(&second));
    first.faults.lock().unwrap().push_back(first.lost());
    prover.prove(Cubic::solved(2)).unwrap();
    prover.prove(Cubic::solved(2)).unwrap();
    assert_eq!(*first.log.lock().unwrap(), ["cuda:0 session", "cuda:0 prove"]);
    assert_eq!(second.log.lock().unwrap().len(), 3);
}

#[test]
fn faults_of_both_devices_are_one_error_that_names_both() {
    let (first, second) =
        (FakeDevice::new(Backend::Cuda, 0, "Card"), FakeDevice::new(Backend::Cuda, 1, "Spare"));
    let prover = Prover::new(on(&first), &key(), Cubic::default()).unwrap().with_fallback(on(&second));
    first.faults.lock().unwrap().push_back(first.lost());
    second.faults.lock().unwrap().push_back(second.lost());
    let error = prover.prove(Cubic::solved(2)).unwrap_err();
    assert!(error.is_device_fault());
    assert_eq!(
        error.to_string(),
        "cuda:0 (Card): device lost: fell off the bus; then cuda:1 (Spare): device lost: fell off the bus"
    );
    // Each was tried once, and the next proof works.
    assert_eq!(second.log.lock().unwrap().len(), 2);
    prover.prove(Cubic::solved(2)).unwrap();
}

/// Wrong proofs on both: the key may be another circuit's, so that neither device is set aside.
#[test]
fn a_key_that_fails_everywhere_condemns_no_device() {
    let (first, second) =
        (FakeDevice::new(Backend::Cuda, 0, "Card"), FakeDevice::new(Backend::Cuda, 1, "Spare"));
    let prover = Prover::new(on(&first), &key(), Cubic::default()).unwrap().with_fallback(on(&second));
    let invalid = |device: &FakeDevice| {
        let fault = ProveError::InvalidProof { device: device.info().to_string(), attempts: 2 };
        device.faults.lock().unwrap().push_back(fault);
    };
    invalid(&first);
    invalid(&second);
    let error = prover.prove(Cubic::solved(2)).unwrap_err();
    assert!(error.to_string().contains("the key belongs to another circuit"), "{error}");
    prover.prove(Cubic::solved(2)).unwrap();
    assert_eq!(first.log.lock().unwrap().len(), 1 + 2, "the first device is asked again");

    // Where the second makes the proof, the first was wrong and is set aside.
    invalid(&first);
    prover.prove(Cubic::solved(2)).unwrap();
    prover.prove(Cubic::solved(2)).unwrap();
    assert_eq!(first.log.lock().unwrap().len(), 1 + 3);
}

#[test]
fn without_a_fallback_a_fault_is_returned_as_it_is() {
    let first = FakeDevice::new(Backend::Cuda, 0, "Card");
    let prover = Prover::new(on(&first), &key(), Cubic::default()).unwrap();
    first.faults.lock().unwrap().push_back(first.lost());
    assert!(matches!(prover.prove(Cubic::solved(2)), Err(ProveError::Device { .. })));
    prover.prove(Cubic::solved(2)).unwrap();
}

#[test]
fn cancellation_ends_a_proof_and_leaves_the_prover_usable() {
    let prover = Prover::new(cpu(), &key(), Cubic::default()).unwrap();
    let (blinding, cancellation) = (Blinding::none(), Cancellation::new());
    cancellation.cancel();
    let mut cancelled = Box::pin(prover.prove_async(Cubic::solved(2), &blinding, &cancellation));
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(
        cancelled.as_mut().poll(&mut context),
        std::task::Poll::Ready(Err(ProveError::Cancelled { before: Some(Step::Spmv) }))
    ));
    prover.prove(Cubic::solved(2)).unwrap();
}

#[test]
fn debug_shows_no_key_and_no_secret() {
    let prover = Prover::new(cpu(), &key(), Cubic::default()).unwrap();
    let text = format!("{prover:?}");
    assert!(text.starts_with("Prover { device: ") && text.len() < 400, "{text}");
}
