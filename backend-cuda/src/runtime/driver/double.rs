//! A double of the driver, for tests: the same functions, over memory of the process and the host build of the kernels.
//!
//! Work is done by a thread of its own for each stream, in order and later than the call, as on a card; pageable memory
//! is read within the call, and written to before it returns. A fault in a kernel is known afterwards and is for good.
//! What a card may lack is a card's ordinal.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

use bellwether_kernels::host::{self, HostKernel, HostOptions};
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute,
    CUjit_option, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool, CUmodule, CUstream, CUuuid,
};

use super::api::Api;
use crate::gpu::lock;

/// Cards of the double, by ordinal.
#[cfg_attr(not(test), allow(dead_code, reason = "most are for tests of this crate"))]
pub(crate) mod card {
    /// Has everything.
    pub(crate) const COMPLETE: usize = 0;
    /// Cannot allocate in the order of a stream.
    pub(crate) const WITHOUT_POOLS: usize = 1;
    /// Memory cannot be pinned.
    pub(crate) const WITHOUT_PINNING: usize = 2;
    /// Has little memory: [`SMALL`](super::SMALL) bytes.
    pub(crate) const SMALL: usize = 3;
    /// Is too old.
    pub(crate) const OLD: usize = 4;
    /// Breaks at its third launch, and is whole again when it has been closed.
    pub(crate) const BREAKING: usize = 5;
    /// Has everything, and is used by one test.
    pub(crate) const LONELY: usize = 6;
    /// Has everything, and notices [`SECRET`](super::SECRET).
    pub(crate) const WATCHED: usize = 7;
    /// How many there are.
    pub(crate) const COUNT: usize = 8;
}

/// Bytes of the card with little memory: the zeros of the staging, and some.
pub(crate) const SMALL: usize = (4 << 20) + (1 << 16);

const SUCCESS: c_int = 0;
const INVALID_VALUE: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const INVALID_DEVICE: c_int = 101;
const NOT_FOUND: c_int = 500;
const NOT_READY: c_int = 600;
const ILLEGAL_ADDRESS: c_int = 700;
const LAUNCH_FAILED: c_int = 719;
const NOT_PERMITTED: c_int = 800;
const NOT_SUPPORTED: c_int = 801;

/// A card that is open.
struct Session {
    ordinal: usize,
    /// What went wrong, for good.
    broken: AtomicI32,
    launches_left: AtomicI64,
}

/// A card that is open, with the number of those who have opened it.
type Slot = Option<(Arc<Session>, usize)>;

/// All cards.
static OPEN: Mutex<[Slot; card::COUNT]> = Mutex::new([const { None }; card::COUNT]);

/// A piece of memory.
struct Piece {
    layout: Layout,
    /// For which card.
    ordinal: usize,
    /// Whether it is the host's.
    is_pinned: bool,
}

impl Piece {
    /// Whether a word of it is [`SECRET`].
    fn has_secret(&self, address: usize) -> bool {
        let words = pointer(address).cast_const().cast::<u32>();
        // SAFETY: the piece is allocated there, all of it was written to by `allocate`, and nothing runs that uses it.
        let words = unsafe { std::slice::from_raw_parts(words, self.layout.size() / 4) };
        words.contains(&SECRET)
    }
}

/// A word that the card [`WATCHED`](card::WATCHED) must not be left with.
pub(crate) const SECRET: u32 = 0x5ec2_e7ed;

/// Pieces of the card [`WATCHED`](card::WATCHED) that were freed with the secret in them.
static LEAKS: AtomicI64 = AtomicI64::new(0);

/// What is allocated, by address.
static MEMORY: Mutex<BTreeMap<usize, Piece>> = Mutex::new(BTreeMap::new());

thread_local! {
    static CURRENT: RefCell<Vec<Arc<Session>>> = const { RefCell::new(Vec::new()) };
}

/// With the context that is current, unless it is broken.
fn current(call: impl FnOnce(&Arc<Session>) -> c_int) -> c_int {
    CURRENT.with_borrow(|stack| {
        let Some(session) = stack.last() else { return INVALID_VALUE };
        match session.broken.load(Ordering::SeqCst) {
            SUCCESS => call(session),
            broken => broken,
        }
    })
}

