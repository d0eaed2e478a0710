//! Sorting witness values into zeros, ones and the rest.

use blstrs::Scalar;
use rayon::prelude::*;

use crate::r1cs::{Code, CompactWitness, VariableSet};
use crate::secret::SecretVec;

/// Positions in a query of the bases whose scalar is one, and positions and scalars of the rest.
///
/// Positions say which variables are zero or one, so they are cleared like the values.
#[derive(Debug, Default)]
pub struct Selection {
    ones: SecretVec<u32>,
    tail_positions: SecretVec<u32>,
    tail_scalars: SecretVec<Scalar>,
}

/// Words of the variable set that one task sorts.
const WORDS_PER_TASK: usize = 512;

impl Selection {
    pub(super) fn new(variables: &VariableSet, witness: &CompactWitness) -> Self {
        let parts: Vec<Selection> = (0..variables.words().len().div_ceil(WORDS_PER_TASK))
            .into_par_iter()
            .map(|task| Selection::of_words(variables, witness, task * WORDS_PER_TASK))
            .collect();
        let mut whole = Selection::default();
        for part in &parts {
            whole.ones.extend_from_slice(&part.ones);
            whole.tail_positions.extend_from_slice(&part.tail_positions);
            whole.tail_scalars.extend_from_slice(&part.tail_scalars);
        }
        whole
    }

    fn of_words(variables: &VariableSet, witness: &CompactWitness, first: usize) -> Self {
        let mut part = Selection::default();
        let last = (first + WORDS_PER_TASK).min(variables.words().len());
        let positions = variables.ranks()[first]..;
        for (position, variable) in positions.zip(variables.iter_words(first..last)) {
            match witness.code(variable) {
                Code::Zero => {}
                Code::One => part.ones.push(position),
                Code::Dense => {
                    part.tail_positions.push(position);
                    part.tail_scalars.push(witness.dense()[witness.dense_rank(variable)]);
                }
            }
        }
        part
    }

    pub(super) fn ones(&self) -> &[u32] {
        &self.ones
    }

    pub(super) fn tail_positions(&self) -> &[u32] {
        &self.tail_positions
    }

    pub(super) fn tail_scalars(&self) -> &[Scalar] {
        &self.tail_scalars
    }
}
