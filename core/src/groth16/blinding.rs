//! The prover's blinding scalars.

use blstrs::Scalar;
use ff::Field;
use rand_core::{OsRng, RngCore};
use zeroize::Zeroize;

use super::ProveError;
use crate::secret::SecretVec;

/// The blinding scalars r and s, which make a proof reveal nothing but its statement.
///
/// Cleared when dropped; `Debug` shows neither.
pub struct Blinding(SecretVec<Scalar>);

impl Blinding {
    /// Fresh scalars from the operating system's generator.
    ///
    /// # Errors
    /// [`ProveError::Randomness`] if that generator fails.
    pub fn random() -> Result<Self, ProveError> {
        Ok(Blinding::new(random_scalar()?, random_scalar()?))
    }

    /// Scalars from a generator of the caller's, r first.
    pub fn from_rng(mut rng: impl RngCore) -> Self {
        let r = Scalar::random(&mut rng);
        Blinding::new(r, Scalar::random(&mut rng))
    }

    /// These scalars: for tests that compare proofs byte by byte, and for protocols that fix them.
    pub fn new(r: Scalar, s: Scalar) -> Self {
        Blinding(SecretVec::from(vec![r, s]))
    }

    /// No blinding: r = s = 0. The proof is valid but hides nothing.
    pub fn none() -> Self {
        Blinding::new(Scalar::ZERO, Scalar::ZERO)
    }

    pub(super) fn r(&self) -> &Scalar {
        &self.0[0]
    }

    pub(super) fn s(&self) -> &Scalar {
        &self.0[1]
    }
}

impl std::fmt::Debug for Blinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Blinding(..)")
    }
}

/// A uniform scalar from the operating system's generator: 255 random bits, again until they are below r.
pub(super) fn random_scalar() -> Result<Scalar, ProveError> {
    let mut bytes = [0u8; 32];
    loop {
        OsRng.try_fill_bytes(&mut bytes).map_err(|error| ProveError::Randomness(error.to_string()))?;
        bytes[31] &= 0x7f;
        let scalar: Option<Scalar> = Scalar::from_bytes_le(&bytes).into();
        bytes.zeroize();
        if let Some(scalar) = scalar {
            return Ok(scalar);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;

    /// 64 draws give 128 scalars, all distinct, in which every bit from 0 to 253 is once zero and once one.
    ///
    /// A false alarm has a probability below 2^-100. Let q > 1.811·2^254 be the order of the field. Counting from 0
    /// to q − 1, bit k runs through whole periods of 2^k zeros and 2^k ones and one period cut short, in which the
    /// zeros come first. Thus it is one with probability at most 1/2. It is zero with probability at most
    /// 1/2 + 2^k/(2q), which for k ≤ 251 is below 0.535; bits 252 and 253 are zero for exactly 2^254 numbers (four
    /// runs of 2^252, two of 2^253), with probability 2^254/q < 0.5522. So a given bit is zero in all 128 scalars
    /// with probability below 0.5522^128 < 2^-109, one in all with at most 2^-128; over 254 bits this is below
    /// 254·(2^-109 + 2^-128) < 2^-101. Two of the 128 are equal with probability below 2^13/q < 2^-241.
    #[test]
    fn random_scalars_are_distinct_and_use_every_bit() {
        let mut seen = HashSet::new();
        let (mut ones, mut zeros) = ([0u8; 32], [0u8; 32]);
        for _ in 0..64 {
            let blinding = Blinding::random().unwrap();
            for scalar in [blinding.r(), blinding.s()] {
                let bytes = scalar.to_bytes_le();
                assert!(seen.insert(bytes), "a scalar was drawn twice");
                for (i, byte) in bytes.into_iter().enumerate() {
                    ones[i] |= byte;
                    zeros[i] |= !byte;
                }
            }
        }
        assert_eq!(seen.len(), 128);
        for bit in 0..=253 {
            let is_set = |bytes: &[u8; 32]| bytes[bit / 8] >> (bit % 8) & 1 == 1;
            assert!(is_set(&ones), "bit {bit} is always zero");
            assert!(is_set(&zeros), "bit {bit} is always one");
        }
    }

    #[test]
    fn a_generator_gives_r_and_then_s() {
        let rng = || StdRng::seed_from_u64(20);
        let mut same = rng();
        let (first, second) = (Scalar::random(&mut same), Scalar::random(&mut same));
        assert_ne!(first, second);
        let blinding = Blinding::from_rng(rng());
        assert_eq!((blinding.r(), blinding.s()), (&first, &second));
        // The caller's generator stands behind the two.
        let mut lent = rng();
        Blinding::from_rng(&mut lent);
        assert_eq!(lent.next_u64(), same.next_u64());
    }
}
