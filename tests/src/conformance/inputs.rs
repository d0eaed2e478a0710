//! Inputs of the cases, and the shortest way of running an operation on them.

pub use bellwether_core::curve::{AffinePoint, G1Affine, G2Affine};
pub use bellwether_core::device::Device;

use bellwether_core::key::Points;
use bellwether_core::r1cs::{CompactWitness, VariableSet};
use blstrs::Scalar;
use ff::Field;
use group::Curve;
use pollster::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// A generator for reproducible inputs.
pub fn seeded(seed: usize) -> StdRng {
    StdRng::seed_from_u64(seed as u64)
}

/// Uniform scalars.
pub fn scalars(len: usize, seed: usize) -> Vec<Scalar> {
    let mut rng = seeded(seed);
    (0..len).map(|_| Scalar::random(&mut rng)).collect()
}

/// Values as circuits have them: so many zeros and ones of a hundred, uniform ones for the rest.
pub fn witness_values(len: usize, (zeros, ones): (u32, u32), seed: usize) -> Vec<Scalar> {
    let mut rng = seeded(seed);
    (0..len)
        .map(|_| match rng.gen_range(0..100) {
            kind if kind < zeros => Scalar::ZERO,
            kind if kind < zeros + ones => Scalar::ONE,
            _ => Scalar::random(&mut rng),
        })
        .collect()
}

/// 0, ±1, ±1/2, and 2^k, 2^k ± 1 and their negatives for every k below 255.
pub fn edge_scalars() -> Vec<Scalar> {
    let two = Scalar::from(2u64);
    let half = two.invert().expect("not zero");
    let powers = std::iter::successors(Some(Scalar::ONE), |power| Some(power.double())).take(255);
    let around = powers.flat_map(|power| [power, power - Scalar::ONE, power + Scalar::ONE]);
    [Scalar::ZERO, half, half - Scalar::ONE]
        .into_iter()
        .chain(around)
        .flat_map(|scalar| [scalar, -scalar])
        .collect()
}

/// Different points whose discrete logarithms are in arithmetic progression with a random start and difference.
pub fn points<P: AffinePoint>(len: usize, seed: usize) -> Vec<P> {
    let progression = scalars(2, seed);
    let (mut point, step) = (P::generator() * progression[0], P::generator() * progression[1]);
    let points: Vec<P::Projective> = (0..len)
        .map(|_| {
            let this = point;
            point += &step.to_affine();
            this
        })
        .collect();
    affine(&points)
}

fn affine<P: AffinePoint<Projective = C>, C: Curve<AffineRepr = P>>(points: &[C]) -> Vec<P> {
    let mut affine = vec![P::identity(); points.len()];
    C::batch_normalize(points, &mut affine);
    affine
}

/// A set of variables from a rule.
pub fn set_of(len: usize, contains: impl Fn(usize) -> bool) -> VariableSet {
    let mut words = vec![0; len.div_ceil(64)];
    (0..len)
        .filter(|&variable| contains(variable))
        .for_each(|variable| words[variable / 64] |= 1u64 << (variable % 64));
    VariableSet::from_words(len, words)
}

/// The witness with these values.
pub fn witness(values: &[Scalar]) -> CompactWitness {
    values.iter().copied().collect()
}

/// A vector made resident.
pub fn upload<D: Device>(device: &D, values: &[Scalar]) -> D::Scalars {
    device.upload(values, values.len()).expect("upload")
}

/// The values of a resident vector.
pub fn download<D: Device>(device: &D, values: &D::Scalars) -> Vec<Scalar> {
    block_on(device.download(values)).expect("download").to_vec()
}

/// Points made resident.
pub fn bases<D: Device, P: AffinePoint>(device: &D, points: &[P]) -> D::Bases<P> {
    device.bases(&Points::from(points.to_vec())).expect("bases")
}

/// The multi-scalar product of host values.
pub fn msm<D: Device, P: AffinePoint>(device: &D, points: &[P], scalars: &[Scalar]) -> P {
    let sum = device.msm::<P>(&bases(device, points), &upload(device, scalars));
    block_on(sum).expect("msm").to_affine()
}

/// The multiples of one point by host values.
pub fn multiples<D: Device, P: AffinePoint>(device: &D, base: &P, scalars: &[Scalar]) -> Vec<P> {
    block_on(device.fixed_base_mul(base, &upload(device, scalars))).expect("fixed-base multiplication")
}
