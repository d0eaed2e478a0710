//! What has gone wrong on a device, and faults on purpose.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use bellwether_core::device::DeviceError;

use crate::gpu::lock;

/// What has gone wrong on one device: its loss, which is for good, or a fault of nobody in particular that nobody has been
/// told of yet.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// The reason why the device was lost.
    lost: OnceLock<String>,
    /// The first fault since the last report.
    first: Mutex<Option<DeviceError>>,
}

impl Faults {
    /// The device is lost. A second loss says nothing new.
    pub(crate) fn lose(&self, reason: &str) {
        if self.lost.set(reason.to_owned()).is_ok() {
            tracing::debug!(reason, "device lost");
        }
    }

    /// Keeps a fault until it is reported, unless there is an earlier one.
    pub(crate) fn record(&self, error: DeviceError) {
        tracing::debug!(%error, "device fault");
        lock(&self.first).get_or_insert(error);
    }

    /// Why the device was lost, if it was.
    pub(crate) fn lost(&self) -> Option<DeviceError> {
        self.lost.get().map(|reason| DeviceError::DeviceLost { reason: reason.clone() })
    }

    /// Reports: the loss of the device, every time, or the first fault since the last report, once.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        match self.lost() {
            Some(lost) => Err(lost),
            None => lock(&self.first).take().map_or(Ok(()), Err),
        }
    }
}

/// Counts down to the event that is to fail; for tests.
#[derive(Debug, Default)]
pub(crate) struct Countdown(AtomicU64);

impl Countdown {
    /// The k-th event from now on is to fail, counted from 1; none for 0.
    pub(crate) fn set(&self, k: u64) {
        self.0.store(k, Ordering::Relaxed);
    }

    /// The events that are still to come, with the one that fails; 0 after it has failed.
    pub(crate) fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts an event, and says whether it is the one.
    pub(crate) fn is_now(&self) -> bool {
        if self.left() == 0 {
            return false;
        }
        let count_down = |k: u64| k.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count_down) == Ok(1)
    }
}
