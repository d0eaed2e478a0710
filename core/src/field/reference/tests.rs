//! The reference arithmetic against blstrs, for both fields and every limb width.

use blstrs::{Fp, Scalar};
use ff::Field;
use proptest::prelude::*;

use super::*;
use crate::field::{MAX_LIMB_BITS, MIN_LIMB_BITS};

/// A field of blstrs, as the tests need it.
trait Oracle: Field + From<u64> + Into<Natural> {
    const MODULUS: Modulus;
    /// Bits of R in packed form.
    const PACKED_BITS: u64;

    /// Σ word_i · 2^(64·i).
    fn from_words(words: [u64; 6]) -> Self {
        let radix = Self::from(1 << 32).square();
        words.iter().rev().fold(Self::ZERO, |sum, &word| sum * radix + Self::from(word))
    }

    fn power_of_two(exponent: u64) -> Self {
        Self::from(2).pow_vartime([exponent])
    }
}

impl Oracle for Scalar {
    const MODULUS: Modulus = Modulus::FR;
    const PACKED_BITS: u64 = 256;
}

impl Oracle for Fp {
    const MODULUS: Modulus = Modulus::FP;
    const PACKED_BITS: u64 = 384;
}

fn every_width<F: Oracle>() -> impl Iterator<Item = LimbField> {
    (MIN_LIMB_BITS..=MAX_LIMB_BITS).map(|limb_bits| LimbField::new(F::MODULUS, limb_bits).unwrap())
}

/// A field with the Montgomery form of an element, and back.
struct Codec<'a>(&'a LimbField);

impl Codec<'_> {
    fn encode<F: Oracle>(&self, x: F) -> Limbs {
        self.0.to_montgomery(&self.0.to_limbs(&x.into()).unwrap())
    }

    /// Checks that `a` is reduced and the Montgomery form of `x`.
    fn expect<F: Oracle>(&self, a: Limbs, x: F) {
        let a = self.0.check(a.as_slice()).unwrap();
        let decoded = self.0.from_limbs(&self.0.from_montgomery(&a));
        assert_eq!(decoded, x.into(), "{} over {} bits", F::MODULUS.name(), self.0.limb_bits());
    }
}

fn check_one<F: Oracle>(field: &LimbField, x: F) {
    let codec = Codec(field);
    let a = codec.encode(x);
    codec.expect(a, x);
    codec.expect(field.neg(&a), -x);
    codec.expect(field.square(&a), x.square());

    let packed = field.to_limbs(&(x * F::power_of_two(F::PACKED_BITS)).into()).unwrap();
    let constants = field.constants();
    assert_eq!(field.mul(&packed, &field.check(&constants.from_packed).unwrap()), a);
    assert_eq!(field.mul(&a, &field.check(&constants.to_packed).unwrap()), packed);
}

fn check_inverse<F: Oracle>(field: &LimbField, x: F) {
    let codec = Codec(field);
    match (field.inverse(&codec.encode(x)), Option::<F>::from(x.invert())) {
        (Some(inverse), Some(expected)) => codec.expect(inverse, expected),
        (inverse, expected) => assert!(inverse.is_none() && expected.is_none()),
    }
}

fn check_two<F: Oracle>(field: &LimbField, x: F, y: F) {
    let codec = Codec(field);
    let (a, b) = (codec.encode(x), codec.encode(y));
    codec.expect(field.add(&a, &b), x + y);
    codec.expect(field.sub(&a, &b), x - y);
    codec.expect(field.mul(&a, &b), x * y);
}

/// 0, ±1, ±2, 2^k and 2^k ± 1 for the given k.
fn edges<F: Oracle>(exponents: impl IntoIterator<Item = u64>) -> Vec<F> {
    let powers = exponents.into_iter().map(F::power_of_two);
    let around = powers.flat_map(|power| [power - F::ONE, power, power + F::ONE]);
    [F::ZERO, F::ONE, -F::ONE, F::from(2), -F::from(2)].into_iter().chain(around).collect()
}

fn check_edges<F: Oracle>() {
    for field in every_width::<F>() {
        let w = u64::from(field.limb_bits());
        let top = u64::from(F::MODULUS.num_bits());
        for x in edges::<F>(0..=top) {
            check_one(&field, x);
        }
        // Pairs around the lowest limb, a middle one, and the top.
        let few = edges::<F>([w - 1, w, 2 * w, top / 2, top - 1, top]);
        for &x in &few {
            check_inverse(&field, x);
            for &y in &few {
                check_two(&field, x, y);
            }
        }
        // The same integers as Montgomery forms: limbs that are all ones or nearly so.
        let r: F = F::power_of_two(w * field.limb_count() as u64);
        let forms: Vec<F> = few.iter().map(|&x| x * r.invert().unwrap()).collect();
        for &x in &forms {
            check_one(&field, x);
            for &y in &forms {
                check_two(&field, x, y);
            }
        }
    }
}

#[test]
fn edge_values_in_fr() {
    check_edges::<Scalar>();
}

#[test]
fn edge_values_in_fp() {
    check_edges::<Fp>();
}

#[test]
fn thirty_two_bit_limbs_are_the_packed_form() {
    let field = LimbField::new(Modulus::FR, 32).unwrap();
    for x in edges::<Scalar>(0..=255) {
        assert_eq!(Codec(&field).encode(x).as_slice(), crate::fenced::slices::scalar_words(&[x]));
    }
}

#[test]
fn what_is_no_element_is_refused() {
    for field in every_width::<Scalar>().chain(every_width::<Fp>()) {
        let (bits, count) = (field.limb_bits(), field.limb_count());
        let not_reduced = Err(LimbError::NotReduced { modulus: *field.modulus() });
        assert_eq!(field.to_limbs(field.modulus().value()), not_reduced);
        assert_eq!(field.check(&field.constants().modulus), not_reduced);
        // All ones, which for some widths is beyond 2^384.
        assert_eq!(field.check(&vec![((1u64 << bits) - 1) as u32; count]), not_reduced);
        assert_eq!(
            field.check(&vec![0; count + 1]),
            Err(LimbError::Count { found: count + 1, expected: count })
        );
        assert_eq!(field.check(&[]), Err(LimbError::Count { found: 0, expected: count }));
        if bits < 32 {
            let mut limbs = vec![0; count];
            limbs[1] = 1 << bits;
            assert_eq!(
                field.check(&limbs),
                Err(LimbError::Width { index: 1, limb: 1 << bits, limb_bits: bits })
            );
        }
    }
    assert_eq!(LimbField::new(Modulus::FP, 13).unwrap().limb_count(), MAX_LIMBS);
    assert!(LimbField::new(Modulus::FP, 12).is_err());
}

fn check_random<F: Oracle>(x: [u64; 6], y: [u64; 6], exponent: [u64; 6]) {
    let (x, y) = (F::from_words(x), F::from_words(y));
    for field in every_width::<F>() {
        check_one(&field, x);
        check_two(&field, x, y);
        check_inverse(&field, x);
        let power = field.pow(&Codec(&field).encode(x), &Natural::from_words(exponent));
        Codec(&field).expect(power, x.pow_vartime(exponent));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_values_in_fr(x: [u64; 6], y: [u64; 6], exponent: [u64; 6]) {
        check_random::<Scalar>(x, y, exponent);
    }

    #[test]
    fn random_values_in_fp(x: [u64; 6], y: [u64; 6], exponent: [u64; 6]) {
        check_random::<Fp>(x, y, exponent);
    }
}
