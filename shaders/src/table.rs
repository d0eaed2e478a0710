//! The table of programs: which there are. The build script reads it too, and `build/parts.rs` says what each is made of.

/// A compute shader: one file in `wgsl/`, one idea.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Program {
    /// One pass of a transform: all sub-transforms over some bits of the index.
    NttPass,
    /// One layer of butterflies between two parts of a vector that does not fit one binding.
    NttCross,
    /// Powers of an element, the twiddle factors of a transform.
    NttPowers,
    /// Bit reversal of a vector, from part to part.
    NttReverse,
    /// The pointwise quotient (a·b − c)·scale.
    Quotient,
    /// Sums of matrix entries times witness values, over ranges of entries.
    SpmvEntries,
    /// Sums of the partial sums of long rows.
    SpmvSums,
    /// Exclusive prefix sums within blocks.
    ScanBlocks,
    /// Adds to each block what comes before it.
    ScanAdd,
    /// Counts of ones and dense values among the members in each word of a variable set.
    SelectCount,
    /// Positions of the ones and of the dense values.
    SelectEmit,
    /// Signed digits of scalars, counted by bucket.
    MsmDigits,
    /// Entries of the multi-scalar product in order of their buckets.
    MsmScatter,
    /// Sums of entries: each thread adds a run of affine points and sums up what ends in it by bucket.
    MsmAccumulate,
    /// Sums of partial sums by bucket.
    MsmCombine,
    /// One level of the tree that weighs sums by the bits of their index.
    MsmFold,
    /// Sums of chosen bases: each thread adds a run of positions.
    BatchAdd,
    /// Points from packed to device form and back.
    PointsConvert,
    /// Affine points doubled so and so often, not normalized.
    PointsDouble,
    /// Products that batch inversion needs, and with them points in affine form.
    PointsNormalize,
    /// Multiples of the window starts of a fixed base.
    FixedBaseTable,
    /// Multiples of a fixed base, summed from the table.
    FixedBaseMultiply,
    /// A chain of products in each thread: the field arithmetic by itself, for tests and for the device's rate.
    FieldChain,
}

impl Program {
    /// All programs.
    pub const ALL: &[Program] = &[
        Program::NttPass,
        Program::NttCross,
        Program::NttPowers,
        Program::NttReverse,
        Program::Quotient,
        Program::SpmvEntries,
        Program::SpmvSums,
        Program::ScanBlocks,
        Program::ScanAdd,
        Program::SelectCount,
        Program::SelectEmit,
        Program::MsmDigits,
        Program::MsmScatter,
        Program::MsmAccumulate,
        Program::MsmCombine,
        Program::MsmFold,
        Program::BatchAdd,
        Program::PointsConvert,
        Program::PointsDouble,
        Program::PointsNormalize,
        Program::FixedBaseTable,
        Program::FixedBaseMultiply,
        Program::FieldChain,
    ];

    /// Name of the program and, with `.wgsl`, of its file.
    pub const fn name(self) -> &'static str {
        match self {
            Program::NttPass => "ntt_pass",
            Program::NttCross => "ntt_cross",
            Program::NttPowers => "ntt_powers",
            Program::NttReverse => "ntt_reverse",
            Program::Quotient => "quotient",
            Program::SpmvEntries => "spmv_entries",
            Program::SpmvSums => "spmv_sums",
            Program::ScanBlocks => "scan_blocks",
            Program::ScanAdd => "scan_add",
            Program::SelectCount => "select_count",
            Program::SelectEmit => "select_emit",
            Program::MsmDigits => "msm_digits",
            Program::MsmScatter => "msm_scatter",
            Program::MsmAccumulate => "msm_accumulate",
            Program::MsmCombine => "msm_combine",
            Program::MsmFold => "msm_fold",
            Program::BatchAdd => "batch_add",
            Program::PointsConvert => "points_convert",
            Program::PointsDouble => "points_double",
            Program::PointsNormalize => "points_normalize",
            Program::FixedBaseTable => "fixed_base_table",
            Program::FixedBaseMultiply => "fixed_base_multiply",
            Program::FieldChain => "field_chain",
        }
    }
}

/// The representation of field elements, which depends on what integers a device computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// 64-bit integers: limbs of 30 bits for Fp and of 29 for Fr, columns of products in `u64`.
    U64,
    /// 32-bit integers only, as in browsers: limbs of 13 bits, columns of products in `u32`.
    U32,
}

impl Tier {
    /// Both tiers.
    pub const ALL: [Tier; 2] = [Tier::U64, Tier::U32];

    /// `u64` or `u32`.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::U64 => "u64",
            Tier::U32 => "u32",
        }
    }
}
