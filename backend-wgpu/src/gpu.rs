//! One opened adapter: memory, commands, results. Everything else in this crate computes with it.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bellwether_core::curve::Group;
use bellwether_core::device::DeviceError;
use bellwether_shaders::{Params, Tier};

use crate::adapter::{self, Limits};
use crate::buffer::{ALIGNMENT, Buffer, Place, Pool, Secrecy, Span};
use crate::faults::{Faults, Scopes, device_error};
use crate::marks::{Mark, Moment};
use crate::memory;
use crate::options::WgpuOptions;
use crate::pacing::{Pace, Speed};
use crate::pending::{Pending, Readback, Signal};
use crate::pipelines::Pipelines;
use crate::recorder::{Command, DISPATCHES, Dispatch, Recorder};
use crate::staging::{Landing, Returned, Uploads};
use crate::submit::PARAMS_STRIDE;
use crate::tower::Tower;

/// One opened adapter. When the last owner lets go of it, its thread has ended and the driver is released: a process
/// that ends right after would otherwise pull the driver's libraries from under a thread that still uses them.
#[derive(Debug)]
pub(crate) struct Gpu {
    engine: Arc<Engine>,
    waiter: Option<JoinHandle<()>>,
}

/// What the waiting thread shares with the owners.
#[derive(Debug)]
pub(crate) struct Engine {
    instance: wgpu::Instance,
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
    limits: Limits,
    tier: Tier,
    software: bool,
    multiples: Option<bool>,
    timestamps: bool,
    pipelines: Pipelines,
    recorder: Mutex<Recorder>,
    tower: Arc<Tower>,
    uploads: Arc<Uploads>,
    /// Parameters of the dispatches of a submit.
    params: wgpu::Buffer,
    pool: Mutex<Pool>,
    landings: Mutex<Pool>,
    /// Bytes of buffers that somebody owns.
    in_use: AtomicU64,
    /// Bounds the bytes of buffers that somebody owns and of those in the pool. What the host sees is not counted: 64
    /// chunks of uploads of 1 MiB, landings of results on their way, and parameters.
    memory_limit: Option<u64>,
    /// Which allocation from now on is to fail; 0 for none. For tests.
    failing_allocation: AtomicU64,
    /// Which buffer that the driver is asked for from now on it is to refuse, likewise.
    failing_creation: AtomicU64,
}

/// What buffers are for.
const USAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// The guard, also after a panic of another thread: what the mutexes of this crate guard is whole between calls.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Opens an adapter of an instance that nothing else uses.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the adapter lacks what shaders need, [`DeviceError::Launch`] if no thread can be
    /// started, the driver's refusal.
    pub(crate) fn open(
        instance: wgpu::Instance,
        adapter: wgpu::Adapter,
        options: &WgpuOptions,
    ) -> Result<Arc<Gpu>, DeviceError> {
        let info = adapter.get_info();
        let tier = adapter::tier(&adapter, options)?;
        let limits = adapter::limits(&adapter, options)?;
        let (device, queue) = adapter::request(&adapter)?;
        let features = device.features();
        let faults = Arc::new(Faults::default());
        faults.listen(&device);
        let software = info.device_type == wgpu::DeviceType::Cpu;
        let speed = match info.device_type {
            wgpu::DeviceType::Cpu => Speed::Software,
            wgpu::DeviceType::DiscreteGpu => Speed::Discrete,
            _ => Speed::Integrated,
        };
        let pipelines = Pipelines::new(device.clone(), &info, tier, options)?;
        let pace = Pace::new(speed, Pipelines::slots());
        let tower = Arc::new(Tower::new(faults, pace, queue.get_timestamp_period()));
        let scopes = Scopes::open(&device);
        let params = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("params"),
            size: (4 * PARAMS_STRIDE * DISPATCHES) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        scopes.close("opening the device", params.size())?;
        let engine = Arc::new(Engine {
            instance,
            adapter,
            limits,
            tier,
            software,
            multiples: options.multiples,
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS),
            pipelines,
            recorder: Mutex::default(),
            uploads: Arc::new(Uploads::new(device.clone(), Arc::clone(&tower))),
            tower,
            params,
            pool: Mutex::default(),
            landings: Mutex::default(),
            in_use: AtomicU64::new(0),
            memory_limit: options.memory_limit,
            failing_allocation: AtomicU64::new(0),
            failing_creation: AtomicU64::new(0),
            device,
            queue,
        });
        let waiting = Arc::clone(&engine);
        let thread = std::thread::Builder::new().name("bellwether-wgpu".into());
        let waiter = thread.spawn(move || waiting.wait()).map_err(|error| DeviceError::Launch {
            operation: "starting a thread".into(),
            reason: error.to_string(),
        })?;
        Ok(Arc::new(Gpu { engine, waiter: Some(waiter) }))
    }

    /// A buffer of `words` words, one or more, with unspecified contents: one that was dropped, where one fits.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], after everything idle has been let go of.
    pub(crate) fn alloc(self: &Arc<Self>, words: usize, secrecy: Secrecy) -> Result<Buffer, DeviceError> {
        Ok(Buffer::new(Arc::clone(self), self.take_or_create(words)?, words, secrecy))
    }

    /// A buffer with these words, one or more.
    pub(crate) fn upload(self: &Arc<Self>, words: &[u32], secrecy: Secrecy) -> Result<Buffer, DeviceError> {
        let buffer = self.alloc(words.len(), secrecy)?;
        self.write(&buffer.span(), words)?;
        Ok(buffer)
    }
}

