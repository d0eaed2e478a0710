//! The two fields of BLS12-381: Fr, of the scalars, and Fp, of the coordinates.
//!
//! Arithmetic on the CPU is blstrs: [`Scalar`] is Fr, [`Fp`] and [`Fp2`] hold coordinates of G1 and G2.
//!
//! What generators of GPU code need is computed from the two moduli, which are the only constants typed in:
//!
//! - [`Modulus`]: [`Modulus::FR`] (r) and [`Modulus::FP`] (p), their bits and two-adicity, and
//!   [`MontgomeryConstants`] for limbs of 13 to 32 bits;
//! - [`fr_generator`], [`fr_smallest_non_residue`] and the roots of unity of order 2^32 that follow from them;
//! - [`reference`](mod@reference): slow and readable Montgomery arithmetic over such limbs, against which
//!   the arithmetic of GPU code is tested.
//!
//! The tests hold all of it against blstrs.

mod batch;
mod modulus;
mod natural;
pub mod reference;
mod roots;
mod scalar;

pub use blstrs::{Fp, Fp2, Scalar};

pub use batch::batch_invert;
pub use modulus::{LimbWidthError, MAX_LIMB_BITS, MIN_LIMB_BITS, Modulus, MontgomeryConstants};
pub use natural::Natural;
pub use roots::{bellman_root_of_unity, fr_generator, fr_smallest_non_residue, snarkjs_root_of_unity};
pub use scalar::{SCALAR_BITS, scalar_limbs, scalar_window};
