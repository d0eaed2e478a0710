//! Verification: e(A, B) = e(α, β) · e(Σ x_i·IC_i, γ) · e(C, δ).

use blstrs::{Bls12, G1Affine, G1Projective, G2Prepared, Gt, Scalar};
use group::{Curve, Group};
use pairing::{MillerLoopResult, MultiMillerLoop};

use super::Proof;
use crate::key::VerifyingKey;

/// A verifying key with its fixed pairing computed.
#[derive(Clone, Debug)]
pub struct PreparedVerifyingKey {
    alpha_beta: Gt,
    minus_gamma: G2Prepared,
    minus_delta: G2Prepared,
    ic: Vec<G1Affine>,
}

/// A proof that cannot be checked at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The key has no point for the constant one.
    #[error("the verifying key has no point for the constant one")]
    EmptyKey,
    /// The number of public inputs is not the key's.
    #[error("the key has {expected} public inputs, {found} were given")]
    InputCount {
        /// What the key has.
        expected: usize,
        /// What was given.
        found: usize,
    },
}

impl PreparedVerifyingKey {
    /// Prepares a key.
    pub fn new(vk: &VerifyingKey) -> Self {
        PreparedVerifyingKey {
            alpha_beta: blstrs::pairing(&vk.alpha_g1, &vk.beta_g2),
            minus_gamma: G2Prepared::from(-vk.gamma_g2),
            minus_delta: G2Prepared::from(-vk.delta_g2),
            ic: vk.ic.clone(),
        }
    }

    /// Whether the proof proves the statement with these public inputs, the constant one left out.
    ///
    /// # Errors
    /// [`VerifyError::InputCount`] if there are more or fewer inputs than the key has, [`VerifyError::EmptyKey`] if it
    /// is no key.
    pub fn verify(&self, proof: &Proof, inputs: &[Scalar]) -> Result<bool, VerifyError> {
        let (constant, rest) = self.ic.split_first().ok_or(VerifyError::EmptyKey)?;
        if rest.len() != inputs.len() {
            return Err(VerifyError::InputCount { expected: rest.len(), found: inputs.len() });
        }
        let points: Vec<G1Projective> = rest.iter().map(G1Projective::from).collect();
        let inputs = if inputs.is_empty() {
            G1Projective::identity()
        } else {
            G1Projective::multi_exp(&points, inputs)
        };
        let inputs = (inputs + constant).to_affine();
        Ok(self.pairings_agree(proof, &inputs))
    }

    fn pairings_agree(&self, proof: &Proof, inputs: &G1Affine) -> bool {
        let b = G2Prepared::from(proof.b);
        let product = Bls12::multi_miller_loop(&[
            (&proof.a, &b),
            (inputs, &self.minus_gamma),
            (&proof.c, &self.minus_delta),
        ]);
        product.final_exponentiation() == self.alpha_beta
    }
}

impl From<&VerifyingKey> for PreparedVerifyingKey {
    fn from(vk: &VerifyingKey) -> Self {
        PreparedVerifyingKey::new(vk)
    }
}