impl Deref for Gpu {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.drain();
        self.tower.close();
        // A callback of wgpu may have woken the last owner on the very thread.
        let is_other = |waiter: &JoinHandle<()>| waiter.thread().id() != std::thread::current().id();
        if let Some(waiter) = self.waiter.take().filter(is_other) {
            // That it panicked, if it did, has been told.
            let _ = waiter.join();
        }
    }
}

impl Engine {
    /// What layouts depend on.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The representation of field elements.
    pub(crate) fn tier(&self) -> Tier {
        self.tier
    }

    /// What the options say about multiples of bases.
    pub(crate) fn multiples(&self) -> Option<bool> {
        self.multiples
    }

    /// Whether the adapter is a processor's.
    pub(crate) fn is_software(&self) -> bool {
        self.software
    }

    /// Whether marks are taken by the device's clock.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.timestamps
    }

    pub(crate) fn device(&self) -> &wgpu::Device {
        &self.device
    }

    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    pub(crate) fn tower(&self) -> &Arc<Tower> {
        &self.tower
    }

    pub(crate) fn faults(&self) -> &Faults {
        self.tower.faults()
    }

    pub(crate) fn pipelines(&self) -> &Pipelines {
        &self.pipelines
    }

    pub(crate) fn uploads(&self) -> &Arc<Uploads> {
        &self.uploads
    }

    pub(crate) fn params(&self) -> &wgpu::Buffer {
        &self.params
    }
}

/// For tests.
impl Engine {
    /// Makes the device lost, and waits until that is known: whoever polls first, here or the waiting thread, is told.
    pub(crate) fn destroy(&self) {
        self.device.destroy();
        while self.faults().lost().is_none() {
            self.instance.poll_all(true);
            std::thread::yield_now();
        }
    }

    /// Makes the k-th allocation from now on fail, counted from 1; 0 for none.
    pub(crate) fn fail_allocation(&self, k: u64) {
        self.failing_allocation.store(k, Ordering::Relaxed);
    }

    /// The k of [`Gpu::fail_allocation`], less the allocations since.
    pub(crate) fn allocations_left(&self) -> u64 {
        self.failing_allocation.load(Ordering::Relaxed)
    }

    /// Counts down to the one that is to fail.
    fn is_to_fail(failing: &AtomicU64) -> bool {
        let count_down = |k: u64| k.checked_sub(1);
        failing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count_down) == Ok(1)
    }
}

