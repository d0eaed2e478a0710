//! `ntt.cu`: transforms. What the fields mean is said in `ntt.cuh`.

use crate::kernel::{Address, Kernel, Module, Parameters, declare_kernels};

/// log₂ of the most points that [`BLOCK`] transforms.
pub const MAX_BLOCK_BITS: u32 = 11;

/// Bytes of a point.
pub const POINT_BYTES: usize = 32;

/// Words of a factor in a table.
pub const FACTOR_WORDS: usize = 16;

/// A scalar in packed form, canonical.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Packed(pub [u32; 8]);

/// A multiplier b below r, then ⌊b·2^256/r⌋.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Factor(pub [u32; FACTOR_WORDS]);

/// What transforms of one direction multiply by inside a block.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "see `ntt.cuh`")]
pub struct Roots {
    pub eighth: [Factor; 3],
    pub steps: [Address; 2],
}

/// One table of factors, or two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
#[allow(missing_docs, reason = "see `ntt.cuh`")]
pub struct Factors {
    pub low: Address,
    pub high: Address,
    pub low_bits: u32,
    pub high_bits: u32,
}

/// A pass over columns.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "see `ntt.cuh`")]
pub struct ColumnPass {
    pub roots: Roots,
    pub twiddles: Factors,
    pub before: Factors,
    pub input: Address,
    pub output: Address,
    pub times: Address,
    pub minus: Address,
    pub log_stride: u32,
    pub unused: [u32; 3],
}

/// The last pass of a transform to natural order.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "see `ntt.cuh`")]
pub struct RowPass {
    pub roots: Roots,
    pub after: Factors,
    pub input: Address,
    pub output: Address,
    pub log_size: u32,
    pub log_first: u32,
    pub log_second: u32,
    pub log_third: u32,
    pub negate: u32,
    pub unused: u32,
}

/// The two row passes between a transform and the next.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "see `ntt.cuh`")]
pub struct ExtendPass {
    pub there: Roots,
    pub back: Roots,
    pub between: Address,
    pub input: Address,
    pub output: Address,
    pub unused: u64,
}

/// A whole transform in one block, or two.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "see `ntt.cu`")]
pub struct BlockPass {
    pub roots: Address,
    pub back: Address,
    pub before: Address,
    pub after: Address,
    pub input: Address,
    pub output: Address,
    pub times: Address,
    pub minus: Address,
    pub log_size: u32,
    pub unused: u32,
}

/// A table to be made.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "see `ntt.cu`")]
pub struct TableFill {
    pub first: Packed,
    pub ratio: Packed,
    pub step: Packed,
    pub root: Packed,
    pub output: Address,
    pub count: u64,
    pub log_columns: u32,
    pub log_run: u32,
    pub unused: [u32; 2],
}

declare_kernels! {
    /// Transforms columns.
    struct Columns { pass: ColumnPass }
    kernels {
        COLUMNS_6 = "ntt_columns_6" in Module::Ntt, 128 threads;
        COLUMNS_7 = "ntt_columns_7" in Module::Ntt, 128 threads;
        COLUMNS_8 = "ntt_columns_8" in Module::Ntt, 128 threads;
        COLUMNS_9 = "ntt_columns_9" in Module::Ntt, 256 threads;
        COLUMNS_BACK_6 = "ntt_columns_back_6" in Module::Ntt, 128 threads;
        COLUMNS_BACK_7 = "ntt_columns_back_7" in Module::Ntt, 128 threads;
        COLUMNS_BACK_8 = "ntt_columns_back_8" in Module::Ntt, 128 threads;
        COLUMNS_BACK_9 = "ntt_columns_back_9" in Module::Ntt, 256 threads;
        COLUMNS_PRODUCT_6 = "ntt_columns_product_6" in Module::Ntt, 128 threads;
        COLUMNS_PRODUCT_7 = "ntt_columns_product_7" in Module::Ntt, 128 threads;
        COLUMNS_PRODUCT_8 = "ntt_columns_product_8" in Module::Ntt, 128 threads;
        COLUMNS_PRODUCT_9 = "ntt_columns_product_9" in Module::Ntt, 256 threads;
    }

    /// Transforms rows and writes to natural order.
    struct Rows { pass: RowPass }
    kernels {
        ROWS_6 = "ntt_rows_6" in Module::Ntt, 128 threads;
        ROWS_7 = "ntt_rows_7" in Module::Ntt, 128 threads;
        ROWS_8 = "ntt_rows_8" in Module::Ntt, 128 threads;
        ROWS_9 = "ntt_rows_9" in Module::Ntt, 256 threads;
    }

    /// Transforms rows, multiplies, and transforms them the other way.
    struct RowsExtend { pass: ExtendPass }
    kernels {
        ROWS_EXTEND_6 = "ntt_rows_extend_6" in Module::Ntt, 128 threads;
        ROWS_EXTEND_7 = "ntt_rows_extend_7" in Module::Ntt, 128 threads;
        ROWS_EXTEND_8 = "ntt_rows_extend_8" in Module::Ntt, 128 threads;
        ROWS_EXTEND_9 = "ntt_rows_extend_9" in Module::Ntt, 128 threads;
    }

    /// Transforms up to 2^[`MAX_BLOCK_BITS`] points, whose bytes are the dynamic shared memory.
    struct Block { pass: BlockPass }
    kernels { BLOCK = "ntt_block" in Module::Ntt, 512 threads; }

    /// Makes a table.
    struct Table { fill: TableFill }
    kernels { TABLE = "ntt_table" in Module::Ntt, 128 threads; }
}

/// Points of a block of a pass.
pub const fn block_points<P: Parameters>(kernel: &Kernel<P>) -> usize {
    8 * kernel.threads() as usize
}

/// The kernels of a pass of 2^`bits` points.
#[derive(Clone, Copy, Debug)]
pub struct PassKernels {
    /// log₂ of the points of a transform.
    pub bits: u32,
    /// Over columns, in frequency.
    pub columns: Kernel<Columns>,
    /// Over columns, in time.
    pub columns_back: Kernel<Columns>,
    /// The same with the product.
    pub columns_product: Kernel<Columns>,
    /// Over rows, to natural order.
    pub rows: Kernel<Rows>,
    /// Over rows, there and back.
    pub rows_extend: Kernel<RowsExtend>,
}

/// Passes of each size, from the smallest on.
pub const PASSES: [PassKernels; 4] = [
    PassKernels {
        bits: 6,
        columns: COLUMNS_6,
        columns_back: COLUMNS_BACK_6,
        columns_product: COLUMNS_PRODUCT_6,
        rows: ROWS_6,
        rows_extend: ROWS_EXTEND_6,
    },
    PassKernels {
        bits: 7,
        columns: COLUMNS_7,
        columns_back: COLUMNS_BACK_7,
        columns_product: COLUMNS_PRODUCT_7,
        rows: ROWS_7,
        rows_extend: ROWS_EXTEND_7,
    },
    PassKernels {
        bits: 8,
        columns: COLUMNS_8,
        columns_back: COLUMNS_BACK_8,
        columns_product: COLUMNS_PRODUCT_8,
        rows: ROWS_8,
        rows_extend: ROWS_EXTEND_8,
    },
    PassKernels {
        bits: 9,
        columns: COLUMNS_9,
        columns_back: COLUMNS_BACK_9,
        columns_product: COLUMNS_PRODUCT_9,
        rows: ROWS_9,
        rows_extend: ROWS_EXTEND_9,
    },
];
