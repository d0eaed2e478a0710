//! The points of one query, in memory or in a mapped file.

use std::fmt;
use std::sync::Arc;

use super::encoding::{self, Refused};
use super::error::{KeyError, KeyOrigin, KeyPart};
use super::mapped::MappedFile;
use super::options::Meter;
use super::subgroup::{self, BATCH_POINTS};
use crate::curve::AffinePoint;

/// Points decoded from a mapped file, or written, at once: some megabytes.
pub(super) const BLOCK_POINTS: usize = 1 << 15;

/// The points of a query. Cloning is cheap: the points are shared.
///
/// Points made by set-up or read into memory are there as they are; those of a mapped file are decoded
/// each time they are asked for, so that a device can stream a key bigger than memory.
#[derive(Clone)]
pub struct Points<P>(Place<P>);

#[derive(Clone)]
enum Place<P> {
    Memory(Arc<[P]>),
    Mapped(Mapped),
}

/// A run of encoded points in a mapped file.
#[derive(Clone)]
struct Mapped {
    file: Arc<MappedFile>,
    run: Run,
    len: usize,
}

/// Where a part's points start in a file: what a message about one of them needs to know.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) part: KeyPart,
    pub(super) offset: u64,
}

impl Run {
    /// The error for a point refused among those from `first` on.
    pub(super) fn refuse<P: AffinePoint>(
        &self,
        file: &KeyOrigin,
        first: usize,
        (index, fault): Refused,
    ) -> KeyError {
        let index = (first + index) as u64;
        let offset = self.offset + index * P::ENCODED_BYTES as u64;
        KeyError::InvalidPoint { file: file.clone(), offset, part: self.part, index, fault }
    }
}

impl<P: AffinePoint> Points<P> {
    /// `len` points encoded in `file`; the caller knows that they lie inside it.
    pub(super) fn mapped(file: Arc<MappedFile>, run: Run, len: usize) -> Self {
        Self(Place::Mapped(Mapped { file, run, len }))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Place::Memory(points) => points.len(),
            Place::Mapped(mapped) => mapped.len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The points, where they are in memory.
    pub fn as_slice(&self) -> Option<&[P]> {
        match &self.0 {
            Place::Memory(points) => Some(points),
            Place::Mapped(_) => None,
        }
    }

    /// Fills `out` with the points from `start` on, decoding them in parallel where they are mapped.
    ///
    /// # Errors
    /// `OutOfRange` if there are not that many. For mapped points also `Changed` if the file has changed its
    /// size, `InvalidPoint` if a point is not canonical, not on the curve or at infinity, and `Io`.
    /// After an error the content of `out` is unspecified.
    pub fn read(&self, start: usize, out: &mut [P]) -> Result<(), KeyError> {
        let (count, len) = (out.len(), self.len());
        let end = start.checked_add(count).filter(|&end| end <= len).ok_or(KeyError::OutOfRange {
            start: start as u64,
            count: count as u64,
            len: len as u64,
        })?;
        match &self.0 {
            Place::Memory(points) => out.copy_from_slice(&points[start..end]),
            Place::Mapped(mapped) => {
                for (block, out) in out.chunks_mut(BLOCK_POINTS).enumerate() {
                    mapped.decode(start + block * BLOCK_POINTS, out)?;
                }
            }
        }
        Ok(())
    }

    /// All points in memory: free where they are there, else all are decoded.
    ///
    /// # Errors
    /// Those of [`Points::read`], and `OutOfMemory`.
    pub fn to_shared(&self) -> Result<Arc<[P]>, KeyError> {
        match &self.0 {
            Place::Memory(points) => Ok(Arc::clone(points)),
            Place::Mapped(mapped) => {
                let mut points = allocate(mapped.file.origin(), &mapped.run, mapped.len)?;
                self.read(0, Arc::make_mut(&mut points))?;
                Ok(points)
            }
        }
    }

    /// Checks that every point lies in the subgroup of order r; `run` and `file` say where they come from.
    pub(super) fn check_subgroup(
        &self,
        file: &KeyOrigin,
        run: &Run,
        meter: &Meter<'_>,
    ) -> Result<(), KeyError> {
        // Exact: encodings are multiples of 16 bytes.
        let checked = |sixteenths: usize| meter.advance((sixteenths * (P::ENCODED_BYTES / 16)) as u64);
        let check = |first: usize, points: &[P]| {
            subgroup::check(points, checked).map_err(|refused| run.refuse::<P>(file, first, refused))
        };
        match &self.0 {
            Place::Memory(points) => check(0, points),
            Place::Mapped(mapped) => {
                let mut batch = vec![P::default(); BATCH_POINTS.min(mapped.len)];
                for start in (0..mapped.len).step_by(BATCH_POINTS) {
                    let points = &mut batch[..BATCH_POINTS.min(mapped.len - start)];
                    self.read(start, points)?;
                    check(start, points)?;
                }
                Ok(())
            }
        }
    }
}

impl Mapped {
    /// Fills `out` with the points from `start` on, which exist.
    fn decode<P: AffinePoint>(&self, start: usize, out: &mut [P]) -> Result<(), KeyError> {
        let bytes_of = |points: usize| points as u64 * P::ENCODED_BYTES as u64;
        let bytes = self.file.bytes(self.run.offset + bytes_of(start), bytes_of(out.len()))?;
        encoding::decode_all(bytes, out)
            .map_err(|refused| self.run.refuse::<P>(self.file.origin(), start, refused))
    }
}

/// Room for `len` points, in one piece and without a copy afterwards.
///
/// # Errors
/// `OutOfMemory` if the allocator refuses; asking it first keeps the refusal from aborting the process.
pub(super) fn allocate<P: AffinePoint>(
    file: &KeyOrigin,
    run: &Run,
    len: usize,
) -> Result<Arc<[P]>, KeyError> {
    Vec::<P>::new().try_reserve_exact(len).map_err(|_| KeyError::OutOfMemory {
        file: file.clone(),
        offset: run.offset,
        part: run.part,
        count: len as u64,
    })?;
    // The iterator's length is known exactly, so that `collect` allocates once.
    Ok(std::iter::repeat_n(P::default(), len).collect())
}

impl<P> From<Arc<[P]>> for Points<P> {
    fn from(points: Arc<[P]>) -> Self {
        Self(Place::Memory(points))
    }
}

impl<P> From<Vec<P>> for Points<P> {
    fn from(points: Vec<P>) -> Self {
        Self(Place::Memory(points.into()))
    }
}

impl<P> fmt::Debug for Points<P> {
    /// How many and where; the points themselves would fill screens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Memory(points) => write!(f, "Points({} in memory)", points.len()),
            Place::Mapped(mapped) => {
                let (len, file, offset) = (mapped.len, mapped.file.origin(), mapped.run.offset);
                write!(f, "Points({len} in {file} from byte {offset})")
            }
        }
    }
}
