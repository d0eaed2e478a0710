//! What each program is made of.

use crate::table::Program;

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
    /// Signed digits of scalars, and the interface of the programs over them.
    Digits,
    /// Codes of a compact witness, word by word.
    Codes,
}

impl Part {
    /// What the part itself is made of.
    pub(crate) fn needs(self) -> &'static [Part] {
        match self {
            Part::Fr | Part::Fp | Part::Codes => &[],
            Part::FpInverse => &[Part::Fp],
            Part::Coordinate => &[Part::Fp],
            Part::CoordinateInverse => &[Part::Coordinate, Part::FpInverse],
            Part::Curve => &[Part::Coordinate],
            Part::Witness | Part::Digits => &[Part::Fr],
        }
    }
}

impl Program {
    /// What the program is made of besides its own file.
    pub(crate) fn parts(self) -> &'static [Part] {
        match self {
            Program::NttPass
            | Program::NttCross
            | Program::NttPowers
            | Program::Quotient
            | Program::SpmvSums => &[Part::Fr],
            Program::MsmDigits | Program::MsmScatter => &[Part::Digits],
            Program::SpmvEntries => &[Part::Witness],
            Program::SelectCount | Program::SelectEmit => &[Part::Codes],
            Program::NttReverse | Program::ScanBlocks | Program::ScanAdd => &[],
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
    pub(crate) fn is_per_group(self) -> bool {
        self.parts()
            .iter()
            .any(|part| matches!(part, Part::Coordinate | Part::CoordinateInverse | Part::Curve))
    }
}
