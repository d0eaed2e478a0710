//! Field and curve arithmetic of the kernels, on the host build, against core's reference and blstrs.
#![cfg(feature = "host")]
#![allow(clippy::unwrap_used)]

use bellwether_core::curve::{AffinePoint, G1Affine, G2Affine, point_words, unpack_sums};
use bellwether_core::field::reference::{LimbField, Limbs};
use bellwether_core::field::{Modulus, Natural};
use bellwether_kernels::host::{self, HostOptions};
use bellwether_kernels::table::field::{self, Binary, CheckAdditions, Constants, Dot, Unary};
use bellwether_kernels::{Address, Kernel, Parameters};
use group::Curve;
use group::prime::PrimeCurveAffine;

/// Elements of random operands in each test.
const RANDOM: usize = 6000;

/// Elements of which the reference computes inverses: all extremes, and some random ones.
const SLOW: usize = 600;

/// splitmix64
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: &Natural) -> Natural {
        let bits = bound.bit_length();
        loop {
            let mut words = [0; 6];
            words.iter_mut().for_each(|word| *word = self.next());
            let value = Natural::from_words(words).shift_right(Natural::BITS - bits);
            if value < *bound {
                return value;
            }
        }
    }
}

/// One of the two fields, with lazy values: representatives below 2m.
struct Lazy {
    field: LimbField,
    twice: Natural,
    words: usize,
}

impl Lazy {
    fn new(modulus: Modulus) -> Self {
        let twice = modulus.value().checked_add(modulus.value()).unwrap();
        Lazy { field: LimbField::new(modulus, 32).unwrap(), twice, words: modulus.packed_words() }
    }

    fn modulus(&self) -> &Modulus {
        self.field.modulus()
    }

    /// 0, 1, m − 1, m, m + 1, 2m − 1, 2^k and 2^k ± 1, and words of ones, each below `bound`.
    fn extremes(&self, bound: &Natural) -> Vec<Natural> {
        let m = self.modulus().value();
        let one = Natural::ONE;
        let mut values = vec![
            Natural::ZERO,
            one,
            m.checked_sub(&one).unwrap(),
            *m,
            m.checked_add(&one).unwrap(),
            self.twice.checked_sub(&one).unwrap(),
        ];
        for exponent in (1..32 * self.words as u32).filter(|k| k % 32 < 2 || k % 32 == 31) {
            let power = Natural::power_of_two(exponent).unwrap();
            values.extend([power.checked_sub(&one).unwrap(), power, power.checked_add(&one).unwrap()]);
        }
        for pattern in [0x5555_5555u32, 0xaaaa_aaaa, 0xffff_ffff, 0x8000_0000, 1] {
            for shape in 1..1u32 << 4 {
                let limbs: Vec<u32> =
                    (0..self.words).map(|i| if shape >> (i % 4) & 1 == 1 { pattern } else { 0 }).collect();
                let value = Natural::from_limbs(limbs, 32).unwrap();
                values.extend([value.shift_right(1), value.shift_right(2)]);
            }
        }
        values.retain(|value| value < bound);
        values
    }

    /// All extremes in turn in the list of seed 0, then extremes and random values by turns.
    fn operands(&self, seed: u64, bound: &Natural) -> Vec<Natural> {
        let mut random = Random(seed);
        let extremes = self.extremes(bound);
        (0..30 * extremes.len() + RANDOM)
            .map(|i| match extremes.get(i) {
                Some(extreme) if seed == 0 => *extreme,
                _ if random.next().is_multiple_of(2) => random.below(bound),
                _ => extremes[random.next() as usize % extremes.len()],
            })
            .collect()
    }

    fn pack(&self, values: &[Natural]) -> Vec<u32> {
        values.iter().flat_map(|value| value.limbs(32, self.words)).collect()
    }

    fn reduced(&self, value: &Natural) -> Limbs {
        self.field.to_limbs(&value.reduce(self.modulus())).unwrap()
    }

    /// Checks that `words` are representatives below `bound` of what `expected` says of each position.
    fn check(&self, words: &[u32], bound: &Natural, expected: impl Fn(usize) -> Limbs) {
        for (i, words) in words.chunks_exact(self.words).enumerate() {
            let value = Natural::from_limbs(words.iter().copied(), 32).unwrap();
            assert!(value < *bound, "element {i}: {value:?} is not below {bound:?}");
            assert_eq!(self.reduced(&value), expected(i), "element {i}");
        }
    }
}

fn address<T>(values: &[T]) -> Address {
    Address(values.as_ptr() as u64)
}

/// Memory aligned as elements must be.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Quad([u32; 4]);

