//! Groth16: the proving schedule, set-up, verification and the proof itself.
//!
//! The file `schedule.rs` is the prover's way through a proof, one short function a phase. A
//! [`Session`] is a device with a resident key; it takes an [`Assignment`] and gives a verified proof. Programs
//! that pick the device at run time hold sessions as [`Prover`]s, which is an object-safe face of the same.
//!
//! Notation follows Groth, "On the Size of Pairing-based Non-interactive Arguments" (EUROCRYPT 2016), section
//! 3.2, and bellman's layout of the key.

mod assignment;
mod blinding;
mod cancel;
mod error;
mod proof;
mod prover;
mod resident;
mod schedule;
mod session;
mod setup;
mod times;
mod verify;

pub use assignment::Assignment;
pub use blinding::Blinding;
pub use cancel::Cancellation;
pub use error::{ProveError, Step};
pub use proof::{PROOF_BYTES, Proof, ProofError};
pub use prover::{BoxFuture, Prover};
pub use session::{Proven, Session};
pub use setup::{Generators, SetupError, Trapdoor, generate_key};
pub use times::PhaseTimes;
pub use verify::{PreparedVerifyingKey, VerifyError};
