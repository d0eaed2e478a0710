//! The packed form: the one layout in which scalars and points go to a device and come back.
//!
//! - A scalar is [`FR_WORDS`] = 8 little-endian 32-bit words of its Montgomery residue x·2^256 mod r.
//! - A coordinate in Fp is [`FP_WORDS`] = 12 words of x·2^384 mod p; in Fp2, c0 then c1.
//! - An affine point is x then y: 24 words in G1, 48 in G2. The point at infinity is all zeros.
//!
//! That is how blstrs holds them in memory, so packing is borrowing ([`scalar_words`], [`point_words`]). What
//! comes back from a device is checked before it counts as a value ([`unpack_scalars`], [`unpack_points`]).

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::{AffinePoint, Group};
use crate::fenced::slices;
use crate::field::{Modulus, batch_invert};

/// 32-bit words of a packed scalar.
pub const FR_WORDS: usize = 8;

/// 32-bit words of a packed residue of Fp. A point of G1 has two of them, a point of G2 four.
pub const FP_WORDS: usize = 12;

/// The packed form of `scalars`: [`FR_WORDS`] words each.
pub fn scalar_words(scalars: &[Scalar]) -> &[u32] {
    slices::scalar_words(scalars)
}

/// The packed form of `points`: 24 words each in G1, 48 in G2.
pub fn point_words<P: AffinePoint>(points: &[P]) -> &[u32] {
    slices::point_words(points)
}

/// The scalars of which `words` is the packed form.
///
/// # Errors
///
/// [`NotCanonical`] when `words` ends within a scalar, or for the first residue that is not below r.
pub fn unpack_scalars(words: &[u32]) -> Result<Vec<Scalar>, NotCanonical> {
    let count = element_count(words, FR_WORDS)?;
    let modulus = modulus_words::<FR_WORDS>(&Modulus::FR);
    check_residues(words, FR_WORDS, &modulus, &Modulus::FR)?;
    let mut scalars = vec![Scalar::ZERO; count];
    slices::scalar_words_mut(&mut scalars).copy_from_slice(words);
    Ok(scalars)
}

/// The points of which `words` is the packed form. They are on the curve, but not known to be in the subgroup
/// of order r: see [`AffinePoint::is_in_subgroup`].
///
/// # Errors
///
/// [`NotCanonical`] when `words` ends within a point, for the first point with a residue that is not below p,
/// or else for the first one that is neither on the curve nor the pair (0, 0).
pub fn unpack_points<P: AffinePoint>(words: &[u32]) -> Result<Vec<P>, NotCanonical> {
    let stride = P::GROUP.packed_bytes() / 4;
    let count = element_count(words, stride)?;
    let modulus = modulus_words::<FP_WORDS>(&Modulus::FP);
    check_residues(words, stride, &modulus, &Modulus::FP)?;
    let mut points = vec![P::identity(); count];
    slices::point_words_mut(&mut points).copy_from_slice(words);

    let b = curve_constant::<P>();
    match points.par_iter().position_first(|point| !is_on_curve(point, &b)) {
        Some(index) => Err(NotCanonical::OffCurve { index, group: P::GROUP }),
        None => Ok(points),
    }
}

/// The sums of which `words` is the packed form: coordinates X, Y, ZZ, ZZZ for the point (X/ZZ, Y/ZZZ), with zeros in
/// ZZ and ZZZ for the point at infinity. What is checked is that the points are on the curve.
///
/// # Errors
///
/// [`NotCanonical`] when `words` ends within a sum, for the first residue that is not below p, or else for the first sum
/// that is no point of the curve.
pub fn unpack_sums<P: AffinePoint>(words: &[u32]) -> Result<Vec<P>, NotCanonical> {
    let stride = P::GROUP.packed_bytes() / 2;
    let count = element_count(words, stride)?;
    let modulus = modulus_words::<FP_WORDS>(&Modulus::FP);
    check_residues(words, stride, &modulus, &Modulus::FP)?;
    // Numerators and denominators, each a pair of coordinates, which need not be on the curve.
    let mut pairs = vec![P::identity(); 2 * count];
    slices::point_words_mut(&mut pairs).copy_from_slice(words);
    let (mut denominators, numerators): (Vec<_>, Vec<_>) =
        pairs.chunks_exact(2).map(|sum| (sum[1].coordinates(), sum[0].coordinates())).unzip();
    let mut flat: Vec<P::Coordinate> = denominators.iter().flat_map(|&(zz, zzz)| [zz, zzz]).collect();
    batch_invert(&mut flat, &mut Vec::new());
    for (denominator, inverses) in denominators.iter_mut().zip(flat.chunks_exact(2)) {
        *denominator = (inverses[0], inverses[1]);
    }
    let b = curve_constant::<P>();
    let sums = numerators.iter().zip(&denominators).map(|(&(x, y), &(zz, zzz))| {
        // An inverse is zero for zero only.
        if zz.is_zero_vartime() { P::identity() } else { P::from_coordinates(x * zz, y * zzz) }
    });
    let sums: Vec<P> = sums.collect();
    match sums.iter().position(|sum| !is_on_curve(sum, &b)) {
        Some(index) => Err(NotCanonical::OffCurve { index, group: P::GROUP }),
        None => Ok(sums),
    }
}

