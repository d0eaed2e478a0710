//! Faults that wgpu reports outside of a call's own result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bellwether_core::device::DeviceError;

/// What has gone wrong on one device and nobody in particular has been told of yet: not a refused submit, which is told
/// to those whose results depend on it.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// The reason why the device was lost.
    lost: OnceLock<String>,
    /// The first fault since the last report.
    first: Mutex<Option<DeviceError>>,
    any: AtomicBool,
}

impl Faults {
    /// Receives what the device reports by itself.
    pub(crate) fn listen(self: &Arc<Self>, device: &wgpu::Device) {
        let faults = Arc::clone(self);
        device.on_uncaptured_error(Arc::new(move |error| faults.record(device_error("a command", 0, error))));
        let faults = Arc::clone(self);
        device.set_device_lost_callback(move |reason, message| faults.lose(reason, &message));
    }

    fn lose(&self, reason: wgpu::DeviceLostReason, message: &str) {
        let reason = match (reason, message) {
            (reason, "") => format!("{reason:?}"),
            (_, message) => message.to_owned(),
        };
        // A second loss says nothing new.
        let _ = self.lost.set(reason);
    }

    /// Keeps a fault until it is reported, unless there is an earlier one.
    pub(crate) fn record(&self, error: DeviceError) {
        tracing::debug!(%error, "device fault");
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        self.any.store(true, Ordering::Release);
    }

    /// Why the device was lost, if it was.
    pub(crate) fn lost(&self) -> Option<DeviceError> {
        self.lost.get().map(|reason| DeviceError::DeviceLost { reason: reason.clone() })
    }

    /// Reports: the loss of the device, every time, or the first fault since the last report, once.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        if let Some(lost) = self.lost() {
            return Err(lost);
        }
        if !self.any.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        self.any.store(false, Ordering::Release);
        first.take().map_or(Ok(()), Err)
    }
}

/// wgpu's error as the trait's. `asked` is the number of bytes asked for, 0 if that is not known.
pub(crate) fn device_error(operation: &str, asked: u64, error: wgpu::Error) -> DeviceError {
    match error {
        wgpu::Error::OutOfMemory { .. } => DeviceError::OutOfMemory { asked, free: None },
        error => DeviceError::Launch { operation: operation.to_owned(), reason: error.to_string() },
    }
}

/// Error scopes of all kinds around some calls on this thread.
pub(crate) struct Scopes(Vec<wgpu::ErrorScopeGuard>);

impl Scopes {
    pub(crate) fn open(device: &wgpu::Device) -> Scopes {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        Scopes([Internal, Validation, OutOfMemory].map(|filter| device.push_error_scope(filter)).into())
    }

    /// An error since the scopes were opened, if any; lack of memory before others.
    pub(crate) fn error(mut self) -> Option<wgpu::Error> {
        // Native scopes are resolved at once, and have to be popped innermost first.
        std::iter::from_fn(|| self.0.pop()).filter_map(|scope| pollster::block_on(scope.pop())).fuse().next()
    }

    /// The error as the trait's.
    pub(crate) fn close(self, operation: &str, asked: u64) -> Result<(), DeviceError> {
        self.error().map_or(Ok(()), |error| Err(device_error(operation, asked, error)))
    }
}

impl Drop for Scopes {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}
