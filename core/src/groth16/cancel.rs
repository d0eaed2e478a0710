//! Asking a running proof to stop.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// A switch that a proof looks at between phases and while it waits for the device. Clones share the switch.
///
/// What the device has begun runs to its end; its results are dropped. The CPU device computes within a phase, so
/// that there the switch counts between phases.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<Mutex<Switch>>);

#[derive(Debug, Default)]
struct Switch {
    on: bool,
    /// Proofs that wait for a device.
    waiting: Vec<Waker>,
}

impl Cancellation {
    /// A switch that is off.
    pub fn new() -> Self {
        Cancellation::default()
    }

    /// Turns the switch on: proofs that look at it end with
    /// [`ProveError::Cancelled`](super::ProveError::Cancelled).
    pub fn cancel(&self) {
        let waiting = {
            let mut switch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            switch.on = true;
            std::mem::take(&mut switch.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Whether the switch is on.
    pub fn is_cancelled(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).on
    }

    /// Waits for a future, or for the switch: then there is no output.
    pub(super) async fn unless_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            let mut switch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if switch.on {
                return Poll::Ready(None);
            }
            if !switch.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                switch.waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[test]
    fn the_switch_ends_a_wait_that_would_not_end() {
        let cancellation = Cancellation::new();
        let other = cancellation.clone();
        let waiting = std::thread::spawn(move || pollster::block_on(other.unless_cancelled(pending::<()>())));
        while cancellation.0.lock().unwrap().waiting.is_empty() {
            std::thread::yield_now();
        }
        cancellation.cancel();
        assert_eq!(waiting.join().unwrap(), None);
        assert_eq!(pollster::block_on(cancellation.unless_cancelled(pending::<()>())), None);
    }

    #[test]
    fn what_is_ready_is_not_thrown_away() {
        let cancellation = Cancellation::new();
        assert_eq!(pollster::block_on(cancellation.unless_cancelled(ready(7))), Some(7));
        cancellation.cancel();
        assert!(cancellation.clone().is_cancelled());
        assert_eq!(pollster::block_on(cancellation.unless_cancelled(ready(7))), Some(7));
    }
}
