//! CHECKS 19: an unsatisfied witness is reported as that, by index and name, and never as a fault of the device.

use std::sync::Arc;

use bellwether_core::device::CpuDevice;
use bellwether_core::groth16::{Assignment, ProveError, Session};
use bellwether_core::r1cs::{CompactWitness, Recorder, Unsatisfied};
use bellwether_tests::conformance::proofs::{Keyed, blinding};
use bellwether_tests::faulty::When;
use bellwether_tests::program::{Program, Step};
use blstrs::Scalar;
use ff::Field;
use pollster::block_on;

use crate::common::{WRONG, faulty, keyed};

/// 3·3 = `square` inside two namespaces, between constraints that hold.
fn nested(square: u64) -> Program {
    let one = |variable: usize| vec![(variable, Scalar::ONE)];
    let boolean = Step::Enforce([one(0), one(0), one(0)]);
    Program::new(vec![
        Step::Input(Scalar::from(3)),
        boolean.clone(),
        Step::Aux(Scalar::from(square)),
        Step::Namespace(
            "outer",
            vec![
                boolean.clone(),
                Step::Namespace("inner", vec![boolean.clone(), Step::Enforce([one(1), one(1), one(2)])]),
                boolean,
            ],
        ),
    ])
}

/// The square in a part of its own, in a part, behind another part.
fn in_parts(square: u64) -> Program {
    let one = |variable: usize| vec![(variable, Scalar::ONE)];
    let boolean = Step::Enforce([one(0), one(0), one(0)]);
    let part = vec![
        Step::Input(Scalar::from(3)),
        boolean.clone(),
        Step::Aux(Scalar::from(square)),
        Step::Enforce([one(1), one(1), one(2)]),
        boolean.clone(),
    ];
    let around = vec![boolean.clone(), Step::Part(part), boolean.clone()];
    Program::new(vec![boolean.clone(), Step::Part(vec![boolean]), Step::Part(around)])
}

/// What the session for the matrices says of the witness of `bad`, the key being that of `good`.
fn by_session(good: &Program, bad: &Program) -> ProveError {
    let keyed = Keyed::new(&CpuDevice::new(), good.clone());
    let session = keyed.session(Arc::new(CpuDevice::new()));
    let assignment = Assignment::collect(bad.clone()).expect("a witness");
    let error = block_on(session.prove(&assignment, &blinding(), &Default::default())).expect_err("no proof");
    assert!(!error.is_device_fault());
    error
}

fn named(constraint: usize, name: &str) -> Unsatisfied {
    Unsatisfied { constraint, name: Some(name.into()) }
}

fn check(error: &ProveError, expected: &Unsatisfied) {
    match error {
        ProveError::Unsatisfied(found) => assert_eq!(found, expected),
        other => assert_eq!(other.to_string(), "an unsatisfied constraint"),
    }
    let message = error.to_string();
    assert!(message.contains(&expected.constraint.to_string()), "{message}");
    assert!(message.contains(expected.name.as_deref().expect("a name")), "{message}");
}

#[test]
fn a_session_names_the_constraint_with_its_namespaces() {
    check(&by_session(&nested(9), &nested(10)), &named(3, "outer/inner/constraint 1"));
}

#[test]
fn evaluation_names_the_constraint_before_any_device_is_touched() {
    assert!(Assignment::evaluate(nested(9)).is_ok());
    let error = Assignment::evaluate(nested(10)).expect_err("unsatisfied");
    check(&error, &named(3, "constraint 1"));
}

#[test]
fn parallel_synthesis_names_the_same_constraint() {
    let (good, bad) = (in_parts(9), in_parts(10));
    check(&by_session(&good, &bad), &named(4, "constraint 3"));
    // A recorder of names sees the parts without theirs, and numbers the constraints.
    check(&by_session(&good.parallel(), &bad.parallel()), &named(4, "part/constraint 4"));
    assert!(Assignment::evaluate(good.parallel()).is_ok());
    for program in [bad.clone(), bad.parallel()] {
        check(&Assignment::evaluate(program).expect_err("unsatisfied"), &named(4, "constraint 3"));
    }
}

