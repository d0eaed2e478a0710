//! Faults on purpose, and what only tests ask.

use std::sync::Arc;

use bellwether_core::device::DeviceError;

use crate::gpu::Gpu;

/// Access to the inside of a device.
#[derive(Clone, Copy, Debug)]
pub struct Testing<'a>(pub(crate) &'a Arc<Gpu>);

impl Testing<'_> {
    /// Makes the k-th allocation from now on fail, counted from 1; none for 0.
    pub fn fail_allocation(&self, k: u64) {
        self.0.failing_allocation.set(k);
    }

    /// The allocations that are still to succeed before the chosen one fails, which counts; 0 after it has failed.
    pub fn allocations_left(&self) -> u64 {
        self.0.failing_allocation.left()
    }

    /// The same for launches.
    pub fn fail_launch(&self, k: u64) {
        self.0.failing_launch.set(k);
    }

    /// The same for launches.
    pub fn launches_left(&self) -> u64 {
        self.0.failing_launch.left()
    }

    /// The same for uploads, downloads and clearing on demand; not for the clearing of what is dropped.
    pub fn fail_copy(&self, k: u64) {
        self.0.failing_copy.set(k);
    }

    /// The same for copies.
    pub fn copies_left(&self) -> u64 {
        self.0.failing_copy.left()
    }

    /// Makes the device lost under the hands of who uses it.
    pub fn lose_device(&self) {
        self.0.lose("lost on purpose");
    }

    /// Makes a fault come to light at the next awaited result.
    pub fn inject_fault(&self, fault: DeviceError) {
        self.0.faults().record(fault);
    }

    /// Launches so far.
    pub fn launches(&self) -> u64 {
        self.0.launches()
    }

    /// Bytes of device memory that somebody owns.
    pub fn bytes_in_use(&self) -> u64 {
        self.0.bytes_in_use()
    }

    /// Blocks until all work so far is done.
    ///
    /// # Errors
    /// The device's.
    pub fn finish(&self) -> Result<(), DeviceError> {
        self.0.finish()
    }

    /// Gives memory that is kept for use again back to the driver.
    ///
    /// # Errors
    /// The device's.
    pub fn trim(&self) -> Result<(), DeviceError> {
        self.0.trim()
    }
}
