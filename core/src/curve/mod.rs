//! The two groups of BLS12-381, seen the way a device sees them: arrays of affine points.
//!
//! [`AffinePoint`] is implemented by [`G1Affine`] and [`G2Affine`] and by nothing else. Code that does the
//! same work in both groups (queries, MSM, batch addition, set-up) is generic over it; where the group makes
//! a difference to a backend (kernel names, strides), [`AffinePoint::GROUP`] tells which one it is.

use std::fmt::Debug;

pub use blstrs::{Bls12, Compress, G1Affine, G1Projective, G2Affine, G2Projective, Gt, Scalar};
use blstrs::{Fp, Fp2};
use ff::Field;
use group::prime::PrimeCurveAffine;
use group::{Curve, Group as _, UncompressedEncoding};

mod packed;

pub use packed::{
    FP_WORDS, FR_WORDS, NotCanonical, point_words, scalar_words, unpack_points, unpack_scalars, unpack_sums,
};

/// Which of the two groups a point belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// The subgroup of order r of E(Fp): y² = x³ + 4.
    G1,
    /// The subgroup of order r of E'(Fp2): y² = x³ + 4(1 + u).
    G2,
}

impl Group {
    /// Both groups, in the order in which tables list them.
    pub const ALL: [Group; 2] = [Group::G1, Group::G2];

    /// Bytes of an affine point in packed form.
    pub const fn packed_bytes(self) -> usize {
        match self {
            Group::G1 => 96,
            Group::G2 => 192,
        }
    }
}

impl std::fmt::Display for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Group::G1 => "G1",
            Group::G2 => "G2",
        })
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for blstrs::G1Affine {}
    impl Sealed for blstrs::G2Affine {}
}

/// An affine point of G1 or G2.
///
/// The point at infinity is the pair of coordinates (0, 0), which is on neither curve.
pub trait AffinePoint:
    PrimeCurveAffine<Scalar = Scalar, Curve = Self::Projective>
    + UncompressedEncoding
    + Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + 'static
    + sealed::Sealed
{
    /// The same group in projective coordinates.
    type Projective: Curve<AffineRepr = Self>
        + group::Group<Scalar = Scalar>
        + for<'a> std::ops::AddAssign<&'a Self>
        + for<'a> std::ops::SubAssign<&'a Self>
        + Send
        + Sync
        + 'static;

    /// The field of the coordinates: Fp for G1, Fp2 for G2.
    type Coordinate: Field;

    /// Which group this is.
    const GROUP: Group;

    /// Bytes of a point in a parameter file (zcash's uncompressed encoding).
    const ENCODED_BYTES: usize;

    /// Affine coordinates; (0, 0) for the point at infinity.
    fn coordinates(&self) -> (Self::Coordinate, Self::Coordinate);

    /// The point with these coordinates. The caller knows that they satisfy the curve equation, or are (0, 0).
    fn from_coordinates(x: Self::Coordinate, y: Self::Coordinate) -> Self;

    /// Whether this is the point at infinity. Takes no care to hide the answer, and a fraction of the time.
    fn is_infinity(&self) -> bool;

    /// Whether both points have the same x. Takes no care to hide the answer.
    fn same_x(&self, other: &Self) -> bool;

    /// Whether the point lies in the subgroup of order r. The point must be on the curve.
    fn is_in_subgroup(&self) -> bool;
}

impl AffinePoint for G1Affine {
    type Projective = G1Projective;
    type Coordinate = Fp;
    const GROUP: Group = Group::G1;
    const ENCODED_BYTES: usize = 96;

    fn coordinates(&self) -> (Fp, Fp) {
        (self.x(), self.y())
    }

    fn from_coordinates(x: Fp, y: Fp) -> Self {
        G1Affine::from_raw_unchecked(x, y, false)
    }

    #[inline]
    fn is_infinity(&self) -> bool {
        let point = self.as_ref();
        point.x.l == [0; 6] && point.y.l == [0; 6]
    }

    #[inline]
    fn same_x(&self, other: &Self) -> bool {
        self.as_ref().x.l == other.as_ref().x.l
    }

    fn is_in_subgroup(&self) -> bool {
        self.is_torsion_free().into()
    }
}

impl AffinePoint for G2Affine {
    type Projective = G2Projective;
    type Coordinate = Fp2;
    const GROUP: Group = Group::G2;
    const ENCODED_BYTES: usize = 192;

    fn coordinates(&self) -> (Fp2, Fp2) {
        (self.x(), self.y())
    }

    fn from_coordinates(x: Fp2, y: Fp2) -> Self {
        G2Affine::from_raw_unchecked(x, y, false)
    }

    #[inline]
    fn is_infinity(&self) -> bool {
        let point = self.as_ref();
        point.x.fp.iter().chain(&point.y.fp).all(|coordinate| coordinate.l == [0; 6])
    }

    #[inline]
    fn same_x(&self, other: &Self) -> bool {
        self.as_ref().x == other.as_ref().x
    }

    fn is_in_subgroup(&self) -> bool {
        self.is_torsion_free().into()
    }
}

/// The neutral element of the group that `P` belongs to.
pub fn identity<P: AffinePoint>() -> P::Projective {
    P::Projective::identity()
}
