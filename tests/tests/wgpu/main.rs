//! The wgpu backend on lavapipe.

// What a test prints is shown if it fails.
#![allow(clippy::print_stdout)]

mod conformance;
mod edges;
mod faults;
mod proofs;
mod secrets;
