//! The vectors of EIP-2537, through the operations of the CPU device.

use bellwether_core::curve::{AffinePoint, Bls12, G1Affine, G2Affine, Gt};
use bellwether_core::device::{CpuDevice, Device};
use bellwether_core::key::Points;
use bellwether_core::r1cs::VariableSet;
use bellwether_tests::eip2537::{
    Refused, SCALAR_BYTES, cases, decode_point, decode_scalar, decode_subgroup_point, encode_point, items,
    point_bytes,
};
use blstrs::{G2Prepared, Scalar};
use ff::Field;
use group::{Curve, Group};
use pairing::{MillerLoopResult, MultiMillerLoop};
use pollster::block_on;

/// What is expected of the CPU device's calls.
const SOUND: &str = "the CPU device does not fail";

/// The points and scalars of an input for multiplication.
fn terms<P: AffinePoint>(input: &[u8]) -> Result<(Vec<P>, Vec<Scalar>), Refused> {
    items(input, point_bytes::<P>() + SCALAR_BYTES)?
        .map(|item| {
            let (point, scalar) = item.split_at(point_bytes::<P>());
            Ok((decode_subgroup_point::<P>(point)?, decode_scalar(scalar)))
        })
        .collect()
}

/// The two points of an input for addition, which need not lie in the subgroup.
fn addends<P: AffinePoint>(input: &[u8]) -> Result<Vec<P>, Refused> {
    if input.len() != 2 * point_bytes::<P>() {
        return Err(Refused::Length);
    }
    items(input, point_bytes::<P>())?.map(decode_point).collect()
}

/// The pairs of an input for the pairing check.
fn pairs(input: &[u8]) -> Result<Vec<(G1Affine, G2Affine)>, Refused> {
    items(input, point_bytes::<G1Affine>() + point_bytes::<G2Affine>())?
        .map(|item| {
            let (g1, g2) = item.split_at(point_bytes::<G1Affine>());
            Ok((decode_subgroup_point(g1)?, decode_subgroup_point(g2)?))
        })
        .collect()
}

fn check_msm<P: AffinePoint>(file: &str) {
    let device = CpuDevice::new();
    for case in cases(file) {
        let (points, scalars) = terms::<P>(&case.input()).expect("a valid input");
        let bases = device.bases(&Points::from(points)).expect(SOUND);
        let scalars = device.upload(&scalars, scalars.len()).expect(SOUND);
        let sum = block_on(device.msm::<P>(&bases, &scalars)).expect(SOUND);
        assert_eq!(encode_point(&sum.to_affine()), case.expected(), "{}", case.name);
    }
}

fn check_fixed_base<P: AffinePoint>(file: &str) {
    let device = CpuDevice::new();
    for case in cases(file) {
        let (points, scalars) = terms::<P>(&case.input()).expect("a valid input");
        let scalars = device.upload(&scalars, scalars.len()).expect(SOUND);
        let products = block_on(device.fixed_base_mul(&points[0], &scalars)).expect(SOUND);
        assert_eq!(encode_point(&products[0]), case.expected(), "{}", case.name);
    }
}

fn check_add<P: AffinePoint>(file: &str) {
    let device = CpuDevice::new();
    let witness = device.upload_witness(&[Scalar::ONE; 2].into_iter().collect()).expect(SOUND);
    let variables = device.variables(&VariableSet::from_range(2, 0..2)).expect(SOUND);
    let both = device.select(&variables, &witness).expect(SOUND);
    for case in cases(file) {
        let points = addends::<P>(&case.input()).expect("a valid input");
        let bases = device.bases(&Points::from(points)).expect(SOUND);
        let sum = block_on(device.batch_add::<P>(&bases, &both)).expect(SOUND);
        assert_eq!(encode_point(&sum.to_affine()), case.expected(), "{}", case.name);
    }
}

/// Every case is refused, and for its reason.
fn check_refused<T: std::fmt::Debug>(file: &str, decode: impl Fn(&[u8]) -> Result<T, Refused>) {
    for case in cases(file) {
        let refused = decode(&case.input()).expect_err(&case.name);
        assert_eq!(Some(refused.message()), case.expected_error.as_deref(), "{}", case.name);
    }
}

#[test]
fn msm_g1() {
    check_msm::<G1Affine>("msm_G1_bls.json");
}

#[test]
fn mul_through_msm() {
    check_msm::<G1Affine>("mul_G1_bls.json");
    check_msm::<G2Affine>("mul_G2_bls.json");
}

#[test]
fn mul_through_fixed_base() {
    check_fixed_base::<G1Affine>("mul_G1_bls.json");
    check_fixed_base::<G2Affine>("mul_G2_bls.json");
}

#[test]
fn add_through_batch_addition() {
    check_add::<G1Affine>("add_G1_bls.json");
    check_add::<G2Affine>("add_G2_bls.json");
}

#[test]
fn pairing_check() {
    for case in cases("pairing_check_bls.json") {
        let pairs = pairs(&case.input()).expect("a valid input");
        let prepared: Vec<(G1Affine, G2Prepared)> =
            pairs.into_iter().map(|(g1, g2)| (g1, G2Prepared::from(g2))).collect();
        let terms: Vec<(&G1Affine, &G2Prepared)> = prepared.iter().map(|(g1, g2)| (g1, g2)).collect();
        let product = Bls12::multi_miller_loop(&terms).final_exponentiation();
        let mut expected = [0; 32];
        expected[31] = u8::from(product == Gt::identity());
        assert_eq!(case.expected(), expected, "{}", case.name);
    }
}

#[test]
fn malformed_inputs_are_refused() {
    check_refused("fail-add_G1_bls.json", addends::<G1Affine>);
    check_refused("fail-add_G2_bls.json", addends::<G2Affine>);
    check_refused("fail-msm_G1_bls.json", terms::<G1Affine>);
    check_refused("fail-msm_G2_bls.json", terms::<G2Affine>);
    check_refused("fail-pairing_check_bls.json", pairs);
}
