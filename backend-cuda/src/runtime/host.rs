//! The host build of the kernels as a runtime: memory of the process, launches within the call.
//!
//! It finds what a card would leave undefined. New memory is filled with garbage; red zones before and behind it, and
//! with `blocking` after every launch, show who writes outside of it. What is found makes the device lost, as an illegal
//! address does on a card.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use bellwether_core::device::DeviceError;
use bellwether_core::secret::SecretVec;
use bellwether_kernels::host::{self, HostKernel, HostOptions, Order};

use super::{Event, Landing, Launch, Memory, Runtime};
use crate::buffer::Secrecy;
use crate::gpu::lock;
use crate::memory::{ALIGNMENT, MemoryInfo};
use crate::options::{CudaOptions, HostOrder};

/// Bytes of a red zone before and behind an allocation.
const RED: usize = ALIGNMENT as usize;
/// What red zones hold.
const RED_BYTE: u8 = 0xfd;
/// What new memory holds.
const GARBAGE_BYTE: u8 = 0xcd;

/// Runs kernels on the processor.
#[derive(Debug)]
pub(crate) struct HostRuntime {
    kernels: HashMap<String, HostKernel>,
    options: HostOptions,
    threads: usize,
    checked: bool,
    /// Sizes of what is allocated, by address.
    live: Mutex<BTreeMap<u64, usize>>,
    damage: OnceLock<String>,
    /// Whether somebody has been told of it.
    told: AtomicBool,
}

impl HostRuntime {
    pub(crate) fn new(options: &CudaOptions) -> HostRuntime {
        let threads = options
            .host_threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get));
        HostRuntime {
            kernels: host::kernels().into_iter().map(|kernel| (kernel.name.clone(), kernel)).collect(),
            options: HostOptions {
                threads: u32::try_from(threads).unwrap_or(u32::MAX),
                order: match options.host_order {
                    HostOrder::Forward => Order::Forward,
                    HostOrder::Reverse => Order::Reverse,
                    HostOrder::Shuffled(seed) => Order::Shuffled(seed),
                },
            },
            threads,
            checked: options.blocking,
            live: Mutex::default(),
            damage: OnceLock::new(),
            told: AtomicBool::new(false),
        }
    }

    /// Fails once something has been written outside of what was allocated.
    fn check(&self) -> Result<(), DeviceError> {
        let Some(reason) = self.damage.get() else { return Ok(()) };
        self.told.store(true, Ordering::Relaxed);
        Err(DeviceError::DeviceLost { reason: reason.clone() })
    }

    /// Takes back what `allocate` gave.
    fn deallocate(&self, address: u64, bytes: usize) {
        self.inspect(address, bytes, "freed");
        if let Some(layout) = layout(bytes) {
            let start = std::ptr::with_exposed_provenance_mut::<u8>(address as usize - RED);
            // SAFETY: `allocate` got it with this layout, a red zone before the address; the caller has taken it from the
            // list, so that it has not been freed and nobody else frees it.
            unsafe { dealloc(start, layout) };
        }
    }

    /// Looks at the red zones of an allocation. Damage stays known.
    fn inspect(&self, address: u64, bytes: usize, when: &str) {
        let data = address as *const u8;
        // SAFETY: the address and the size are those of an allocation of `allocate` that is not freed yet, which begins a
        // red zone earlier and ends a red zone later; nothing runs that writes there.
        let (before, behind) = unsafe {
            (std::slice::from_raw_parts(data.sub(RED), RED), std::slice::from_raw_parts(data.add(bytes), RED))
        };
        let altered = |byte: &u8| *byte != RED_BYTE;
        let place = match (before.iter().rposition(altered), behind.iter().position(altered)) {
            (None, None) => return,
            (Some(at), _) => format!("{} bytes before its start", RED - at),
            (None, Some(at)) => format!("{at} bytes behind its end"),
        };
        let reason = format!("{when}: a buffer of {bytes} bytes was written to {place}");
        tracing::error!(reason, "damage");
        // The first stays.
        let _ = self.damage.set(reason);
    }

    fn inspect_all(&self, when: &str) {
        lock(&self.live).iter().for_each(|(address, bytes)| self.inspect(*address, *bytes, when));
    }
}

/// The layout of an allocation with its red zones.
fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(2 * RED)?, RED).ok()
}

impl Runtime for HostRuntime {
    fn is_immediate(&self) -> bool {
        true
    }

    fn units(&self) -> usize {
        self.threads
    }

