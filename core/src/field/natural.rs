//! Natural numbers below 2^384, with the few operations that deriving constants takes.

use blstrs::{Fp, Scalar};
use ff::PrimeField;

use super::{MAX_LIMB_BITS, Modulus};

/// 64-bit words of a [`Natural`].
const WORDS: usize = 6;

/// A natural number below 2^384.
///
/// Wide enough for a residue of either field. Running time depends on the value: this is for constants and
/// tests, not for secrets.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Natural {
    /// Little-endian.
    words: [u64; WORDS],
}

impl Natural {
    /// Bits that a value can have.
    pub const BITS: u32 = 384;

    /// 0.
    pub const ZERO: Natural = Natural::from_words([0; WORDS]);

    /// 1.
    pub const ONE: Natural = Natural::from_words([1, 0, 0, 0, 0, 0]);

    /// The number with these 64-bit words, least significant first.
    pub const fn from_words(words: [u64; WORDS]) -> Natural {
        Natural { words }
    }

    /// The 64-bit words, least significant first.
    pub const fn words(&self) -> &[u64; WORDS] {
        &self.words
    }

    /// 2^`exponent`; `None` from 2^384 on.
    pub fn power_of_two(exponent: u32) -> Option<Natural> {
        let mut power = Natural::ZERO;
        *power.words.get_mut((exponent / 64) as usize)? = 1 << (exponent % 64);
        Some(power)
    }

    /// The number with these bytes, least significant first; `None` from 2^384 on.
    pub fn from_le_bytes(bytes: &[u8]) -> Option<Natural> {
        Natural::from_limbs(bytes.iter().copied(), 8)
    }

