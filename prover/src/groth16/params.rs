//! Proving and verifying keys, with the curve as a parameter.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use bellwether_core::key::{self, CheckPolicy, Checks, KeyError, Points, ProvingKey, ReadOptions};

use super::Engine;

/// Bytes of an encoded point of G1; one of G2 has twice as many.
const G1_BYTES: u64 = 96;

/// Bytes of the verifying key's points before ic.
const FIXED_BYTES: u64 = 9 * G1_BYTES;

/// What a verifier needs to know of a circuit and its set-up. Fields are those of
/// [`core::key::VerifyingKey`](key::VerifyingKey), into which it converts.
#[derive(Clone, Debug)]
pub struct VerifyingKey<E: Engine> {
    /// \[α\] in G1.
    pub alpha_g1: E::G1Affine,
    /// \[β\] in G1.
    pub beta_g1: E::G1Affine,
    /// \[β\] in G2.
    pub beta_g2: E::G2Affine,
    /// \[γ\] in G2.
    pub gamma_g2: E::G2Affine,
    /// \[δ\] in G1.
    pub delta_g1: E::G1Affine,
    /// \[δ\] in G2.
    pub delta_g2: E::G2Affine,
    /// One point a public input, the constant one being input 0.
    pub ic: Vec<E::G1Affine>,
}

impl<E: Engine> VerifyingKey<E> {
    /// Writes the key as bellperson does.
    ///
    /// # Errors
    /// Those of `writer`, and `InvalidData` if a point is at infinity.
    pub fn write<W: Write>(&self, writer: W) -> io::Result<()> {
        key::VerifyingKey::from(self).write(writer).map_err(to_io)
    }

    /// Reads a key and nothing behind it; it is checked in full.
    ///
    /// # Errors
    /// Those of `reader`, and `InvalidData` around a [`KeyError`] that says which byte is at fault.
    pub fn read<R: Read>(mut reader: R) -> io::Result<Self> {
        let mut bytes = Vec::new();
        read_verifying_key(&mut reader, &mut bytes)?;
        Ok(key::VerifyingKey::read(&bytes).map_err(to_io)?.into())
    }
}

impl<E: Engine> PartialEq for VerifyingKey<E> {
    fn eq(&self, other: &Self) -> bool {
        key::VerifyingKey::from(self) == key::VerifyingKey::from(other)
    }
}

impl<E: Engine> From<key::VerifyingKey> for VerifyingKey<E> {
    fn from(vk: key::VerifyingKey) -> Self {
        VerifyingKey {
            alpha_g1: vk.alpha_g1,
            beta_g1: vk.beta_g1,
            beta_g2: vk.beta_g2,
            gamma_g2: vk.gamma_g2,
            delta_g1: vk.delta_g1,
            delta_g2: vk.delta_g2,
            ic: vk.ic,
        }
    }
}

impl<E: Engine> From<&VerifyingKey<E>> for key::VerifyingKey {
    fn from(vk: &VerifyingKey<E>) -> Self {
        key::VerifyingKey {
            alpha_g1: vk.alpha_g1,
            beta_g1: vk.beta_g1,
            beta_g2: vk.beta_g2,
            gamma_g2: vk.gamma_g2,
            delta_g1: vk.delta_g1,
            delta_g2: vk.delta_g2,
            ic: vk.ic.clone(),
        }
    }
}

/// What a prover needs: the verifying key and the queries, which are those of
/// [`core::key::ProvingKey`](ProvingKey). Cloning is cheap but for `vk.ic`.
#[derive(Clone, Debug)]
pub struct Parameters<E: Engine> {
    /// The verifying key.
    pub vk: VerifyingKey<E>,
    /// \[τ^i·Z(τ)/δ\] for i = 0..n−2.
    pub h: Points<E::G1Affine>,
    /// \[(β·u_i(τ) + α·v_i(τ) + w_i(τ)) / δ\] for every auxiliary variable i.
    pub l: Points<E::G1Affine>,
    /// \[u_i(τ)\] in G1, without those at infinity.
    pub a: Points<E::G1Affine>,
    /// \[v_i(τ)\] in G1, without those at infinity.
    pub b_g1: Points<E::G1Affine>,
    /// \[v_i(τ)\] in G2, without those at infinity.
    pub b_g2: Points<E::G2Affine>,
}

/// Parameters whose points stay in a mapped file. The same type: [`Points`] lie in memory or in a file.
pub type MappedParameters<E> = Parameters<E>;

impl<E: Engine> Parameters<E> {
    /// Writes the parameters as bellperson does.
    ///
    /// # Errors
    /// Those of `writer`, `InvalidData` if a point is at infinity, and for mapped parameters the reader's.
    pub fn write<W: Write>(&self, writer: W) -> io::Result<()> {
        ProvingKey::from(self).write(writer).map_err(to_io)
    }

