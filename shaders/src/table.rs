//! The table of programs: which there are and what each is made of. The build script reads it too.

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

/// A piece of WGSL that programs are put together from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Arithmetic in Fr, generated.
    Fr,
    /// Arithmetic in Fp, generated.
    Fp,
    /// `fp_inverse`.
    FpInverse,
    /// Arithmetic in the coordinate field of the group: Fp or Fp2.
    Coordinate,
    /// Inversion in the coordinate field.
    CoordinateInverse,
    /// Sums and doubles of points.
    Curve,
    /// Values of a compact witness.
    Witness,
    /// Signed digits of scalars.
    Digits,
}

impl Part {
    /// What the part itself is made of.
    pub(crate) fn needs(self) -> &'static [Part] {
        match self {
            Part::Fr | Part::Fp => &[],
            Part::FpInverse => &[Part::Fp],
            Part::Coordinate => &[Part::Fp],
            Part::CoordinateInverse => &[Part::Coordinate, Part::FpInverse],
            Part::Curve => &[Part::Coordinate],
            Part::Witness | Part::Digits => &[Part::Fr],
        }
    }
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

    /// What the program is made of besides its own file.
    pub(crate) const fn parts(self) -> &'static [Part] {
        match self {
            Program::NttPass
            | Program::NttCross
            | Program::NttPowers
            | Program::Quotient
            | Program::SpmvSums => &[Part::Fr],
            Program::MsmDigits | Program::MsmScatter => &[Part::Digits],
            Program::SpmvEntries => &[Part::Witness],
            Program::NttReverse
            | Program::ScanBlocks
            | Program::ScanAdd
            | Program::SelectCount
            | Program::SelectEmit => &[],
            Program::MsmAccumulate
            | Program::MsmCombine
            | Program::MsmFold
            | Program::BatchAdd
            | Program::PointsDouble
            | Program::FixedBaseTable => &[Part::Curve],
            Program::FixedBaseMultiply => &[Part::Fr, Part::Curve],
            Program::PointsConvert => &[Part::Coordinate],
            Program::PointsNormalize => &[Part::CoordinateInverse, Part::Curve],
            Program::FieldChain => &[Part::Fr, Part::Fp],
        }
    }

    /// Whether there is a program for each group.
    pub fn is_per_group(self) -> bool {
        self.parts().iter().any(|part| matches!(part, Part::Coordinate | Part::CoordinateInverse | Part::Curve))
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
