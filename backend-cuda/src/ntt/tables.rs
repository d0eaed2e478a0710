//! Tables of factors: where they stand and how they are made.

use std::sync::Arc;

use bellwether_core::curve::{FR_WORDS, scalar_words};
use bellwether_core::device::DeviceError;
use bellwether_core::field::scalar_limbs;
use bellwether_kernels::Address;
use bellwether_kernels::table::ntt::{
    FACTOR_WORDS, Factor, Factors, Packed, TABLE, Table as TableKernel, TableFill,
};
use blstrs::Scalar;
use ff::Field;

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;

/// log₂ of the entries that a thread makes one from the other; before them it raises two powers.
const MAX_LOG_RUN: u32 = 5;

/// What a table holds: entry k·2^log_columns + c of 2^log_count is first·ratio^k·(step·root^k)^c.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    log_count: u32,
    log_columns: u32,
    first: Scalar,
    ratio: Scalar,
    step: Scalar,
    root: Scalar,
}

impl Fill {
    /// first·base^k, k < 2^`log_count`.
    pub(super) fn powers(log_count: u32, base: Scalar, first: Scalar) -> Fill {
        let log_columns = log_count.min(MAX_LOG_RUN);
        Fill {
            log_count,
            log_columns,
            first,
            ratio: squared(base, log_columns),
            step: base,
            root: Scalar::ONE,
        }
    }

    /// ratio^k·root^(k·c) for k < 2^`log_rows` and c < 2^`log_columns`.
    pub(super) fn products(log_rows: u32, log_columns: u32, root: Scalar, ratio: Scalar) -> Fill {
        Fill {
            log_count: log_rows + log_columns,
            log_columns,
            first: Scalar::ONE,
            ratio,
            step: Scalar::ONE,
            root,
        }
    }

    /// The same times `factor`.
    pub(super) fn times(self, factor: &Scalar) -> Fill {
        Fill { first: self.first * factor, ..self }
    }

    /// Makes the table in a buffer of its own.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn make(&self, gpu: &Arc<Gpu>) -> Result<Buffer, DeviceError> {
        let buffer = gpu.alloc(FACTOR_WORDS << self.log_count, Secrecy::Public)?;
        self.make_at(gpu, buffer.at(0))?;
        Ok(buffer)
    }

    fn make_at(&self, gpu: &Gpu, output: Address) -> Result<(), DeviceError> {
        let log_run = self.log_columns.min(MAX_LOG_RUN);
        let fill = TableFill {
            first: packed(&self.first),
            ratio: packed(&self.ratio),
            step: packed(&self.step),
            root: packed(&self.root),
            output,
            count: 1 << self.log_count,
            log_columns: self.log_columns,
            log_run,
            unused: [0; 2],
        };
        let threads = 1usize << (self.log_count - log_run);
        gpu.launch(&TABLE, threads.div_ceil(TABLE.threads() as usize), &TableKernel { fill })
    }
}

/// Where a table begins, in factors from the beginning of the buffer of all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(usize);

impl Place {
    pub(super) fn in_buffer(self, buffer: &Buffer) -> Address {
        buffer.at(FACTOR_WORDS * self.0)
    }
}

/// One table, or two whose entries are multiplied, as the kernels look them up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) low: Place,
    pub(super) low_bits: u32,
    /// Where it begins and log₂ of its entries for each k.
    pub(super) high: Option<(Place, u32)>,
}

impl Pair {
    pub(super) fn in_buffer(self, buffer: &Buffer) -> Factors {
        let (high, high_bits) =
            self.high.map_or((Address(0), 0), |(high, bits)| (high.in_buffer(buffer), bits));
        Factors { low: self.low.in_buffer(buffer), high, low_bits: self.low_bits, high_bits }
    }
}

/// Tables to be made in one buffer.
#[derive(Debug, Default)]
pub(super) struct Layout {
    len: usize,
    fills: Vec<(Place, Fill)>,
}

impl Layout {
    pub(super) fn add(&mut self, fill: Fill) -> Place {
        let place = Place(self.len);
        self.len += 1 << fill.log_count;
        self.fills.push((place, fill));
        place
    }

    /// first·base^e for e below 2^`log_count`, from two tables of about the root of that.
    pub(super) fn add_powers(&mut self, log_count: u32, base: Scalar, first: Scalar) -> Pair {
        let low_bits = log_count.div_ceil(2);
        let high_bits = log_count - low_bits;
        let low = self.add(Fill::powers(low_bits, base, first));
        let high = self.add(Fill::powers(high_bits, squared(base, low_bits), Scalar::ONE));
        Pair { low, low_bits, high: Some((high, high_bits)) }
    }

    /// One factor for every e.
    pub(super) fn add_constant(&mut self, factor: Scalar) -> Pair {
        Pair { low: self.add(Fill::powers(0, Scalar::ONE, factor)), low_bits: 0, high: None }
    }

    /// Makes all.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn make(&self, gpu: &Arc<Gpu>) -> Result<Buffer, DeviceError> {
        let buffer = gpu.alloc(FACTOR_WORDS * self.len, Secrecy::Public)?;
        self.fills.iter().try_for_each(|(place, fill)| fill.make_at(gpu, place.in_buffer(&buffer)))?;
        Ok(buffer)
    }
}

