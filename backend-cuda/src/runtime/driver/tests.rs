//! The runtime of a card over the driver's double.

use std::sync::Arc;

use bellwether_kernels::table::scalar;
use pollster::block_on;

use super::double::{SECRET, SMALL, allocated, card, secrets};
use super::*;
use crate::gpu::Gpu;
use crate::gpu::tests::read;
use crate::scan::exclusive_scan;

fn open(ordinal: usize) -> Arc<Gpu> {
    Gpu::open(Box::new(DriverRuntime::open_double(ordinal).unwrap()), CudaOptions::default()).unwrap()
}

fn words(count: usize, seed: u32) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761).wrapping_add(seed)).collect()
}

/// Sizes around those of chunks and of landings that are kept; more than the ring holds.
#[test]
fn words_travel_both_ways() {
    for ordinal in [card::COMPLETE, card::WITHOUT_POOLS, card::WITHOUT_PINNING] {
        let gpu = open(ordinal);
        for secrecy in [Secrecy::Public, Secrecy::Secret] {
            let sizes = [1, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 6 << 20];
            let all: Vec<_> = sizes.iter().map(|size| words(*size, *size as u32)).collect();
            let buffers: Vec<_> = all.iter().map(|words| gpu.upload(words, secrecy).unwrap()).collect();
            let results: Vec<_> = buffers.iter().map(|buffer| gpu.read(buffer, 0..buffer.words())).collect();
            // Freed behind the copies.
            drop(buffers);
            for (words, result) in all.iter().zip(results) {
                assert!(block_on(result).unwrap()[..] == words[..], "{} words", words.len());
            }
        }
    }
}

#[test]
fn kernels_run_in_order() {
    let gpu = open(card::COMPLETE);
    let values = words(100_000, 3).iter().map(|word| word >> 16).collect::<Vec<_>>();
    let mut sum = 0u32;
    let expected: Vec<u32> = values
        .iter()
        .map(|value| {
            let before = sum;
            sum = sum.wrapping_add(*value);
            before
        })
        .collect();
    for _ in 0..5 {
        let buffer = gpu.upload(&values, Secrecy::Secret).unwrap();
        exclusive_scan(&gpu, &buffer, values.len()).unwrap();
        let from = gpu.mark().unwrap();
        let sums = gpu.read(&buffer, 0..values.len());
        gpu.clear(&buffer, 0..values.len()).unwrap();
        let to = gpu.mark().unwrap();
        assert_eq!(read(&gpu, &buffer), vec![0; values.len()]);
        assert!(block_on(sums).unwrap()[..] == expected[..]);
        assert!(block_on(crate::marks::elapsed(from, to)).is_ok());
    }
}

#[test]
fn too_little_memory() {
    let gpu = open(card::SMALL);
    let zeros = 4 << 20;
    let first = gpu.alloc((SMALL - zeros) / 4, Secrecy::Public).unwrap();
    let error = gpu.alloc(256, Secrecy::Public).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfMemory { asked: 1024, free: Some(_) }), "{error}");
    // What is freed can be had again, be it that the driver has to finish first.
    gpu.clear(&first, 0..first.words()).unwrap();
    drop(first);
    gpu.alloc((SMALL - zeros) / 4, Secrecy::Public).unwrap();
}

#[test]
fn cards_that_cannot_be_used() {
    assert!(matches!(DriverRuntime::open_double(card::OLD), Err(DeviceError::Unsupported { .. })));
    assert!(matches!(DriverRuntime::open_double(card::COUNT), Err(DeviceError::Unsupported { .. })));
    let infos: Vec<_> = cards::cards(&Arc::new(Api::double())).unwrap().iter().map(Card::info).collect();
    assert_eq!(infos.len(), card::COUNT);
    assert_eq!(infos[1].driver.as_deref(), Some("CUDA 13.0"));
    assert_eq!(
        infos[1].details[1].1.clone(),
        bellwether_core::device::Detail::Text("GPU-01010101-0101-0101-0101-010101010101".into())
    );
}

