//! Futures of results, and what the waiting thread waits for.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use bellwether_core::device::DeviceError;
use bellwether_core::secret::SecretVec;

use crate::gpu::{Engine, lock};
use crate::runtime::{Event, Landing};

/// An event that happens once, and who waits for it.
#[derive(Debug, Default)]
pub(crate) struct Signal(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    outcome: Option<Result<(), DeviceError>>,
    wakers: Vec<Waker>,
}

impl Signal {
    /// Sets the outcome, unless there is one, and wakes.
    pub(crate) fn set(&self, outcome: Result<(), DeviceError>) {
        let wakers = {
            let mut state = lock(&self.0);
            state.outcome.get_or_insert(outcome);
            std::mem::take(&mut state.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// The outcome, or a promise to wake.
    fn poll(&self, context: &mut Context<'_>) -> Poll<Result<(), DeviceError>> {
        let mut state = lock(&self.0);
        match &state.outcome {
            Some(outcome) => Poll::Ready(outcome.clone()),
            None => {
                if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                    state.wakers.push(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

/// An event that somebody waits for.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) event: Event,
    pub(crate) signal: Arc<Signal>,
}

/// What the waiting thread has to wait for, in the order of the commands.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    state: Mutex<Flights>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Flights {
    queue: VecDeque<Flight>,
    closing: bool,
}

impl Watch {
    /// Adds an event behind those before it. Who comes after the end is not waited for, but can ask.
    fn add(&self, flight: Flight) {
        lock(&self.state).queue.push_back(flight);
        self.changed.notify_one();
    }

    /// Blocks until there is something to wait for; `None` ends the thread.
    pub(crate) fn next(&self) -> Option<Flight> {
        let mut state = lock(&self.state);
        loop {
            if let Some(flight) = state.queue.pop_front() {
                return Some(flight);
            }
            if state.closing {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// After the loss of the device: everybody is told.
    pub(crate) fn abandon(&self, lost: &DeviceError) {
        let flights = std::mem::take(&mut lock(&self.state).queue);
        flights.iter().for_each(|flight| flight.signal.set(Err(lost.clone())));
    }

    /// The device is not used any more: the thread ends when nothing is left to wait for.
    pub(crate) fn close(&self) {
        lock(&self.state).closing = true;
        self.changed.notify_all();
    }
}

/// The moment at which all commands before an event are done.
#[derive(Debug)]
pub(crate) struct Passing {
    engine: Arc<Engine>,
    event: Event,
    signal: Arc<Signal>,
}

impl Passing {
    /// Lets the thread wait for the event.
    pub(crate) fn new(engine: Arc<Engine>, event: Event) -> Passing {
        let signal = Arc::new(Signal::default());
        if !engine.runtime().is_immediate() {
            engine.watch().add(Flight { event: event.clone(), signal: Arc::clone(&signal) });
        }
        Passing { engine, event, signal }
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Whether it has passed, or a promise to wake.
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Result<(), DeviceError>> {
        if let Some(lost) = self.engine.faults().lost() {
            return Poll::Ready(Err(lost));
        }
        // It may have passed already without the thread's help.
        match self.engine.note(self.engine.runtime().is_past(&self.event)) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => self.signal.poll(context),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

/// Words on their way to the host. Dropping it drops the words.
#[derive(Debug)]
#[must_use = "a result is read by awaiting it"]
pub(crate) struct Pending {
    engine: Arc<Engine>,
    state: Result<(Landing, Passing), Option<DeviceError>>,
}

impl Pending {
    pub(crate) fn new(engine: Arc<Engine>, state: Result<(Landing, Passing), DeviceError>) -> Pending {
        Pending { engine, state: state.map_err(Some) }
    }
}

impl Future for Pending {
    type Output = Result<SecretVec<u32>, DeviceError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let (landing, passing) = match &mut this.state {
            Ok(landing) => landing,
            Err(error) => return Poll::Ready(Err(error.take().unwrap_or_else(taken))),
        };
        let Poll::Ready(outcome) = passing.poll(context) else { return Poll::Pending };
        // A result that has a fault of its own leaves that of nobody in particular to others.
        let result = outcome
            .and_then(|()| this.engine.faults().check())
            .and_then(|()| this.engine.note(landing.take()));
        this.state = Err(None);
        Poll::Ready(result)
    }
}

fn taken() -> DeviceError {
    DeviceError::Launch { operation: "reading".into(), reason: "the result was taken before".into() }
}
