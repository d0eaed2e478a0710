//! Tests over all devices.
//!
//! [`conformance`] is the suite that every device passes, instantiated by [`conformance_suite!`]; its answers come
//! from [`oracle`], which follows the definitions. [`program`] makes circuits from data, [`faulty`] is a device that
//! fails or lies at a chosen call, [`wgpu`] opens the adapter that computes in software and `cuda` the host build of the
//! CUDA kernels, [`eip2537`] reads the vectors of that proposal.

pub mod conformance;
#[cfg(feature = "cuda-host")]
pub mod cuda;
pub mod eip2537;
pub mod faulty;
pub mod interop;
pub mod oracle;
pub mod program;
pub mod wgpu;
