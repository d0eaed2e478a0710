//! Vectors of scalars on the device.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;

use bellwether_core::curve::{FR_WORDS, scalar_words, unpack_scalars};
use bellwether_core::device::DeviceError;
use bellwether_core::field::{Modulus, scalar_limbs};
use bellwether_core::secret::SecretVec;
use bellwether_shaders::Tier;
use blstrs::Scalar;
use ff::Field;

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;

/// Words read at once, 16 MiB of them, so that no submit is long for it.
const READ_WORDS: usize = FR_WORDS << 19;

/// A vector of packed scalars, in parts of which each fits a binding: of one power of two of scalars, but for the last.
#[derive(Debug)]
pub struct Scalars {
    parts: Vec<Buffer>,
    len: usize,
}

impl Scalars {
    /// The vector of the first `values.len()` scalars given, followed by zeros up to length `len`, which is no less.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, values: &[Scalar], len: usize) -> Result<Scalars, DeviceError> {
        let vector = Scalars::alloc(gpu, len)?;
        for (part, values) in vector.parts.iter().zip(values.chunks(Scalars::part_len(gpu))) {
            gpu.write(&part.span(), scalar_words(values))?;
        }
        vector.clear_from(gpu, values.len())?;
        Ok(vector)
    }

    /// A vector of unspecified values.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn alloc(gpu: &Arc<Gpu>, len: usize) -> Result<Scalars, DeviceError> {
        let parts = part_ranges(len, Scalars::part_len(gpu))
            .map(|part| gpu.alloc(FR_WORDS * part.len(), Secrecy::Secret))
            .collect::<Result<_, _>>()?;
        Ok(Scalars { parts, len })
    }

    /// Makes all values from position `start` on zero.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn clear_from(&self, gpu: &Gpu, start: usize) -> Result<(), DeviceError> {
        for (part, range) in self.parts.iter().zip(part_ranges(self.len, Scalars::part_len(gpu))) {
            let first = start.max(range.start) - range.start;
            if first < range.len() {
                gpu.clear(&part.range(FR_WORDS * first..FR_WORDS * range.len()))?;
            }
        }
        Ok(())
    }

    /// The values. A residue that is not below r is [`DeviceError::Launch`].
    pub(crate) fn download(
        &self,
        gpu: &Arc<Gpu>,
    ) -> impl Future<Output = Result<SecretVec<Scalar>, DeviceError>> + Send + use<> + 'static {
        let pieces = self.parts.iter().flat_map(|part| {
            let starts = (0..part.words()).step_by(READ_WORDS);
            starts.map(move |start| part.range(start..part.words().min(start + READ_WORDS)))
        });
        let parts: Vec<_> = pieces.map(|piece| gpu.read(&piece)).collect();
        let mut values = SecretVec::with_capacity(self.len);
        async move {
            for part in parts {
                let words = part.await?;
                let part = unpack_scalars(&words).map_err(|error| DeviceError::Launch {
                    operation: "reading scalars".into(),
                    reason: error.to_string(),
                })?;
                values.extend_from_slice(&SecretVec::from(part));
            }
            Ok(values)
        }
    }

    /// Number of scalars.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The parts, in order; none of a vector of length 0.
    pub(crate) fn parts(&self) -> &[Buffer] {
        &self.parts
    }

    /// The parts, to be replaced by others of the same lengths.
    pub(crate) fn parts_mut(&mut self) -> &mut [Buffer] {
        &mut self.parts
    }

    /// Scalars in each part but the last, of any vector of this device.
    pub(crate) fn part_len(gpu: &Gpu) -> usize {
        part_len(gpu.limits().binding)
    }
}

/// The largest power of two of scalars in so many bytes, which are one scalar's or more.
fn part_len(bytes: u64) -> usize {
    1 << (bytes / (4 * FR_WORDS as u64)).max(1).ilog2()
}

/// The positions in each part of a vector of `len` scalars.
fn part_ranges(len: usize, part_len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(part_len).map(move |start| start..len.min(start + part_len))
}

/// Bits of a limb of Fr.
fn limb_bits(tier: Tier) -> u32 {
    match tier {
        Tier::U64 => 29,
        Tier::U32 => 13,
    }
}

/// log₂ of R, by which the device form x·R mod r of this tier differs from x.
pub(crate) fn log_r(tier: Tier) -> u32 {
    limb_bits(tier) * Modulus::FR.limb_count(limb_bits(tier)) as u32
}

/// The device form of a scalar as packed words: the integer x·R mod r.
pub(crate) fn device_form(tier: Tier, scalar: &Scalar) -> [u32; FR_WORDS] {
    let limbs = scalar_limbs(&(*scalar * Scalar::from(2).pow_vartime([u64::from(log_r(tier))])));
    std::array::from_fn(|i| (limbs[i / 2] >> (32 * (i % 2))) as u32)
}

#[cfg(test)]
mod tests {
    use bellwether_core::field::Natural;
    use bellwether_core::field::reference::LimbField;
    use bellwether_shaders::Program;

    use super::*;
    use crate::gpu::tests::open;
    use crate::options::WgpuOptions;

    #[test]
    fn parts_are_powers_of_two() {
        for (bytes, len) in [(256, 8), (32, 1), (8192, 256), (8192 + 8191, 256), (128 << 20, 1 << 22)] {
            assert_eq!(part_len(bytes), len);
        }
        assert_eq!(part_len((2 << 30) - 4), 1 << 25);
        assert_eq!(part_ranges(0, 8).count(), 0);
        assert!(part_ranges(8, 8).eq(std::iter::once(0..8)));
        assert_eq!(part_ranges(17, 8).collect::<Vec<_>>(), [0..8, 8..16, 16..17]);
    }

    #[test]
    fn device_form_is_montgomery_form_over_the_limbs_of_the_shaders() {
        for tier in Tier::ALL {
            let field = LimbField::new(Modulus::FR, limb_bits(tier)).unwrap();
            let source = Program::NttPass.source(None, tier).unwrap();
            assert!(source.contains(&format!("alias Fr = array<u32, {}>;", field.limb_count())));
            assert!(source.contains(&format!("const FR_MASK = {}u;", (1u32 << limb_bits(tier)) - 1)));
            for scalar in
                [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(7), Scalar::from(5).invert().unwrap()]
            {
                let limbs = field.to_montgomery(&field.to_limbs(&Natural::from(scalar)).unwrap());
                assert_eq!(device_form(tier, &scalar).to_vec(), field.from_limbs(&limbs).limbs(32, FR_WORDS));
            }
        }
    }

    #[test]
    fn values_come_back_followed_by_zeros() {
        for max_binding in [None, Some(256)] {
            let gpu = open(&WgpuOptions { max_binding, ..WgpuOptions::default() });
            let values: Vec<Scalar> = (1..=20).map(|i| -Scalar::from(i)).collect();
            for (given, len) in [(0, 0), (0, 1), (1, 1), (8, 8), (9, 17), (16, 30), (20, 64), (0, 33)] {
                let vector = Scalars::upload(&gpu, &values[..given], len).unwrap();
                let mut expected = values[..given].to_vec();
                expected.resize(len, Scalar::ZERO);
                assert_eq!(vector.len(), len);
                assert_eq!(pollster::block_on(vector.download(&gpu)).unwrap()[..], expected);
            }
        }
    }
}
