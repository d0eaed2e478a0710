use std::time::{Duration, Instant};

use bellwether_shaders::params::{ScanAdd, ScanBlocks};
use pollster::block_on;

use super::*;

/// The first adapter. A machine without one needs `mesa-vulkan-drivers` and `libvulkan1`: no test is left out.
pub(crate) fn open(options: &WgpuOptions) -> Arc<Gpu> {
    let instance = adapter::instance();
    let adapter = adapter::enumerate(&instance).into_iter().next();
    let adapter = adapter.expect("no adapter: install mesa-vulkan-drivers and libvulkan1");
    Gpu::open(instance, adapter, options).unwrap()
}

fn without_cache() -> WgpuOptions {
    WgpuOptions { cache: crate::PipelineCachePlace::Off, ..WgpuOptions::default() }
}

fn read(gpu: &Gpu, span: &Span) -> Vec<u32> {
    block_on(gpu.read(span)).unwrap().to_vec()
}

#[test]
fn words_come_back() {
    let gpu = open(&without_cache());
    let words: Vec<u32> = (0..10_000).collect();
    let buffer = gpu.upload(&words, Secrecy::Public).unwrap();
    assert_eq!(read(&gpu, &buffer.span()), words);
    assert_eq!(read(&gpu, &buffer.range(64..70)), words[64..70]);
    gpu.clear(&buffer.range(128..9_000)).unwrap();
    assert!(read(&gpu, &buffer.range(128..9_000)).iter().all(|&word| word == 0));
    assert_eq!(read(&gpu, &buffer.range(9_000..10_000)), words[9_000..]);
}

/// Larger than a chunk, and than all chunks together.
#[test]
fn large_uploads_arrive() {
    let gpu = open(&without_cache());
    let words: Vec<u32> = (0..20_000_003).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    let buffer = gpu.upload(&words, Secrecy::Secret).unwrap();
    assert!(read(&gpu, &buffer.span()) == words);
}

/// Sums of ones in blocks: value i becomes i mod 2048.
fn scan(gpu: &Gpu, values: &Buffer, totals: &Buffer, blocks: usize, cost: u64) {
    let len = 2048 * blocks as u32;
    let params = ScanBlocks { len, first_total: 0 };
    gpu.run(None, params, &[&values.span(), &totals.span()], blocks, cost).unwrap();
}

#[test]
fn dispatches_run_in_order() {
    let gpu = open(&without_cache());
    let totals = gpu.alloc(2, Secrecy::Public).unwrap();
    let mut results = Vec::new();
    for round in 0..50 {
        let values = gpu.upload(&[round; 4096], Secrecy::Secret).unwrap();
        scan(&gpu, &values, &totals, 2, 100);
        let before = gpu.read(&values.range(64..128));
        gpu.clear(&values.span()).unwrap();
        results.push((gpu.read(&totals.span()), before, gpu.read(&values.span())));
    }
    for (round, (totals, before, cleared)) in (0..).zip(results) {
        assert_eq!(block_on(totals).unwrap()[..], [2048 * round; 2]);
        assert!(block_on(before).unwrap().iter().zip(64..).all(|(&word, i)| word == i * round));
        assert!(block_on(cleared).unwrap().iter().all(|&word| word == 0));
    }
}

/// A cost that makes one dispatch seem to take seconds: it is cut into many submits, each a range of groups.
#[test]
fn long_dispatches_are_cut() {
    let gpu = open(&without_cache());
    let blocks = 300;
    let values = gpu.upload(&vec![1; 2048 * blocks], Secrecy::Public).unwrap();
    let totals = gpu.alloc(blocks, Secrecy::Public).unwrap();
    let before = gpu.tower().pace(|pace| pace.submits());
    scan(&gpu, &values, &totals, blocks, 2_000_000_000);
    assert_eq!(read(&gpu, &totals.span()), vec![2048; blocks]);
    assert!(read(&gpu, &values.span()).iter().enumerate().all(|(i, &word)| word as usize == i % 2048));
    let submits = gpu.tower().pace(|pace| pace.submits()) - before;
    assert!(submits > 4, "{submits} submits");
}

#[test]
fn buffers_are_used_again() {
    let gpu = open(&without_cache());
    let first = gpu.upload(&[7; 100_000], Secrecy::Secret).unwrap();
    let raw = first.span().place().buffer;
    assert_eq!(gpu.bytes_in_use(), raw.size());
    drop(first);
    assert_eq!(gpu.bytes_in_use(), 0);
    let second = gpu.alloc(95_000, Secrecy::Secret).unwrap();
    assert_eq!(second.span().place().buffer, raw);
    assert!(read(&gpu, &second.span()).iter().all(|&word| word == 0), "what was secret is cleared");
    let other = gpu.alloc(95_000, Secrecy::Secret).unwrap();
    assert_ne!(other.span().place().buffer, raw);
    drop((second, other));
    gpu.finish_all().unwrap();
    assert!(gpu.bytes_idle() > 0);
    gpu.trim().unwrap();
    assert_eq!(gpu.bytes_idle(), 0);
}

