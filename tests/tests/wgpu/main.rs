//! The wgpu backend on lavapipe.

mod conformance;
mod edges;
mod faults;
mod proofs;
mod secrets;
