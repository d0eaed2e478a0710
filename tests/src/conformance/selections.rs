//! Witness values chosen by a set of variables: the sum over the ones, the multi-scalar product over the rest.

use bellwether_core::curve::AffinePoint;
use bellwether_core::r1cs::VariableSet;
use blstrs::Scalar;
use ff::Field;
use group::Curve;
use pollster::block_on;

use super::inputs::{Device, bases, edge_scalars, points, scalars, set_of, witness, witness_values};
use crate::oracle;

/// Zeros and ones of a hundred values: mixed evenly, and as in a Filecoin PoRep partition.
const MIXED: (u32, u32) = (34, 33);
const POREP: (u32, u32) = (51, 47);

/// Selects with the set and compares both sums; `points` belong to the members of the set, in order.
pub(super) fn check_points<D: Device, P: AffinePoint>(
    device: &D,
    set: &VariableSet,
    values: &[Scalar],
    points: &[P],
    what: &str,
) {
    let variables = device.variables(set).expect("variables");
    let uploaded = device.upload_witness(&witness(values)).expect("witness");
    let selection = device.select(&variables, &uploaded).expect("select");
    let bases = bases(device, points);
    let ones = device.batch_add::<P>(&bases, &selection);
    let tail = device.tail_msm::<P>(&bases, &selection);

    let members: Vec<Scalar> = set.iter().map(|variable| values[variable]).collect();
    let what = format!("{what}: {} of {} variables", set.count(), set.len());
    assert_eq!(
        block_on(ones).expect("batch addition").to_affine(),
        oracle::batch_add(points, &members),
        "ones of {what}"
    );
    assert_eq!(
        block_on(tail).expect("tail msm").to_affine(),
        oracle::tail_msm(points, &members),
        "tail of {what}"
    );
}

pub(super) fn check<D: Device, P: AffinePoint>(device: &D, set: &VariableSet, values: &[Scalar], what: &str) {
    check_points(device, set, values, &points::<P>(set.count(), 1), what);
}

/// Full sets, empty ones and halves, of lengths next to the 64 variables of a set's word and the 32 of a witness's.
pub fn set_lengths<P: AffinePoint>(device: impl Device) {
    for len in [1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 191, 192, 193] {
        let values = witness_values(len, MIXED, len);
        check::<_, P>(&device, &set_of(len, |_| true), &values, "full");
        check::<_, P>(&device, &set_of(len, |_| false), &values, "empty");
        check::<_, P>(&device, &set_of(len, |i| i % 2 == 1), &values, "odd");
        check::<_, P>(&device, &VariableSet::from_range(len, len / 2..len), &values, "upper half");
    }
    check::<_, P>(&device, &set_of(0, |_| true), &[], "nothing");
}

/// Larger sets: full, every 61st variable, single ones, one word, all but one.
pub fn sparse_and_full_sets<P: AffinePoint>(device: impl Device) {
    let len = 3001;
    let values = witness_values(len, POREP, 2);
    for (what, contains) in [
        ("full", (|_| true) as fn(usize) -> bool),
        ("sparse", |i| i % 61 == 7),
        ("the first", |i| i == 0),
        ("the last", |i| i == 3000),
        ("one word", |i| i / 64 == 13),
        ("without one", |i| i != 1500),
    ] {
        check::<_, P>(&device, &set_of(len, contains), &values, what);
    }
}

/// Witnesses of one kind of value only, and with a single other one.
pub fn kinds_of_values<P: AffinePoint>(device: impl Device) {
    let len = 130;
    let dense = scalars(1, 3)[0];
    let set = set_of(len, |i| i % 5 != 0);
    for (what, common, other) in [
        ("zeros", Scalar::ZERO, Scalar::ZERO),
        ("ones", Scalar::ONE, Scalar::ONE),
        ("others", dense, dense),
        ("a one among zeros", Scalar::ZERO, Scalar::ONE),
        ("another among ones", Scalar::ONE, dense),
        ("a zero among others", dense, Scalar::ZERO),
        ("minus one among ones", Scalar::ONE, -Scalar::ONE),
    ] {
        let mut values = vec![common; len];
        values[66] = other;
        check::<_, P>(&device, &set, &values, what);
    }
    let values = witness_values(2000, (0, 100), 4);
    check::<_, P>(&device, &set_of(2000, |_| true), &values, "two thousand ones");
}

/// r − 1, 2^k and their neighbours as values.
pub fn edge_values<P: AffinePoint>(device: impl Device) {
    let values = edge_scalars();
    check::<_, P>(&device, &set_of(values.len(), |i| i % 3 != 1), &values, "edge scalars");
}

/// Infinity among the bases of ones and of others.
pub fn infinity_among_the_bases<P: AffinePoint>(device: impl Device) {
    let len = 200;
    let set = set_of(len, |i| i % 4 != 3);
    for shares in [MIXED, (0, 100), (0, 0)] {
        let values = witness_values(len, shares, 5);
        let mut points = points::<P>(set.count(), 6);
        points.iter_mut().step_by(3).for_each(|point| *point = P::identity());
        check_points(&device, &set, &values, &points, "every third at infinity");
        points.fill(P::identity());
        check_points(&device, &set, &values, &points, "all at infinity");
    }
}

/// Equal points, and pairs that cancel, under ones and under equal values.
pub fn sums_that_cancel<P: AffinePoint>(device: impl Device) {
    let len = 96;
    let [p, q] = points::<P>(2, 7)[..] else { unreachable!("two points") };
    let set = set_of(len, |_| true);
    for value in [Scalar::ONE, scalars(1, 8)[0]] {
        let values = vec![value; len];
        for (what, pattern) in [("equal", [p, p]), ("opposite", [p, -p]), ("two", [p, q])] {
            check_points(&device, &set, &values, &pattern.repeat(len / 2), what);
        }
        let mut halves = points::<P>(len / 2, 9);
        halves.extend(halves.clone().iter().rev().map(|point| -*point));
        check_points(&device, &set, &values, &halves, "cancels as a whole");
    }
}

/// Selections live side by side: made first, used afterwards in another order.
pub fn one_witness_many_sets<P: AffinePoint>(device: impl Device) {
    let len = 333;
    let values = witness_values(len, MIXED, 10);
    let uploaded = device.upload_witness(&witness(&values)).expect("witness");
    let sets: Vec<VariableSet> = (2..6).map(|step| set_of(len, |i| i % step == 0)).collect();
    let selections: Vec<_> = sets
        .iter()
        .map(|set| {
            let variables = device.variables(set).expect("variables");
            device.select(&variables, &uploaded).expect("select")
        })
        .collect();
    drop(uploaded);
    for (set, selection) in sets.iter().zip(&selections).rev() {
        let points = points::<P>(set.count(), 11);
        let members: Vec<Scalar> = set.iter().map(|variable| values[variable]).collect();
        let resident = bases(&device, &points);
        let tail = block_on(device.tail_msm::<P>(&resident, selection)).expect("tail msm");
        let ones = block_on(device.batch_add::<P>(&resident, selection)).expect("batch addition");
        assert_eq!(tail.to_affine(), oracle::tail_msm(&points, &members), "{} members", members.len());
        assert_eq!(ones.to_affine(), oracle::batch_add(&points, &members), "{} members", members.len());
    }
}
