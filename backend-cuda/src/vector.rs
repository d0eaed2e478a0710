//! Vectors of scalars on the device.

use std::future::Future;
use std::sync::Arc;

use bellwether_core::curve::{FR_WORDS, scalar_words, unpack_scalars};
use bellwether_core::device::DeviceError;
use bellwether_core::secret::SecretVec;
use blstrs::Scalar;

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;

/// Words read at once, 16 MiB of them, so that their check runs beside the copies that follow.
const READ_WORDS: usize = FR_WORDS << 19;

/// A vector of scalars in packed form.
#[derive(Debug)]
pub struct Scalars {
    buffer: Buffer,
    len: usize,
}

impl Scalars {
    /// The vector of the first `values.len()` scalars given, followed by zeros up to length `len`, which is no less.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, values: &[Scalar], len: usize) -> Result<Scalars, DeviceError> {
        let vector = Scalars::alloc(gpu, len)?;
        gpu.write(&vector.buffer, 0, scalar_words(values))?;
        vector.clear_from(gpu, values.len())?;
        Ok(vector)
    }

    /// A vector of unspecified values.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn alloc(gpu: &Arc<Gpu>, len: usize) -> Result<Scalars, DeviceError> {
        Ok(Scalars { buffer: gpu.alloc(FR_WORDS * len, Secrecy::Secret)?, len })
    }

    /// Makes all values from position `start` on zero.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn clear_from(&self, gpu: &Gpu, start: usize) -> Result<(), DeviceError> {
        match start < self.len {
            true => gpu.clear(&self.buffer, FR_WORDS * start..FR_WORDS * self.len),
            false => Ok(()),
        }
    }

    /// The values. A residue that is not below r is [`DeviceError::Launch`].
    pub(crate) fn download(
        &self,
        gpu: &Arc<Gpu>,
    ) -> impl Future<Output = Result<SecretVec<Scalar>, DeviceError>> + Send + use<> + 'static {
        let end = FR_WORDS * self.len;
        let starts = (0..end).step_by(READ_WORDS);
        let pieces: Vec<_> =
            starts.map(|start| gpu.read(&self.buffer, start..end.min(start + READ_WORDS))).collect();
        let mut values = SecretVec::with_capacity(self.len);
        async move {
            for piece in pieces {
                let words = piece.await?;
                let piece = unpack_scalars(&words).map_err(|error| DeviceError::Launch {
                    operation: "reading scalars".into(),
                    reason: error.to_string(),
                })?;
                values.extend_from_slice(&SecretVec::from(piece));
            }
            Ok(values)
        }
    }

    /// Number of scalars.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The words of all.
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

#[cfg(test)]
mod tests {
    use bellwether_core::field::Modulus;
    use ff::Field;

    use super::*;
    use crate::gpu::tests::open;

    #[test]
    fn values_come_back_followed_by_zeros() {
        let gpu = open();
        let values: Vec<Scalar> = (1..=20).map(|i| -Scalar::from(i)).collect();
        for (given, len) in [(0, 0), (0, 1), (1, 1), (8, 8), (9, 17), (16, 30), (20, 64), (0, 33)] {
            // Twice, so that the second may find the values of the first in its memory.
            drop(Scalars::upload(&gpu, &[-Scalar::ONE; 64], 64).unwrap());
            let vector = Scalars::upload(&gpu, &values[..given], len).unwrap();
            let mut expected = values[..given].to_vec();
            expected.resize(len, Scalar::ZERO);
            assert_eq!(vector.len(), len);
            assert_eq!(pollster::block_on(vector.download(&gpu)).unwrap()[..], expected);
        }
    }

    #[test]
    fn more_than_is_read_at_once() {
        let gpu = open();
        let len = READ_WORDS / FR_WORDS + 1;
        let values: Vec<Scalar> = (0..len as u64).map(Scalar::from).collect();
        let vector = Scalars::upload(&gpu, &values, len).unwrap();
        assert!(pollster::block_on(vector.download(&gpu)).unwrap()[..] == values);
    }

    #[test]
    fn a_residue_that_is_not_below_r_is_an_error() {
        let gpu = open();
        let modulus = Modulus::FR.value().limbs(32, FR_WORDS);
        let vector = Scalars::upload(&gpu, &[], 3).unwrap();
        gpu.write(vector.buffer(), FR_WORDS, &modulus).unwrap();
        let result = pollster::block_on(vector.download(&gpu));
        assert!(matches!(result, Err(DeviceError::Launch { .. })));
    }
}
