//! # bellwether-core
#![deny(unsafe_code)]
pub mod curve;
pub mod device;
pub mod domain;
pub mod driver;
mod fenced;
pub mod field;
pub mod groth16;
pub mod key;
pub mod plan;
pub mod r1cs;
pub mod secret;
