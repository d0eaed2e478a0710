//! CHECKS 7: keys that do not belong to the circuit, and circuits with zero coefficients and sparse matrices.
//! CHECKS 16: an altered parameter file, end to end.

use std::io::Write;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, G1Affine, G2Affine};
use bellwether_core::device::CpuDevice;
use bellwether_core::groth16::{Assignment, ProveError, Session};
use bellwether_core::key::{CheckPolicy, Points, ProvingKey, ReadOptions, VerifyingKey};
use bellwether_tests::conformance::proofs::{Keyed, blinding, prove};
use bellwether_tests::program::{Program, Step};
use blstrs::Scalar;
use ff::Field;
use group::Curve;
use pollster::block_on;

use crate::common::keyed;

/// The names and numbers of points of the six queries of a key.
fn sizes(key: &ProvingKey) -> [(&'static str, usize); 6] {
    [
        ("ic", key.vk.ic.len()),
        ("h", key.h.len()),
        ("l", key.l.len()),
        ("a", key.a.len()),
        ("b_g1", key.b_g1.len()),
        ("b_g2", key.b_g2.len()),
    ]
}

/// The points with the last one left out, or one more behind.
fn resized<P: AffinePoint>(points: &Points<P>, longer: bool) -> Points<P> {
    let mut points = points.to_shared().expect("in memory").to_vec();
    if longer {
        points.push(P::generator());
    } else {
        points.pop();
    }
    points.into()
}

fn with_resized(key: &ProvingKey, query: &str, longer: bool) -> ProvingKey {
    let mut key = key.clone();
    match query {
        "ic" => {
            key.vk.ic =
                resized(&Points::from(key.vk.ic.clone()), longer).to_shared().expect("in memory").to_vec()
        }
        "h" => key.h = resized(&key.h, longer),
        "l" => key.l = resized(&key.l, longer),
        "a" => key.a = resized(&key.a, longer),
        "b_g1" => key.b_g1 = resized(&key.b_g1, longer),
        _ => key.b_g2 = resized(&key.b_g2, longer),
    }
    key
}

#[test]
fn a_query_of_another_length_is_named_with_both_numbers() {
    let keyed = keyed();
    let shape = keyed.r1cs.shape();
    for (name, expected) in sizes(&keyed.key) {
        for longer in [false, true] {
            let altered = with_resized(&keyed.key, name, longer);
            let found = if longer { expected + 1 } else { expected - 1 };
            let device = || Arc::new(CpuDevice::new());
            let errors = [
                Session::for_circuit(device(), &altered, Arc::clone(&keyed.r1cs)).err(),
                Session::for_shape(device(), &altered, shape.clone()).err(),
            ];
            for error in errors {
                let error = error.expect("refused");
                let expected = matches!(
                    &error,
                    ProveError::KeyMismatch { query, key, circuit }
                        if (*query, *key, *circuit) == (name, found, expected)
                );
                assert!(expected, "{name}: {error}");
                let message = error.to_string();
                assert!(message.contains(&found.to_string()) && message.contains(name), "{message}");
                assert!(!error.is_device_fault());
            }
        }
    }
}

/// The key of another circuit: the first query that differs is named.
#[test]
fn the_key_of_another_circuit_is_refused() {
    let keyed = keyed();
    let other = Keyed::new(&CpuDevice::new(), Program::satisfied(40, 2, 2));
    let error = Session::for_circuit(Arc::new(CpuDevice::new()), &other.key, Arc::clone(&keyed.r1cs))
        .err()
        .expect("refused");
    assert!(matches!(error, ProveError::KeyMismatch { query: "h", key: 63, circuit: 31 }), "{error}");
}

/// A key of the right sizes for another circuit: proofs fail verification and are not returned.
#[test]
fn a_key_of_the_same_sizes_proves_nothing() {
    let square = |base: u64| {
        let one = |variable: usize| vec![(variable, Scalar::ONE)];
        let doubled = vec![(1, Scalar::from(base))];
        Program::new(vec![
            Step::Input(Scalar::from(5)),
            Step::Product([one(1), doubled]),
            Step::Enforce([one(2), one(0), one(2)]),
        ])
    };
    let [keyed, other] = [2, 3].map(|base| Keyed::new(&CpuDevice::new(), square(base)));
    let session = Session::for_circuit(Arc::new(CpuDevice::new()), &other.key, Arc::clone(&keyed.r1cs))
        .expect("the sizes fit");
    let error =
        block_on(session.prove(&keyed.assignment(), &blinding(), &Default::default())).expect_err("no proof");
    assert!(matches!(error, ProveError::InvalidProof { attempts: 2, .. }), "{error}");
}

/// Zero coefficients, terms that cancel, inputs that occur nowhere or in B alone, rows without entries, variables that
/// occur in C alone: such circuits prove, and the densities of both ways of proving are the key's.
#[test]
fn zero_coefficients_and_sparse_matrices_prove() {
    let one = |variable: usize| vec![(variable, Scalar::ONE)];
    let five = Scalar::from(5);
    let cancelled = vec![(4, five), (0, Scalar::ONE), (4, -five)];
    let with_zero = vec![(1, Scalar::ZERO), (4, Scalar::ONE), (2, Scalar::ZERO)];
    let steps = vec![
        Step::Input(five),
        Step::Input(Scalar::ONE),
        Step::Input(Scalar::ZERO),
        // Variable 4 occurs with coefficient zero, then cancelled, and really in C alone.
        Step::Aux(Scalar::from(25)),
        Step::Enforce([one(1), one(1), one(4)]),
        Step::Enforce([cancelled.clone(), cancelled, one(0)]),
        Step::Enforce([vec![(4, Scalar::ZERO)], with_zero.clone(), vec![]]),
        Step::Enforce([vec![], vec![], vec![]]),
        Step::Enforce([vec![], with_zero, vec![(3, Scalar::ONE)]]),
        // Variable 5 occurs in A alone.
        Step::Aux(Scalar::from(7)),
        Step::Enforce([one(5), vec![], vec![(4, Scalar::ZERO)]]),
        // Variable 6 occurs in B alone, three times in a row.
        Step::Aux(-Scalar::ONE),
        Step::Enforce([vec![], [one(6), one(6), one(6)].concat(), vec![]]),
    ];
    let keyed = Keyed::new(&CpuDevice::new(), Program::new(steps));
    let shape = keyed.r1cs.shape();
    assert_eq!(shape.a.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 5]);
    assert_eq!(shape.b.iter().collect::<Vec<_>>(), [0, 1, 4, 6]);
    let device = Arc::new(CpuDevice::new());
    let proven = prove(&keyed.session(Arc::clone(&device)), &keyed.assignment());
    assert!(keyed.verifies(&proven));

    let (assignment, evaluated) = Assignment::evaluate(keyed.program.clone()).expect("satisfied");
    assert_eq!(&evaluated, shape);
    let session = Session::for_shape(device, &keyed.key, evaluated).expect("a session");
    assert_eq!(prove(&session, &assignment).proof, proven.proof);
}

