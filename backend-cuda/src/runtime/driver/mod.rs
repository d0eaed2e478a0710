//! A card as a runtime, through the driver's API.

mod api;
mod cards;
mod context;
#[cfg(any(test, feature = "host"))]
pub(crate) mod double;
mod nvrtc;
mod programs;
mod staging;

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bellwether_core::device::DeviceError;
use cudarc::driver::sys::{
    CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation, CUmemLocationType, CUmemPool_attribute,
    CUmemPoolProps, CUmemoryPool,
};

use self::api::Api;
pub(crate) use self::cards::Card;
use self::context::Context;
pub(crate) use self::context::Event;
use self::programs::{Images, Programs};
pub(crate) use self::staging::Landing;
use self::staging::Staging;
use super::{Launch, Memory, Runtime};
use crate::buffer::Secrecy;
use crate::memory::MemoryInfo;
use crate::options::CudaOptions;

/// All cards that the driver shows.
///
/// # Errors
/// [`DeviceError::NoDriver`].
pub(crate) fn cards() -> Result<Vec<Card>, DeviceError> {
    cards::cards(&Arc::new(Api::load()?))
}

#[cfg(test)]
mod tests;

/// An opened card. Fields are in the order in which they are let go of.
#[derive(Debug)]
pub(crate) struct DriverRuntime {
    programs: Programs,
    staging: Arc<Staging>,
    pool: Option<Pool>,
    context: Arc<Context>,
    card: Card,
}

impl DriverRuntime {
    /// Opens a card.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if there is none with this ordinal or it lacks what kernels need,
    /// [`DeviceError::Compile`], the driver's refusal.
    pub(crate) fn open(ordinal: usize, options: &CudaOptions) -> Result<DriverRuntime, DeviceError> {
        let images = Images::Real(options.cache.clone());
        DriverRuntime::open_with(&Arc::new(Api::load()?), ordinal, images)
    }

    /// Opens a card of the driver's double.
    ///
    /// # Errors
    /// As [`DriverRuntime::open`].
    #[cfg(any(test, feature = "host"))]
    pub(crate) fn open_double(ordinal: usize) -> Result<DriverRuntime, DeviceError> {
        DriverRuntime::open_with(&Arc::new(Api::double()), ordinal, Images::Double)
    }

    fn open_with(api: &Arc<Api>, ordinal: usize, images: Images) -> Result<DriverRuntime, DeviceError> {
        let cards = cards::cards(api)?;
        let count = cards.len();
        let card = cards.into_iter().nth(ordinal).ok_or_else(|| DeviceError::Unsupported {
            what: format!("cuda:{ordinal}"),
            why: format!("cards found: {count}"),
        })?;
        card.check()?;
        let context = Arc::new(Context::open(api, &card)?);
        let runtime = DriverRuntime {
            programs: Programs::new(&context, &card, images),
            staging: Arc::new(Staging::new(&context)?),
            pool: card.pools.then(|| Pool::new(&context, &card)).transpose()?,
            context,
            card,
        };
        runtime.programs.warm_up()?;
        Ok(runtime)
    }

    pub(crate) fn card(&self) -> &Card {
        &self.card
    }

    /// Where kernels are from, for people.
    pub(crate) fn origin(&self) -> &str {
        self.programs.origin()
    }

    fn try_allocate(&self, bytes: usize) -> Result<u64, DeviceError> {
        let mut address = 0;
        self.context.call("allocation", |api| match &self.pool {
            // SAFETY: it takes a pointer to an address; pool and stream are alive.
            Some(pool) => unsafe {
                (api.pool_allocate)(&mut address, bytes, pool.raw, self.context.stream())
            },
            // SAFETY: it takes a pointer to an address, and the context is current.
            None => unsafe { (api.memory_allocate)(&mut address, bytes) },
        })?;
        Ok(address)
    }

    fn event<'a>(&self, event: &'a super::Event) -> Result<&'a Event, DeviceError> {
        match event {
            super::Event::Driver(event) => Ok(event),
            #[cfg(any(test, feature = "host"))]
            super::Event::Passed(_) => Err(super::foreign_event()),
        }
    }
}

impl Runtime for DriverRuntime {
    fn is_immediate(&self) -> bool {
        false
    }

    fn units(&self) -> usize {
        self.card.multiprocessors
    }

