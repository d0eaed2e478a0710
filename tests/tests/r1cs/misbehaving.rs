//! Circuits that break the rules of a constraint system get an error; circuits near the edge of them do not.

use std::io::ErrorKind;

use bellwether_core::r1cs::{
    Circuit, Collector, ConstraintSystem, Evaluation, Evaluator, Index, LinearCombination, R1cs, Recorder,
    SynthesisError, Variable,
};
use blstrs::Scalar;
use ff::Field;

use crate::agreement::values;

/// What a [`Script`] does, in order.
#[derive(Clone)]
enum Do {
    Input(u64),
    Aux(u64),
    /// The terms of A, B and C, each variable as it stands, allocated or not.
    Enforce([Vec<(u64, Index)>; 3]),
    /// A constraint system made by `new`, without the constant one, joined by `extend`.
    Part(Vec<Do>),
}

use Do::{Aux, Enforce, Input, Part};

#[derive(Clone)]
struct Script(Vec<Do>);

impl Circuit<Scalar> for Script {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        run(&self.0, cs.get_root())
    }
}

fn run<CS: ConstraintSystem<Scalar>>(steps: &[Do], cs: &mut CS) -> Result<(), SynthesisError> {
    for step in steps {
        match step {
            Input(value) => drop(cs.alloc_input(|| "input", || Ok(Scalar::from(*value)))?),
            Aux(value) => drop(cs.alloc(|| "aux", || Ok(Scalar::from(*value)))?),
            Enforce([a, b, c]) => {
                cs.enforce(|| "constraint", |lc| sum(a, lc), |lc| sum(b, lc), |lc| sum(c, lc));
            }
            Part(steps) => {
                let mut part = CS::new();
                run(steps, &mut part)?;
                cs.extend(&part);
            }
        }
    }
    Ok(())
}

fn sum(terms: &[(u64, Index)], lc: LinearCombination<Scalar>) -> LinearCombination<Scalar> {
    terms.iter().fold(lc, |lc, &(coefficient, index)| {
        lc + (Scalar::from(coefficient), Variable::new_unchecked(index))
    })
}

/// x · 1 = x, for an allocated or other auxiliary variable or input.
fn trivial(index: Index) -> Do {
    Enforce([vec![(1, index)], vec![(1, Index::Input(0))], vec![(1, index)]])
}

/// x · x = x, which needs no constant one.
fn boolean(index: Index) -> Do {
    Enforce([vec![(1, index)], vec![(1, index)], vec![(1, index)]])
}

/// The errors of all ways to look at a circuit's constraints.
fn errors(steps: &[Do]) -> [SynthesisError; 4] {
    let script = Script(steps.to_vec());
    [
        Recorder::record(script.clone()).map(drop),
        Recorder::record_with_names(script.clone()).map(drop),
        Evaluator::evaluate(script.clone()).map(drop),
        Evaluator::evaluate_with_names(script).map(drop),
    ]
    .map(|outcome| outcome.expect_err("a fault"))
}

/// All of these errors are `InvalidInput` with this text, and a [`Collector`] takes no notice.
#[track_caller]
fn expect_fault(steps: &[Do], text: &str) {
    for error in errors(steps) {
        assert_eq!(error.to_string(), format!("encountered an I/O error: {text}"));
        assert!(matches!(error, SynthesisError::IoError(error) if error.kind() == ErrorKind::InvalidInput));
    }
    assert!(Collector::collect(Script(steps.to_vec())).is_ok());
}

