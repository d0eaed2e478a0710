//! One opened card, or the host build: memory, commands, results. Everything else in this crate computes with it.
//!
//! Commands take effect in the order in which they are called, as on one stream.

use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bellwether_core::device::DeviceError;
use bellwether_kernels::{Kernel, Parameters};

use crate::buffer::{Buffer, Secrecy};
use crate::faults::{Countdown, Faults};
use crate::fenced;
use crate::marks::Mark;
use crate::memory::{Ledger, allocation_bytes};
use crate::options::CudaOptions;
use crate::pending::{Passing, Pending, Watch};
use crate::runtime::{Event, Launch, Memory, Runtime};

/// One opened device. When the last owner lets go of it, its thread has ended; the driver's context goes with the last
/// result that somebody still awaits.
#[derive(Debug)]
pub(crate) struct Gpu {
    engine: Arc<Engine>,
    waiter: Option<JoinHandle<()>>,
}

/// What the owners share with the waiting thread and with results on their way.
#[derive(Debug)]
pub(crate) struct Engine {
    runtime: Box<dyn Runtime>,
    options: CudaOptions,
    faults: Faults,
    watch: Watch,
    ledger: Ledger,
    /// Which allocation, launch or copy from now on is to fail. For tests.
    pub(crate) failing_allocation: Countdown,
    pub(crate) failing_launch: Countdown,
    pub(crate) failing_copy: Countdown,
    launches: AtomicU64,
}

/// The guard, also after a panic of another thread: what the mutexes of this crate guard is whole between calls.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Takes over a runtime.
    ///
    /// # Errors
    /// [`DeviceError::Launch`] if no thread can be started.
    pub(crate) fn open(runtime: Box<dyn Runtime>, options: CudaOptions) -> Result<Arc<Gpu>, DeviceError> {
        let immediate = runtime.is_immediate();
        let engine = Arc::new(Engine {
            runtime,
            ledger: Ledger::new(options.memory_limit),
            options,
            faults: Faults::default(),
            watch: Watch::default(),
            failing_allocation: Countdown::default(),
            failing_launch: Countdown::default(),
            failing_copy: Countdown::default(),
            launches: AtomicU64::new(0),
        });
        if immediate {
            return Ok(Arc::new(Gpu { engine, waiter: None }));
        }
        let waiting = Arc::clone(&engine);
        let thread = std::thread::Builder::new().name("bellwether-cuda".into());
        let waiter = thread.spawn(move || waiting.wait()).map_err(|error| DeviceError::Launch {
            operation: "starting a thread".into(),
            reason: error.to_string(),
        })?;
        Ok(Arc::new(Gpu { engine, waiter: Some(waiter) }))
    }

    /// A buffer of `words` words, none or more, with unspecified contents. Its address is a multiple of 256.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub(crate) fn alloc(self: &Arc<Self>, words: usize, secrecy: Secrecy) -> Result<Buffer, DeviceError> {
        Ok(Buffer::new(Arc::clone(self), self.allocate(words)?, words, secrecy))
    }

    /// A buffer with these words, none or more, which are copied within the call.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn upload(self: &Arc<Self>, words: &[u32], secrecy: Secrecy) -> Result<Buffer, DeviceError> {
        let buffer = self.alloc(words.len(), secrecy)?;
        self.write(&buffer, 0, words)?;
        Ok(buffer)
    }
}

impl Deref for Gpu {
    type Target = Arc<Engine>;

    fn deref(&self) -> &Arc<Engine> {
        &self.engine
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.engine.watch.close();
        // A result may have woken the last owner on the very thread.
        if let Some(waiter) =
            self.waiter.take().filter(|waiter| waiter.thread().id() != std::thread::current().id())
        {
            // That it panicked, if it did, has been told.
            let _ = waiter.join();
        }
    }
}

