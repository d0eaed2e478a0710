//! A Groth16 prover for BLS12-381 that picks its device at run time.
//!
//! Circuits written for bellperson or bellpepper prove as they are, circuits written for bellman prove inside
//! [`bellman::BellmanCircuit`] (feature `bellman`). Parameter files of both are read and written byte for
//! byte, and so are proofs: for the same blinding scalars a proof is bellperson's, whichever device made it.
//!
//! # Two ways in
//! - [`select()`] a device, load a key once into a [`Prover`], prove as often as you like. A key is made by
//!   [`generate_key`], or read from a parameter file that is there already: [`ProvingKey::read`] takes it into
//!   memory, [`ProvingKey::map`] leaves it in the file.
//! - [`groth16`] has the functions of `bellperson::groth16` under their names. They choose a device, test it and
//!   load the key at every call, which takes longer than a small proof.
//!
//! Which device: [`SelectOptions::from_env`] honours the variable `BELLWETHER_DEVICE`, a [`DeviceChoice`] says it in
//! code.
//!
//! # Contract
//! - **Every proof is verified before it is returned.** One that does not verify is made once more on its
//!   device, then tried on the fallback if there is one ([`Prover::with_fallback`]), and then reported as
//!   [`ProveError::InvalidProof`]. A witness that does not satisfy the circuit is reported as
//!   [`ProveError::Unsatisfied`], never as a fault of the device.
//! - **A switch means what it says.** An explicit [`DeviceChoice`] never falls back, `require_gpu` never ends
//!   on the CPU, a software adapter is used only by name, and with the choice `cpu` no other driver is
//!   touched.
//! - **No global state.** Drivers are a list that the program passes; nothing registers itself, nothing is
//!   cached behind the caller's back.
//! - **No prints, no panics on input.** What happens is told through `tracing`, what fails through errors.
//! - **Secrets.** Blinding scalars come from the operating system's generator unless the caller passes them.
//!   Witnesses and blinding scalars are cleared when dropped, and `Debug` shows neither. The circuit itself,
//!   which is the caller's, is not cleared.
//!
//! # Example
//! ```
//! use bellwether::{
//!     Circuit, ConstraintSystem, Generators, Prover, Scalar, SelectOptions, SynthesisError, Trapdoor,
//! };
//!
//! /// Knowledge of the square root of a public number.
//! struct SquareRoot(Option<Scalar>);
//!
//! impl Circuit<Scalar> for SquareRoot {
//!     fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
//!         let known = |value: Option<Scalar>| value.ok_or(SynthesisError::AssignmentMissing);
//!         let x = cs.alloc(|| "x", || known(self.0))?;
//!         let y = cs.alloc_input(|| "y", || known(self.0.map(|x| x * x)))?;
//!         cs.enforce(|| "x * x = y", |lc| lc + x, |lc| lc + x, |lc| lc + y);
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Whichever device BELLWETHER_DEVICE names, or the best there is.
//! let device = bellwether::select(&bellwether::drivers(), &SelectOptions::from_env()?)?.device;
//! let (trapdoor, generators) = (Trapdoor::random()?, Generators::default());
//! let key = bellwether::generate_key(&*device, SquareRoot(None), &trapdoor, &generators)?;
//!
//! let prover = Prover::new(device, &key, SquareRoot(None))?;
//! let proven = prover.prove(SquareRoot(Some(Scalar::from(12))))?;
//! assert!(prover.verify(&proven.proof, &[Scalar::from(144)])?);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "bellman")]
pub mod bellman;
pub mod groth16;
pub mod prover;
pub mod select;
mod setup;

pub use bellwether_core as core;

pub use bellwether_core::curve::{Bls12, G1Affine, G2Affine, Scalar};
pub use bellwether_core::device::{Backend, Detail, DeviceError, DeviceInfo};
pub use bellwether_core::driver::{CpuDriver, Driver, OpenedDevice};
pub use bellwether_core::groth16::{
    Assignment, Blinding, Cancellation, Generators, PhaseTimes, PreparedVerifyingKey, Proof, ProofError,
    ProveError, Proven, SetupError, Trapdoor, VerifyError,
};
pub use bellwether_core::key::{
    CheckPolicy, Checks, KeyError, ParameterDigest, ProvingKey, ReadOptions, VerifyingKey,
};
pub use bellwether_core::r1cs::{
    Circuit, ConstraintSystem, Index, LinearCombination, Namespace, R1cs, Recorder, Shape, SynthesisError,
    Unsatisfied, Variable,
};

pub use prover::Prover;
pub use select::{
    Candidate, ChoiceError, CudaCard, DEVICE_VARIABLE, DeviceChoice, SelectError, SelectOptions, Selected,
    Survey, Trial, Verdict, WgpuAdapter, drivers, select, survey,
};
pub use setup::generate_key;

/// The tests' circuits and devices.
#[cfg(test)]
mod testing;

#[cfg(test)]
mod wgpu_tests;
