//! The CUDA backend on the host build of its kernels.

// What a test prints is shown if it fails.
#![allow(clippy::print_stdout)]

mod conformance;
mod edges;
mod faults;
mod proofs;
mod secrets;
