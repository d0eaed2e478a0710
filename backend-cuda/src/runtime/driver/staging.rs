//! The way in and the way out: pinned memory of the host.
//!
//! What was secret is overwritten by the card itself, in the order of commands, by copies of zeros: so memory is clean as
//! soon as it has served, whoever waits for it or not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bellwether_core::device::DeviceError;
use bellwether_core::secret::SecretVec;
use zeroize::Zeroize;

use super::context::{Context, Event, Pinned};
use crate::buffer::Secrecy;
use crate::gpu::lock;

/// Words of an upload chunk: 4 MiB take 0.1 ms on the way and as long to fill.
const CHUNK: usize = 1 << 20;
/// Upload chunks; an upload waits while all of them are on their way.
const CHUNKS: usize = 4;
/// Words of landings that are kept for use again: 64 MiB.
const KEPT: usize = 16 << 20;
/// Words of the smallest landing.
const SMALLEST: usize = 1 << 10;

/// Both ways of one device.
#[derive(Debug)]
pub(crate) struct Staging {
    context: Arc<Context>,
    ring: Mutex<Ring>,
    landings: Mutex<Vec<Idle>>,
    zeros: Zeros,
    is_pinning_refused: AtomicBool,
}

#[derive(Debug, Default)]
struct Ring {
    chunks: Vec<Chunk>,
    next: usize,
}

/// An upload chunk, and the moment from which on it may be filled.
#[derive(Debug)]
struct Chunk {
    pinned: Pinned,
    free_from: Option<Event>,
}

/// A landing that nobody owns. The card may write to it until that moment; it goes back to the card as it is.
#[derive(Debug)]
struct Idle {
    pinned: Pinned,
    free_from: Option<Event>,
}

impl Staging {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Staging, DeviceError> {
        Ok(Staging {
            context: Arc::clone(context),
            ring: Mutex::default(),
            landings: Mutex::default(),
            zeros: Zeros::new(context)?,
            is_pinning_refused: AtomicBool::new(false),
        })
    }

    /// Copies words to an address of the card. They are copied within the call.
    ///
    /// # Safety
    /// There are so many words at the address.
    pub(crate) unsafe fn upload(&self, to: u64, words: &[u32], secrecy: Secrecy) -> Result<(), DeviceError> {
        for (i, piece) in words.chunks(CHUNK).enumerate() {
            let to = to + 4 * (i * CHUNK) as u64;
            // SAFETY: the piece is of the words, and the place is the piece's.
            unsafe { self.upload_piece(to, piece, secrecy)? };
        }
        Ok(())
    }

    /// # Safety
    /// As [`Staging::upload`]; no more words than a chunk has.
    unsafe fn upload_piece(&self, to: u64, words: &[u32], secrecy: Secrecy) -> Result<(), DeviceError> {
        let mut ring = lock(&self.ring);
        let Some(chunk) = self.next_chunk(&mut ring)? else {
            drop(ring);
            // SAFETY: as the caller promises.
            return unsafe { self.upload_pageable(to, words) };
        };
        if let Some(event) = chunk.free_from.take() {
            event.wait()?;
        }
        let start = chunk.pinned.start();
        // SAFETY: the chunk has room for them, and the card does not use it: the event after its last use has passed.
        unsafe { start.copy_from_nonoverlapping(words.as_ptr(), words.len()) };
        let outcome = self.context.call("an upload", |api| {
            // SAFETY: so many words are at both places; the chunk is not touched until the event below has passed.
            unsafe { (api.copy_in)(to, start.cast(), 4 * words.len(), self.context.stream()) }
        });
        if secrecy == Secrecy::Secret {
            self.overwrite(&chunk.pinned, words.len())?;
        }
        chunk.free_from = Some(Event::record(&self.context, false)?);
        outcome
    }

