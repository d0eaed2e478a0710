//! Proving and verifying keys, in bellman's and bellperson's parameter file format.
//!
//! A parameter file is the [`VerifyingKey`], then the queries h, l, a, b_g1 and b_g2, each a 32-bit big-endian
//! count and zcash's uncompressed points. Bytes behind them are allowed and counted: Sapling's files carry the
//! transcript of their ceremony there.
//!
//! [`ProvingKey::read`] decodes a file into memory, [`ProvingKey::map`] leaves the points in the file and
//! decodes them whenever they are asked for. Both refuse a malformed file with a [`KeyError`] that names the
//! file and the byte; a count is compared with what is left of the file before memory is allocated for it.
//!
//! # What is checked
//! Every point that enters the program is canonically encoded, on its curve and not at infinity. Membership in
//! the subgroup takes thirty times longer than decoding and is left out for files with a trusted digest
//! ([`CheckPolicy`]). The verifying key is always checked in full. That the queries belong to the
//! verifying key, or to a circuit, cannot be seen from the points: a wrong key shows when a proof is verified.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use crate::curve::{AffinePoint, G1Affine, G2Affine};

mod digest;
mod encoding;
mod error;
mod mapped;
mod options;
mod points;
mod reader;
mod subgroup;
mod summary;
mod verifying;
mod writer;

#[cfg(test)]
mod tests;

pub use digest::{ParameterDigest, ParseDigestError};
pub use error::{KeyError, KeyOrigin, KeyPart, PointFault};
pub use options::{CheckPolicy, Checks, Progress, ProgressFn, ReadOptions, ReadPhase};
pub use points::Points;
pub use summary::{ParameterSummary, inspect};
pub use verifying::VerifyingKey;

use mapped::MappedFile;
use options::Meter;
use points::Run;
use reader::{Located, Queries, Stream, open_file};
use writer::Writer;

/// What a prover needs: the verifying key and the five queries. Cloning is cheap but for `vk.ic`.
///
/// τ is the point where set-up evaluates the circuit's polynomials, n the size of the evaluation domain, Z its
/// vanishing polynomial; a, b_g1 and b_g2 leave out the variables whose polynomial is zero, public inputs first.
#[derive(Clone, Debug)]
pub struct ProvingKey {
    /// The verifying key.
    pub vk: VerifyingKey,
    /// \[τ^i·Z(τ)/δ\] for i = 0..n−2.
    pub h: Points<G1Affine>,
    /// \[(β·u_i(τ) + α·v_i(τ) + w_i(τ)) / δ\] for every auxiliary variable i.
    pub l: Points<G1Affine>,
    /// \[u_i(τ)\] in G1.
    pub a: Points<G1Affine>,
    /// \[v_i(τ)\] in G1.
    pub b_g1: Points<G1Affine>,
    /// \[v_i(τ)\] in G2.
    pub b_g2: Points<G2Affine>,
    trailing_bytes: u64,
    digest: Option<ParameterDigest>,
}

impl ProvingKey {
    /// A key from its parts, as set-up makes them. It has no digest.
    pub fn new(
        vk: VerifyingKey,
        h: impl Into<Points<G1Affine>>,
        l: impl Into<Points<G1Affine>>,
        a: impl Into<Points<G1Affine>>,
        b_g1: impl Into<Points<G1Affine>>,
        b_g2: impl Into<Points<G2Affine>>,
    ) -> Self {
        let (h, l, a, b_g1, b_g2) = (h.into(), l.into(), a.into(), b_g1.into(), b_g2.into());
        Self { vk, h, l, a, b_g1, b_g2, trailing_bytes: 0, digest: None }
    }

    /// Reads the bytes of a parameter file into memory.
    ///
    /// # Errors
    /// `Empty`, `Truncated`, `ForgedCount`, `InvalidPoint`, `OutOfMemory`; none names a file.
    pub fn from_bytes(bytes: &[u8], checks: Checks) -> Result<Self, KeyError> {
        let policy = match checks {
            Checks::Full => CheckPolicy::Always,
            Checks::CurveOnly => CheckPolicy::Never,
        };
        let options = ReadOptions { checks: policy, ..ReadOptions::default() };
        Self::read_stream(bytes, KeyOrigin::UNNAMED, bytes.len() as u64, &options)
    }

