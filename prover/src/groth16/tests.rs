use bellperson::groth16 as theirs;
use bellwether_core::curve::{Bls12, Scalar};
use bellwether_core::groth16::{ProveError, SetupError};
use bellwether_core::key::ProvingKey;
use bellwether_core::r1cs::{Circuit, ConstraintSystem, SynthesisError};
use ff::Field;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::*;
use crate::testing::Cubic;

fn rng() -> StdRng {
    StdRng::seed_from_u64(7)
}

fn params() -> Parameters<Bls12> {
    generate_random_parameters::<Bls12, _, _>(Cubic::default(), &mut rng()).unwrap()
}

fn bytes<E: std::fmt::Debug>(write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    bytes
}

fn y(x: u64) -> Scalar {
    Scalar::from(x * x * x + x + 5)
}

#[test]
fn keys_are_bellpersons_byte_for_byte() {
    let ours = bytes(|out| params().write(out));
    let theirs_params =
        theirs::generate_random_parameters::<Bls12, _, _>(Cubic::default(), &mut rng()).unwrap();
    assert_eq!(ours, bytes(|out| theirs_params.write(out)));
    assert_eq!(bytes(|out| params().vk.write(out)), bytes(|out| theirs_params.vk.write(out)));
}

#[test]
fn proofs_are_bellpersons_byte_for_byte() {
    let params = params();
    let key = bytes(|out| params.write(out));
    let their_params = theirs::Parameters::<Bls12>::read(&key[..], true).unwrap();

    let ours = create_random_proof(Cubic::solved(3), &params, &mut rng()).unwrap();
    let bellpersons = theirs::create_random_proof(Cubic::solved(3), &their_params, &mut rng()).unwrap();
    assert_eq!(bytes(|out| ours.write(out)), bytes(|out| bellpersons.write(out)));
    let again = create_random_proof_in_priority::<Bls12, _, _, _>(Cubic::solved(3), &params, &mut rng());
    assert_eq!(again.unwrap(), ours);

    let circuits = || vec![Cubic::solved(1), Cubic::solved(2), Cubic::solved(3)];
    let ours = create_random_proof_batch(circuits(), &params, &mut rng()).unwrap();
    let bellpersons = theirs::create_random_proof_batch(circuits(), &their_params, &mut rng()).unwrap();
    let written = |proofs: &[Proof<Bls12>]| -> Vec<Vec<u8>> {
        proofs.iter().map(|proof| bytes(|out| proof.write(out))).collect()
    };
    let theirs_written: Vec<_> = bellpersons.iter().map(|proof| bytes(|out| proof.write(out))).collect();
    assert_eq!(written(&ours), theirs_written);
    let again = create_random_proof_batch_in_priority(circuits(), &params, &mut rng()).unwrap();
    assert_eq!(again, ours);
}

#[test]
fn fixed_scalars_give_one_proof_alone_and_in_a_batch() {
    let params = params();
    let (r, s) = (Scalar::from(11), Scalar::from(13));
    let alone: Proof<Bls12> = create_proof(Cubic::solved(4), &params, r, s).unwrap();
    let batch = create_proof_batch(vec![Cubic::solved(4); 2], &params, vec![r; 2], vec![s; 2]).unwrap();
    assert_eq!(batch, [alone.clone(), alone.clone()]);
    let key = ProvingKey::from(&params);
    assert_eq!(create_proof_in_priority(Cubic::solved(4), &key, r, s).unwrap(), alone);
    let batch = create_proof_batch_in_priority(vec![Cubic::solved(4)], &params, vec![r], vec![s]).unwrap();
    assert_eq!(batch, [alone]);
    let none = create_proof_batch(Vec::<Cubic>::new(), &params, vec![], vec![]).unwrap();
    assert!(none.is_empty());
}

#[test]
fn a_batch_says_which_circuit_is_at_fault() {
    let params = params();
    let longer = Cubic { padding: 1, ..Cubic::solved(2) };
    let unsatisfied = Cubic { y: Some(Scalar::ONE), ..Cubic::solved(2) };
    let error = |circuit| {
        let circuits = vec![Cubic::solved(1), circuit];
        create_random_proof_batch(circuits, &params, &mut rng()).unwrap_err()
    };
    assert_eq!(
        error(longer).to_string(),
        "circuit 1 of the batch is not the circuit at its start: it has 4 constraints instead of 3"
    );
    assert_eq!(
        error(unsatisfied).to_string(),
        "circuit 1 of the batch: the witness does not satisfy constraint 2 (sum)"
    );
    assert!(matches!(
        error(Cubic::default()),
        Error::InBatch { index: 1, error: ProveError::Synthesis(SynthesisError::AssignmentMissing) }
    ));
    let one = vec![Scalar::ONE];
    let error = create_proof_batch(vec![Cubic::solved(1); 2], &params, one, vec![]).unwrap_err();
    assert_eq!(error.to_string(), "2 circuits, but 1 blinding scalars r and 0 scalars s");
}

