//! Four verifiers that have nothing in common but the verifying key's bytes: ours, bellperson's, the groth16 crate's
//! (which is Zcash's) and ark-groth16's.

use std::fmt::Debug;

use ark_bls12_381::Bls12_381;
use ark_serialize::CanonicalDeserialize;
use bellwether_core::groth16::{PreparedVerifyingKey, Proof};
use bellwether_core::key::VerifyingKey;
use blstrs::{Bls12, Scalar};
use ff::Field;

type ArkGroth16 = ark_groth16::Groth16<Bls12_381>;

/// A verifying key, prepared for each.
pub struct Verifiers {
    ours: PreparedVerifyingKey,
    bellperson: bellperson::groth16::PreparedVerifyingKey<Bls12>,
    zcash: groth16::PreparedVerifyingKey<bls12_381::Bls12>,
    ark: ark_groth16::PreparedVerifyingKey<Bls12_381>,
}

impl Verifiers {
    /// Prepares the key for each of them, from its bytes.
    pub fn new(vk: &VerifyingKey) -> Self {
        let mut bytes = Vec::new();
        vk.write(&mut bytes).unwrap();
        let bellperson = bellperson::groth16::VerifyingKey::read(&bytes[..]).unwrap();
        let zcash = groth16::VerifyingKey::read(&bytes[..]).unwrap();
        let ark = ark_groth16::VerifyingKey {
            alpha_g1: ark_point(&vk.alpha_g1.to_uncompressed()),
            beta_g2: ark_point(&vk.beta_g2.to_uncompressed()),
            gamma_g2: ark_point(&vk.gamma_g2.to_uncompressed()),
            delta_g2: ark_point(&vk.delta_g2.to_uncompressed()),
            gamma_abc_g1: vk.ic.iter().map(|point| ark_point(&point.to_uncompressed())).collect(),
        };
        Verifiers {
            ours: PreparedVerifyingKey::new(vk),
            bellperson: bellperson::groth16::prepare_verifying_key(&bellperson),
            zcash: groth16::prepare_verifying_key(&zcash),
            ark: ark_groth16::prepare_verifying_key(&ark),
        }
    }

    /// All accept the proof. All refuse it with its first or its last public input changed, and all refuse it with A
    /// negated.
    pub fn assert_proof(&self, proof: &Proof, inputs: &[Scalar]) {
        assert_eq!(self.verdicts(proof, inputs), [true; 4], "the proof itself");
        let altered = Proof { a: -proof.a, ..*proof };
        assert_eq!(self.verdicts(&altered, inputs), [false; 4], "an altered proof");
        for changed in [inputs.first(), inputs.last()].into_iter().flatten() {
            let inputs: Vec<Scalar> = inputs
                .iter()
                .map(|input| if std::ptr::eq(input, changed) { *input + Scalar::ONE } else { *input })
                .collect();
            assert_eq!(self.verdicts(proof, &inputs), [false; 4], "a changed public input");
        }
    }

    /// What ours, bellperson's, Zcash's and ark's verifier say.
    fn verdicts(&self, proof: &Proof, inputs: &[Scalar]) -> [bool; 4] {
        let bellperson = bellperson::groth16::Proof { a: proof.a, b: proof.b, c: proof.c };
        let ark_inputs: Vec<ark_bls12_381::Fr> = inputs
            .iter()
            .map(|input| CanonicalDeserialize::deserialize_compressed(&input.to_bytes_le()[..]).unwrap())
            .collect();
        [
            self.ours.verify(proof, inputs).unwrap(),
            bellperson::groth16::verify_proof(&self.bellperson, &bellperson, inputs).unwrap(),
            groth16::verify_proof(&self.zcash, &zcash_proof(proof), &zcash_scalars(inputs)).is_ok(),
            ArkGroth16::verify_proof(&self.ark, &ark_proof(proof), &ark_inputs).unwrap(),
        ]
    }
}

/// The proof in the groth16 crate's type. Built from points, for its reader refuses C at infinity, which an unblinded
/// proof can have.
pub fn zcash_proof(proof: &Proof) -> groth16::Proof<bls12_381::Bls12> {
    let g1 = |point: &blstrs::G1Affine| bls12_381::G1Affine::from_compressed(&point.to_compressed()).unwrap();
    groth16::Proof {
        a: g1(&proof.a),
        b: bls12_381::G2Affine::from_compressed(&proof.b.to_compressed()).unwrap(),
        c: g1(&proof.c),
    }
}

/// Scalars in the Zcash crates' type.
pub fn zcash_scalars(scalars: &[Scalar]) -> Vec<bls12_381::Scalar> {
    scalars.iter().map(|scalar| bls12_381::Scalar::from_bytes(&scalar.to_bytes_le()).unwrap()).collect()
}

fn ark_proof(proof: &Proof) -> ark_groth16::Proof<Bls12_381> {
    ark_groth16::Proof {
        a: ark_point(&proof.a.to_uncompressed()),
        b: ark_point(&proof.b.to_uncompressed()),
        c: ark_point(&proof.c.to_uncompressed()),
    }
}

/// ark-bls12-381 writes and reads points as zcash does, flags included; it checks curve and subgroup.
fn ark_point<P: CanonicalDeserialize + Debug>(uncompressed: &[u8]) -> P {
    P::deserialize_uncompressed(uncompressed).unwrap()
}
