//! Proofs in one call.

use bellwether_core::curve::Scalar;
use bellwether_core::groth16::{self, Assignment, Blinding, Cancellation, ProveError};
use bellwether_core::key::ProvingKey;
use bellwether_core::r1cs::{Circuit, Shape};
use bellwether_core::secret::SecretVec;
use ff::Field;
use rand_core::RngCore;

use super::{Engine, Error, ParameterSource, Proof, device};

/// Makes a proof with these blinding scalars.
///
/// # Errors
/// [`Error::Prove`]: `Synthesis`, and `Unsatisfied` with the constraint, before a device is touched;
/// `KeyMismatch`; the device's faults. [`Error::Choice`] or [`Error::Select`] if there is no device.
pub fn create_proof<E, C, P>(circuit: C, params: P, r: E::Fr, s: E::Fr) -> Result<Proof<E>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
    P: ParameterSource<E>,
{
    prove(circuit, params, &Blinding::new(r, s))
}

/// Makes a proof with blinding scalars from `rng`, r first.
///
/// # Errors
/// Those of [`create_proof`].
pub fn create_random_proof<E, C, R, P>(circuit: C, params: P, rng: &mut R) -> Result<Proof<E>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
    R: RngCore,
    P: ParameterSource<E>,
{
    prove(circuit, params, &Blinding::from_rng(rng))
}

/// Makes proofs for circuits of one shape, which have one key, with these blinding scalars.
///
/// The key is made resident once, and circuits are evaluated one at a time: the memory of one witness is
/// enough. An error in one circuit ends the batch.
///
/// # Errors
/// [`Error::BlindingCount`] at the start; [`Error::CircuitDiffers`], or [`Error::InBatch`] with the errors of
/// [`create_proof`], once the circuit's turn comes; [`Error::Choice`] or [`Error::Select`] if there is no
/// device.
pub fn create_proof_batch<E, C, P>(
    circuits: Vec<C>,
    params: P,
    r: Vec<E::Fr>,
    s: Vec<E::Fr>,
) -> Result<Vec<Proof<E>>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
    P: ParameterSource<E>,
{
    prove_batch(circuits, params, SecretVec::from(r), SecretVec::from(s))
}

/// Makes proofs as [`create_proof_batch`], with blinding scalars from `rng`: first every r, then every s.
///
/// # Errors
/// Those of [`create_proof_batch`] but for `BlindingCount`.
pub fn create_random_proof_batch<E, C, R, P>(
    circuits: Vec<C>,
    params: P,
    rng: &mut R,
) -> Result<Vec<Proof<E>>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
    R: RngCore,
    P: ParameterSource<E>,
{
    let mut draw = || {
        let mut scalars = SecretVec::with_capacity(circuits.len());
        (0..circuits.len()).for_each(|_| scalars.push(Scalar::random(&mut *rng)));
        scalars
    };
    let r = draw();
    let s = draw();
    prove_batch(circuits, params, r, s)
}

/// The same as [`create_proof`].
///
/// # Errors
/// Those of [`create_proof`].
pub fn create_proof_in_priority<E, C, P>(circuit: C, params: P, r: E::Fr, s: E::Fr) -> Result<Proof<E>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
    P: ParameterSource<E>,
{
    create_proof(circuit, params, r, s)
}

/// The same as [`create_random_proof`].
///
/// # Errors
/// Those of [`create_proof`].
pub fn create_random_proof_in_priority<E, C, R, P>(
    circuit: C,
    params: P,
    rng: &mut R,
) -> Result<Proof<E>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
    R: RngCore,
    P: ParameterSource<E>,
{
    create_random_proof(circuit, params, rng)
}

/// The same as [`create_proof_batch`].
///
/// # Errors
/// Those of [`create_proof_batch`].
pub fn create_proof_batch_in_priority<E, C, P>(
    circuits: Vec<C>,
    params: P,
    r: Vec<E::Fr>,
    s: Vec<E::Fr>,
) -> Result<Vec<Proof<E>>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
    P: ParameterSource<E>,
{
    create_proof_batch(circuits, params, r, s)
}

/// The same as [`create_random_proof_batch`].
///
/// # Errors
/// Those of [`create_random_proof_batch`].
pub fn create_random_proof_batch_in_priority<E, C, R, P>(
    circuits: Vec<C>,
    params: P,
    rng: &mut R,
) -> Result<Vec<Proof<E>>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
    R: RngCore,
    P: ParameterSource<E>,
{
    create_random_proof_batch(circuits, params, rng)
}

/// One proof: the circuit is evaluated before a device is touched.
fn prove<E, C, P>(circuit: C, params: P, blinding: &Blinding) -> Result<Proof<E>, Error>
where
    E: Engine,
    C: Circuit<Scalar>,
    P: ParameterSource<E>,
{
    let (assignment, shape) = Assignment::evaluate(circuit)?;
    let session = open(&params.proving_key(), shape)?;
    Ok(prove_in(&*session, &assignment, blinding)?)
}

fn prove_batch<E, C, P>(
    circuits: Vec<C>,
    params: P,
    r: SecretVec<Scalar>,
    s: SecretVec<Scalar>,
) -> Result<Vec<Proof<E>>, Error>
where
    E: Engine,
    C: Circuit<Scalar>,
    P: ParameterSource<E>,
{
    if (r.len(), s.len()) != (circuits.len(), circuits.len()) {
        return Err(Error::BlindingCount { circuits: circuits.len(), r: r.len(), s: s.len() });
    }
    let key = params.proving_key();
    let mut opened: Option<Box<dyn groth16::Prover>> = None;
    let mut proofs = Vec::with_capacity(circuits.len());
    for (index, (circuit, (r, s))) in circuits.into_iter().zip(r.iter().zip(&*s)).enumerate() {
        let in_batch = |error| Error::InBatch { index, error };
        let (assignment, shape) = Assignment::evaluate(circuit).map_err(in_batch)?;
        let session = match &opened {
            None => opened.insert(open(&key, shape)?),
            Some(session) if *session.shape() == shape => session,
            Some(session) => {
                return Err(Error::CircuitDiffers { index, difference: difference(session.shape(), &shape) });
            }
        };
        let blinding = Blinding::new(*r, *s);
        proofs.push(prove_in(&**session, &assignment, &blinding).map_err(in_batch)?);
    }
    Ok(proofs)
}

fn open(key: &ProvingKey, shape: Shape) -> Result<Box<dyn groth16::Prover>, Error> {
    Ok(device()?.session_for_shape(key, shape)?)
}

fn prove_in<E: Engine>(
    session: &dyn groth16::Prover,
    assignment: &Assignment,
    blinding: &Blinding,
) -> Result<Proof<E>, ProveError> {
    let cancellation = Cancellation::new();
    let proven = pollster::block_on(session.prove(assignment, blinding, &cancellation))?;
    Ok(proven.proof.into())
}

/// The first number in which two shapes differ.
fn difference(expected: &Shape, found: &Shape) -> String {
    let numbers = |shape: &Shape| {
        [
            ("constraints", shape.num_constraints),
            ("public inputs", shape.num_inputs.saturating_sub(1)),
            ("auxiliary variables", shape.num_aux),
            ("variables in A", shape.a.count()),
            ("variables in B", shape.b.count()),
        ]
    };
    let mut pairs = numbers(found).into_iter().zip(numbers(expected));
    match pairs.find(|(found, expected)| found != expected) {
        Some(((kind, found), (_, expected))) => format!("it has {found} {kind} instead of {expected}"),
        None => "other variables occur in its constraints".into(),
    }
}