/// A circuit in which B is empty: the b queries have no point.
#[test]
fn a_circuit_without_b_proves() {
    let one = |variable: usize| vec![(variable, Scalar::ONE)];
    let steps = vec![Step::Aux(Scalar::from(9)), Step::Enforce([one(1), vec![], vec![]])];
    let keyed = Keyed::new(&CpuDevice::new(), Program::new(steps));
    assert_eq!((keyed.key.b_g1.len(), keyed.key.b_g2.len()), (0, 0));
    let proven = prove(&keyed.session(Arc::new(CpuDevice::new())), &keyed.assignment());
    assert!(keyed.verifies(&proven));
}

/// The points with the first one that has a weight replaced by another of the subgroup.
fn with_another_point<P: AffinePoint>(
    points: &Points<P>,
    mut has_weight: impl FnMut(usize) -> bool,
) -> Points<P> {
    let mut points = points.to_shared().expect("in memory").to_vec();
    let at = (0..points.len()).find(|&at| has_weight(at)).expect("some point has a weight");
    points[at] = (points[at].to_curve() + P::generator()).to_affine();
    points.into()
}

/// Replaces a point of a key.
type Alteration<'a> = &'a dyn Fn(&mut ProvingKey);

/// A parameter file in which a point was replaced by another one of the subgroup reads well, and no proof made with
/// it is returned. The untouched file proves.
#[test]
fn an_altered_parameter_file_gives_no_proof() {
    let keyed = keyed();
    let (shape, assignment) = (keyed.r1cs.shape(), keyed.assignment());
    let weighs = |variable: usize| assignment.witness().get(variable) != Scalar::ZERO;
    let a: Vec<usize> = shape.a.iter().collect();
    let b: Vec<usize> = shape.b.iter().collect();
    let good = &keyed.key;
    let alterations: [(&str, Alteration<'_>); 5] = [
        ("h", &|key| key.h = with_another_point(&key.h, |at| at == 3)),
        ("l", &|key| key.l = with_another_point(&key.l, |at| weighs(shape.num_inputs + at))),
        ("a", &|key| key.a = with_another_point(&key.a, |at| weighs(a[at]))),
        ("b_g1", &|key| key.b_g1 = with_another_point(&key.b_g1, |at| weighs(b[at]))),
        ("b_g2", &|key| key.b_g2 = with_another_point(&key.b_g2, |at| weighs(b[at]))),
    ];
    for key in [read(good), mapped(good)] {
        let session = Session::for_circuit(Arc::new(CpuDevice::new()), &key, Arc::clone(&keyed.r1cs))
            .expect("a session");
        assert!(keyed.verifies(&prove(&session, &assignment)));
    }
    for (name, alter) in alterations {
        let mut key = good.clone();
        alter(&mut key);
        for key in [read(&key), mapped(&key)] {
            let session = Session::for_circuit(Arc::new(CpuDevice::new()), &key, Arc::clone(&keyed.r1cs))
                .expect("a session");
            let error =
                block_on(session.prove(&assignment, &blinding(), &Default::default())).expect_err(name);
            assert!(matches!(error, ProveError::InvalidProof { attempts: 2, .. }), "{name}: {error}");
        }
    }
}

fn file_of(key: &ProvingKey) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut bytes = Vec::new();
    key.write(&mut bytes).expect("written");
    file.write_all(&bytes).expect("written");
    file
}

const CHECKED: ReadOptions<'static> =
    ReadOptions { checks: CheckPolicy::Always, trusted: &[], progress: None };

fn read(key: &ProvingKey) -> ProvingKey {
    ProvingKey::read(file_of(key).path(), &CHECKED).expect("every point is one of the subgroup")
}

/// The file stays mapped after it is unlinked.
fn mapped(key: &ProvingKey) -> ProvingKey {
    ProvingKey::map(file_of(key).path(), &CHECKED).expect("every point is one of the subgroup")
}

/// γ or δ at infinity would let anybody prove anything.
#[test]
fn a_degenerate_key_is_refused() {
    let keyed = keyed();
    let alterations: [fn(&mut VerifyingKey); 3] = [
        |vk| vk.gamma_g2 = G2Affine::default(),
        |vk| vk.delta_g1 = G1Affine::default(),
        |vk| vk.delta_g2 = G2Affine::default(),
    ];
    for alter in alterations {
        let mut key = keyed.key.clone();
        alter(&mut key.vk);
        let session = Session::for_circuit(Arc::new(CpuDevice::new()), &key, Arc::clone(&keyed.r1cs));
        let error = session.err().expect("refused");
        assert!(matches!(error, ProveError::DegenerateKey), "{error}");
    }
}
