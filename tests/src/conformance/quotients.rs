//! The quotient, pointwise and by way of the coset.

use bellwether_core::device::{Transform, composed_coset_quotient};
use bellwether_core::domain::{Domain, RootConvention};
use blstrs::Scalar;
use ff::Field;

use super::inputs::{Device, download, scalars, upload};
use super::transforms::{domain, run};
use crate::oracle;

fn pointwise<D: Device>(device: &D, with_c: bool) {
    for len in [1, 2, 3, 31, 64, 255, 1000, 4097] {
        let [a, b, c] = [1, 2, 3].map(|seed| scalars(len, seed));
        for scale in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, scalars(1, 9)[0]] {
            let mut quotient = upload(device, &a);
            let b_vector = upload(device, &b);
            let c_vector = with_c.then(|| upload(device, &c));
            device.quotient(&mut quotient, &b_vector, c_vector.as_ref(), &scale).expect("quotient");
            let expected = oracle::quotient(&a, &b, with_c.then_some(&c[..]), scale);
            assert_eq!(download(device, &quotient), expected, "length {len}, scale {scale:?}");
            assert_eq!(download(device, &b_vector), b, "b is left as it is");
        }
    }
}

/// (a·b − c)·scale.
pub fn pointwise_with_c<D: Device>(device: D) {
    pointwise(&device, true);
}

/// a·b·scale.
pub fn pointwise_without_c<D: Device>(device: D) {
    pointwise(&device, false);
}

/// What [`Device::coset_quotient`] gives for host values, and the trait's own composition as well.
fn coset_quotient<D: Device>(
    device: &D,
    domain: &Domain,
    [a, b]: [&[Scalar]; 2],
    c: Option<&[Scalar]>,
    scale: Scalar,
) -> Vec<Scalar> {
    let resident = device.domain(domain).expect("domain");
    let [found, composed] = [D::coset_quotient, composed_coset_quotient::<D>].map(|quotient| {
        let [a, b] = [a, b].map(|values| upload(device, values));
        let c = c.map(|c| upload(device, c));
        download(device, &quotient(device, &resident, a, b, c, &scale).expect("coset quotient"))
    });
    assert_eq!(found, composed, "{domain:?}");
    found
}

/// The composition that the trait's documentation gives, of the device's own operations and of the oracles.
fn on_the_coset<D: Device>(device: &D, with_c: bool) {
    for convention in RootConvention::ALL {
        for log_size in 0..=11 {
            let domain = domain(log_size, convention);
            let [a, b, c] = [4, 5, 6].map(|seed| scalars(domain.size(), seed));
            let scale = scalars(1, log_size as usize)[0];
            let c = with_c.then_some(&c[..]);
            let found = coset_quotient(device, &domain, [&a, &b], c, scale);

            let steps = [Transform::Inverse, Transform::CosetForward];
            let by_device = |values: &[Scalar]| {
                steps.into_iter().fold(values.to_vec(), |values, step| run(device, &domain, step, &values))
            };
            let (on_a, on_b, on_c) = (by_device(&a), by_device(&b), c.map(by_device));
            let by_parts = oracle::quotient(&on_a, &on_b, on_c.as_deref(), scale);
            assert_eq!(found, by_parts, "2^{log_size}, {convention:?}");

            if log_size <= 8 {
                let by_oracle = |values: &[Scalar]| {
                    steps
                        .into_iter()
                        .fold(values.to_vec(), |values, step| oracle::transform(&domain, step, &values))
                };
                let (a, b, c) = (by_oracle(&a), by_oracle(&b), c.map(by_oracle));
                let expected = oracle::quotient(&a, &b, c.as_deref(), scale);
                assert_eq!(found, expected, "2^{log_size}, {convention:?}, by definition");
            }
        }
    }
}

/// Composition of the transforms and the pointwise quotient, with c.
pub fn on_the_coset_with_c<D: Device>(device: D) {
    on_the_coset(&device, true);
}

/// The same without c.
pub fn on_the_coset_without_c<D: Device>(device: D) {
    on_the_coset(&device, false);
}

/// For c = a·b on the domain the coefficients are those of (A·B − C)/Z, of degree n − 2: checked at a point.
pub fn divides_by_the_vanishing_polynomial<D: Device>(device: D) {
    for log_size in 0..=9 {
        let domain = domain(log_size, RootConvention::Bellman);
        let [a, b] = [7, 8].map(|seed| scalars(domain.size(), seed));
        let c = oracle::quotient(&a, &b, None, Scalar::ONE);
        let scale = Option::from(domain.vanishing_on_coset().invert()).expect("never zero");
        let on_coset = coset_quotient(&device, &domain, [&a, &b], Some(&c), scale);
        let quotient = run(&device, &domain, Transform::CosetInverse, &on_coset);

        let x = scalars(1, 99)[0];
        let at_x = |coefficients: &[Scalar]| -> Scalar {
            coefficients.iter().rev().fold(Scalar::ZERO, |sum, coefficient| sum * x + coefficient)
        };
        let [a, b, c] = [&a, &b, &c].map(|values| at_x(&run(&device, &domain, Transform::Inverse, values)));
        assert_eq!(a * b - c, at_x(&quotient) * domain.vanishing_at(x), "2^{log_size}");
        assert_eq!(quotient.last(), Some(&Scalar::ZERO), "2^{log_size}: degree n − 2");
    }
}
