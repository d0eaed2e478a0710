//! Slices of blstrs types seen as slices of 32-bit words, which is the packed form.
//!
//! `Scalar` is `repr(transparent)` over blst's `blst_fr`, `G1Affine` over `blst_p1_affine` and `G2Affine` over
//! `blst_p2_affine`. Those are `repr(C)` and made of nothing but arrays of u64 limbs: no padding, no pointer,
//! and every bit pattern is a value of the type, if not always a reduced one. What is checked here is layout;
//! that words are canonical is the business of `curve::packed`.

use std::slice;

use blstrs::{G1Affine, G2Affine, Scalar};

use crate::curve::AffinePoint;

/// 32-bit words of a scalar.
const SCALAR_WORDS: usize = 8;

// The words of a limb come least significant first only on such machines. (blstrs demands the same.)
const _: () = assert!(cfg!(target_endian = "little"));
const _: () = assert_layout::<Scalar>(4 * SCALAR_WORDS);
const _: () = assert_layout::<G1Affine>(96);
const _: () = assert_layout::<G2Affine>(192);

/// Fails to compile unless `T` has the size of its u64 limbs and their alignment.
const fn assert_layout<T: Copy>(bytes: usize) {
    assert!(size_of::<T>() == bytes);
    assert!(align_of::<T>() == align_of::<u64>());
}

/// 32-bit words of a point of `P`'s group, once its layout is known to be as expected.
const fn words_of_point<P: AffinePoint>() -> usize {
    const { assert_layout::<P>(P::GROUP.packed_bytes()) };
    size_of::<P>() / size_of::<u32>()
}

/// The words of the scalars' Montgomery residues, 8 a scalar.
pub(crate) fn scalar_words(scalars: &[Scalar]) -> &[u32] {
    // SAFETY: a Scalar is four u64 limbs (see above, and the assertion on its size), so that the slice is
    // 8 · len initialised words, aligned for u64 and so for u32, borrowed for as long as `scalars` is.
    unsafe { slice::from_raw_parts(scalars.as_ptr().cast(), scalars.len() * SCALAR_WORDS) }
}

/// The words of the scalars, to be cleared or overwritten. Whoever writes leaves residues below r behind.
pub(crate) fn scalar_words_mut(scalars: &mut [Scalar]) -> &mut [u32] {
    // SAFETY: as in `scalar_words`; the borrow is exclusive, and every bit pattern is a Scalar.
    unsafe { slice::from_raw_parts_mut(scalars.as_mut_ptr().cast(), scalars.len() * SCALAR_WORDS) }
}

/// The words of the coordinates' Montgomery residues, x then y: 24 a point of G1, 48 a point of G2.
pub(crate) fn point_words<P: AffinePoint>(points: &[P]) -> &[u32] {
    // SAFETY: AffinePoint is sealed to G1Affine and G2Affine, which are 12 and 24 u64 limbs (see above);
    // `words_of_point` asserts size and alignment. The slice is that many initialised words a point, borrowed
    // for as long as `points` is.
    unsafe { slice::from_raw_parts(points.as_ptr().cast(), points.len() * words_of_point::<P>()) }
}

/// The words of the points, to be overwritten. Whoever writes leaves points of the curve, or zeros, behind.
pub(crate) fn point_words_mut<P: AffinePoint>(points: &mut [P]) -> &mut [u32] {
    // SAFETY: as in `point_words`; the borrow is exclusive, and every bit pattern is a G1Affine or G2Affine.
    unsafe { slice::from_raw_parts_mut(points.as_mut_ptr().cast(), points.len() * words_of_point::<P>()) }
}

#[cfg(test)]
mod tests {
    use blstrs::Fp;
    use ff::Field;
    use group::{Curve, Group, prime::PrimeCurveAffine};
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn scalars_round_trip() {
        let mut rng = StdRng::seed_from_u64(2);
        for length in [0, 1, 2, 7] {
            let scalars: Vec<Scalar> = (0..length).map(|_| Scalar::random(&mut rng)).collect();
            let words = scalar_words(&scalars).to_vec();
            assert_eq!(words.len(), 8 * length);
            let mut back = vec![Scalar::ZERO; length];
            scalar_words_mut(&mut back).copy_from_slice(&words);
            assert_eq!(back, scalars);
            scalar_words_mut(&mut back).fill(0);
            assert_eq!(back, vec![Scalar::ZERO; length]);
        }
    }

    fn points_round_trip<P: AffinePoint>() {
        let mut rng = StdRng::seed_from_u64(3);
        for length in [0, 1, 2, 7] {
            let mut points: Vec<P> =
                (0..length).map(|_| P::Projective::random(&mut rng).to_affine()).collect();
            if let Some(first) = points.first_mut() {
                *first = P::identity();
            }
            let words = point_words(&points).to_vec();
            assert_eq!(4 * words.len(), P::GROUP.packed_bytes() * length);
            let mut back = vec![P::generator(); length];
            point_words_mut(&mut back).copy_from_slice(&words);
            assert_eq!(back, points);
        }
    }

    #[test]
    fn points_of_both_groups_round_trip() {
        points_round_trip::<G1Affine>();
        points_round_trip::<G2Affine>();
    }

    #[test]
    fn coordinates_come_x_then_y_and_c0_then_c1() {
        let residue = |words: &[u32]| {
            let limb = |i: usize| u64::from(words[2 * i]) | (u64::from(words[2 * i + 1]) << 32);
            Fp::from_raw_unchecked(std::array::from_fn(limb))
        };
        let g1 = G1Affine::generator();
        let words = point_words(slice::from_ref(&g1));
        assert_eq!([g1.x(), g1.y()], [residue(&words[..12]), residue(&words[12..])]);

        let g2 = G2Affine::generator();
        let words = point_words(slice::from_ref(&g2));
        let coordinates: Vec<Fp> = words.chunks_exact(12).map(residue).collect();
        assert_eq!(coordinates, [g2.x().c0(), g2.x().c1(), g2.y().c0(), g2.y().c1()]);
    }

    #[test]
    fn one_is_two_to_the_256_in_words() {
        // R mod r, by doubling: independent of how blst spells its constant.
        let r = crate::field::Modulus::FR.power_of_two(256);
        assert_eq!(scalar_words(&[Scalar::ONE]), r.limbs(32, 8));
    }
}
