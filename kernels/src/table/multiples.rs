//! Multiples of points of one group: `multiples.cuh`, in `points_g1.cu` and `points_g2.cu`.

use crate::kernel::{Address, declare_kernels};

declare_kernels! {
    /// `count` points times 2^`times`, as sums; `times` is at least one.
    struct DoublePoints { points: Address, sums: Address, count: u64, times: u32 }
    groups { DOUBLE_POINTS = "double_points", 128 threads; }

    /// `count` sums as affine points, by `threads` threads with an inversion each.
    struct NormalizeSums { sums: Address, points: Address, count: u64, threads: u64 }
    groups { NORMALIZE_SUMS = "normalize_sums", 128 threads; }

    /// The table of multiples of a point P, `count` sums d·2^(`bits`·w)·P at 2^`bits`·w + d, from the points
    /// 2^(`bits`·w)·P. `bits` divides 32.
    struct FixedBaseTable { starts: Address, sums: Address, count: u32, bits: u32 }
    groups { FIXED_BASE_TABLE = "fixed_base_table", 128 threads; }

    /// Multiples of P by `count` scalars, as sums, from the table as affine points.
    struct FixedBaseMultiply { scalars: Address, table: Address, sums: Address, count: u64, bits: u32 }
    groups { FIXED_BASE_MULTIPLY = "fixed_base_multiply", 128 threads; }
}