fn allocate(bytes: usize, ordinal: usize, is_pinned: bool) -> Option<usize> {
    let mut memory = lock(&MEMORY);
    if ordinal == card::SMALL && !is_pinned {
        let used: usize = {
            let pieces = memory.values().filter(|piece| piece.ordinal == ordinal && !piece.is_pinned);
            pieces.map(|piece| piece.layout.size()).sum()
        };
        if used + bytes > SMALL {
            return None;
        }
    }
    let layout = Layout::from_size_align(bytes.max(1), 512).ok()?;
    // SAFETY: the size is not zero.
    let start = unsafe { alloc(layout) };
    if start.is_null() {
        return None;
    }
    // SAFETY: so many bytes have just been allocated.
    unsafe { start.write_bytes(0xcd, bytes) };
    let address = start.expose_provenance();
    memory.insert(address, Piece { layout, ordinal, is_pinned });
    Some(address)
}

fn free(address: usize) -> bool {
    let Some(piece) = lock(&MEMORY).remove(&address) else { return false };
    if piece.ordinal == card::WATCHED && piece.has_secret(address) {
        LEAKS.fetch_add(1, Ordering::SeqCst);
    }
    // SAFETY: it was in the list, and so is of `allocate` with this layout and has not been freed.
    unsafe { dealloc(pointer(address), piece.layout) };
    true
}

fn pointer(address: usize) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address)
}

/// Whether a place is in memory that was pinned.
fn is_pinned(address: usize) -> bool {
    let memory = lock(&MEMORY);
    let before = memory.range(..=address).next_back();
    before.is_some_and(|(start, piece)| piece.is_pinned && address < start + piece.layout.size())
}

type Job = Box<dyn FnOnce() + Send>;

struct Stream {
    session: Arc<Session>,
    jobs: Option<mpsc::Sender<Job>>,
    worker: Option<JoinHandle<()>>,
}

impl Stream {
    fn new(session: &Arc<Session>) -> Stream {
        let (jobs, to_do) = mpsc::channel::<Job>();
        let worker = std::thread::spawn(move || to_do.into_iter().for_each(|job| job()));
        Stream { session: Arc::clone(session), jobs: Some(jobs), worker: Some(worker) }
    }

    /// Work that is not done once the card is broken.
    fn enqueue(&self, work: impl FnOnce() + Send + 'static) -> c_int {
        let session = Arc::clone(&self.session);
        self.enqueue_always(move || {
            if session.broken.load(Ordering::SeqCst) == SUCCESS {
                work();
            }
        })
    }

    fn enqueue_always(&self, work: impl FnOnce() + Send + 'static) -> c_int {
        match self.jobs.as_ref().map(|jobs| jobs.send(Box::new(work))) {
            Some(Ok(())) => SUCCESS,
            _ => INVALID_VALUE,
        }
    }

