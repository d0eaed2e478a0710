//! Set-up in one call.

use bellwether_core::groth16::{Generators, SetupError, Trapdoor};
use bellwether_core::r1cs::{Circuit, Recorder};
use group::{Curve, Group};
use rand_core::RngCore;

use super::{Engine, Error, Parameters, device};

/// Makes parameters for a circuit, which needs no witness. Generators and trapdoor come from `rng`, in the
/// order g1, g2, α, β, γ, δ, τ.
///
/// # Errors
/// Those of [`generate_parameters`].
pub fn generate_random_parameters<E, C, R>(circuit: C, rng: &mut R) -> Result<Parameters<E>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
    R: RngCore,
{
    let g1 = E::G1::random(&mut *rng);
    let g2 = E::G2::random(&mut *rng);
    generate(circuit, g1, g2, &Trapdoor::from_rng(rng))
}

/// Makes parameters for a circuit, which needs no witness, from generators and a trapdoor.
///
/// # Errors
/// [`Error::Setup`]: `Synthesis`; `Degenerate` if γ or δ is zero, a generator is at infinity or τ lies in the
/// evaluation domain; `UnconstrainedVariable`; the device's faults. [`Error::Choice`] or [`Error::Select`] if
/// there is no device.
#[expect(clippy::too_many_arguments, reason = "they are bellperson's")]
pub fn generate_parameters<E, C>(
    circuit: C,
    g1: E::G1,
    g2: E::G2,
    alpha: E::Fr,
    beta: E::Fr,
    gamma: E::Fr,
    delta: E::Fr,
    tau: E::Fr,
) -> Result<Parameters<E>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
{
    let trapdoor = Trapdoor::new(alpha, beta, gamma, delta, tau);
    generate(circuit, g1, g2, &trapdoor)
}

fn generate<E, C>(circuit: C, g1: E::G1, g2: E::G2, trapdoor: &Trapdoor) -> Result<Parameters<E>, Error>
where
    E: Engine,
    C: Circuit<E::Fr>,
{
    let generators = Generators { g1: g1.to_affine(), g2: g2.to_affine() };
    let r1cs = Recorder::record(circuit).map_err(SetupError::from)?;
    let key = pollster::block_on(device()?.generate_key(&r1cs, trapdoor, &generators))?;
    Ok(key.into())
}
