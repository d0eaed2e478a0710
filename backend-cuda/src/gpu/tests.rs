use std::ffi::c_void;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use pollster::block_on;

use super::*;
use crate::marks::elapsed;
use crate::memory::MemoryInfo;
use crate::runtime::Landing;
use crate::runtime::host::HostRuntime;

/// The host build.
pub(crate) fn open() -> Arc<Gpu> {
    open_with(CudaOptions::default())
}

/// The host build with options.
pub(crate) fn open_with(options: CudaOptions) -> Arc<Gpu> {
    Gpu::open(Box::new(HostRuntime::new(&options)), options).unwrap()
}

/// The words of a buffer.
pub(crate) fn read(gpu: &Arc<Gpu>, buffer: &Buffer) -> Vec<u32> {
    block_on(gpu.read(buffer, 0..buffer.words())).unwrap().to_vec()
}

/// The host build, whose events pass some time after they are recorded, as on a card; once it is `broken`, every call
/// fails as a card's does then.
#[derive(Debug)]
struct Slow {
    host: HostRuntime,
    broken: Arc<AtomicBool>,
}

/// How long an event takes to pass.
const DELAY: Duration = Duration::from_millis(30);

impl Slow {
    fn open() -> (Arc<Gpu>, Arc<AtomicBool>) {
        let broken = Arc::new(AtomicBool::new(false));
        let host = HostRuntime::new(&CudaOptions::default());
        let runtime = Slow { host, broken: Arc::clone(&broken) };
        (Gpu::open(Box::new(runtime), CudaOptions::default()).unwrap(), broken)
    }

    fn check(&self) -> Result<(), DeviceError> {
        match self.broken.load(Ordering::Relaxed) {
            true => Err(DeviceError::DeviceLost { reason: "an illegal address".into() }),
            false => Ok(()),
        }
    }

    fn passes_at(event: &Event) -> Instant {
        match event {
            Event::Passed(at) => *at,
            Event::Driver(_) => unreachable!(),
        }
    }
}

impl Runtime for Slow {
    fn is_immediate(&self) -> bool {
        false
    }

    fn units(&self) -> usize {
        self.host.units()
    }

