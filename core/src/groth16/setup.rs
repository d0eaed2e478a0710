//! Set-up: a proving key from a trapdoor.

use blstrs::{G1Affine, G2Affine, Scalar};
use ff::Field;
use group::Curve;
use group::prime::PrimeCurveAffine;
use rand_core::RngCore;

use super::ProveError;
use super::blinding::random_scalar;
use crate::curve::AffinePoint;
use crate::device::{Device, DeviceError, Transform};
use crate::domain::{Domain, DomainError, RootConvention};
use crate::key::{ProvingKey, VerifyingKey};
use crate::r1cs::{R1cs, SynthesisError};
use crate::secret::SecretVec;

/// The secrets of a set-up ("toxic waste"): whoever knows them can prove anything. Cleared when dropped.
pub struct Trapdoor(SecretVec<Scalar>);

impl Trapdoor {
    /// A trapdoor from the operating system's generator, which nobody learns.
    ///
    /// # Errors
    /// [`ProveError::Randomness`] if that generator fails.
    pub fn random() -> Result<Self, ProveError> {
        let mut secrets = SecretVec::with_capacity(5);
        for _ in 0..5 {
            secrets.push(random_scalar()?);
        }
        Ok(Trapdoor(secrets))
    }

    /// A trapdoor from a generator of the caller's, drawn in the order α, β, γ, δ, τ, which is bellperson's.
    pub fn from_rng(mut rng: impl RngCore) -> Self {
        Trapdoor(SecretVec::from((0..5).map(|_| Scalar::random(&mut rng)).collect::<Vec<_>>()))
    }

    /// This trapdoor. A key made from values that anybody knows is for tests only.
    pub fn new(alpha: Scalar, beta: Scalar, gamma: Scalar, delta: Scalar, tau: Scalar) -> Self {
        Trapdoor(SecretVec::from(vec![alpha, beta, gamma, delta, tau]))
    }
}

impl std::fmt::Debug for Trapdoor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Trapdoor(..)")
    }
}

/// The generators of the groups that a key is built on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generators {
    /// Of G1.
    pub g1: G1Affine,
    /// Of G2.
    pub g2: G2Affine,
}

impl Default for Generators {
    /// The standard generators.
    fn default() -> Self {
        Generators { g1: G1Affine::generator(), g2: G2Affine::generator() }
    }
}

