//! The cubic chain and SHA-256: keys and proofs against bellperson's.

use std::sync::Arc;

use bellwether_core::device::Device;
use bellwether_core::r1cs::{Circuit, Recorder};
use blstrs::Scalar;
use ff::Field;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};

use super::keys::{KnownSetup, assert_same};
use super::proofs::{BothWays, bellperson_proof, blinding};
use super::verifiers::Verifiers;
use bellwether_circuits::chain::CubicChain;
use bellwether_circuits::sha256::{PREIMAGE_BYTES, Sha256Preimage};

/// The cubic chain that fills a domain of 2^`log_size` rows to the last one.
pub fn cubic_chain<D: Device>(device: &Arc<D>, log_size: u32) {
    let circuit = CubicChain::filling(log_size, Scalar::random(StdRng::seed_from_u64(31)));
    let rows = Recorder::record(circuit.clone()).unwrap().shape().num_rows();
    assert_eq!(rows, 1 << log_size);
    // Checking 2^16 points and more takes most of a minute.
    agrees_with_bellperson(device, &circuit, log_size < 14);
}

/// SHA-256 of two blocks.
pub fn sha256<D: Device>(device: &Arc<D>) {
    let mut preimage = [0; PREIMAGE_BYTES];
    StdRng::seed_from_u64(32).fill_bytes(&mut preimage);
    agrees_with_bellperson(device, &Sha256Preimage(preimage), false);
}

/// Our key for the circuit is bellperson's key, and our proof bellperson's proof; every verifier accepts it.
/// `checked` has the readers of the key's file check the subgroup.
fn agrees_with_bellperson<D, C>(device: &Arc<D>, circuit: &C, checked: bool)
where
    D: Device,
    C: Circuit<Scalar> + Clone + Send,
{
    let r1cs = Recorder::record(circuit.clone()).unwrap();
    let setup = KnownSetup::from_seed(33);
    let key = setup.ours(&**device, &r1cs).unwrap();
    let parameters = setup.bellpersons(circuit.clone()).unwrap();
    assert_same(&key, &parameters, checked);

    let blinding = blinding(34);
    let proven = BothWays::open(device, &key, r1cs).prove(|| circuit.clone(), blinding);
    let theirs = bellperson_proof(circuit.clone(), &parameters, blinding);
    assert_eq!(proven.proof.to_bytes(), theirs.to_bytes());
    Verifiers::new(&key.vk).assert_proof(&proven.proof, &proven.public_inputs);
}
