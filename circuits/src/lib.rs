//! Real circuits with satisfied instances, for the program, the tests and the benches of Bellwether.
//!
//! The crate stands apart so that the libraries which users depend on carry neither circuits nor parameters. It
//! knows no prover: it hands out circuits, parameter files and checks by others' code, and takes proofs as bytes.
//!
//! # Contract
//! Instances are drawn from a seed and are the same wherever they are built. They are satisfied: a prover that
//! fails on one is at fault. Nothing here panics on a proof or a parameter file, however malformed.

pub mod chain;
pub mod odd;
#[cfg(feature = "filecoin")]
pub mod post;
pub mod sapling;
pub mod sha256;
