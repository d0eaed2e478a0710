//! Small circuits with a peculiarity each, written down as data.

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

/// A variable of an [`OddCircuit`].
#[derive(Clone, Copy, Debug)]
pub enum Var {
    /// The constant one.
    One,
    /// A public input, the constant one not counted.
    In(usize),
    /// An auxiliary variable.
    Aux(usize),
}

/// A sum of variables with coefficients, added term by term.
pub type Terms = Vec<(Scalar, Var)>;

/// A circuit given by its values and its constraints ⟨a⟩·⟨b⟩ = ⟨c⟩.
#[derive(Clone, Debug)]
pub struct OddCircuit {
    /// What is odd about it.
    pub name: &'static str,
    /// Values of the public inputs, the constant one left out.
    pub inputs: Vec<Scalar>,
    /// Values of the auxiliary variables.
    pub aux: Vec<Scalar>,
    /// The constraints.
    pub constraints: Vec<[Terms; 3]>,
}

impl OddCircuit {
    /// The circuit without inputs, variables and constraints: its domain has one row, for the constant one.
    pub fn empty() -> Self {
        circuit("empty circuit", &[], &[], &[])
    }
}

impl Circuit<Scalar> for OddCircuit {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let inputs = self
            .inputs
            .into_iter()
            .map(|value| cs.alloc_input(|| "input", || Ok(value)))
            .collect::<Result<Vec<_>, _>>()?;
        let aux = self
            .aux
            .into_iter()
            .map(|value| cs.alloc(|| "aux", || Ok(value)))
            .collect::<Result<Vec<_>, _>>()?;
        let variable = |var| match var {
            Var::One => CS::one(),
            Var::In(i) => inputs[i],
            Var::Aux(i) => aux[i],
        };
        for [a, b, c] in self.constraints {
            cs.enforce(
                || "constraint",
                |lc| add(lc, &a, variable),
                |lc| add(lc, &b, variable),
                |lc| add(lc, &c, variable),
            );
        }
        Ok(())
    }
}

fn add(
    lc: LinearCombination<Scalar>,
    terms: &Terms,
    variable: impl Fn(Var) -> Variable,
) -> LinearCombination<Scalar> {
    terms.iter().fold(lc, |lc, &(coefficient, var)| lc + (coefficient, variable(var)))
}

fn number(value: i64) -> Scalar {
    let magnitude = Scalar::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

fn terms(list: &[(i64, Var)]) -> Terms {
    list.iter().map(|&(coefficient, var)| (number(coefficient), var)).collect()
}

/// One constraint: each side a list of (coefficient, variable).
type Row<'a> = [&'a [(i64, Var)]; 3];

fn circuit(name: &'static str, inputs: &[i64], aux: &[i64], rows: &[Row<'_>]) -> OddCircuit {
    OddCircuit {
        name,
        inputs: inputs.iter().copied().map(number).collect(),
        aux: aux.iter().copied().map(number).collect(),
        constraints: rows.iter().map(|row| row.map(terms)).collect(),
    }
}

const ONE: Var = Var::One;
const X: Var = Var::In(0);
const Y: Var = Var::In(1);
const Z: Var = Var::In(2);
const U: Var = Var::Aux(0);
const V: Var = Var::Aux(1);
const W: Var = Var::Aux(2);

/// u² = x.
const SQUARE: Row<'static> = [&[(1, U)], &[(1, U)], &[(1, X)]];

/// All of them; each witness satisfies its circuit, and no auxiliary variable is unconstrained.
pub fn all() -> Vec<OddCircuit> {
    let mut circuits = shapes();
    circuits.extend(rows());
    circuits.extend(inputs_in_b());
    circuits.extend(uniform_witnesses());
    circuits.push(long_combination());
    circuits
}

/// What can be missing from a system.
fn shapes() -> Vec<OddCircuit> {
    vec![
        OddCircuit::empty(),
        circuit("nothing but an unused input", &[7], &[], &[]),
        circuit("single constraint", &[], &[3, 9], &[[&[(1, U)], &[(1, U)], &[(1, V)]]]),
        circuit("no auxiliary variables", &[3, 9], &[], &[[&[(1, X)], &[(1, X)], &[(1, Y)]]]),
        circuit("unused input", &[5, 9], &[3], &[[&[(1, U)], &[(1, U)], &[(1, Y)]]]),
        circuit("constants only", &[], &[], &[[&[(2, ONE)], &[(3, ONE)], &[(6, ONE)]]]),
        circuit(
            "no public input",
            &[],
            &[2, 4, 8],
            &[[&[(1, U)], &[(1, U)], &[(1, V)]], [&[(1, U)], &[(1, V)], &[(1, W)]]],
        ),
        circuit("B empty", &[0], &[4], &[[&[(1, U), (3, ONE)], &[], &[]], [&[(1, X)], &[], &[]]]),
        circuit("A without auxiliary variables", &[3], &[5, 15], &[[&[(1, X)], &[(1, U)], &[(1, V)]]]),
        circuit(
            "variable in C only",
            &[],
            &[0, 3, 9],
            &[[&[], &[], &[(1, U)]], [&[(1, V)], &[(1, V)], &[(1, W)]]],
        ),
        circuit(
            "one row more than a domain",
            &[3, 9],
            &[27],
            &[[&[(1, X)], &[(1, X)], &[(1, Y)]], [&[(1, X)], &[(1, Y)], &[(1, U)]]],
        ),
    ]
}

