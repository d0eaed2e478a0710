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
    let blocks = len.div_ceil(BLOCK);
    if blocks == 0 {
        return Ok(());
    }
    // The sums of what depends on a witness depend on it, too.
    let totals = gpu.alloc(blocks, Secrecy::Secret)?;
    let totals = totals.span();
    for words in windows(gpu, len) {
        let window = values.range(words.clone());
        let (len, first_total) = (words.len() as u32, (words.start / BLOCK) as u32);
        let params = params::ScanBlocks { len, first_total };
        gpu.run(None, params, &[&window, &totals], words.len().div_ceil(BLOCK), BLOCK_COST)?;
    }
    if blocks == 1 {
        return Ok(());
    }
    exclusive_scan(gpu, &totals, blocks)?;
    for words in windows(gpu, len) {
        let window = values.range(words.clone());
        let (len, first_total) = (words.len() as u32, (words.start / BLOCK) as u32);
        let params = params::ScanAdd { len, first_total };
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

        // The words behind must stay as they are, in the same span or not.
        let behind = [7, 8, 9];
        let expected = [&sums[..len], &behind].concat();
        for end in [len, len + behind.len()] {
            let buffer = gpu.upload(&[&values[..], &behind].concat(), Secrecy::Public).unwrap();
            exclusive_scan(gpu, &buffer.range(0..end), len).unwrap();
            let found = pollster::block_on(gpu.read(&buffer.span())).unwrap();
            assert!(found[..] == expected, "{len} words of {end}");
        }
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
