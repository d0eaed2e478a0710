//! Keys as a whole, small and made up: reading, mapping and writing, and everything that can be wrong with a file.

use std::io::Write;

use blstrs::{Fp, Fp2};
use ff::Field;
use group::{Curve, Group};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tempfile::NamedTempFile;

use super::*;

mod faults;
mod round_trips;

const NEVER: ReadOptions<'static> = ReadOptions { checks: CheckPolicy::Never, trusted: &[], progress: None };

/// Random points of the subgroup.
pub(super) fn random_points<P: AffinePoint>(rng: &mut StdRng, count: usize) -> Vec<P> {
    (0..count).map(|_| P::Projective::random(&mut *rng).to_affine()).collect()
}

/// A key with 2 points of ic, then 3, 2, 2, 1 and 1; it proves nothing.
pub(super) fn small_key() -> ProvingKey {
    key_of_sizes([2, 3, 2, 2, 1, 1])
}

/// A key with so many points of ic, h, l, a, b_g1 and b_g2.
pub(super) fn key_of_sizes([ic, h, l, a, b_g1, b_g2]: [usize; 6]) -> ProvingKey {
    let rng = &mut StdRng::seed_from_u64(381);
    let g1 = |rng: &mut StdRng| random_points::<G1Affine>(rng, 1)[0];
    let g2 = |rng: &mut StdRng| random_points::<G2Affine>(rng, 1)[0];
    let vk = VerifyingKey {
        alpha_g1: g1(rng),
        beta_g1: g1(rng),
        beta_g2: g2(rng),
        gamma_g2: g2(rng),
        delta_g1: g1(rng),
        delta_g2: g2(rng),
        ic: random_points(rng, ic),
    };
    ProvingKey::new(
        vk,
        random_points::<G1Affine>(rng, h),
        random_points::<G1Affine>(rng, l),
        random_points::<G1Affine>(rng, a),
        random_points::<G1Affine>(rng, b_g1),
        random_points::<G2Affine>(rng, b_g2),
    )
}

/// The bytes of a key.
pub(super) fn bytes_of(key: &ProvingKey) -> Vec<u8> {
    let mut bytes = Vec::new();
    key.write(&mut bytes).expect("written");
    bytes
}

/// A point of E(Fp) that no multiplication by the cofactor has brought into the subgroup.
pub(super) fn outside_subgroup_g1() -> G1Affine {
    let rng = &mut StdRng::seed_from_u64(1);
    let candidates = std::iter::repeat_with(|| {
        let x = Fp::random(&mut *rng);
        let y: Option<Fp> = (x.square() * x + Fp::from(4)).sqrt().into();
        y.map(|y| G1Affine::from_coordinates(x, y))
    });
    candidates.flatten().find(|point| !point.is_in_subgroup()).expect("nearly every point is outside")
}

/// A point of E'(Fp2) outside the subgroup.
pub(super) fn outside_subgroup_g2() -> G2Affine {
    let rng = &mut StdRng::seed_from_u64(2);
    let b = Fp2::new(Fp::from(4), Fp::from(4));
    let candidates = std::iter::repeat_with(|| {
        let x = Fp2::random(&mut *rng);
        let y: Option<Fp2> = (x.square() * x + b).sqrt().into();
        y.map(|y| G2Affine::from_coordinates(x, y))
    });
    candidates.flatten().find(|point| !point.is_in_subgroup()).expect("nearly every point is outside")
}

/// A temporary file with these bytes.
fn file_of(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("written");
    file
}

/// The byte that an error names.
fn offset_of(error: &KeyError) -> u64 {
    match error {
        KeyError::Empty { .. } => 0,
        KeyError::Truncated { offset, .. }
        | KeyError::ForgedCount { offset, .. }
        | KeyError::InvalidPoint { offset, .. } => *offset,
        other => panic!("not about content: {other}"),
    }
}
