//! Filecoin's WindowPoSt and WinningPoSt.
//!
//! Our constraint systems synthesise the sectors in parallel and join the parts; bellperson's set-up does not, so
//! that equal keys show that the parts are joined right.

use std::sync::Arc;

use bellperson::groth16::Parameters;
use bellwether_core::device::Device;
use bellwether_core::key::ProvingKey;
use bellwether_core::r1cs::{R1cs, Recorder};
use blstrs::Bls12;

use super::keys::{KnownSetup, assert_same, read_by_bellperson};
use super::proofs::{BothWays, bellperson_proof, blinding};
use super::verifiers::Verifiers;
use bellwether_circuits::post::{self, PostInstance};

/// WindowPoSt of two 2 KiB sectors. Our key is bellperson's.
pub fn window<D: Device>(device: &Arc<D>) {
    let instance = post::window(41);
    let (r1cs, key) = record(&**device, &instance, 21_866, 23);
    let parameters = setup().bellpersons(instance.blank.clone()).unwrap();
    assert_same(&key, &parameters, false);
    agrees_with_bellperson(device, &instance, r1cs, &key, &parameters);
}

/// WinningPoSt of a 2 KiB sector. bellperson's set-up would take most of a minute: it gets our key.
pub fn winning<D: Device>(device: &Arc<D>) {
    let instance = post::winning(42);
    let (r1cs, key) = record(&**device, &instance, 90_750, 133);
    let parameters = read_by_bellperson(&key, false);
    agrees_with_bellperson(device, &instance, r1cs, &key, &parameters);
}

/// The circuit, which has the sizes of Filecoin's, and our key for it.
fn record<D: Device>(
    device: &D,
    instance: &PostInstance,
    constraints: usize,
    inputs: usize,
) -> (R1cs, ProvingKey) {
    let r1cs = Recorder::record(instance.blank.clone()).unwrap();
    let shape = r1cs.shape();
    assert_eq!((shape.num_constraints, shape.num_inputs), (constraints, inputs));
    let key = setup().ours(device, &r1cs).unwrap();
    (r1cs, key)
}

fn setup() -> KnownSetup {
    KnownSetup::from_seed(43)
}

/// The proof is bellperson's, for the inputs that Filecoin's verifier computes.
fn agrees_with_bellperson<D: Device>(
    device: &Arc<D>,
    instance: &PostInstance,
    r1cs: R1cs,
    key: &ProvingKey,
    parameters: &Parameters<Bls12>,
) {
    let blinding = blinding(44);
    let proven = BothWays::open(device, key, r1cs).prove(|| instance.circuit.clone(), blinding);
    assert_eq!(proven.public_inputs, instance.public_inputs);
    let theirs = bellperson_proof(instance.circuit.clone(), parameters, blinding);
    assert_eq!(proven.proof.to_bytes(), theirs.to_bytes());
    Verifiers::new(&key.vk).assert_proof(&proven.proof, &proven.public_inputs);
}