    /// The 48 bytes, least significant first.
    pub fn to_le_bytes(&self) -> [u8; 48] {
        let mut bytes = [0; 48];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Σ limb_i · 2^(i · `limb_bits`), for limbs below 2^`limb_bits` with 1 ≤ `limb_bits` ≤ 32.
    ///
    /// `None` when the sum reaches 2^384, when a limb is too wide, or when `limb_bits` is out of range.
    pub fn from_limbs(limbs: impl IntoIterator<Item = impl Into<u64>>, limb_bits: u32) -> Option<Natural> {
        if !(1..=MAX_LIMB_BITS).contains(&limb_bits) {
            return None;
        }
        let mut sum = Natural::ZERO;
        let mut position = 0u32;
        for limb in limbs {
            let limb: u64 = limb.into();
            if limb >> limb_bits != 0 {
                return None;
            }
            // A limb straddles two words at most. Once `position` is beyond the last word, only zeros fit.
            let (word, offset) = ((position / 64) as usize, position % 64);
            let wide = u128::from(limb) << offset;
            for (index, part) in [(word, wide as u64), (word + 1, (wide >> 64) as u64)] {
                match sum.words.get_mut(index) {
                    Some(target) => *target |= part,
                    None if part == 0 => {}
                    None => return None,
                }
            }
            position = position.saturating_add(limb_bits);
        }
        Some(sum)
    }

    /// Limb `index` of width `limb_bits` (32 if more is asked for): ⌊self / 2^(`index` · `limb_bits`)⌋ mod 2^`limb_bits`.
    pub fn limb(&self, index: usize, limb_bits: u32) -> u32 {
        let limb_bits = limb_bits.min(MAX_LIMB_BITS);
        let position = index.saturating_mul(limb_bits as usize);
        let word = |i: usize| u128::from(self.words.get(i).copied().unwrap_or(0));
        let window = (word(position / 64) | (word(position / 64 + 1) << 64)) >> (position % 64);
        (window as u64 & ((1 << limb_bits) - 1)) as u32
    }

    /// The lowest `count` limbs of `limb_bits` (32 if more is asked for) each, least significant first.
    pub fn limbs(&self, limb_bits: u32, count: usize) -> Vec<u32> {
        (0..count).map(|index| self.limb(index, limb_bits)).collect()
    }

    /// Position of the highest one, plus one; 0 for zero.
    pub fn bit_length(&self) -> u32 {
        let zeros = self.words.iter().rev().scan(true, |all_zero, word| {
            let zeros = if *all_zero { word.leading_zeros() } else { 0 };
            *all_zero &= *word == 0;
            Some(zeros)
        });
        Natural::BITS - zeros.sum::<u32>()
    }

    /// Number of zeros below the lowest one; 384 for zero.
    pub fn trailing_zeros(&self) -> u32 {
        (0..Natural::BITS).find(|&position| self.bit(position)).unwrap_or(Natural::BITS)
    }

    /// The coefficient of 2^`position`.
    pub fn bit(&self, position: u32) -> bool {
        self.limb(position as usize, 1) == 1
    }

    /// ⌊self / 2^`bits`⌋.
    pub fn shift_right(&self, bits: u32) -> Natural {
        let word = |i: usize| u128::from(self.words.get(i).copied().unwrap_or(0));
        let (skip, offset) = ((bits / 64) as usize, bits % 64);
        let shifted = |i: usize| ((word(i + skip) | (word(i + skip + 1) << 64)) >> offset) as u64;
        Natural { words: std::array::from_fn(shifted) }
    }

    /// self + other; `None` from 2^384 on.
    pub fn checked_add(&self, other: &Natural) -> Option<Natural> {
        let mut carry = 0;
        let words = std::array::from_fn(|i| {
            let sum = u128::from(self.words[i]) + u128::from(other.words[i]) + carry;
            carry = sum >> 64;
            sum as u64
        });
        (carry == 0).then_some(Natural { words })
    }

    /// self − other; `None` below zero.
    pub fn checked_sub(&self, other: &Natural) -> Option<Natural> {
        let mut borrow = false;
        let words = std::array::from_fn(|i| {
            let (difference, under_first) = self.words[i].overflowing_sub(other.words[i]);
            let (difference, under_second) = difference.overflowing_sub(u64::from(borrow));
            borrow = under_first || under_second;
            difference
        });
        (!borrow).then_some(Natural { words })
    }

    /// Quotient and remainder by `divisor`; `None` for a divisor of zero.
    pub fn checked_div_rem(&self, divisor: u32) -> Option<(Natural, u32)> {
        let divisor = u128::from(divisor);
        if divisor == 0 {
            return None;
        }
        let mut quotient = Natural::ZERO;
        let mut remainder = 0u128;
        for (word, digit) in self.words.iter().zip(&mut quotient.words).rev() {
            let dividend = (remainder << 64) | u128::from(*word);
            *digit = (dividend / divisor) as u64;
            remainder = dividend % divisor;
        }
        Some((quotient, remainder as u32))
    }

    /// self mod m.
    pub fn reduce(&self, modulus: &Modulus) -> Natural {
        // Horner's rule on the bits: doubling and adding keep the value below 2m + 1 < 2^384.
        (0..self.bit_length()).rev().fold(Natural::ZERO, |value, position| {
            let doubled = modulus.double(&value);
            let bit = Natural::from(u64::from(self.bit(position)));
            doubled.checked_add(&bit).map_or(doubled, |sum| modulus.subtract_once(sum))
        })
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Natural) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Natural) -> std::cmp::Ordering {
        self.words.iter().rev().cmp(other.words.iter().rev())
    }
}

impl From<u64> for Natural {
    fn from(value: u64) -> Natural {
        Natural::from_words([value, 0, 0, 0, 0, 0])
    }
}

/// The residue itself, below r; not its Montgomery form.
impl From<Scalar> for Natural {
    fn from(value: Scalar) -> Natural {
        Natural::from_repr(&value.to_repr())
    }
}

/// The residue itself, below p; not its Montgomery form.
impl From<Fp> for Natural {
    fn from(value: Fp) -> Natural {
        Natural::from_repr(&value.to_bytes_le())
    }
}

impl Natural {
    /// The number with these bytes, of which only the lowest 48 count.
    fn from_repr(bytes: &[u8]) -> Natural {
        let mut words = [0; WORDS];
        for (i, byte) in bytes.iter().enumerate().take(8 * WORDS) {
            words[i / 8] |= u64::from(*byte) << (8 * (i % 8));
        }
        Natural { words }
    }
}

