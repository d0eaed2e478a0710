//! Why there is no proof.

use crate::device::DeviceError;
use crate::domain::DomainError;
use crate::key::KeyError;
use crate::r1cs::{SynthesisError, Unsatisfied};

/// A part of a proof's way, for errors that say where it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Evaluation of the constraints.
    Spmv,
    /// Transforms, quotient and the h query.
    NttMsmH,
    /// Sums of the bases whose scalar is one.
    BatchAdd,
    /// The other scalars, in G1.
    TailMsm,
    /// The other scalars of b, in G2.
    BG2Msm,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Step::Spmv => "spmv",
            Step::NttMsmH => "ntt_msm_h",
            Step::BatchAdd => "batch_add",
            Step::TailMsm => "tail_msm",
            Step::BG2Msm => "b_g2_msm",
        })
    }
}

/// A proof was not made. Faults of the circuit, the witness, the key and the device are told apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The circuit could not be synthesised.
    #[error("synthesis: {0}")]
    Synthesis(#[from] SynthesisError),
    /// The witness does not satisfy the circuit.
    #[error("the witness does not satisfy {0}")]
    Unsatisfied(Unsatisfied),
    /// The witness has another number of variables than the circuit.
    #[error("the witness has {found} {kind}, the circuit {expected}")]
    WitnessLength {
        /// Which variables: "inputs" or "variables".
        kind: &'static str,
        /// How many the witness has.
        found: usize,
        /// How many the circuit has.
        expected: usize,
    },
    /// The first value of the witness, which stands for the constant one, is another.
    #[error("the witness does not begin with the constant one")]
    NotOne,
    /// Key and circuit do not belong together.
    #[error(
        "key and circuit do not match: query {query} has {key} points in the key, {circuit} for the circuit"
    )]
    KeyMismatch {
        /// Name of the query.
        query: &'static str,
        /// Its points in the key.
        key: usize,
        /// Its points for the circuit.
        circuit: usize,
    },
    /// The session holds no matrices, so a witness alone is not enough.
    #[error("the session was opened without matrices: it needs an assignment with evaluations")]
    NoMatrices,
    /// The circuit has too many rows.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The key could not be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The key is degenerate: γ or δ is zero, as in an attempt to subvert the set-up.
    #[error("the key is degenerate: gamma or delta is the point at infinity")]
    DegenerateKey,
    /// The proof needs more memory than the device has.
    #[error("the proof needs {needed} bytes on {device}, {free} are free")]
    Memory {
        /// The device.
        device: String,
        /// Bytes the plan computed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The device failed.
    #[error("{device}: {error}")]
    Device {
        /// The device.
        device: String,
        /// What failed.
        #[source]
        error: DeviceError,
    },
    /// The device returned proofs that do not verify, though the witness satisfies the circuit.
    #[error(
        "{attempts} proofs made on {device} do not verify, though the witness satisfies the circuit: \
         the device computes wrongly, or the key belongs to another circuit with queries of the same lengths"
    )]
    InvalidProof {
        /// The device.
        device: String,
        /// Proofs made.
        attempts: u32,
    },
    /// The device failed, and so did the second one that the proof was tried on.
    #[error("{first}; then {second}")]
    Fallback {
        /// What failed on the first device.
        first: Box<ProveError>,
        /// What failed on the second.
        #[source]
        second: Box<ProveError>,
    },
    /// The operating system's random generator failed.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(String),
    /// The proof was cancelled.
    #[error("cancelled {}", before.map_or("while the device was at work".to_owned(), |step| format!("before {step}")))]
    Cancelled {
        /// The phase that was not begun; none if all had begun.
        before: Option<Step>,
    },
}

impl ProveError {
    /// Whether another device may succeed where this one failed.
    pub fn is_device_fault(&self) -> bool {
        matches!(
            self,
            ProveError::Device { .. }
                | ProveError::InvalidProof { .. }
                | ProveError::Memory { .. }
                | ProveError::Fallback { .. }
        )
    }
}
