//! Moments in the device's work.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bellwether_core::device::DeviceError;

use crate::pending::Passing;
use crate::runtime::Event;

/// A moment, by the device's clock.
#[derive(Clone, Debug)]
pub struct Mark(Arc<Moment>);

#[derive(Debug)]
struct Moment {
    passing: Passing,
    event: Event,
}

impl Mark {
    pub(crate) fn new(passing: Passing, event: Event) -> Mark {
        Mark(Arc::new(Moment { passing, event }))
    }
}

/// Waits for two moments and takes the difference.
pub(crate) async fn elapsed(from: Mark, to: Mark) -> Result<Duration, DeviceError> {
    for mark in [&from, &to] {
        poll_fn(|context| mark.0.passing.poll(context)).await?;
    }
    let engine = from.0.passing.engine();
    engine.faults().check()?;
    engine.note(engine.runtime().elapsed(&from.0.event, &to.0.event))
}
