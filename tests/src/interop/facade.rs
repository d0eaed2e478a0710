//! `bellwether::groth16`, called as bellperson::groth16 is called.

use bellwether_core::key::ProvingKey;
use blstrs::{Bls12, Scalar};
use ff::Field;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::keys::assert_same;
use bellwether_circuits::chain::CubicChain;

/// For generators with the same seed, random parameters and a batch of random proofs are the same bytes.
/// The device is the one that the process selects.
pub fn random_parameters_and_proofs() {
    let circuits: Vec<CubicChain> =
        (0..3).map(|seed| CubicChain::filling(6, Scalar::random(StdRng::seed_from_u64(seed)))).collect();
    let [mut our_rng, mut their_rng] = [StdRng::seed_from_u64(51), StdRng::seed_from_u64(51)];

    let ours =
        bellwether::groth16::generate_random_parameters::<Bls12, _, _>(circuits[0].clone(), &mut our_rng);
    let ours = ours.unwrap();
    let theirs =
        bellperson::groth16::generate_random_parameters::<Bls12, _, _>(circuits[0].clone(), &mut their_rng);
    let theirs = theirs.unwrap();
    assert_same(&ProvingKey::from(&ours), &theirs, true);

    let our_proofs = bellwether::groth16::create_random_proof_batch(circuits.clone(), &ours, &mut our_rng);
    let their_proofs = bellperson::groth16::create_random_proof_batch(circuits, &theirs, &mut their_rng);
    let (mut our_bytes, mut their_bytes) = (Vec::new(), Vec::new());
    for proof in our_proofs.unwrap() {
        proof.write(&mut our_bytes).unwrap();
    }
    for proof in their_proofs.unwrap() {
        proof.write(&mut their_bytes).unwrap();
    }
    assert_eq!(our_bytes, their_bytes);
}