    /// The chunk whose turn it is; `None` where memory cannot be pinned.
    fn next_chunk<'a>(&self, ring: &'a mut Ring) -> Result<Option<&'a mut Chunk>, DeviceError> {
        if ring.chunks.len() < CHUNKS && ring.next == ring.chunks.len() {
            match self.pin(CHUNK)? {
                Some(pinned) => ring.chunks.push(Chunk { pinned, free_from: None }),
                // With those there are, if there are any.
                None => ring.next = 0,
            }
        }
        let at = ring.next;
        ring.next = (at + 1) % CHUNKS;
        Ok(ring.chunks.get_mut(at))
    }

    /// Pinned memory; `None`, with one warning, where that is refused, as it may be in containers.
    fn pin(&self, words: usize) -> Result<Option<Pinned>, DeviceError> {
        if self.is_pinning_refused.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match Pinned::new(&self.context, words) {
            Ok(pinned) => Ok(Some(pinned)),
            Err(lost @ DeviceError::DeviceLost { .. }) => Err(lost),
            Err(error) => {
                if !self.is_pinning_refused.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "memory cannot be pinned: copies to and from the card are slower");
                }
                Ok(None)
            }
        }
    }

    /// # Safety
    /// As [`Staging::upload`].
    unsafe fn upload_pageable(&self, to: u64, words: &[u32]) -> Result<(), DeviceError> {
        self.context.call("an upload", |api| {
            // SAFETY: so many words are at both places; those of the host are the caller's until the copy is done, which
            // is waited for below.
            unsafe { (api.copy_in)(to, words.as_ptr().cast(), 4 * words.len(), self.context.stream()) }
        })?;
        self.context.synchronize("an upload")
    }

    /// Lets the card overwrite the first words with zeros.
    fn overwrite(&self, pinned: &Pinned, words: usize) -> Result<(), DeviceError> {
        for at in (0..words).step_by(CHUNK) {
            let count = CHUNK.min(words - at);
            self.context.call("clearing", |api| {
                // SAFETY: so many zeros are on the card, and the memory has so many words from there on; it is not freed
                // before an event recorded later has passed.
                unsafe {
                    let to = pinned.start().add(at);
                    (api.copy_out)(to.cast(), self.zeros.address, 4 * count, self.context.stream())
                }
            })?;
        }
        Ok(())
    }

    /// Copies words from the card to where they can be taken.
    ///
    /// # Safety
    /// There are so many words at the address.
    pub(crate) unsafe fn download(
        self: &Arc<Self>,
        from: u64,
        words: usize,
        secrecy: Secrecy,
    ) -> Result<Landing, DeviceError> {
        let Some(pinned) = self.landing(words)? else {
            // SAFETY: as the caller promises.
            let landed = unsafe { self.download_pageable(from, words)? };
            let event = Event::record(&self.context, false)?;
            return Ok(Landing { event, words, place: Place::Pageable(landed) });
        };
        let copied = self.context.call("a download", |api| {
            // SAFETY: so many words are at both places; the landing is not freed before the card is done with it.
            unsafe { (api.copy_out)(pinned.start().cast(), from, 4 * words, self.context.stream()) }
        });
        match copied.and_then(|()| Event::record(&self.context, false)) {
            Ok(event) => {
                let place = Place::Pinned { pinned: Some(pinned), secrecy, staging: Arc::clone(self) };
                Ok(Landing { event, words, place })
            }
            Err(error) => {
                // It may still be written to.
                let _ = self.context.synchronize("a download");
                Err(error)
            }
        }
    }

    /// # Safety
    /// As [`Staging::download`].
    unsafe fn download_pageable(&self, from: u64, words: usize) -> Result<SecretVec<u32>, DeviceError> {
        let mut landed = SecretVec::from(vec![0; words]);
        let copied = self.context.call("a download", |api| {
            // SAFETY: so many words are at both places; the vector stays where it is until the copy is done, which is
            // waited for below, whatever the outcome.
            unsafe { (api.copy_out)(landed.as_mut_ptr().cast(), from, 4 * words, self.context.stream()) }
        });
        self.context.synchronize("a download")?;
        copied.map(|()| landed)
    }

    /// A landing with room for so many words: one that was used before, where one fits.
    fn landing(&self, words: usize) -> Result<Option<Pinned>, DeviceError> {
        let size = words.next_power_of_two().max(SMALLEST);
        let idle = {
            let mut landings = lock(&self.landings);
            let at = landings.iter().position(|idle| idle.pinned.words() == size);
            at.map(|at| landings.swap_remove(at))
        };
        match idle {
            // The card writes to it in the order of commands.
            Some(idle) => Ok(Some(idle.pinned)),
            None => self.pin(size),
        }
    }

    /// Takes back a landing, which the card may use until that moment.
    fn give_back(&self, pinned: Pinned, free_from: Option<Event>) {
        let mut landings = lock(&self.landings);
        landings.push(Idle { pinned, free_from });
        let mut kept: usize = landings.iter().map(|idle| idle.pinned.words()).sum();
        // The oldest first, if the card is done with them.
        let mut at = 0;
        while kept > KEPT && at < landings.len() {
            let is_free = landings[at].free_from.as_ref().is_none_or(|event| event.is_past().unwrap_or(true));
            match is_free {
                true => kept -= landings.remove(at).pinned.words(),
                false => at += 1,
            }
        }
    }

    /// Frees all idle landings; the card has nothing to do.
    pub(crate) fn trim(&self) {
        lock(&self.landings).clear();
    }
}

