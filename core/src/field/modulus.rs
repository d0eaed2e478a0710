//! The moduli r and p, and the Montgomery constants that follow from them.

use super::Natural;

/// The narrowest limbs for which constants are made: at 13 bits all 2 · 30 products of a column of Montgomery's
/// multiplication in Fp add up in 32 bits without a carry, so narrower limbs gain nothing.
pub const MIN_LIMB_BITS: u32 = 13;

/// The widest limbs for which constants are made: a machine word of a GPU.
pub const MAX_LIMB_BITS: u32 = 32;

/// The modulus m of one of the two fields: an odd prime below 2^383.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Modulus {
    name: &'static str,
    value: Natural,
}

impl Modulus {
    /// r, the order of G1, G2 and Gt, a prime of 255 bits: the modulus of the scalars.
    pub const FR: Modulus = Modulus {
        name: "Fr",
        value: Natural::from_words([
            0xffffffff00000001,
            0x53bda402fffe5bfe,
            0x3339d80809a1d805,
            0x73eda753299d7d48,
            0,
            0,
        ]),
    };

    /// p, a prime of 381 bits: the modulus of the coordinates.
    pub const FP: Modulus = Modulus {
        name: "Fp",
        value: Natural::from_words([
            0xb9feffffffffaaab,
            0x1eabfffeb153ffff,
            0x6730d2a0f6b0f624,
            0x64774b84f38512bf,
            0x4b1ba7b6434bacd7,
            0x1a0111ea397fe69a,
        ]),
    };

    /// `Fr` or `Fp`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// m.
    pub const fn value(&self) -> &Natural {
        &self.value
    }

    /// Bits of m: 255 for r, 381 for p.
    pub fn num_bits(&self) -> u32 {
        self.value.bit_length()
    }

    /// 32-bit words of a residue in packed form: 8 for r, 12 for p.
    pub fn packed_words(&self) -> usize {
        self.limb_count(32)
    }

    /// The exponent S of 2 in m − 1 = 2^S · t, t odd: 32 for r, 1 for p.
    pub fn two_adicity(&self) -> u32 {
        self.minus_one().trailing_zeros()
    }

    /// The odd t of m − 1 = 2^S · t.
    pub fn odd_part(&self) -> Natural {
        self.minus_one().shift_right(self.two_adicity())
    }

    /// m − 1.
    pub fn minus_one(&self) -> Natural {
        // m is odd, so taking one away clears the lowest bit.
        let mut words = *self.value.words();
        words[0] &= !1;
        Natural::from_words(words)
    }

    /// Limbs of `limb_bits` (at least one) that hold a residue: ⌈num_bits / limb_bits⌉.
    pub fn limb_count(&self, limb_bits: u32) -> usize {
        self.num_bits().div_ceil(limb_bits.max(1)) as usize
    }

    /// 2^`exponent` mod m.
    pub fn power_of_two(&self, exponent: u32) -> Natural {
        (0..exponent).fold(Natural::ONE, |power, _| self.double(&power))
    }

    /// −m⁻¹ mod 2^`limb_bits`, for `limb_bits` of at most 32: the factor with which a reduction step of
    /// Montgomery's multiplication makes the lowest limb vanish.
    pub fn negative_inverse(&self, limb_bits: u32) -> u32 {
        // Newton: if m·x ≡ 1 mod 2^k then m·x(2 − m·x) ≡ 1 mod 2^2k. From x = 1, right mod 2, five steps
        // reach 2^32.
        let m = self.value.limb(0, 32);
        let inverse = (0..5).fold(1u32, |x, _| x.wrapping_mul(2u32.wrapping_sub(m.wrapping_mul(x))));
        Natural::from(u64::from(inverse.wrapping_neg())).limb(0, limb_bits)
    }

