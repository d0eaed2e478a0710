//! Sizes of many blocks and many rounds of whatever works in rounds.

use bellwether_core::curve::G1Affine;
use bellwether_core::device::Device;
use bellwether_tests::conformance::inputs::{bases, download, scalars, set_of, upload, witness};
use bellwether_tests::cuda::{open, options};
use bellwether_tests::oracle;
use blstrs::Scalar;
use ff::Field;
use group::Curve;
use group::prime::PrimeCurveAffine;
use pollster::block_on;

/// A prime number of distinct bases, over and over: no part begins as another does.
const DISTINCT: usize = 251;

/// Two million bases, ones and scalars of every kind among them, at the ends, too; the sums are known by the logarithms.
#[test]
fn many_bases() {
    const LEN: usize = 1 << 21;
    let device = open(&options());
    let logarithms = scalars(DISTINCT, 1);
    let distinct: Vec<G1Affine> = oracle::fixed_base(&G1Affine::generator(), &logarithms);
    let resident = bases(&device, &distinct.into_iter().cycle().take(LEN).collect::<Vec<_>>());
    let sum_of = |values: &[Scalar], includes: &dyn Fn(&Scalar) -> bool| {
        let terms = values.iter().zip(logarithms.iter().cycle()).filter(|(value, _)| includes(value));
        let logarithm = terms.map(|(value, logarithm)| value * logarithm).sum();
        oracle::multiple(&G1Affine::generator(), &logarithm).to_affine()
    };

    // All but some are zero, so that the time goes into placing them, not into additions.
    let mut values = vec![Scalar::ZERO; LEN];
    for (at, value) in (0..LEN).step_by(4099).chain([LEN - 2, LEN - 1]).zip(scalars(LEN, 2)) {
        values[at] = value;
    }
    let sum = block_on(device.msm::<G1Affine>(&resident, &upload(&device, &values))).expect("msm");
    assert_eq!(sum.to_affine(), sum_of(&values, &|_| true), "msm");

    // Every other value is one.
    values.iter_mut().skip(1).step_by(2).for_each(|value| *value = Scalar::ONE);
    let variables = device.variables(&set_of(LEN, |_| true)).expect("variables");
    let uploaded = device.upload_witness(&witness(&values)).expect("witness");
    let selection = device.select(&variables, &uploaded).expect("select");
    let ones = block_on(device.batch_add::<G1Affine>(&resident, &selection)).expect("batch addition");
    assert_eq!(ones.to_affine(), sum_of(&values, &|value| *value == Scalar::ONE), "ones");
    let tail = block_on(device.tail_msm::<G1Affine>(&resident, &selection)).expect("tail msm");
    assert_eq!(tail.to_affine(), sum_of(&values, &|value| *value != Scalar::ONE), "tail");
}

/// One scalar more than a power of two.
#[test]
fn a_long_vector() {
    const LEN: usize = (1 << 22) + 1;
    let device = open(&options());
    let few = scalars(1009, 3);
    let [a, b] = [0, 500].map(|from| few.iter().copied().cycle().skip(from).take(LEN).collect::<Vec<_>>());
    let scale = few[7];
    let (mut a_vector, b_vector) = (upload(&device, &a), upload(&device, &b));
    assert!(download(&device, &a_vector) == a, "what was uploaded comes back");
    device.quotient(&mut a_vector, &b_vector, None, &scale).expect("quotient");
    let quotient = download(&device, &a_vector);
    let expected = oracle::quotient(&a, &b, None, scale);
    let first = (0..LEN).find(|&i| quotient[i] != expected[i]);
    assert_eq!((quotient.len(), first), (LEN, None), "the first difference");
}
