//! How a transform is cut into passes and what tables it has: pure functions of its size and of memory.

use bellwether_kernels::table::ntt::{FACTOR_WORDS, MAX_BLOCK_BITS};

/// log₂ of the size of the smallest transform in passes.
const FIRST: u32 = MAX_BLOCK_BITS + 1;

/// log₂ of the points of each pass, from the outermost, over columns, to the last, over rows; for 2^[`FIRST`] points
/// and each doubling up to 2^32.
///
/// 20, 22, 24 and 27 are what the prototype measured best on an H200 (GPU-NOTES.md: 0.183, 0.718, 3.00, 27.3 ms); 26
/// was 8, 8, 10 there, and passes of 10 are not built. The others follow by the number of radix-8 steps, not measured:
/// 6 takes two, 7 to 9 take three, and 9 wastes none of its last.
const PASSES: [&[u32]; 21] = [
    &[6, 6],
    &[7, 6],
    &[8, 6],
    &[9, 6],
    &[8, 8],
    &[9, 8],
    &[9, 9],
    &[7, 6, 6],
    &[8, 6, 6],
    &[9, 6, 6],
    &[8, 8, 6],
    &[9, 8, 6],
    &[8, 8, 8],
    &[9, 8, 8],
    &[9, 9, 8],
    &[9, 9, 9],
    &[8, 8, 6, 6],
    &[9, 8, 6, 6],
    &[9, 9, 6, 6],
    &[9, 8, 8, 6],
    &[9, 9, 8, 6],
];

/// The passes of a transform of 2^`log_size` points; none if one block does it all.
pub(super) fn passes(log_size: u32) -> &'static [u32] {
    let place = log_size.checked_sub(FIRST).map(|place| place as usize);
    place.and_then(|place| PASSES.get(place).copied()).unwrap_or_default()
}

/// A pass over columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnPlan {
    /// log₂ of the points of a column.
    pub(super) bits: u32,
    /// log₂ of the distance of neighbouring points of a column, the number of neighbouring columns.
    pub(super) log_stride: u32,
    /// The twiddle w^(k·c) of point k of column c is one of 2^(bits + low_bits) factors for k and c mod 2^low_bits;
    /// times one of as many as the rest of the columns makes, if there is a rest.
    pub(super) low_bits: u32,
}

impl ColumnPlan {
    /// Twiddles as products of two, from the two smallest tables.
    fn from_two_tables(bits: u32, log_stride: u32) -> ColumnPlan {
        ColumnPlan { bits, log_stride, low_bits: log_stride.div_ceil(2) }
    }

    /// Twiddles from one table.
    fn with_one_table(self) -> ColumnPlan {
        ColumnPlan { low_bits: self.log_stride, ..self }
    }

    /// log₂ of the number of factors for each k in the second table.
    pub(super) fn high_bits(self) -> Option<u32> {
        (self.low_bits < self.log_stride).then(|| self.log_stride - self.low_bits)
    }

    /// Bytes of the tables of both directions.
    fn bytes(self) -> u64 {
        let bytes = |bits: u32| 2 * 4 * FACTOR_WORDS as u64 * (1 << (self.bits + bits));
        bytes(self.low_bits) + self.high_bits().map_or(0, bytes)
    }
}

/// The passes over columns of a transform in these passes, from the outermost.
///
/// Twiddles come from one table where that fits `budget` bytes with the others: an eighth faster, measured with the
/// prototype, and 128 bytes a point for the outermost pass with both directions. Inner passes, whose tables are smaller
/// by the points of a column each time, come first. The smallest tables are made whatever the budget.
pub(super) fn columns(passes: &[u32], budget: u64) -> Vec<ColumnPlan> {
    let mut log_stride: u32 = passes.iter().sum();
    let mut columns: Vec<ColumnPlan> = passes[..passes.len().saturating_sub(1)]
        .iter()
        .map(|bits| {
            log_stride -= bits;
            ColumnPlan::from_two_tables(*bits, log_stride)
        })
        .collect();
    let mut bytes = table_bytes(&columns);
    for column in columns.iter_mut().rev() {
        let whole = column.with_one_table();
        let with_whole = bytes - column.bytes() + whole.bytes();
        if with_whole <= budget {
            *column = whole;
            bytes = with_whole;
        }
    }
    columns
}

