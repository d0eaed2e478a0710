//! Points of one group: `sums.cuh` and `multiples.cuh`, in `points_g1.cu` and `points_g2.cu`.

use crate::kernel::{Address, declare_kernels};

declare_kernels! {
    /// Multiplies the denominators of a level of pairwise additions, `total` in all, by `threads` threads.
    struct PairProducts {
        points: Address,
        pairs: Address,
        total: Address,
        threads: u32,
        before: Address,
        products: Address,
    }
    groups { PAIR_PRODUCTS = "pair_products", 128 threads; }

    /// Inverts products in place.
    struct InvertProducts { products: Address, before: Address, count: u32, threads: u32 }
    groups { INVERT_PRODUCTS = "invert_products", 64 threads; }

    /// Adds the pairs of a level.
    struct AddPairs {
        points: Address,
        pairs: Address,
        total: Address,
        threads: u32,
        before: Address,
        inverses: Address,
        out: Address,
    }
    groups { ADD_PAIRS = "add_pairs", 128 threads; }

    /// Sums points by bucket as entries say, in runs.
    struct AccumulateEntries {
        points: Address,
        entries: Address,
        offsets: Address,
        buckets: u32,
        sums: Address,
        partials: Address,
        keys: Address,
        threads: u32,
        shortest: u32,
        resume: u32,
    }
    groups { ACCUMULATE_ENTRIES = "accumulate_entries", 128 threads; }

    /// Sums points that lie in order of their buckets, in runs.
    struct AccumulatePoints {
        points: Address,
        offsets: Address,
        buckets: u32,
        sums: Address,
        partials: Address,
        keys: Address,
        threads: u32,
        shortest: u32,
        resume: u32,
    }
    groups { ACCUMULATE_POINTS = "accumulate_points", 128 threads; }

    /// Combines `length` slots of partial sums: a level, or the last levels in one block.
    struct CombinePartials {
        partials: Address,
        keys: Address,
        length: u32,
        sums: Address,
        out_partials: Address,
        out_keys: Address,
    }
    groups {
        COMBINE_PARTIALS = "combine_partials", 128 threads;
        COMBINE_LAST = "combine_last", 256 threads;
    }

    /// Plain and weighted sums of `count` chunks of buckets.
    struct WeighChunks { sums: Address, lists: Address, count: u32, chunk: u32 }
    groups { WEIGH_CHUNKS = "weigh_chunks", 128 threads; }

    /// Folds lists of sums onto their lower halves, of length `half` each.
    struct FoldLists { from: Address, to: Address, lists: u32, sets: u32, half: u32 }
    groups { FOLD_LISTS = "fold_lists", 128 threads; }

    /// Folds lists to one canonical sum each, by a block for each set with `space` sums to work in.
    struct FoldLast {
        from: Address,
        work: Address,
        space: u32,
        out: Address,
        lists: u32,
        sets: u32,
        length: u32,
    }
    groups { FOLD_LAST = "fold_last", 256 threads; }
}

/// Slots of partial sums that one thread combines.
pub const COMBINE_RUN: usize = 8;