/// A fault of a kernel shows at whatever is awaited, and a card that is opened anew works.
#[test]
fn a_fault_of_a_kernel_loses_the_card() {
    for round in 0..3 {
        let gpu = open(card::BREAKING);
        let buffer = gpu.upload(&[1; 100], Secrecy::Secret).unwrap();
        for _ in 0..2 {
            exclusive_scan(&gpu, &buffer, 100).unwrap();
        }
        assert_eq!(read(&gpu, &buffer)[..4], [0, 0, 1, 3], "round {round}");
        let mark = gpu.mark().unwrap();
        // It is found out when it has run, or within a later call.
        let _ = exclusive_scan(&gpu, &buffer, 100);
        let error = block_on(gpu.read(&buffer, 0..100)).unwrap_err();
        assert!(
            matches!(&error, DeviceError::DeviceLost { reason } if reason.contains("CUDA_ERROR_ILLEGAL_ADDRESS")),
            "{error}"
        );
        assert!(matches!(gpu.alloc(1, Secrecy::Public), Err(DeviceError::DeviceLost { .. })));
        assert!(block_on(crate::marks::elapsed(mark.clone(), mark)).is_err());
    }
}

#[test]
fn more_shared_memory_than_a_block_can_have() {
    let gpu = open(card::COMPLETE);
    let buffer = gpu.upload(&[1; 100], Secrecy::Public).unwrap();
    exclusive_scan(&gpu, &buffer, 100).unwrap();
    let runtime = DriverRuntime::open_double(card::COMPLETE).unwrap();
    let kernel = scalar::SCAN_BLOCKS;
    let launch = |shared_bytes| Launch {
        symbol: kernel.name(),
        module: kernel.module(),
        sizes: &[],
        blocks: 1,
        threads: kernel.threads(),
        shared_bytes,
    };
    for (shared_bytes, works) in
        [(0, true), (48 << 10, true), (100 << 10, true), (227 << 10, true), (228 << 10, false)]
    {
        let function = runtime.programs.function(&launch(shared_bytes));
        assert_eq!(function.is_ok(), works, "{shared_bytes} bytes");
    }
}

/// Nothing is left of a device that is closed, also with results that nobody took.
#[test]
fn closing_gives_everything_back() {
    let gpu = open(card::LONELY);
    let buffer = gpu.upload(&words(3 << 20, 5), Secrecy::Secret).unwrap();
    let mut results: Vec<_> = (0..5).map(|i| gpu.read(&buffer, i..i + 5000)).collect();
    assert!(allocated(card::LONELY) > 28 << 20);
    drop((buffer, gpu));
    assert_eq!(block_on(results.remove(4)).unwrap()[0], words(5, 5)[4]);
    drop(results);
    assert_eq!(allocated(card::LONELY), 0);
}

/// On the card, on the way in and on the way out, whether results are awaited or given up.
#[test]
fn what_was_secret_is_cleared() {
    let gpu = open(card::WATCHED);
    let secret = vec![SECRET; (5 << 20) + 7];
    let buffer = gpu.upload(&secret, Secrecy::Secret).unwrap();
    gpu.finish().unwrap();
    assert_eq!(secrets(), (1, 0), "the buffer itself: the search finds");
    let results = [0, 5000, 1 << 20, 2 << 20].map(|start| gpu.read(&buffer, start..secret.len()));
    gpu.finish().unwrap();
    assert_eq!(secrets(), (5, 0), "results that are waited for");
    let [first, second, third, fourth] = results;
    assert!(block_on(first).unwrap()[..] == secret[..]);
    drop(second);
    let on_its_way = gpu.read(&buffer, 0..3 << 20);
    drop((on_its_way, third));
    gpu.finish().unwrap();
    assert_eq!(secrets(), (2, 0), "the buffer and one result");
    drop((buffer, gpu));
    assert!(block_on(fourth).is_ok());
    assert_eq!(secrets(), (0, 0));

    // What is public is not worth the time.
    let gpu = open(card::WATCHED);
    drop(gpu.upload(&[SECRET], Secrecy::Public).unwrap());
    gpu.finish().unwrap();
    assert_eq!(secrets(), (1, 1));
}