    /// What Montgomery arithmetic over limbs of `limb_bits` needs.
    ///
    /// # Errors
    ///
    /// [`LimbWidthError`] unless 13 ≤ `limb_bits` ≤ 32.
    pub fn montgomery(&self, limb_bits: u32) -> Result<MontgomeryConstants, LimbWidthError> {
        if !(MIN_LIMB_BITS..=MAX_LIMB_BITS).contains(&limb_bits) {
            return Err(LimbWidthError { limb_bits });
        }
        let limbs = self.limb_count(limb_bits);
        let limbs_bits = limb_bits * limbs as u32;
        let packed_bits = 32 * self.packed_words() as u32;
        let power = |exponent| self.power_of_two(exponent).limbs(limb_bits, limbs);
        Ok(MontgomeryConstants {
            limb_bits,
            limbs,
            modulus: self.value.limbs(limb_bits, limbs),
            one: power(limbs_bits),
            r_squared: power(2 * limbs_bits),
            negative_inverse: self.negative_inverse(limb_bits),
            // R ≥ m > 2^(packed_bits / 2), so the exponent is not negative.
            from_packed: power(2 * limbs_bits - packed_bits),
            to_packed: power(packed_bits),
        })
    }

    /// 2·`residue` mod m, for a residue below m.
    pub(super) fn double(&self, residue: &Natural) -> Natural {
        // m has at most 383 bits: twice a residue is a Natural.
        residue.checked_add(residue).map_or(*residue, |doubled| self.subtract_once(doubled))
    }

    /// `value` mod m, for a value below 2m.
    pub(super) fn subtract_once(&self, value: Natural) -> Natural {
        value.checked_sub(&self.value).unwrap_or(value)
    }
}

impl std::fmt::Debug for Modulus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?})", self.name, self.value)
    }
}

/// The constants of Montgomery arithmetic modulo m over limbs of W bits, with R = 2^(W · limbs).
///
/// Numbers are vectors of `limbs` limbs, least significant first, each below 2^W.
/// montmul(x, y) stands for x·y/R mod m.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MontgomeryConstants {
    /// W.
    pub limb_bits: u32,
    /// Limbs of a residue: the fewest that hold m. R exceeds m, but no spare bit is promised: 17 limbs of 15
    /// bits hold r exactly, and the sum of two residues then overflows them.
    pub limbs: usize,
    /// m.
    pub modulus: Vec<u32>,
    /// R mod m: one in Montgomery form.
    pub one: Vec<u32>,
    /// R² mod m: montmul by it brings a residue into Montgomery form.
    pub r_squared: Vec<u32>,
    /// −m⁻¹ mod 2^W.
    pub negative_inverse: u32,
    /// R²/P mod m, where P = 2^256 for Fr and 2^384 for Fp is the R of the packed form: montmul by it turns
    /// x·P into x·R.
    pub from_packed: Vec<u32>,
    /// P mod m: montmul by it turns x·R into x·P.
    pub to_packed: Vec<u32>,
}

/// A limb width for which no constants are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("limbs of {limb_bits} bits: the width must be {MIN_LIMB_BITS} to {MAX_LIMB_BITS}")]
pub struct LimbWidthError {
    /// The width asked for.
    pub limb_bits: u32,
}

#[cfg(test)]
mod tests {
    use blstrs::{Fp, Scalar};
    use ff::{Field, PrimeField};

    use super::*;

    #[test]
    fn moduli_are_those_of_blstrs() {
        assert_eq!(format!("{:#x}", Modulus::FR.value()), Scalar::MODULUS);
        assert_eq!(Natural::from_le_bytes(&Fp::char()), Some(*Modulus::FP.value()));
        assert_eq!(Natural::from(-Scalar::ONE), Modulus::FR.minus_one());
        assert_eq!(Natural::from(-Fp::ONE), Modulus::FP.minus_one());
        assert_eq!(Modulus::FR.num_bits(), Scalar::NUM_BITS);
        assert_eq!(Modulus::FP.num_bits(), 381);
        assert_eq!((Modulus::FR.packed_words(), Modulus::FP.packed_words()), (8, 12));
    }

