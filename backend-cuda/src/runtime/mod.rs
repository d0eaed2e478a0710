//! What the rest of the crate asks of whoever runs kernels: the driver of a card, or the host build.
//!
//! Commands of one runtime take effect in the order in which they are called, as on one stream. They are asynchronous
//! where the runtime can do so: a failure may show at any later call. Memory is not cleared when it is allocated or freed.

#![allow(unsafe_code)]

mod cache;
pub(crate) mod driver;
#[cfg(any(test, feature = "host"))]
pub(crate) mod host;

use std::ffi::c_void;
use std::fmt::Debug;
use std::ops::Range;
use std::time::Duration;
#[cfg(any(test, feature = "host"))]
use std::time::Instant;

use bellwether_core::device::DeviceError;
use bellwether_core::secret::SecretVec;
use bellwether_kernels::{Address, Module};

use crate::buffer::Secrecy;
use crate::memory::MemoryInfo;

/// Memory that a runtime has allocated. It is given back by [`Runtime::free`] only: dropped, it stays allocated as long
/// as the runtime lives.
#[derive(Debug)]
pub(crate) struct Memory {
    address: u64,
    bytes: usize,
}

impl Memory {
    /// Where it starts, a multiple of 256.
    pub(crate) fn address(&self) -> Address {
        Address(self.address)
    }

    /// The address of a word, after a check that so many words from there on are in it.
    fn place(&self, offset: usize, words: usize) -> u64 {
        let end = offset.checked_add(words).and_then(|end| end.checked_mul(4));
        assert!(
            end.is_some_and(|end| end <= self.bytes),
            "{words} words at {offset} of {} bytes",
            self.bytes
        );
        self.address + 4 * offset as u64
    }
}

/// A launch without its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// The kernel's name in the sources.
    pub(crate) symbol: &'static str,
    pub(crate) module: Module,
    /// Sizes of its parameters in bytes.
    pub(crate) sizes: &'static [usize],
    /// Blocks, one or more and fewer than 2^31.
    pub(crate) blocks: u32,
    /// Threads of a block.
    pub(crate) threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub(crate) shared_bytes: usize,
}

/// A moment in the order of commands. A clone is the same moment.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// What the host build did has been done by then.
    #[cfg(any(test, feature = "host"))]
    Passed(Instant),
    /// The driver's.
    Driver(driver::Event),
}

/// Words on their way to the host.
#[derive(Debug)]
pub(crate) enum Landing {
    /// They are there.
    #[cfg(any(test, feature = "host"))]
    Landed(SecretVec<u32>, Instant),
    /// In memory that the driver writes to until an event has passed.
    Driver(driver::Landing),
}

impl Landing {
    /// The moment from which on they can be taken.
    pub(crate) fn event(&self) -> Event {
        match self {
            #[cfg(any(test, feature = "host"))]
            Landing::Landed(_, at) => Event::Passed(*at),
            Landing::Driver(landing) => Event::Driver(landing.event().clone()),
        }
    }

    /// The words, once; waits for the event.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn take(&mut self) -> Result<SecretVec<u32>, DeviceError> {
        match self {
            #[cfg(any(test, feature = "host"))]
            Landing::Landed(words, _) => Ok(std::mem::take(words)),
            Landing::Driver(landing) => landing.take(),
        }
    }
}

/// Runs kernels in order.
pub(crate) trait Runtime: Debug + Send + Sync {
    /// Whether everything is done when its call returns.
    fn is_immediate(&self) -> bool;

    /// Multiprocessors, or threads.
    fn units(&self) -> usize;

    /// The memory there is, if it can be told.
    fn memory(&self) -> Option<MemoryInfo>;

    /// Allocates bytes, none or more, at an address that is a multiple of 256.
    fn allocate(&self, bytes: usize) -> Result<Memory, DeviceError>;

    /// Frees memory once all commands so far are done.
    fn free(&self, memory: Memory);

    /// Gives memory that is kept for use again back.
    fn trim(&self) -> Result<(), DeviceError>;

    /// Words from `offset` on become these, which are copied within the call.
    fn write(&self, to: &Memory, offset: usize, words: &[u32], secrecy: Secrecy) -> Result<(), DeviceError>;

    /// The words of a range become zero.
    fn clear(&self, memory: &Memory, range: Range<usize>) -> Result<(), DeviceError>;

    /// Copies words to the host. What is secret is cleared where it lands once it has been taken or given up.
    fn read(&self, from: &Memory, range: Range<usize>, secrecy: Secrecy) -> Result<Landing, DeviceError>;

    /// Launches a kernel.
    ///
    /// # Safety
    /// The pointers are to values of the kernel's parameters, in order. What it reads and writes by the addresses in
    /// them, it must be allowed to.
    unsafe fn launch(&self, launch: &Launch, pointers: &[*const c_void]) -> Result<(), DeviceError>;

    /// The moment at which all commands so far are done.
    fn record(&self) -> Result<Event, DeviceError>;

    /// Whether a moment has passed.
    fn is_past(&self, event: &Event) -> Result<bool, DeviceError>;

    /// Blocks until a moment has passed.
    fn wait(&self, event: &Event) -> Result<(), DeviceError>;

    /// The time from one moment to another, both of which have passed; none if they are in reverse order.
    fn elapsed(&self, from: &Event, to: &Event) -> Result<Duration, DeviceError>;

    /// Blocks until all commands so far are done. Errors name `operation`.
    fn synchronize(&self, operation: &str) -> Result<(), DeviceError>;
}

/// An event of one runtime was shown to another.
#[cfg(any(test, feature = "host"))]
fn foreign_event() -> DeviceError {
    DeviceError::Launch { operation: "waiting".into(), reason: "the mark is of another device".into() }
}
