//! Exclusive prefix sums of 32-bit words.

use std::ops::Range;
use std::sync::Arc;

use bellwether_core::device::DeviceError;
use bellwether_shaders::params;

use crate::buffer::{Secrecy, Span};
use crate::gpu::Gpu;

/// Words that a workgroup scans, as `scan_blocks.wgsl` and `scan_add.wgsl` have it.
const BLOCK: usize = 2048;

/// What scanning a block, or adding to it, takes of the time of a field multiplication, very roughly.
const BLOCK_COST: u64 = 64;

/// Replaces each of the first `len` words of `values` by the sum, mod 2^32, of the words before it: in one dispatch
/// up to 2^11 words, in three up to 2^22, in five up to 2^33. `values` may be longer than a binding, up to
/// 2^11 bindings.
///
/// # Errors
/// The device's.
pub(crate) fn exclusive_scan(gpu: &Arc<Gpu>, values: &Span, len: usize) -> Result<(), DeviceError> {
    scan(gpu, values, len, len)
}

/// [`exclusive_scan`], and the sum of all `len` words as one word more, whose earlier content does not matter.
///
/// # Errors
/// The device's.
pub(crate) fn exclusive_scan_with_total(
    gpu: &Arc<Gpu>,
    values: &Span,
    len: usize,
) -> Result<(), DeviceError> {
    scan(gpu, values, len, len + 1)
}

/// Sums the first `len` words, writes the first `outputs`.
fn scan(gpu: &Arc<Gpu>, values: &Span, len: usize, outputs: usize) -> Result<(), DeviceError> {
    let blocks = outputs.div_ceil(BLOCK);
    if blocks == 0 {
        return Ok(());
    }
    // The sums of what depends on a witness depend on it, too.
    let totals = gpu.alloc(blocks, Secrecy::Secret)?;
    let totals = totals.span();
    for words in windows(gpu, outputs) {
        let window = values.range(words.clone());
        let params = params::ScanBlocks {
            len: len.saturating_sub(words.start).min(words.len()) as u32,
            outputs: words.len() as u32,
            first_total: (words.start / BLOCK) as u32,
        };
        gpu.run(None, params, &[&window, &totals], words.len().div_ceil(BLOCK), BLOCK_COST)?;
    }
    if blocks == 1 {
        return Ok(());
    }
    scan(gpu, &totals, blocks, blocks)?;
    for words in windows(gpu, outputs) {
        let window = values.range(words.clone());
        let params =
            params::ScanAdd { outputs: words.len() as u32, first_total: (words.start / BLOCK) as u32 };
        gpu.run(None, params, &[&window, &totals], words.len().div_ceil(BLOCK), BLOCK_COST)?;
    }
    Ok(())
}

/// `0..words` in ranges of whole blocks that fit a binding.
fn windows(gpu: &Gpu, words: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    let blocks = gpu.limits().binding as usize / (4 * BLOCK);
    let window = blocks.max(1) * BLOCK;
    (0..words).step_by(window).map(move |start| start..words.min(start + window))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::tests::open;
    use crate::options::WgpuOptions;

    fn check(gpu: &Arc<Gpu>, len: usize) {
        let mut state = len as u32;
        let values: Vec<u32> = (0..len)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> (state >> 28)
            })
            .collect();
        let mut sums = vec![0u32];
        values.iter().for_each(|value| sums.push(sums[sums.len() - 1].wrapping_add(*value)));

        // The words behind must stay as they are, the total need not be zero before.
        let behind = [7, 8, 9];
        let with_total = gpu.upload(&[&values[..], &behind].concat(), Secrecy::Public).unwrap();
        exclusive_scan_with_total(gpu, &with_total.span(), len).unwrap();
        let without = gpu.upload(&[&values[..], &behind].concat(), Secrecy::Public).unwrap();
        exclusive_scan(gpu, &without.range(0..len), len).unwrap();
        let with_total = pollster::block_on(gpu.read(&with_total.span())).unwrap();
        assert!(with_total[..] == [&sums[..], &behind[1..]].concat(), "{len} words and their total");
        let without = pollster::block_on(gpu.read(&without.span())).unwrap();
        assert!(without[..] == [&sums[..len], &behind].concat(), "{len} words");
    }

    #[test]
    fn sums_are_those_of_the_host() {
        for max_binding in [None, Some(8192), Some(65_536)] {
            let gpu =
                open(&WgpuOptions { max_binding, checked: max_binding.is_none(), ..WgpuOptions::default() });
            for len in [0, 1, 2, 63, 64, 65, 512, 1000, 2047, 2048, 2049, 4095, 4096, (1 << 16) + 1] {
                check(&gpu, len);
            }
            check(&gpu, 2048 * 2048 - 1);
        }
        let gpu = open(&WgpuOptions::default());
        check(&gpu, 2048 * 2048);
        check(&gpu, 2048 * 2048 + 1);
        check(&gpu, 5_000_000);
    }
}