/// Zeros on the card, as many as a chunk has words.
#[derive(Debug)]
struct Zeros {
    context: Arc<Context>,
    address: u64,
}

impl Zeros {
    fn new(context: &Arc<Context>) -> Result<Zeros, DeviceError> {
        let mut address = 0;
        context.call("allocation", |api| {
            // SAFETY: it takes a pointer to an address, and the context is current.
            unsafe { (api.memory_allocate)(&mut address, 4 * CHUNK) }
        })?;
        let zeros = Zeros { context: Arc::clone(context), address };
        // SAFETY: so many words have just been allocated there.
        context.call("clearing", |api| unsafe { (api.fill)(address, 0, CHUNK, context.stream()) })?;
        Ok(zeros)
    }
}

impl Drop for Zeros {
    /// With the staging, when the card has nothing to do.
    fn drop(&mut self) {
        // SAFETY: it is what `new` got, freed once.
        let _ = self.context.call("freeing memory", |api| unsafe { (api.memory_free)(self.address) });
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Pinned memory is freed only when the card does not use it. Failures are of a context that does nothing more.
        let _ = self.context.synchronize("closing the card");
    }
}

/// Words on their way to the host, in memory that the card writes to until an event has passed.
#[derive(Debug)]
pub(crate) struct Landing {
    event: Event,
    words: usize,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// `None` once it has been given back.
    Pinned {
        pinned: Option<Pinned>,
        secrecy: Secrecy,
        staging: Arc<Staging>,
    },
    Pageable(SecretVec<u32>),
}

impl Landing {
    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// The words, once; waits for the event.
    pub(crate) fn take(&mut self) -> Result<SecretVec<u32>, DeviceError> {
        self.event.wait()?;
        let (pinned, secrecy, staging) = match &mut self.place {
            Place::Pageable(words) => return Ok(std::mem::take(words)),
            Place::Pinned { pinned, secrecy, staging } => (pinned, *secrecy, staging),
        };
        let Some(taken) = pinned.take() else { return Ok(SecretVec::default()) };
        // SAFETY: it has so many words and more, all written by the card, which is done: the event has passed. Nobody
        // else has it.
        let landed = unsafe { std::slice::from_raw_parts_mut(taken.start(), self.words) };
        let mut words = SecretVec::with_capacity(self.words);
        words.extend_from_slice(landed);
        if secrecy == Secrecy::Secret {
            landed.zeroize();
        }
        staging.give_back(taken, None);
        Ok(words)
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        let Place::Pinned { pinned, secrecy, staging } = &mut self.place else { return };
        let Some(pinned) = pinned.take() else { return };
        if *secrecy == Secrecy::Secret {
            // Behind the copy that nobody wants any more. Without success the context is of no use.
            let _ = staging.overwrite(&pinned, self.words);
        }
        match Event::record(&staging.context, false) {
            Ok(event) => staging.give_back(pinned, Some(event)),
            Err(_) => {
                let _ = staging.context.synchronize("a download");
                drop(pinned);
            }
        }
    }
}