    fn memory(&self) -> Option<MemoryInfo> {
        let (mut free, mut total) = (0, 0);
        let asked = self.context.call("asking for memory", |api| {
            // SAFETY: it takes pointers to two sizes, and the context is current.
            unsafe { (api.memory_info)(&mut free, &mut total) }
        });
        asked.ok()?;
        let idle = self.pool.as_ref().map_or(0, Pool::idle_bytes);
        Some(MemoryInfo { total: total as u64, free: free as u64 + idle })
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, DeviceError> {
        // Zero bytes have no address.
        let size = bytes.max(4);
        let allocated = match self.try_allocate(size) {
            Err(DeviceError::OutOfMemory { .. }) => {
                // Once more, after everything idle has been let go of.
                self.trim()?;
                self.try_allocate(size)
            }
            other => other,
        };
        match allocated {
            Ok(address) => Ok(Memory { address, bytes }),
            Err(DeviceError::OutOfMemory { .. }) => {
                let free = self.memory().map(|memory| memory.free);
                Err(DeviceError::OutOfMemory { asked: bytes as u64, free })
            }
            Err(error) => Err(error),
        }
    }

    fn free(&self, memory: Memory) {
        // Failures are of a context that is of no use any more.
        let _ = match &self.pool {
            Some(_) => self.context.call("freeing memory", |api| {
                // SAFETY: it is what `allocate` got, given up by its only owner.
                unsafe { (api.pool_free)(memory.address, self.context.stream()) }
            }),
            None => self.context.synchronize("freeing memory").and_then(|()| {
                // SAFETY: likewise; nothing enqueued uses it any more.
                self.context.call("freeing memory", |api| unsafe { (api.memory_free)(memory.address) })
            }),
        };
    }

    fn trim(&self) -> Result<(), DeviceError> {
        self.context.synchronize("the work so far")?;
        self.staging.trim();
        self.pool.as_ref().map_or(Ok(()), Pool::trim)
    }

    fn write(&self, to: &Memory, offset: usize, words: &[u32], secrecy: Secrecy) -> Result<(), DeviceError> {
        let place = to.place(offset, words.len());
        // SAFETY: `place` has checked that so many words are in the allocation, which the borrow keeps; it is freed behind
        // the copy.
        unsafe { self.staging.upload(place, words, secrecy) }
    }

    fn clear(&self, memory: &Memory, range: Range<usize>) -> Result<(), DeviceError> {
        let place = memory.place(range.start, range.len());
        self.context.call("clearing", |api| {
            // SAFETY: as in `write`.
            unsafe { (api.fill)(place, 0, range.len(), self.context.stream()) }
        })
    }

    fn read(
        &self,
        from: &Memory,
        range: Range<usize>,
        secrecy: Secrecy,
    ) -> Result<super::Landing, DeviceError> {
        let place = from.place(range.start, range.len());
        // SAFETY: as in `write`.
        unsafe { self.staging.download(place, range.len(), secrecy) }.map(super::Landing::Driver)
    }

    unsafe fn launch(&self, launch: &Launch, pointers: &[*const c_void]) -> Result<(), DeviceError> {
        if pointers.len() != launch.sizes.len() {
            let reason = format!("{} parameters where the table has {}", pointers.len(), launch.sizes.len());
            return Err(DeviceError::Launch { operation: launch.symbol.into(), reason });
        }
        let function = self.programs.function(launch)?;
        let parameters = pointers.as_ptr().cast_mut().cast();
        let shared = launch.shared_bytes as u32;
        self.context.call(launch.symbol, |api| {
            // SAFETY: the function's module is loaded; the parameters are its own, as the caller promises, and are copied
            // within the call and not written to; so is what the kernel does.
            unsafe {
                (api.launch)(
                    function.raw,
                    launch.blocks,
                    1,
                    1,
                    launch.threads,
                    1,
                    1,
                    shared,
                    self.context.stream(),
                    parameters,
                    std::ptr::null_mut(),
                )
            }
        })
    }

    fn record(&self) -> Result<super::Event, DeviceError> {
        Event::record(&self.context, true).map(super::Event::Driver)
    }

    fn is_past(&self, event: &super::Event) -> Result<bool, DeviceError> {
        self.event(event)?.is_past()
    }

    fn wait(&self, event: &super::Event) -> Result<(), DeviceError> {
        self.event(event)?.wait()
    }

    fn elapsed(&self, from: &super::Event, to: &super::Event) -> Result<Duration, DeviceError> {
        self.event(to)?.since(self.event(from)?)
    }

    fn synchronize(&self, operation: &str) -> Result<(), DeviceError> {
        self.context.synchronize(operation)
    }
}

impl Drop for DriverRuntime {
    fn drop(&mut self) {
        // Before modules and pool are let go of. Failures are of a context that does nothing more.
        let _ = self.context.synchronize("closing the card");
    }
}

/// Memory that is allocated and freed in the order of commands, and kept for use again. A pool of our own: what it keeps
/// is our decision, and goes back with it.
#[derive(Debug)]
struct Pool {
    context: Arc<Context>,
    raw: CUmemoryPool,
}

// SAFETY: as for `Context`.
unsafe impl Send for Pool {}
// SAFETY: as for `Context`.
unsafe impl Sync for Pool {}

impl Pool {
    fn new(context: &Arc<Context>, card: &Card) -> Result<Pool, DeviceError> {
        const OPERATION: &str = "creating a pool of memory";
        let properties = CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: CUmemLocation {
                type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: card.handle,
            },
            win32SecurityAttributes: std::ptr::null_mut(),
            reserved: [0; 64],
        };
        let mut raw = std::ptr::null_mut();
        context.call(OPERATION, |api| {
            // SAFETY: it takes a pointer to a handle and one to properties, whose layout has been the same since they
            // exist: later drivers read as zeros what this one calls reserved.
            unsafe { (api.pool_create)(&mut raw, &properties) }
        })?;
        let pool = Pool { context: Arc::clone(context), raw };
        let mut threshold = u64::MAX;
        context.call(OPERATION, |api| {
            let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            // SAFETY: it takes a pointer to 64 bits for this attribute.
            unsafe { (api.pool_set)(raw, attribute, (&raw mut threshold).cast()) }
        })?;
        Ok(pool)
    }

    /// Bytes that the pool has and nobody uses.
    fn idle_bytes(&self) -> u64 {
        let get = |attribute| {
            let mut bytes = 0u64;
            let asked = self.context.call("asking for memory", |api| {
                // SAFETY: it takes a pointer to 64 bits for these attributes.
                unsafe { (api.pool_get)(self.raw, attribute, (&raw mut bytes).cast()) }
            });
            asked.map_or(0, |()| bytes)
        };
        let reserved = get(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
        reserved.saturating_sub(get(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT))
    }

    /// Gives back what nobody uses.
    fn trim(&self) -> Result<(), DeviceError> {
        // SAFETY: the pool is alive.
        self.context.call("freeing memory", |api| unsafe { (api.pool_trim)(self.raw, 0) })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: it was created once, and is destroyed once; what of it is still allocated stays so.
        let _ = self.context.call("freeing memory", |api| unsafe { (api.pool_destroy)(self.raw) });
    }
}
