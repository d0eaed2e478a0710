//! Entries of multi-scalar products: `entries.cu`.

use crate::kernel::{Address, Module, declare_kernels};

declare_kernels! {
    /// Counts the digits of scalars by bucket. `list` is 0 for scalars in turn.
    struct CountDigits {
        scalars: Address,
        list: Address,
        counts: Address,
        ranks: Address,
        count: u32,
        window_bits: u32,
        windows: u32,
        sets: u32,
    }
    kernels { COUNT_DIGITS = "count_digits" in Module::Entries, 256 threads; }

    /// Puts the entries in order of their buckets.
    struct PlaceEntries {
        scalars: Address,
        list: Address,
        offsets: Address,
        ranks: Address,
        entries: Address,
        count: u32,
        first: u32,
        table_len: u32,
        window_bits: u32,
        windows: u32,
        sets: u32,
    }
    kernels { PLACE_ENTRIES = "place_entries" in Module::Entries, 256 threads; }

    /// Counts the outputs of a level of pairwise additions by bucket: `buckets + 1` words.
    struct HalveOffsets { offsets: Address, counts: Address, buckets: u32 }
    kernels { HALVE_OFFSETS = "halve_offsets" in Module::Entries, 256 threads; }

    /// Says which entries such a level adds. `entries` is 0 for points in order of their buckets.
    struct PairEntries { offsets: Address, halved: Address, entries: Address, pairs: Address, buckets: u32 }
    kernels { PAIR_ENTRIES = "pair_entries" in Module::Entries, 128 threads; }
}

/// Outputs that a block of [`PAIR_ENTRIES`] covers.
pub const PAIRS_OF_BLOCK: usize = 32 * 128;
