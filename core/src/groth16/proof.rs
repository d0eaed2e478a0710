//! The proof.

use group::prime::PrimeCurveAffine;

use crate::curve::{G1Affine, G2Affine};

/// Bytes of a proof: three compressed points.
pub const PROOF_BYTES: usize = 192;

/// A Groth16 proof, in the encoding of bellman, bellperson and Zcash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// A in G1.
    pub a: G1Affine,
    /// B in G2.
    pub b: G2Affine,
    /// C in G1.
    pub c: G1Affine,
}

/// Bytes that are no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// There are too few or too many bytes.
    #[error("a proof has {PROOF_BYTES} bytes, not {0}")]
    Length(usize),
    /// A point is not encoded canonically, or not on the curve, or not in the subgroup, or at infinity.
    #[error("point {point} at offset {offset} of the proof is not a point of its group other than infinity")]
    Point {
        /// "a", "b" or "c".
        point: &'static str,
        /// Where it begins.
        offset: usize,
    },
}

impl Proof {
    /// a, b and c, compressed.
    pub fn to_bytes(&self) -> [u8; PROOF_BYTES] {
        let mut bytes = [0; PROOF_BYTES];
        bytes[..48].copy_from_slice(&self.a.to_compressed());
        bytes[48..144].copy_from_slice(&self.b.to_compressed());
        bytes[144..].copy_from_slice(&self.c.to_compressed());
        bytes
    }

    /// Reads a proof; every point is checked to be a canonical encoding of a point of its group and not
    /// infinity, as bellperson does.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProofError> {
        let bytes: &[u8; PROOF_BYTES] = bytes.try_into().map_err(|_| ProofError::Length(bytes.len()))?;
        let g1 = |point, offset: usize| {
            let mut encoded = [0; 48];
            encoded.copy_from_slice(&bytes[offset..offset + 48]);
            not_infinity(G1Affine::from_compressed(&encoded).into(), point, offset)
        };
        let mut encoded = [0; 96];
        encoded.copy_from_slice(&bytes[48..144]);
        let b = not_infinity(G2Affine::from_compressed(&encoded).into(), "b", 48)?;
        Ok(Proof { a: g1("a", 0)?, b, c: g1("c", 144)? })
    }
}

fn not_infinity<P: PrimeCurveAffine>(
    decoded: Option<P>,
    point: &'static str,
    offset: usize,
) -> Result<P, ProofError> {
    decoded.filter(|decoded| !bool::from(decoded.is_identity())).ok_or(ProofError::Point { point, offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use blstrs::{G1Projective, G2Projective};
    use group::{Curve, Group};
    use rand::{SeedableRng, rngs::StdRng};

    fn random() -> Proof {
        let mut rng = StdRng::seed_from_u64(9);
        Proof {
            a: G1Projective::random(&mut rng).to_affine(),
            b: G2Projective::random(&mut rng).to_affine(),
            c: G1Projective::random(&mut rng).to_affine(),
        }
    }

    #[test]
    fn round_trip() {
        assert_eq!(Proof::from_bytes(&random().to_bytes()), Ok(random()));
    }

    #[test]
    fn every_length_but_one_is_refused() {
        let mut bytes = random().to_bytes().to_vec();
        bytes.push(0);
        for len in (0..PROOF_BYTES).chain([PROOF_BYTES + 1]) {
            assert_eq!(Proof::from_bytes(&bytes[..len]), Err(ProofError::Length(len)));
        }
    }

    #[test]
    fn every_altered_byte_is_another_proof_or_an_error_that_names_its_point() {
        for offset in 0..PROOF_BYTES {
            for bit in 0..8 {
                let mut bytes = random().to_bytes();
                bytes[offset] ^= 1 << bit;
                match Proof::from_bytes(&bytes) {
                    Ok(proof) => assert_ne!(proof, random()),
                    Err(ProofError::Point { offset: start, .. }) => {
                        assert!(start <= offset && offset < start + 96)
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }

    #[test]
    fn infinity_is_refused() {
        let proof = Proof { c: G1Affine::identity(), ..random() };
        assert_eq!(Proof::from_bytes(&proof.to_bytes()), Err(ProofError::Point { point: "c", offset: 144 }));
    }
}
