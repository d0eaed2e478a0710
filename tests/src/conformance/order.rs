//! Operations take effect in the order in which they are called.

use std::time::Duration;

use bellwether_core::device::{Transform, self_test};
use bellwether_core::domain::RootConvention;
use blstrs::Scalar;
use group::Curve;
use pollster::block_on;

use super::inputs::{Device, G1Affine, G2Affine, bases, download, points, scalars, upload};
use super::transforms::domain;
use crate::oracle;

const LOG_SIZE: u32 = 8;

/// A transform enqueued before an MSM is seen by it.
pub fn transform_before_msm<D: Device>(device: D) {
    let domain = domain(LOG_SIZE, RootConvention::Bellman);
    let resident = device.domain(&domain).expect("domain");
    let (points, values) = (points::<G1Affine>(domain.size(), 1), scalars(domain.size(), 2));
    let bases = bases(&device, &points);
    let mut vector = upload(&device, &values);
    device.ntt(&resident, Transform::CosetForward, &mut vector).expect("ntt");
    let sum = block_on(device.msm::<G1Affine>(&bases, &vector)).expect("msm");
    let transformed = oracle::transform(&domain, Transform::CosetForward, &values);
    assert_eq!(sum.to_affine(), oracle::msm(&points, &transformed));
}

/// A transform enqueued after an MSM is not, though the MSM's future is awaited later.
pub fn transform_after_msm<D: Device>(device: D) {
    let domain = domain(LOG_SIZE, RootConvention::Bellman);
    let resident = device.domain(&domain).expect("domain");
    let (points, values) = (points::<G1Affine>(domain.size(), 3), scalars(domain.size(), 4));
    let bases = bases(&device, &points);
    let mut vector = upload(&device, &values);
    let sum = device.msm::<G1Affine>(&bases, &vector);
    device.ntt(&resident, Transform::Forward, &mut vector).expect("ntt");
    let transformed = download(&device, &vector);
    assert_eq!(block_on(sum).expect("msm").to_affine(), oracle::msm(&points, &values));
    assert_eq!(transformed, oracle::transform(&domain, Transform::Forward, &values));
}

/// Bases and scalars may be dropped, and their memory used again, before the result is awaited.
pub fn futures_outlive_their_inputs<D: Device>(device: D) {
    let (points, values) = (points::<G1Affine>(500, 5), scalars(500, 6));
    let sum = {
        let (bases, vector) = (bases(&device, &points), upload(&device, &values));
        device.msm::<G1Affine>(&bases, &vector)
    };
    let downloaded = {
        let vector = upload(&device, &values);
        device.download(&vector)
    };
    let reused: Vec<D::Scalars> = (0..4).map(|seed| upload(&device, &scalars(500, seed))).collect();
    assert_eq!(block_on(sum).expect("msm").to_affine(), oracle::msm(&points, &values));
    assert_eq!(block_on(downloaded).expect("download")[..], values[..]);
    drop(reused);
}

/// Futures that nobody awaits leave the device usable.
pub fn abandoned_futures<D: Device>(device: D) {
    let (points, values) = (points::<G1Affine>(100, 7), scalars(100, 8));
    let (bases, vector) = (bases(&device, &points), upload(&device, &values));
    for _ in 0..10 {
        drop(device.msm::<G1Affine>(&bases, &vector));
        drop(device.download(&vector));
        drop(device.fixed_base_mul(&points[0], &vector));
    }
    let sum = block_on(device.msm::<G1Affine>(&bases, &vector)).expect("msm");
    assert_eq!(sum.to_affine(), oracle::msm(&points, &values));
}

/// Results of both groups awaited in the reverse of the order in which the work was enqueued.
pub fn futures_in_any_order<D: Device>(device: D) {
    let values: Vec<Vec<Scalar>> = (0..4).map(|seed| scalars(80, seed)).collect();
    let (g1, g2) = (points::<G1Affine>(80, 9), points::<G2Affine>(80, 10));
    let (g1_bases, g2_bases) = (bases(&device, &g1), bases(&device, &g2));
    let sums: Vec<_> = values
        .iter()
        .map(|values| {
            let vector = upload(&device, values);
            (device.msm::<G1Affine>(&g1_bases, &vector), device.msm::<G2Affine>(&g2_bases, &vector))
        })
        .collect();
    for (values, (g1_sum, g2_sum)) in values.iter().zip(sums).rev() {
        assert_eq!(block_on(g2_sum).expect("msm").to_affine(), oracle::msm(&g2, values));
        assert_eq!(block_on(g1_sum).expect("msm").to_affine(), oracle::msm(&g1, values));
    }
}

/// Time between marks adds up, to the resolution of a device's clock, and does not run backwards.
pub fn marks_are_monotone<D: Device>(device: D) {
    let resolution = Duration::from_micros(2);
    let domain = domain(LOG_SIZE, RootConvention::Bellman);
    let resident = device.domain(&domain).expect("domain");
    let mut vector = upload(&device, &scalars(domain.size(), 11));
    let marks: Vec<D::Mark> = (0..5)
        .map(|_| {
            device.ntt(&resident, Transform::Forward, &mut vector).expect("ntt");
            device.mark().expect("mark")
        })
        .collect();
    let elapsed =
        |from: usize, to: usize| block_on(device.elapsed(&marks[from], &marks[to])).expect("elapsed");
    for from in 0..marks.len() {
        for to in from..marks.len() {
            let steps: Duration = (from..to).map(|i| elapsed(i, i + 1)).sum();
            let whole = elapsed(from, to);
            assert!(
                whole.abs_diff(steps) <= resolution * marks.len() as u32,
                "from {from} to {to}: {whole:?} as a whole, {steps:?} in steps"
            );
        }
    }
}

/// The known-answer test by which a device is admitted.
pub fn self_test_passes<D: Device>(device: D) {
    block_on(self_test(&device)).expect("passes");
    block_on(self_test(&device)).expect("passes again");
}