/// x^(2^`log_exponent`)
pub(super) fn squared(x: Scalar, log_exponent: u32) -> Scalar {
    (0..log_exponent).fold(x, |x, _| x.square())
}

fn packed(scalar: &Scalar) -> Packed {
    let mut words = [0; FR_WORDS];
    words.copy_from_slice(scalar_words(std::slice::from_ref(scalar)));
    Packed(words)
}

/// The factor for a parameter: b and ⌊b·2^256/r⌋.
///
/// What that division leaves is the residue m = b·2^256 mod r, the packed form, so the quotient is −m/r mod 2^256; and
/// r is 1 mod 2^32, so each of its words is the negative of a word that is left.
pub(super) fn factor(scalar: &Scalar) -> Factor {
    let words = |limbs: [u64; 4]| -> [u32; FR_WORDS] {
        std::array::from_fn(|i| (limbs[i / 2] >> (32 * (i % 2))) as u32)
    };
    let mut modulus = words(scalar_limbs(&-Scalar::ONE));
    modulus[0] += 1;
    let Packed(mut left) = packed(scalar);
    let mut factor = [0; FACTOR_WORDS];
    let (value, quotient) = factor.split_at_mut(FR_WORDS);
    value.copy_from_slice(&words(scalar_limbs(scalar)));
    for (i, word) in quotient.iter_mut().enumerate() {
        *word = left[i].wrapping_neg();
        let mut carry = 0;
        for (left, modulus) in left[i..].iter_mut().zip(modulus) {
            let sum = u64::from(*word) * u64::from(modulus) + u64::from(*left) + carry;
            *left = sum as u32;
            carry = sum >> 32;
        }
    }
    Factor(factor)
}

#[cfg(test)]
mod tests {
    use bellwether_core::field::{Modulus, Natural};
    use pollster::block_on;

    use super::*;
    use crate::gpu::tests::open;

    #[test]
    fn factors_are_values_and_quotients() {
        let one = Natural::from_limbs([1u32], 32).unwrap();
        let modulus = Modulus::FR.minus_one().checked_add(&one).unwrap();
        let third = Scalar::from(3).invert().unwrap();
        for scalar in
            [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(7), third, third.square(), -third.square()]
        {
            let Factor(words) = factor(&scalar);
            let natural = |words: &[u32]| Natural::from_limbs(words.iter().copied(), 32).unwrap();
            assert_eq!(natural(&words[..8]), Natural::from(scalar));
            // Long division of b·2^256, bit by bit.
            let mut rest = Natural::from(scalar);
            let mut quotient = [0; 8];
            for bit in (0..256).rev() {
                rest = rest.checked_add(&rest).unwrap();
                if let Some(less) = rest.checked_sub(&modulus) {
                    rest = less;
                    quotient[bit / 32] |= 1u32 << (bit % 32);
                }
            }
            assert_eq!(words[8..], quotient, "{scalar:?}");
        }
    }

    #[test]
    fn tables_are_products_of_powers() {
        let gpu = open();
        let [first, ratio, step, root] = [3, 5, 7, 11].map(|seed| Scalar::from(seed).invert().unwrap());
        for (log_count, log_columns) in [(0, 0), (1, 0), (9, 0), (4, 4), (7, 3), (11, 7), (9, 9)] {
            let fill = Fill { log_count, log_columns, first, ratio, step, root };
            let buffer = fill.make(&gpu).unwrap();
            let words = block_on(gpu.read(&buffer, 0..buffer.words())).unwrap();
            assert_eq!(words.len(), FACTOR_WORDS << log_count);
            for (i, words) in words.chunks_exact(FACTOR_WORDS).enumerate() {
                let [k, c] = [i >> log_columns, i & ((1 << log_columns) - 1)].map(|e| e as u64);
                let step = step * root.pow_vartime([k]);
                let expected = first * ratio.pow_vartime([k]) * step.pow_vartime([c]);
                assert_eq!(words, factor(&expected).0, "entry {i} of 2^{log_count}");
            }
        }
    }

    #[test]
    fn powers_and_products() {
        let gpu = open();
        let [first, base] = [3, 5].map(|seed| Scalar::from(seed).invert().unwrap());
        let made = |fill: Fill| {
            let buffer = fill.make(&gpu).unwrap();
            let words = block_on(gpu.read(&buffer, 0..buffer.words())).unwrap();
            words.chunks_exact(FACTOR_WORDS).map(<[u32]>::to_vec).collect::<Vec<_>>()
        };
        for log_count in [0, 1, 4, 5, 6, 9] {
            let expected = (0..1 << log_count).map(|e| factor(&(first * base.pow_vartime([e]))).0.to_vec());
            assert!(made(Fill::powers(log_count, base, first)).into_iter().eq(expected), "{log_count}");
        }
        let expected = (0..8 * 4u64).map(|i| {
            let product = first * base.pow_vartime([i / 4 * (i % 4)]) * first.pow_vartime([i / 4]);
            factor(&product).0.to_vec()
        });
        assert!(made(Fill::products(3, 2, base, first).times(&first)).into_iter().eq(expected));
    }
}
