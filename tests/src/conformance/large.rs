//! Sizes at which a device splits its work: 2^16 and above, against oracles that take about linear time.
//!
//! The other groups compare with quadratic oracles, so that their inputs fit one block, one task or one pass of
//! most devices. Here a transform is checked at a random point and at sampled outputs, a product row by row, and a
//! sum of points through the logarithms of its bases.

use bellwether_core::curve::{AffinePoint, Group};
use bellwether_core::device::{Transform, composed_coset_quotient};
use bellwether_core::domain::{Domain, RootConvention};
use bellwether_core::r1cs::SparseMatrix;
use blstrs::Scalar;
use ff::{BatchInvert, Field};
use group::Curve;
use pollster::block_on;
use rand::Rng;

use super::inputs::{Device, bases, download, msm, scalars, seeded, set_of, upload, witness, witness_values};
use super::products::random_rows;
use super::transforms::{domain, run};
use crate::oracle;

/// Compares whole vectors, and names the first difference only: nobody reads 2^17 scalars.
fn assert_same(found: &[Scalar], expected: &[Scalar], what: &str) {
    assert_eq!(found.len(), expected.len(), "length, {what}");
    if let Some(i) = (0..found.len()).find(|&i| found[i] != expected[i]) {
        assert_eq!(found[i], expected[i], "index {i} of {}, {what}", found.len());
    }
}

/// The value at `x` of the polynomial with these coefficients.
fn horner(coefficients: &[Scalar], x: Scalar) -> Scalar {
    coefficients.iter().rev().fold(Scalar::ZERO, |sum, coefficient| sum * x + coefficient)
}

/// The value at `x`, outside the domain, of the polynomial with these values on it:
/// (x^n − 1)/n·Σ_i y_i·ω^i/(x − ω^i).
fn interpolated(domain: &Domain, values: &[Scalar], x: Scalar) -> Scalar {
    let n = domain.size() as u64;
    let elements = || std::iter::successors(Some(Scalar::ONE), |element| Some(element * domain.root()));
    let mut inverses: Vec<Scalar> = elements().take(values.len()).map(|element| x - element).collect();
    inverses.iter_mut().batch_invert();
    let terms = values.iter().zip(elements()).zip(&inverses);
    let sum: Scalar = terms.map(|((value, element), inverse)| value * element * inverse).sum();
    sum * (x.pow_vartime([n]) - Scalar::ONE) * Scalar::from(n).invert().expect("not zero")
}

/// Sixteen positions below `len`: both ends, the middle, and random ones.
fn samples(len: usize) -> Vec<usize> {
    let mut rng = seeded(len);
    let fixed = [0, 1, len / 2 - 1, len / 2, len - 1];
    fixed.into_iter().chain((0..11).map(|_| rng.gen_range(0..len))).collect()
}

/// Forward transforms by sampled outputs and, for all outputs at once, by the polynomial's value at a random point;
/// inverse ones by the coefficients they have to bring back.
pub fn transforms_at_a_point<D: Device>(device: D) {
    for (convention, log_size) in RootConvention::ALL.into_iter().flat_map(|c| [(c, 16), (c, 17)]) {
        let domain = domain(log_size, convention);
        let coefficients = scalars(domain.size(), log_size as usize);
        let x = scalars(1, 1)[0];
        for (forward, inverse, shift) in [
            (Transform::Forward, Transform::Inverse, Scalar::ONE),
            (Transform::CosetForward, Transform::CosetInverse, domain.shift()),
        ] {
            let what = format!("2^{log_size}, {convention:?}");
            let values = run(&device, &domain, forward, &coefficients);
            for i in samples(domain.size()) {
                let expected = horner(&coefficients, shift * domain.element(i));
                assert_eq!(values[i], expected, "output {i} of {forward:?}, {what}");
            }
            let by_values = interpolated(&domain, &values, x);
            assert_eq!(by_values, horner(&coefficients, shift * x), "{forward:?} at a point, {what}");

            let back = run(&device, &domain, inverse, &values);
            assert_same(&back, &coefficients, &format!("{inverse:?}, {what}"));
        }
    }
}

/// [`Device::coset_quotient`] against the trait's own composition, against the quotient of values on the coset, and
/// at sampled points of the coset against polynomials.
pub fn coset_quotient_against_composition<D: Device>(device: D) {
    for convention in RootConvention::ALL {
        let domain = domain(16, convention);
        let resident = device.domain(&domain).expect("domain");
        let scale = scalars(1, 5)[0];
        let polynomials = [2, 3, 4].map(|seed| scalars(domain.size(), seed));
        let [values, on_coset] = [Transform::Forward, Transform::CosetForward]
            .map(|transform| polynomials.each_ref().map(|p| run(&device, &domain, transform, p)));
        let positions = samples(domain.size());
        let points: Vec<Scalar> = positions.iter().map(|&i| domain.shift() * domain.element(i)).collect();
        let at_points =
            polynomials.each_ref().map(|p| points.iter().map(|&x| horner(p, x)).collect::<Vec<_>>());

        for with_c in [true, false] {
            let what = format!("{convention:?}, {}", if with_c { "with c" } else { "without c" });
            let [found, composed] = [D::coset_quotient, composed_coset_quotient::<D>].map(|quotient| {
                let [a, b, c] = values.each_ref().map(|values| upload(&device, values));
                let c = with_c.then_some(c);
                download(&device, &quotient(&device, &resident, a, b, c, &scale).expect("coset quotient"))
            });
            assert_same(&found, &composed, &format!("composed, {what}"));

            let by_host =
                |[a, b, c]: &[Vec<Scalar>; 3]| oracle::quotient(a, b, with_c.then_some(&c[..]), scale);
            assert_same(&found, &by_host(&on_coset), &format!("of values on the coset, {what}"));
            let sampled: Vec<Scalar> = positions.iter().map(|&i| found[i]).collect();
            assert_same(&sampled, &by_host(&at_points), &format!("at {positions:?}, {what}"));
        }
    }
}