/// Memory.
impl Engine {
    /// The memory of a new buffer.
    fn take_or_create(&self, words: usize) -> Result<wgpu::Buffer, DeviceError> {
        self.check()?;
        if Self::is_to_fail(&self.failing_allocation) {
            return Err(DeviceError::OutOfMemory { asked: 4 * words as u64, free: self.memory_free() });
        }
        let size = Pool::size(4 * words as u64);
        self.collect(&mut lock(&self.recorder));
        let pooled = lock(&self.pool).take(size);
        let reserved = pooled.as_ref().map_or(size, wgpu::Buffer::size);
        self.reserve(reserved)?;
        let created = match pooled {
            Some(raw) => Ok(raw),
            None => self.make_room().and_then(|()| self.create(size, USAGE)),
        };
        created.inspect_err(|_| self.release(reserved))
    }

    /// A new buffer; if there is no memory for it, after everything idle has been let go of.
    fn create(&self, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, DeviceError> {
        match self.create_raw(size, usage) {
            Err(DeviceError::OutOfMemory { .. }) => {
                self.trim()?;
                self.create_raw(size, usage)
            }
            other => other,
        }
    }

    fn create_raw(&self, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, DeviceError> {
        let out_of_memory = || DeviceError::OutOfMemory { asked: size, free: self.memory_free() };
        if size > self.limits.buffer {
            return Err(DeviceError::Unsupported {
                what: format!("a buffer of {size} bytes"),
                why: format!("the adapter's buffers have up to {} bytes", self.limits.buffer),
            });
        }
        if Self::is_to_fail(&self.failing_creation) {
            return Err(out_of_memory());
        }
        let scopes = Scopes::open(&self.device);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        match scopes.error() {
            Some(wgpu::Error::OutOfMemory { .. }) => Err(out_of_memory()),
            Some(error) => Err(device_error("allocation", size, error)),
            None => self.faults().lost().map_or(Ok(buffer), Err),
        }
    }

    /// Counts bytes as in use, unless that would exceed the limit that was set.
    fn reserve(&self, size: u64) -> Result<(), DeviceError> {
        let limit = self.memory_limit.unwrap_or(u64::MAX);
        let add = |in_use: u64| in_use.checked_add(size).filter(|sum| *sum <= limit);
        let reserved = self.in_use.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        let out_of_memory =
            |in_use| DeviceError::OutOfMemory { asked: size, free: Some(limit.saturating_sub(in_use)) };
        reserved.map(|_| ()).map_err(out_of_memory)
    }

    fn release(&self, size: u64) {
        self.in_use.fetch_sub(size, Ordering::Relaxed);
    }

    /// Whether what is in use and what is in the pool stay within the limit, with so many bytes more in the pool.
    fn is_within_limit(&self, pool: &Pool, more: u64) -> bool {
        let held = self.in_use.load(Ordering::Relaxed).saturating_add(pool.idle_bytes() + more);
        self.memory_limit.is_none_or(|limit| held <= limit)
    }

    /// After a reservation: lets go of what is idle if there is no room for both.
    fn make_room(&self) -> Result<(), DeviceError> {
        let within = self.is_within_limit(&lock(&self.pool), 0);
        if within { Ok(()) } else { self.trim() }
    }

    /// Lets go of all idle buffers, and waits until the device does so too.
    pub(crate) fn trim(&self) -> Result<(), DeviceError> {
        lock(&self.pool).clear();
        lock(&self.landings).clear();
        lock(&self.recorder).trim();
        self.finish_all()
    }

    /// Blocks until everything recorded is done.
    pub(crate) fn finish_all(&self) -> Result<(), DeviceError> {
        loop {
            let moment = self.tower.moment();
            let recorded = {
                let mut recorder = lock(&self.recorder);
                self.collect(&mut recorder);
                recorder.force();
                self.pump(&mut recorder);
                !recorder.is_empty()
            };
            if let Some(lost) = self.faults().lost() {
                return Err(lost);
            }
            if !recorded && self.tower.in_flight() == 0 {
                return Ok(());
            }
            self.tower.wait_since(moment)?;
        }
    }

    /// Takes back a buffer that nobody owns.
    pub(crate) fn recycle(&self, raw: wgpu::Buffer, secrecy: Secrecy) {
        self.release(raw.size());
        self.tower.give_back(Returned { raw, secrecy, landing: false });
    }

    /// Puts what has come back into the pools. What was secret is cleared by a command, which comes before those that
    /// the next owner records.
    fn collect(&self, recorder: &mut Recorder) {
        for Returned { raw, secrecy, landing } in self.tower.take_returned() {
            if secrecy == Secrecy::Secret {
                let clear = Command::Clear(Place::whole(raw.clone()));
                self.tower.pace(|pace| recorder.push(clear, pace));
            }
            if landing {
                lock(&self.landings).put(raw);
                continue;
            }
            let mut pool = lock(&self.pool);
            // Others may have reserved the room since it was dropped.
            if self.is_within_limit(&pool, raw.size()) {
                pool.put(raw);
            }
        }
    }

    /// Lets go of buffers that could not be cleared.
    pub(crate) fn forget(&self, clears: &[Command]) {
        for command in clears {
            if let Command::Clear(place) = command {
                lock(&self.pool).forget(&place.buffer);
                lock(&self.landings).forget(&place.buffer);
            }
        }
    }

    /// Memory in bytes that is free, if it can be told: what the driver says and what is idle here, within the limit.
    pub(crate) fn memory_free(&self) -> Option<u64> {
        let in_use = self.in_use.load(Ordering::Relaxed);
        let idle = lock(&self.pool).idle_bytes();
        let driver = memory::of(&self.adapter).map(|memory| match memory.free {
            Some(free) => free.saturating_add(idle),
            None => memory.total.saturating_sub(in_use),
        });
        let limit = self.memory_limit.map(|limit| limit.saturating_sub(in_use));
        [driver, limit].into_iter().flatten().min()
    }

    /// Bytes of buffers that somebody owns.
    pub(crate) fn bytes_in_use(&self) -> u64 {
        self.in_use.load(Ordering::Relaxed)
    }

    /// Bytes of buffers in the pool.
    pub(crate) fn bytes_idle(&self) -> u64 {
        lock(&self.pool).idle_bytes()
    }
}

/// Commands.
impl Engine {
    /// Records that the first words of a span become these. The words are copied within the call, which waits for
    /// earlier copies if many megabytes of them are on their way.
    pub(crate) fn write(&self, to: &Span, words: &[u32]) -> Result<(), DeviceError> {
        assert!(words.len() <= to.words(), "{} words into {}", words.len(), to.words());
        let secrecy = to.secrecy();
        let mut to = to.place();
        let mut words = words;
        while !words.is_empty() {
            self.check()?;
            let moment = self.tower.moment();
            let mut recorder = lock(&self.recorder);
            let Some((chunk, offset, count)) = recorder.stage(&self.uploads, words, secrecy, false)? else {
                recorder.force();
                self.pump(&mut recorder);
                drop(recorder);
                self.tower.wait_since(moment)?;
                continue;
            };
            to.bytes = 4 * count as u64;
            self.record(&mut recorder, Command::Upload { chunk, offset, to: to.clone() })?;
            to.offset += to.bytes;
            words = &words[count..];
        }
        Ok(())
    }

    /// Records that a span becomes zero, in pieces that one submit can take.
    pub(crate) fn clear(&self, span: &Span) -> Result<(), DeviceError> {
        /// Words cleared at once: 16 MiB.
        const PIECE: usize = 1 << 22;
        for start in (0..span.words()).step_by(PIECE) {
            let piece = span.range(start..span.words().min(start + PIECE));
            self.record(&mut lock(&self.recorder), Command::Clear(piece.place()))?;
        }
        Ok(())
    }

    /// Records `groups` workgroups of a program. `cost` is the number of field multiplications, or of what takes as
    /// long, in one workgroup; it need only be right among the dispatches of one program.
    pub(crate) fn run<P: Params>(
        &self,
        group: Option<Group>,
        params: P,
        buffers: &[&Span],
        groups: usize,
        cost: u64,
    ) -> Result<(), DeviceError> {
        let pipeline = Arc::clone(self.pipelines.get(P::PROGRAM, group)?);
        assert_eq!(buffers.len(), P::PROGRAM.reflection().writes.len(), "buffers of {}", pipeline.name);
        let groups = u32::try_from(groups).map_err(|_| DeviceError::Unsupported {
            what: format!("{groups} workgroups of {}", pipeline.name),
            why: "their numbers have 32 bits".into(),
        })?;
        if groups == 0 {
            return Ok(());
        }
        let mut words = Vec::with_capacity(PARAMS_STRIDE);
        words.push(0);
        params.write(&mut words);
        let buffers: Arc<[Place]> = buffers.iter().map(|span| span.place()).collect();
        for Place { offset, bytes, .. } in buffers.iter() {
            assert!(
                offset.is_multiple_of(4 * ALIGNMENT as u64),
                "a binding of {} at {offset}",
                pipeline.name
            );
            assert!(*bytes <= self.limits.binding, "a binding of {} of {bytes} bytes", pipeline.name);
        }
        let dispatch = Dispatch { pipeline, params: words.into(), buffers, first: 0, groups, cost };
        self.record(&mut lock(&self.recorder), Command::Dispatch(dispatch))
    }

    /// Records a copy to the host, and submits.
    pub(crate) fn read(&self, span: &Span) -> Pending {
        Pending::new(Arc::clone(&self.tower), self.record_read(span))
    }

    fn record_read(&self, span: &Span) -> Result<Readback, DeviceError> {
        let from = span.place();
        let size = Pool::size(from.bytes);
        self.collect(&mut lock(&self.recorder));
        let pooled = lock(&self.landings).take(size);
        let raw = match pooled {
            Some(raw) => raw,
            None => self.create(size, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ)?,
        };
        let landing = Arc::new(Landing::new(raw, span.secrecy(), Arc::clone(&self.tower)));
        let mapped = Arc::new(Signal::default());
        self.tower.watch(&mapped);
        let command = Command::Read { from, landing: Arc::clone(&landing), mapped: Arc::clone(&mapped) };
        self.record(&mut lock(&self.recorder), command)?;
        self.flush()?;
        Ok(Readback { landing, words: span.words(), mapped })
    }

    /// Records a mark.
    pub(crate) fn mark(&self) -> Result<Mark, DeviceError> {
        let moment = Arc::new(Moment::default());
        self.tower.watch(&moment.signal);
        self.record(&mut lock(&self.recorder), Command::Mark(Arc::clone(&moment)))?;
        Ok(Mark(moment))
    }

    fn record(&self, recorder: &mut Recorder, command: Command) -> Result<(), DeviceError> {
        self.check()?;
        self.tower.pace(|pace| recorder.push(command, pace));
        self.tower.work_recorded();
        self.pump(recorder);
        Ok(())
    }

    /// Submits what is recorded, without waiting for more. With much in flight the waiting thread does so later.
    pub(crate) fn flush(&self) -> Result<(), DeviceError> {
        self.resume(true);
        self.check()
    }

    /// Collects what has come back and submits what has been waiting for its turn; all of what is recorded, if so
    /// wanted.
    pub(crate) fn resume(&self, all: bool) {
        let mut recorder = lock(&self.recorder);
        self.collect(&mut recorder);
        if all {
            recorder.force();
        }
        self.pump(&mut recorder);
    }

    /// Fails if the device is lost.
    fn check(&self) -> Result<(), DeviceError> {
        self.faults().lost().map_or(Ok(()), Err)
    }

    /// What the waiting thread does: blocks in wgpu while something is in flight, so that callbacks come, and submits
    /// what has been held back. `poll_all` is the one way to wait that does not panic when the device is lost meanwhile;
    /// each device has an instance to itself.
    fn wait(&self) {
        while let Some(in_flight) = self.tower.next_duty() {
            if in_flight {
                self.instance.poll_all(true);
            }
            if let Some(lost) = self.faults().lost() {
                self.tower.abandon(&lost);
            }
            self.resume(!in_flight);
            // Upload chunks that were used wait for a poll to be mapped again.
            self.instance.poll_all(false);
        }
    }

    /// Submits and awaits everything. Results may still be awaited, and the clearing of what was secret recorded: nobody
    /// could submit it later. What is done then may give buffers back that have to be cleared.
    fn drain(&self) {
        loop {
            let mut recorder = lock(&self.recorder);
            self.collect(&mut recorder);
            self.pump_all(&mut recorder);
            drop(recorder);
            self.instance.poll_all(true);
            if !self.tower.has_returned() {
                break;
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
