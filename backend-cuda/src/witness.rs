//! A compact witness on the device.

use std::sync::Arc;

use bellwether_core::device::DeviceError;
use bellwether_core::r1cs::CompactWitness;
use bellwether_core::secret::SecretVec;
use rayon::prelude::*;

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;
use crate::vector::Scalars;

/// A [`CompactWitness`], made resident: three eighths of a byte a variable, and the dense values. Kernels look values
/// up in it; nothing is expanded.
#[derive(Debug)]
pub struct Witness {
    /// As on the device, for counting.
    host_codes: SecretVec<u32>,
    codes: Buffer,
    ranks: Buffer,
    dense: Arc<Scalars>,
}

impl Witness {
    /// Uploads a witness.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, witness: &CompactWitness) -> Result<Witness, DeviceError> {
        let host_codes = SecretVec::from(halves(witness.codes()));
        Ok(Witness {
            codes: gpu.upload(&host_codes, Secrecy::Secret)?,
            host_codes,
            ranks: gpu.upload(witness.ranks(), Secrecy::Secret)?,
            dense: Arc::new(Scalars::upload(gpu, witness.dense(), witness.dense().len())?),
        })
    }

    /// The codes, 16 variables a word, an even number of words.
    pub(crate) fn host_codes(&self) -> &[u32] {
        &self.host_codes
    }

    /// [`host_codes`](Self::host_codes) on the device, which reads two words as one of 32 variables.
    pub(crate) fn codes(&self) -> &Buffer {
        &self.codes
    }

    /// The number of dense values before each 32 variables.
    pub(crate) fn ranks(&self) -> &Buffer {
        &self.ranks
    }

    /// The values that are neither zero nor one, in order of their variables.
    pub(crate) fn dense(&self) -> &Arc<Scalars> {
        &self.dense
    }
}

/// Each word's lower half, then its upper half, as a device reads them.
pub(crate) fn halves(words: &[u64]) -> Vec<u32> {
    let mut halves = vec![0; 2 * words.len()];
    halves.par_chunks_exact_mut(2).with_min_len(1 << 14).zip(words).for_each(|(halves, word)| {
        halves.copy_from_slice(&[*word as u32, (word >> 32) as u32]);
    });
    halves
}