/// How many elements of `stride` words `words` holds.
fn element_count(words: &[u32], stride: usize) -> Result<usize, NotCanonical> {
    if words.len().is_multiple_of(stride) {
        Ok(words.len() / stride)
    } else {
        Err(NotCanonical::Length { words: words.len(), stride })
    }
}

/// Checks that every residue, of `N` words, is below the modulus. An element is `stride` words.
fn check_residues<const N: usize>(
    words: &[u32],
    stride: usize,
    modulus_words: &[u32; N],
    modulus: &Modulus,
) -> Result<(), NotCanonical> {
    let below = |residue: &[u32]| residue.iter().rev().lt(modulus_words.iter().rev());
    match words.par_chunks_exact(N).position_first(|residue| !below(residue)) {
        Some(residue) => Err(NotCanonical::Residue { index: residue / (stride / N), field: modulus.name() }),
        None => Ok(()),
    }
}

/// The modulus in words, least significant first.
fn modulus_words<const N: usize>(modulus: &Modulus) -> [u32; N] {
    std::array::from_fn(|i| modulus.value().limb(i, 32))
}

/// The b of the curve y² = x³ + b, which the generator lies on.
fn curve_constant<P: AffinePoint>() -> P::Coordinate {
    let (x, y) = P::generator().coordinates();
    y.square() - x.square() * x
}

/// Whether the point satisfies y² = x³ + `b`, or is (0, 0).
fn is_on_curve<P: AffinePoint>(point: &P, b: &P::Coordinate) -> bool {
    let (x, y) = point.coordinates();
    y.square() == x.square() * x + b || (x.is_zero_vartime() && y.is_zero_vartime())
}

