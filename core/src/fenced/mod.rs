//! The one module of this crate that may hold `unsafe`; every block says why it is sound.
//!
//! Outside of it nothing has to be believed: its functions are safe, whatever they are given.

#![allow(unsafe_code)]

pub(crate) mod mapping;
pub(crate) mod slices;
