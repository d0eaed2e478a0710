//! Faults on purpose, and what only tests ask.

use std::sync::Arc;
use std::time::Duration;

use bellwether_core::device::DeviceError;

use crate::gpu::Gpu;

/// Access to the inside of a device.
#[derive(Clone, Copy, Debug)]
pub struct Testing<'a>(pub(crate) &'a Arc<Gpu>);

impl Testing<'_> {
    /// Makes the k-th allocation from now on fail, counted from 1.
    pub fn fail_allocation(&self, k: u64) {
        self.0.fail_allocation(k);
    }

    /// The allocations that are still to succeed before the chosen one fails, which counts; 0 after it has failed.
    pub fn allocations_left(&self) -> u64 {
        self.0.allocations_left()
    }

    /// Destroys the device under the hands of who uses it.
    pub fn lose_device(&self) {
        self.0.destroy();
    }

    /// Makes a fault come to light at the next awaited result.
    pub fn inject_fault(&self, fault: DeviceError) {
        self.0.faults().record(fault);
    }

    /// The longest submit so far, except those in which a program ran for the first time, and the driver may have
    /// compiled it.
    pub fn longest_submit(&self) -> Duration {
        self.0.tower().pace(|pace| pace.longest())
    }

    /// Submits that are done.
    pub fn submits(&self) -> u64 {
        self.0.tower().pace(|pace| pace.submits())
    }

    /// Bytes of device memory that somebody owns, and bytes kept for use again.
    pub fn bytes(&self) -> (u64, u64) {
        (self.0.bytes_in_use(), self.0.bytes_idle())
    }

    /// Blocks until all recorded work is done.
    ///
    /// # Errors
    /// [`DeviceError::DeviceLost`].
    pub fn finish(&self) -> Result<(), DeviceError> {
        self.0.finish_all()
    }

    /// Gives memory that is kept for use again back to the driver.
    ///
    /// # Errors
    /// [`DeviceError::DeviceLost`].
    pub fn trim(&self) -> Result<(), DeviceError> {
        self.0.trim()
    }
}