/// Words that are not the packed form of anything: a device fault, or a foreign layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    /// The words end within an element.
    #[error("{words} words are not a multiple of the {stride} words of an element")]
    Length {
        /// Words given.
        words: usize,
        /// Words of an element.
        stride: usize,
    },
    /// A residue that is not below the modulus.
    #[error("element {index} has a residue that is not below the modulus of {field}")]
    Residue {
        /// Which element (scalar or point), counted from 0.
        index: usize,
        /// `Fr` or `Fp`.
        field: &'static str,
    },
    /// Coordinates that do not satisfy the curve equation and are not both zero.
    #[error("point {index} is not on the curve of {group}")]
    OffCurve {
        /// Which point, counted from 0.
        index: usize,
        /// The group it should belong to.
        group: Group,
    },
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Affine, G2Affine};
    use group::{Curve, Group as _};
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    fn random_points<P: AffinePoint>(count: usize) -> Vec<P> {
        let mut rng = StdRng::seed_from_u64(count as u64);
        (0..count).map(|_| P::Projective::random(&mut rng).to_affine()).collect()
    }

    #[test]
    fn word_counts_follow_from_the_moduli() {
        assert_eq!((FR_WORDS, FP_WORDS), (Modulus::FR.packed_words(), Modulus::FP.packed_words()));
    }

    #[test]
    fn scalars_come_back() {
        let scalars = [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(7)];
        assert_eq!(unpack_scalars(scalar_words(&scalars)).unwrap(), scalars);
        assert_eq!(unpack_scalars(&[]), Ok(vec![]));
    }

    #[test]
    fn residues_from_r_on_are_refused() {
        let mut words = scalar_words(&[Scalar::ONE; 4]).to_vec();
        let modulus = modulus_words::<8>(&Modulus::FR);
        words[16..24].copy_from_slice(&modulus);
        let refused = Err(NotCanonical::Residue { index: 2, field: "Fr" });
        assert_eq!(unpack_scalars(&words), refused);
        // r − 1 is the largest residue there is.
        words[16] -= 1;
        assert!(unpack_scalars(&words).is_ok());
        words[16..24].fill(u32::MAX);
        assert_eq!(unpack_scalars(&words), refused);
    }

    #[test]
    fn wrong_lengths_are_refused() {
        for words in [1, 7, 9, 47, 49] {
            let zeros = vec![0; words];
            let length = |stride| NotCanonical::Length { words, stride };
            assert_eq!(unpack_scalars(&zeros), Err(length(8)));
            assert_eq!(unpack_points::<G1Affine>(&zeros), Err(length(24)));
            assert_eq!(unpack_points::<G2Affine>(&zeros), Err(length(48)));
        }
    }

    fn check_points<P: AffinePoint>() {
        let stride = P::GROUP.packed_bytes() / 4;
        let mut points = random_points::<P>(5);
        points[1] = P::identity();
        let words = point_words(&points).to_vec();
        assert!(words[stride..2 * stride].iter().all(|&word| word == 0));
        assert_eq!(unpack_points::<P>(&words).unwrap(), points);
        assert_eq!(unpack_points::<P>(&[]), Ok(vec![]));

        // Every residue of point 3 in turn, set to p.
        for residue in (3 * stride..4 * stride).step_by(FP_WORDS) {
            let mut words = words.clone();
            words[residue..residue + FP_WORDS].copy_from_slice(&modulus_words::<12>(&Modulus::FP));
            let refused = NotCanonical::Residue { index: 3, field: "Fp" };
            assert_eq!(unpack_points::<P>(&words), Err(refused));
        }

        // Half an infinity, and swapped coordinates.
        let off_curve = |index| Err(NotCanonical::OffCurve { index, group: P::GROUP });
        let mut half = words.clone();
        half[2 * stride..2 * stride + stride / 2].fill(0);
        assert_eq!(unpack_points::<P>(&half), off_curve(2));
        let mut swapped = words;
        swapped[..stride].rotate_left(stride / 2);
        assert_eq!(unpack_points::<P>(&swapped), off_curve(0));
    }

    #[test]
    fn points_come_back_only_when_on_the_curve() {
        check_points::<G1Affine>();
        check_points::<G2Affine>();
    }

    fn check_sums<P: AffinePoint>() {
        let mut rng = StdRng::seed_from_u64(9);
        let stride = P::GROUP.packed_bytes() / 2;
        let points = random_points::<P>(3);
        let mut pairs = Vec::new();
        for point in &points {
            let z = P::Coordinate::random(&mut rng);
            let (x, y) = point.coordinates();
            let (zz, zzz) = (z.square(), z.square() * z);
            pairs.extend([P::from_coordinates(x * zz, y * zzz), P::from_coordinates(zz, zzz)]);
        }
        // Infinity, whatever its numerators.
        pairs.extend([points[0], P::identity()]);
        let words = point_words(&pairs).to_vec();
        let expected: Vec<P> = points.iter().copied().chain([P::identity()]).collect();
        assert_eq!(unpack_sums::<P>(&words).unwrap(), expected);
        assert_eq!(unpack_sums::<P>(&[]), Ok(vec![]));
        assert_eq!(
            unpack_sums::<P>(&words[1..]),
            Err(NotCanonical::Length { words: words.len() - 1, stride })
        );
        // A Y of zero belongs to no point.
        let mut off = words.clone();
        off[stride + stride / 4..stride + stride / 2].fill(0);
        assert_eq!(unpack_sums::<P>(&off), Err(NotCanonical::OffCurve { index: 1, group: P::GROUP }));
        let mut large = words;
        large[2 * stride + FP_WORDS - 1] = u32::MAX;
        assert_eq!(unpack_sums::<P>(&large), Err(NotCanonical::Residue { index: 2, field: "Fp" }));
    }

    #[test]
    fn sums_come_back_as_points() {
        check_sums::<G1Affine>();
        check_sums::<G2Affine>();
    }

    #[test]
    fn curve_constants() {
        use blstrs::{Fp, Fp2};
        assert_eq!(curve_constant::<G1Affine>(), Fp::from(4));
        assert_eq!(curve_constant::<G2Affine>(), Fp2::new(Fp::from(4), Fp::from(4)));
    }

    proptest! {
        /// Whatever comes from a device is a canonical value or an error, and unpacking undoes packing.
        #[test]
        fn any_words(words in prop::collection::vec(any::<u32>(), 0..100)) {
            if let Ok(scalars) = unpack_scalars(&words) {
                prop_assert_eq!(scalar_words(&scalars), &words);
            }
            let _ = unpack_points::<G1Affine>(&words);
            let _ = unpack_points::<G2Affine>(&words);
        }
    }
}
