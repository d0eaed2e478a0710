//! The way in and the way out: buffers that the host can see.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bellwether_core::device::DeviceError;

use crate::buffer::Secrecy;
use crate::faults::Scopes;
use crate::fenced;
use crate::gpu::lock;
use crate::tower::Tower;

/// Bytes of an upload chunk: the parameters of a whole submit fit, and a copy of it takes 0.1 ms.
pub(crate) const CHUNK: u64 = 1 << 20;
/// Chunks of one device; an upload waits while all of them are on their way.
const CHUNKS: u64 = 64;
/// Mapped ranges start at multiples of this.
const MAP_ALIGNMENT: u64 = wgpu::MAP_ALIGNMENT;

/// Upload chunks that nobody uses. They stay mapped, so that filling one is a copy in memory: a reused mapped buffer
/// takes 11.5 GB/s where `write_buffer` takes 3.9 (GPU-NOTES.md).
#[derive(Debug)]
pub(crate) struct Uploads {
    device: wgpu::Device,
    tower: Arc<Tower>,
    free: Mutex<Vec<wgpu::Buffer>>,
    allocated: AtomicU64,
}

impl Uploads {
    pub(crate) fn new(device: wgpu::Device, tower: Arc<Tower>) -> Uploads {
        Uploads { device, tower, free: Mutex::default(), allocated: AtomicU64::new(0) }
    }

    /// A chunk, or `None` while all are on their way. The submit in hand may take `beyond` the bound: it must not wait
    /// for itself.
    pub(crate) fn take(self: &Arc<Self>, beyond: bool) -> Result<Option<Chunk>, DeviceError> {
        let free = lock(&self.free).pop();
        let raw = match free {
            Some(raw) => raw,
            None if beyond || self.allocated.load(Ordering::Relaxed) < CHUNKS => self.create()?,
            None => return Ok(None),
        };
        let home = Arc::clone(self);
        Ok(Some(Chunk { raw, home, used: 0.into(), secret: false.into(), mapped: true.into() }))
    }

    fn create(&self) -> Result<wgpu::Buffer, DeviceError> {
        let scopes = Scopes::open(&self.device);
        let raw = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("upload"),
            size: CHUNK,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        scopes.close("allocation", CHUNK)?;
        self.tower.faults().lost().map_or(Ok(()), Err)?;
        self.allocated.fetch_add(1, Ordering::Relaxed);
        Ok(raw)
    }

    fn put(&self, raw: wgpu::Buffer) {
        lock(&self.free).push(raw);
        self.tower.progress();
    }

    fn forget(&self) {
        self.allocated.fetch_sub(1, Ordering::Relaxed);
        self.tower.progress();
    }
}

/// A mapped buffer that is filled front to back, copied from by commands, and mapped again when the last of them is
/// done.
#[derive(Debug)]
pub(crate) struct Chunk {
    raw: wgpu::Buffer,
    home: Arc<Uploads>,
    /// Bytes filled.
    used: AtomicU64,
    secret: AtomicBool,
    mapped: AtomicBool,
}

impl Chunk {
    pub(crate) fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }

    /// Bytes that can still be filled.
    pub(crate) fn room(&self) -> u64 {
        match self.mapped.load(Ordering::Relaxed) {
            true => CHUNK - self.used.load(Ordering::Relaxed),
            false => 0,
        }
    }

    /// Appends words, for which there is room, and says at which byte. Called under the recorder's lock only.
    pub(crate) fn fill(&self, words: &[u32], secrecy: Secrecy) -> Result<u64, DeviceError> {
        let bytes = fenced::bytes(words);
        let at = self.used.load(Ordering::Relaxed);
        let mut view =
            self.raw.slice(at..at + bytes.len() as u64).get_mapped_range_mut().map_err(unmapped)?;
        view.copy_from_slice(bytes);
        self.used
            .store((at + bytes.len() as u64).next_multiple_of(MAP_ALIGNMENT).min(CHUNK), Ordering::Relaxed);
        if secrecy == Secrecy::Secret {
            self.secret.store(true, Ordering::Relaxed);
        }
        Ok(at)
    }

    /// Hands it to the device; nothing can be filled in any more.
    pub(crate) fn unmap(&self) {
        if self.mapped.swap(false, Ordering::Relaxed) {
            self.raw.unmap();
        }
    }
}

fn unmapped(error: wgpu::MapRangeError) -> DeviceError {
    DeviceError::Launch { operation: "mapping".into(), reason: error.to_string() }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        let (raw, home) = (self.raw.clone(), Arc::clone(&self.home));
        let secret = NonZeroU64::new(*self.used.get_mut()).filter(|_| *self.secret.get_mut());
        if *self.mapped.get_mut() {
            return reuse(&home, raw, secret);
        }
        let mapping = raw.clone();
        mapping.slice(..).map_async(wgpu::MapMode::Write, move |result| match result {
            Ok(()) => reuse(&home, raw, secret),
            // The device is gone, and what it held with it.
            Err(_) => home.forget(),
        });
    }
}

/// Makes a mapped buffer available again, with what was secret overwritten.
fn reuse(home: &Uploads, raw: wgpu::Buffer, secret: Option<NonZeroU64>) {
    if let Some(bytes) = secret {
        match raw.slice(..bytes.get()).get_mapped_range_mut() {
            Ok(mut view) => view.slice(..).fill(0),
            Err(_) => return home.forget(),
        }
    }
    home.put(raw);
}

/// Where a result lands: a buffer the host can read. Dropped, it goes back to the recorder, which clears it.
#[derive(Debug)]
pub(crate) struct Landing {
    pub(crate) raw: wgpu::Buffer,
    secrecy: Secrecy,
    tower: Arc<Tower>,
    /// Whether mapping was asked for.
    armed: AtomicBool,
}

impl Landing {
    pub(crate) fn new(raw: wgpu::Buffer, secrecy: Secrecy, tower: Arc<Tower>) -> Landing {
        Landing { raw, secrecy, tower, armed: false.into() }
    }

    /// Asks for the mapping of so many bytes. The landing lives until the answer, even if nobody wants the result any
    /// more: wgpu 30 maps a buffer that was unmapped and asked for again when the submit of the first time is done, which
    /// is before the next result has landed.
    pub(crate) fn map(
        self: Arc<Self>,
        bytes: u64,
        then: impl FnOnce(Result<(), wgpu::BufferAsyncError>) + Send + 'static,
    ) {
        self.armed.store(true, Ordering::Relaxed);
        let raw = self.raw.clone();
        raw.slice(..bytes).map_async(wgpu::MapMode::Read, move |result| {
            then(result);
            drop(self);
        });
    }

    /// The words that have landed.
    pub(crate) fn copy_to(&self, words: &mut [u32]) -> Result<(), DeviceError> {
        let view = self.raw.slice(..4 * words.len() as u64).get_mapped_range().map_err(unmapped)?;
        fenced::bytes_mut(words).copy_from_slice(&view);
        Ok(())
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        if *self.armed.get_mut() {
            self.raw.unmap();
        }
        self.tower.give_back(Returned { raw: self.raw.clone(), secrecy: self.secrecy, landing: true });
    }
}

/// A buffer that nobody owns any more, on its way to a pool.
#[derive(Debug)]
pub(crate) struct Returned {
    pub(crate) raw: wgpu::Buffer,
    pub(crate) secrecy: Secrecy,
    /// Whether it is of the kind that results land in.
    pub(crate) landing: bool,
}
