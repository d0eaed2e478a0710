//! Sizes at which a portable binding of 128 MiB is full: what is larger is cut into parts.

use bellwether_core::curve::{AffinePoint, G1Affine};
use bellwether_core::device::Device;
use bellwether_shaders::Tier;
use bellwether_tests::conformance::inputs::{bases, download, scalars, set_of, upload, witness};
use bellwether_tests::oracle;
use bellwether_tests::wgpu::{open, options};
use bellwether_wgpu::{WgpuDevice, WgpuOptions};
use blstrs::Scalar;
use ff::Field;
use group::Curve;
use group::prime::PrimeCurveAffine;
use pollster::block_on;

/// What every adapter offers.
const PORTABLE_BINDING: u64 = 128 << 20;

fn portable() -> WgpuDevice {
    let device = open(WgpuOptions { max_binding: Some(PORTABLE_BINDING), ..options(Tier::U64) });
    assert_eq!(device.adapter().max_binding, PORTABLE_BINDING);
    device
}

/// A prime number of distinct bases, over and over: no part begins as another does.
const DISTINCT: usize = 251;

/// 201 MB of bases are in two parts. Ones in both, scalars of every kind on both sides of the cut and at the ends; the
/// sums are known by the logarithms.
#[test]
fn bases_that_do_not_fit_one_binding() {
    const LEN: usize = 1 << 21;
    assert!((LEN * G1Affine::GROUP.packed_bytes()) as u64 > PORTABLE_BINDING);
    let device = portable();
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
    let cut = PORTABLE_BINDING as usize / G1Affine::GROUP.packed_bytes();
    let around_cut = cut - 3..cut + 3;
    for (at, value) in (0..LEN).step_by(4099).chain(around_cut).chain([LEN - 1]).zip(scalars(LEN, 2)) {
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

/// 2^22 scalars fill a binding; one more is in a part of its own.
#[test]
fn vectors_of_one_scalar_more_than_a_binding() {
    const LEN: usize = (1 << 22) + 1;
    assert!(LEN as u64 * 32 > PORTABLE_BINDING);
    let device = portable();
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
