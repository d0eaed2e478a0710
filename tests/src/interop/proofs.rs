//! Our proofs, made in both ways, and bellperson's.

use std::sync::Arc;

use bellperson::groth16::{Parameters, create_proof};
use bellwether_core::device::Device;
use bellwether_core::groth16::{Assignment, Blinding, Cancellation, Proof, Proven, Session};
use bellwether_core::key::ProvingKey;
use bellwether_core::r1cs::{Circuit, R1cs};
use blstrs::{Bls12, Scalar};
use ff::Field;
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Blinding scalars for a test: r, s.
pub type BlindingPair = (Scalar, Scalar);

/// Blinding scalars from a seed.
pub fn blinding(seed: u64) -> BlindingPair {
    let mut rng = StdRng::seed_from_u64(seed);
    (Scalar::random(&mut rng), Scalar::random(&mut rng))
}

/// Two sessions with one key: one knows the matrices, the other takes evaluations.
pub struct BothWays<D: Device> {
    recorded: Session<D>,
    one_pass: Session<D>,
}

impl<D: Device> BothWays<D> {
    /// Opens both.
    pub fn open(device: &Arc<D>, key: &ProvingKey, r1cs: R1cs) -> Self {
        let shape = r1cs.shape().clone();
        BothWays {
            recorded: Session::for_circuit(Arc::clone(device), key, Arc::new(r1cs)).unwrap(),
            one_pass: Session::for_shape(Arc::clone(device), key, shape).unwrap(),
        }
    }

    /// The proof from the recorded matrices, after checking that it is also the proof from a one-pass evaluation.
    pub fn prove<C: Circuit<Scalar>>(&self, circuit: impl Fn() -> C, (r, s): BlindingPair) -> Proven {
        let collected = Assignment::collect(circuit()).unwrap();
        let (evaluated, shape) = Assignment::evaluate(circuit()).unwrap();
        assert_eq!(&shape, self.one_pass.shape(), "shapes, recorded and evaluated");
        let proven = prove(&self.recorded, &collected, (r, s));
        let again = prove(&self.one_pass, &evaluated, (r, s));
        assert_eq!(proven.proof.to_bytes(), again.proof.to_bytes(), "proofs, recorded and evaluated");
        assert_eq!(proven.public_inputs, again.public_inputs);
        proven
    }
}

/// One proof at the first attempt.
fn prove<D: Device>(session: &Session<D>, assignment: &Assignment, (r, s): BlindingPair) -> Proven {
    let blinding = Blinding::new(r, s);
    let cancellation = Cancellation::new();
    let proven = pollster::block_on(session.prove(assignment, &blinding, &cancellation)).unwrap();
    assert_eq!(proven.attempts, 1);
    proven
}

/// bellperson's proof.
pub fn bellperson_proof<C: Circuit<Scalar> + Send>(
    circuit: C,
    parameters: &Parameters<Bls12>,
    (r, s): BlindingPair,
) -> Proof {
    let proof = create_proof::<Bls12, _, _>(circuit, parameters, r, s).unwrap();
    Proof { a: proof.a, b: proof.b, c: proof.c }
}
