//! Reading of bellman's parameter file format.
//!
//! The format is written down once, in [`read_verifying_key`] and [`read_queries`]; a [`Source`] says whether
//! points are decoded as they come ([`Stream`]) or left where they are ([`Located`]).

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::digest::ParameterDigest;
use super::encoding;
use super::error::{KeyError, KeyOrigin, KeyPart};
use super::mapped::MappedFile;
use super::options::Meter;
use super::points::{BLOCK_POINTS, Points, Run, allocate};
use super::verifying::VerifyingKey;
use crate::curve::{AffinePoint, G1Affine, G2Affine};

/// Bytes hashed at once.
const BLOCK_BYTES: u64 = 8 << 20;

/// Opens a regular file: its size in bytes is not 0.
pub(super) fn open_file(path: &Path) -> Result<(File, u64), KeyError> {
    let io = |source| KeyError::Io { file: path.into(), offset: 0, source };
    // Asked by name first, because opening a pipe waits for its writer.
    if !path.metadata().map_err(io)?.is_file() {
        return Err(io(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
    }
    let file = File::open(path).map_err(io)?;
    match file.metadata().map_err(io)?.len() {
        0 => Err(KeyError::Empty { file: path.into() }),
        len => Ok((file, len)),
    }
}

/// The bytes of a key, taken from front to back.
pub(super) trait Source {
    /// Where they come from.
    fn origin(&self) -> &KeyOrigin;
    /// Bytes taken.
    fn offset(&self) -> u64;
    /// All bytes, taken or not.
    fn total(&self) -> u64;
    /// Takes bytes; as many are left.
    fn bytes(&mut self, out: &mut [u8]) -> Result<(), KeyError>;
    /// Takes points; their bytes are left.
    fn points<P: AffinePoint>(&mut self, part: KeyPart, count: usize) -> Result<Points<P>, KeyError>;

    /// Bytes left.
    fn remaining(&self) -> u64 {
        self.total() - self.offset()
    }

    /// That at least `needed` bytes are left.
    fn require(&self, needed: u64) -> Result<(), KeyError> {
        let (offset, found) = (self.offset(), self.remaining());
        if self.total() == 0 {
            return Err(KeyError::Empty { file: self.origin().clone() });
        }
        if found < needed {
            return Err(KeyError::Truncated { file: self.origin().clone(), offset, needed, found });
        }
        Ok(())
    }
}

/// Takes the verifying key at the front of every parameter file, unchecked but for the curve.
pub(super) fn read_verifying_key(source: &mut impl Source) -> Result<VerifyingKey, KeyError> {
    Ok(VerifyingKey {
        alpha_g1: read_point(source, KeyPart::AlphaG1)?,
        beta_g1: read_point(source, KeyPart::BetaG1)?,
        beta_g2: read_point(source, KeyPart::BetaG2)?,
        gamma_g2: read_point(source, KeyPart::GammaG2)?,
        delta_g1: read_point(source, KeyPart::DeltaG1)?,
        delta_g2: read_point(source, KeyPart::DeltaG2)?,
        ic: read_query(source, KeyPart::Ic)?.to_shared()?.to_vec(),
    })
}

/// The queries of a parameter file, in its order.
pub(super) struct Queries {
    pub(super) h: Points<G1Affine>,
    pub(super) l: Points<G1Affine>,
    pub(super) a: Points<G1Affine>,
    pub(super) b_g1: Points<G1Affine>,
    pub(super) b_g2: Points<G2Affine>,
}

/// Takes the queries behind the verifying key.
pub(super) fn read_queries(source: &mut impl Source) -> Result<Queries, KeyError> {
    Ok(Queries {
        h: read_query(source, KeyPart::H)?,
        l: read_query(source, KeyPart::L)?,
        a: read_query(source, KeyPart::A)?,
        b_g1: read_query(source, KeyPart::BG1)?,
        b_g2: read_query(source, KeyPart::BG2)?,
    })
}

fn read_point<P: AffinePoint>(source: &mut impl Source, part: KeyPart) -> Result<P, KeyError> {
    source.require(P::ENCODED_BYTES as u64)?;
    let mut point = [P::default()];
    source.points(part, 1)?.read(0, &mut point)?;
    Ok(point[0])
}

fn read_query<P: AffinePoint>(source: &mut impl Source, part: KeyPart) -> Result<Points<P>, KeyError> {
    let offset = source.offset();
    let mut word = [0; 4];
    source.require(word.len() as u64)?;
    source.bytes(&mut word)?;
    let count = u32::from_be_bytes(word);
    let available = source.remaining();
    if u64::from(count) * P::ENCODED_BYTES as u64 > available {
        return Err(KeyError::ForgedCount { file: source.origin().clone(), offset, part, count, available });
    }
    source.points(part, count as usize)
}

/// Bytes decoded as they are read, and hashed on the way: nothing is read twice, so that the digest is that
/// of the very bytes that became the key.
pub(super) struct Stream<'a, R> {
    input: R,
    origin: KeyOrigin,
    offset: u64,
    total: u64,
    hasher: blake2b_simd::State,
    meter: &'a Meter<'a>,
}

impl<'a, R: Read> Stream<'a, R> {
    /// `input` gives `total` bytes.
    pub(super) fn new(input: R, origin: KeyOrigin, total: u64, meter: &'a Meter<'a>) -> Self {
        Self { input, origin, offset: 0, total, hasher: blake2b_simd::State::new(), meter }
    }

    /// Takes what is left, and gives its size and the digest of everything.
    ///
    /// # Errors
    /// `Changed` if the input has fewer or more bytes than promised, `Io`.
    pub(super) fn finish(mut self) -> Result<(u64, ParameterDigest), KeyError> {
        let trailing = self.remaining();
        let mut block = vec![0; trailing.clamp(1, BLOCK_BYTES) as usize];
        while self.remaining() > 0 {
            let left = (block.len() as u64).min(self.remaining()) as usize;
            self.bytes(&mut block[..left])?;
        }
        match self.fill(&mut block[..1])? {
            0 => Ok((trailing, ParameterDigest(*self.hasher.finalize().as_array()))),
            more => Err(self.changed(more)),
        }
    }

    /// Reads until `out` is full or the input ends, and gives the bytes read.
    fn fill(&mut self, out: &mut [u8]) -> Result<usize, KeyError> {
        let mut filled = 0;
        while filled < out.len() {
            match self.input.read(&mut out[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    let offset = self.offset + filled as u64;
                    return Err(KeyError::Io { file: self.origin.clone(), offset, source });
                }
            }
        }
        Ok(filled)
    }

    fn fill_exactly(&mut self, out: &mut [u8]) -> Result<(), KeyError> {
        match self.fill(out)? {
            filled if filled < out.len() => Err(self.changed(filled)),
            _ => Ok(()),
        }
    }

    fn changed(&self, filled: usize) -> KeyError {
        let found = self.offset + filled as u64;
        KeyError::Changed { file: self.origin.clone(), expected: self.total, found }
    }

    fn took(&mut self, bytes: usize) {
        self.offset += bytes as u64;
        self.meter.advance(bytes as u64);
    }
}

impl<R: Read> Source for Stream<'_, R> {
    fn origin(&self) -> &KeyOrigin {
        &self.origin
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn total(&self) -> u64 {
        self.total
    }

    fn bytes(&mut self, out: &mut [u8]) -> Result<(), KeyError> {
        self.fill_exactly(out)?;
        self.hasher.update(out);
        self.took(out.len());
        Ok(())
    }

    fn points<P: AffinePoint>(&mut self, part: KeyPart, count: usize) -> Result<Points<P>, KeyError> {
        let run = Run { part, offset: self.offset };
        let mut points = allocate::<P>(&self.origin, &run, count)?;
        let mut encoded = vec![0; BLOCK_POINTS.min(count) * P::ENCODED_BYTES];
        for (block, out) in Arc::make_mut(&mut points).chunks_mut(BLOCK_POINTS).enumerate() {
            let encoded = &mut encoded[..out.len() * P::ENCODED_BYTES];
            self.fill_exactly(encoded)?;
            let hasher = &mut self.hasher;
            let (_, decoded) = rayon::join(|| hasher.update(encoded), || encoding::decode_all(encoded, out));
            decoded.map_err(|refused| run.refuse::<P>(&self.origin, block * BLOCK_POINTS, refused))?;
            self.took(encoded.len());
        }
        Ok(points.into())
    }
}

/// Bytes of a mapped file, where points are noted and not yet decoded.
pub(super) struct Located {
    file: Arc<MappedFile>,
    offset: u64,
}

impl Located {
    pub(super) fn new(file: Arc<MappedFile>) -> Self {
        Self { file, offset: 0 }
    }
}

impl Source for Located {
    fn origin(&self) -> &KeyOrigin {
        self.file.origin()
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn total(&self) -> u64 {
        self.file.len()
    }

    fn bytes(&mut self, out: &mut [u8]) -> Result<(), KeyError> {
        let len = out.len() as u64;
        out.copy_from_slice(self.file.bytes(self.offset, len)?);
        self.offset += len;
        Ok(())
    }

    fn points<P: AffinePoint>(&mut self, part: KeyPart, count: usize) -> Result<Points<P>, KeyError> {
        let run = Run { part, offset: self.offset };
        self.offset += count as u64 * P::ENCODED_BYTES as u64;
        Ok(Points::mapped(Arc::clone(&self.file), run, count))
    }
}

/// The digest of a mapped file.
pub(super) fn digest_of(file: &MappedFile, meter: &Meter<'_>) -> Result<ParameterDigest, KeyError> {
    let mut hasher = blake2b_simd::State::new();
    let mut offset = 0;
    while offset < file.len() {
        let len = BLOCK_BYTES.min(file.len() - offset);
        hasher.update(file.bytes(offset, len)?);
        offset += len;
        meter.advance(len);
    }
    Ok(ParameterDigest(*hasher.finalize().as_array()))
}
