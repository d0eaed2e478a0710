//! `scalar.cu`: prefix sums, the pointwise quotient, selection, the sparse product.

use crate::kernel::{Address, Module, declare_kernels};

/// Words that a block scans.
pub const SCAN_BLOCK: usize = 4096;

/// Words of a set that a block lists, a warp each.
pub const LIST_WARPS: usize = 8;

/// Entries of a row that [`SPMV_ROWS`] takes, at most.
pub const SHORT_ROW: usize = 15;

/// Runs of entries that a block takes, a warp each, and rows whose partial sums it adds.
pub const SPMV_WARPS: usize = 8;

declare_kernels! {
    /// totals_b ← the sum of block b of `len` words.
    struct ScanTotals { values: Address, totals: Address, len: u64 }
    kernels { SCAN_TOTALS = "scan_totals" in Module::Scalar, 256 threads; }

    /// Each of `len` words ← the sum of those before it in its block, plus before_b; without, if that is null.
    struct ScanBlocks { values: Address, before: Address, len: u64 }
    kernels { SCAN_BLOCKS = "scan_blocks" in Module::Scalar, 256 threads; }

    /// a_i ← (a_i·b_i − c_i)·scale, a thread each; without c, if that is null.
    struct Quotient { a: Address, b: Address, c: Address, scale: [u32; 8], count: u64 }
    kernels { QUOTIENT = "quotient" in Module::Scalar, 256 threads; }

    /// Members that are one, then members that are dense, of each word of 32 variables; a thread a word.
    struct SelectCount { members: Address, codes: Address, counts: Address, words: u64 }
    kernels { SELECT_COUNT = "select_count" in Module::Scalar, 256 threads; }

    /// Positions of members that are one, positions and indices of members that are dense; a warp a word.
    struct SelectList {
        members: Address, positions: Address, codes: Address, ranks: Address, offsets: Address,
        ones: Address, tail: Address, ones_count: u32, words: u64,
    }
    kernels { SELECT_LIST = "select_list" in Module::Scalar, 256 threads; }

    /// Rows of at most [`SHORT_ROW`] entries times a witness, a thread each.
    struct SpmvRows {
        codes: Address, ranks: Address, dense: Address, coefficients: Address,
        bases: Address, rows: Address, entries: Address, product: Address, count: u64,
    }
    kernels { SPMV_ROWS = "spmv_rows" in Module::Scalar, 256 threads; }

    /// Runs of entries times a witness, a warp each.
    struct SpmvRuns {
        codes: Address, ranks: Address, dense: Address, coefficients: Address,
        starts: Address, places: Address, entries: Address, outputs: Address, count: u64,
    }
    kernels { SPMV_RUNS = "spmv_runs" in Module::Scalar, 256 threads; }

    /// Rows of the product as the sums of what their runs came to, a warp each.
    struct SpmvSums { partial: Address, starts: Address, rows: Address, product: Address, count: u64 }
    kernels { SPMV_SUMS = "spmv_sums" in Module::Scalar, 256 threads; }
}
