//! Writing of bellman's parameter file format.

use std::io::{self, Write};

use super::encoding;
use super::error::{KeyError, KeyOrigin, KeyPart};
use super::points::{BLOCK_POINTS, Points, Run};
use crate::curve::AffinePoint;

/// Encodes points and knows how far it has come.
pub(super) struct Writer<W> {
    output: W,
    offset: u64,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(output: W) -> Self {
        Self { output, offset: 0 }
    }

    /// One point, without a count.
    pub(super) fn point<P: AffinePoint>(&mut self, part: KeyPart, point: P) -> Result<(), KeyError> {
        self.points(part, &Points::from(vec![point]))
    }

    /// A count and as many points.
    pub(super) fn query<P: AffinePoint>(
        &mut self,
        part: KeyPart,
        points: &Points<P>,
    ) -> Result<(), KeyError> {
        let count = count_word(part, points.len())?;
        self.bytes(&count)?;
        self.points(part, points)
    }

    /// Hands everything to the operating system.
    pub(super) fn finish(mut self) -> Result<(), KeyError> {
        self.output.flush().map_err(|source| self.io(source))
    }

    fn points<P: AffinePoint>(&mut self, part: KeyPart, points: &Points<P>) -> Result<(), KeyError> {
        let run = Run { part, offset: self.offset };
        let block_len = BLOCK_POINTS.min(points.len());
        let mut block = vec![P::default(); block_len];
        let mut encoded = vec![0; block_len * P::ENCODED_BYTES];
        for start in (0..points.len()).step_by(BLOCK_POINTS) {
            let len = BLOCK_POINTS.min(points.len() - start);
            let (block, encoded) = (&mut block[..len], &mut encoded[..len * P::ENCODED_BYTES]);
            points.read(start, block)?;
            encoding::encode_all(block, encoded)
                .map_err(|refused| run.refuse::<P>(&KeyOrigin::UNNAMED, start, refused))?;
            self.bytes(encoded)?;
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), KeyError> {
        self.output.write_all(bytes).map_err(|source| self.io(source))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn io(&self, source: io::Error) -> KeyError {
        KeyError::Io { file: KeyOrigin::UNNAMED, offset: self.offset, source }
    }
}

/// A count as the format has it.
fn count_word(part: KeyPart, count: usize) -> Result<[u8; 4], KeyError> {
    let too_large = |_| KeyError::TooLarge { part, count: count as u64 };
    u32::try_from(count).map(u32::to_be_bytes).map_err(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_end_at_32_bits() {
        assert_eq!(count_word(KeyPart::H, u32::MAX as usize).expect("fits"), [0xff; 4]);
        let error = count_word(KeyPart::H, u32::MAX as usize + 1).expect_err("does not fit");
        assert!(matches!(error, KeyError::TooLarge { part: KeyPart::H, count: 0x1_0000_0000 }), "{error}");
    }
}