fn aligned(words: &[u32]) -> Vec<Quad> {
    let (quads, rest) = words.as_chunks::<4>();
    assert!(rest.is_empty());
    quads.iter().map(|quad| Quad(*quad)).collect()
}

/// Launches with `count` threads; the kernel writes `words` words at the address that `parameters` gets.
fn run<P: Parameters>(
    kernel: &Kernel<P>,
    count: usize,
    words: usize,
    parameters: impl Fn(Address) -> P,
) -> Vec<u32> {
    let mut out = vec![Quad::default(); words.div_ceil(4)];
    let parameters = parameters(Address(out.as_mut_ptr() as u64));
    let blocks = count.div_ceil(kernel.threads() as usize);
    // SAFETY: callers pass addresses of as many elements as they say, and the result has as many words.
    unsafe { host::launch(kernel, blocks, 0, &parameters, &HostOptions::default()) }.unwrap();
    out.into_iter().flat_map(|quad| quad.0).take(words).collect()
}

fn unary(kernel: &Kernel<Unary>, a: &[u32], words: usize) -> Vec<u32> {
    let (count, packed) = (a.len() / words, aligned(a));
    run(kernel, count, a.len(), |out| Unary { a: address(&packed), out, count: count as u64 })
}

fn binary(kernel: &Kernel<Binary>, a: &[u32], b: &[u32], words: usize) -> Vec<u32> {
    let count = a.len() / words;
    let packed = [a, b].map(aligned);
    run(kernel, count, a.len(), |out| Binary {
        a: address(&packed[0]),
        b: address(&packed[1]),
        out,
        count: count as u64,
    })
}

fn dot(kernel: &Kernel<Dot>, operands: [&[u32]; 4], words: usize) -> Vec<u32> {
    let (len, count) = (operands[0].len(), operands[0].len() / words);
    let [a, b, c, d] = operands.map(aligned);
    let [a, b, c, d] = [&a, &b, &c, &d].map(|operand| address(operand));
    run(kernel, count, len, |out| Dot { a, b, c, d, out, count: count as u64 })
}

#[test]
fn constants_follow_from_the_moduli() {
    let found = run(&field::FIELD_CONSTANTS, 1, field::CONSTANT_WORDS, |out| Constants { out });
    let (r, p) = (Modulus::FR, Modulus::FP);
    let mut expected = Vec::new();
    for (value, words) in [
        (*r.value(), 8),
        (r.power_of_two(256), 8),
        (*p.value(), 12),
        (p.power_of_two(384), 12),
        (p.power_of_two(3 * 384), 12),
    ] {
        expected.extend(value.limbs(32, words));
    }
    expected.push(p.negative_inverse(32));
    expected.push(p.negative_inverse(30).wrapping_neg() & ((1 << 30) - 1));
    assert_eq!(found, expected);
}

#[test]
fn scalars() {
    let lazy = Lazy::new(Modulus::FR);
    let (m, twice) = (*lazy.modulus().value(), lazy.twice);
    let (a, b) = (lazy.operands(0, &twice), lazy.operands(1, &twice));
    let reduced = lazy.operands(2, &m);
    let [packed_a, packed_b, packed_reduced] = [&a, &b, &reduced].map(|values| lazy.pack(values));
    let field = &lazy.field;
    let len = a.len().min(reduced.len());

    let (a_words, reduced_words) = (&packed_a[..8 * len], &packed_reduced[..8 * len]);
    for kernel in [&field::FR_MUL_MONT, &field::FR_MUL_SHOUP] {
        let found = binary(kernel, a_words, reduced_words, 8);
        lazy.check(&found, &twice, |i| field.mul(&lazy.reduced(&a[i]), &lazy.reduced(&reduced[i])));
    }
    let found = binary(&field::FR_ADD, &packed_a, &packed_b, 8);
    lazy.check(&found, &twice, |i| field.add(&lazy.reduced(&a[i]), &lazy.reduced(&b[i])));
    let found = binary(&field::FR_SUB, &packed_a, &packed_b, 8);
    lazy.check(&found, &twice, |i| field.sub(&lazy.reduced(&a[i]), &lazy.reduced(&b[i])));
    let found = unary(&field::FR_NEGATE, &packed_a, 8);
    lazy.check(&found, &twice, |i| field.neg(&lazy.reduced(&a[i])));
    let found = unary(&field::FR_CANONICAL, &packed_a, 8);
    lazy.check(&found, &m, |i| lazy.reduced(&a[i]));
}

