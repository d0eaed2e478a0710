//! The curve, as a type parameter.

use bellwether_core::curve::{Bls12, G1Affine, G1Projective, G2Affine, G2Projective, Gt, Scalar};
use pairing::MultiMillerLoop;

mod sealed {
    pub trait Sealed {}
    impl Sealed for bellwether_core::curve::Bls12 {}
}

/// A curve to prove over. It is there so that types and functions take the parameters that bellperson's take;
/// [`Bls12`] is the only one.
pub trait Engine:
    MultiMillerLoop<
        Fr = Scalar,
        G1 = G1Projective,
        G1Affine = G1Affine,
        G2 = G2Projective,
        G2Affine = G2Affine,
        Gt = Gt,
    > + sealed::Sealed
{
}

impl Engine for Bls12 {}
