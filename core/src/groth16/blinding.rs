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