/// Any factor below 2^256 will do for one side of a Montgomery product.
#[test]
fn scalars_times_any_number() {
    let lazy = Lazy::new(Modulus::FR);
    let bound = Natural::power_of_two(256).unwrap();
    let b = lazy.operands(3, lazy.modulus().value());
    let mut random = Random(4);
    let top = bound.checked_sub(&Natural::ONE).unwrap();
    let a: Vec<Natural> = (0..b.len()).map(|i| if i % 5 == 0 { top } else { random.below(&bound) }).collect();
    let found = binary(&field::FR_MUL_MONT, &lazy.pack(&a), &lazy.pack(&b), 8);
    lazy.check(&found, &lazy.twice, |i| lazy.field.mul(&lazy.reduced(&a[i]), &lazy.reduced(&b[i])));
}

#[test]
fn coordinates() {
    let lazy = Lazy::new(Modulus::FP);
    let (m, twice) = (*lazy.modulus().value(), lazy.twice);
    let operands = [0, 1, 2, 3].map(|seed| lazy.operands(seed, &twice));
    let packed: Vec<Vec<u32>> = operands.iter().map(|values| lazy.pack(values)).collect();
    let [a, b, c, d] = operands.map(|values| values.iter().map(|v| lazy.reduced(v)).collect::<Vec<_>>());
    let field = &lazy.field;

    let found = binary(&field::FP_MUL, &packed[0], &packed[1], 12);
    lazy.check(&found, &twice, |i| field.mul(&a[i], &b[i]));
    let found = unary(&field::FP_SQR, &packed[0], 12);
    lazy.check(&found, &twice, |i| field.square(&a[i]));
    let found = dot(&field::FP_DOT, [&packed[0], &packed[1], &packed[2], &packed[3]], 12);
    lazy.check(&found, &twice, |i| field.add(&field.mul(&a[i], &b[i]), &field.mul(&c[i], &d[i])));
    let found = binary(&field::FP_SUB, &packed[0], &packed[1], 12);
    lazy.check(&found, &twice, |i| field.sub(&a[i], &b[i]));
    let found = unary(&field::FP_THRICE, &packed[0], 12);
    lazy.check(&found, &twice, |i| field.add(&field.add(&a[i], &a[i]), &a[i]));
    let found = unary(&field::FP_NEGATE, &packed[0], 12);
    lazy.check(&found, &twice, |i| field.neg(&a[i]));
    let found = unary(&field::FP_CANONICAL, &packed[0], 12);
    lazy.check(&found, &m, |i| a[i]);
    let found = unary(&field::FP_IS_ZERO, &packed[0], 12);
    lazy.check(&found, &m, |i| if a[i] == field.zero() { field.one() } else { field.zero() });
    // Fermat's way takes the reference long.
    let found = unary(&field::FP_INVERSE, &packed[0][..12 * SLOW], 12);
    lazy.check(&found, &twice, |i| field.inverse(&a[i]).unwrap_or(field.zero()));
}

/// s − p − 2q for p and q as large as products of products can be.
#[test]
fn differences_of_products() {
    let lazy = Lazy::new(Modulus::FP);
    // 1.29p
    let (hundredth, _) = lazy.modulus().value().checked_div_rem(100).unwrap();
    let bound = (1..129).fold(hundredth, |sum, _| sum.checked_add(&hundredth).unwrap());
    let top = bound.checked_sub(&Natural::ONE).unwrap();
    let s = lazy.operands(0, &lazy.twice);
    let mut random = Random(5);
    let p: Vec<Natural> = (0..s.len()).map(|i| if i % 3 == 0 { top } else { random.below(&bound) }).collect();
    let found = binary(&field::FP_MINUS_TWICE, &lazy.pack(&s), &lazy.pack(&p), 12);
    let field = &lazy.field;
    lazy.check(&found, &lazy.twice, |i| {
        let p = lazy.reduced(&p[i]);
        [p, p, p].iter().fold(lazy.reduced(&s[i]), |sum, p| field.sub(&sum, p))
    });
}

/// Elements of Fp2 as pairs.
type Pair = (Limbs, Limbs);

fn mul_pairs(field: &LimbField, a: &Pair, b: &Pair) -> Pair {
    (
        field.sub(&field.mul(&a.0, &b.0), &field.mul(&a.1, &b.1)),
        field.add(&field.mul(&a.0, &b.1), &field.mul(&a.1, &b.0)),
    )
}

