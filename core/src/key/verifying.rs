//! The verifying key.

use std::io::Write;

use super::error::{KeyError, KeyOrigin, KeyPart};
use super::options::{Meter, ReadPhase};
use super::points::{Points, Run};
use super::reader::{self, Source as _, Stream};
use super::writer::Writer;
use crate::curve::{AffinePoint, G1Affine, G2Affine};

/// What a verifier needs to know of a circuit and its set-up (Groth, "On the Size of Pairing-based
/// Non-interactive Arguments", 2016, section 3.2; names as in bellman and bellperson).
///
/// Its bytes are those of bellperson's `VerifyingKey::write`: the six points in the order below, uncompressed,
/// then ic with a 32-bit big-endian count before it.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyingKey {
    /// \[α\] in G1.
    pub alpha_g1: G1Affine,
    /// \[β\] in G1.
    pub beta_g1: G1Affine,
    /// \[β\] in G2.
    pub beta_g2: G2Affine,
    /// \[γ\] in G2.
    pub gamma_g2: G2Affine,
    /// \[δ\] in G1.
    pub delta_g1: G1Affine,
    /// \[δ\] in G2.
    pub delta_g2: G2Affine,
    /// \[(β·u_i(τ) + α·v_i(τ) + w_i(τ)) / γ\] in G1 for every public input i, the constant one being input 0.
    pub ic: Vec<G1Affine>,
}

impl VerifyingKey {
    /// Reads a verifying key that fills `bytes`, and checks it in full: encodings, curve, subgroup, no
    /// infinity.
    ///
    /// # Errors
    /// `Empty`, `Truncated`, `ForgedCount`, `InvalidPoint`, and `TrailingBytes` if more bytes follow (see
    /// [`VerifyingKey::read_prefix`]).
    pub fn read(bytes: &[u8]) -> Result<Self, KeyError> {
        let (key, used) = Self::read_prefix(bytes)?;
        match bytes.len() - used {
            0 => Ok(key),
            extra => Err(KeyError::TrailingBytes {
                file: KeyOrigin::UNNAMED,
                offset: used as u64,
                extra: extra as u64,
            }),
        }
    }

    /// Reads the verifying key at the front of `bytes`, of a parameter file say, and gives the bytes that
    /// it takes. It is checked in full.
    ///
    /// # Errors
    /// `Empty`, `Truncated`, `ForgedCount`, `InvalidPoint`.
    pub fn read_prefix(bytes: &[u8]) -> Result<(Self, usize), KeyError> {
        let meter = Meter::new(None, ReadPhase::Reading, 0);
        let mut stream = Stream::new(bytes, KeyOrigin::UNNAMED, bytes.len() as u64, &meter);
        let key = reader::read_verifying_key(&mut stream)?;
        key.check_subgroup(&KeyOrigin::UNNAMED)?;
        Ok((key, stream.offset() as usize))
    }

    /// Writes the key, byte for byte as bellperson does.
    ///
    /// # Errors
    /// `Io`, `InvalidPoint` if a point is at infinity, `TooLarge`.
    pub fn write(&self, output: impl Write) -> Result<(), KeyError> {
        let mut writer = Writer::new(output);
        self.write_to(&mut writer)?;
        writer.finish()
    }

    pub(super) fn write_to(&self, writer: &mut Writer<impl Write>) -> Result<(), KeyError> {
        writer.point(KeyPart::AlphaG1, self.alpha_g1)?;
        writer.point(KeyPart::BetaG1, self.beta_g1)?;
        writer.point(KeyPart::BetaG2, self.beta_g2)?;
        writer.point(KeyPart::GammaG2, self.gamma_g2)?;
        writer.point(KeyPart::DeltaG1, self.delta_g1)?;
        writer.point(KeyPart::DeltaG2, self.delta_g2)?;
        writer.query(KeyPart::Ic, &Points::from(self.ic.clone()))
    }

    /// Bytes of the key in a file.
    pub(super) fn encoded_bytes(&self) -> u64 {
        3 * (96 + 192) + 4 + 96 * self.ic.len() as u64
    }

    /// Checks that every point lies in the subgroup; `file` is where the key was read from, at byte 0.
    pub(super) fn check_subgroup(&self, file: &KeyOrigin) -> Result<(), KeyError> {
        let mut checker = Checker { file, offset: 0, meter: Meter::new(None, ReadPhase::Checking, 0) };
        checker.next(KeyPart::AlphaG1, vec![self.alpha_g1])?;
        checker.next(KeyPart::BetaG1, vec![self.beta_g1])?;
        checker.next(KeyPart::BetaG2, vec![self.beta_g2])?;
        checker.next(KeyPart::GammaG2, vec![self.gamma_g2])?;
        checker.next(KeyPart::DeltaG1, vec![self.delta_g1])?;
        checker.next(KeyPart::DeltaG2, vec![self.delta_g2])?;
        checker.offset += 4;
        checker.next(KeyPart::Ic, self.ic.clone())
    }
}

/// Checks the parts of a file from front to back.
struct Checker<'a> {
    file: &'a KeyOrigin,
    offset: u64,
    meter: Meter<'a>,
}

impl Checker<'_> {
    fn next<P: AffinePoint>(&mut self, part: KeyPart, points: Vec<P>) -> Result<(), KeyError> {
        let run = Run { part, offset: self.offset };
        self.offset += (points.len() * P::ENCODED_BYTES) as u64;
        Points::from(points).check_subgroup(self.file, &run, &self.meter)
    }
}
