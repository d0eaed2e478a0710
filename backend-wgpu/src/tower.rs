//! What is in flight: submits on their way, their end, and the thread that waits for it.
//!
//! wgpu calls back on whichever thread polls or submits, at times with the recorder locked. What runs in such a call
//! takes this module's locks only, and none of them while calling wgpu's queue.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use bellwether_core::device::DeviceError;

use crate::faults::Faults;
use crate::gpu::lock;
use crate::marks::Moment;
use crate::pacing::{Pace, Prediction};
use crate::pending::Signal;
use crate::staging::{Chunk, Returned};

/// Submits in flight. A result is seen when everything that was in flight beside it is done, so this bounds how long
/// one proof can hold up another; and pauses between such rounds, a tenth of a millisecond, weigh little.
pub(crate) const IN_FLIGHT: usize = 8;
/// Timestamps of one submit: its start, its end and the marks in it.
pub(crate) const STAMPS: u32 = 64;
/// Work that nobody asked for, like the clearing of dropped buffers, is submitted after this time.
const IDLE: Duration = Duration::from_millis(1);

/// Shared by the recorder, the futures and the waiting thread.
#[derive(Debug)]
pub(crate) struct Tower {
    faults: Arc<Faults>,
    pace: Mutex<Pace>,
    state: Mutex<State>,
    changed: Condvar,
    stamps: Mutex<Vec<Stamps>>,
    /// Nanoseconds of a tick of the device's clock.
    period: f64,
    opened: Instant,
}

#[derive(Debug, Default)]
struct State {
    flights: VecDeque<Flight>,
    /// Signals to be set if the device is lost; those that are still awaited.
    signals: Vec<Weak<Signal>>,
    next: u64,
    /// Counts whatever a blocked call may wait for.
    progress: u64,
    /// End of the last submit that is done.
    last_end: Option<Instant>,
    /// Buffers that nobody owns and the recorder has not seen yet.
    returned: Vec<Returned>,
    /// Whether something is recorded or returned that has not been submitted.
    recorded: bool,
    closing: bool,
}

/// A submit.
#[derive(Debug)]
pub(crate) struct Flight {
    number: u64,
    submitted: Instant,
    cargo: Cargo,
}

/// What a submit carries until it is done.
#[derive(Debug, Default)]
pub(crate) struct Cargo {
    pub(crate) prediction: Prediction,
    pub(crate) chunks: Vec<Arc<Chunk>>,
    pub(crate) stamps: Option<Stamps>,
    /// Marks in the order of their timestamps; without timestamps, marks at the end.
    pub(crate) marks: Vec<Arc<Moment>>,
}

/// Timestamps of a submit and the way to read them.
#[derive(Clone, Debug)]
pub(crate) struct Stamps {
    pub(crate) set: wgpu::QuerySet,
    pub(crate) resolved: wgpu::Buffer,
    pub(crate) landing: wgpu::Buffer,
}