#[test]
fn coordinates_of_g2() {
    let lazy = Lazy::new(Modulus::FP);
    let field = &lazy.field;
    let operands = [0, 1, 2, 3].map(|seed| lazy.operands(seed, &lazy.twice));
    let packed: Vec<Vec<u32>> = operands.iter().map(|values| lazy.pack(values)).collect();
    // Lists of pairs: neighbours of each list.
    let [a, b, c, d] = operands.map(|values| {
        values
            .as_chunks::<2>()
            .0
            .iter()
            .map(|[x, y]| (lazy.reduced(x), lazy.reduced(y)))
            .collect::<Vec<Pair>>()
    });
    let packed: Vec<&[u32]> = packed.iter().map(|words| &words[..24 * a.len()]).collect();
    let check = |found: &[u32], expected: &dyn Fn(usize) -> Pair| {
        let expected: Vec<Pair> = (0..found.len() / 24).map(expected).collect();
        lazy.check(found, &lazy.twice, |i| if i % 2 == 0 { expected[i / 2].0 } else { expected[i / 2].1 });
    };

    check(&binary(&field::FP2_MUL, packed[0], packed[1], 24), &|i| mul_pairs(field, &a[i], &b[i]));
    check(&unary(&field::FP2_SQR, packed[0], 24), &|i| mul_pairs(field, &a[i], &a[i]));
    check(&dot(&field::FP2_DOT, [packed[0], packed[1], packed[2], packed[3]], 24), &|i| {
        let (x, y) = (mul_pairs(field, &a[i], &b[i]), mul_pairs(field, &c[i], &d[i]));
        (field.add(&x.0, &y.0), field.add(&x.1, &y.1))
    });
    check(&binary(&field::FP2_MINUS_TWICE, packed[0], packed[1], 24), &|i| {
        let minus = |s: &Limbs, p: &Limbs| (0..3).fold(*s, |sum, _| field.sub(&sum, p));
        (minus(&a[i].0, &b[i].0), minus(&a[i].1, &b[i].1))
    });
    let found = unary(&field::FP2_INVERSE, packed[0], 24);
    check(&found[..24 * SLOW], &|i| {
        let norm = field.add(&field.square(&a[i].0), &field.square(&a[i].1));
        let scale = field.inverse(&norm).unwrap_or(field.zero());
        (field.mul(&a[i].0, &scale), field.neg(&field.mul(&a[i].1, &scale)))
    });
}

/// All ways to add and double agree with blstrs, infinity, equal and opposite points included.
fn additions<P: AffinePoint>(kernel: &Kernel<CheckAdditions>) {
    let mut random = Random(7);
    let mut points = vec![P::identity(), P::generator()];
    let mut last = P::generator().to_curve();
    for _ in 0..6 {
        last = (0..random.next() % 20).fold(last, |sum, _| sum.double_and(P::generator()));
        points.push(last.to_affine());
        points.push((-last).to_affine());
    }
    let pairs: Vec<(P, P)> =
        points.iter().flat_map(|p| points.iter().map(move |q| (*p, *q))).cycle().take(400).collect();
    let (p, q): (Vec<P>, Vec<P>) = pairs.iter().copied().unzip();
    let coordinates = P::GROUP.packed_bytes() / 8;
    let lazy = Lazy::new(Modulus::FP);
    let scales: Vec<Natural> =
        (0..pairs.len() * coordinates / 12).map(|_| random.below(&lazy.twice)).collect();
    let (p_words, q_words, scales) =
        (aligned(point_words(&p)), aligned(point_words(&q)), aligned(&lazy.pack(&scales)));
    let words = pairs.len() * field::CHECKED_SUMS * 4 * coordinates;
    let found = run(kernel, pairs.len(), words, |out| CheckAdditions {
        p: address(&p_words),
        q: address(&q_words),
        scales: address(&scales),
        out,
        count: pairs.len() as u64,
    });
    let found = unpack_sums::<P>(&found).unwrap();
    for ((p, q), found) in pairs.iter().zip(found.chunks(field::CHECKED_SUMS)) {
        let (sum, double) = (p.to_curve() + q.to_curve(), p.to_curve() + p.to_curve());
        let expected = [[sum; 5].as_slice(), [double; 3].as_slice()].concat();
        let expected: Vec<P> = expected.iter().map(Curve::to_affine).collect();
        assert_eq!(found, expected, "{p:?} + {q:?}");
    }
}

trait DoubleAnd<P> {
    fn double_and(self, point: P) -> Self;
}

impl<C: group::Group, P: PrimeCurveAffine<Curve = C>> DoubleAnd<P> for C {
    fn double_and(self, point: P) -> Self {
        self.double() + point.to_curve()
    }
}

#[test]
fn additions_in_g1() {
    additions::<G1Affine>(&field::CHECK_ADDITIONS_G1);
}

#[test]
fn additions_in_g2() {
    additions::<G2Affine>(&field::CHECK_ADDITIONS_G2);
}
