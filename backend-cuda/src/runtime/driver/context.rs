//! The context of a card, its stream, and events on it.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

use bellwether_core::device::DeviceError;
use cudarc::driver::sys::{CUcontext, CUdevice, CUevent, CUevent_flags, CUstream, CUstream_flags};

use super::api::{Api, code};
use super::cards::Card;

/// The card's primary context, which the process's other users of the card share, and a stream of our own in it.
#[derive(Debug)]
pub(crate) struct Context {
    api: Arc<Api>,
    device: CUdevice,
    raw: CUcontext,
    stream: CUstream,
}

// SAFETY: the driver's handles may be used from any thread; a call with a context pushes it onto the thread's stack.
unsafe impl Send for Context {}
// SAFETY: the driver's functions may be called by several threads at once.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn open(api: &Arc<Api>, card: &Card) -> Result<Context, DeviceError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: it takes a pointer to a handle; the device is the driver's.
        api.check("opening the card", unsafe { (api.context_retain)(&mut raw, card.handle) })?;
        // From here on dropping it releases what there is.
        let mut context =
            Context { api: Arc::clone(api), device: card.handle, raw, stream: std::ptr::null_mut() };
        let mut stream = std::ptr::null_mut();
        context.call("creating a stream", |api| {
            // SAFETY: it takes a pointer to a handle, and the context is current. The stream does not wait for the
            // default one.
            unsafe { (api.stream_create)(&mut stream, CUstream_flags::CU_STREAM_NON_BLOCKING as u32) }
        })?;
        context.stream = stream;
        Ok(context)
    }

    /// Calls the driver with the context current, and says what came of it. Who called keeps the context that it had.
    pub(crate) fn call(&self, operation: &str, call: impl FnOnce(&Api) -> c_int) -> Result<(), DeviceError> {
        self.api.check(operation, self.raw_call(call))
    }

    fn raw_call(&self, call: impl FnOnce(&Api) -> c_int) -> c_int {
        // SAFETY: the context is retained until `self` is dropped.
        let pushed = unsafe { (self.api.context_push)(self.raw) };
        if pushed != code::SUCCESS {
            return pushed;
        }
        let outcome = call(&self.api);
        let mut popped = std::ptr::null_mut();
        // SAFETY: it takes a pointer to a handle; what was pushed above is on top.
        unsafe { (self.api.context_pop)(&mut popped) };
        outcome
    }

    pub(crate) fn stream(&self) -> CUstream {
        self.stream
    }

    /// Blocks until all commands so far are done.
    pub(crate) fn synchronize(&self, operation: &str) -> Result<(), DeviceError> {
        // SAFETY: the stream is alive.
        self.call(operation, |api| unsafe { (api.stream_synchronize)(self.stream) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.stream.is_null() {
            // What was enqueued still runs to its end. Failures are of a context that is of no use any more.
            let _ = self.synchronize("closing the card");
            // SAFETY: nobody uses the stream any more, and it is destroyed once.
            let _ = self.call("closing the card", |api| unsafe { (api.stream_destroy)(self.stream) });
        }
        // SAFETY: it was retained once in `open`.
        unsafe { (self.api.context_release)(self.device) };
    }
}

/// A moment in the order of a context's commands. A clone is the same moment.
#[derive(Clone, Debug)]
pub(crate) struct Event(Arc<RawEvent>);

#[derive(Debug)]
struct RawEvent {
    context: Arc<Context>,
    raw: CUevent,
}

// SAFETY: as for `Context`.
unsafe impl Send for RawEvent {}
// SAFETY: as for `Context`.
unsafe impl Sync for RawEvent {}

impl Event {
    /// The moment at which all commands so far are done. Who waits for it sleeps. `timed` is for [`Event::since`].
    pub(crate) fn record(context: &Arc<Context>, timed: bool) -> Result<Event, DeviceError> {
        const OPERATION: &str = "recording an event";
        let blocking = CUevent_flags::CU_EVENT_BLOCKING_SYNC as u32;
        let untimed = CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        let mut raw = std::ptr::null_mut();
        context.call(OPERATION, |api| {
            // SAFETY: it takes a pointer to a handle, and the context is current.
            unsafe { (api.event_create)(&mut raw, if timed { blocking } else { blocking | untimed }) }
        })?;
        let event = RawEvent { context: Arc::clone(context), raw };
        // SAFETY: event and stream are of this context and alive.
        context.call(OPERATION, |api| unsafe { (api.event_record)(raw, context.stream) })?;
        Ok(Event(Arc::new(event)))
    }

    /// Whether it has passed.
    pub(crate) fn is_past(&self) -> Result<bool, DeviceError> {
        let RawEvent { context, raw } = &*self.0;
        // SAFETY: the event is alive.
        match context.raw_call(|api| unsafe { (api.event_query)(*raw) }) {
            code::NOT_READY => Ok(false),
            outcome => context.api.check("the work so far", outcome).map(|()| true),
        }
    }

    /// Blocks until it has passed.
    pub(crate) fn wait(&self) -> Result<(), DeviceError> {
        let RawEvent { context, raw } = &*self.0;
        // SAFETY: the event is alive.
        context.call("the work so far", |api| unsafe { (api.event_synchronize)(*raw) })
    }

    /// The time since an earlier event; both have passed, and were recorded with time.
    pub(crate) fn since(&self, earlier: &Event) -> Result<Duration, DeviceError> {
        let mut milliseconds = 0.0;
        self.0.context.call("reading a clock", |api| {
            // SAFETY: it takes a pointer to a number; both events are alive.
            unsafe { (api.event_elapsed)(&mut milliseconds, earlier.0.raw, self.0.raw) }
        })?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        // An event that has not passed is destroyed by the driver when it has.
        // SAFETY: nobody else has the handle, and it is destroyed once.
        let _ = self.context.call("destroying an event", |api| unsafe { (api.event_destroy)(self.raw) });
    }
}

/// Memory of the host that the card reaches by itself.
#[derive(Debug)]
pub(crate) struct Pinned {
    context: Arc<Context>,
    start: *mut c_void,
    words: usize,
}

// SAFETY: it owns its memory, which any thread may use and free.
unsafe impl Send for Pinned {}
// SAFETY: what is behind a shared reference is only its address; who uses that answers for it.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Allocates so many words, one or more.
    pub(crate) fn new(context: &Arc<Context>, words: usize) -> Result<Pinned, DeviceError> {
        let mut start = std::ptr::null_mut();
        context.call("pinning memory", |api| {
            // SAFETY: it takes a pointer to a pointer, and the context is current.
            unsafe { (api.pinned_allocate)(&mut start, 4 * words, 0) }
        })?;
        Ok(Pinned { context: Arc::clone(context), start, words })
    }

    pub(crate) fn start(&self) -> *mut u32 {
        self.start.cast()
    }

    pub(crate) fn words(&self) -> usize {
        self.words
    }
}

impl Drop for Pinned {
    /// Whoever drops it has seen to it that the card does not use it any more.
    fn drop(&mut self) {
        // SAFETY: it is what `new` got, freed once.
        let _ = self.context.call("freeing pinned memory", |api| unsafe { (api.pinned_free)(self.start) });
    }
}
