use bellwether_core::curve::{G1Affine, G2Affine, Group};
use bellwether_core::key::Points;
use bellwether_core::r1cs::{CompactWitness, VariableSet};
use blstrs::Scalar;
use ff::Field;
use group::Curve;
use pollster::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::batch_add::tests::batch_add_on;
use crate::gpu::tests::open_with;
use crate::options::{CudaOptions, HostOrder};
use crate::select::{Variables, select};
use crate::witness::Witness;

/// Points whose logarithms are known: small ones of either sign, so that many are equal and many opposite, or spread;
/// every seventh is infinity.
fn points<P: AffinePoint>(rng: &mut StdRng, len: usize, distinct: i64) -> (Vec<P>, Vec<Scalar>) {
    let scalar = |k: i64| if k < 0 { -Scalar::from(k.unsigned_abs()) } else { Scalar::from(k as u64) };
    let of = |k: i64| P::generator() * scalar(k);
    // Steps of the baby and of the giant.
    let (baby, giant): (Vec<_>, Vec<_>) = (0..256).map(|k| (of(k), of(256 * (k - 128)))).unzip();
    let numbers: Vec<i64> =
        (0..len).map(|i| if i % 7 == 3 { 0 } else { rng.gen_range(-distinct..=distinct) }).collect();
    let sums: Vec<P::Projective> = numbers
        .iter()
        .map(|k| baby[k.rem_euclid(256) as usize] + giant[(k.div_euclid(256) + 128) as usize])
        .collect();
    let mut points = vec![P::identity(); len];
    P::Projective::batch_normalize(&sums, &mut points);
    (points, numbers.into_iter().map(scalar).collect())
}

/// Scalars of every kind of skew, with names.
fn kinds(rng: &mut StdRng, len: usize) -> Vec<(&'static str, Vec<Scalar>)> {
    let uniform: Vec<Scalar> = (0..len).map(|_| Scalar::random(&mut *rng)).collect();
    let first = uniform.first().copied().unwrap_or(Scalar::ONE);
    let mut one_other = vec![Scalar::ONE; len];
    one_other[len / 2] = first;
    let few = (0..len).map(|_| Scalar::from(rng.gen_range(0..3u64)) - Scalar::ONE).collect();
    let edges = (0..len)
        .map(|i| {
            let power = Scalar::from(2).pow_vartime([(i / 3 % 255) as u64]);
            [power, power + Scalar::ONE, power - Scalar::ONE][i % 3]
        })
        .collect();
    let mut halves = vec![(Scalar::ZERO - Scalar::ONE) * Scalar::from(2).invert().unwrap(); len];
    halves.iter_mut().step_by(2).for_each(|half| *half += Scalar::ONE);
    let opposite = (0..len).map(|i| if i % 2 == 0 { first } else { -first }).collect();
    vec![
        ("uniform", uniform),
        ("equal", vec![first; len]),
        ("one other", one_other),
        ("-1, 0, 1", few),
        ("zero", vec![Scalar::ZERO; len]),
        ("r - 1", vec![-Scalar::ONE; len]),
        ("2^k and beside", edges),
        ("(r ± 1)/2", halves),
        ("opposite", opposite),
    ]
}

fn msm_on<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    scalars: &Scalars,
    terms: &Terms,
) -> P::Projective {
    let factors = Factors { scalars: scalars.buffer(), list: None, len: bases.len() };
    block_on(finish::<P>(product(gpu, bases, factors, terms), bases.plan().window_bits)).unwrap()
}

fn tail_msm_on<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    selection: &Selection,
    terms: &Terms,
) -> P::Projective {
    let tail = selection.tail();
    let factors = Factors { scalars: selection.dense().buffer(), list: Some(tail.buffer()), len: tail.len() };
    block_on(finish::<P>(product(gpu, bases, factors, terms), bases.plan().window_bits)).unwrap()
}

