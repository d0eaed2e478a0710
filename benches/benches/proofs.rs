//! Whole proofs on the CPU device, warm, from synthesis to verified proof, with bellperson's beside them (from
//! synthesis to proof: it does not verify).

#![allow(missing_docs, clippy::unwrap_used)]

use bellperson::groth16 as rival;
use bellwether::bellman::BellmanCircuit;
use bellwether::{Blinding, Checks, Circuit, CpuDriver, Driver, Prover, ProvingKey};
use bellwether_circuits::sapling::{self, Parameters};
use blstrs::{Bls12, Scalar};
use criterion::{Criterion, criterion_group, criterion_main};

/// Proves one circuit with both provers, after making sure that they agree byte for byte.
fn side_by_side<C>(criterion: &mut Criterion, name: &str, parameters: &[u8], blank: C, instance: C)
where
    C: Circuit<Scalar> + Clone + Send,
{
    let key = ProvingKey::from_bytes(parameters, Checks::CurveOnly).unwrap();
    let prover = Prover::new(CpuDriver.open(0).unwrap(), &key, blank).unwrap();
    let rival_key = rival::Parameters::<Bls12>::read(parameters, false).unwrap();
    let (r, s) = (Scalar::from(3u64), Scalar::from(5u64));
    let ours = || prover.prove_with(instance.clone(), &Blinding::new(r, s)).unwrap().proof;
    let theirs = || rival::create_proof::<Bls12, _, _>(instance.clone(), &rival_key, r, s).unwrap();
    let mut encoded = Vec::new();
    theirs().write(&mut encoded).unwrap();
    assert_eq!(ours().to_bytes()[..], encoded[..], "{name}: the provers disagree");

    let mut group = criterion.benchmark_group(format!("proof_{name}"));
    group.bench_function("bellwether", |bencher| bencher.iter(ours));
    group.bench_function("bellperson", |bencher| bencher.iter(theirs));
}

fn sapling_output(criterion: &mut Criterion) {
    let (blank, instance) = (sapling::blank_output(), sapling::output(1).circuit);
    let parameters = Parameters::ceremony();
    side_by_side(
        criterion,
        "sapling_output",
        &parameters.output,
        BellmanCircuit(blank),
        BellmanCircuit(instance),
    );
}

fn sapling_spend(criterion: &mut Criterion) {
    let (blank, instance) = (sapling::blank_spend(), sapling::spend(1).circuit);
    let parameters = Parameters::ceremony();
    side_by_side(
        criterion,
        "sapling_spend",
        &parameters.spend,
        BellmanCircuit(blank),
        BellmanCircuit(instance),
    );
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = sapling_output, sapling_spend
}
criterion_main!(benches);
