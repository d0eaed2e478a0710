//! The generated field arithmetic, run on the device, against the reference arithmetic of `bellwether_core`.

use std::sync::Arc;

use bellwether_core::field::reference::{LimbField, Limbs};
use bellwether_core::field::{Modulus, Natural};
use bellwether_shaders::{Tier, params};

use crate::buffer::Secrecy;
use crate::gpu::Gpu;
use crate::gpu::tests::open;
use crate::options::WgpuOptions;

/// The operations of `field_chain.wgsl`, by its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Mul = 0,
    Sqr = 1,
    Add = 2,
    Sub2 = 3,
    Sub4 = 4,
    Sub8 = 5,
    Red1 = 6,
    Red2 = 7,
    Red4 = 8,
    Red8 = 9,
    Pack = 10,
    Unpack = 11,
    IsZero = 12,
    FromPacked = 13,
    ToPacked = 14,
    Integer = 15,
    One = 16,
}

/// A value, `multiple`·m + `residue`.
#[derive(Clone, Copy, Debug)]
struct Lazy {
    residue: Natural,
    multiple: u32,
}

/// A field as a tier has it, on a device.
struct Subject {
    gpu: Arc<Gpu>,
    field: LimbField,
}

impl Subject {
    fn new(gpu: &Arc<Gpu>, modulus: Modulus) -> Subject {
        let limb_bits = match (gpu.tier(), modulus == Modulus::FR) {
            (Tier::U64, true) => 29,
            (Tier::U64, false) => 30,
            (Tier::U32, _) => 13,
        };
        Subject { gpu: Arc::clone(gpu), field: LimbField::new(modulus, limb_bits).unwrap() }
    }

    fn modulus(&self) -> &Modulus {
        self.field.modulus()
    }

    /// Limbs after carries, the top one with what is above.
    fn carried(&self, columns: impl Iterator<Item = i64>) -> Vec<u32> {
        let (bits, count) = (self.field.limb_bits(), self.field.limb_count());
        let mut carry = 0;
        let limbs = columns.enumerate().map(|(i, column)| {
            carry += column;
            let limb = if i + 1 < count { carry & ((1 << bits) - 1) } else { carry };
            carry >>= bits;
            u32::try_from(limb).unwrap()
        });
        limbs.collect()
    }

    fn limbs(&self, value: &Lazy) -> Vec<u32> {
        let residue = self.field.to_limbs(&value.residue).unwrap();
        let m = &self.field.constants().modulus;
        let columns = residue
            .as_slice()
            .iter()
            .zip(m)
            .map(|(r, m)| i64::from(*r) + i64::from(*m) * i64::from(value.multiple));
        self.carried(columns)
    }

    /// The value of limbs, which must be below 16·m.
    fn value(&self, limbs: &[u32]) -> Lazy {
        let m = &self.field.constants().modulus;
        let mut limbs = limbs.to_vec();
        for multiple in 0..16 {
            if let Ok(residue) = self.field.check(&limbs) {
                return Lazy { residue: self.field.from_limbs(&residue), multiple };
            }
            let columns = limbs.iter().zip(m).map(|(a, m)| i64::from(*a) - i64::from(*m));
            limbs = self.carried(columns);
        }
        panic!("16·m or more");
    }

    /// What the device makes of the pairs, as limbs.
    fn run(&self, operation: Operation, steps: u32, pairs: &[(Vec<u32>, Vec<u32>)]) -> Vec<Vec<u32>> {
        let words: Vec<u32> = pairs.iter().flat_map(|(x, y)| x.iter().chain(y)).copied().collect();
        let buffer = self.gpu.upload(&words, Secrecy::Public).unwrap();
        let other = self.gpu.alloc(words.len(), Secrecy::Public).unwrap();
        let is_fr = *self.modulus() == Modulus::FR;
        let params = params::FieldChain {
            len: pairs.len() as u32,
            operation: operation as u32,
            steps,
            skip_fr: u32::from(!is_fr),
            skip_fp: u32::from(is_fr),
        };
        let (buffer, other) = (buffer.span(), other.span());
        let buffers = if is_fr { [&buffer, &other] } else { [&other, &buffer] };
        self.gpu.run(None, params, &buffers, pairs.len().div_ceil(64), 128 * u64::from(steps)).unwrap();
        let words = pollster::block_on(self.gpu.read(&buffer)).unwrap();
        words.chunks_exact(2 * self.field.limb_count()).map(|pair| pair[..pair.len() / 2].to_vec()).collect()
    }