/// Without names the index is there all the same.
#[test]
fn an_index_without_a_name() {
    let keyed = Keyed::new(&CpuDevice::new(), nested(9));
    let r1cs = Arc::new(Recorder::record(nested(9).without_values()).expect("recorded"));
    let session = Session::for_circuit(Arc::new(CpuDevice::new()), &keyed.key, r1cs).expect("a session");
    let assignment = Assignment::collect(nested(8)).expect("a witness");
    let error = block_on(session.prove(&assignment, &blinding(), &Default::default())).expect_err("no proof");
    let expected = Unsatisfied { constraint: 3, name: None };
    assert!(matches!(&error, ProveError::Unsatisfied(found) if *found == expected), "{error}");
}

/// Every variable in turn is altered: the first constraint that fails is named, whatever it is.
#[test]
fn every_altered_variable_is_noticed() {
    let keyed = keyed();
    let session = keyed.session(Arc::new(CpuDevice::new()));
    let witness = keyed.assignment().witness().clone();
    let num_inputs = keyed.r1cs.shape().num_inputs;
    let mut unsatisfied = 0;
    for altered in 0..witness.len() {
        let values: CompactWitness = (0..witness.len())
            .map(|variable| witness.get(variable) + Scalar::from(u64::from(variable == altered)))
            .collect();
        let expected = keyed.r1cs.first_unsatisfied(&values);
        let assignment = Assignment::from_witness(values, num_inputs);
        let outcome = block_on(session.prove(&assignment, &blinding(), &Default::default()));
        match (outcome, expected) {
            (Err(ProveError::Unsatisfied(found)), Some(expected)) => {
                assert_eq!(found, expected, "variable {altered}");
                unsatisfied += 1;
            }
            (Err(ProveError::NotOne), _) => assert_eq!(altered, 0),
            // An input of which nothing depends may have any value; the constant one may not.
            (Ok(_), None) => assert!((1..num_inputs).contains(&altered), "variable {altered}"),
            (outcome, expected) => assert_eq!(
                outcome.map(|proven| proven.attempts).map_err(|error| error.to_string()),
                Ok(u32::MAX),
                "variable {altered}: {expected:?}"
            ),
        }
    }
    assert!(unsatisfied >= witness.len() - num_inputs, "every auxiliary variable matters");
}

/// A device that lies on top of a bad witness: the witness is what is reported.
#[test]
fn a_bad_witness_on_a_bad_device_is_the_witness_fault() {
    let keyed = Keyed::new(&CpuDevice::new(), nested(9));
    let device = faulty();
    let session = keyed.session(Arc::clone(&device));
    let assignment = Assignment::collect(nested(10)).expect("a witness");
    for call in 0..30 {
        device.arm(When::Calls(vec![call]), WRONG);
        let error =
            block_on(session.prove(&assignment, &blinding(), &Default::default())).expect_err("no proof");
        check(&error, &named(3, "outer/inner/constraint 1"));
    }
}

/// Witnesses of other lengths, and a session that would need evaluations, are told apart from unsatisfied ones.
#[test]
fn witnesses_of_another_shape_are_refused() {
    let keyed = keyed();
    let session = keyed.session(Arc::new(CpuDevice::new()));
    let prove = |session: &Session<CpuDevice>, assignment: &Assignment| {
        block_on(session.prove(assignment, &blinding(), &Default::default())).expect_err("refused")
    };
    let witness = keyed.assignment().witness().clone();
    let (variables, inputs) = (witness.len(), keyed.r1cs.shape().num_inputs);

    let mut longer = witness.clone();
    longer.push(Scalar::ONE);
    for (assignment, kind, found, expected) in [
        (Assignment::from_witness(longer, inputs), "variables", variables + 1, variables),
        (Assignment::from_witness(witness.clone(), inputs + 1), "inputs", inputs + 1, inputs),
        (Assignment::from_witness(CompactWitness::new(), 0), "inputs", 0, inputs),
    ] {
        let error = prove(&session, &assignment);
        let message = error.to_string();
        assert!(
            matches!(error, ProveError::WitnessLength { kind: k, found: f, expected: e } if (k, f, e) == (kind, found, expected)),
            "{message}"
        );
    }

    let shape = keyed.r1cs.shape().clone();
    let session = Session::for_shape(Arc::new(CpuDevice::new()), &keyed.key, shape).expect("a session");
    let error = prove(&session, &Assignment::from_witness(witness, inputs));
    assert!(matches!(error, ProveError::NoMatrices), "{error}");
}