    fn memory(&self) -> Option<MemoryInfo> {
        host_memory()
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, DeviceError> {
        self.check()?;
        let free = self.memory().map(|memory| memory.free);
        let out_of_memory = || DeviceError::OutOfMemory { asked: bytes as u64, free };
        let layout = layout(bytes).ok_or_else(out_of_memory)?;
        // The system gives what it does not have, and ends the process that uses it.
        if free.is_some_and(|free| bytes as u64 > free) {
            return Err(out_of_memory());
        }
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return Err(out_of_memory());
        }
        // SAFETY: the allocation has two red zones and `bytes` bytes, and nobody else knows it.
        let address = unsafe {
            start.write_bytes(RED_BYTE, RED);
            start.add(RED).write_bytes(GARBAGE_BYTE, bytes);
            start.add(RED + bytes).write_bytes(RED_BYTE, RED);
            start.add(RED).expose_provenance() as u64
        };
        lock(&self.live).insert(address, bytes);
        Ok(Memory { address, bytes })
    }

    fn free(&self, memory: Memory) {
        let listed = lock(&self.live).remove(&memory.address);
        if let Some(bytes) = listed {
            self.deallocate(memory.address, bytes);
        }
    }

    fn trim(&self) -> Result<(), DeviceError> {
        self.check()
    }

    fn write(&self, to: &Memory, offset: usize, words: &[u32], _: Secrecy) -> Result<(), DeviceError> {
        self.check()?;
        let target = word_pointer(to.place(offset, words.len()));
        // SAFETY: `place` has checked that so many words are in the allocation, which the borrow keeps; the words given
        // are the caller's and not in it.
        unsafe { target.copy_from_nonoverlapping(words.as_ptr(), words.len()) };
        Ok(())
    }

    fn clear(&self, memory: &Memory, range: Range<usize>) -> Result<(), DeviceError> {
        self.check()?;
        let target = word_pointer(memory.place(range.start, range.len()));
        // SAFETY: as in `write`. Nobody reads it through a reference that the compiler could take the clearing for
        // pointless for.
        unsafe { target.write_bytes(0, range.len()) };
        std::hint::black_box(target);
        Ok(())
    }

    fn read(&self, from: &Memory, range: Range<usize>, _: Secrecy) -> Result<Landing, DeviceError> {
        self.check()?;
        let source = word_pointer(from.place(range.start, range.len()));
        let mut words = SecretVec::from(vec![0u32; range.len()]);
        // SAFETY: `place` has checked that so many words are in the allocation, which the borrow keeps, and as many are in
        // the vector. All of them were written: by `allocate`, if by nobody since.
        unsafe { words.as_mut_ptr().copy_from_nonoverlapping(source, range.len()) };
        Ok(Landing::Landed(words, Instant::now()))
    }

    unsafe fn launch(&self, launch: &Launch, pointers: &[*const c_void]) -> Result<(), DeviceError> {
        self.check()?;
        let failed = |reason: String| DeviceError::Launch { operation: launch.symbol.to_owned(), reason };
        let kernel = self.kernels.get(launch.symbol).ok_or_else(|| failed("no such kernel".into()))?;
        if kernel.sizes != launch.sizes || kernel.threads != launch.threads {
            return Err(failed("the table of kernels and their sources differ".into()));
        }
        let blocks = launch.blocks as usize;
        // SAFETY: the pointers are to the kernel's parameters, whose sizes have just been compared, and what it reads and
        // writes it may: both as the caller promises.
        unsafe { host::launch_raw(kernel, blocks, launch.shared_bytes, pointers, &self.options) }
            .map_err(|error| failed(error.to_string()))?;
        if self.checked {
            self.inspect_all(launch.symbol);
        }
        self.check()
    }

    fn record(&self) -> Result<Event, DeviceError> {
        self.check().map(|()| Event::Passed(Instant::now()))
    }

    fn is_past(&self, _: &Event) -> Result<bool, DeviceError> {
        self.check().map(|()| true)
    }

    fn wait(&self, _: &Event) -> Result<(), DeviceError> {
        self.check()
    }

    fn elapsed(&self, from: &Event, to: &Event) -> Result<Duration, DeviceError> {
        match (from, to) {
            (Event::Passed(from), Event::Passed(to)) => Ok(to.saturating_duration_since(*from)),
            _ => Err(super::foreign_event()),
        }
    }

    fn synchronize(&self, operation: &str) -> Result<(), DeviceError> {
        self.inspect_all(operation);
        self.check()
    }
}

impl Drop for HostRuntime {
    fn drop(&mut self) {
        let live = std::mem::take(&mut *lock(&self.live));
        live.into_iter().for_each(|(address, bytes)| self.deallocate(address, bytes));
        // Damage that shows at the very end has nobody to be told to; tests have to fail for it.
        if let Some(reason) = self.damage.get().filter(|_| !self.told.load(Ordering::Relaxed)) {
            debug_assert!(std::thread::panicking(), "{reason}");
        }
    }
}

/// A pointer to words in memory that `allocate` gave.
fn word_pointer(address: u64) -> *mut u32 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Total and available memory of the system, where it tells it in `/proc`.
fn host_memory() -> Option<MemoryInfo> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| 1024 * kib)
    };
    Some(MemoryInfo { total: bytes("MemTotal")?, free: bytes("MemAvailable")? })
}
