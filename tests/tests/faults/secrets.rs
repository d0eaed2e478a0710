//! CHECKS 20: `Debug` shows no secret.

use std::fmt::Debug;

use bellwether_core::groth16::{Assignment, Blinding, Trapdoor};
use bellwether_core::r1cs::{Collector, CompactWitness, Evaluator};
use bellwether_core::secret::SecretVec;
use bellwether_tests::program::{Program, Step};
use blstrs::Scalar;
use ff::Field;

const SECRET: u64 = 0xdead_beef_cafe_f00d;

/// What would give the secret away: its digits, and those of what is computed from it in the tests.
fn traces() -> Vec<String> {
    let secret = Scalar::from(SECRET);
    let hexadecimal = |scalar: Scalar| -> String {
        scalar.to_bytes_be().iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let half = hexadecimal(secret)[48..].to_owned();
    let reversed: String = SECRET.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let listed = format!("{:?}", SECRET.to_le_bytes());
    vec![
        half,
        reversed,
        SECRET.to_string(),
        listed.trim_matches(['[', ']']).to_owned(),
        hexadecimal(secret.square()),
        hexadecimal(-secret),
    ]
}

fn shows(value: &impl Debug) -> Option<String> {
    let texts = [format!("{value:?}"), format!("{value:#?}")].map(|text| text.to_lowercase());
    traces().into_iter().find(|trace| texts.iter().any(|text| text.contains(trace.as_str())))
}

fn check_hidden(value: &impl Debug) {
    assert_eq!(shows(value), None, "{value:?}");
}

/// A scalar, bytes and an integer that are not hidden are found: the tests below can fail.
#[test]
fn traces_are_found_where_nothing_is_hidden() {
    assert!(shows(&Scalar::from(SECRET)).is_some());
    assert!(shows(&vec![Scalar::ZERO, -Scalar::from(SECRET)]).is_some());
    assert!(shows(&SECRET).is_some());
    assert!(shows(&SECRET.to_le_bytes()).is_some());
}

#[test]
fn blinding_and_trapdoor() {
    let secret = Scalar::from(SECRET);
    check_hidden(&Blinding::new(secret, -secret));
    check_hidden(&Trapdoor::new(secret, -secret, secret, secret, secret));
}

#[test]
fn vectors_and_witnesses() {
    let secret = Scalar::from(SECRET);
    check_hidden(&SecretVec::from(vec![secret, -secret]));
    check_hidden(&SecretVec::from(vec![SECRET]));
    let witness: CompactWitness = [secret, Scalar::ONE, -secret].into_iter().collect();
    check_hidden(&witness);
    check_hidden(&(witness, Some(1)));
}

#[test]
fn everything_on_the_way_from_a_circuit_to_a_proof() {
    let secret = |steps: &[(usize, Scalar)]| steps.to_vec();
    let program = Program::new(vec![
        Step::Aux(Scalar::from(SECRET)),
        Step::Product([secret(&[(1, Scalar::ONE)]), secret(&[(1, Scalar::ONE)])]),
        Step::Product([secret(&[(1, -Scalar::ONE)]), secret(&[(0, Scalar::ONE)])]),
    ]);
    check_hidden(&Collector::collect(program.clone()).expect("a witness"));
    check_hidden(&Evaluator::evaluate(program.clone()).expect("evaluated"));
    check_hidden(&Assignment::collect(program.clone()).expect("a witness"));
    let (assignment, shape) = Assignment::evaluate(program).expect("satisfied");
    check_hidden(&assignment);
    check_hidden(&shape);
}