/// Products against known logarithms, of scalars in turn.
fn check<P: AffinePoint>(gpu: &Arc<Gpu>, len: usize, distinct: i64, terms: &[Terms]) {
    let mut rng = StdRng::seed_from_u64(len as u64 + distinct as u64);
    let (points, logarithms) = points::<P>(&mut rng, len, distinct);
    let bases = Bases::upload(gpu, &Points::from(points)).unwrap();
    for (number, (kind, scalars)) in kinds(&mut rng, len).into_iter().enumerate() {
        let exponent: Scalar = scalars.iter().zip(&logarithms).map(|(s, k)| s * k).sum();
        let uploaded = Scalars::upload(gpu, &scalars, len).unwrap();
        let terms = &terms[number % terms.len()];
        let sum = msm_on(gpu, &bases, &uploaded, terms);
        assert_eq!(
            sum.to_affine(),
            (P::generator() * exponent).to_affine(),
            "{len} scalars ({kind}) in {}, {terms:?}",
            P::GROUP
        );
    }
}

/// What a product on this device would go by.
fn terms(gpu: &Gpu, group: Group) -> Terms {
    Terms::of(gpu, group)
}

fn with_levels(gpu: &Gpu, group: Group) -> Vec<Terms> {
    [1, 2, 3].map(|levels| Terms { levels: Some(levels), ..terms(gpu, group) }).to_vec()
}

fn with_tables() -> CudaOptions {
    CudaOptions { tables: Some(true), ..CudaOptions::default() }
}

#[test]
fn products_in_g1() {
    let gpu = open_with(CudaOptions::default());
    for len in [1, 2, 3, 100, 1000] {
        check::<G1Affine>(&gpu, len, 30_000, &[terms(&gpu, Group::G1)]);
    }
    check::<G1Affine>(&gpu, 5000, 3, &[terms(&gpu, Group::G1)]);
}

#[test]
fn products_in_g2() {
    let gpu = open_with(CudaOptions::default());
    for len in [1, 3, 300] {
        check::<G2Affine>(&gpu, len, 30_000, &[terms(&gpu, Group::G2)]);
    }
}

#[test]
fn with_multiples() {
    let gpu = open_with(with_tables());
    check::<G1Affine>(&gpu, 1000, 30_000, &[terms(&gpu, Group::G1)]);
    check::<G2Affine>(&gpu, 150, 30_000, &[terms(&gpu, Group::G2)]);
    // Room for some.
    let options = CudaOptions { memory_limit: Some(70 << 20), ..with_tables() };
    let gpu = open_with(options);
    check::<G1Affine>(&gpu, 700, 30_000, &[terms(&gpu, Group::G1)]);
}

/// Levels of pairwise additions, which only large products have otherwise; equal points, opposite points and infinities
/// meet in them.
#[test]
fn with_levels_of_pairwise_additions() {
    for options in [CudaOptions::default(), with_tables()] {
        let gpu = open_with(options);
        let levels = with_levels(&gpu, Group::G1);
        for (len, distinct) in [(1, 3), (2, 1), (3, 1), (100, 2), (1000, 30_000), (3000, 3)] {
            check::<G1Affine>(&gpu, len, distinct, &levels);
        }
        let levels = with_levels(&gpu, Group::G2);
        for (len, distinct) in [(1, 1), (100, 3), (300, 30_000)] {
            check::<G2Affine>(&gpu, len, distinct, &levels);
        }
    }
}

/// Pieces of few scalars, which go into the same buckets.
#[test]
fn in_pieces() {
    let gpu = open_with(CudaOptions::default());
    let pieces = |group, levels| Terms { space: 1 << 20, levels, ..terms(&gpu, group) };
    check::<G1Affine>(&gpu, 1000, 3, &[pieces(Group::G1, None), pieces(Group::G1, Some(2))]);
    check::<G2Affine>(&gpu, 200, 30_000, &[pieces(Group::G2, None), pieces(Group::G2, Some(1))]);
    let least = Terms { space: 0, ..terms(&gpu, Group::G1) };
    check::<G1Affine>(&gpu, 20, 3, &[least]);
}

/// As on a card with many multiprocessors: short runs, several levels of combining.
#[test]
fn as_on_a_large_card() {
    let gpu = open_with(CudaOptions { host_order: HostOrder::Shuffled(5), ..with_tables() });
    let large = |levels| Terms { multiprocessors: 132, levels, ..terms(&gpu, Group::G1) };
    check::<G1Affine>(&gpu, 2000, 30_000, &[large(None), large(Some(1))]);
}

