//! Verification, of one proof and of many at once.

use std::fmt;

use bellwether_core::curve::{G1Projective, G2Affine, Scalar};
use bellwether_core::groth16::{self, VerifyError};
use bellwether_core::key;
use ff::Field;
use group::{Curve, Group};
use pairing::MillerLoopResult;
use rand_core::RngCore;

use super::{Engine, Error, Proof, VerifyingKey};

/// A verifying key with its fixed pairing computed.
#[derive(Clone)]
pub struct PreparedVerifyingKey<E: Engine> {
    single: groth16::PreparedVerifyingKey,
    vk: VerifyingKey<E>,
}

impl<E: Engine> fmt::Debug for PreparedVerifyingKey<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PreparedVerifyingKey").field(&self.vk).finish()
    }
}

/// Prepares a verifying key.
pub fn prepare_verifying_key<E: Engine>(vk: &VerifyingKey<E>) -> PreparedVerifyingKey<E> {
    PreparedVerifyingKey {
        single: groth16::PreparedVerifyingKey::new(&key::VerifyingKey::from(vk)),
        vk: vk.clone(),
    }
}

/// Whether a proof proves the statement with these public inputs, the constant one left out.
///
/// # Errors
/// [`Error::Verify`] if there are more or fewer inputs than the key has.
pub fn verify_proof<E: Engine>(
    pvk: &PreparedVerifyingKey<E>,
    proof: &Proof<E>,
    public_inputs: &[E::Fr],
) -> Result<bool, Error> {
    Ok(pvk.single.verify(&proof.into(), public_inputs)?)
}

/// Whether every proof proves its statement; cheaper than one by one. True of no proofs at all.
///
/// Checks one random combination of the equations, Σ z_j · (equation j), with z_j of 128 bits from `rng`
/// (Zcash protocol specification, appendix B.2): a batch with a false proof passes with a probability of
/// 2^−128 if the prover cannot foresee `rng`.
///
/// # Errors
/// [`Error::StatementCount`] if there are not as many statements as proofs, [`Error::Verify`] if one of them
/// has more or fewer inputs than the key.
pub fn verify_proofs_batch<E, R>(
    pvk: &PreparedVerifyingKey<E>,
    rng: &mut R,
    proofs: &[&Proof<E>],
    public_inputs: &[Vec<E::Fr>],
) -> Result<bool, Error>
where
    E: Engine,
    R: RngCore,
{
    if proofs.len() != public_inputs.len() {
        return Err(Error::StatementCount { proofs: proofs.len(), inputs: public_inputs.len() });
    }
    for inputs in public_inputs {
        if inputs.len() + 1 != pvk.vk.ic.len() {
            return Err(Error::Verify(VerifyError::InputCount {
                expected: pvk.vk.ic.len().saturating_sub(1),
                found: inputs.len(),
            }));
        }
    }
    match proofs {
        [] => Ok(true),
        [proof] => verify_proof(pvk, proof, &public_inputs[0]),
        _ => Ok(combination_holds(pvk, rng, proofs, public_inputs)),
    }
}

/// Whether Π e(z_j·A_j, B_j) = e(Σz_j·α, β) · e(Σ_i (Σ_j z_j·x_ji)·IC_i, γ) · e(Σ z_j·C_j, δ).
fn combination_holds<E: Engine>(
    pvk: &PreparedVerifyingKey<E>,
    rng: &mut impl RngCore,
    proofs: &[&Proof<E>],
    public_inputs: &[Vec<Scalar>],
) -> bool {
    let weights: Vec<Scalar> = proofs.iter().map(|_| random_weight(rng)).collect();
    // Coefficients of ic: the constant one's, then those of the inputs.
    let mut coefficients = vec![Scalar::ZERO; pvk.vk.ic.len()];
    for (weight, inputs) in weights.iter().zip(public_inputs) {
        let values = std::iter::once(&Scalar::ONE).chain(inputs);
        for (coefficient, value) in coefficients.iter_mut().zip(values) {
            *coefficient += weight * value;
        }
    }
    let c: Vec<_> = proofs.iter().map(|proof| proof.c).collect();
    let mut g1 = vec![
        -(pvk.vk.alpha_g1 * coefficients[0]),
        -sum_of_products(&pvk.vk.ic, &coefficients),
        -sum_of_products(&c, &weights),
    ];
    let mut g2: Vec<G2Affine> = vec![pvk.vk.beta_g2, pvk.vk.gamma_g2, pvk.vk.delta_g2];
    for (proof, weight) in proofs.iter().zip(&weights) {
        g1.push(proof.a * weight);
        g2.push(proof.b);
    }
    let g1: Vec<_> = g1.iter().map(Curve::to_affine).collect();
    let g2: Vec<E::G2Prepared> = g2.into_iter().map(E::G2Prepared::from).collect();
    let terms: Vec<_> = g1.iter().zip(&g2).collect();
    E::multi_miller_loop(&terms).final_exponentiation().is_identity().into()
}

/// 128 random bits.
fn random_weight(rng: &mut impl RngCore) -> Scalar {
    let two_to_64 = Scalar::from(u64::MAX) + Scalar::ONE;
    let low = Scalar::from(rng.next_u64());
    low + Scalar::from(rng.next_u64()) * two_to_64
}

fn sum_of_products(points: &[bellwether_core::curve::G1Affine], scalars: &[Scalar]) -> G1Projective {
    let points: Vec<G1Projective> = points.iter().map(G1Projective::from).collect();
    G1Projective::multi_exp(&points, scalars)
}
