//! Satisfied instances of Zcash's Sapling circuits, together with what the network sees of them.
//!
//! Everything is drawn from a seeded generator, so that an instance is the same wherever it is built. Keys, note,
//! commitment and Merkle path are those of sapling-crypto; nothing is mocked, and consensus rules accept the result:
//! [`ConsensusRules`] are sapling-crypto's, for the parameters of Zcash's ceremony ([`Parameters::ceremony`]).

mod consensus;
mod parameters;

pub use consensus::{ConsensusRules, Refusal};
pub use parameters::Parameters;

use bellman::gadgets::multipack;
use group_014::Curve;
use group_014::ff::{Field, PrimeField};
use rand_010::rngs::StdRng;
use rand_010::{Rng, SeedableRng};
use redjubjub::{Signature, SpendAuth, VerificationKey};
use sapling_crypto::circuit::{Output, Spend, SpendParameters, ValueCommitmentOpening};
use sapling_crypto::keys::ExpandedSpendingKey;
use sapling_crypto::note::ExtractedNoteCommitment;
use sapling_crypto::prover::SpendProver;
use sapling_crypto::value::{NoteValue, ValueCommitTrapdoor, ValueCommitment};
use sapling_crypto::{
    Diversifier, MerklePath, NOTE_COMMITMENT_TREE_DEPTH, Node, Note, Nullifier, PaymentAddress, Rseed,
};

/// A Spend: the circuit with its witness, and the description that a transaction publishes.
pub struct SpendInstance {
    /// The circuit.
    pub circuit: Spend,
    /// Commitment to the value.
    pub cv: ValueCommitment,
    /// Root of the note commitment tree.
    pub anchor: bls12_381::Scalar,
    /// Nullifier of the note.
    pub nullifier: Nullifier,
    /// Randomised key under which the signature verifies.
    pub rk: VerificationKey<SpendAuth>,
    /// Digest of the transaction.
    pub sighash: [u8; 32],
    /// Spend authorisation: a signature of the digest.
    pub signature: Signature<SpendAuth>,
}

/// An Output: the circuit with its witness, and the description that a transaction publishes.
pub struct OutputInstance {
    /// The circuit.
    pub circuit: Output,
    /// Commitment to the value.
    pub cv: ValueCommitment,
    /// Commitment to the new note, its u-coordinate.
    pub cmu: ExtractedNoteCommitment,
    /// Ephemeral key for the recipient.
    pub epk: jubjub::ExtendedPoint,
}

/// The Spend circuit without a witness: what matrices are recorded from.
pub fn blank_spend() -> Spend {
    Spend {
        value_commitment_opening: None,
        proof_generation_key: None,
        payment_address: None,
        commitment_randomness: None,
        ar: None,
        auth_path: vec![None; usize::from(NOTE_COMMITMENT_TREE_DEPTH)],
        anchor: None,
    }
}

/// The Output circuit without a witness.
pub fn blank_output() -> Output {
    Output { value_commitment_opening: None, payment_address: None, commitment_randomness: None, esk: None }
}

/// A note of random value, spent from a random place of a tree of depth 32 with random siblings.
pub fn spend(seed: u64) -> SpendInstance {
    let mut rng = StdRng::seed_from_u64(seed);
    let key = spending_key(&mut rng);
    let address = address(&key, &mut rng);
    let note = note(address, &mut rng);
    let path = merkle_path(&mut rng);
    let position = u64::from(path.position());
    let anchor = bls12_381::Scalar::from(path.root(Node::from_cmu(&note.cmu())));
    let rcv = ValueCommitTrapdoor::random(&mut rng);
    let alpha = jubjub::Fr::random(&mut rng);
    let mut sighash = [0; 32];
    rng.fill_bytes(&mut sighash);

    let signing_key = key.ask().randomize(&alpha);
    let proof_generation_key = key.proof_generation_key();
    let nullifier = note.nf(proof_generation_key.to_viewing_key().nk(), position);
    let circuit = SpendParameters::prepare_circuit(
        proof_generation_key,
        *address.diversifier(),
        *note.rseed(),
        note.value(),
        alpha,
        rcv.clone(),
        anchor,
        path,
    );
    SpendInstance {
        circuit: circuit.expect("the diversifier of an address is valid"),
        cv: ValueCommitment::derive(note.value(), rcv),
        anchor,
        nullifier,
        rk: VerificationKey::from(&signing_key),
        sighash,
        signature: signing_key.sign(&mut rng, &sighash),
    }
}