/// What can be odd about a row.
fn rows() -> Vec<OddCircuit> {
    vec![
        circuit(
            "empty rows",
            &[9],
            &[3],
            &[
                [&[], &[], &[]],
                [&[(1, U)], &[(1, U)], &[(1, X)]],
                [&[], &[(1, U)], &[]],
                [&[(1, U)], &[], &[]],
                [&[], &[], &[]],
            ],
        ),
        circuit(
            "cancelled terms",
            &[9],
            &[3, 4],
            &[
                [&[(1, U), (1, V), (-1, V)], &[(1, U), (1, X), (-1, X)], &[(1, X), (5, V), (-5, V)]],
                [&[(1, V), (-1, V)], &[(1, V), (-1, V)], &[(1, V), (-1, V)]],
                [&[(1, V)], &[(1, ONE)], &[(4, ONE)]],
            ],
        ),
        circuit(
            "zero coefficients",
            &[9],
            &[3, 4],
            &[
                [&[(1, U), (0, V), (0, X)], &[(1, U), (0, X), (0, V)], &[(1, X), (0, U), (0, V)]],
                [&[(0, V)], &[(0, ONE)], &[(0, U)]],
                [&[(1, V)], &[(1, ONE)], &[(4, ONE)]],
            ],
        ),
        circuit(
            "duplicate terms",
            &[36],
            &[3],
            &[
                [&[(1, U), (1, U)], &[(1, U), (1, U), (1, U), (-1, U)], &[(1, X)]],
                [&[(1, ONE), (1, U), (1, ONE)], &[(1, ONE), (1, U), (1, ONE)], &[(20, ONE), (5, ONE)]],
            ],
        ),
        circuit("ten times the same row", &[9], &[3], &[SQUARE; 10]),
        circuit(
            "coefficient minus one everywhere",
            &[9],
            &[-3],
            &[[&[(-1, U)], &[(-1, U)], &[(1, X)]], [&[(-1, U), (-1, ONE)], &[(-1, ONE)], &[(-2, ONE)]]],
        ),
    ]
}

/// The b queries hold inputs only where B does.
fn inputs_in_b() -> Vec<OddCircuit> {
    vec![
        circuit("input in B", &[5], &[3, 15], &[[&[(1, U)], &[(1, X)], &[(1, V)]]]),
        circuit(
            "several inputs in B, with a gap",
            &[5, 6, 7],
            &[3, 15, 21],
            &[
                [&[(1, U)], &[(1, X)], &[(1, V)]],
                [&[(1, U)], &[(1, Z)], &[(1, W)]],
                [&[(1, Y)], &[(1, X), (2, ONE), (1, V), (-15, ONE)], &[(42, ONE)]],
            ],
        ),
        circuit(
            "ONE in B only",
            &[],
            &[4],
            &[[&[], &[(1, ONE)], &[]], [&[(1, U), (-4, ONE)], &[(1, ONE)], &[]]],
        ),
        circuit("only auxiliary variables in B", &[6], &[2, 3], &[[&[(1, U)], &[(1, V)], &[(1, X)]]]),
    ]
}

/// Witnesses that are all zero, all one and all r − 1. The constraints 0 = u − v and (u − v)·w = 0 hold for any of
/// them.
fn uniform_witnesses() -> Vec<OddCircuit> {
    let uniform = |name, value| {
        circuit(
            name,
            &[value; 2],
            &[value; 3],
            &[
                [&[(1, U), (-1, V)], &[(1, W)], &[]],
                [&[(1, W), (-1, X)], &[(1, ONE), (1, Y)], &[(1, U), (-1, V)]],
                [&[(1, U)], &[(1, V)], &[(value, W)]],
            ],
        )
    };
    vec![uniform("all-0 witness", 0), uniform("all-1 witness", 1), uniform("all-(r−1) witness", -1)]
}

/// A sum of a thousand variables with different coefficients, in A, B and C.
fn long_combination() -> OddCircuit {
    let aux: Vec<Scalar> = (0..1000u64).map(|i| Scalar::from(i * i * i)).collect();
    let sum: Terms = (0..1000).map(|i| (Scalar::from(7 * i as u64 + 1), Var::Aux(i))).collect();
    let value: Scalar = sum.iter().zip(&aux).map(|((coefficient, _), value)| coefficient * value).sum();
    let scaled = |factor: Scalar| sum.iter().map(|&(coefficient, var)| (coefficient * factor, var)).collect();
    let square = terms(&[(1, X)]);
    OddCircuit {
        name: "long linear combination",
        inputs: vec![value.square()],
        constraints: vec![
            [sum.clone(), sum.clone(), square.clone()],
            [sum.clone(), square, scaled(value.square())],
        ],
        aux,
    }
}

/// Circuits with an auxiliary variable that no constraint binds: set-up must refuse them.
pub fn unconstrained() -> Vec<OddCircuit> {
    vec![
        circuit("variable in no constraint", &[9], &[3, 4], &[SQUARE]),
        circuit(
            "variable with coefficient zero",
            &[9],
            &[3, 4],
            &[SQUARE, [&[(0, V)], &[(0, V)], &[(0, V)]]],
        ),
        circuit(
            "variable that cancels",
            &[9],
            &[3, 4],
            &[SQUARE, [&[(1, V), (-1, V)], &[(2, V), (-2, V)], &[]]],
        ),
    ]
}