#[test]
fn verification_of_one_and_of_many() {
    let params = params();
    let pvk: PreparedVerifyingKey<Bls12> = prepare_verifying_key(&params.vk);
    let circuits = (1..4).map(Cubic::solved).collect();
    let proofs = create_random_proof_batch(circuits, &params, &mut rng()).unwrap();
    assert!(verify_proof(&pvk, &proofs[0], &[y(1)]).unwrap());
    assert!(!verify_proof(&pvk, &proofs[0], &[y(2)]).unwrap());

    let proofs: Vec<&Proof<Bls12>> = proofs.iter().collect();
    let mut inputs: Vec<Vec<Scalar>> = (1..4).map(|x| vec![y(x)]).collect();
    let verify = |proofs: &[&Proof<Bls12>], inputs: &[Vec<Scalar>]| {
        verify_proofs_batch(&pvk, &mut rng(), proofs, inputs)
    };
    for count in 0..=3 {
        assert!(verify(&proofs[..count], &inputs[..count]).unwrap());
    }
    inputs.swap(0, 2);
    assert!(!verify(&proofs, &inputs).unwrap());
    assert!(!verify(&proofs[..1], &inputs[..1]).unwrap());

    assert!(matches!(verify(&proofs, &inputs[..2]), Err(Error::StatementCount { proofs: 3, inputs: 2 })));
    inputs[1].clear();
    assert!(matches!(verify(&proofs, &inputs), Err(Error::Verify(_))));
    let error = verify_proof(&pvk, proofs[0], &[]).unwrap_err();
    assert!(matches!(SynthesisError::from(error), SynthesisError::MalformedVerifyingKey));
}

#[test]
fn a_batch_with_two_faults_that_cancel_without_weights_is_refused() {
    let params = params();
    let pvk = prepare_verifying_key(&params.vk);
    let (x1, x2) = (Cubic::solved(1), Cubic::solved(2));
    let proofs = create_random_proof_batch(vec![x1, x2], &params, &mut rng()).unwrap();
    let shifted = [vec![y(1) + Scalar::ONE], vec![y(2) - Scalar::ONE]];
    let proofs: Vec<&Proof<Bls12>> = proofs.iter().collect();
    assert!(!verify_proofs_batch(&pvk, &mut rng(), &proofs, &shifted).unwrap());
}

#[test]
fn files_are_read_to_their_end_and_no_further() {
    let params = params();
    let mut file = bytes(|out| params.write(out));
    let key_bytes = file.len();
    file.extend_from_slice(b"more");
    for checked in [true, false] {
        let mut reader = &file[..];
        assert_eq!(Parameters::<Bls12>::read(&mut reader, checked).unwrap(), params);
        assert_eq!(reader, b"more");
    }
    let mut reader = &file[..];
    assert_eq!(VerifyingKey::<Bls12>::read(&mut reader).unwrap(), params.vk);
    assert_eq!(file.len() - reader.len(), 9 * 96 + 4 + 2 * 96);
    for len in (0..key_bytes).step_by(97).chain([key_bytes - 1]) {
        let error = Parameters::<Bls12>::read(&file[..len], false).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData, "{len}: {error}");
    }

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key.params");
    std::fs::write(&path, &file).unwrap();
    let mapped: MappedParameters<Bls12> = Parameters::build_mapped_parameters(path, true).unwrap();
    assert_eq!(mapped, params);
    let proof = create_random_proof(Cubic::solved(2), &mapped, &mut rng()).unwrap();
    let alone = create_random_proof(Cubic::solved(2), &params, &mut rng()).unwrap();
    assert_eq!(proof, alone);
}

#[test]
fn proofs_are_read_one_by_one_and_together() {
    let params = params();
    let proofs = create_random_proof_batch(vec![Cubic::solved(1); 2], &params, &mut rng()).unwrap();
    assert_eq!(Proof::<Bls12>::size(), 192);
    let mut file = Vec::new();
    for proof in &proofs {
        proof.write(&mut file).unwrap();
    }
    assert_eq!(Proof::<Bls12>::read_many(&file, 2).unwrap(), proofs);
    let mut reader = &file[..];
    assert_eq!(Proof::<Bls12>::read(&mut reader).unwrap(), proofs[0]);
    assert_eq!(Proof::<Bls12>::read(&mut reader).unwrap(), proofs[1]);
    assert!(reader.is_empty());
    for (bytes, count) in [(&file[..], 1), (&file[1..], 2), (&file[..], usize::MAX)] {
        assert!(Proof::<Bls12>::read_many(bytes, count).is_err());
    }
    file[0] ^= 1;
    assert!(Proof::<Bls12>::read(&file[..]).is_err());
}

#[test]
fn errors_become_bellpersons_where_it_has_them() {
    fn function() -> Result<(), SynthesisError> {
        create_random_proof::<Bls12, _, _, _>(Cubic::default(), &params(), &mut rng())?;
        Ok(())
    }
    assert!(matches!(function(), Err(SynthesisError::AssignmentMissing)));

    let unsatisfied = Cubic { y: Some(Scalar::ONE), ..Cubic::solved(2) };
    let error = create_random_proof::<Bls12, _, _, _>(unsatisfied, &params(), &mut rng()).unwrap_err();
    let SynthesisError::IoError(error) = SynthesisError::from(error) else {
        panic!("another variant");
    };
    assert!(error.to_string().contains("does not satisfy constraint 2 (sum)"));
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    assert!(matches!(inner, Some(Error::Prove(ProveError::Unsatisfied(_)))));
}

/// An auxiliary variable in no constraint.
struct Unconstrained;

impl Circuit<Scalar> for Unconstrained {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        cs.alloc(|| "loose", || Ok(Scalar::ONE))?;
        Ok(())
    }
}

#[test]
fn an_unconstrained_variable_is_refused_as_by_bellperson() {
    let error = generate_random_parameters::<Bls12, _, _>(Unconstrained, &mut rng()).unwrap_err();
    assert!(matches!(error, Error::Setup(SetupError::UnconstrainedVariable(0))));
    assert!(matches!(SynthesisError::from(error), SynthesisError::UnconstrainedVariable));
    let theirs = theirs::generate_random_parameters::<Bls12, _, _>(Unconstrained, &mut rng());
    assert!(matches!(theirs, Err(SynthesisError::UnconstrainedVariable)));
}
