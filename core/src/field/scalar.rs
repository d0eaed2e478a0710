//! Canonical integers of scalars and the bit windows that multiplication cuts them into.

use blstrs::Scalar;

/// Bits of the largest scalar.
pub const SCALAR_BITS: usize = 255;

/// The integer 0 ≤ s < r that a scalar stands for, lowest limb first.
pub fn scalar_limbs(scalar: &Scalar) -> [u64; 4] {
    let bytes = scalar.to_bytes_le();
    std::array::from_fn(|i| {
        let mut limb = [0; 8];
        limb.copy_from_slice(&bytes[8 * i..8 * i + 8]);
        u64::from_le_bytes(limb)
    })
}

/// Bits `start..start + count` of an integer, `count` below 64; bits past the end are zero.
#[inline]
pub fn scalar_window(limbs: &[u64; 4], start: usize, count: usize) -> usize {
    let (limb, shift) = (start / 64, start % 64);
    let low = limbs.get(limb).map_or(0, |&value| value >> shift);
    let high =
        if shift + count > 64 { limbs.get(limb + 1).map_or(0, |&value| value << (64 - shift)) } else { 0 };
    ((low | high) & ((1 << count) - 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_put_the_integer_together_again(limbs in any::<[u64; 4]>(), count in 1usize..20) {
            for bit in 0..256 {
                let window = scalar_window(&limbs, bit / count * count, count);
                prop_assert_eq!((window >> (bit % count)) as u64 & 1, limbs[bit / 64] >> (bit % 64) & 1);
            }
        }
    }

    #[test]
    fn limbs_are_canonical() {
        assert_eq!(scalar_limbs(&Scalar::from(7u64)), [7, 0, 0, 0]);
        assert_eq!(scalar_limbs(&-Scalar::from(1u64))[0], 0xffff_ffff_0000_0000);
    }
}