/// A note of random value to a random address.
pub fn output(seed: u64) -> OutputInstance {
    let mut rng = StdRng::seed_from_u64(seed);
    let key = spending_key(&mut rng);
    let address = address(&key, &mut rng);
    let note = note(address, &mut rng);
    let rcv = ValueCommitTrapdoor::random(&mut rng);
    let esk = jubjub::Fr::random(&mut rng);
    let g_d = address.diversifier().g_d().expect("the diversifier of an address is valid");
    OutputInstance {
        circuit: Output {
            value_commitment_opening: Some(ValueCommitmentOpening {
                value: note.value(),
                randomness: rcv.inner(),
            }),
            payment_address: Some(address),
            commitment_randomness: Some(note.rcm()),
            esk: Some(esk),
        },
        cv: ValueCommitment::derive(note.value(), rcv),
        cmu: note.cmu(),
        epk: (g_d * esk).into(),
    }
}

impl SpendInstance {
    /// The public inputs, without the constant one: rk, cv, anchor, and the nullifier in two parts.
    pub fn public_inputs(&self) -> Vec<bls12_381::Scalar> {
        let rk = jubjub::AffinePoint::from_bytes(self.rk.into()).into_option().expect("rk is a point");
        let nullifier = multipack::bytes_to_bits_le(&self.nullifier.0);
        let mut inputs = coordinates(&rk).to_vec();
        inputs.extend(coordinates(&self.cv.as_inner().to_affine()));
        inputs.push(self.anchor);
        inputs.extend(multipack::compute_multipacking::<bls12_381::Scalar>(&nullifier));
        inputs
    }
}

impl OutputInstance {
    /// The public inputs, without the constant one: cv, epk and the note commitment.
    pub fn public_inputs(&self) -> Vec<bls12_381::Scalar> {
        let cmu = bls12_381::Scalar::from_repr(self.cmu.to_bytes());
        let mut inputs = coordinates(&self.cv.as_inner().to_affine()).to_vec();
        inputs.extend(coordinates(&self.epk.to_affine()));
        inputs.push(cmu.into_option().expect("a note commitment is a field element"));
        inputs
    }
}

fn coordinates(point: &jubjub::AffinePoint) -> [bls12_381::Scalar; 2] {
    [point.get_u(), point.get_v()]
}

fn random_bytes<const N: usize>(rng: &mut StdRng) -> [u8; N] {
    let mut bytes = [0; N];
    rng.fill_bytes(&mut bytes);
    bytes
}

/// The protocol discards a spending key that expands to zero and draws another.
fn spending_key(rng: &mut StdRng) -> ExpandedSpendingKey {
    loop {
        if let Some(key) = ExpandedSpendingKey::from_spending_key(&random_bytes::<32>(rng)) {
            return key;
        }
    }
}

/// About half of all diversifiers are valid.
fn address(key: &ExpandedSpendingKey, rng: &mut StdRng) -> PaymentAddress {
    let viewing_key = key.proof_generation_key().to_viewing_key();
    loop {
        if let Some(address) = viewing_key.to_payment_address(Diversifier(random_bytes(rng))) {
            return address;
        }
    }
}

fn note(address: PaymentAddress, rng: &mut StdRng) -> Note {
    let value = NoteValue::from_raw(rng.next_u64());
    Note::from_parts(address, value, Rseed::AfterZip212(random_bytes(rng)))
}

fn merkle_path(rng: &mut StdRng) -> MerklePath {
    let siblings = (0..NOTE_COMMITMENT_TREE_DEPTH)
        .map(|_| Node::from_scalar(bls12_381::Scalar::random(&mut *rng)))
        .collect();
    let position = u64::from(rng.next_u32());
    MerklePath::from_parts(siblings, position.into()).expect("the path has the depth of the tree")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_the_instance() {
        assert_eq!(spend(3).public_inputs(), spend(3).public_inputs());
        assert_eq!(output(3).public_inputs(), output(3).public_inputs());
        assert_ne!(spend(3).public_inputs(), spend(4).public_inputs());
        assert_ne!(output(3).public_inputs(), output(4).public_inputs());
    }

    #[test]
    fn lengths_of_public_inputs() {
        assert_eq!(spend(5).public_inputs().len(), 7);
        assert_eq!(output(5).public_inputs().len(), 5);
    }
}
