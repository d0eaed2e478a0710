//! Memory of the device: buffers, parts of them, and their reuse.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bellwether_core::device::DeviceError;

use crate::gpu::Gpu;

/// Offsets of bindings are multiples of this many words on every adapter.
pub(crate) const ALIGNMENT: usize = 64;

/// Whether contents have to be cleared when a buffer is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// Keys, matrices, indices of variables.
    Public,
    /// Witness values and what is computed from them.
    Secret,
}

/// Memory of the device. Dropped with the last [`Span`] of it, it goes back to the pool; commands that were recorded
/// before are not affected.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    allocation: Arc<Allocation>,
    words: usize,
}

impl Buffer {
    /// A buffer that uses the first words of a raw one.
    pub(crate) fn new(gpu: Arc<Gpu>, raw: wgpu::Buffer, words: usize, secrecy: Secrecy) -> Buffer {
        let refusal = Refusal::default();
        Buffer { allocation: Arc::new(Allocation { gpu, raw, secrecy, refusal }), words }
    }

    /// Length in words.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// All of it.
    pub(crate) fn span(&self) -> Span {
        self.range(0..self.words)
    }

    /// The words of this range.
    pub(crate) fn range(&self, words: Range<usize>) -> Span {
        assert!(words.start <= words.end && words.end <= self.words, "{words:?} of {} words", self.words);
        Span { allocation: Arc::clone(&self.allocation), offset: words.start, words: words.len() }
    }
}

/// A part of a [`Buffer`]. A clone costs a reference count.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    allocation: Arc<Allocation>,
    offset: usize,
    words: usize,
}

impl Span {
    /// Length in words.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// A part of the part; the range is relative to this one.
    pub(crate) fn range(&self, words: Range<usize>) -> Span {
        assert!(words.start <= words.end && words.end <= self.words, "{words:?} of {} words", self.words);
        Span {
            allocation: Arc::clone(&self.allocation),
            offset: self.offset + words.start,
            words: words.len(),
        }
    }

    pub(crate) fn secrecy(&self) -> Secrecy {
        self.allocation.secrecy
    }

    /// Where it is, for a command.
    pub(crate) fn place(&self) -> Place {
        Place {
            buffer: self.allocation.raw.clone(),
            offset: 4 * self.offset as u64,
            bytes: 4 * self.words as u64,
            refusal: Arc::clone(&self.allocation.refusal),
        }
    }
}

/// Why contents are not what was recorded, once wgpu has refused a command that they depend on. Of one owner: who gets
/// the buffer from the pool begins anew.
pub(crate) type Refusal = Arc<OnceLock<DeviceError>>;

/// Bytes of a raw buffer, as commands keep them. Equal if they are the same bytes of the same buffer.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// Of the whole buffer.
    pub(crate) refusal: Refusal,
}

impl Place {
    /// All of a buffer that nobody owns.
    pub(crate) fn whole(buffer: wgpu::Buffer) -> Place {
        Place { offset: 0, bytes: buffer.size(), refusal: Refusal::default(), buffer }
    }

    /// The contents are not what was recorded. The first reason stays.
    pub(crate) fn refuse(&self, error: &DeviceError) {
        self.refusal.get_or_init(|| error.clone());
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        (&self.buffer, self.offset, self.bytes) == (&other.buffer, other.offset, other.bytes)
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.buffer, self.offset, self.bytes).hash(state);
    }
}

/// A raw buffer that returns to the pool.
#[derive(Debug)]
struct Allocation {
    gpu: Arc<Gpu>,
    raw: wgpu::Buffer,
    secrecy: Secrecy,
    refusal: Refusal,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.gpu.recycle(self.raw.clone(), self.secrecy);
    }
}

/// Buffers that nobody owns, by their size in bytes. Work recorded later runs later, so a buffer can be taken out
/// again while commands of its last owner are still to run.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    idle: BTreeMap<u64, Vec<wgpu::Buffer>>,
    idle_bytes: u64,
}

impl Pool {
    /// The bytes allocated for so many: powers of two up to 64 KiB, multiples of 4 KiB above.
    pub(crate) fn size(bytes: u64) -> u64 {
        match bytes {
            0..=65_536 => bytes.next_power_of_two().max(256),
            _ => bytes.next_multiple_of(4096),
        }
    }

    /// The smallest idle buffer of at least `size` bytes, and not a quarter larger.
    pub(crate) fn take(&mut self, size: u64) -> Option<wgpu::Buffer> {
        let (&found, buffers) = self.idle.range_mut(size..=size + size / 4).next()?;
        let buffer = buffers.pop();
        if buffers.is_empty() {
            self.idle.remove(&found);
        }
        self.idle_bytes -= found;
        buffer
    }

    pub(crate) fn put(&mut self, buffer: wgpu::Buffer) {
        self.idle_bytes += buffer.size();
        self.idle.entry(buffer.size()).or_default().push(buffer);
    }

    /// Lets go of a buffer, if it is here.
    pub(crate) fn forget(&mut self, buffer: &wgpu::Buffer) {
        let Some(buffers) = self.idle.get_mut(&buffer.size()) else { return };
        let Some(at) = buffers.iter().position(|idle| idle == buffer) else { return };
        buffers.swap_remove(at);
        if buffers.is_empty() {
            self.idle.remove(&buffer.size());
        }
        self.idle_bytes -= buffer.size();
    }

    /// Bytes of all idle buffers.
    pub(crate) fn idle_bytes(&self) -> u64 {
        self.idle_bytes
    }

    /// Lets go of all idle buffers.
    pub(crate) fn clear(&mut self) {
        *self = Pool::default();
    }
}