/// Bytes of the twiddles of all passes in both directions.
pub(super) fn table_bytes(columns: &[ColumnPlan]) -> u64 {
    columns.iter().map(|column| column.bytes()).sum()
}

#[cfg(test)]
mod tests {
    use bellwether_kernels::table::ntt::{PASSES as KERNELS, block_points};

    use super::*;

    #[test]
    fn every_size_has_passes_that_exist() {
        for log_size in 0..=32 {
            let passes = passes(log_size);
            if log_size <= MAX_BLOCK_BITS {
                assert!(passes.is_empty());
                continue;
            }
            assert_eq!(passes.iter().sum::<u32>(), log_size);
            let count =
                [(18, 2), (27, 3), (32, 4)].into_iter().find(|(most, _)| log_size <= *most).unwrap().1;
            assert_eq!(passes.len(), count, "{log_size}");
            assert!(passes.iter().all(|bits| KERNELS.iter().any(|kernels| kernels.bits == *bits)));
        }
        assert!(passes(33).is_empty());
    }

    /// A block has so many neighbouring columns, or rows with neighbouring k₁.
    #[test]
    fn blocks_find_enough_columns_and_rows() {
        let kernels = |bits: u32| KERNELS.iter().find(|kernels| kernels.bits == bits).unwrap();
        for log_size in FIRST..=32 {
            let passes = passes(log_size);
            for column in columns(passes, 0) {
                let kernels = kernels(column.bits);
                for kernel in [kernels.columns, kernels.columns_back, kernels.columns_product] {
                    assert!(1 << column.log_stride >= block_points(&kernel) >> column.bits, "{log_size}");
                }
            }
            let row_bits = *passes.last().unwrap();
            let (points, rows) = (1usize << log_size, block_points(&kernels(row_bits).rows) >> row_bits);
            // Runs of 128 bytes or more.
            assert!((4..=1 << passes[0]).contains(&rows), "{log_size}");
            let extend = block_points(&kernels(row_bits).rows_extend);
            assert!(points >= extend && extend >> row_bits >= 1);
            // A grid has fewer than 2^31 blocks.
            assert!(points / extend < 1 << 31);
        }
    }

    #[test]
    fn tables_keep_to_their_budget() {
        for log_size in 0..=32 {
            let [least, most] = [0, u64::MAX].map(|budget| columns(passes(log_size), budget));
            assert!(least.iter().all(|column| column.high_bits().is_some()));
            assert!(most.iter().all(|column| column.high_bits().is_none()));
            // What has to be is little: 96 MiB at the design size, 401 MiB at most.
            let needed = table_bytes(&least);
            assert!(needed <= 401 << 20, "{log_size}: {needed}");
            for budget in (0..45).map(|bits| 1u64 << bits) {
                let columns = columns(passes(log_size), budget);
                assert!(table_bytes(&columns) <= budget.max(needed));
                for (column, least) in columns.iter().zip(&least) {
                    assert_eq!((column.bits, column.log_stride), (least.bits, least.log_stride));
                }
                // Inner passes come first.
                let whole = columns.iter().map(|column| column.high_bits().is_none());
                assert!(whole.is_sorted(), "{columns:?}");
            }
        }
    }

    #[test]
    fn the_design_size() {
        let columns = columns(passes(27), 1 << 30);
        let low_bits = |bits, log_stride, low_bits| ColumnPlan { bits, log_stride, low_bits };
        assert_eq!(columns, [low_bits(9, 18, 9), low_bits(9, 9, 9)]);
        // 64 MiB for the outer pass, 32 MiB for the inner, whose one table is no larger than two.
        assert_eq!(table_bytes(&columns), 96 << 20);
        assert_eq!(table_bytes(&super::columns(passes(27), u64::MAX)), (16 << 30) + (32 << 20));
    }
}
