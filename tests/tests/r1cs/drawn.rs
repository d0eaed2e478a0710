//! Random programs.

use bellwether_tests::program::{Program, Step, Terms};
use blstrs::Scalar;
use ff::Field;
use proptest::prelude::*;

/// Coefficients and values: zero, plus and minus one often.
fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        2 => Just(Scalar::ZERO),
        4 => Just(Scalar::ONE),
        3 => Just(-Scalar::ONE),
        2 => (2u64..6).prop_map(Scalar::from),
        1 => any::<u64>().prop_map(|x| Scalar::from(x).square().square().square()),
    ]
}

/// No terms, a few (the constant one among them, repetitions likely), or terms that cancel.
fn terms() -> impl Strategy<Value = Terms> {
    let some = || prop::collection::vec((0usize..12, scalar()), 0..6);
    prop_oneof![
        1 => Just(vec![]),
        4 => some(),
        1 => some().prop_map(|terms| {
            let negated: Terms = terms.iter().map(|&(variable, coefficient)| (variable, -coefficient)).collect();
            [terms, negated].concat()
        }),
    ]
}

/// Allocations and constraints, of which an `Enforce` seldom holds.
fn plain_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => scalar().prop_map(Step::Input),
        3 => scalar().prop_map(Step::Aux),
        2 => [terms(), terms(), terms()].prop_map(Step::Enforce),
        4 => [terms(), terms()].prop_map(Step::Product),
    ]
}

fn steps(step: impl Strategy<Value = Step>, max: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step, 0..max)
}

/// Programs without parts. Some have no auxiliary variable, some nothing at all.
pub(crate) fn program() -> impl Strategy<Value = Program> {
    let without_aux =
        prop_oneof![scalar().prop_map(Step::Input), [terms(), terms(), terms()].prop_map(Step::Enforce),];
    prop_oneof![4 => steps(plain_step(), 40).boxed(), 1 => steps(without_aux, 12).boxed()]
        .prop_map(Program::new)
}

/// Programs with parts in parts in parts, each of which may allocate inputs and use the constant one anywhere.
pub(crate) fn program_in_parts() -> impl Strategy<Value = Program> {
    let step = plain_step().prop_recursive(3, 60, 8, |inner| {
        prop_oneof![
            3 => plain_step(),
            2 => prop::collection::vec(inner, 0..8).prop_map(Step::Part),
        ]
    });
    steps(step, 16).prop_map(Program::new)
}
