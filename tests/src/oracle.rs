//! What the operations of a device are by definition, term by term: slow and obviously right.
//!
//! Field and group operations are blstrs's; no transform, no bucket method and no table is used here.

use bellwether_core::curve::AffinePoint;
use bellwether_core::device::Transform;
use bellwether_core::domain::Domain;
use blstrs::Scalar;
use ff::Field;
use group::{Curve, Group};

/// The discrete Fourier transform of `values`, in n² steps. See [`Transform`] for the four sums.
pub fn transform(domain: &Domain, transform: Transform, values: &[Scalar]) -> Vec<Scalar> {
    let n = domain.size();
    assert_eq!(values.len(), n, "a vector of the domain's size");
    match transform {
        Transform::Forward => evaluations(values, Scalar::ONE, domain.root(), n),
        Transform::CosetForward => evaluations(values, domain.shift(), domain.root(), n),
        Transform::Inverse => coefficients(domain, values, Scalar::ONE),
        Transform::CosetInverse => coefficients(domain, values, domain.shift()),
    }
}

/// Σ_j x_j·(start·ratio^i)^j for each i below n.
fn evaluations(values: &[Scalar], start: Scalar, ratio: Scalar, n: usize) -> Vec<Scalar> {
    powers(ratio, n)
        .map(|power| {
            let at = start * power;
            values.iter().rev().fold(Scalar::ZERO, |sum, value| sum * at + value)
        })
        .collect()
}

/// (shift^(−j)/n)·Σ_i x_i·ω^(−ij) for each j below n. The inverses come from divisions, not from the domain.
fn coefficients(domain: &Domain, values: &[Scalar], shift: Scalar) -> Vec<Scalar> {
    let n = domain.size();
    let size_inverse = inverse(Scalar::from(n as u64));
    evaluations(values, Scalar::ONE, inverse(domain.root()), n)
        .into_iter()
        .zip(powers(inverse(shift), n))
        .map(|(sum, power)| sum * size_inverse * power)
        .collect()
}

fn powers(base: Scalar, count: usize) -> impl Iterator<Item = Scalar> {
    std::iter::successors(Some(Scalar::ONE), move |power| Some(power * base)).take(count)
}

fn inverse(value: Scalar) -> Scalar {
    Option::from(value.invert()).expect("not zero")
}

/// (a_i·b_i − c_i)·scale, with c_i = 0 where there is no `c`.
pub fn quotient(a: &[Scalar], b: &[Scalar], c: Option<&[Scalar]>, scale: Scalar) -> Vec<Scalar> {
    let c = |i: usize| c.map_or(Scalar::ZERO, |c| c[i]);
    (0..a.len()).map(|i| (a[i] * b[i] - c(i)) * scale).collect()
}

/// The product of a matrix, given by all of its entries, with a vector.
pub fn matrix_vector(rows: &[Vec<Scalar>], vector: &[Scalar]) -> Vec<Scalar> {
    rows.iter().map(|row| row.iter().zip(vector).map(|(entry, value)| entry * value).sum()).collect()
}

/// scalar·point by doubling and adding, from the highest bit of the scalar down.
pub fn multiple<P: AffinePoint>(point: &P, scalar: &Scalar) -> P::Projective {
    let bits =
        scalar.to_bytes_be().into_iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1));
    bits.skip_while(|bit| !bit).fold(P::Projective::identity(), |sum, bit| {
        let doubled = sum.double();
        if bit { doubled + *point } else { doubled }
    })
}

/// Σ s_i·P_i over all points, doubling and adding with all of them at once. There are as many scalars or more.
pub fn msm<P: AffinePoint>(points: &[P], scalars: &[Scalar]) -> P {
    let scalars: Vec<[u8; 32]> = scalars[..points.len()].iter().map(Scalar::to_bytes_be).collect();
    let mut sum = P::Projective::identity();
    for bit in 0..256 {
        sum = sum.double();
        for (point, scalar) in points.iter().zip(&scalars) {
            if scalar[bit / 8] >> (7 - bit % 8) & 1 == 1 {
                sum += point;
            }
        }
    }
    sum.to_affine()
}

/// Σ P_i over the members whose value is one.
pub fn batch_add<P: AffinePoint>(points: &[P], values: &[Scalar]) -> P {
    let members = points.iter().zip(values);
    members
        .filter(|(_, value)| **value == Scalar::ONE)
        .fold(P::Projective::identity(), |sum, (point, _)| sum + *point)
        .to_affine()
}

/// Σ s_i·P_i over the members whose value s_i is neither zero nor one.
pub fn tail_msm<P: AffinePoint>(points: &[P], values: &[Scalar]) -> P {
    let members = points.iter().zip(values);
    let (points, values): (Vec<P>, Vec<Scalar>) =
        members.filter(|(_, value)| ![Scalar::ZERO, Scalar::ONE].contains(value)).unzip();
    msm(&points, &values)
}

/// The multiples s_i·P.
pub fn fixed_base<P: AffinePoint>(base: &P, scalars: &[Scalar]) -> Vec<P> {
    scalars.iter().map(|scalar| multiple(base, scalar).to_affine()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::domain::RootConvention;
    use blstrs::{G1Affine, G2Affine};

    /// Known answers that need no oracle: the transform of a constant and of x, small multiples by addition.
    #[test]
    fn transforms_of_constants_and_of_x() {
        let domain = Domain::new(2, RootConvention::Bellman).unwrap();
        let [zero, one, g] = [Scalar::ZERO, Scalar::ONE, domain.shift()];
        let constant = [one, zero, zero, zero];
        let x = [zero, one, zero, zero];
        for forward in [Transform::Forward, Transform::CosetForward] {
            assert_eq!(transform(&domain, forward, &constant), [one; 4]);
        }
        let elements: Vec<Scalar> = (0..4).map(|i| domain.element(i)).collect();
        assert_eq!(transform(&domain, Transform::Forward, &x), elements);
        let shifted: Vec<Scalar> = elements.iter().map(|element| g * element).collect();
        assert_eq!(transform(&domain, Transform::CosetForward, &x), shifted);
        assert_eq!(transform(&domain, Transform::Inverse, &elements), x);
        assert_eq!(transform(&domain, Transform::CosetInverse, &shifted), x);
    }

    fn small_multiples<P: AffinePoint>() {
        let mut sum = P::Projective::identity();
        for scalar in 0..20u64 {
            assert_eq!(multiple(&P::generator(), &Scalar::from(scalar)).to_affine(), sum.to_affine());
            sum += &P::generator();
        }
        assert_eq!(multiple(&P::generator(), &-Scalar::ONE).to_affine(), -P::generator());
        let points = [P::generator(), -P::generator(), P::identity()];
        let scalars = [-Scalar::from(5u64), Scalar::from(7u64), -Scalar::ONE, Scalar::ONE];
        assert_eq!(msm(&points, &scalars), -multiple(&P::generator(), &Scalar::from(12u64)).to_affine());
    }

    #[test]
    fn multiples_are_repeated_sums() {
        small_multiples::<G1Affine>();
        small_multiples::<G2Affine>();
    }
}
