//! Synthesis in parts, joined by `extend`, is synthesis in sequence.

use bellwether_core::r1cs::{Collector, Evaluator, Recorder};
use bellwether_tests::program::{Program, Step};
use blstrs::Scalar;
use ff::Field;
use proptest::prelude::*;

use crate::agreement::{Naive, check, values};
use crate::drawn::program_in_parts;

/// In all three systems, matrices, witness, evaluations and shape come out the same in parts.
fn same_in_parts(program: &Program) -> Result<(), TestCaseError> {
    let parallel = program.parallel();
    let recorded = Recorder::record(program.without_values()).expect("recorded");
    let in_parts = Recorder::record(parallel.without_values()).expect("recorded");
    prop_assert_eq!(in_parts, recorded);

    let (witness, inputs) = Collector::collect(program.clone()).expect("collected");
    let (joined, joined_inputs) = Collector::collect(parallel.clone()).expect("collected");
    prop_assert_eq!((values(&joined), joined_inputs), (values(&witness), inputs));
    prop_assert_eq!(
        (joined.codes(), joined.ranks(), joined.dense()),
        (witness.codes(), witness.ranks(), witness.dense())
    );

    let sequential = Evaluator::evaluate(program.clone()).expect("evaluated");
    let joined = Evaluator::evaluate(parallel.clone()).expect("evaluated");
    prop_assert_eq!(&joined.shape, &sequential.shape);
    prop_assert_eq!(joined.unsatisfied, sequential.unsatisfied);
    prop_assert_eq!(values(&joined.witness), values(&sequential.witness));
    let (joined, sequential) = (&joined.evaluations, &sequential.evaluations);
    prop_assert_eq!(&joined.a[..], &sequential.a[..]);
    prop_assert_eq!(&joined.b[..], &sequential.b[..]);
    prop_assert_eq!(&joined.c[..], &sequential.c[..]);

    // And against the definitions, by a system that knows no parts.
    check(&parallel, &Naive::of(program))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts_are_joined_in_order(program in program_in_parts()) {
        same_in_parts(&program)?;
    }
}

fn one(variable: usize) -> Vec<(usize, Scalar)> {
    vec![(variable, Scalar::ONE)]
}

/// The constant one occurs in B in an innermost part and nowhere else.
#[test]
fn the_constant_one_in_b_of_a_nested_part() {
    let innermost = vec![Step::Aux(Scalar::from(3)), Step::Enforce([one(1), one(0), one(1)])];
    let program = Program::new(vec![Step::Part(vec![Step::Part(innermost)])]);
    same_in_parts(&program).unwrap();
    let shape = Evaluator::evaluate(program.parallel()).unwrap().shape;
    assert_eq!(shape.b.iter().collect::<Vec<_>>(), [0]);
}

/// Inputs that parts allocate stand behind those allocated before and before those allocated afterwards, and are
/// those that the parts' constraints name.
#[test]
fn inputs_of_parts() {
    let input = |value: u64| Step::Input(Scalar::from(value));
    let used = || Step::Enforce([one(1), one(2), one(0)]);
    let nested = vec![input(4), input(5), used()];
    let part = vec![input(2), input(3), used(), Step::Part(nested), input(6), used()];
    let program = Program::new(vec![input(1), Step::Part(part), input(7), used(), Step::Part(vec![])]);
    same_in_parts(&program).unwrap();
    let (witness, inputs) = Collector::collect(program.parallel()).unwrap();
    let expected: Vec<Scalar> = [1, 1, 2, 3, 4, 5, 6, 7].map(Scalar::from).to_vec();
    assert_eq!((values(&witness), inputs), (expected, 8));
    let r1cs = Recorder::record(program.parallel()).unwrap();
    let columns: Vec<u32> = (0..4).map(|row| r1cs.a.columns()[r1cs.a.row_starts()[row]]).collect();
    assert_eq!(columns, [2, 4, 2, 1]);
}

/// Parts of lengths around the words of witness codes and variable sets, at every alignment.
#[test]
fn parts_across_word_boundaries() {
    for before in [0, 1, 31, 32, 33, 63, 64, 65] {
        for length in [0, 1, 31, 32, 33, 64, 100] {
            let steps = |count: usize, seed: usize| -> Vec<Step> {
                let value = |i: usize| Scalar::from(((i + seed) % 3) as u64);
                (0..count)
                    .flat_map(|i| {
                        [Step::Aux(value(i)), Step::Enforce([one(i + 1), one(i % 2 * (i + 1)), vec![]])]
                    })
                    .collect()
            };
            let mut program = Program::new(steps(before, 0));
            program.steps.push(Step::Part(steps(length, 1)));
            program.steps.push(Step::Part(steps(3, 2)));
            same_in_parts(&program).unwrap();
        }
    }
}
