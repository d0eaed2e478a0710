//! Exclusive prefix sums of 32-bit words.

use std::sync::Arc;

use bellwether_core::device::DeviceError;
use bellwether_kernels::Address;
use bellwether_kernels::table::scalar::{SCAN_BLOCK, SCAN_BLOCKS, SCAN_TOTALS, ScanBlocks, ScanTotals};

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;

/// Replaces each of the first `len` words of a buffer by the sum, mod 2^32, of the words before it: in one launch up to
/// 2^12 words, in three up to 2^24, in five up to 2^36.
///
/// # Errors
/// The device's.
pub(crate) fn exclusive_scan(gpu: &Arc<Gpu>, buffer: &Buffer, len: usize) -> Result<(), DeviceError> {
    let blocks = len.div_ceil(SCAN_BLOCK);
    let (values, len) = (buffer.at(0), len as u64);
    if blocks <= 1 {
        return gpu.launch(&SCAN_BLOCKS, blocks, &ScanBlocks { values, before: Address(0), len });
    }
    // The sums of what depends on a witness depend on it, too.
    let totals = gpu.alloc(blocks, Secrecy::Secret)?;
    gpu.launch(&SCAN_TOTALS, blocks, &ScanTotals { values, totals: totals.at(0), len })?;
    exclusive_scan(gpu, &totals, blocks)?;
    gpu.launch(&SCAN_BLOCKS, blocks, &ScanBlocks { values, before: totals.at(0), len })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::tests::open;

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

        // The words behind must stay as they are.
        let behind = [7, 8, 9];
        let buffer = gpu.upload(&[&values[..], &behind].concat(), Secrecy::Public).unwrap();
        exclusive_scan(gpu, &buffer, len).unwrap();
        let found = pollster::block_on(gpu.read(&buffer, 0..buffer.words())).unwrap();
        assert!(found[..] == [&sums[..len], &behind].concat(), "{len} words");
    }

    #[test]
    fn sums_are_those_of_the_host() {
        let gpu = open();
        for len in
            [0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 511, 512, 513, 1000, 4095, 4096, 4097, 8191, 8192, 100_001]
        {
            check(&gpu, len);
        }
        // A word more than one level of totals can take.
        check(&gpu, SCAN_BLOCK * SCAN_BLOCK + 1);
    }
}