#[test]
fn nothing_adds_up_to_nothing() {
    let gpu = open_with(CudaOptions::default());
    let bases = Bases::<G1Affine>::upload(&gpu, &Points::from(Vec::new())).unwrap();
    let scalars = Scalars::upload(&gpu, &[], 0).unwrap();
    assert_eq!(block_on(msm(&gpu, &bases, &scalars)).unwrap(), identity::<G1Affine>());
    // Neither ones nor others.
    let (points, _) = points::<G1Affine>(&mut StdRng::seed_from_u64(1), 100, 3);
    let bases = Bases::upload(&gpu, &Points::from(points)).unwrap();
    let witness = std::iter::repeat_n(Scalar::ZERO, 100).collect::<CompactWitness>();
    let selection = selection(&gpu, &witness, vec![u64::MAX, (1 << 36) - 1]);
    assert_eq!(block_on(tail_msm(&gpu, &bases, &selection)).unwrap(), identity::<G1Affine>());
    assert_eq!(
        block_on(crate::batch_add::batch_add(&gpu, &bases, &selection)).unwrap(),
        identity::<G1Affine>()
    );
}

fn selection(gpu: &Arc<Gpu>, witness: &CompactWitness, members: Vec<u64>) -> Selection {
    let resident = Witness::upload(gpu, witness).unwrap();
    let variables = Variables::upload(gpu, &VariableSet::from_words(witness.len(), members)).unwrap();
    select(gpu, &variables, &resident).unwrap()
}

/// The ones and the rest of a witness, over some of its variables.
fn check_selected<P: AffinePoint>(gpu: &Arc<Gpu>, len: usize, [ones, dense]: [u32; 2], terms: &[Terms]) {
    let mut rng = StdRng::seed_from_u64(len as u64);
    let mut witness = CompactWitness::new();
    let mut members = vec![0u64; len.div_ceil(64)];
    let mut chosen = Vec::new();
    for variable in 0..len {
        let value = match rng.gen_range(0..256) {
            kind if kind < ones => Scalar::ONE,
            kind if kind < ones + dense => Scalar::random(&mut rng),
            _ => Scalar::ZERO,
        };
        witness.push(value);
        if rng.gen_range(0..4) > 0 {
            members[variable / 64] |= 1 << (variable % 64);
            chosen.push(value);
        }
    }
    let (points, logarithms) = points::<P>(&mut rng, chosen.len(), 20_000);
    let bases = Bases::upload(gpu, &Points::from(points)).unwrap();
    let selection = selection(gpu, &witness, members);
    let pairs = || chosen.iter().zip(&logarithms);
    let sum: Scalar = pairs().filter(|(s, _)| **s == Scalar::ONE).map(|(_, k)| k).sum();
    let tail: Scalar = pairs().filter(|(s, _)| **s != Scalar::ONE).map(|(s, k)| s * k).sum();
    for terms in terms {
        let what = format!("{len} variables, {ones} {dense}, {}, {terms:?}", P::GROUP);
        let found = batch_add_on(gpu, &bases, &selection, terms);
        assert_eq!(found.to_affine(), (P::generator() * sum).to_affine(), "ones of {what}");
        let found = tail_msm_on(gpu, &bases, &selection, terms);
        assert_eq!(found.to_affine(), (P::generator() * tail).to_affine(), "tail of {what}");
    }
}

#[test]
fn selected_scalars() {
    let gpu = open_with(with_tables());
    for group in Group::ALL {
        let usual = terms(&gpu, group);
        let small = Terms { space: 1 << 18, levels: Some(1), ..usual };
        let large = Terms { multiprocessors: 132, levels: Some(3), ..usual };
        for len in [1, 64, 1500] {
            for mix in [[100, 50], [256, 0], [0, 256]] {
                match group {
                    Group::G1 => check_selected::<G1Affine>(&gpu, len, mix, &[usual, small, large]),
                    Group::G2 => check_selected::<G2Affine>(&gpu, len.min(300), mix, &[usual, small]),
                }
            }
        }
    }
}

/// Faults that are as rare as a lost carry show only in large products.
#[test]
fn large_products() {
    let gpu = open_with(CudaOptions::default());
    let large = |levels| Terms { multiprocessors: 132, levels, ..terms(&gpu, Group::G1) };
    check::<G1Affine>(&gpu, (1 << 18) + 77, 30_000, &[large(None)]);
}
