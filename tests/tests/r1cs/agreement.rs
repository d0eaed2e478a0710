//! `Recorder`, `Collector` and `Evaluator` against each other and against a naive constraint system.

use bellwether_core::r1cs::{
    Circuit, Collector, CompactWitness, ConstraintSystem, Evaluator, Index, LinearCombination, Recorder,
    SparseMatrix, SynthesisError, Variable,
};
use bellwether_tests::oracle;
use bellwether_tests::program::Program;
use blstrs::Scalar;
use ff::Field;
use proptest::prelude::*;

use crate::drawn::program;

/// Keeps everything as it comes: values, and the terms of every combination, zeros and repetitions included.
#[derive(Default)]
pub(crate) struct Naive {
    inputs: Vec<Scalar>,
    aux: Vec<Scalar>,
    rows: [Vec<Vec<(Index, Scalar)>>; 3],
}

impl Naive {
    pub(crate) fn of(program: &Program) -> Self {
        let mut naive = Naive::default();
        naive.inputs.push(Scalar::ONE);
        program.clone().synthesize(&mut naive).expect("synthesised");
        naive
    }

    pub(crate) fn witness(&self) -> Vec<Scalar> {
        [&self.inputs[..], &self.aux[..]].concat()
    }

    /// A, B and C with all of their entries, the rows of the inputs behind the constraints.
    pub(crate) fn dense(&self) -> [Vec<Vec<Scalar>>; 3] {
        let width = self.inputs.len() + self.aux.len();
        let dense = |rows: &[Vec<(Index, Scalar)>]| -> Vec<Vec<Scalar>> {
            rows.iter()
                .map(|terms| {
                    let mut row = vec![Scalar::ZERO; width];
                    for (index, coefficient) in terms {
                        match index {
                            Index::Input(i) => row[*i] += coefficient,
                            Index::Aux(i) => row[self.inputs.len() + i] += coefficient,
                        }
                    }
                    row
                })
                .collect()
        };
        let mut matrices = [0, 1, 2].map(|i| dense(&self.rows[i]));
        for input in 0..self.inputs.len() {
            let mut row = vec![Scalar::ZERO; width];
            matrices[1].push(row.clone());
            matrices[2].push(row.clone());
            row[input] = Scalar::ONE;
            matrices[0].push(row);
        }
        matrices
    }

    fn num_constraints(&self) -> usize {
        self.rows[0].len()
    }
}

impl ConstraintSystem<Scalar> for Naive {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(value()?);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(value()?);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let zero = LinearCombination::zero;
        for (rows, combination) in self.rows.iter_mut().zip([a(zero()), b(zero()), c(zero())]) {
            let terms = combination.iter();
            rows.push(
                terms.map(|(variable, coefficient)| (variable.get_unchecked(), *coefficient)).collect(),
            );
        }
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}

fn dense_of(matrix: &SparseMatrix) -> Vec<Vec<Scalar>> {
    (0..matrix.num_rows())
        .map(|row| {
            let mut dense = vec![Scalar::ZERO; matrix.num_columns()];
            for entry in matrix.row_starts()[row]..matrix.row_starts()[row + 1] {
                let coefficient = matrix.table().values()[matrix.coefficients()[entry] as usize];
                let slot = &mut dense[matrix.columns()[entry] as usize];
                assert!(slot.is_zero_vartime(), "a column occurs once in a row");
                assert!(!coefficient.is_zero_vartime(), "no entry is zero");
                *slot = coefficient;
            }
            dense
        })
        .collect()
}

pub(crate) fn values(witness: &CompactWitness) -> Vec<Scalar> {
    (0..witness.len()).map(|variable| witness.get(variable)).collect()
}

/// The columns in which some row has an entry.
fn occurring(matrix: &[Vec<Scalar>], columns: usize) -> Vec<usize> {
    (0..columns).filter(|&column| matrix.iter().any(|row| !row[column].is_zero_vartime())).collect()
}

