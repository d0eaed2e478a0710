//! The wgpu backend on lavapipe.

mod conformance;