impl Stamps {
    fn new(device: &wgpu::Device) -> Stamps {
        let buffer = |usage| {
            let size = 8 * u64::from(STAMPS);
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("stamps"),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        Stamps {
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stamps"),
                ty: wgpu::QueryType::Timestamp,
                count: STAMPS,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            landing: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
        }
    }

    /// The first `count` ticks, if they have landed.
    fn read(&self, count: usize) -> Option<Vec<u64>> {
        let ticks = {
            let view = self.landing.slice(..8 * count as u64).get_mapped_range().ok()?;
            let (ticks, _) = view.as_chunks::<8>();
            ticks.iter().map(|tick| u64::from_le_bytes(*tick)).collect()
        };
        self.landing.unmap();
        Some(ticks)
    }
}

impl Tower {
    pub(crate) fn new(faults: Arc<Faults>, pace: Pace, period: f32) -> Tower {
        Tower {
            faults,
            pace: Mutex::new(pace),
            state: Mutex::default(),
            changed: Condvar::new(),
            stamps: Mutex::default(),
            period: f64::from(period),
            opened: Instant::now(),
        }
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Gives access to the rates.
    pub(crate) fn pace<T>(&self, f: impl FnOnce(&mut Pace) -> T) -> T {
        f(&mut lock(&self.pace))
    }

    pub(crate) fn in_flight(&self) -> usize {
        lock(&self.state).flights.len()
    }

    /// A set of timestamps that no submit uses.
    pub(crate) fn stamps(&self, device: &wgpu::Device) -> Stamps {
        let idle = lock(&self.stamps).pop();
        idle.unwrap_or_else(|| Stamps::new(device))
    }

    /// Takes a buffer back; also from within a callback of wgpu.
    pub(crate) fn give_back(&self, returned: Returned) {
        let mut state = lock(&self.state);
        state.returned.push(returned);
        self.notice_work(&mut state);
    }

    /// What has come back since this was last asked.
    pub(crate) fn take_returned(&self) -> Vec<Returned> {
        std::mem::take(&mut lock(&self.state).returned)
    }

    /// There is something to submit, by and by.
    pub(crate) fn work_recorded(&self) {
        self.notice_work(&mut lock(&self.state));
    }

    fn notice_work(&self, state: &mut State) {
        if !std::mem::replace(&mut state.recorded, true) && state.flights.is_empty() {
            self.changed.notify_all();
        }
    }

    /// Everything recorded has been submitted, which leaves what has come back since it was last asked for.
    pub(crate) fn all_submitted(&self) {
        let mut state = lock(&self.state);
        state.recorded = !state.returned.is_empty();
    }

    /// Whether something has come back since it was last asked for.
    pub(crate) fn has_returned(&self) -> bool {
        !lock(&self.state).returned.is_empty()
    }

    /// The signal is set if the device is lost.
    pub(crate) fn watch(&self, signal: &Arc<Signal>) {
        let mut state = lock(&self.state);
        if state.signals.len() == state.signals.capacity() {
            state.signals.retain(|signal| signal.strong_count() > 0);
        }
        state.signals.push(Arc::downgrade(signal));
    }

    /// A submit begins. Called before the queue's, so that its end cannot come first.
    pub(crate) fn depart(&self, cargo: Cargo) -> u64 {
        let mut state = lock(&self.state);
        state.next += 1;
        let number = state.next;
        state.flights.push_back(Flight { number, submitted: Instant::now(), cargo });
        self.changed.notify_all();
        number
    }

    /// wgpu has refused a submit. It still ends when those before it do, but says nothing about rates and times.
    pub(crate) fn refuse(&self, number: u64) {
        let mut state = lock(&self.state);
        if let Some(flight) = state.flights.iter_mut().find(|flight| flight.number == number) {
            flight.cargo.prediction = Prediction::default();
            flight.cargo.stamps = None;
            flight.cargo.marks.clear();
        }
    }

    /// A submit is done.
    pub(crate) fn arrive(&self, number: u64) {
        let now = Instant::now();
        let (flight, began) = {
            let mut state = lock(&self.state);
            let Some(at) = state.flights.iter().position(|flight| flight.number == number) else { return };
            let Some(flight) = state.flights.remove(at) else { return };
            let began = state.last_end.map_or(flight.submitted, |end| end.max(flight.submitted));
            state.last_end = Some(now);
            (flight, began)
        };
        let took = self.read_stamps(&flight.cargo, now).unwrap_or(now.saturating_duration_since(began));
        self.pace(|pace| pace.learn(&flight.cargo.prediction, took));
        drop(flight);
        self.progress();
    }

    /// Sets the marks; the device's time between the first and the last timestamp.
    fn read_stamps(&self, cargo: &Cargo, now: Instant) -> Option<Duration> {
        let nanoseconds = |ticks: u64| (ticks as f64 * self.period) as u64;
        let count = cargo.marks.len() + 2;
        let ticks = cargo.stamps.as_ref().and_then(|stamps| stamps.read(count));
        let Some(ticks) = ticks else {
            let now = now.saturating_duration_since(self.opened).as_nanos() as u64;
            cargo.marks.iter().for_each(|mark| mark.set(now));
            return None;
        };
        lock(&self.stamps).extend(cargo.stamps.clone());
        for (mark, tick) in cargo.marks.iter().zip(&ticks[1..]) {
            mark.set(nanoseconds(*tick));
        }
        Some(Duration::from_nanos(nanoseconds(ticks[count - 1].saturating_sub(ticks[0]))))
    }

    /// Wakes blocked calls.
    pub(crate) fn progress(&self) {
        lock(&self.state).progress += 1;
        self.changed.notify_all();
    }

    /// A number that changes with every progress.
    pub(crate) fn moment(&self) -> u64 {
        lock(&self.state).progress
    }

    /// Blocks until there has been progress since that moment, or the device is lost.
    pub(crate) fn wait_since(&self, moment: u64) -> Result<(), DeviceError> {
        let mut state = lock(&self.state);
        while state.progress == moment {
            if let Some(lost) = self.faults.lost() {
                return Err(lost);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// After the loss of the device: nothing will arrive, everybody is told.
    pub(crate) fn abandon(&self, lost: &DeviceError) {
        let (signals, flights, returned) = {
            let mut state = lock(&self.state);
            state.progress += 1;
            state.recorded = false;
            let State { signals, flights, returned, .. } = &mut *state;
            (std::mem::take(signals), std::mem::take(flights), std::mem::take(returned))
        };
        signals.iter().filter_map(Weak::upgrade).for_each(|signal| signal.set(Err(lost.clone())));
        drop((flights, returned));
        self.changed.notify_all();
    }

    /// The device is not used any more, and everything submitted is done: the waiting thread ends.
    pub(crate) fn close(&self) {
        lock(&self.state).closing = true;
        self.changed.notify_all();
    }

    /// Blocks until something is in flight (`true`) or has been recorded for a while (`false`); `None` ends the thread.
    pub(crate) fn next_duty(&self) -> Option<bool> {
        let mut state = lock(&self.state);
        loop {
            if state.closing {
                return None;
            }
            if !state.flights.is_empty() {
                return Some(true);
            }
            if !state.recorded {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (next, timeout) =
                self.changed.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() && state.recorded && state.flights.is_empty() {
                return Some(false);
            }
        }
    }
}