    #[test]
    fn two_adicity_is_that_of_blstrs() {
        assert_eq!(Modulus::FR.two_adicity(), Scalar::S);
        assert_eq!(Modulus::FP.two_adicity(), 1);
        for modulus in [Modulus::FR, Modulus::FP] {
            assert!(modulus.odd_part().bit(0));
        }
    }

    #[test]
    fn packed_constants_are_those_of_blst() {
        // blst's `p0` is −m⁻¹ mod 2^64 (blst/src/consts.c); the R of packed form is what `ONE` holds.
        let fr = Modulus::FR.montgomery(32).unwrap();
        let fp = Modulus::FP.montgomery(32).unwrap();
        assert_eq!(fr.negative_inverse, 0xffff_ffff);
        assert_eq!(fp.negative_inverse, 0xfffc_fffd);
        assert_eq!((fr.one.as_slice(), fr.limbs), (crate::fenced::slices::scalar_words(&[Scalar::ONE]), 8));
        assert_eq!(
            (fr.one, fr.r_squared),
            (fr.to_packed, {
                let r = Scalar::from(2).pow_vartime([256]);
                Natural::from(r * r).limbs(32, 8)
            })
        );
        // From packed form to packed form: nothing changes, as montmul by R shows.
        assert_eq!(fp.from_packed, fp.one);
        assert_eq!(fp.limbs, 12);
    }

    #[test]
    fn constants_for_every_width() {
        for limb_bits in MIN_LIMB_BITS..=MAX_LIMB_BITS {
            let fr = Modulus::FR.montgomery(limb_bits).unwrap();
            let total = u64::from(limb_bits) * fr.limbs as u64;
            assert!((255..255 + u64::from(limb_bits)).contains(&total));
            let two = Scalar::from(2);
            let limbs = |x: Scalar| Natural::from(x).limbs(limb_bits, fr.limbs);
            assert_eq!(fr.one, limbs(two.pow_vartime([total])));
            assert_eq!(fr.r_squared, limbs(two.pow_vartime([2 * total])));
            assert_eq!(fr.from_packed, limbs(two.pow_vartime([2 * total - 256])));
            assert_eq!(fr.to_packed, limbs(two.pow_vartime([256])));

            let fp = Modulus::FP.montgomery(limb_bits).unwrap();
            let total = u64::from(limb_bits) * fp.limbs as u64;
            assert!((381..381 + u64::from(limb_bits)).contains(&total));
            let two = Fp::from(2);
            let limbs = |x: Fp| Natural::from(x).limbs(limb_bits, fp.limbs);
            assert_eq!(fp.one, limbs(two.pow_vartime([total])));
            assert_eq!(fp.r_squared, limbs(two.pow_vartime([2 * total])));
            assert_eq!(fp.from_packed, limbs(two.pow_vartime([2 * total - 384])));
            assert_eq!(fp.to_packed, limbs(two.pow_vartime([384])));

            for constants in [fr, fp] {
                let product = u64::from(constants.modulus[0]) * u64::from(constants.negative_inverse);
                assert_eq!((product + 1) % (1 << limb_bits), 0);
                // What `LimbField::mul` relies on.
                assert!(u64::from(constants.modulus[constants.limbs - 1]) < (1 << limb_bits) - 1);
            }
        }
    }

    #[test]
    fn limb_counts_of_the_kernels() {
        for (limb_bits, fp, fr) in [(30, 13, 9), (29, 14, 9), (14, 28, 19), (32, 12, 8), (15, 26, 17)] {
            assert_eq!(Modulus::FP.limb_count(limb_bits), fp);
            assert_eq!(Modulus::FR.limb_count(limb_bits), fr);
        }
    }

    #[test]
    fn other_widths_are_refused() {
        for limb_bits in [0, 1, 12, 33, 64, u32::MAX] {
            assert_eq!(Modulus::FR.montgomery(limb_bits), Err(LimbWidthError { limb_bits }));
        }
    }
}