/// The pointwise quotient of 2^16 + 1 values, with c and without.
pub fn quotient<D: Device>(device: D) {
    let len = (1 << 16) + 1;
    let [a, b, c] = [6, 7, 8].map(|seed| scalars(len, seed));
    let scale = scalars(1, 9)[0];
    for with_c in [true, false] {
        let mut quotient = upload(&device, &a);
        let b_vector = upload(&device, &b);
        let c_vector = with_c.then(|| upload(&device, &c));
        device.quotient(&mut quotient, &b_vector, c_vector.as_ref(), &scale).expect("quotient");
        let expected = oracle::quotient(&a, &b, with_c.then_some(&c[..]), scale);
        assert_same(&download(&device, &quotient), &expected, if with_c { "with c" } else { "without c" });
    }
}

/// 2^16 + 3 rows of a few entries, one of them of 5000; one column is in every row, and zeros follow up to 2^17.
pub fn products<D: Device>(device: D) {
    const COMMON: usize = 5;
    let (size, len) = ((1 << 16) + 3, 1 << 17);
    let coefficients = scalars(5000, 10);
    let mut rows = random_rows(size, size, 4, 11);
    rows[size / 2 + 1] = coefficients.iter().enumerate().map(|(i, &entry)| (13 * i + 7, entry)).collect();
    for (i, row) in rows.iter_mut().enumerate() {
        row.push((COMMON, if i % 3 == 0 { coefficients[i % 7] } else { Scalar::ONE }));
        row.sort_by_key(|(column, _)| *column);
        row.dedup_by_key(|(column, _)| *column);
    }
    let matrix = SparseMatrix::from_rows(size, rows.iter().map(|row| row.iter().copied()));
    let resident = device.matrix(&matrix).expect("matrix");
    for shares in [(0, 0), (50, 48)] {
        let mut values = witness_values(size, shares, 12);
        values[COMMON] = coefficients[0];
        let uploaded = device.upload_witness(&witness(&values)).expect("witness");
        let product = device.spmv(&resident, &uploaded, len).expect("spmv");
        let row_sum =
            |row: &Vec<(usize, Scalar)>| row.iter().map(|(column, entry)| entry * values[*column]).sum();
        let mut expected: Vec<Scalar> = rows.iter().map(row_sum).collect();
        expected.resize(len, Scalar::ZERO);
        assert_same(&download(&device, &product), &expected, &format!("values {shares:?}"));
    }
}

/// Distinct bases: a prime, so that a shift by a power of two brings no base to an equal one.
const DISTINCT: usize = 251;

/// Bases and their logarithms: a few random multiples of the generator, over and over.
fn known_points<P: AffinePoint>(len: usize, seed: usize) -> (Vec<P>, Vec<Scalar>) {
    let exponents = scalars(DISTINCT, seed);
    let points: Vec<P> = oracle::fixed_base(&P::generator(), &exponents);
    (points.into_iter().cycle().take(len).collect(), exponents.into_iter().cycle().take(len).collect())
}

/// Σ s_i·(e_i·G) = (Σ s_i·e_i)·G, for the pairs (s, e).
fn sum_of<'a, P: AffinePoint>(pairs: impl Iterator<Item = (&'a Scalar, &'a Scalar)>) -> P {
    let logarithm: Scalar = pairs.map(|(scalar, exponent)| scalar * exponent).sum();
    oracle::multiple(&P::generator(), &logarithm).to_affine()
}

/// Six of seven of 2^17 + 1 variables, or of 2^15 + 1 for G2, most of them zero or one.
pub fn selections<P: AffinePoint>(device: impl Device) {
    let len = match P::GROUP {
        Group::G1 => (1 << 17) + 1,
        Group::G2 => (1 << 15) + 1,
    };
    let values = witness_values(len, (45, 45), 13);
    let set = set_of(len, |i| i % 7 != 3);
    let (points, exponents) = known_points::<P>(set.count(), 14);

    let variables = device.variables(&set).expect("variables");
    let uploaded = device.upload_witness(&witness(&values)).expect("witness");
    let selection = device.select(&variables, &uploaded).expect("select");
    let resident = bases(&device, &points);
    let ones = block_on(device.batch_add::<P>(&resident, &selection)).expect("batch addition").to_affine();
    let tail = block_on(device.tail_msm::<P>(&resident, &selection)).expect("tail msm").to_affine();

    let members: Vec<Scalar> = set.iter().map(|variable| values[variable]).collect();
    let pairs = || members.iter().zip(&exponents);
    assert_eq!(ones, sum_of(pairs().filter(|(value, _)| **value == Scalar::ONE)), "ones of {len} variables");
    assert_eq!(tail, sum_of(pairs().filter(|(value, _)| **value != Scalar::ONE)), "tail of {len} variables");
}

/// A sum of 2^16 + 1 points of G1 or 2^14 + 1 of G2 with uniform scalars.
pub fn sums<P: AffinePoint>(device: impl Device) {
    let len = match P::GROUP {
        Group::G1 => (1 << 16) + 1,
        Group::G2 => (1 << 14) + 1,
    };
    let (points, exponents) = known_points::<P>(len, 15);
    let scalars = scalars(len, 16);
    assert_eq!(msm(&device, &points, &scalars), sum_of(scalars.iter().zip(&exponents)), "{len} points");
}