    /// Reads a parameter file into memory, in one pass and without mapping it.
    ///
    /// # Errors
    /// `Io`, `Empty`, `Truncated`, `ForgedCount`, `InvalidPoint`, `OutOfMemory`, and `Changed` if the file
    /// changes its size meanwhile.
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions<'_>) -> Result<Self, KeyError> {
        let path = path.as_ref();
        let (file, len) = open_file(path)?;
        Self::read_stream(file, path.into(), len, options)
    }

    /// Maps a parameter file: its digest is computed and, unless it is trusted, its points are checked, but
    /// they stay in the file and are decoded, and checked but for the subgroup, whenever they are asked for.
    /// Of a trusted file, or with [`CheckPolicy::Never`], no query is decoded yet.
    ///
    /// A file that changes its size while mapped gives `Changed` at the next use. What cannot be excluded:
    /// a file shortened within the milliseconds between that check and the decoding of a block ends
    /// the process (SIGBUS), and one overwritten in place with other points of the curve is noticed only by
    /// the verification of the proof. Keep others from writing to parameter files.
    ///
    /// # Errors
    /// `Io`, `Empty`, `Truncated`, `ForgedCount`, `InvalidPoint`, `Changed`.
    pub fn map(path: impl AsRef<Path>, options: &ReadOptions<'_>) -> Result<Self, KeyError> {
        Self::map_with_digest(path.as_ref(), options).map(|(key, _)| key)
    }

    fn map_with_digest(path: &Path, options: &ReadOptions<'_>) -> Result<(Self, ParameterDigest), KeyError> {
        let file = Arc::new(MappedFile::open(path)?);
        let mut source = Located::new(Arc::clone(&file));
        // The structure first: a file that is no parameter file is refused before it is hashed.
        let vk = reader::read_verifying_key(&mut source)?;
        vk.check_subgroup(file.origin())?;
        let queries = reader::read_queries(&mut source)?;
        let trailing_bytes = reader::Source::remaining(&source);
        let digest = reader::digest_of(&file, &Meter::new(options.progress, ReadPhase::Reading, file.len()))?;
        let key = Self::assemble(vk, queries, trailing_bytes, digest);
        key.check(file.origin(), options.checks_for(&digest), options.progress)?;
        Ok((key, digest))
    }

    /// Writes the key, byte for byte as bellperson's `Parameters::write` does: without the bytes that followed
    /// it in the file it came from. Writes are some megabytes each; a buffer brings nothing.
    ///
    /// # Errors
    /// `Io` from `output`, `InvalidPoint` if a point is at infinity, `TooLarge`, and for a mapped key those
    /// of [`Points::read`].
    pub fn write(&self, output: impl Write) -> Result<(), KeyError> {
        let mut writer = Writer::new(output);
        self.vk.write_to(&mut writer)?;
        writer.query(KeyPart::H, &self.h)?;
        writer.query(KeyPart::L, &self.l)?;
        writer.query(KeyPart::A, &self.a)?;
        writer.query(KeyPart::BG1, &self.b_g1)?;
        writer.query(KeyPart::BG2, &self.b_g2)?;
        writer.finish()
    }

    /// The digest of the file or the bytes that the key was read from, trailing bytes included; `None` for a
    /// key that was made.
    pub fn digest(&self) -> Option<ParameterDigest> {
        self.digest
    }

    /// Bytes that followed the key in its file and mean nothing to it.
    pub fn trailing_bytes(&self) -> u64 {
        self.trailing_bytes
    }

    /// The size n of the evaluation domain: bellman writes n − 1 points of h.
    pub fn domain_size(&self) -> u64 {
        (self.h.len() as u64 + 1).next_power_of_two()
    }

    /// Bytes of the points of all queries in a file.
    fn query_bytes(&self) -> u64 {
        let g1 = [&self.h, &self.l, &self.a, &self.b_g1];
        g1.into_iter().map(encoded_bytes).sum::<u64>() + encoded_bytes(&self.b_g2)
    }

    fn read_stream(
        input: impl Read,
        origin: KeyOrigin,
        total: u64,
        options: &ReadOptions<'_>,
    ) -> Result<Self, KeyError> {
        let meter = Meter::new(options.progress, ReadPhase::Reading, total);
        let mut stream = Stream::new(input, origin.clone(), total, &meter);
        let vk = reader::read_verifying_key(&mut stream)?;
        vk.check_subgroup(&origin)?;
        let queries = reader::read_queries(&mut stream)?;
        let (trailing_bytes, digest) = stream.finish()?;
        let key = Self::assemble(vk, queries, trailing_bytes, digest);
        key.check(&origin, options.checks_for(&digest), options.progress)?;
        Ok(key)
    }

    fn assemble(vk: VerifyingKey, queries: Queries, trailing_bytes: u64, digest: ParameterDigest) -> Self {
        let Queries { h, l, a, b_g1, b_g2 } = queries;
        Self { vk, h, l, a, b_g1, b_g2, trailing_bytes, digest: Some(digest) }
    }

    /// Checks the queries of a key just read, where `checks` asks for it.
    fn check(
        &self,
        file: &KeyOrigin,
        checks: Checks,
        progress: Option<ProgressFn<'_>>,
    ) -> Result<(), KeyError> {
        if checks == Checks::CurveOnly {
            return Ok(());
        }
        let meter = Meter::new(progress, ReadPhase::Checking, self.query_bytes());
        let mut end = self.vk.encoded_bytes();
        check_query(&self.h, KeyPart::H, &mut end, file, &meter)?;
        check_query(&self.l, KeyPart::L, &mut end, file, &meter)?;
        check_query(&self.a, KeyPart::A, &mut end, file, &meter)?;
        check_query(&self.b_g1, KeyPart::BG1, &mut end, file, &meter)?;
        check_query(&self.b_g2, KeyPart::BG2, &mut end, file, &meter)
    }
}

/// Bytes of a query's points in a file, without the count.
fn encoded_bytes<P: AffinePoint>(points: &Points<P>) -> u64 {
    points.len() as u64 * P::ENCODED_BYTES as u64
}

/// Checks the query whose count is at `end`, and moves `end` behind its points.
fn check_query<P: AffinePoint>(
    points: &Points<P>,
    part: KeyPart,
    end: &mut u64,
    file: &KeyOrigin,
    meter: &Meter<'_>,
) -> Result<(), KeyError> {
    let run = Run { part, offset: *end + 4 };
    *end = run.offset + encoded_bytes(points);
    points.check_subgroup(file, &run, meter)
}
