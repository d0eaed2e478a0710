//! One point of a parameter file: zcash's uncompressed encoding, x then y, big-endian, in G2 c1 before c0.

use blstrs::Fp;
use ff::Field;
use rayon::prelude::*;

use super::error::PointFault;
use crate::curve::{AffinePoint, Group};

/// Points a task decodes or encodes before it looks for other work.
const TASK_POINTS: usize = 256;

/// A refused point: its index among those looked at, and why.
pub(super) type Refused = (usize, PointFault);

/// Decodes one point: a canonical encoding, on the curve, not at infinity; the subgroup is not looked at.
///
/// `bytes` has `P::ENCODED_BYTES` bytes. (0, ±2) in G1, of order 3, is refused as outside the subgroup all
/// the same, because blst does so.
pub(super) fn decode<P: AffinePoint>(bytes: &[u8]) -> Result<P, PointFault> {
    const INFINITY: u8 = 0x40;
    let mut encoding = P::Uncompressed::default();
    let copy = encoding.as_mut();
    if copy.len() != bytes.len() {
        return Err(PointFault::NotCanonical);
    }
    // Copied before it is looked at: a mapped file may be written to meanwhile.
    copy.copy_from_slice(bytes);
    // blst takes an encoding with the compressed flag for a compressed point and ignores its second half: two
    // files would mean the same key. So no flag reaches it.
    match copy.split_first() {
        Some((&first, _)) if first & 0xe0 == 0 => {}
        Some((&INFINITY, rest)) if rest.iter().all(|&byte| byte == 0) => return Err(PointFault::Infinity),
        _ => return Err(PointFault::NotCanonical),
    }
    // `blst_p{1,2}_deserialize` compares the coordinates with the modulus and checks the curve equation.
    Option::from(P::from_uncompressed_unchecked(&encoding))
        .ok_or_else(|| fault_of(P::GROUP, encoding.as_ref()))
}

/// Why blst refused an encoding without flags.
fn fault_of(group: Group, bytes: &[u8]) -> PointFault {
    let coordinates: Option<Vec<Fp>> =
        bytes.as_chunks::<48>().0.iter().map(|bytes| Fp::from_bytes_be(bytes).into()).collect();
    match (group, coordinates.as_deref()) {
        (_, None) => PointFault::NotCanonical,
        (Group::G1, Some([x, y])) if bool::from(x.is_zero()) && y.square() == Fp::from(4) => {
            PointFault::NotInSubgroup
        }
        _ => PointFault::NotOnCurve,
    }
}

/// Decodes as many points as `out` holds, in parallel; `bytes` holds exactly those.
///
/// # Errors
/// The first point that is refused; what `out` then holds is unspecified.
pub(super) fn decode_all<P: AffinePoint>(bytes: &[u8], out: &mut [P]) -> Result<(), Refused> {
    let refused = out
        .par_chunks_mut(TASK_POINTS)
        .zip(bytes.par_chunks(TASK_POINTS * P::ENCODED_BYTES))
        .enumerate()
        .find_map_first(|(task, (out, bytes))| {
            let encodings = bytes.chunks_exact(P::ENCODED_BYTES);
            out.iter_mut().zip(encodings).enumerate().find_map(|(index, (point, encoding))| {
                match decode(encoding) {
                    Ok(decoded) => {
                        *point = decoded;
                        None
                    }
                    Err(fault) => Some((task * TASK_POINTS + index, fault)),
                }
            })
        });
    refused.map_or(Ok(()), Err)
}

