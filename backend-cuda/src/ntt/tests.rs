//! Transforms against those of the CPU device.

use bellwether_core::device::{CpuDevice, Device};
use bellwether_core::domain::RootConvention;
use pollster::block_on;

use super::*;
use crate::gpu::tests::{open, open_with};
use crate::options::{CudaOptions, HostOrder};

/// Values with zeros and large ones among them, different for each seed.
fn values(seed: u64, len: usize) -> Vec<Scalar> {
    let base = Scalar::from(seed).invert().unwrap();
    let mut power = base;
    (0..len)
        .map(|i| {
            power *= base;
            match i % 7 {
                3 => Scalar::ZERO,
                5 => -Scalar::ONE,
                _ => power,
            }
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

fn check_transforms(gpu: &Arc<Gpu>, domain: &Domain, tables: &DomainTables) {
    let cpu = CpuDevice::new();
    let host = cpu.domain(domain).unwrap();
    let input = values(3, domain.size());
    for kind in Transform::ALL {
        let mut expected = cpu.upload(&input, input.len()).unwrap();
        cpu.ntt(&host, kind, &mut expected).unwrap();
        let expected = block_on(cpu.download(&expected)).unwrap();
        let mut found = Scalars::upload(gpu, &input, input.len()).unwrap();
        transform(gpu, tables, kind, &mut found).unwrap();
        let found = block_on(found.download(gpu)).unwrap();
        assert_equal(&found, &expected, &format!("{kind:?}"), domain);
    }
}

fn check_coset_quotient(gpu: &Arc<Gpu>, domain: &Domain, tables: &DomainTables, scale: &Scalar) {
    let cpu = CpuDevice::new();
    let host = cpu.domain(domain).unwrap();
    let [a, b, c] = [3, 5, 7].map(|seed| values(seed, domain.size()));
    for with_c in [false, true] {
        let upload = |values: &[Scalar]| cpu.upload(values, values.len()).unwrap();
        let third = with_c.then(|| upload(&c));
        let expected = cpu.coset_quotient(&host, upload(&a), upload(&b), third, scale).unwrap();
        let expected = block_on(cpu.download(&expected)).unwrap();
        let upload = |values: &[Scalar]| Scalars::upload(gpu, values, values.len()).unwrap();
        let third = with_c.then(|| upload(&c));
        let found = coset_quotient(gpu, tables, upload(&a), upload(&b), third, scale).unwrap();
        let found = block_on(found.download(gpu)).unwrap();
        assert_equal(&found, &expected, &format!("quotient (c: {with_c})"), domain);
    }
}

/// With all twiddles of a pass in one table and with products of two. The former has the scale of the schedule, the
/// latter none.
fn check(gpu: &Arc<Gpu>, domain: &Domain) {
    let scale = domain.vanishing_on_coset().invert().unwrap();
    for (budget, scale) in [(u64::MAX, scale), (0, Scalar::ONE)] {
        let tables = DomainTables::with_budget(gpu, domain, budget).unwrap();
        check_transforms(gpu, domain, &tables);
        check_coset_quotient(gpu, domain, &tables, &scale);
        if domain.log_size() <= MAX_BLOCK_BITS {
            break;
        }
    }
}

fn check_both(log_sizes: impl IntoIterator<Item = u32>) {
    let gpu = open();
    for log_size in log_sizes {
        for convention in RootConvention::ALL {
            check(&gpu, &Domain::new(log_size, convention).unwrap());
        }
    }
}

/// One block.
#[test]
fn small_sizes() {
    check_both(0..=MAX_BLOCK_BITS);
}

/// Two passes.
#[test]
fn two_to_the_12_to_16() {
    check_both([12, 13, 16]);
}

#[test]
fn other_shifts() {
    let gpu = open();
    for log_size in [5, 12] {
        // snarkjs shifts by the root of twice the order.
        let odd = RootConvention::Snarkjs.root(log_size + 1).unwrap();
        for shift in [odd, -Scalar::from(5)] {
            let domain = Domain::new(log_size, RootConvention::Snarkjs).unwrap().with_shift(shift).unwrap();
            check(&gpu, &domain);
        }
    }
}

/// A scale for one block.
#[test]
fn scale_of_one() {
    let gpu = open();
    for log_size in [0, 3, 9] {
        let domain = Domain::new(log_size, RootConvention::Bellman).unwrap();
        let tables = DomainTables::new(&gpu, &domain).unwrap();
        check_coset_quotient(&gpu, &domain, &tables, &Scalar::ONE);
    }
}

/// Results do not depend on which thread comes first.
#[test]
fn any_order_of_threads() {
    for host_order in [HostOrder::Reverse, HostOrder::Shuffled(5)] {
        let gpu = open_with(CudaOptions { host_order, ..CudaOptions::default() });
        for log_size in [0, 1, 4, 10, 12, 13] {
            check(&gpu, &Domain::new(log_size, RootConvention::Bellman).unwrap());
        }
    }
}

/// Three passes, the outer with products of two twiddles, the inner with one table.
#[test]
fn three_passes() {
    let gpu = open();
    let domain = Domain::new(18, RootConvention::Bellman).unwrap();
    let tables = PassTables::new(&gpu, &domain, &[6, 6, 6], 4 << 20).unwrap();
    let tables = DomainTables(Tables::Passes(Box::new(tables)));
    check_transforms(&gpu, &domain, &tables);
    check_coset_quotient(&gpu, &domain, &tables, &Scalar::from(5));
}
