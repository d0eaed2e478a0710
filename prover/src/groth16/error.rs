//! What the bellperson-shaped functions fail with.

use std::io;

use bellwether_core::groth16::{ProveError, SetupError, VerifyError};
use bellwether_core::r1cs::SynthesisError;

use crate::select::{ChoiceError, SelectError};

/// A key or a proof was not made, or a proof could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `BELLWETHER_DEVICE` holds no choice of a device.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// No device can be used.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// There is no proof.
    #[error(transparent)]
    Prove(#[from] ProveError),
    /// There is no proof for one circuit of a batch.
    #[error("circuit {index} of the batch: {error}")]
    InBatch {
        /// Position of the circuit in the batch.
        index: usize,
        /// Why not.
        #[source]
        error: ProveError,
    },
    /// A circuit of a batch is another one than the first: they cannot have one key.
    #[error("circuit {index} of the batch is not the circuit at its start: {difference}")]
    CircuitDiffers {
        /// Position of the circuit in the batch.
        index: usize,
        /// What differs, with both numbers.
        difference: String,
    },
    /// A batch has more or fewer blinding scalars than circuits.
    #[error("{circuits} circuits, but {r} blinding scalars r and {s} scalars s")]
    BlindingCount {
        /// Circuits of the batch.
        circuits: usize,
        /// Scalars r.
        r: usize,
        /// Scalars s.
        s: usize,
    },
    /// There is no key.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A proof cannot be checked against this key.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A batch has more or fewer statements than proofs.
    #[error("{proofs} proofs, but public inputs for {inputs}")]
    StatementCount {
        /// Proofs of the batch.
        proofs: usize,
        /// Vectors of public inputs.
        inputs: usize,
    },
}

impl From<Error> for SynthesisError {
    /// An error of synthesis is given back as it was, and what bellperson reports by a variant of its own
    /// becomes that variant. Everything else becomes [`SynthesisError::IoError`] around this error, from
    /// which [`io::Error::get_ref`] leads back.
    fn from(error: Error) -> Self {
        match error {
            Error::Prove(ProveError::Synthesis(error))
            | Error::InBatch { error: ProveError::Synthesis(error), .. }
            | Error::Setup(SetupError::Synthesis(error)) => error,
            Error::Setup(SetupError::UnconstrainedVariable(_)) => SynthesisError::UnconstrainedVariable,
            Error::Verify(VerifyError::InputCount { .. }) => SynthesisError::MalformedVerifyingKey,
            other => SynthesisError::IoError(io::Error::other(other)),
        }
    }
}
