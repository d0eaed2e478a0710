//! Everything unsafe in this crate outside of `runtime`, one function a purpose.

#![allow(unsafe_code)]

use bellwether_core::device::DeviceError;
use bellwether_kernels::Parameters;

use crate::runtime::{Launch, Runtime};

/// Launches a kernel with its parameters.
pub(crate) fn launch<P: Parameters>(
    runtime: &dyn Runtime,
    launch: &Launch,
    parameters: &P,
) -> Result<(), DeviceError> {
    let pointers = parameters.pointers();
    // SAFETY: `Engine::launch_shared`, the only caller, takes symbol, module and threads from a `Kernel<P>`, whose declared
    // parameters are those of the sources, as a test compares for every kernel. Addresses in them are from `Buffer::at`; the
    // operations hold the buffers while they call, and a buffer is freed in stream order, behind the launch. That a
    // kernel stays within its buffers is what each operation has to see to, and what the host build's tests check.
    unsafe { runtime.launch(launch, &pointers) }
}
