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
    Sub16 = 17,
    MulSum = 18,
}

/// A value, `multiple`·m + `residue`.
#[derive(Clone, Copy, Debug)]
struct Lazy {
    residue: Natural,
    multiple: u32,
}

/// What an operation takes: x, y, z, w. All but one operation take the first two only.
type Operands = [Lazy; 4];

/// Zeros for z and w.
fn pair(x: Lazy, y: Lazy) -> Operands {
    let zero = Lazy { residue: Natural::ZERO, multiple: 0 };
    [x, y, zero, zero]
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

    /// The value below `bound`·m whose limbs are all ones, but for the top one, which is the largest.
    fn full(&self, bound: u32) -> Lazy {
        let top = self.field.limb_count() - 1;
        let mut limbs = self.limbs(&Lazy { residue: Natural::ZERO, multiple: bound });
        limbs[..top].fill((1 << self.field.limb_bits()) - 1);
        limbs[top] -= 1;
        self.value(&limbs)
    }

    /// What the device makes of the operands, as limbs.
    fn run(&self, operation: Operation, steps: u32, operands: &[[Vec<u32>; 4]]) -> Vec<Vec<u32>> {
        let words: Vec<u32> = operands.iter().flatten().flatten().copied().collect();
        let buffer = self.gpu.upload(&words, Secrecy::Public).unwrap();
        let other = self.gpu.alloc(words.len(), Secrecy::Public).unwrap();
        let is_fr = *self.modulus() == Modulus::FR;
        let params = params::FieldChain {
            len: operands.len() as u32,
            operation: operation as u32,
            steps,
            skip_fr: u32::from(!is_fr),
            skip_fp: u32::from(is_fr),
        };
        let (buffer, other) = (buffer.span(), other.span());
        let buffers = if is_fr { [&buffer, &other] } else { [&other, &buffer] };
        self.gpu.run(None, params, &buffers, operands.len().div_ceil(64), 128 * u64::from(steps)).unwrap();
        let words = pollster::block_on(self.gpu.read(&buffer)).unwrap();
        words.chunks_exact(4 * self.field.limb_count()).map(|item| item[..item.len() / 4].to_vec()).collect()
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

    /// Every residue, with every multiple below the bound, and what has full limbs.
    fn lazy(&self, bound: u32) -> Vec<Lazy> {
        let with_multiples = |residue| (0..bound).map(move |multiple| Lazy { residue, multiple });
        let mut values: Vec<Lazy> = self.residues().into_iter().flat_map(with_multiples).collect();
        values.push(self.full(bound));
        values
    }

    /// Pairs of values below `a`·m and `b`·m: what has full limbs, and every value with a few.
    fn pairs(&self, a: u32, b: u32) -> Vec<Operands> {
        let mut pairs = vec![pair(self.full(a), self.full(b))];
        let (a, b) = (self.lazy(a), self.lazy(b));
        for (i, x) in a.iter().enumerate() {
            pairs.extend((0..9).map(|j| pair(*x, b[(i * 7 + j * 31) % b.len()])));
        }
        pairs
    }

    /// Values below the bounds times m: extremes with extremes, and every x with a few others. The extremes of z are two
    /// more, 0 − 0 and 0 − (m − 1) as the subtraction of a value below its bound leaves them.
    fn quadruples(&self, bounds: [u32; 4]) -> Vec<Operands> {
        let minus_one = self.modulus().value().checked_sub(&self.modulus().power_of_two(0)).unwrap();
        let mut extremes = bounds.map(|bound| {
            let largest = Lazy { residue: minus_one, multiple: bound - 1 };
            vec![largest, self.full(bound), Lazy { residue: Natural::ZERO, multiple: 0 }]
        });
        let one = self.modulus().power_of_two(0);
        extremes[2].push(Lazy { residue: Natural::ZERO, multiple: bounds[2] });
        extremes[2].push(Lazy { residue: one, multiple: bounds[2] - 1 });
        let mut quadruples = Vec::new();
        for x in &extremes[0] {
            for y in &extremes[1] {
                for z in &extremes[2] {
                    quadruples.extend(extremes[3].iter().map(|w| [*x, *y, *z, *w]));
                }
            }
        }
        let values = bounds.map(|bound| self.lazy(bound));
        for (i, x) in values[0].iter().enumerate() {
            let other = |k: usize, at: usize| values[k][at % values[k].len()];
            quadruples.extend((0..9).map(|j| {
                [*x, other(1, i * 7 + j * 31), other(2, i * 11 + j * 53), other(3, i * 13 + j * 71)]
            }));
        }
        quadruples
    }

    /// Checks limbs of results exactly.
    fn expect_limbs(
        &self,
        operation: Operation,
        operands: &[Operands],
        expected: impl Fn(&[u32], &[u32]) -> Vec<u32>,
    ) {
        let operands: Vec<_> =
            operands.iter().map(|item| item.each_ref().map(|value| self.limbs(value))).collect();
        for (found, [x, y, ..]) in self.run(operation, 1, &operands).iter().zip(&operands) {
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
        operands: &[Operands],
        expected: impl Fn([&Limbs; 4]) -> Limbs,
    ) {
        let limbs: Vec<_> =
            operands.iter().map(|item| item.each_ref().map(|value| self.limbs(value))).collect();
        for (found, item) in self.run(operation, steps, &limbs).iter().zip(operands) {
            let found = self.value(found);
            let reduced = item.each_ref().map(|value| self.field.to_limbs(&value.residue).unwrap());
            let expected = self.field.from_limbs(&expected(reduced.each_ref()));
            let what = format!("{:?} of {item:?} in {}", operation, self.modulus().name());
            assert_eq!(found.residue, expected, "{what}");
            assert!(found.multiple < 2, "{what} is too large");
        }
    }

    fn products(&self) {
        let field = &self.field;
        let mul = |[x, y, ..]: [&Limbs; 4]| field.mul(x, y);
        // a·b is below R/m, which is 35 for the smallest of the four fields.
        for (a, b) in [(1, 1), (2, 2), (8, 4), (4, 8), (16, 2)] {
            self.expect_product(Operation::Mul, 1, &self.pairs(a, b), mul);
        }
        let mut squares: Vec<_> = self.pairs(5, 1);
        squares.extend(self.pairs(2, 1));
        self.expect_product(Operation::Sqr, 1, &squares, |[x, ..]| field.square(x));
        let chain = |[x, y, ..]: [&Limbs; 4]| (0..50).fold(*x, |x, _| field.mul(&x, y));
        self.expect_product(Operation::Mul, 50, &self.pairs(2, 4), chain);
        let chain = |[x, ..]: [&Limbs; 4]| (0..50).fold(*x, |x, _| field.square(&x));
        self.expect_product(Operation::Sqr, 50, &self.pairs(2, 1), chain);
    }

    fn sums_of_products(&self) {
        let field = &self.field;
        let sum = |x: &Limbs, [y, z, w]: [&Limbs; 3]| field.add(&field.mul(x, y), &field.mul(z, w));
        // x·y + z·w is below R/m, as for single products; in Fp, whose R/m is 630, the products of G2 go up to 512.
        let mut bounds =
            vec![[1, 1, 1, 1], [2, 2, 2, 2], [4, 4, 4, 4], [16, 1, 1, 16], [1, 16, 16, 1], [16, 2, 1, 1]];
        if *self.modulus() == Modulus::FP {
            bounds.push([16, 16, 16, 16]);
        }
        for bounds in bounds {
            let quadruples = self.quadruples(bounds);
            self.expect_product(Operation::MulSum, 1, &quadruples, |[x, y, z, w]| sum(x, [y, z, w]));
        }
        let chain = |[x, y, z, w]: [&Limbs; 4]| (0..50).fold(*x, |x, _| sum(&x, [y, z, w]));
        self.expect_product(Operation::MulSum, 50, &self.quadruples([2, 4, 4, 4]), chain);
    }

    fn sums(&self) {
        let sum =
            |x: &[u32], y: &[u32]| self.carried(x.iter().zip(y).map(|(x, y)| i64::from(*x) + i64::from(*y)));
        for (a, b) in [(1, 1), (2, 2), (8, 8)] {
            self.expect_limbs(Operation::Add, &self.pairs(a, b), sum);
        }
        for (operation, factor) in
            [(Operation::Sub2, 2), (Operation::Sub4, 4), (Operation::Sub8, 8), (Operation::Sub16, 16)]
        {
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
        let limbs: Vec<_> = values.iter().map(|[x, ..]| self.limbs(x)).collect();
        let pairs: Vec<_> = limbs.iter().map(|x| [packed(x), x.clone(), x.clone(), x.clone()]).collect();
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
        self.expect_product(Operation::FromPacked, 1, &pairs, |[x, ..]| field.mul(x, &from_packed));
        self.expect_product(Operation::ToPacked, 1, &pairs, |[x, ..]| field.mul(x, &to_packed));
        // x·P to x: to x·R, then to x.
        let integer = |[x, ..]: [&Limbs; 4]| field.from_montgomery(&field.mul(x, &from_packed));
        self.expect_product(Operation::Integer, 1, &pairs, integer);
        self.expect_product(Operation::One, 1, &pairs, |_| field.one());
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
fn sums_of_products() {
    Tier::ALL.into_iter().for_each(|tier| check(tier, Subject::sums_of_products));
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
