//! The CUDA kernels of the Bellwether prover.
//!
//! `cuda/` holds C++ that is compiled three ways from the same text: by nvcc ahead of time, by NVRTC at run time, and,
//! with the feature `host`, by a C++ compiler for the processor, where `host/` carries out blocks, warps, barriers,
//! shuffles, shared memory and atomics. This crate offers the text ([`Module::source`], [`HEADERS`]), what nvcc made of it
//! if the feature `embed` is on ([`embedded`]), a typed table of the entry points ([`table`]), and the host build
//! (module `host`). It knows no driver and no device.
//!
//! # Contract
//!
//! - A launch is as unsafe as a call of a C function: its parameters hold addresses, and who launches answers for what
//!   lies there. That the table's parameters and threads of a block are those of the sources is tested against the host
//!   build for every kernel.
//! - Grids and blocks have one dimension. A kernel is launched with exactly the threads of a block that the table states.
//! - Elements are packed as in [`bellwether_core::curve`]: Fr is 8 little-endian 32-bit words of the Montgomery residue
//!   with R = 2^256, Fp is 12 words with R = 2^384, both canonical in memory; affine points are x, y; infinity is all zeros. Sums
//!   of points are (X, Y, ZZ, ZZZ), with ZZ = ZZZ = 0 for infinity.
//! - Building needs no CUDA, and without the feature `host` no C++ compiler either.

#[cfg(feature = "host")]
pub mod host;
mod image;
pub mod kernel;
mod source;

/// The entry points of each module, and their parameters.
pub mod table {
    pub mod entries;
    pub mod field;
    pub mod multiples;
    pub mod ntt;
    pub mod points;
    pub mod scalar;
}

pub use image::{Image, embedded};
pub use kernel::{Address, Entry, Kernel, Module, Parameters, of_group};
pub use source::{HEADERS, Header};

/// A row for every kernel.
pub fn entries() -> Vec<Entry> {
    [
        table::field::entries(),
        table::scalar::entries(),
        table::ntt::entries(),
        table::entries::entries(),
        table::points::entries(),
        table::multiples::entries(),
    ]
    .concat()
}
