//! The proof, with the curve as a parameter.

use std::io::{self, Read, Write};

use bellwether_core::groth16::{self as core, PROOF_BYTES};

use super::Engine;

/// A Groth16 proof.
#[derive(Clone, Debug)]
pub struct Proof<E: Engine> {
    /// A in G1.
    pub a: E::G1Affine,
    /// B in G2.
    pub b: E::G2Affine,
    /// C in G1.
    pub c: E::G1Affine,
}

impl<E: Engine> Proof<E> {
    /// Writes the [`size`](Proof::size) bytes of the proof: a, b and c, compressed.
    ///
    /// # Errors
    /// Those of `writer`.
    pub fn write<W: Write>(&self, mut writer: W) -> io::Result<()> {
        writer.write_all(&core::Proof::from(self).to_bytes())
    }

    /// Reads a proof and nothing behind it.
    ///
    /// # Errors
    /// Those of `reader`; `InvalidData` around a [`ProofError`](core::ProofError) if a point is not encoded
    /// canonically, is not in its group or is at infinity.
    pub fn read<R: Read>(mut reader: R) -> io::Result<Self> {
        let mut bytes = [0; PROOF_BYTES];
        reader.read_exact(&mut bytes)?;
        Proof::from_bytes(&bytes)
    }

    /// Bytes of a proof.
    pub fn size() -> usize {
        PROOF_BYTES
    }

    /// Reads proofs that stand one behind the other.
    ///
    /// # Errors
    /// `InvalidData` if the bytes are not those of `num_proofs` proofs, or as [`read`](Proof::read).
    pub fn read_many(proof_bytes: &[u8], num_proofs: usize) -> io::Result<Vec<Self>> {
        if num_proofs.checked_mul(PROOF_BYTES) != Some(proof_bytes.len()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "{num_proofs} proofs have {PROOF_BYTES} bytes each, {} were given",
                    proof_bytes.len()
                ),
            ));
        }
        proof_bytes.chunks_exact(PROOF_BYTES).map(Proof::from_bytes).collect()
    }

    fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        match core::Proof::from_bytes(bytes) {
            Ok(proof) => Ok(proof.into()),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
}

impl<E: Engine> PartialEq for Proof<E> {
    fn eq(&self, other: &Self) -> bool {
        core::Proof::from(self) == core::Proof::from(other)
    }
}

impl<E: Engine> From<core::Proof> for Proof<E> {
    fn from(core::Proof { a, b, c }: core::Proof) -> Self {
        Proof { a, b, c }
    }
}

impl<E: Engine> From<&Proof<E>> for core::Proof {
    fn from(proof: &Proof<E>) -> Self {
        core::Proof { a: proof.a, b: proof.b, c: proof.c }
    }
}
