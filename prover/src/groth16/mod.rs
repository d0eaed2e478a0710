//! The functions of `bellperson::groth16`, under their names.
//!
//! A program written for bellperson 0.27 changes its imports from `bellperson::groth16` to
//! `bellwether::groth16`, and proves on the device that `BELLWETHER_DEVICE` selects
//! ([`DeviceChoice::from_env`](crate::DeviceChoice::from_env)). For the same generator, keys and proofs are
//! bellperson's byte for byte: randomness is drawn in bellperson's order.
//!
//! Every call selects a device, which runs its self-test, makes the key resident and drops both at its end. A
//! batch pays that once. A program that proves again and again with one key holds a
//! [`Prover`](crate::Prover), which also records the circuit instead of evaluating its constraints for every
//! proof.
//!
//! # What differs
//! - Errors are an [`Error`] that says more. It converts into [`SynthesisError`](crate::SynthesisError), so
//!   that `?` compiles where a function returns that one.
//! - Bounds on the curve are [`Engine`], which only [`Bls12`](crate::Bls12) implements, rather than
//!   `MultiMillerLoop`.
//! - The queries of [`Parameters`] are [`Points`](crate::core::key::Points), which may lie in a mapped file,
//!   rather than `Arc<Vec<_>>`.
//! - A proof is verified before it is returned; an unsatisfied witness is [`ProveError::Unsatisfied`] with
//!   the constraint, where bellperson returns a proof that does not verify.
//! - The functions `_in_priority` are the same as those without: there is no lock on the device that somebody
//!   could have to give up.
//! - Aggregation (SnarkPack), `serde` for proofs and SupraSeal are not here.
//!
//! [`ProveError::Unsatisfied`]: crate::ProveError::Unsatisfied

mod engine;
mod error;
mod params;
mod proof;
mod prove;
mod setup;
#[cfg(test)]
mod tests;
mod verify;

pub use engine::Engine;
pub use error::Error;
pub use params::{MappedParameters, ParameterSource, Parameters, VerifyingKey};
pub use proof::Proof;
pub use prove::{
    create_proof, create_proof_batch, create_proof_batch_in_priority, create_proof_in_priority,
    create_random_proof, create_random_proof_batch, create_random_proof_batch_in_priority,
    create_random_proof_in_priority,
};
pub use setup::{generate_parameters, generate_random_parameters};
pub use verify::{PreparedVerifyingKey, prepare_verifying_key, verify_proof, verify_proofs_batch};

use std::sync::Arc;

use crate::select::{SelectOptions, drivers, select};
use bellwether_core::driver::OpenedDevice;

/// The device of one call.
fn device() -> Result<Arc<dyn OpenedDevice>, Error> {
    Ok(select(&drivers(), &SelectOptions::from_env()?)?.device)
}