    /// Reads parameters and nothing behind them. Every point is checked to be on its curve and not at
    /// infinity, and if `checked` to be in the subgroup; the verifying key is checked in full either way.
    ///
    /// The bytes are held beside the points until all are decoded: for files of gigabytes use
    /// [`build_mapped_parameters`](Parameters::build_mapped_parameters) or [`ProvingKey::read`].
    ///
    /// # Errors
    /// Those of `reader`, and `InvalidData` around a [`KeyError`] that says which byte is at fault.
    pub fn read<R: Read>(mut reader: R, checked: bool) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let mut whole = read_verifying_key(&mut reader, &mut bytes)?;
        for point_bytes in [G1_BYTES, G1_BYTES, G1_BYTES, G1_BYTES, 2 * G1_BYTES] {
            whole = whole && read_query(&mut reader, &mut bytes, point_bytes)?;
        }
        let checks = match checked {
            true => Checks::Full,
            false => Checks::CurveOnly,
        };
        Ok(ProvingKey::from_bytes(&bytes, checks).map_err(to_io)?.into())
    }

    /// Maps a parameter file; see [`ProvingKey::map`]. If `checked`, the subgroup is checked whatever the
    /// file's digest.
    ///
    /// # Errors
    /// Those of [`ProvingKey::map`], as `InvalidData` around the [`KeyError`] or the error of the file
    /// system.
    pub fn build_mapped_parameters(
        param_file_path: PathBuf,
        checked: bool,
    ) -> io::Result<MappedParameters<E>> {
        let checks = match checked {
            true => CheckPolicy::Always,
            false => CheckPolicy::Never,
        };
        let options = ReadOptions { checks, ..ReadOptions::default() };
        Ok(ProvingKey::map(param_file_path, &options).map_err(to_io)?.into())
    }
}

impl<E: Engine> PartialEq for Parameters<E> {
    /// Compares the points, which decodes those that are mapped; ones that cannot be read equal none.
    fn eq(&self, other: &Self) -> bool {
        fn same<P: bellwether_core::curve::AffinePoint>(first: &Points<P>, second: &Points<P>) -> bool {
            if first.len() != second.len() {
                return false;
            }
            let points = (first.to_shared(), second.to_shared());
            matches!(points, (Ok(first), Ok(second)) if first == second)
        }
        self.vk == other.vk
            && same(&self.h, &other.h)
            && same(&self.l, &other.l)
            && same(&self.a, &other.a)
            && same(&self.b_g1, &other.b_g1)
            && same(&self.b_g2, &other.b_g2)
    }
}

impl<E: Engine> From<ProvingKey> for Parameters<E> {
    fn from(key: ProvingKey) -> Self {
        Parameters { vk: key.vk.into(), h: key.h, l: key.l, a: key.a, b_g1: key.b_g1, b_g2: key.b_g2 }
    }
}

impl<E: Engine> From<&Parameters<E>> for ProvingKey {
    /// Shares the points. The digest is that of a key that was made: none.
    fn from(params: &Parameters<E>) -> Self {
        ProvingKey::new(
            (&params.vk).into(),
            params.h.clone(),
            params.l.clone(),
            params.a.clone(),
            params.b_g1.clone(),
            params.b_g2.clone(),
        )
    }
}

/// Where a proving function takes its key from.
pub trait ParameterSource<E: Engine>: Send + Sync {
    /// The key, which shares its points with the source.
    fn proving_key(&self) -> ProvingKey;
}

impl<E: Engine> ParameterSource<E> for &Parameters<E> {
    fn proving_key(&self) -> ProvingKey {
        ProvingKey::from(*self)
    }
}

impl<E: Engine> ParameterSource<E> for &ProvingKey {
    fn proving_key(&self) -> ProvingKey {
        ProvingKey::clone(self)
    }
}

/// Appends a verifying key to `bytes`; whether it is there in whole. What is missing is found, and named,
/// when the bytes are decoded.
fn read_verifying_key(reader: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<bool> {
    Ok(read_bytes(reader, bytes, FIXED_BYTES)? && read_query(reader, bytes, G1_BYTES)?)
}

/// Appends a count and its points. Memory grows with what the reader gives, not with what the count says.
fn read_query(reader: &mut impl Read, bytes: &mut Vec<u8>, point_bytes: u64) -> io::Result<bool> {
    if !read_bytes(reader, bytes, 4)? {
        return Ok(false);
    }
    let Some(count) = bytes.last_chunk::<4>() else {
        return Ok(false);
    };
    let count = u64::from(u32::from_be_bytes(*count));
    read_bytes(reader, bytes, count * point_bytes)
}

fn read_bytes(reader: &mut impl Read, bytes: &mut Vec<u8>, count: u64) -> io::Result<bool> {
    Ok(reader.take(count).read_to_end(bytes)? as u64 == count)
}

fn to_io(error: KeyError) -> io::Error {
    match error {
        KeyError::Io { .. } => io::Error::other(error),
        _ => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}