/// All that the three systems say of a program is what the naive one says.
pub(crate) fn check(program: &Program, naive: &Naive) -> Result<(), TestCaseError> {
    let (dense, witness) = (naive.dense(), naive.witness());
    let r1cs = Recorder::record(program.without_values()).expect("recorded");
    for (matrix, expected) in [&r1cs.a, &r1cs.b, &r1cs.c].into_iter().zip(&dense) {
        prop_assert_eq!(&dense_of(matrix), expected);
    }
    let shape = r1cs.shape();
    prop_assert_eq!(shape.num_constraints, naive.num_constraints());
    prop_assert_eq!((shape.num_inputs, shape.num_aux), (naive.inputs.len(), naive.aux.len()));
    prop_assert_eq!(shape.a.iter().collect::<Vec<_>>(), occurring(&dense[0], witness.len()));
    prop_assert_eq!(shape.b.iter().collect::<Vec<_>>(), occurring(&dense[1], witness.len()));

    let (collected, num_inputs) = Collector::collect(program.clone()).expect("collected");
    prop_assert_eq!(values(&collected), witness.clone());
    prop_assert_eq!(num_inputs, naive.inputs.len());

    let evaluation = Evaluator::evaluate(program.clone()).expect("evaluated");
    prop_assert_eq!(&evaluation.shape, shape);
    prop_assert_eq!(values(&evaluation.witness), witness.clone());
    let products = dense.each_ref().map(|matrix| oracle::matrix_vector(matrix, &witness));
    let evaluated = &evaluation.evaluations;
    for (found, expected) in [&evaluated.a, &evaluated.b, &evaluated.c].into_iter().zip(&products) {
        prop_assert_eq!(&found[..], &expected[..]);
    }
    prop_assert_eq!(&r1cs.evaluate(&collected), &products);

    let [a, b, c] = &products;
    let unsatisfied = (0..a.len()).find(|&row| a[row] * b[row] != c[row]);
    let found = evaluation.unsatisfied.map(|found| found.constraint);
    prop_assert_eq!(found, unsatisfied);
    prop_assert_eq!(r1cs.first_unsatisfied(&collected).map(|found| found.constraint), unsatisfied);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_three_systems_agree_with_the_definitions(program in program()) {
        check(&program, &Naive::of(&program))?;
    }

    /// Recording asks for no value, and values do not change what is recorded.
    #[test]
    fn values_do_not_matter_to_a_recorder(program in program()) {
        let with = Recorder::record(program.clone()).expect("recorded");
        let without = Recorder::record(program.without_values()).expect("recorded");
        prop_assert_eq!(with, without);
    }

    /// Both name the same constraint, by the same name, where names are kept.
    #[test]
    fn both_paths_give_the_same_name(program in program()) {
        let r1cs = Recorder::record_with_names(program.clone()).expect("recorded");
        let evaluation = Evaluator::evaluate_with_names(program).expect("evaluated");
        prop_assert_eq!(r1cs.first_unsatisfied(&evaluation.witness), evaluation.unsatisfied);
    }
}

/// The circuit without anything has the constant one and its row.
#[test]
fn the_empty_circuit() {
    let program = Program::new(vec![]);
    let naive = Naive::of(&program);
    assert_eq!(naive.dense()[0], [[Scalar::ONE]]);
    check(&program, &naive).unwrap();
}

/// A missing value is an error where values are asked for.
#[test]
fn a_missing_value_is_an_error() {
    let program = Program::satisfied(3, 1, 1).without_values();
    let missing = |outcome| matches!(outcome, Some(SynthesisError::AssignmentMissing));
    assert!(missing(Collector::collect(program.clone()).err()));
    assert!(missing(Evaluator::evaluate(program.clone()).err()));
    assert!(Recorder::record(program).is_ok());
}

/// Random circuits seldom hold; these always do, in every system.
#[test]
fn satisfied_programs_are_satisfied() {
    for seed in 0..20 {
        let program = Program::satisfied(5 * seed, seed % 4, seed as u64);
        let naive = Naive::of(&program);
        check(&program, &naive).unwrap();
        let evaluation = Evaluator::evaluate(program).expect("evaluated");
        assert_eq!(evaluation.unsatisfied, None, "seed {seed}");
    }
}