    fn synchronize(&self) -> c_int {
        let (done, wait) = mpsc::channel();
        self.enqueue_always(move || {
            // Whoever waits is there.
            let _ = done.send(());
        });
        match wait.recv() {
            Ok(()) => self.session.broken.load(Ordering::SeqCst),
            Err(_) => INVALID_VALUE,
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

/// With the stream behind a handle.
fn stream(handle: CUstream, call: impl FnOnce(&Stream) -> c_int) -> c_int {
    // SAFETY: handles come from `stream_create` and are used until `stream_destroy`.
    current(|_| call(unsafe { &*handle.cast::<Stream>() }))
}

#[derive(Default)]
struct EventState {
    recorded: u64,
    passed: u64,
    at: Option<Instant>,
}

#[derive(Default)]
struct EventBox {
    state: Mutex<EventState>,
    changed: Condvar,
}

/// The event behind a handle.
fn event(handle: CUevent) -> Arc<EventBox> {
    let raw = handle.cast::<EventBox>();
    // SAFETY: handles come from `Arc::into_raw` in `event_create` and are used until `event_destroy`.
    unsafe {
        Arc::increment_strong_count(raw);
        Arc::from_raw(raw)
    }
}

/// Writes a result where the caller wants it.
fn put<T>(to: *mut T, value: T) -> c_int {
    // SAFETY: callers pass pointers to what the function gives.
    unsafe { to.write(value) };
    SUCCESS
}

unsafe extern "system" fn init(_: c_uint) -> c_int {
    SUCCESS
}

unsafe extern "system" fn driver_version(version: *mut c_int) -> c_int {
    put(version, 13_000)
}

unsafe extern "system" fn error_name(code: c_int, name: *mut *const c_char) -> c_int {
    let text = match code {
        OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
        ILLEGAL_ADDRESS => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        LAUNCH_FAILED => c"CUDA_ERROR_LAUNCH_FAILED",
        NOT_PERMITTED => c"CUDA_ERROR_NOT_PERMITTED",
        _ => return INVALID_VALUE,
    };
    put(name, text.as_ptr())
}

unsafe extern "system" fn error_string(_: c_int, text: *mut *const c_char) -> c_int {
    put(text, c"in the double".as_ptr())
}

unsafe extern "system" fn device_count(count: *mut c_int) -> c_int {
    put(count, card::COUNT as c_int)
}

unsafe extern "system" fn device_get(device: *mut CUdevice, ordinal: c_int) -> c_int {
    put(device, ordinal)
}

unsafe extern "system" fn device_name(name: *mut c_char, _: c_int, _: CUdevice) -> c_int {
    let text = c"Double";
    // SAFETY: there is room for far more.
    unsafe { name.copy_from_nonoverlapping(text.as_ptr(), text.count_bytes() + 1) };
    SUCCESS
}

unsafe extern "system" fn device_uuid(uuid: *mut CUuuid, device: CUdevice) -> c_int {
    put(uuid, CUuuid { bytes: [device as c_char; 16] })
}

unsafe extern "system" fn device_memory(bytes: *mut usize, device: CUdevice) -> c_int {
    put(bytes, if device as usize == card::SMALL { SMALL } else { 16 << 30 })
}

unsafe extern "system" fn device_attribute(
    value: *mut c_int,
    attribute: CUdevice_attribute,
    device: CUdevice,
) -> c_int {
    use CUdevice_attribute::*;
    let ordinal = device as usize;
    put(
        value,
        match attribute {
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR if ordinal == card::OLD => 7,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => 9,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => 0,
            CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => 2,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => 227 << 10,
            CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED => c_int::from(ordinal != card::WITHOUT_POOLS),
            _ => return INVALID_VALUE,
        },
    )
}

unsafe extern "system" fn context_retain(context: *mut CUcontext, device: CUdevice) -> c_int {
    let mut open = lock(&OPEN);
    let Some(slot) = open.get_mut(device as usize) else { return INVALID_DEVICE };
    let (session, users) = slot.get_or_insert_with(|| {
        let launches = if device as usize == card::BREAKING { 2 } else { i64::MAX };
        let session = Session {
            ordinal: device as usize,
            broken: AtomicI32::new(SUCCESS),
            launches_left: AtomicI64::new(launches),
        };
        (Arc::new(session), 0)
    });
    *users += 1;
    put(context, Arc::as_ptr(session).cast_mut().cast())
}

unsafe extern "system" fn context_release(device: CUdevice) -> c_int {
    let mut open = lock(&OPEN);
    let Some(slot) = open.get_mut(device as usize) else { return INVALID_DEVICE };
    if let Some((_, users)) = slot {
        *users -= 1;
        if *users == 0 {
            *slot = None;
        }
    }
    SUCCESS
}

unsafe extern "system" fn context_push(context: CUcontext) -> c_int {
    let raw = context.cast::<Session>().cast_const();
    // SAFETY: it is of `context_retain` and has not been released.
    let session = unsafe {
        Arc::increment_strong_count(raw);
        Arc::from_raw(raw)
    };
    CURRENT.with_borrow_mut(|stack| stack.push(session));
    SUCCESS
}

unsafe extern "system" fn context_pop(context: *mut CUcontext) -> c_int {
    match CURRENT.with_borrow_mut(Vec::pop) {
        Some(session) => put(context, Arc::as_ptr(&session).cast_mut().cast()),
        None => INVALID_VALUE,
    }
}

unsafe extern "system" fn stream_create(handle: *mut CUstream, _: c_uint) -> c_int {
    current(|session| put(handle, Box::into_raw(Box::new(Stream::new(session))).cast()))
}

unsafe extern "system" fn stream_destroy(handle: CUstream) -> c_int {
    // SAFETY: it is of `stream_create` and destroyed once.
    drop(unsafe { Box::from_raw(handle.cast::<Stream>()) });
    SUCCESS
}

unsafe extern "system" fn stream_synchronize(handle: CUstream) -> c_int {
    // SAFETY: as in `stream`; also of a card that is broken.
    unsafe { &*handle.cast::<Stream>() }.synchronize()
}

unsafe extern "system" fn memory_info(free: *mut usize, total: *mut usize) -> c_int {
    current(|session| {
        let all = if session.ordinal == card::SMALL { SMALL } else { 16 << 30 };
        put(free, all);
        put(total, all)
    })
}

unsafe extern "system" fn memory_allocate(address: *mut CUdeviceptr, bytes: usize) -> c_int {
    current(|session| match allocate(bytes, session.ordinal, false) {
        Some(found) => put(address, found as CUdeviceptr),
        None => OUT_OF_MEMORY,
    })
}

unsafe extern "system" fn memory_free(address: CUdeviceptr) -> c_int {
    if free(address as usize) { SUCCESS } else { INVALID_VALUE }
}

unsafe extern "system" fn pool_create(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps) -> c_int {
    // SAFETY: callers pass a pointer to properties.
    let ordinal = unsafe { (*properties).location.id };
    current(|session| match session.ordinal == ordinal as usize && session.ordinal != card::WITHOUT_POOLS {
        true => put(pool, std::ptr::dangling_mut()),
        false => NOT_SUPPORTED,
    })
}

unsafe extern "system" fn pool_destroy(_: CUmemoryPool) -> c_int {
    SUCCESS
}

unsafe extern "system" fn pool_trim(_: CUmemoryPool, _: usize) -> c_int {
    current(|_| SUCCESS)
}

unsafe extern "system" fn pool_set(_: CUmemoryPool, _: CUmemPool_attribute, _: *mut c_void) -> c_int {
    current(|_| SUCCESS)
}

unsafe extern "system" fn pool_get(_: CUmemoryPool, _: CUmemPool_attribute, value: *mut c_void) -> c_int {
    current(|_| put(value.cast::<u64>(), 0))
}

unsafe extern "system" fn pool_allocate(
    address: *mut CUdeviceptr,
    bytes: usize,
    _: CUmemoryPool,
    _: CUstream,
) -> c_int {
    // SAFETY: as the caller's.
    unsafe { memory_allocate(address, bytes) }
}

unsafe extern "system" fn pool_free(address: CUdeviceptr, handle: CUstream) -> c_int {
    // SAFETY: as in `stream`; also of a card that is broken, so that nothing leaks.
    unsafe { &*handle.cast::<Stream>() }.enqueue_always(move || {
        free(address as usize);
    })
}

unsafe extern "system" fn pinned_allocate(start: *mut *mut c_void, bytes: usize, _: c_uint) -> c_int {
    current(|session| match session.ordinal {
        card::WITHOUT_PINNING => NOT_PERMITTED,
        _ => allocate(bytes, session.ordinal, true)
            .map_or(OUT_OF_MEMORY, |address| put(start, pointer(address).cast())),
    })
}

unsafe extern "system" fn pinned_free(start: *mut c_void) -> c_int {
    if free(start.addr()) { SUCCESS } else { INVALID_VALUE }
}

/// Copies bytes, now.
fn copy(to: usize, from: usize, bytes: usize) {
    // SAFETY: callers of the driver's functions answer for both places.
    unsafe { pointer(to).copy_from(pointer(from), bytes) };
}

unsafe extern "system" fn copy_in(
    to: CUdeviceptr,
    from: *const c_void,
    bytes: usize,
    handle: CUstream,
) -> c_int {
    let (to, from) = (to as usize, from.expose_provenance());
    stream(handle, |stream| match is_pinned(from) {
        true => stream.enqueue(move || copy(to, from, bytes)),
        false => {
            // SAFETY: so many bytes are there, as the caller promises.
            let staged = unsafe { std::slice::from_raw_parts(pointer(from), bytes) }.to_vec();
            stream.enqueue(move || copy(to, staged.as_ptr().expose_provenance(), staged.len()))
        }
    })
}

unsafe extern "system" fn copy_out(
    to: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
    handle: CUstream,
) -> c_int {
    let (to, from) = (to.expose_provenance(), from as usize);
    stream(handle, |stream| {
        let enqueued = stream.enqueue(move || copy(to, from, bytes));
        if is_pinned(to) { enqueued } else { stream.synchronize() }
    })
}

unsafe extern "system" fn fill(to: CUdeviceptr, word: c_uint, words: usize, handle: CUstream) -> c_int {
    stream(handle, |stream| {
        stream.enqueue(move || {
            let start = pointer(to as usize).cast::<u32>();
            // SAFETY: so many words are there, as the caller promises.
            unsafe { std::slice::from_raw_parts_mut(start, words) }.fill(word);
        })
    })
}

unsafe extern "system" fn event_create(handle: *mut CUevent, _: c_uint) -> c_int {
    current(|_| put(handle, Arc::into_raw(Arc::new(EventBox::default())).cast_mut().cast()))
}

unsafe extern "system" fn event_destroy(handle: CUevent) -> c_int {
    // SAFETY: it is of `event_create` and destroyed once; who still uses it has a count of its own.
    drop(unsafe { Arc::from_raw(handle.cast::<EventBox>().cast_const()) });
    SUCCESS
}

unsafe extern "system" fn event_record(handle: CUevent, on: CUstream) -> c_int {
    let event = event(handle);
    stream(on, |stream| {
        let number = {
            let mut state = lock(&event.state);
            state.recorded += 1;
            state.recorded
        };
        stream.enqueue_always(move || {
            let mut state = lock(&event.state);
            (state.passed, state.at) = (number, Some(Instant::now()));
            event.changed.notify_all();
        })
    })
}

unsafe extern "system" fn event_query(handle: CUevent) -> c_int {
    let event = event(handle);
    current(|_| {
        let state = lock(&event.state);
        if state.passed == state.recorded { SUCCESS } else { NOT_READY }
    })
}

unsafe extern "system" fn event_synchronize(handle: CUevent) -> c_int {
    let event = event(handle);
    let waited = current(|_| {
        let mut state = lock(&event.state);
        while state.passed < state.recorded {
            state = event.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        SUCCESS
    });
    // What happened before it has happened.
    if waited == SUCCESS { current(|_| SUCCESS) } else { waited }
}

unsafe extern "system" fn event_elapsed(milliseconds: *mut f32, from: CUevent, to: CUevent) -> c_int {
    let [from, to] = [from, to].map(|handle| lock(&event(handle).state).at);
    match (from, to) {
        (Some(from), Some(to)) => {
            let forward = to.saturating_duration_since(from).as_secs_f64();
            put(milliseconds, ((forward - from.saturating_duration_since(to).as_secs_f64()) * 1e3) as f32)
        }
        _ => NOT_READY,
    }
}

unsafe extern "system" fn module_load(
    module: *mut CUmodule,
    _: *const c_void,
    _: c_uint,
    _: *mut CUjit_option,
    _: *mut *mut c_void,
) -> c_int {
    current(|_| put(module, std::ptr::dangling_mut()))
}

unsafe extern "system" fn module_unload(_: CUmodule) -> c_int {
    SUCCESS
}

unsafe extern "system" fn module_function(
    function: *mut CUfunction,
    _: CUmodule,
    name: *const c_char,
) -> c_int {
    // SAFETY: callers pass a text that ends with a zero.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    match host::find(&name) {
        // A function is never given back: a few bytes for each in a process of tests.
        Some(kernel) => current(|_| put(function, Box::into_raw(Box::new(kernel)).cast())),
        None => NOT_FOUND,
    }
}

unsafe extern "system" fn function_set(_: CUfunction, _: CUfunction_attribute, bytes: c_int) -> c_int {
    current(|_| if bytes <= 227 << 10 { SUCCESS } else { INVALID_VALUE })
}

unsafe extern "system" fn launch(
    function: CUfunction,
    blocks: c_uint,
    _: c_uint,
    _: c_uint,
    threads: c_uint,
    _: c_uint,
    _: c_uint,
    shared: c_uint,
    handle: CUstream,
    parameters: *mut *mut c_void,
    _: *mut *mut c_void,
) -> c_int {
    // SAFETY: handles come from `module_function` and are never given back.
    let kernel = unsafe { &*function.cast::<HostKernel>().cast_const() };
    if kernel.threads != threads || blocks == 0 {
        return INVALID_VALUE;
    }
    let copied: Vec<Vec<u64>> = kernel
        .sizes
        .iter()
        .enumerate()
        .map(|(i, size)| {
            let mut value = vec![0u64; size.div_ceil(8)];
            // SAFETY: callers pass a pointer for each parameter, to as many bytes as it has.
            unsafe {
                let parameter = (*parameters.add(i)).cast::<u8>();
                value.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(parameter, *size);
            }
            value
        })
        .collect();
    stream(handle, |stream| {
        let session = Arc::clone(&stream.session);
        stream.enqueue(move || {
            if session.launches_left.fetch_sub(1, Ordering::SeqCst) == 0 {
                session.broken.store(ILLEGAL_ADDRESS, Ordering::SeqCst);
                return;
            }
            let pointers: Vec<*const c_void> = copied.iter().map(|value| value.as_ptr().cast()).collect();
            let options = HostOptions::default();
            // SAFETY: the parameters are those that the caller passed, for whose addresses it answers.
            let outcome =
                unsafe { host::launch_raw(kernel, blocks as usize, shared as usize, &pointers, &options) };
            if let Err(error) = outcome {
                tracing::error!(%error, "a kernel of the double");
                session.broken.store(LAUNCH_FAILED, Ordering::SeqCst);
            }
        })
    })
}

impl Api {
    /// The double's functions.
    pub(crate) fn double() -> Api {
        Api {
            init,
            driver_version,
            error_name,
            error_string,
            device_count,
            device_get,
            device_name,
            device_uuid,
            device_memory,
            device_attribute,
            context_retain,
            context_release,
            context_push,
            context_pop,
            stream_create,
            stream_destroy,
            stream_synchronize,
            memory_info,
            memory_allocate,
            memory_free,
            pool_create,
            pool_destroy,
            pool_trim,
            pool_set,
            pool_get,
            pool_allocate,
            pool_free,
            pinned_allocate,
            pinned_free,
            copy_in,
            copy_out,
            fill,
            event_create,
            event_destroy,
            event_record,
            event_query,
            event_synchronize,
            event_elapsed,
            module_load,
            module_unload,
            module_function,
            function_set,
            launch,
        }
    }
}

/// Pieces of the card [`WATCHED`](card::WATCHED) in which the secret is, and those that were freed with it. The card has
/// nothing to do.
#[cfg(test)]
pub(crate) fn secrets() -> (usize, i64) {
    let memory = lock(&MEMORY);
    let watched = memory.iter().filter(|(_, piece)| piece.ordinal == card::WATCHED);
    (watched.filter(|(address, piece)| piece.has_secret(**address)).count(), LEAKS.load(Ordering::SeqCst))
}

/// Bytes that are allocated on a card and pinned for it.
#[cfg(test)]
pub(crate) fn allocated(ordinal: usize) -> usize {
    lock(&MEMORY).values().filter(|piece| piece.ordinal == ordinal).map(|piece| piece.layout.size()).sum()
}
