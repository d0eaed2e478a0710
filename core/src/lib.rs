//! # bellwether-core
#![deny(unsafe_code)]
pub mod curve;
pub mod device;
pub mod domain;
mod fenced;
pub mod field;
pub mod key;
pub mod plan;
pub mod r1cs;
pub mod secret;
