//! A compact witness on the device.

use std::sync::Arc;

use bellwether_core::curve::FR_WORDS;
use bellwether_core::device::DeviceError;
use bellwether_core::r1cs::CompactWitness;
use bellwether_core::secret::SecretVec;

use crate::buffer::{Buffer, Secrecy, Span};
use crate::gpu::Gpu;
use crate::vector::Scalars;

/// A [`CompactWitness`], made resident: a third of a byte a variable, and the dense values.
#[derive(Debug)]
pub struct Witness {
    /// As on the device, for counting.
    host_codes: SecretVec<u64>,
    codes: Buffer,
    ranks: Buffer,
    dense: Arc<Scalars>,
    dense_parts: Vec<DensePart>,
}

/// Successive dense values that fit a binding.
#[derive(Debug)]
pub(crate) struct DensePart {
    /// The values.
    pub(crate) span: Span,
    /// The index of the first.
    pub(crate) first: usize,
}

impl Witness {
    /// Uploads a witness.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] when the codes exceed a binding: from 2^29 variables on where a binding has
    /// 128 MiB; else the device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, witness: &CompactWitness) -> Result<Witness, DeviceError> {
        // Codes and ranks in whole words of a variable set, which are 64 variables, and at least one.
        let words = witness.codes().len().next_multiple_of(2).max(2);
        if 8 * words as u64 > gpu.limits().binding {
            return Err(DeviceError::Unsupported {
                what: format!("a witness of {} variables", witness.len()),
                why: format!("its codes exceed a binding of {} bytes", gpu.limits().binding),
            });
        }
        let mut codes = SecretVec::with_capacity(2 * words);
        for code in witness.codes() {
            codes.push(*code as u32);
            codes.push((code >> 32) as u32);
        }
        codes.resize(2 * words, 0);
        let mut ranks = SecretVec::with_capacity(words);
        ranks.extend_from_slice(witness.ranks());
        ranks.resize(words, witness.dense().len() as u32);
        let mut host_codes = SecretVec::with_capacity(words);
        host_codes.extend_from_slice(witness.codes());
        host_codes.resize(words, 0);
        let dense = Arc::new(Scalars::upload(gpu, witness.dense(), witness.dense().len())?);
        Ok(Witness {
            host_codes,
            codes: gpu.upload(&codes, Secrecy::Secret)?,
            ranks: gpu.upload(&ranks, Secrecy::Secret)?,
            dense_parts: dense_parts(gpu, &dense)?,
            dense,
        })
    }

    /// The codes, 32 variables a word, an even number of words and at least two.
    pub(crate) fn host_codes(&self) -> &[u64] {
        &self.host_codes
    }

    /// [`host_codes`](Self::host_codes) on the device, two words for one.
    pub(crate) fn codes(&self) -> &Buffer {
        &self.codes
    }

    /// The number of dense values before each of the [`host_codes`](Self::host_codes).
    pub(crate) fn ranks(&self) -> &Buffer {
        &self.ranks
    }

    /// The values that are neither zero nor one, in order of their variables.
    pub(crate) fn dense(&self) -> &Arc<Scalars> {
        &self.dense
    }

    /// The dense values part by part, at least one part, which then holds nothing of meaning.
    pub(crate) fn dense_parts(&self) -> &[DensePart] {
        &self.dense_parts
    }
}

/// The parts with their first indices; where there are none, one that programs can bind.
fn dense_parts(gpu: &Arc<Gpu>, dense: &Scalars) -> Result<Vec<DensePart>, DeviceError> {
    if dense.len() == 0 {
        return Ok(vec![DensePart { span: gpu.alloc(FR_WORDS, Secrecy::Secret)?.span(), first: 0 }]);
    }
    let mut first = 0;
    let with_first = |part: &Buffer| {
        let part = DensePart { span: part.span(), first };
        first += part.span.words() / FR_WORDS;
        part
    };
    Ok(dense.parts().iter().map(with_first).collect())
}
