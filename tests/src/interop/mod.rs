//! Byte equality with the provers of bellperson and bellman, equality of keys, and four independent verdicts.

// A check that fails ends the test.
#![allow(clippy::unwrap_used, clippy::panic)]

pub mod facade;
pub mod keys;
pub mod odd;
pub mod post;
pub mod proofs;
pub mod sapling;
pub mod synthetic;
pub mod verifiers;
