//! Moments in the device's work.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bellwether_core::device::DeviceError;

use crate::pending::Signal;
use crate::tower::Tower;

/// A moment: by the device's clock where it has timestamps, otherwise the moment at which the host learnt that the
/// submit that ends there was done.
#[derive(Clone, Debug)]
pub struct Mark(pub(crate) Arc<Moment>);

#[derive(Debug, Default)]
pub(crate) struct Moment {
    pub(crate) signal: Arc<Signal>,
    nanoseconds: AtomicU64,
}

impl Moment {
    /// The time of the moment, counted from anywhere.
    pub(crate) fn set(&self, nanoseconds: u64) {
        self.nanoseconds.store(nanoseconds, Ordering::Release);
        self.signal.set(Ok(()));
    }
}

/// Waits for two moments and takes the difference.
pub(crate) async fn elapsed(
    tower: Arc<Tower>,
    from: Arc<Moment>,
    to: Arc<Moment>,
) -> Result<Duration, DeviceError> {
    for moment in [&from, &to] {
        poll_fn(|context| moment.signal.poll(context)).await?;
    }
    tower.faults().check()?;
    let [from, to] = [from, to].map(|moment| moment.nanoseconds.load(Ordering::Acquire));
    Ok(Duration::from_nanos(to.saturating_sub(from)))
}
