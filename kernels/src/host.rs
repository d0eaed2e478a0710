//! The kernels compiled for the processor.
//!
//! A launch runs on the caller's thread and some others, which are gone when it returns. Blocks are taken in increasing
//! order, the threads of a block run as fibres. What a card leaves undefined is made to show: shared memory holds garbage
//! when a block begins, and a launch in which threads wait for each other in vain ends with an error.
//!
//! A kernel that writes where it may not is as bad as any C program; compile with the environment variable
//! `BELLWETHER_KERNELS_SANITIZE=address,undefined` to find it.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::kernel::{Kernel, Parameters};

/// In which order the threads of a block run that can go on. Kernels that are right give the same result in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By increasing number.
    #[default]
    Forward,
    /// By decreasing number.
    Reverse,
    /// Another at each block and barrier, determined by the seed.
    Shuffled(u64),
}

/// How launches run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostOptions {
    /// Threads of the operating system that work on a launch, the caller among them.
    pub threads: u32,
    /// Order of the threads of a block.
    pub order: Order,
}

impl Default for HostOptions {
    /// As many threads as there are processors, in forward order.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        HostOptions { threads: u32::try_from(threads).unwrap_or(u32::MAX), order: Order::Forward }
    }
}

/// Why a launch failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The sources have no such entry point, or one with other parameters.
    #[error("the host build has no kernel {0} with these parameters")]
    NoSuchKernel(String),
    /// The launch ended early.
    #[error("kernel {kernel}: {what}")]
    Failed {
        /// The entry point.
        kernel: String,
        /// Which block, and what happened there.
        what: String,
    },
}

/// An entry point as the C++ compiler saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostKernel {
    /// The module's name.
    pub module: String,
    /// Its name.
    pub name: String,
    /// Threads of a block.
    pub threads: u32,
    /// Sizes of its parameters in bytes.
    pub sizes: Vec<usize>,
    number: usize,
}

#[repr(C)]
struct RawKernel {
    module: *const c_char,
    name: *const c_char,
    threads: u32,
    parameters: u32,
    sizes: *const u32,
}

#[repr(C)]
struct RawOptions {
    threads: u32,
    order: u32,
    seed: u64,
}

// host/launch.h
unsafe extern "C" {
    fn bellwether_kernel_at(number: usize, kernel: *mut RawKernel) -> bool;
    fn bellwether_launch(
        number: usize,
        blocks: u64,
        shared_bytes: u64,
        arguments: *const *const c_void,
        options: *const RawOptions,
        error: *mut c_char,
        length: usize,
    ) -> bool;
}

/// All entry points of the host build.
pub fn kernels() -> Vec<HostKernel> {
    (0..).map_while(raw_kernel).map(HostKernel::from).collect()
}

/// The entry point of a name.
pub fn find(name: &str) -> Option<HostKernel> {
    (0..)
        .map_while(raw_kernel)
        .find(|raw| literal(raw.1.name).to_bytes() == name.as_bytes())
        .map(HostKernel::from)
}

fn raw_kernel(number: usize) -> Option<(usize, RawKernel)> {
    let mut raw = RawKernel {
        module: std::ptr::null(),
        name: std::ptr::null(),
        threads: 0,
        parameters: 0,
        sizes: std::ptr::null(),
    };
    // SAFETY: it writes one `RawKernel`, whose layout is that of `struct bellwether_kernel`.
    unsafe { bellwether_kernel_at(number, &raw mut raw) }.then_some((number, raw))
}

/// A name in the C++ sources.
fn literal(text: *const c_char) -> &'static CStr {
    // SAFETY: called with the names of a `RawKernel` that has been filled, which are literals ended by a zero.
    unsafe { CStr::from_ptr(text) }
}

impl From<(usize, RawKernel)> for HostKernel {
    fn from((number, raw): (usize, RawKernel)) -> Self {
        // SAFETY: the sizes are a constant array of so many numbers.
        let sizes = unsafe { std::slice::from_raw_parts(raw.sizes, raw.parameters as usize) };
        let text = |text| literal(text).to_string_lossy().into_owned();
        HostKernel {
            module: text(raw.module),
            name: text(raw.name),
            threads: raw.threads,
            sizes: sizes.iter().map(|size| *size as usize).collect(),
            number,
        }
    }
}

/// Runs a kernel with so many blocks and so many bytes of dynamic shared memory, and returns when it is done.
///
/// # Errors
/// If the kernel is not in the sources, or if the launch ends early; then some blocks may have run.
///
/// # Safety
/// What the kernel reads and writes through the addresses in its parameters must be there, and must not be used by
/// another thread at the same time.
pub unsafe fn launch<P: Parameters>(
    kernel: &Kernel<P>,
    blocks: usize,
    shared_bytes: usize,
    parameters: &P,
    options: &HostOptions,
) -> Result<(), HostError> {
    let found = find(kernel.name())
        .filter(|found| found.sizes == P::SIZES && found.threads == kernel.threads())
        .ok_or_else(|| HostError::NoSuchKernel(kernel.name().to_owned()))?;
    // SAFETY: the pointers are to as many bytes as the kernel declares, which has just been checked; for the rest the
    // caller answers.
    unsafe { launch_raw(&found, blocks, shared_bytes, &parameters.pointers(), options) }
}

/// The same without types.
///
/// # Errors
/// As [`launch`].
///
/// # Safety
/// As [`launch`]; and there must be a pointer for each parameter, to as many bytes as [`HostKernel::sizes`] says.
pub unsafe fn launch_raw(
    kernel: &HostKernel,
    blocks: usize,
    shared_bytes: usize,
    arguments: &[*const c_void],
    options: &HostOptions,
) -> Result<(), HostError> {
    let (order, seed) = match options.order {
        Order::Forward => (0, 0),
        Order::Reverse => (1, 0),
        Order::Shuffled(seed) => (2, seed),
    };
    let options = RawOptions { threads: options.threads, order, seed };
    let mut error = [0; 1024];
    // SAFETY: `error` has so many bytes, `options` has the layout of `struct bellwether_options`; for the kernel and its
    // arguments the caller answers.
    let done = unsafe {
        bellwether_launch(
            kernel.number,
            blocks as u64,
            shared_bytes as u64,
            arguments.as_ptr(),
            &raw const options,
            error.as_mut_ptr(),
            error.len(),
        )
    };
    if done {
        return Ok(());
    }
    // SAFETY: a launch that fails leaves a text there, ended by a zero.
    let what = unsafe { CStr::from_ptr(error.as_ptr()) }.to_string_lossy().into_owned();
    Err(HostError::Failed { kernel: kernel.name.clone(), what })
}