#[test]
fn a_span_keeps_its_buffer() {
    let gpu = open(&without_cache());
    let span = gpu.upload(&[3; 1000], Secrecy::Public).unwrap().range(500..600);
    let other = gpu.upload(&[4; 1000], Secrecy::Public).unwrap();
    assert_eq!(read(&gpu, &span), [3; 100]);
    assert_eq!(read(&gpu, &other.range(500..600)), [4; 100]);
}

#[test]
fn the_memory_limit_holds() {
    let gpu = open(&WgpuOptions { memory_limit: Some(3 << 20), ..without_cache() });
    assert!(gpu.memory_free().unwrap() <= 3 << 20);
    let two = gpu.alloc(2 << 18, Secrecy::Public).unwrap();
    let error = gpu.alloc(2 << 18, Secrecy::Public).unwrap_err();
    assert_eq!(error, DeviceError::OutOfMemory { asked: 2 << 20, free: Some(1 << 20) });
    drop(two);
    // Only if what is idle is let go of.
    let buffer = gpu.alloc(3 << 18, Secrecy::Public).unwrap();
    assert_eq!(gpu.bytes_idle(), 0);
    assert_eq!(gpu.memory_free(), Some(0));
    drop(buffer);
}

#[test]
fn threads_share_the_memory_limit() {
    let limit = 8 << 20;
    let gpu = open(&WgpuOptions { memory_limit: Some(limit), ..without_cache() });
    for round in 0..200 {
        let barrier = std::sync::Barrier::new(4);
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let threads = [0, 1, 2, 3].map(|thread: usize| {
                let (gpu, barrier) = (&gpu, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    gpu.alloc(((2 + (thread + round) % 2) << 18) + 1024 * round, Secrecy::Public)
                })
            });
            threads.map(|thread| thread.join().unwrap()).into()
        });
        let (in_use, idle) = (gpu.bytes_in_use(), gpu.bytes_idle());
        assert!(in_use + idle <= limit, "{in_use} bytes in use, {idle} idle");
        assert!(outcomes.iter().filter(|outcome| outcome.is_ok()).count() >= 2);
        for error in outcomes.into_iter().filter_map(Result::err) {
            assert!(matches!(error, DeviceError::OutOfMemory { free: Some(_), .. }), "{error}");
        }
    }
    assert_eq!(gpu.bytes_in_use(), 0);
}

