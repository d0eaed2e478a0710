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

#[test]
fn results_outlive_the_device() {
    let gpu = open(&without_cache());
    let buffer = gpu.upload(&[6; 5000], Secrecy::Secret).unwrap();
    let pending = gpu.read(&buffer.span());
    drop(buffer);
    drop(gpu);
    assert_eq!(block_on(pending).unwrap()[..], [6; 5000]);
}

#[test]
fn a_fault_is_reported_once() {
    let gpu = open(&without_cache());
    let buffer = gpu.upload(&[5; 500], Secrecy::Public).unwrap();
    assert_eq!(read(&gpu, &buffer.span()), [5; 500]);
    // wgpu refuses a buffer that is bound both for reading and for writing.
    let (values, totals) = (buffer.range(0..64), buffer.range(64..128));
    gpu.run(None, ScanAdd { len: 64, first_total: 0 }, &[&values, &totals], 1, 1).unwrap();
    let error = block_on(gpu.read(&buffer.span())).unwrap_err();
    assert!(matches!(error, DeviceError::Launch { .. }), "{error}");
    assert_eq!(read(&gpu, &buffer.span()), [5; 500]);
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
