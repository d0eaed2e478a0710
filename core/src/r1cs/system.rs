//! A recorded system, its shape, and the search for a constraint that does not hold.

use blstrs::Scalar;
use rayon::prelude::*;

use super::{CompactWitness, SparseMatrix, VariableSet};

/// What a key has to agree with: the sizes of a circuit and which variables its matrices touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Constraints of the circuit, without the row that each input adds.
    pub num_constraints: usize,
    /// Public inputs, the constant one included.
    pub num_inputs: usize,
    /// Auxiliary (private) variables.
    pub num_aux: usize,
    /// Variables of the a query: every input, and the auxiliary variables that occur in A.
    pub a: VariableSet,
    /// Variables of the b queries: those that occur in B.
    pub b: VariableSet,
}

impl Shape {
    /// Rows of the matrices: constraints, and one for each input.
    pub fn num_rows(&self) -> usize {
        self.num_constraints + self.num_inputs
    }

    /// All variables, inputs and auxiliary.
    pub fn num_variables(&self) -> usize {
        self.num_inputs + self.num_aux
    }

    /// The variables of the l query: all auxiliary ones.
    pub fn l(&self) -> VariableSet {
        VariableSet::from_range(self.num_variables(), self.num_inputs..self.num_variables())
    }
}

/// A constraint that a witness does not satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsatisfied {
    /// Position of the constraint in the order in which the circuit enforces them.
    pub constraint: usize,
    /// Its annotation, behind the namespaces it stands in where those were recorded.
    pub name: Option<String>,
}

impl std::fmt::Display for Unsatisfied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.name {
            Some(name) => write!(f, "constraint {} ({name})", self.constraint),
            None => write!(f, "constraint {}", self.constraint),
        }
    }
}

/// A rank-1 constraint system: a witness w satisfies it if (A·w)∘(B·w) = C·w.
#[derive(Clone, Debug, PartialEq)]
pub struct R1cs {
    /// Left factors.
    pub a: SparseMatrix,
    /// Right factors.
    pub b: SparseMatrix,
    /// Products.
    pub c: SparseMatrix,
    pub(super) shape: Shape,
    /// Names of the constraints; empty unless they were recorded.
    pub(super) names: Vec<String>,
}

impl R1cs {
    /// Sizes and densities.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Entries of all three matrices.
    pub fn num_entries(&self) -> usize {
        [&self.a, &self.b, &self.c].into_iter().map(SparseMatrix::num_entries).sum()
    }

    /// The name of a constraint, if names were recorded.
    pub fn constraint_name(&self, constraint: usize) -> Option<&str> {
        self.names.get(constraint).map(String::as_str)
    }

    /// The first constraint that the witness does not satisfy. `witness` must hold a value for each variable.
    pub fn first_unsatisfied(&self, witness: &CompactWitness) -> Option<Unsatisfied> {
        let value = |variable| witness.get(variable);
        let constraint = (0..self.a.num_rows()).into_par_iter().find_first(|&row| {
            self.a.row_product(row, value) * self.b.row_product(row, value) != self.c.row_product(row, value)
        })?;
        Some(Unsatisfied { constraint, name: self.constraint_name(constraint).map(str::to_owned) })
    }

    /// a = A·w, b = B·w and c = C·w on the host, one value a row.
    pub fn evaluate(&self, witness: &CompactWitness) -> [Vec<Scalar>; 3] {
        [&self.a, &self.b, &self.c].map(|matrix| {
            (0..matrix.num_rows())
                .into_par_iter()
                .map(|row| matrix.row_product(row, |variable| witness.get(variable)))
                .collect()
        })
    }
}
