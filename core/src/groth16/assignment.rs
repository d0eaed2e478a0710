//! What a proof is made from.

use std::time::{Duration, Instant};

use blstrs::Scalar;
use tracing::info_span;

use super::ProveError;
use crate::r1cs::{Circuit, Collector, CompactWitness, Evaluations, Evaluator, Shape};

/// The values of a circuit's variables and, where the circuit was evaluated in one pass, the evaluations of its
/// constraints.
#[derive(Debug)]
pub struct Assignment {
    pub(super) witness: CompactWitness,
    pub(super) num_inputs: usize,
    pub(super) evaluations: Option<Evaluations>,
    pub(super) synthesis: Duration,
}

impl Assignment {
    /// Collects the witness of a circuit whose matrices a session holds: constraints are not looked at.
    pub fn collect<C: Circuit<Scalar>>(circuit: C) -> Result<Self, ProveError> {
        let _span = info_span!("synth").entered();
        let start = Instant::now();
        let (witness, num_inputs) = Collector::collect(circuit)?;
        Ok(Assignment { witness, num_inputs, evaluations: None, synthesis: start.elapsed() })
    }

    /// Evaluates a circuit in one pass, for a circuit that is proved once. The shape is what the session is
    /// opened with.
    ///
    /// # Errors
    /// [`ProveError::Unsatisfied`] with the first constraint that does not hold, before any device is touched.
    pub fn evaluate<C: Circuit<Scalar>>(circuit: C) -> Result<(Self, Shape), ProveError> {
        let _span = info_span!("synth").entered();
        let start = Instant::now();
        let evaluation = Evaluator::evaluate(circuit)?;
        if let Some(unsatisfied) = evaluation.unsatisfied {
            return Err(ProveError::Unsatisfied(unsatisfied));
        }
        let assignment = Assignment {
            witness: evaluation.witness,
            num_inputs: evaluation.shape.num_inputs,
            evaluations: Some(evaluation.evaluations),
            synthesis: start.elapsed(),
        };
        Ok((assignment, evaluation.shape))
    }

    /// An assignment from values made elsewhere: the constant one, the other inputs, the auxiliary variables.
    /// `num_inputs` counts the inputs with the constant one.
    pub fn from_witness(witness: CompactWitness, num_inputs: usize) -> Self {
        Assignment { witness, num_inputs, evaluations: None, synthesis: Duration::ZERO }
    }

    /// The values of all variables.
    pub fn witness(&self) -> &CompactWitness {
        &self.witness
    }

    /// The public inputs as a verifier takes them, without the constant one.
    pub fn public_inputs(&self) -> Vec<Scalar> {
        (1..self.num_inputs).map(|input| self.witness.get(input)).collect()
    }
}
