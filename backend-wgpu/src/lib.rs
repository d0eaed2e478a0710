//! The wgpu backend: [`bellwether_core::device::Device`] on Vulkan, Metal and DX12.
//!
//! [`WgpuDriver`] finds and opens adapters; [`WgpuDevice`] is an opened one. Shaders come from `bellwether_shaders`,
//! as texts; this crate compiles them, owns buffers, orders work and waits for results. It knows no Groth16.
//!
//! # Contract
//!
//! - **Who validates.** Lengths and indices are the caller's concern, as the trait says; what this crate asserts is
//!   its own layout. wgpu validates every command besides.
//! - **Unsafe.** Denied but in one module, `fenced`: shader modules without run-time checks, the pipeline cache,
//!   memory sizes from Vulkan, words seen as bytes.
//! - **Panics.** None on a device fault; faults surface as `DeviceError` at the next call or awaited result.
//! - **Secrets.** Buffers with witness values are cleared on the device before they are used again or freed.
//!
//! # Where things are
//!
//! | module | holds |
//! |---|---|
//! | `driver`, `options` | finding and opening adapters |
//! | `device` | the implementation of the trait |
//! | `gpu`, `faults` | one opened adapter: what the rest computes with |
//! | `recorder`, `pacing` | the order of commands, cut into submits by time |
//! | `buffer`, `staging`, `memory` | memory, its reuse, the way in and the way out |
//! | `pending` | futures of results |
//! | `pipelines`, `cache` | compiled programs |
//! | `fenced` | what is unsafe |
//! | `vector`, `witness`, `bases` | resident data |
//! | `ntt`, `quotient`, `spmv`, `select`, `scan`, `msm`, `sums`, `batch_add`, `fixed_base` | one operation each |

#![deny(unsafe_code)]

mod adapter;
mod bases;
mod batch_add;
mod buffer;
mod cache;
mod device;
mod driver;
mod faults;
mod fenced;
#[cfg(test)]
mod field_tests;
mod fixed_base;
mod gpu;
mod marks;
mod memory;
mod msm;
mod ntt;
mod options;
mod pacing;
mod pending;
mod pipelines;
mod quotient;
mod recorder;
mod scan;
mod select;
mod spmv;
mod staging;
mod submit;
mod sums;
mod testing;
mod tower;
mod vector;
mod witness;

pub use adapter::AdapterDescription;
pub use device::WgpuDevice;
pub use driver::WgpuDriver;
pub use options::{PipelineCachePlace, WgpuOptions};
pub use pipelines::StartUp;
#[doc(hidden)]
pub use testing::Testing;
