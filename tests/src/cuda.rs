//! The host build of the CUDA kernels, as tests open it: the kernels that ship, carried out by the processor.

use bellwether_cuda::{CudaDevice, CudaOptions, HostOrder, KernelCachePlace};

/// What cards get, but for multiples of bases.
pub fn options() -> CudaOptions {
    CudaOptions { cache: KernelCachePlace::Off, ..CudaOptions::default() }
}

/// With multiples of bases, as on a card.
pub fn tables() -> CudaOptions {
    CudaOptions { tables: Some(true), ..options() }
}

/// The surroundings of every buffer are looked at after every launch.
pub fn blocking() -> CudaOptions {
    CudaOptions { blocking: true, ..options() }
}

/// Threads of a block run in this order.
pub fn ordered(order: HostOrder) -> CudaOptions {
    CudaOptions { host_order: order, ..options() }
}

/// Opens a card of the driver's double: what talks to the driver is what talks to a real one, and the work is the host
/// build's, done later than the call.
///
/// # Panics
/// If it does not open.
#[allow(clippy::panic, reason = "a test without its device fails")]
pub fn open_double() -> CudaDevice {
    // Without multiples of bases, which take their time.
    let options = CudaOptions { tables: Some(false), ..options() };
    CudaDevice::double(&options).unwrap_or_else(|error| panic!("{error}"))
}

/// Opens the host build.
///
/// # Panics
/// If it does not open.
#[allow(clippy::panic, reason = "a test without its device fails")]
pub fn open(options: &CudaOptions) -> CudaDevice {
    CudaDevice::host(options).unwrap_or_else(|error| panic!("{error}"))
}