/// The circuit is accepted by all three systems, which agree on it and find it satisfied.
#[track_caller]
fn expect_accepted(steps: &[Do]) -> (R1cs, Evaluation) {
    let script = Script(steps.to_vec());
    let r1cs = Recorder::record(script.clone()).expect("recorded");
    let (witness, num_inputs) = Collector::collect(script.clone()).expect("collected");
    let evaluation = Evaluator::evaluate(script).expect("evaluated");
    assert_eq!(&evaluation.shape, r1cs.shape());
    assert_eq!(r1cs.shape().num_inputs, num_inputs);
    assert_eq!(values(&evaluation.witness), values(&witness));
    let evaluated = &evaluation.evaluations;
    assert_eq!([&evaluated.a[..], &evaluated.b[..], &evaluated.c[..]], r1cs.evaluate(&witness));
    assert_eq!((r1cs.first_unsatisfied(&witness), &evaluation.unsatisfied), (None, &None));
    (r1cs, evaluation)
}

/// Indices at the count, past it, past 32 bits, and such as 32 bits would make valid again.
#[test]
fn variables_that_do_not_exist() {
    for index in [1, 2, 5, 63, 64, 1 << 20, u32::MAX as usize, 1 << 32, (1 << 32) + 1, usize::MAX] {
        let before = [Aux(1), trivial(Index::Aux(0)), trivial(Index::Input(0)), trivial(Index::Aux(0))];
        let with = |step: Do| [&before[..], &[step, trivial(Index::Aux(0))]].concat();
        let aux = with(trivial(Index::Aux(index)));
        expect_fault(&aux, &format!("constraint 3 uses auxiliary variable {index}, of 1"));
        let input = with(trivial(Index::Input(index)));
        expect_fault(&input, &format!("constraint 3 uses input {index}, of 1"));
    }
}

/// In each of the three combinations, whatever its coefficient, and beside variables that do exist.
#[test]
fn in_every_combination() {
    let good = vec![(3, Index::Input(0)), (2, Index::Aux(0))];
    for coefficient in [0, 1, 7] {
        for place in 0..3 {
            let mut terms = [good.clone(), good.clone(), good.clone()];
            terms[place].push((coefficient, Index::Aux(2)));
            expect_fault(&[Aux(5), Enforce(terms)], "constraint 0 uses auxiliary variable 2, of 1");
        }
    }
}

/// A variable allocated only after the constraint that uses it.
#[test]
fn too_early() {
    let steps = [trivial(Index::Aux(0)), Aux(1), trivial(Index::Aux(0))];
    expect_fault(&steps, "constraint 0 uses auxiliary variable 0, of 0");
    let steps = [Input(1), trivial(Index::Input(1)), trivial(Index::Input(2)), Input(1)];
    expect_fault(&steps, "constraint 1 uses input 2, of 2");
}

/// Of several faults the first one is reported, by constraints, and by A, B, C within one.
#[test]
fn the_first_fault_is_reported() {
    let combinations =
        Enforce([vec![], vec![(1, Index::Aux(8))], vec![(1, Index::Aux(7)), (1, Index::Input(7))]]);
    let steps = [combinations, trivial(Index::Aux(9)), Part(vec![trivial(Index::Aux(4))])];
    expect_fault(&steps, "constraint 0 uses auxiliary variable 8, of 0");
    let steps = [Part(vec![boolean(Index::Aux(4))]), trivial(Index::Aux(9))];
    expect_fault(&steps, "constraint 0 uses auxiliary variable 4, of 0");
}

/// In a part, the constraint is counted in the whole, the variable as the part counts. Variables of the whole
/// are no variables of the part.
#[test]
fn within_a_part() {
    for index in [1, 2, 1 << 32, usize::MAX] {
        let part = Part(vec![Input(1), Aux(1), trivial(Index::Aux(0)), trivial(Index::Aux(index))]);
        let steps = [Aux(1), Aux(1), Aux(1), trivial(Index::Aux(2)), part.clone(), trivial(Index::Aux(3))];
        let text = format!("constraint 2 uses auxiliary variable {index}, of 1");
        expect_fault(&steps, &text);
        let nested = [Part(vec![Input(1), boolean(Index::Input(0)), Part(vec![]), part])];
        expect_fault(&nested, &text);
        let input = [Input(1), Part(vec![Input(1), trivial(Index::Input(index))])];
        expect_fault(&input, &format!("constraint 0 uses input {index}, of 1"));
    }
}