/// Commands.
impl Engine {
    /// The words of the buffer from `offset` on become these, which are copied within the call.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn write(&self, to: &Buffer, offset: usize, words: &[u32]) -> Result<(), DeviceError> {
        let memory = to.checked(&(offset..offset + words.len()));
        self.begin_copy("an upload")?;
        match words.is_empty() {
            true => Ok(()),
            false => self.note(self.runtime.write(memory, offset, words, to.secrecy())),
        }
    }

    /// The words of a range become zero.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn clear(&self, buffer: &Buffer, range: Range<usize>) -> Result<(), DeviceError> {
        let memory = buffer.checked(&range);
        self.begin_copy("clearing")?;
        match range.is_empty() {
            true => Ok(()),
            false => self.note(self.runtime.clear(memory, range)),
        }
    }

    /// The words of a range as they are when all commands so far are done. The call enqueues the copy; a failure to do
    /// so is the result's.
    pub(crate) fn read(self: &Arc<Self>, buffer: &Buffer, range: Range<usize>) -> Pending {
        let memory = buffer.checked(&range);
        let landing = self.begin_copy("a download").and_then(|()| {
            let landing = self.note(self.runtime.read(memory, range, buffer.secrecy()))?;
            let passing = self.pass(landing.event());
            Ok((landing, passing))
        });
        Pending::new(Arc::clone(self), landing)
    }

    /// Launches `blocks` blocks of a kernel; none do nothing.
    ///
    /// # Errors
    /// The device's, [`DeviceError::Unsupported`] for 2^31 blocks or more.
    pub(crate) fn launch<P: Parameters>(
        &self,
        kernel: &Kernel<P>,
        blocks: usize,
        parameters: &P,
    ) -> Result<(), DeviceError> {
        self.launch_shared(kernel, blocks, 0, parameters)
    }

    /// [`launch`](Self::launch) with so many bytes of dynamic shared memory a block.
    ///
    /// # Errors
    /// As [`launch`](Self::launch), and [`DeviceError::Unsupported`] for more shared memory than a block can have.
    pub(crate) fn launch_shared<P: Parameters>(
        &self,
        kernel: &Kernel<P>,
        blocks: usize,
        shared_bytes: usize,
        parameters: &P,
    ) -> Result<(), DeviceError> {
        self.check()?;
        if blocks == 0 {
            return Ok(());
        }
        let fitting = u32::try_from(blocks).ok().filter(|blocks| i32::try_from(*blocks).is_ok());
        let blocks = fitting.ok_or_else(|| DeviceError::Unsupported {
            what: format!("{blocks} blocks of {}", kernel.name()),
            why: "a grid has fewer than 2^31".into(),
        })?;
        self.launches.fetch_add(1, Ordering::Relaxed);
        if self.failing_launch.is_now() {
            return Err(on_purpose(kernel.name()));
        }
        let launch = Launch {
            symbol: kernel.name(),
            module: kernel.module(),
            sizes: P::SIZES,
            blocks,
            threads: kernel.threads(),
            shared_bytes,
        };
        self.note(fenced::launch(&*self.runtime, &launch, parameters))?;
        if self.options.blocking {
            self.note(self.runtime.synchronize(kernel.name()))?;
        }
        Ok(())
    }

    /// Marks the moment at which all commands so far are done.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn mark(self: &Arc<Self>) -> Result<Mark, DeviceError> {
        self.check()?;
        let event = self.note(self.runtime.record())?;
        Ok(Mark::new(self.pass(event.clone()), event))
    }

    /// Waits for an event.
    pub(crate) fn pass(self: &Arc<Self>, event: Event) -> Passing {
        Passing::new(Arc::clone(self), event)
    }

    /// Blocks until all commands so far are done.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn finish(&self) -> Result<(), DeviceError> {
        self.check()?;
        self.note(self.runtime.synchronize("the work so far"))
    }

    fn begin_copy(&self, operation: &str) -> Result<(), DeviceError> {
        self.check()?;
        if self.failing_copy.is_now() { Err(on_purpose(operation)) } else { Ok(()) }
    }

    /// Fails if the device is lost.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        self.faults.lost().map_or(Ok(()), Err)
    }

    /// Remembers the loss of the device, and tells it to everybody who waits.
    pub(crate) fn note<T>(&self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        if let Err(DeviceError::DeviceLost { reason }) = &result {
            self.lose(reason);
        }
        result
    }

    /// The device is lost, or taken for it.
    pub(crate) fn lose(&self, reason: &str) {
        self.faults.lose(reason);
        if let Some(lost) = self.faults.lost() {
            self.watch.abandon(&lost);
        }
    }

    /// What the waiting thread does: waits for events in their order and tells who waits for results.
    fn wait(&self) {
        while let Some(flight) = self.watch.next() {
            let outcome = self.check().and_then(|()| self.note(self.runtime.wait(&flight.event)));
            flight.signal.set(outcome);
        }
    }

    pub(crate) fn runtime(&self) -> &dyn Runtime {
        &*self.runtime
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// What was chosen for this device.
    pub(crate) fn options(&self) -> &CudaOptions {
        &self.options
    }

    /// Multiprocessors; of the host build, its threads.
    pub(crate) fn multiprocessors(&self) -> usize {
        self.runtime.units()
    }

    /// Whether this is the host build.
    pub(crate) fn is_software(&self) -> bool {
        self.runtime.is_immediate()
    }

    /// Launches so far.
    pub(crate) fn launches(&self) -> u64 {
        self.launches.load(Ordering::Relaxed)
    }
}

/// Memory.
impl Engine {
    fn allocate(&self, words: usize) -> Result<Memory, DeviceError> {
        self.check()?;
        let asked = allocation_bytes(words);
        if self.failing_allocation.is_now() {
            return Err(DeviceError::OutOfMemory { asked, free: self.memory_free() });
        }
        self.ledger.reserve(asked)?;
        self.note(self.runtime.allocate(4 * words)).inspect_err(|_| self.ledger.release(asked))
    }

    /// Takes back the memory of a buffer that was dropped.
    pub(crate) fn give_back(&self, memory: Memory, words: usize, secrecy: Secrecy) {
        if secrecy == Secrecy::Secret && words > 0 && self.check().is_ok() {
            // Without success the device is lost, and with it what its memory held.
            if let Err(error) = self.note(self.runtime.clear(&memory, 0..words)) {
                self.faults.record(error);
            }
        }
        self.ledger.release(allocation_bytes(words));
        self.runtime.free(memory);
    }

    /// Memory in bytes that is free, if it can be told: what the driver says, within the limit.
    pub(crate) fn memory_free(&self) -> Option<u64> {
        let driver = self.runtime.memory().map(|memory| memory.free);
        [driver, self.ledger.left()].into_iter().flatten().min()
    }

    /// Bytes of buffers that somebody owns.
    pub(crate) fn bytes_in_use(&self) -> u64 {
        self.ledger.in_use()
    }

    /// Gives memory that is kept for use again back to the driver.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn trim(&self) -> Result<(), DeviceError> {
        self.check()?;
        self.note(self.runtime.trim())
    }
}

/// The failure that tests ask for.
fn on_purpose(operation: &str) -> DeviceError {
    DeviceError::Launch { operation: operation.into(), reason: "failed on purpose".into() }
}

#[cfg(test)]
pub(crate) mod tests;
