//! Futures of results.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bellwether_core::device::DeviceError;
use bellwether_core::secret::SecretVec;

use crate::gpu::lock;
use crate::staging::Landing;
use crate::tower::Tower;

/// An event that happens once, and who waits for it.
#[derive(Debug, Default)]
pub(crate) struct Signal(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    outcome: Option<Result<(), DeviceError>>,
    waker: Option<Waker>,
}

impl Signal {
    /// Sets the outcome, unless there is one, and wakes.
    pub(crate) fn set(&self, outcome: Result<(), DeviceError>) {
        let waker = {
            let mut state = lock(&self.0);
            state.outcome.get_or_insert(outcome);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The outcome, or a promise to wake.
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Result<(), DeviceError>> {
        let mut state = lock(&self.0);
        match &state.outcome {
            Some(outcome) => Poll::Ready(outcome.clone()),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Words on their way to the host. Dropping it drops the words.
#[derive(Debug)]
#[must_use = "a result is read by awaiting it"]
pub(crate) struct Pending {
    tower: Arc<Tower>,
    state: Result<Readback, Option<DeviceError>>,
}

/// Where the words will land.
#[derive(Debug)]
pub(crate) struct Readback {
    pub(crate) landing: Arc<Landing>,
    pub(crate) words: usize,
    pub(crate) mapped: Arc<Signal>,
}

impl Pending {
    pub(crate) fn new(tower: Arc<Tower>, state: Result<Readback, DeviceError>) -> Pending {
        Pending { tower, state: state.map_err(Some) }
    }
}

impl Future for Pending {
    type Output = Result<SecretVec<u32>, DeviceError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let readback = match &mut this.state {
            Ok(readback) => readback,
            Err(error) => return Poll::Ready(Err(error.take().unwrap_or_else(taken))),
        };
        let Poll::Ready(outcome) = readback.mapped.poll(context) else { return Poll::Pending };
        let faults = this.tower.faults();
        // The loss of the device explains more than the mapping that failed because of it. A result that has a fault of
        // its own leaves that of nobody in particular to others.
        let outcome = outcome.map_err(|error| faults.lost().unwrap_or(error));
        let result = outcome.and_then(|()| faults.check()).and_then(|()| {
            let mut words = SecretVec::from(vec![0; readback.words]);
            readback.landing.copy_to(&mut words).map(|()| words)
        });
        this.state = Err(None);
        Poll::Ready(result)
    }
}

fn taken() -> DeviceError {
    DeviceError::Launch { operation: "reading".into(), reason: "the result was taken before".into() }
}