    /// Residues at the edges, and random ones.
    fn residues(&self) -> Vec<Natural> {
        let m = self.modulus();
        let one = m.power_of_two(0);
        let minus = |x: &Natural| m.value().checked_sub(x).unwrap();
        let mut residues = vec![Natural::ZERO, one, minus(&one), Natural::from(2), minus(&Natural::from(2))];
        // Limbs that are all ones, or all but one zero.
        let bits = self.field.limb_bits();
        for exponent in [bits, 2 * bits, 32, 64, m.num_bits() - 1, bits * self.field.limb_count() as u32] {
            let power = m.power_of_two(exponent);
            residues.extend([power, minus(&power), power.checked_sub(&one).unwrap()]);
        }
        let mut state = 1u64;
        for _ in 0..12 {
            let words = std::array::from_fn(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 32) << 32 | state.wrapping_mul(state) >> 32
            });
            residues.push(Natural::from_words(words).reduce(m));
        }
        residues
    }

    /// Every residue, with every multiple below the bound.
    fn lazy(&self, bound: u32) -> Vec<Lazy> {
        let with_multiples = |residue| (0..bound).map(move |multiple| Lazy { residue, multiple });
        self.residues().into_iter().flat_map(with_multiples).collect()
    }

    /// Pairs of values below `a`·m and `b`·m: extremes with extremes, and every value with a few.
    fn pairs(&self, a: u32, b: u32) -> Vec<(Lazy, Lazy)> {
        let (a, b) = (self.lazy(a), self.lazy(b));
        a.iter()
            .enumerate()
            .flat_map(|(i, x)| (0..9).map(|j| (*x, b[(i * 7 + j * 31) % b.len()])).collect::<Vec<_>>())
            .collect()
    }

    /// Checks limbs of results exactly.
    fn expect_limbs(
        &self,
        operation: Operation,
        pairs: &[(Lazy, Lazy)],
        expected: impl Fn(&[u32], &[u32]) -> Vec<u32>,
    ) {
        let pairs: Vec<_> = pairs.iter().map(|(x, y)| (self.limbs(x), self.limbs(y))).collect();
        for (found, (x, y)) in self.run(operation, 1, &pairs).iter().zip(&pairs) {
            assert_eq!(
                *found,
                expected(x, y),
                "{:?} of {x:?} and {y:?} in {}",
                operation,
                self.modulus().name()
            );
        }
    }

    /// Checks that results are the expected residues and below 2m.
    fn expect_product(
        &self,
        operation: Operation,
        steps: u32,
        pairs: &[(Lazy, Lazy)],
        expected: impl Fn(&Limbs, &Limbs) -> Limbs,
    ) {
        let limbs: Vec<_> = pairs.iter().map(|(x, y)| (self.limbs(x), self.limbs(y))).collect();
        for (found, (x, y)) in self.run(operation, steps, &limbs).iter().zip(pairs) {
            let found = self.value(found);
            let reduced = |x: &Lazy| self.field.to_limbs(&x.residue).unwrap();
            let expected = self.field.from_limbs(&expected(&reduced(x), &reduced(y)));
            let what = format!("{:?} of {x:?} and {y:?} in {}", operation, self.modulus().name());
            assert_eq!(found.residue, expected, "{what}");
            assert!(found.multiple < 2, "{what} is too large");
        }
    }

    fn products(&self) {
        let field = &self.field;
        let mul = |x: &Limbs, y: &Limbs| field.mul(x, y);
        // a·b is below R/m, which is 35 for the smallest of the four fields.
        for (a, b) in [(1, 1), (2, 2), (8, 4), (4, 8), (16, 2)] {
            self.expect_product(Operation::Mul, 1, &self.pairs(a, b), mul);
        }
        let mut squares: Vec<_> = self.pairs(5, 1);
        squares.extend(self.pairs(2, 1));
        self.expect_product(Operation::Sqr, 1, &squares, |x, _| field.square(x));
        let chain = |x: &Limbs, y: &Limbs| (0..50).fold(*x, |x, _| field.mul(&x, y));
        self.expect_product(Operation::Mul, 50, &self.pairs(2, 4), chain);
        let chain = |x: &Limbs, _: &Limbs| (0..50).fold(*x, |x, _| field.square(&x));
        self.expect_product(Operation::Sqr, 50, &self.pairs(2, 1), chain);
    }

    fn sums(&self) {
        let sum =
            |x: &[u32], y: &[u32]| self.carried(x.iter().zip(y).map(|(x, y)| i64::from(*x) + i64::from(*y)));
        for (a, b) in [(1, 1), (2, 2), (8, 8)] {
            self.expect_limbs(Operation::Add, &self.pairs(a, b), sum);
        }
        for (operation, factor) in [(Operation::Sub2, 2), (Operation::Sub4, 4), (Operation::Sub8, 8)] {
            let m = &self.field.constants().modulus;
            let difference = |x: &[u32], y: &[u32]| {
                let columns = x.iter().zip(y).zip(m);
                self.carried(
                    columns.map(|((x, y), m)| i64::from(*x) - i64::from(*y) + factor * i64::from(*m)),
                )
            };
            self.expect_limbs(operation, &self.pairs(8, factor as u32), difference);
        }
    }

    fn reductions(&self) {
        for (operation, factor) in
            [(Operation::Red1, 1), (Operation::Red2, 2), (Operation::Red4, 4), (Operation::Red8, 8)]
        {
            let reduced = |x: &[u32], _: &[u32]| {
                let Lazy { residue, multiple } = self.value(x);
                let multiple = if multiple >= factor { multiple - factor } else { multiple };
                self.limbs(&Lazy { residue, multiple })
            };
            self.expect_limbs(operation, &self.pairs(2 * factor, 1), reduced);
        }
    }

    fn packing(&self) {
        let words = self.modulus().packed_words();
        let packed = |limbs: &[u32]| {
            let Lazy { residue, multiple } = self.value(limbs);
            let value =
                (0..multiple).fold(residue, |sum, _| sum.checked_add(self.modulus().value()).unwrap());
            let mut packed = value.limbs(32, words);
            packed.resize(self.field.limb_count(), 0);
            packed
        };
        let values = self.pairs(2, 1);
        self.expect_limbs(Operation::Pack, &values, |x, _| packed(x));
        let limbs: Vec<_> = values.iter().map(|(x, _)| self.limbs(x)).collect();
        let pairs: Vec<_> = limbs.iter().map(|x| (packed(x), x.clone())).collect();
        assert_eq!(self.run(Operation::Unpack, 1, &pairs), limbs);
    }

    fn zero_tests(&self) {
        let pairs = self.pairs(2, 1);
        let flags = |x: &[u32], _: &[u32]| {
            let value = self.value(x);
            let mut flags = vec![0; self.field.limb_count()];
            flags[0] = u32::from(value.residue == Natural::ZERO);
            flags[1] = u32::from(value.residue == Natural::ZERO && value.multiple == 0);
            flags
        };
        self.expect_limbs(Operation::IsZero, &pairs, flags);
    }

    fn constants(&self) {
        let (field, pairs) = (&self.field, self.pairs(2, 1));
        let constant = |limbs: &[u32]| field.check(limbs).unwrap();
        let from_packed = constant(&field.constants().from_packed);
        let to_packed = constant(&field.constants().to_packed);
        self.expect_product(Operation::FromPacked, 1, &pairs, |x, _| field.mul(x, &from_packed));
        self.expect_product(Operation::ToPacked, 1, &pairs, |x, _| field.mul(x, &to_packed));
        // x·P to x: to x·R, then to x.
        let integer = |x: &Limbs, _: &Limbs| field.from_montgomery(&field.mul(x, &from_packed));
        self.expect_product(Operation::Integer, 1, &pairs, integer);
        self.expect_product(Operation::One, 1, &pairs, |_, _| field.one());
    }
}

fn check(tier: Tier, part: impl Fn(&Subject)) {
    let gpu = open(&WgpuOptions { tier: Some(tier), ..WgpuOptions::default() });
    part(&Subject::new(&gpu, Modulus::FR));
    part(&Subject::new(&gpu, Modulus::FP));
}

#[test]
fn products() {
    Tier::ALL.into_iter().for_each(|tier| check(tier, Subject::products));
}

#[test]
fn sums_and_reductions() {
    for tier in Tier::ALL {
        check(tier, Subject::sums);
        check(tier, Subject::reductions);
    }
}

#[test]
fn packing_zero_tests_and_constants() {
    for tier in Tier::ALL {
        check(tier, |subject| {
            subject.packing();
            subject.zero_tests();
            subject.constants();
        });
    }
}
