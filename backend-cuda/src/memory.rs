//! How much memory there is, and how much of it is in use.

use std::sync::atomic::{AtomicU64, Ordering};

use bellwether_core::device::DeviceError;

/// Bytes of the device's own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryInfo {
    pub(crate) total: u64,
    /// What may still be allocated.
    pub(crate) free: u64,
}

/// Addresses are multiples of this many bytes, and so are sizes.
pub(crate) const ALIGNMENT: u64 = 256;

/// No buffer of the work space of one product is larger than this many bytes: the bound that plans are made with.
pub(crate) const WORK_BUFFER: u64 = 2 << 30;

/// The bytes allocated for a buffer of so many words, which are never none.
pub(crate) fn allocation_bytes(words: usize) -> u64 {
    (4 * words as u64).max(1).next_multiple_of(ALIGNMENT)
}

/// Counts the bytes of buffers that somebody owns. Pinned memory of the host and what the driver takes for itself are
/// not counted.
#[derive(Debug)]
pub(crate) struct Ledger {
    in_use: AtomicU64,
    limit: Option<u64>,
}

impl Ledger {
    pub(crate) fn new(limit: Option<u64>) -> Ledger {
        Ledger { in_use: AtomicU64::new(0), limit }
    }

    /// Counts bytes as in use, unless that would exceed the limit.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<(), DeviceError> {
        let limit = self.limit.unwrap_or(u64::MAX);
        let add = |in_use: u64| in_use.checked_add(bytes).filter(|sum| *sum <= limit);
        let reserved = self.in_use.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        let out_of_memory =
            |in_use| DeviceError::OutOfMemory { asked: bytes, free: Some(limit.saturating_sub(in_use)) };
        reserved.map(|_| ()).map_err(out_of_memory)
    }

    pub(crate) fn release(&self, bytes: u64) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn in_use(&self) -> u64 {
        self.in_use.load(Ordering::Relaxed)
    }

    /// What the limit leaves, if there is one.
    pub(crate) fn left(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.in_use()))
    }
}
