//! Transforms against those of the CPU device.

use bellwether_core::device::{CpuDevice, Device};
use bellwether_core::domain::{Domain, RootConvention};
use bellwether_shaders::Tier;
use ff::Field;
use pollster::block_on;

use super::*;
use crate::gpu::tests::open;
use crate::options::WgpuOptions;

/// Values with zeros and large ones among them, different for each seed.
fn values(seed: u64, len: usize) -> Vec<Scalar> {
    let base = Scalar::from(seed).invert().unwrap();
    let mut power = base;
    (0..len)
        .map(|i| {
            power *= base;
            if i % 7 == 3 { Scalar::ZERO } else { power }
        })
        .collect()
}

/// Without printing all of them when they differ.
fn assert_equal(found: &[Scalar], expected: &[Scalar], what: &str, domain: &Domain) {
    let difference = found.iter().zip(expected).position(|(found, expected)| found != expected);
    let lens = (found.len(), expected.len());
    assert_eq!(lens, (domain.size(), domain.size()));
    assert_eq!(difference, None, "{what} of 2^{}, {:?}", domain.log_size(), domain.convention());
}

fn check_transforms(gpu: &Arc<Gpu>, domain: &Domain) {
    let cpu = CpuDevice::new();
    let host = cpu.domain(domain).unwrap();
    let tables = DomainTables::new(gpu, domain).unwrap();
    let input = values(3, domain.size());
    for kind in Transform::ALL {
        let mut expected = cpu.upload(&input, input.len()).unwrap();
        cpu.ntt(&host, kind, &mut expected).unwrap();
        let expected = block_on(cpu.download(&expected)).unwrap();
        let mut found = Scalars::upload(gpu, &input, input.len()).unwrap();
        transform(gpu, &tables, kind, &mut found).unwrap();
        let found = block_on(found.download(gpu)).unwrap();
        assert_equal(&found, &expected, &format!("{kind:?}"), domain);
    }
}

fn check_coset_quotient(gpu: &Arc<Gpu>, domain: &Domain) {
    let cpu = CpuDevice::new();
    let host = cpu.domain(domain).unwrap();
    let tables = DomainTables::new(gpu, domain).unwrap();
    let [a, b, c] = [3, 5, 7].map(|seed| values(seed, domain.size()));
    let scale = domain.vanishing_on_coset().invert().unwrap();
    for with_c in [false, true] {
        let upload = |values: &[Scalar]| cpu.upload(values, values.len()).unwrap();
        let third = with_c.then(|| upload(&c));
        let expected = cpu.coset_quotient(&host, upload(&a), upload(&b), third, &scale).unwrap();
        let expected = block_on(cpu.download(&expected)).unwrap();
        let upload = |values: &[Scalar]| Scalars::upload(gpu, values, values.len()).unwrap();
        let third = with_c.then(|| upload(&c));
        let found = coset_quotient(gpu, &tables, upload(&a), upload(&b), third, &scale).unwrap();
        let found = block_on(found.download(gpu)).unwrap();
        assert_equal(&found, &expected, &format!("quotient (c: {with_c})"), domain);
    }
}

fn check(gpu: &Arc<Gpu>, log_sizes: impl IntoIterator<Item = u32>) {
    for log_size in log_sizes {
        for convention in RootConvention::ALL {
            let domain = Domain::new(log_size, convention).unwrap();
            check_transforms(gpu, &domain);
            check_coset_quotient(gpu, &domain);
        }
    }
}

fn options(tier: Tier) -> WgpuOptions {
    WgpuOptions { tier: Some(tier), ..WgpuOptions::default() }
}

#[test]
fn small_sizes_u64() {
    check(&open(&options(Tier::U64)), 0..=13);
}

#[test]
fn small_sizes_u32() {
    check(&open(&options(Tier::U32)), 0..=13);
}

#[test]
fn checked_shaders_agree() {
    for tier in Tier::ALL {
        check(&open(&WgpuOptions { checked: true, ..options(tier) }), [0, 1, 2, 5, 9, 10, 13]);
    }
}

/// Two passes of eight bits; roots from one table.
#[test]
fn two_to_the_16() {
    for tier in Tier::ALL {
        check(&open(&options(tier)), [16]);
    }
}

/// Two passes, one and then both of nine bits; three, with the outer twist from two tables.
#[test]
fn two_to_the_17_and_above() {
    let gpu = open(&options(Tier::U64));
    for log_size in [17, 18, 19] {
        let domain = Domain::new(log_size, RootConvention::Bellman).unwrap();
        check_transforms(&gpu, &domain);
        check_coset_quotient(&gpu, &domain);
    }
}

/// Bindings of 128 KiB: 4096 scalars a part.
#[test]
fn vectors_in_parts() {
    for tier in Tier::ALL {
        let gpu = open(&WgpuOptions { max_binding: Some(128 << 10), ..options(tier) });
        check(&gpu, [11, 12, 13, 14, 16]);
    }
}

#[test]
fn other_shifts() {
    let gpu = open(&options(Tier::U64));
    // snarkjs shifts by the root of twice the order.
    let odd = RootConvention::Snarkjs.root(12).unwrap();
    for shift in [odd, -Scalar::from(5)] {
        let domain = Domain::new(11, RootConvention::Snarkjs).unwrap().with_shift(shift).unwrap();
        check_transforms(&gpu, &domain);
        check_coset_quotient(&gpu, &domain);
    }
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let gpu = open(&WgpuOptions { max_binding: Some(8 << 10), ..options(Tier::U64) });
    let domain = Domain::new(4, RootConvention::Bellman).unwrap();
    assert!(matches!(DomainTables::new(&gpu, &domain), Err(DeviceError::Unsupported { .. })));
}
