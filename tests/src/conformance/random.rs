//! Random sizes and values, drawn and shrunk by proptest from a fixed seed.

use bellwether_core::curve::AffinePoint;
use bellwether_core::device::Transform;
use bellwether_core::domain::RootConvention;
use bellwether_core::r1cs::VariableSet;
use blstrs::Scalar;
use ff::Field;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::inputs::{Device, edge_scalars, points, scalars, witness_values};
use crate::oracle;

/// Runs a property on so many inputs, the same ones every time. The property panics where it does not hold.
fn run<S: Strategy>(cases: u32, inputs: S, property: impl Fn(S::Value)) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let outcome = TestRunner::new_with_rng(config, rng).run(&inputs, |input| {
        property(input);
        Ok(())
    });
    if let Err(failure) = outcome {
        // The assertion's own message was printed when the property panicked; this names the smallest input.
        assert_eq!(failure.to_string(), "", "a property does not hold");
    }
}

/// Scalars of which some are zero, some one, some next to powers of two.
fn mixed_scalars(max: usize) -> impl Strategy<Value = Vec<Scalar>> {
    let edges = edge_scalars();
    let scalar = prop_oneof![
        2 => Just(Scalar::ZERO),
        2 => Just(Scalar::ONE),
        2 => (0..edges.len()).prop_map(move |i| edges[i]),
        3 => any::<u64>().prop_map(|seed| scalars(1, seed as usize)[0]),
    ];
    prop::collection::vec(scalar, 0..max)
}

/// Any transform of any size.
pub fn transforms<D: Device>(device: D) {
    let inputs = (0..8u32, 0..4usize, 0..2usize, mixed_scalars(128));
    run(60, inputs, |(log_size, transform, convention, mut values)| {
        let domain = super::transforms::domain(log_size, RootConvention::ALL[convention]);
        values.resize(domain.size(), Scalar::from(3));
        let transform = Transform::ALL[transform];
        let found = super::transforms::run(&device, &domain, transform, &values);
        assert_eq!(found, oracle::transform(&domain, transform, &values));
    });
}

/// The pointwise quotient at any length.
pub fn quotients<D: Device>(device: D) {
    let inputs = (mixed_scalars(400), any::<bool>(), any::<u32>());
    run(40, inputs, |(a, with_c, seed)| {
        let [b, c] = [0, 1].map(|i| scalars(a.len(), seed as usize + i));
        let scale = scalars(1, seed as usize)[0];
        let mut quotient = super::inputs::upload(&device, &a);
        let b_vector = super::inputs::upload(&device, &b);
        let c_vector = with_c.then(|| super::inputs::upload(&device, &c));
        device.quotient(&mut quotient, &b_vector, c_vector.as_ref(), &scale).expect("quotient");
        let expected = oracle::quotient(&a, &b, with_c.then_some(&c[..]), scale);
        assert_eq!(super::inputs::download(&device, &quotient), expected);
    });
}

/// Sparse products of any shape.
pub fn products<D: Device>(device: D) {
    let inputs = (0..80usize, 1..150usize, 0..12usize, 0..70usize, any::<u32>());
    run(40, inputs, |(rows, columns, entries, padding, seed)| {
        let rows = super::products::random_rows(rows, columns, entries, seed as usize);
        super::products::check(&device, columns, &rows, padding);
    });
}

/// Multi-scalar products of any length, with repeated points, their negatives and infinity.
pub fn sums<P: AffinePoint>(device: impl Device) {
    let few = points::<P>(40, 1);
    let inputs = mixed_scalars(160).prop_flat_map(|scalars| {
        let len = scalars.len();
        (Just(scalars), prop::collection::vec(0..100usize, 0..=len))
    });
    run(25, inputs, |(scalars, choices)| {
        let points: Vec<P> = choices
            .iter()
            .map(|&choice| match choice {
                0..=9 => P::identity(),
                10..=29 => -few[choice - 10],
                _ => few[choice % few.len()],
            })
            .collect();
        super::sums::check(&device, &points, &scalars, "random");
    });
}

/// Any set of variables with any witness.
pub fn selections<P: AffinePoint>(device: impl Device) {
    let inputs = (prop::collection::vec(any::<u64>(), 0..6), 0..64usize, 0..100u32, any::<u32>());
    run(25, inputs, |(words, last, zeros, seed)| {
        let len = (64 * words.len()).saturating_sub(last);
        let set = VariableSet::from_words(len, words);
        let values = witness_values(len, (zeros, (100 - zeros) / 2), seed as usize);
        super::selections::check::<_, P>(&device, &set, &values, "random");
    });
}

/// Multiples of any point.
pub fn multiples<P: AffinePoint>(device: impl Device) {
    run(15, (mixed_scalars(100), any::<u32>()), |(scalars, seed)| {
        let base = points::<P>(1, seed as usize)[0];
        super::multiples::check(&device, &base, &scalars, "random");
    });
}