/// What is idle makes room, for buffers as for results on their way.
#[test]
fn a_refused_buffer_is_asked_for_again() {
    let gpu = open(&without_cache());
    let buffer = gpu.upload(&[5; 500], Secrecy::Public).unwrap();
    for again in [0, 1] {
        drop(gpu.upload(&[6; 100_000], Secrecy::Public).unwrap());
        gpu.finish_all().unwrap();
        assert!(gpu.bytes_idle() > 0);
        gpu.failing_creation.store(1, Ordering::Relaxed);
        match again {
            0 => assert_eq!(read(&gpu, &buffer.span()), [5; 500]),
            _ => drop(gpu.alloc(1 << 20, Secrecy::Public).unwrap()),
        }
        assert_eq!(gpu.failing_creation.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn too_large_a_buffer_is_refused() {
    let gpu = open(&without_cache());
    let words = (gpu.limits().buffer / 4 + 1) as usize;
    let error = gpu.alloc(words, Secrecy::Public).unwrap_err();
    assert!(matches!(error, DeviceError::Unsupported { .. } | DeviceError::OutOfMemory { .. }), "{error}");
    read(&gpu, &gpu.upload(&[1], Secrecy::Public).unwrap().span());
}

#[test]
fn the_chosen_allocation_fails() {
    let gpu = open(&without_cache());
    gpu.fail_allocation(2);
    assert!(gpu.alloc(10, Secrecy::Public).is_ok());
    assert!(matches!(gpu.alloc(10, Secrecy::Public), Err(DeviceError::OutOfMemory { asked: 40, .. })));
    assert!(gpu.alloc(10, Secrecy::Public).is_ok());
}

#[test]
fn dropped_results_harm_nobody() {
    let gpu = open(&without_cache());
    let buffer = gpu.upload(&[5; 5000], Secrecy::Secret).unwrap();
    for _ in 0..20 {
        drop(gpu.read(&buffer.span()));
    }
    let polled = gpu.read(&buffer.span());
    assert_eq!(read(&gpu, &buffer.span()), [5; 5000]);
    assert_eq!(block_on(polled).unwrap()[..], [5; 5000]);
}

/// A result that nobody waits for does not come to those of the next.
#[test]
fn dropped_results_are_not_mistaken() {
    let gpu = open(&without_cache());
    let [first, second] = [1, 2].map(|word| gpu.upload(&[word; 4096], Secrecy::Public).unwrap());
    let values = gpu.upload(&vec![1; 2048 * 1000], Secrecy::Public).unwrap();
    let totals = gpu.alloc(1000, Secrecy::Public).unwrap();
    for _ in 0..50 {
        scan(&gpu, &values, &totals, 1000, 1000);
        drop(gpu.read(&first.span()));
        scan(&gpu, &values, &totals, 1000, 1000);
        assert!(read(&gpu, &second.span()) == [2; 4096]);
    }
}

#[test]
fn results_outlive_the_device() {
    let gpu = open(&without_cache());
    let buffer = gpu.upload(&[6; 5000], Secrecy::Secret).unwrap();
    let pending = gpu.read(&buffer.span());
    drop(buffer);
    drop(gpu);
    assert_eq!(block_on(pending).unwrap()[..], [6; 5000]);
}

/// Records a dispatch that wgpu refuses, and its submit with it: a buffer that is bound both for reading and for writing.
fn record_refused(gpu: &Gpu, buffer: &Buffer) {
    let (values, totals) = (buffer.range(0..64), buffer.range(64..128));
    gpu.run(None, ScanAdd { len: 64, first_total: 0 }, &[&values, &totals], 1, 1).unwrap();
}

fn is_refused<T>(pending: impl Future<Output = Result<T, DeviceError>>) -> bool {
    matches!(block_on(pending), Err(DeviceError::Launch { .. }))
}

/// Makes it seem that as much is in flight as can be: only what is dropped is submitted from now on.
fn fill_the_sky(gpu: &Gpu) -> Vec<u64> {
    (0..crate::tower::IN_FLIGHT).map(|_| gpu.tower().depart(Default::default())).collect()
}

/// The outcome, if it comes within ten seconds.
fn soon<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(block_on(future)));
    receiver.recv_timeout(Duration::from_secs(10)).unwrap()
}

/// Waits until something is so, ten seconds at most.
fn becomes(is_so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        match is_so() {
            false if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            outcome => return outcome,
        }
    }
}