/// There is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The circuit could not be recorded. Raised by callers that record it on the way.
    #[error("synthesis: {0}")]
    Synthesis(#[from] SynthesisError),
    /// The circuit has too many rows.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The trapdoor or a generator is degenerate. Does not happen to random ones.
    #[error("degenerate set-up: {0}")]
    Degenerate(&'static str),
    /// An auxiliary variable occurs in no constraint, so that the key would not bind it.
    #[error("auxiliary variable {0} is unconstrained")]
    UnconstrainedVariable(usize),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// The exponents of the queries' points, before multiplication with the generators.
struct Exponents {
    /// τ^i·Z(τ)/δ.
    h: SecretVec<Scalar>,
    /// u_k(τ), for every variable.
    a: SecretVec<Scalar>,
    /// v_k(τ), for every variable.
    b: SecretVec<Scalar>,
    /// (β·u_k(τ) + α·v_k(τ) + w_k(τ))/γ for public inputs.
    ic: SecretVec<Scalar>,
    /// The same over δ for auxiliary variables.
    l: SecretVec<Scalar>,
}

/// Makes the key of a circuit. For the same trapdoor and generators it is bellperson's key, byte for byte.
///
/// # Errors
/// [`SetupError::UnconstrainedVariable`] for a circuit that bellperson refuses as well; the device's errors.
pub async fn generate_key<D: Device>(
    device: &D,
    r1cs: &R1cs,
    trapdoor: &Trapdoor,
    generators: &Generators,
) -> Result<ProvingKey, SetupError> {
    let Generators { g1, g2 } = generators;
    if bool::from(g1.is_identity() | g2.is_identity()) {
        return Err(SetupError::Degenerate("a generator is the point at infinity"));
    }
    let exponents = exponents(device, r1cs, trapdoor).await?;
    if let Some(variable) = exponents.l.iter().position(Scalar::is_zero_vartime) {
        return Err(SetupError::UnconstrainedVariable(variable));
    }
    let nonzero = |values: &[Scalar]| -> SecretVec<Scalar> {
        values.iter().copied().filter(|value| !value.is_zero_vartime()).collect()
    };
    let (a, b) = (nonzero(&exponents.a), nonzero(&exponents.b));
    let vk = verifying_key(generators, trapdoor, multiply(device, g1, &exponents.ic).await?);
    let h = multiply(device, g1, &exponents.h).await?;
    let l = multiply(device, g1, &exponents.l).await?;
    let a = multiply(device, g1, &a).await?;
    let b_g1 = multiply(device, g1, &b).await?;
    let b_g2 = multiply(device, g2, &b).await?;
    Ok(ProvingKey::new(vk, h, l, a, b_g1, b_g2))
}

/// Evaluates the circuit's polynomials at τ.
async fn exponents<D: Device>(device: &D, r1cs: &R1cs, trapdoor: &Trapdoor) -> Result<Exponents, SetupError> {
    let &[alpha, beta, gamma, delta, tau] = &trapdoor.0[..] else {
        return Err(SetupError::Degenerate("the trapdoor is incomplete"));
    };
    let inverse = |value: Scalar, what| -> Result<Scalar, SetupError> {
        Option::from(value.invert()).ok_or(SetupError::Degenerate(what))
    };
    let (over_gamma, over_delta) = (inverse(gamma, "gamma is zero")?, inverse(delta, "delta is zero")?);
    let domain = Domain::for_rows(r1cs.shape().num_rows(), RootConvention::Bellman)?;
    let vanishing = domain.vanishing_at(tau);
    if vanishing.is_zero_vartime() {
        return Err(SetupError::Degenerate("tau lies in the evaluation domain"));
    }

    let mut powers = SecretVec::with_capacity(domain.size());
    let mut power = Scalar::ONE;
    for _ in 0..domain.size() {
        powers.push(power);
        power *= tau;
    }
    let lagrange = lagrange_at_tau(device, &domain, &powers).await?;

    let scale = vanishing * over_delta;
    powers.resize(domain.size() - 1, Scalar::ZERO);
    powers.iter_mut().for_each(|power| *power *= scale);

    let [a, b, c] =
        [&r1cs.a, &r1cs.b, &r1cs.c].map(|matrix| SecretVec::from(matrix.transpose_product(&lagrange)));
    let mixed: SecretVec<Scalar> =
        a.iter().zip(&b[..]).zip(&c[..]).map(|((a, b), c)| beta * a + alpha * b + c).collect();
    let (inputs, aux) = mixed.split_at(r1cs.shape().num_inputs);
    let ic = inputs.iter().map(|value| value * over_gamma).collect();
    let l = aux.iter().map(|value| value * over_delta).collect();
    Ok(Exponents { h: powers, a, b, ic, l })
}

/// The Lagrange polynomials of the domain at τ: the inverse transform of the powers of τ.
async fn lagrange_at_tau<D: Device>(
    device: &D,
    domain: &Domain,
    powers: &[Scalar],
) -> Result<SecretVec<Scalar>, DeviceError> {
    let resident = device.domain(domain)?;
    let mut values = device.upload(powers, powers.len())?;
    device.ntt(&resident, Transform::Inverse, &mut values)?;
    device.download(&values).await
}

async fn multiply<D: Device, P: AffinePoint>(
    device: &D,
    base: &P,
    exponents: &[Scalar],
) -> Result<Vec<P>, DeviceError> {
    let exponents = device.upload(exponents, exponents.len())?;
    device.fixed_base_mul(base, &exponents).await
}

fn verifying_key(generators: &Generators, trapdoor: &Trapdoor, ic: Vec<G1Affine>) -> VerifyingKey {
    let Generators { g1, g2 } = generators;
    let [alpha, beta, gamma, delta] = [0, 1, 2, 3].map(|i| trapdoor.0[i]);
    VerifyingKey {
        alpha_g1: (*g1 * alpha).to_affine(),
        beta_g1: (*g1 * beta).to_affine(),
        beta_g2: (*g2 * beta).to_affine(),
        gamma_g2: (*g2 * gamma).to_affine(),
        delta_g1: (*g1 * delta).to_affine(),
        delta_g2: (*g2 * delta).to_affine(),
        ic,
    }
}
