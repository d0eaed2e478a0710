//! Inverting many elements at the price of one inversion.

use ff::Field;

/// Replaces each value by its inverse; zeros stay zero.
///
/// Montgomery's trick: one inversion and three multiplications a value. `scratch` holds the partial products
/// between calls; what is in it before does not matter, and it grows to `values.len()`. Which values are zero
/// shows in the running time.
///
/// Source: P. Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", Math. Comp. 48
/// (1987), section 10.3.1.
pub fn batch_invert<F: Field>(values: &mut [F], scratch: &mut Vec<F>) {
    scratch.clear();
    scratch.reserve(values.len());
    let mut product = F::ONE;
    for value in values.iter() {
        scratch.push(product);
        if !value.is_zero_vartime() {
            product *= value;
        }
    }
    // A product of non-zero elements of a field has an inverse.
    let mut inverse = product.invert().unwrap_or(F::ONE);
    for (value, before) in values.iter_mut().zip(scratch.iter()).rev() {
        if !value.is_zero_vartime() {
            let next = inverse * *value;
            *value = inverse * before;
            inverse = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use blstrs::{Fp2, Scalar};
    use rand::{Rng, SeedableRng, rngs::StdRng};

    use super::*;

    fn check<F: Field>(values: &[F], scratch: &mut Vec<F>) {
        let mut inverses = values.to_vec();
        batch_invert(&mut inverses, scratch);
        for (value, inverse) in values.iter().zip(&inverses) {
            assert_eq!(value.invert().unwrap_or(F::ZERO), *inverse);
        }
    }

    fn check_lengths<F: Field>() {
        let mut rng = StdRng::seed_from_u64(1);
        let mut scratch = vec![F::ZERO; 3];
        for length in [0, 1, 2, 3, 17, 100] {
            for zeros in [0.0, 0.5, 1.0] {
                let values: Vec<F> = (0..length)
                    .map(|_| if rng.gen_bool(zeros) { F::ZERO } else { F::random(&mut rng) })
                    .collect();
                check(&values, &mut scratch);
            }
        }
        check(&[F::ONE, -F::ONE, F::ZERO, F::ONE.double()], &mut scratch);
    }

    #[test]
    fn inverts_and_leaves_zeros() {
        check_lengths::<Scalar>();
        check_lengths::<Fp2>();
    }
}
