//! Multiples of one point against doubling and adding.

use bellwether_core::curve::AffinePoint;
use blstrs::Scalar;
use ff::Field;

use super::inputs::{Device, multiples, points, scalars};
use crate::oracle;

pub(super) fn check<D: Device, P: AffinePoint>(device: &D, base: &P, scalars: &[Scalar], what: &str) {
    let (found, expected) = (multiples(device, base, scalars), oracle::fixed_base(base, scalars));
    assert_eq!(found.len(), expected.len(), "{what}");
    if let Some(at) = (0..found.len()).find(|&i| found[i] != expected[i]) {
        assert_eq!(found[at], expected[at], "{what}: multiple {at} by {:?}", scalars[at]);
    }
}

/// 0, 1, r − 1, halves, powers of two and their neighbours.
pub fn edge_scalars<P: AffinePoint>(device: impl Device) {
    let edges = super::inputs::edge_scalars();
    check(&device, &P::generator(), &edges, "edge scalars");
    for scalar in &edges[..8] {
        check(&device, &P::generator(), &[*scalar], "one scalar");
    }
    check(&device, &P::generator(), &[Scalar::ZERO; 70], "zeros");
}

/// No scalar, one, and numbers next to the widths of warps and blocks.
pub fn lengths<P: AffinePoint>(device: impl Device) {
    for len in [0, 1, 2, 31, 33, 64, 255, 257, 600] {
        check(&device, &P::generator(), &scalars(len, len), &format!("{len} scalars"));
    }
}

/// A base other than the generator, its negative, and infinity.
pub fn other_bases<P: AffinePoint>(device: impl Device) {
    let base = points::<P>(1, 1)[0];
    for base in [base, -base, P::identity()] {
        let mut scalars = scalars(40, 2);
        scalars.extend([Scalar::ZERO, Scalar::ONE, -Scalar::ONE]);
        check(&device, &base, &scalars, "another base");
    }
}
