//! Multi-scalar multiplication against sums of multiples.

use bellwether_core::curve::AffinePoint;
use blstrs::Scalar;
use ff::Field;
use group::Curve;
use rand::Rng;

use super::inputs::{Device, msm, multiples, points, scalars, seeded};
use crate::oracle;

pub(super) fn check<D: Device, P: AffinePoint>(device: &D, points: &[P], scalars: &[Scalar], what: &str) {
    let expected = oracle::msm(points, scalars);
    assert_eq!(msm(device, points, scalars), expected, "{what}, {} points", points.len());
}

/// No point, one, and numbers next to the widths of warps, subgroups and blocks.
pub fn lengths<P: AffinePoint>(device: impl Device) {
    for len in [0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 257, 513] {
        check(&device, &points::<P>(len, len), &scalars(len, len + 1), "uniform scalars");
    }
}

/// Infinity first, last, alternating, and everywhere.
pub fn infinity_among_the_bases<P: AffinePoint>(device: impl Device) {
    let len = 67;
    let uniform = scalars(len, 1);
    for (what, is_infinity) in [
        ("first", (|i| i == 0) as fn(usize) -> bool),
        ("last", |i| i == 66),
        ("every other", |i| i % 2 == 1),
        ("all but one", |i| i != 40),
        ("all", |_| true),
    ] {
        let mut points = points::<P>(len, 2);
        for i in (0..len).filter(|&i| is_infinity(i)) {
            points[i] = P::identity();
        }
        check(&device, &points, &uniform, what);
        check(&device, &points, &vec![Scalar::ONE; len], what);
    }
    check(&device, &[P::identity()], &[-Scalar::ONE], "alone");
}

/// 0, 1, r − 1, halves, powers of two and their neighbours: each alone and all together.
pub fn edge_scalars<P: AffinePoint>(device: impl Device) {
    let edges = super::inputs::edge_scalars();
    check(&device, &points::<P>(edges.len(), 3), &edges, "all edge scalars");
    let point = points::<P>(1, 4);
    for scalar in edges.iter().step_by(89).chain(&edges[..6]) {
        check(&device, &point, &[*scalar], &format!("{scalar:?}"));
    }
    for zeros in [1, 64, 100] {
        check(&device, &points::<P>(zeros, 5), &vec![Scalar::ZERO; zeros], "zeros");
    }
}

/// P beside P and P beside −P, under scalars that bring them into the same bucket and the opposite one.
pub fn opposite_and_equal_points<P: AffinePoint>(device: impl Device) {
    let [p, q] = points::<P>(2, 6)[..] else { unreachable!("two points") };
    let s = scalars(1, 7)[0];
    let cases: [(&str, Vec<P>, Vec<Scalar>); 8] = [
        ("P + P", vec![p, p], vec![s, s]),
        ("P − P", vec![p, -p], vec![s, s]),
        ("P − P by scalars", vec![p, p], vec![s, -s]),
        ("P + P by both", vec![p, -p], vec![s, -s]),
        ("Q between", vec![p, q, -p], vec![s, s, s]),
        ("many P", vec![p; 100], vec![s; 100]),
        ("many P, all scalars", vec![p; 100], scalars(100, 8)),
        ("P and −P in turn", [p, -p].repeat(51)[..101].to_vec(), vec![s; 101]),
    ];
    for (what, points, scalars) in &cases {
        check(&device, points, scalars, what);
    }
    // Small scalars: the same few buckets over and over, filled with sums that are equal or opposite.
    let mut rng = seeded(9);
    let few = [p, -p, q, -q, P::identity()];
    let (points, small): (Vec<P>, Vec<Scalar>) =
        (0..300).map(|_| (few[rng.gen_range(0..few.len())], Scalar::from(rng.gen_range(0..4u64)))).unzip();
    check(&device, &points, &small, "few points, small scalars");
}

/// All scalars equal, to each of some values.
pub fn equal_scalars<P: AffinePoint>(device: impl Device) {
    let points = points::<P>(150, 10);
    for scalar in [Scalar::ONE, -Scalar::ONE, Scalar::from(2), Scalar::from(1 << 15), scalars(1, 11)[0]] {
        check(&device, &points, &vec![scalar; points.len()], &format!("all {scalar:?}"));
    }
}

/// Ones, and one other value.
pub fn all_ones_but_one<P: AffinePoint>(device: impl Device) {
    let points = points::<P>(130, 12);
    for (at, other) in [(0, Scalar::ZERO), (64, -Scalar::ONE), (129, scalars(1, 13)[0])] {
        let mut ones = vec![Scalar::ONE; points.len()];
        ones[at] = other;
        check(&device, &points, &ones, "ones but one");
    }
}

/// Three quarters of the points in one bucket of one window, the rest spread out: known logarithms.
pub fn one_huge_bucket<P: AffinePoint>(device: impl Device) {
    let len = 3000;
    let exponents = scalars(len, 14);
    let points = multiples(&device, &P::generator(), &exponents);
    let mut values = scalars(len, 15);
    let shared = values[0];
    (0..len).filter(|i| i % 4 != 0).for_each(|i| values[i] = shared);
    check_logarithms(&device, &points, &exponents, &values);
}

/// Scalars behind the last base do not count.
pub fn more_scalars_than_bases<P: AffinePoint>(device: impl Device) {
    for (bases, count) in [(0, 1), (0, 64), (1, 2), (63, 64), (64, 128), (100, 101), (100, 1000)] {
        check(&device, &points::<P>(bases, 16), &scalars(count, 17), &format!("{count} scalars"));
    }
}

/// A large sum: 2^16 points of G1 or 2^13 of G2 that are known multiples of the generator.
pub fn known_discrete_logarithms<P: AffinePoint>(device: impl Device) {
    let len = match P::GROUP {
        bellwether_core::curve::Group::G1 => 1 << 16,
        bellwether_core::curve::Group::G2 => 1 << 13,
    };
    let exponents = scalars(len, 18);
    let points = multiples(&device, &P::generator(), &exponents);
    check_logarithms(&device, &points, &exponents, &scalars(len, 19));
}

/// Σ s_i·(e_i·G) = (Σ s_i·e_i)·G.
fn check_logarithms<D: Device, P: AffinePoint>(
    device: &D,
    points: &[P],
    exponents: &[Scalar],
    scalars: &[Scalar],
) {
    let logarithm: Scalar = exponents.iter().zip(scalars).map(|(e, s)| e * s).sum();
    let expected = oracle::multiple(&P::generator(), &logarithm).to_affine();
    assert_eq!(msm(device, points, scalars), expected, "{} points", points.len());
}