/// A part without the constant one may not use it, wherever the whole has it.
#[test]
fn a_part_that_uses_the_constant_one_without_having_it() {
    for place in 0..3 {
        let mut terms = [vec![], vec![], vec![]];
        terms[place].push((1, Index::Input(0)));
        let part = Part(vec![Aux(1), boolean(Index::Aux(0)), Enforce(terms)]);
        expect_fault(std::slice::from_ref(&part), "constraint 1 uses input 0, of 0");
        let nested = Part(vec![Input(1), trivial(Index::Input(0)), part]);
        expect_fault(&[nested], "constraint 2 uses input 0, of 0");
    }
}

/// A part without the constant one that does not use it is a part like any other.
#[test]
fn a_part_without_inputs() {
    let inside = [Aux(1), boolean(Index::Aux(0))];
    let with_one = [&[Input(1)], &inside[..]].concat();
    let around = |part: &[Do]| {
        [Input(3), Aux(1), Part(part.to_vec()), Aux(7), trivial(Index::Aux(2)), trivial(Index::Input(1))]
    };
    let (without, evaluation) = expect_accepted(&around(&inside));
    let (with, _) = expect_accepted(&around(&with_one));
    assert_eq!(without, with);
    assert_eq!(values(&evaluation.witness), [1, 3, 1, 1, 7].map(Scalar::from));
    expect_accepted(&[Part(vec![]), Part(vec![Part(vec![])])]);
    expect_accepted(&[Part(vec![
        Aux(1),
        Part(vec![Aux(0), boolean(Index::Aux(0))]),
        boolean(Index::Aux(1)),
    ])]);
}

/// A part without inputs that is itself extended by one with inputs has those, the constant one among them.
#[test]
fn a_part_without_inputs_around_one_with() {
    let inner = vec![Input(1), Input(5), Aux(2), trivial(Index::Input(1)), trivial(Index::Aux(0))];
    let used = [trivial(Index::Input(0)), trivial(Index::Input(1)), trivial(Index::Aux(1))];
    let after = |first: Vec<Do>| Part([first, vec![Aux(1), Part(inner.clone())], used.to_vec()].concat());
    let (without, evaluation) = expect_accepted(&[Input(4), after(vec![]), trivial(Index::Input(2))]);
    let (with, _) = expect_accepted(&[Input(4), after(vec![Input(1)]), trivial(Index::Input(2))]);
    assert_eq!(without, with);
    assert_eq!(values(&evaluation.witness), [1, 4, 5, 1, 2].map(Scalar::from));
    expect_fault(
        &[Part(vec![Part(inner.clone()), trivial(Index::Input(2))])],
        "constraint 2 uses input 2, of 2",
    );
}

/// A part joined of two parts, each joined of two, 31 layers deep, with an auxiliary variable or an input in each
/// innermost one: 2^31 in all, one more than there may be.
struct Doubling {
    inputs: bool,
}

impl Circuit<Scalar> for Doubling {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut part = CS::new();
        part.alloc_input(|| "one", || Ok(Scalar::ONE))?;
        if self.inputs {
            part.alloc_input(|| "input", || Ok(Scalar::ONE))?;
        } else {
            part.alloc(|| "aux", || Ok(Scalar::ONE))?;
        }
        for _ in 0..31 {
            let mut joined = CS::new();
            joined.extend(&part);
            joined.extend(&part);
            part = joined;
        }
        cs.extend(&part);
        Ok(())
    }
}

/// In a [`Recorder`] only, where variables take no memory.
#[test]
fn too_many_variables_by_extension() {
    for inputs in [false, true] {
        let outcome = Recorder::record(Doubling { inputs });
        assert!(matches!(outcome, Err(SynthesisError::PolynomialDegreeTooLarge)), "inputs: {inputs}");
    }
}