/// Encodes `points` into `out`, in parallel; `out` has `P::ENCODED_BYTES` bytes for each.
///
/// # Errors
/// The first point at infinity: no reader takes it.
pub(super) fn encode_all<P: AffinePoint>(points: &[P], out: &mut [u8]) -> Result<(), Refused> {
    let refused = points
        .par_chunks(TASK_POINTS)
        .zip(out.par_chunks_mut(TASK_POINTS * P::ENCODED_BYTES))
        .enumerate()
        .find_map_first(|(task, (points, out))| {
            let slots = out.chunks_exact_mut(P::ENCODED_BYTES);
            points.iter().zip(slots).enumerate().find_map(|(index, (point, slot))| {
                slot.copy_from_slice(point.to_uncompressed().as_ref());
                let infinity = bool::from(point.is_identity());
                infinity.then_some((task * TASK_POINTS + index, PointFault::Infinity))
            })
        });
    refused.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Affine, G2Affine};
    use group::prime::PrimeCurveAffine;

    use super::*;
    use crate::key::tests::{outside_subgroup_g1, outside_subgroup_g2};

    fn cases_of_both_groups<P: AffinePoint>(outside: P) {
        let point = P::generator();
        let good = point.to_uncompressed().as_ref().to_vec();
        let decode = |bytes: &[u8]| decode::<P>(bytes);
        assert_eq!(decode(&good), Ok(point));
        assert_eq!(decode(outside.to_uncompressed().as_ref()), Ok(outside));
        assert!(!outside.is_in_subgroup() && point.is_in_subgroup());

        let infinity = P::identity().to_uncompressed().as_ref().to_vec();
        assert_eq!(decode(&infinity), Err(PointFault::Infinity));
        assert_eq!(decode(&vec![0; good.len()]), Err(PointFault::NotOnCurve), "(0, 0) without the flag");
        for at in 1..infinity.len() {
            let mut bytes = infinity.clone();
            bytes[at] = 1;
            assert_eq!(decode(&bytes), Err(PointFault::NotCanonical), "infinity with byte {at} set");
        }
        for flags in [0x20, 0x40, 0x60, 0x80, 0xa0, 0xc0, 0xe0] {
            let mut bytes = good.clone();
            bytes[0] |= flags;
            assert_eq!(decode(&bytes), Err(PointFault::NotCanonical), "flags {flags:#x}");
        }

        // A compressed point, padded: blst alone accepts it.
        let mut bytes = point.to_bytes().as_ref().to_vec();
        bytes.resize(good.len(), 7);
        let mut encoding = P::Uncompressed::default();
        encoding.as_mut().copy_from_slice(&bytes);
        assert!(bool::from(P::from_uncompressed_unchecked(&encoding).is_some()));
        assert_eq!(decode(&bytes), Err(PointFault::NotCanonical));

        let last = good.len() - 1;
        let mut bytes = good.clone();
        bytes[last] ^= 1;
        assert_eq!(decode(&bytes), Err(PointFault::NotOnCurve));

        // The modulus itself, and the coordinate with the modulus added where that fits into 381 bits.
        let mut modulus = (-Fp::ONE).to_bytes_be();
        modulus[47] += 1;
        for coordinate in 0..good.len() / 48 {
            let mut bytes = good.clone();
            bytes[coordinate * 48..][..48].copy_from_slice(&modulus);
            assert_eq!(decode(&bytes), Err(PointFault::NotCanonical), "coordinate {coordinate} = p");
            let mut bytes = good.clone();
            bytes[coordinate * 48..][..48].fill(0xff);
            bytes[coordinate * 48] = 0x1f;
            assert_eq!(decode(&bytes), Err(PointFault::NotCanonical), "coordinate {coordinate} > p");
        }
        assert_eq!(decode(&good[1..]), Err(PointFault::NotCanonical));
        assert_eq!(decode(&[]), Err(PointFault::NotCanonical));
    }

    #[test]
    fn decodes_only_canonical_points_of_g1() {
        cases_of_both_groups::<G1Affine>(outside_subgroup_g1());
    }

    #[test]
    fn decodes_only_canonical_points_of_g2() {
        cases_of_both_groups::<G2Affine>(outside_subgroup_g2());
    }

    #[test]
    fn refuses_the_sum_of_a_coordinate_and_the_modulus() {
        // x + p stays below 2^381 for small x only: look for one with a point above it.
        let (x, y) = (1u64..)
            .map(Fp::from)
            .find_map(|x| Option::from((x.square() * x + Fp::from(4)).sqrt()).map(|y: Fp| (x, y)))
            .expect("half of all x have a y");
        let mut bytes = [x.to_bytes_be(), y.to_bytes_be()].concat();
        assert!(decode::<G1Affine>(&bytes).is_ok());
        let mut sum = [0; 48];
        let mut modulus = (-Fp::ONE).to_bytes_be();
        modulus[47] += 1;
        let mut carry = 0u16;
        for (at, slot) in sum.iter_mut().enumerate().rev() {
            let digit = u16::from(bytes[at]) + u16::from(modulus[at]) + carry;
            *slot = digit as u8;
            carry = digit >> 8;
        }
        bytes[..48].copy_from_slice(&sum);
        assert_eq!(decode::<G1Affine>(&bytes), Err(PointFault::NotCanonical));
    }

    #[test]
    fn the_points_of_order_three_are_called_outside_the_subgroup() {
        for y in [Fp::from(2), -Fp::from(2)] {
            let bytes = [[0; 48], y.to_bytes_be()].concat();
            assert_eq!(decode::<G1Affine>(&bytes), Err(PointFault::NotInSubgroup));
        }
    }

    #[test]
    fn the_first_refused_point_is_named() {
        let good = G1Affine::generator().to_uncompressed();
        let mut bytes = good.as_ref().repeat(1000);
        bytes[96 * 997 + 95] ^= 1;
        bytes[96 * 300 + 95] ^= 1;
        let mut out = vec![G1Affine::default(); 1000];
        assert_eq!(decode_all(&bytes, &mut out), Err((300, PointFault::NotOnCurve)));
    }
}
