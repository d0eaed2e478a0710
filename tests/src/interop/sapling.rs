//! Zcash's Sapling circuits with the parameters of the ceremony: proofs are bellman's, and consensus accepts them.

use std::sync::Arc;

use bellwether::bellman::BellmanCircuit;
use bellwether_circuits::sapling::{self, ConsensusRules, Parameters, Refusal};
use bellwether_core::device::Device;
use bellwether_core::groth16::{Proof, Proven};
use bellwether_core::key::{Checks, ProvingKey};
use bellwether_core::r1cs::Recorder;

use super::proofs::{BothWays, blinding};
use super::verifiers::{Verifiers, zcash_scalars};

/// Bytes behind the parameters: the transcript of the ceremony.
const TRANSCRIPT_BYTES: u64 = 52_836;

/// A Spend.
pub fn spend<D: Device>(device: &Arc<D>) {
    let parameters = Parameters::ceremony();
    let instance = sapling::spend(11);
    let inputs = instance.public_inputs();
    let lengths = [131_071, 98_638, 85_390, 61_300];
    let proven = agrees_with_bellman(
        device,
        &parameters.spend,
        lengths,
        &sapling::blank_spend(),
        &instance.circuit,
        &inputs,
    );

    let rules = ConsensusRules::new(&parameters).unwrap();
    assert_consensus(&proven.proof, |proof| rules.check_spend(&instance, proof));
}

/// An Output.
pub fn output<D: Device>(device: &Arc<D>) {
    let parameters = Parameters::ceremony();
    let instance = sapling::output(12);
    let inputs = instance.public_inputs();
    let lengths = [8_191, 7_821, 6_298, 4_850];
    let proven = agrees_with_bellman(
        device,
        &parameters.output,
        lengths,
        &sapling::blank_output(),
        &instance.circuit,
        &inputs,
    );

    let rules = ConsensusRules::new(&parameters).unwrap();
    assert_consensus(&proven.proof, |proof| rules.check_output(&instance, proof));
}

/// The proof of a circuit with the parameters in `file`, whose queries h, l, a and b have these lengths, is
/// bellman's, for the inputs that a verifier computes from the transaction.
fn agrees_with_bellman<D, C>(
    device: &Arc<D>,
    file: &[u8],
    lengths: [usize; 4],
    blank: &C,
    circuit: &C,
    inputs: &[bls12_381::Scalar],
) -> Proven
where
    D: Device,
    C: bellman::Circuit<bls12_381::Scalar> + Clone,
{
    let key = ProvingKey::from_bytes(file, Checks::CurveOnly).unwrap();
    assert_eq!([key.h.len(), key.l.len(), key.a.len(), key.b_g1.len()], lengths);
    assert_eq!(key.trailing_bytes(), TRANSCRIPT_BYTES);
    let r1cs = Recorder::record(BellmanCircuit(blank.clone())).unwrap();

    let (r, s) = blinding(13);
    let proven = BothWays::open(device, &key, r1cs).prove(|| BellmanCircuit(circuit.clone()), (r, s));
    assert_eq!(zcash_scalars(&proven.public_inputs), inputs);
    let parameters = groth16::Parameters::<bls12_381::Bls12>::read(file, false).unwrap();
    let [r, s] = [r, s].map(|scalar| zcash_scalars(&[scalar])[0]);
    let theirs = groth16::create_proof(circuit.clone(), &parameters, r, s).unwrap();
    assert_eq!(proven.proof.to_bytes()[..], bytes(&theirs));
    Verifiers::new(&key.vk).assert_proof(&proven.proof, &proven.public_inputs);
    proven
}

fn bytes(proof: &groth16::Proof<bls12_381::Bls12>) -> Vec<u8> {
    let mut bytes = Vec::new();
    proof.write(&mut bytes).unwrap();
    bytes
}

/// Consensus accepts the proof and refuses an altered one.
fn assert_consensus(proof: &Proof, check: impl Fn(&[u8]) -> Result<(), Refusal>) {
    check(&proof.to_bytes()).unwrap();
    let altered = Proof { c: -proof.c, ..*proof };
    assert!(matches!(check(&altered.to_bytes()), Err(Refusal::Refused)));
}