    fn memory(&self) -> Option<MemoryInfo> {
        self.host.memory()
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, DeviceError> {
        self.check()?;
        self.host.allocate(bytes)
    }

    fn free(&self, memory: Memory) {
        self.host.free(memory);
    }

    fn trim(&self) -> Result<(), DeviceError> {
        self.check()
    }

    fn write(&self, to: &Memory, offset: usize, words: &[u32], secrecy: Secrecy) -> Result<(), DeviceError> {
        self.check()?;
        self.host.write(to, offset, words, secrecy)
    }

    fn clear(&self, memory: &Memory, range: Range<usize>) -> Result<(), DeviceError> {
        self.check()?;
        self.host.clear(memory, range)
    }

    fn read(&self, from: &Memory, range: Range<usize>, secrecy: Secrecy) -> Result<Landing, DeviceError> {
        self.check()?;
        match self.host.read(from, range, secrecy)? {
            Landing::Landed(words, at) => Ok(Landing::Landed(words, at + DELAY)),
            other => Ok(other),
        }
    }

    #[allow(unsafe_code)]
    unsafe fn launch(&self, launch: &Launch, pointers: &[*const c_void]) -> Result<(), DeviceError> {
        self.check()?;
        // SAFETY: as the caller promises.
        unsafe { self.host.launch(launch, pointers) }
    }

    fn record(&self) -> Result<Event, DeviceError> {
        self.check().map(|()| Event::Passed(Instant::now() + DELAY))
    }

    fn is_past(&self, event: &Event) -> Result<bool, DeviceError> {
        self.check().map(|()| Instant::now() >= Self::passes_at(event))
    }

    fn wait(&self, event: &Event) -> Result<(), DeviceError> {
        std::thread::sleep(Self::passes_at(event).saturating_duration_since(Instant::now()));
        self.check()
    }

    fn elapsed(&self, from: &Event, to: &Event) -> Result<Duration, DeviceError> {
        self.check()?;
        self.host.elapsed(from, to)
    }

    fn synchronize(&self, _: &str) -> Result<(), DeviceError> {
        std::thread::sleep(DELAY);
        self.check()
    }
}

fn is_lost<T>(result: Result<T, DeviceError>) -> bool {
    matches!(result, Err(DeviceError::DeviceLost { .. }))
}

fn is_pending<F: Future>(future: F) -> bool {
    let mut future = pin!(future);
    future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

#[test]
fn words_are_moved() {
    for gpu in [open(), Slow::open().0] {
        let words: Vec<u32> = (0..1000).collect();
        let buffer = gpu.upload(&words, Secrecy::Public).unwrap();
        assert_eq!(buffer.at(0).0 % 256, 0);
        assert_eq!(buffer.at(7).0, buffer.at(0).0 + 28);
        assert_eq!(read(&gpu, &buffer), words);

        gpu.write(&buffer, 998, &[7, 8]).unwrap();
        gpu.clear(&buffer, 10..20).unwrap();
        let expected: Vec<u32> = [(0..10).collect(), vec![0; 10], (20..998).collect(), vec![7, 8]].concat();
        assert_eq!(read(&gpu, &buffer), expected);
        // As it is at the time of the call, not of the waiting.
        let before = gpu.read(&buffer, 997..1000);
        gpu.clear(&buffer, 0..1000).unwrap();
        assert_eq!(block_on(before).unwrap()[..], [997, 7, 8]);
        assert_eq!(read(&gpu, &buffer), [0; 1000]);
    }
}

#[test]
fn nothing_is_something_to_move() {
    let gpu = open();
    let empty = gpu.upload(&[], Secrecy::Secret).unwrap();
    assert_eq!(empty.at(0).0 % 256, 0);
    gpu.clear(&empty, 0..0).unwrap();
    gpu.write(&empty, 0, &[]).unwrap();
    assert_eq!(read(&gpu, &empty), []);
}

#[test]
fn memory_is_counted_and_limited() {
    let gpu = open_with(CudaOptions { memory_limit: Some(4096), ..CudaOptions::default() });
    assert_eq!(gpu.memory_free(), Some(4096));
    let first = gpu.alloc(700, Secrecy::Secret).unwrap();
    assert_eq!(gpu.bytes_in_use(), 2816, "sizes are multiples of 256");
    assert_eq!(gpu.memory_free(), Some(1280));
    let refused = gpu.alloc(321, Secrecy::Public).unwrap_err();
    assert_eq!(refused, DeviceError::OutOfMemory { asked: 1536, free: Some(1280) });
    let second = gpu.alloc(320, Secrecy::Public).unwrap();
    assert!(gpu.alloc(0, Secrecy::Public).is_err(), "nothing is something");
    drop((first, second));
    assert_eq!((gpu.bytes_in_use(), gpu.memory_free()), (0, Some(4096)));
    let more_than_there_is = open().alloc(1 << 50, Secrecy::Public).unwrap_err();
    assert!(matches!(more_than_there_is, DeviceError::OutOfMemory { asked, .. } if asked == 4 << 50));
}

#[test]
fn results_are_waited_for() {
    let (gpu, _) = Slow::open();
    let buffer = gpu.upload(&[1, 2, 3], Secrecy::Secret).unwrap();
    assert!(is_pending(gpu.read(&buffer, 0..3)), "given up");
    let began = Instant::now();
    let results: Vec<_> = (0..3).map(|i| gpu.read(&buffer, i..3)).collect();
    for (i, result) in results.into_iter().enumerate() {
        assert_eq!(block_on(result).unwrap()[..], [1, 2, 3][i..]);
    }
    assert!(began.elapsed() >= DELAY);
}

/// Results outlive their device, and the thread does not: what it holds is gone when it has ended.
#[test]
fn no_thread_outlives_the_device() {
    for round in 0..5 {
        let (gpu, _) = Slow::open();
        let engine = Arc::downgrade(&gpu.engine);
        let buffer = gpu.upload(&[round; 4096], Secrecy::Secret).unwrap();
        let result = gpu.read(&buffer, 0..4096);
        drop((buffer, gpu));
        assert_eq!(block_on(result).unwrap()[..], [round; 4096]);
        assert_eq!(engine.strong_count(), 0);
    }
}

#[test]
fn a_lost_device_is_lost_for_good() {
    for how in ["by a call", "by waiting", "on purpose"] {
        let (gpu, broken) = Slow::open();
        let buffer = gpu.upload(&[5; 500], Secrecy::Secret).unwrap();
        let (on_its_way, mark) = (gpu.read(&buffer, 0..500), gpu.mark().unwrap());
        match how {
            "on purpose" => gpu.lose("a test"),
            _ => broken.store(true, Ordering::Relaxed),
        }
        if how == "by a call" {
            assert!(is_lost(gpu.clear(&buffer, 0..1)));
        }
        // Everybody is told, those who waited and those who come.
        assert!(is_lost(block_on(on_its_way)), "{how}");
        assert!(is_lost(block_on(elapsed(mark.clone(), mark))), "{how}");
        broken.store(false, Ordering::Relaxed);
        assert!(is_lost(gpu.alloc(10, Secrecy::Public)));
        assert!(is_lost(block_on(gpu.read(&buffer, 0..500))));
        assert!(is_lost(gpu.write(&buffer, 0, &[1; 500])));
        assert!(is_lost(gpu.mark()));
        assert!(is_lost(gpu.finish()));
        drop(buffer);
        assert_eq!(gpu.bytes_in_use(), 0);
    }
}

#[test]
fn faults_on_purpose() {
    let gpu = open();
    gpu.failing_allocation.set(2);
    let buffer = gpu.alloc(8, Secrecy::Public).unwrap();
    assert!(matches!(gpu.alloc(8, Secrecy::Public), Err(DeviceError::OutOfMemory { asked: 256, .. })));
    assert_eq!(gpu.failing_allocation.left(), 0);
    gpu.alloc(8, Secrecy::Public).unwrap();
    gpu.failing_copy.set(3);
    gpu.clear(&buffer, 0..8).unwrap();
    gpu.write(&buffer, 0, &[1]).unwrap();
    assert!(matches!(block_on(gpu.read(&buffer, 0..8)), Err(DeviceError::Launch { .. })));
    assert_eq!(read(&gpu, &buffer), [1, 0, 0, 0, 0, 0, 0, 0]);
    // Told once, to the next who waits.
    let fault = DeviceError::Launch { operation: "something".into(), reason: "somehow".into() };
    gpu.faults().record(fault.clone());
    assert_eq!(block_on(gpu.read(&buffer, 0..8)).unwrap_err(), fault);
    assert_eq!(read(&gpu, &buffer)[..2], [1, 0]);
}

#[test]
fn marks_measure_time() {
    for gpu in [open(), Slow::open().0] {
        let began = Instant::now();
        let from = gpu.mark().unwrap();
        std::thread::sleep(Duration::from_millis(5));
        let to = gpu.mark().unwrap();
        let all = began.elapsed();
        let time = block_on(elapsed(from.clone(), to.clone())).unwrap();
        assert!(time >= Duration::from_millis(5) && time <= all, "{time:?}");
        assert_eq!(block_on(elapsed(to, from)).unwrap(), Duration::ZERO);
    }
}

/// What a kernel would do that writes one word too many.
#[test]
#[allow(unsafe_code)]
fn writing_outside_of_a_buffer_is_found() {
    for (words, at) in [(0, 0), (1, 1), (64, 64), (64, -1), (63, 63), (1000, 1063), (1000, -64)] {
        let gpu = open();
        let buffer = gpu.alloc(words, Secrecy::Public).unwrap();
        gpu.finish().unwrap();
        let address = buffer.at(0).0.wrapping_add_signed(4 * at);
        // SAFETY: it is in a red zone of an allocation that is alive.
        unsafe { std::ptr::with_exposed_provenance_mut::<u32>(address as usize).write(5) };
        let error = gpu.finish().unwrap_err();
        assert!(
            matches!(&error, DeviceError::DeviceLost { reason } if reason.contains("was written to")),
            "{error}"
        );
        assert!(is_lost(gpu.alloc(1, Secrecy::Public)));
    }
}

#[test]
fn threads_share_a_device() {
    let (gpu, _) = Slow::open();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let gpu = &gpu;
            scope.spawn(move || {
                for round in 0..5 {
                    let word = 100 * thread + round;
                    let values = gpu.upload(&[word; 4096], Secrecy::Secret).unwrap();
                    assert_eq!(read(gpu, &values), [word; 4096]);
                }
            });
        }
    });
    assert_eq!(gpu.bytes_in_use(), 0);
}