impl std::fmt::LowerHex for Natural {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits: String = self.words.iter().rev().map(|word| format!("{word:016x}")).collect();
        let significant = digits.trim_start_matches('0');
        f.pad_integral(true, "0x", if significant.is_empty() { "0" } else { significant })
    }
}

impl std::fmt::Debug for Natural {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:#x}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn natural() -> impl Strategy<Value = Natural> {
        prop::array::uniform6(any::<u64>()).prop_map(Natural::from_words)
    }

    #[test]
    fn edges() {
        let largest = Natural::from_words([u64::MAX; WORDS]);
        assert_eq!(Natural::ZERO.bit_length(), 0);
        assert_eq!(Natural::ZERO.trailing_zeros(), 384);
        assert_eq!(largest.bit_length(), 384);
        assert_eq!(largest.checked_add(&Natural::ONE), None);
        assert_eq!(Natural::ZERO.checked_sub(&Natural::ONE), None);
        assert_eq!(Natural::ONE.checked_div_rem(0), None);
        assert_eq!(Natural::power_of_two(384), None);
        assert_eq!(largest.shift_right(384), Natural::ZERO);
        assert_eq!(format!("{:?} {:?}", Natural::ZERO, Natural::from(0xab)), "0x0 0xab");
        // Limbs beyond 2^384 may be there as long as they are zero.
        assert_eq!(
            Natural::from_limbs([7u32; 12].into_iter().chain([0; 9]), 32).map(|n| n.limb(11, 32)),
            Some(7)
        );
        assert_eq!(Natural::from_limbs([0u32; 12].into_iter().chain([1]), 32), None);
        assert_eq!(Natural::from_limbs([1u32 << 13], 13), None);
        assert_eq!(Natural::from_limbs([1u32], 0), None);
    }

    #[test]
    fn powers_of_two() {
        for exponent in 0..384 {
            let power = Natural::power_of_two(exponent).unwrap();
            assert_eq!((power.bit_length(), power.trailing_zeros()), (exponent + 1, exponent));
            assert_eq!(power.shift_right(exponent), Natural::ONE);
        }
    }

    proptest! {
        #[test]
        fn limbs_round_trip(value in natural(), limb_bits in 1u32..=32) {
            let limbs = value.limbs(limb_bits, 384usize.div_ceil(limb_bits as usize));
            prop_assert_eq!(Natural::from_limbs(limbs, limb_bits), Some(value));
            prop_assert_eq!(Natural::from_le_bytes(&value.to_le_bytes()), Some(value));
        }

        #[test]
        fn sum_and_difference(a in natural(), b in natural()) {
            let (a, b) = (a.shift_right(1), b.shift_right(1));
            let sum = a.checked_add(&b).unwrap();
            prop_assert_eq!(sum.checked_sub(&b), Some(a));
            prop_assert_eq!(a.checked_sub(&b).is_some(), a >= b);
        }

        #[test]
        fn division(a in natural(), divisor in 1u32..) {
            let (quotient, remainder) = a.checked_div_rem(divisor).unwrap();
            prop_assert!(remainder < divisor);
            // quotient · divisor + remainder, by doubling; no partial sum exceeds a.
            let mut product = Natural::ZERO;
            for bit in (0..32).rev() {
                product = product.checked_add(&product).unwrap();
                if (divisor >> bit) & 1 == 1 {
                    product = product.checked_add(&quotient).unwrap();
                }
            }
            prop_assert_eq!(product.checked_add(&Natural::from(u64::from(remainder))), Some(a));
        }

        #[test]
        fn reduction(k in 0u32..4, value in any::<[u8; 32]>()) {
            let residue = Natural::from_le_bytes(&value).unwrap().shift_right(2);
            let mut sum = residue;
            for _ in 0..k {
                sum = sum.checked_add(Modulus::FR.value()).unwrap();
            }
            prop_assert_eq!(sum.reduce(&Modulus::FR), residue);
        }
    }
}
