//! The CUDA backend: [`bellwether_core::device::Device`] on NVIDIA cards, and the same kernels on the host.
//!
//! [`CudaDriver`] finds and opens cards; [`CudaDevice`] is an opened one. Kernels come from `bellwether_kernels`, as
//! images that were compiled with the program or as sources that the driver's runtime compiler makes images of; this crate
//! loads them, owns buffers, orders work and waits for results. It knows no Groth16. Nothing of CUDA is needed to build
//! it or to start a program with it: driver and compiler are looked for when a card is.
//!
//! # Contract
//!
//! - **Who validates.** Lengths and indices are the caller's concern, as the trait says; what this crate asserts is
//!   its own layout.
//! - **Unsafe.** Denied but in `runtime`, which calls the driver, and in `fenced`, which hands parameters to kernels.
//! - **Panics.** None on a device fault, a missing driver or an old one: `DeviceError` from the call or from the next
//!   awaited result.
//! - **Secrets.** Buffers with witness values are cleared on the device before they are freed, and so are the places by
//!   which they travel.
//! - **One order.** Commands of a device run in the order of the calls, on one stream of its own; the process's other
//!   uses of the card are not touched.
//!
//! # Where things are
//!
//! | module | holds |
//! |---|---|
//! | `driver`, `options` | finding and opening cards |
//! | `device` | the implementation of the trait |
//! | `gpu`, `faults` | one opened card: what the rest computes with |
//! | `buffer`, `memory` | memory, its owners, its limits |
//! | `pending`, `marks` | futures of results, moments |
//! | `runtime` | the driver of a card and the host build, behind one interface |
//! | `fenced` | what is unsafe outside of `runtime` |
//! | `vector`, `witness`, `bases` | resident data |
//! | `ntt`, `quotient`, `spmv`, `select`, `scan`, `msm`, `sums`, `batch_add`, `fixed_base` | one operation each |

#![deny(unsafe_code)]

mod bases;
mod batch_add;
mod buffer;
mod device;
mod driver;
mod faults;
mod fenced;
mod fixed_base;
mod gpu;
mod marks;
mod memory;
mod msm;
mod ntt;
mod options;
mod pending;
mod quotient;
mod runtime;
mod scan;
mod select;
mod spmv;
mod sums;
mod testing;
mod vector;
mod witness;

pub use device::CudaDevice;
pub use driver::CudaDriver;
#[cfg(feature = "host")]
pub use driver::CudaHostDriver;
pub use options::{CudaOptions, HostOrder, KernelCachePlace};
#[doc(hidden)]
pub use testing::Testing;