/// The words of a raw buffer, read beside everything else: nothing is recorded.
fn peek(device: &wgpu::Device, queue: &wgpu::Queue, raw: &wgpu::Buffer) -> Vec<u8> {
    let landing = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: raw.size(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(raw, 0, &landing, 0, raw.size());
    queue.submit([encoder.finish()]);
    let (sender, receiver) = std::sync::mpsc::channel();
    landing.slice(..).map_async(wgpu::MapMode::Read, move |result| sender.send(result).unwrap());
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    receiver.recv().unwrap().unwrap();
    landing.slice(..).get_mapped_range().unwrap().to_vec()
}

#[test]
fn a_fault_is_reported_to_those_it_concerns() {
    let gpu = open(&without_cache());
    let [bad, good] = [1, 2].map(|word| gpu.upload(&[word; 4096], Secrecy::Public).unwrap());
    gpu.finish_all().unwrap();
    let sky = fill_the_sky(&gpu);
    record_refused(&gpu, &bad);
    let mark = gpu.mark().unwrap();
    let same_submit = gpu.read(&good.span());
    sky.into_iter().for_each(|number| gpu.tower().arrive(number));
    gpu.finish_all().unwrap();
    let theirs = gpu.read(&good.span());
    // Awaited first, and not concerned.
    assert_eq!(block_on(theirs).unwrap()[..], [2; 4096]);
    assert!(is_refused(same_submit));
    assert!(is_refused(crate::marks::elapsed(Arc::clone(gpu.tower()), Arc::clone(&mark.0), mark.0)));
    assert!(is_refused(gpu.read(&bad.span())));
    assert_eq!(read(&gpu, &good.span()), [2; 4096]);
    // What never was written stays so for its owner, and for nobody else.
    assert!(is_refused(gpu.read(&bad.span())));
    let raw = bad.span().place().buffer;
    drop(bad);
    let next = gpu.upload(&[3; 4096], Secrecy::Public).unwrap();
    assert_eq!(next.span().place().buffer, raw);
    assert_eq!(read(&gpu, &next.span()), [3; 4096]);
}

/// Recorded before or after the refusal, by any number of steps.
#[test]
fn a_fault_follows_the_values() {
    let gpu = open(&without_cache());
    let lost = gpu.alloc(4096, Secrecy::Public).unwrap();
    let [first, second, beside] = [1, 2, 3].map(|_| gpu.alloc(2048, Secrecy::Public).unwrap());
    let bad = gpu.upload(&[1; 128], Secrecy::Public).unwrap();
    gpu.finish_all().unwrap();
    let sky = fill_the_sky(&gpu);
    gpu.write(&lost.span(), &[1; 4096]).unwrap();
    record_refused(&gpu, &bad);
    sky.into_iter().for_each(|number| gpu.tower().arrive(number));
    gpu.finish_all().unwrap();
    // The totals of what was not uploaded, and theirs.
    scan(&gpu, &lost, &first, 2, 100);
    scan(&gpu, &first, &second, 1, 100);
    gpu.write(&beside.span(), &[1; 2048]).unwrap();
    assert!(is_refused(gpu.read(&second.range(0..1))));
    assert_eq!(read(&gpu, &beside.span()), [1; 2048]);
}

#[test]
fn a_fault_of_nobody_is_reported_once() {
    let gpu = open(&without_cache());
    let buffer = gpu.upload(&[5; 500], Secrecy::Public).unwrap();
    gpu.faults().record(DeviceError::Launch { operation: "a test".into(), reason: "so".into() });
    assert!(is_refused(gpu.read(&buffer.span())));
    assert_eq!(read(&gpu, &buffer.span()), [5; 500]);
}

#[test]
fn what_a_refused_submit_should_have_cleared_is_cleared() {
    let gpu = open(&without_cache());
    let bad = gpu.upload(&[1; 4096], Secrecy::Public).unwrap();
    let secret = gpu.upload(&[0x5ec2e7; 100_000], Secrecy::Secret).unwrap();
    gpu.finish_all().unwrap();
    let raw = secret.span().place().buffer;
    let sky = fill_the_sky(&gpu);
    drop(secret);
    record_refused(&gpu, &bad);
    let refused = gpu.read(&bad.span());
    sky.into_iter().for_each(|number| gpu.tower().arrive(number));
    assert!(is_refused(refused));
    let next = gpu.alloc(100_000, Secrecy::Public).unwrap();
    assert_eq!(next.span().place().buffer, raw);
    assert!(read(&gpu, &next.span()).iter().all(|&word| word == 0));
}

#[test]
fn what_cannot_be_cleared_is_let_go_of() {
    let gpu = open(&without_cache());
    let secret = gpu.upload(&[7; 1000], Secrecy::Secret).unwrap();
    gpu.finish_all().unwrap();
    // A destroyed buffer cannot be used in a submit.
    secret.span().place().buffer.destroy();
    drop(secret);
    gpu.finish_all().unwrap();
    assert_eq!(gpu.bytes_idle(), 0);
    let next = gpu.upload(&[8; 1000], Secrecy::Secret).unwrap();
    assert_eq!(read(&gpu, &next.span()), [8; 1000]);
}

/// Nobody does anything but wait.
#[test]
fn secrets_dropped_during_work_are_cleared() {
    let gpu = open(&without_cache());
    for _ in 0..20 {
        let secret = gpu.upload(&[0x5ec2e7; 100_000], Secrecy::Secret).unwrap();
        let totals = gpu.alloc(1000, Secrecy::Public).unwrap();
        let values = gpu.upload(&vec![1; 2048 * 1000], Secrecy::Public).unwrap();
        gpu.finish_all().unwrap();
        let raw = secret.span().place().buffer;
        scan(&gpu, &values, &totals, 1000, 1000);
        gpu.flush().unwrap();
        drop(secret);
        assert!(becomes(|| {
            let recorder = lock(&gpu.recorder);
            recorder.is_empty() && !gpu.tower().has_returned() && gpu.tower().in_flight() == 0
        }));
        assert!(peek(gpu.device(), gpu.queue(), &raw).iter().all(|&byte| byte == 0));
    }
}

/// The last thing anybody does, at any moment of the waiting thread's.
#[test]
fn nothing_returned_is_forgotten() {
    let gpu = open(&without_cache());
    for round in 0..2000 {
        let secret = gpu.upload(&[round; 64], Secrecy::Secret).unwrap();
        gpu.flush().unwrap();
        for _ in 0..round % 40 * 100 {
            std::hint::spin_loop();
        }
        drop(secret);
        assert!(becomes(|| !gpu.tower().has_returned()), "round {round}");
    }
}

/// With as much in flight as can be.
#[test]
fn dropping_the_device_submits_everything() {
    let gpu = open(&without_cache());
    let secret = gpu.upload(&[6; 5000], Secrecy::Secret).unwrap();
    let totals = gpu.alloc(300, Secrecy::Public).unwrap();
    let values = gpu.upload(&vec![1; 2048 * 300], Secrecy::Secret).unwrap();
    gpu.finish_all().unwrap();
    let raws = [&secret, &values].map(|buffer| buffer.span().place().buffer);
    let (device, queue, tower) = (gpu.device().clone(), gpu.queue().clone(), Arc::clone(gpu.tower()));
    let sky = fill_the_sky(&gpu);
    // Many submits, as predicted.
    scan(&gpu, &values, &totals, 300, 2_000_000_000);
    let pending = [gpu.read(&secret.span()), gpu.read(&totals.span())];
    drop((secret, values, totals));
    drop(gpu);
    let [words, sums] = pending.map(|pending| soon(pending).unwrap());
    assert_eq!(words[..], [6; 5000]);
    assert_eq!(sums[..], [2048; 300]);
    for raw in raws {
        assert!(peek(&device, &queue, &raw).iter().all(|&byte| byte == 0));
    }
    sky.into_iter().for_each(|number| tower.arrive(number));
    drop((words, sums));
    assert!(becomes(|| tower.in_flight() == 0 && Arc::strong_count(&tower) == 1), "the thread ends");
}

/// A thread still in the driver while the process ends brings the process down: lavapipe's compiler is torn down under
/// it. What the thread holds is gone when it has ended.
#[test]
fn no_thread_outlives_the_device() {
    for round in 0..20 {
        let gpu = open(&without_cache());
        let engine = Arc::downgrade(&gpu.engine);
        let buffer = gpu.upload(&[round; 4096], Secrecy::Secret).unwrap();
        let result = gpu.read(&buffer.span());
        drop((buffer, gpu));
        assert_eq!(engine.strong_count(), 0);
        assert_eq!(block_on(result).unwrap()[..], [round; 4096]);
    }
}

#[test]
fn a_lost_device_is_lost_for_good() {
    let gpu = open(&without_cache());
    let buffer = gpu.upload(&[5; 500], Secrecy::Secret).unwrap();
    let before = gpu.read(&buffer.span());
    gpu.destroy();
    // What was on its way may have arrived.
    let _ = block_on(before);
    let lost = |error| matches!(error, DeviceError::DeviceLost { .. });
    assert!(gpu.alloc(10, Secrecy::Public).is_err_and(lost));
    assert!(block_on(gpu.read(&buffer.span())).is_err_and(lost));
    assert!(gpu.write(&buffer.span(), &[1; 500]).is_err_and(lost));
    assert!(gpu.finish_all().is_err_and(lost));
    assert!(gpu.mark().is_err_and(lost));
}

#[test]
fn marks_measure_work() {
    let gpu = open(&without_cache());
    let buffer = gpu.upload(&vec![1; 2048 * 1000], Secrecy::Public).unwrap();
    let totals = gpu.alloc(1000, Secrecy::Public).unwrap();
    scan(&gpu, &buffer, &totals, 1000, 1000);
    let began = Instant::now();
    let marks: Vec<Mark> = (0..200)
        .map(|i| {
            if i % 50 == 0 {
                scan(&gpu, &buffer, &totals, 1000, 1000);
            }
            gpu.mark().unwrap()
        })
        .collect();
    gpu.flush().unwrap();
    let elapsed = |from: usize, to: usize| {
        let [from, to] = [from, to].map(|i| Arc::clone(&marks[i].0));
        block_on(crate::marks::elapsed(Arc::clone(gpu.tower()), from, to)).unwrap()
    };
    let all = elapsed(0, 199);
    assert!(all > Duration::ZERO && all <= began.elapsed(), "{all:?}");
    assert_eq!(elapsed(199, 0), Duration::ZERO);
    assert!(elapsed(10, 60) <= all);
}

#[test]
fn threads_share_a_device() {
    let gpu = open(&without_cache());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let gpu = &gpu;
            scope.spawn(move || {
                for round in 0..30 {
                    let word = 100 * thread + round;
                    let values = gpu.upload(&[word; 4096], Secrecy::Secret).unwrap();
                    let totals = gpu.alloc(2, Secrecy::Secret).unwrap();
                    scan(gpu, &values, &totals, 2, 1000);
                    assert_eq!(read(gpu, &totals.span()), [2048 * word; 2]);
                }
            });
        }
    });
}
