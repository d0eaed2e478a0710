//! Generators of Fr and the roots of unity of order 2^32 that two families of provers take from them.

use ff::Field;

use super::{Modulus, Natural, Scalar};

/// Bound of the primes q | r − 1 for which [`fr_generator`] looks at g^((r−1)/q).
///
/// The primes are 2, 3, 11 and 19, and 2 and 3 alone rule out everything below 7. That 7 then passes for the
/// larger primes too is checked by the tests, with the whole factorisation of r − 1.
const PRIME_BOUND: u32 = 32;

/// The smallest quadratic non-residue of Fr: 5.
pub fn fr_smallest_non_residue() -> Scalar {
    smallest(|candidate| !is_power(candidate, 2))
}

/// The smallest generator of the multiplicative group of Fr: 7. It is bellman's `MULTIPLICATIVE_GENERATOR`.
///
/// A generator is a quadratic non-residue, but the smallest non-residue, 5, is a cube and so generates only a
/// third of the group.
pub fn fr_generator() -> Scalar {
    let order = Modulus::FR.minus_one();
    let divides = |prime: &u32| matches!(order.checked_div_rem(*prime), Some((_, 0)));
    let primes: Vec<u32> = (2..PRIME_BOUND).filter(|&n| is_prime(n)).filter(divides).collect();
    smallest(|candidate| !primes.iter().any(|&prime| is_power(candidate, prime)))
}

/// The root of unity of order 2^32 of bellman, bellperson and blstrs: 7^((r − 1) / 2^32).
pub fn bellman_root_of_unity() -> Scalar {
    power(fr_generator(), &Modulus::FR.odd_part())
}

/// The root of unity of order 2^32 of snarkjs (ffjavascript): 5^((r − 1) / 2^32).
pub fn snarkjs_root_of_unity() -> Scalar {
    power(fr_smallest_non_residue(), &Modulus::FR.odd_part())
}

/// Whether `x` ≠ 0 is a q-th power, for a prime q | r − 1: by Euler's criterion, whether x^((r−1)/q) = 1.
fn is_power(x: Scalar, q: u32) -> bool {
    let exponent = Modulus::FR.minus_one().checked_div_rem(q).map(|(quotient, _)| quotient);
    exponent.is_some_and(|exponent| power(x, &exponent) == Scalar::ONE)
}

/// The first of 2, 3, 4, ... that satisfies `condition`. Some residue must.
fn smallest(condition: impl Fn(Scalar) -> bool) -> Scalar {
    let mut candidate = Scalar::from(2);
    while !condition(candidate) {
        candidate += Scalar::ONE;
    }
    candidate
}

fn power(base: Scalar, exponent: &Natural) -> Scalar {
    base.pow_vartime(exponent.words())
}

fn is_prime(n: u32) -> bool {
    n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
}

#[cfg(test)]
mod tests {
    use ff::PrimeField;

    use super::*;

    /// The prime factors of r − 1, with multiplicity.
    const FACTORS: [(u32, u32); 12] = [
        (2, 32),
        (3, 1),
        (11, 1),
        (19, 1),
        (10177, 1),
        (125527, 1),
        (859267, 1),
        (906349, 2),
        (2508409, 1),
        (2529403, 1),
        (52437899, 1),
        (254760293, 2),
    ];

    #[test]
    fn factors_are_prime_and_complete() {
        let mut cofactor = Modulus::FR.minus_one();
        for (prime, multiplicity) in FACTORS {
            assert!(is_prime(prime));
            for _ in 0..multiplicity {
                let (quotient, remainder) = cofactor.checked_div_rem(prime).unwrap();
                assert_eq!(remainder, 0);
                cofactor = quotient;
            }
        }
        assert_eq!(cofactor, Natural::ONE);
    }

    #[test]
    fn generator_is_the_smallest_there_is() {
        let generates = |x: u64| !FACTORS.iter().any(|&(prime, _)| is_power(Scalar::from(x), prime));
        assert_eq!((2..).find(|&x| generates(x)), Some(7));
        assert_eq!(fr_generator(), Scalar::from(7));
        assert_eq!(fr_generator(), Scalar::MULTIPLICATIVE_GENERATOR);
    }

    #[test]
    fn smallest_non_residue_is_five() {
        assert_eq!(fr_smallest_non_residue(), Scalar::from(5));
        assert_eq!((2..).find(|&x| Scalar::from(x).legendre() == -1), Some(5));
    }

    #[test]
    fn roots_have_order_two_to_the_32() {
        assert_eq!(bellman_root_of_unity(), Scalar::ROOT_OF_UNITY);
        for root in [bellman_root_of_unity(), snarkjs_root_of_unity()] {
            assert_eq!(root.pow_vartime([1 << 31]), -Scalar::ONE);
        }
        assert_ne!(bellman_root_of_unity(), snarkjs_root_of_unity());
    }
}
