//! Odd circuits against bellperson.

use std::sync::Arc;

use bellwether_core::device::Device;
use bellwether_core::groth16::{Proof, ProofError, SetupError};
use bellwether_core::r1cs::{Recorder, SynthesisError};
use blstrs::{Bls12, Scalar};
use ff::Field;
use group::prime::PrimeCurveAffine;

use super::keys::{KnownSetup, assert_same};
use super::proofs::{BothWays, bellperson_proof, blinding};
use super::verifiers::Verifiers;
use bellwether_circuits::odd::{OddCircuit, unconstrained};

/// Our key is bellperson's key; our proofs, blinded and unblinded (r = s = 0), are bellperson's proofs; every verifier
/// accepts them. There is no circuit here that bellperson cannot handle.
pub fn agrees_with_bellperson<D: Device>(device: &Arc<D>, circuit: &OddCircuit) {
    let r1cs = Recorder::record(circuit.clone()).unwrap();
    let setup = KnownSetup::from_seed(21);
    let key = setup.ours(&**device, &r1cs).unwrap();
    let parameters = setup.bellpersons(circuit.clone()).unwrap();
    assert_same(&key, &parameters, true);

    let sessions = BothWays::open(device, &key, r1cs);
    let verifiers = Verifiers::new(&key.vk);
    for blinding in [blinding(22), (Scalar::ZERO, Scalar::ZERO)] {
        let proven = sessions.prove(|| circuit.clone(), blinding);
        assert_eq!(proven.public_inputs, circuit.inputs);
        let theirs = bellperson_proof(circuit.clone(), &parameters, blinding);
        assert_eq!(proven.proof.to_bytes(), theirs.to_bytes());
        verifiers.assert_proof(&proven.proof, &proven.public_inputs);
    }
}

/// Without private variables and without blinding C is the point at infinity. The equation holds, but no reader takes
/// such a proof: neither ours nor bellperson's.
pub fn unblinded_empty_circuit<D: Device>(device: &Arc<D>) {
    let circuit = OddCircuit::empty();
    let r1cs = Recorder::record(circuit.clone()).unwrap();
    let key = KnownSetup::from_seed(23).ours(&**device, &r1cs).unwrap();
    let proven = BothWays::open(device, &key, r1cs).prove(|| circuit.clone(), (Scalar::ZERO, Scalar::ZERO));
    assert!(bool::from(proven.proof.c.is_identity()));
    Verifiers::new(&key.vk).assert_proof(&proven.proof, &[]);
    let bytes = proven.proof.to_bytes();
    let refused = ProofError::Point { point: "c", offset: 144 };
    assert_eq!(Proof::from_bytes(&bytes), Err(refused));
    assert!(bellperson::groth16::Proof::<Bls12>::read(&bytes[..]).is_err());
}

/// Set-up refuses circuits with an unconstrained variable, ours and bellperson's.
pub fn unconstrained_variables_are_refused<D: Device>(device: &Arc<D>) {
    for circuit in unconstrained() {
        let r1cs = Recorder::record(circuit.clone()).unwrap();
        let setup = KnownSetup::from_seed(21);
        let ours = setup.ours(&**device, &r1cs);
        assert!(matches!(ours, Err(SetupError::UnconstrainedVariable(1))), "{}: {ours:?}", circuit.name);
        let theirs = setup.bellpersons(circuit.clone());
        assert!(matches!(theirs, Err(SynthesisError::UnconstrainedVariable)), "{}", circuit.name);
    }
}
