//! Number-theoretic transforms against the sums that define them.

use bellwether_core::device::Transform;
use bellwether_core::domain::{Domain, RootConvention};
use blstrs::Scalar;
use ff::Field;

use super::inputs::{Device, download, edge_scalars, scalars, upload};
use crate::oracle;

/// log₂ of the largest transform that is compared with its n² sums, and of the largest round trip.
const MAX_LOG_ORACLE: u32 = 10;
const MAX_LOG_ROUND_TRIP: u32 = 14;

/// The domain of 2^`log_size` elements.
pub(super) fn domain(log_size: u32, convention: RootConvention) -> Domain {
    Domain::new(log_size, convention).expect("a small domain")
}

/// One transform of host values.
pub(super) fn run<D: Device>(
    device: &D,
    domain: &Domain,
    transform: Transform,
    values: &[Scalar],
) -> Vec<Scalar> {
    let resident = device.domain(domain).expect("domain");
    let mut vector = upload(device, values);
    device.ntt(&resident, transform, &mut vector).expect("ntt");
    download(device, &vector)
}

fn every_size<D: Device>(device: &D, transform: Transform) {
    for convention in RootConvention::ALL {
        for log_size in 0..=MAX_LOG_ORACLE {
            let domain = domain(log_size, convention);
            let values = scalars(domain.size(), log_size as usize);
            assert_eq!(
                run(device, &domain, transform, &values),
                oracle::transform(&domain, transform, &values),
                "{transform:?}, 2^{log_size}, {convention:?}"
            );
        }
    }
}

/// Coefficients to values.
pub fn forward<D: Device>(device: D) {
    every_size(&device, Transform::Forward);
}

/// Values to coefficients.
pub fn inverse<D: Device>(device: D) {
    every_size(&device, Transform::Inverse);
}

/// Coefficients to values on the coset.
pub fn coset_forward<D: Device>(device: D) {
    every_size(&device, Transform::CosetForward);
}

/// Values on the coset to coefficients.
pub fn coset_inverse<D: Device>(device: D) {
    every_size(&device, Transform::CosetInverse);
}

/// The shift is the domain's, not always 7.
pub fn other_shifts<D: Device>(device: D) {
    for (log_size, shift) in [(0, 2), (1, 3), (5, 5), (8, 0x1234_5678)] {
        let domain = domain(log_size, RootConvention::Snarkjs)
            .with_shift(Scalar::from(shift))
            .expect("outside the domain");
        let values = scalars(domain.size(), 3);
        for transform in [Transform::CosetForward, Transform::CosetInverse] {
            assert_eq!(
                run(&device, &domain, transform, &values),
                oracle::transform(&domain, transform, &values),
                "{transform:?}, 2^{log_size}, shift {shift}"
            );
        }
    }
}

/// A transform and its inverse, in both orders, on one resident vector.
pub fn round_trips<D: Device>(device: D) {
    for convention in RootConvention::ALL {
        for log_size in 0..=MAX_LOG_ROUND_TRIP {
            let domain = domain(log_size, convention);
            let resident = device.domain(&domain).expect("domain");
            let values = scalars(domain.size(), 77);
            let mut vector = upload(&device, &values);
            for [there, back] in [
                [Transform::Forward, Transform::Inverse],
                [Transform::Inverse, Transform::Forward],
                [Transform::CosetForward, Transform::CosetInverse],
                [Transform::CosetInverse, Transform::CosetForward],
            ] {
                device.ntt(&resident, there, &mut vector).expect("ntt");
                if log_size > 0 {
                    assert_ne!(download(&device, &vector), values, "{there:?} does something");
                }
                device.ntt(&resident, back, &mut vector).expect("ntt");
                assert_eq!(
                    download(&device, &vector),
                    values,
                    "{there:?}, {back:?}, 2^{log_size}, {convention:?}"
                );
            }
        }
    }
}

/// Zeros, a constant, a single one at each end, and values next to 0, r and powers of two.
pub fn special_vectors<D: Device>(device: D) {
    let domain = domain(7, RootConvention::Bellman);
    let n = domain.size();
    let one_at = |at: usize| -> Vec<Scalar> { (0..n).map(|i| Scalar::from(u64::from(i == at))).collect() };
    let edges: Vec<Scalar> = edge_scalars().into_iter().cycle().step_by(7).take(n).collect();
    let vectors = [vec![Scalar::ZERO; n], vec![-Scalar::ONE; n], one_at(0), one_at(1), one_at(n - 1), edges];
    for (index, values) in vectors.iter().enumerate() {
        for transform in Transform::ALL {
            assert_eq!(
                run(&device, &domain, transform, values),
                oracle::transform(&domain, transform, values),
                "{transform:?} of vector {index}"
            );
        }
    }
}
