//! Circuits written for bellman 0.15, such as Zcash Sapling's (feature `bellman`).
//!
//! bellman and bellpepper come from one source, so that their constraint systems agree but for the types:
//! bellman's circuits of BLS12-381 are over `bls12_381::Scalar`. [`BellmanCircuit`] makes one a circuit over
//! [`Scalar`], the same field in blstrs; everything in this crate then takes it. Keys and proofs have one
//! encoding in both families: [`Proof::to_bytes`](crate::Proof::to_bytes) is what bellman's `groth16` reads.

use std::io;

use ::bellman as theirs;
use bellwether_core::curve::Scalar;
use bellwether_core::r1cs::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use ff_014::Field as _;

/// The scalar field as bellman's circuits of BLS12-381 know it.
pub use bls12_381::Scalar as BellmanScalar;

/// A circuit written for bellman, as a circuit of this crate.
#[derive(Clone, Copy, Debug)]
pub struct BellmanCircuit<C>(
    /// The circuit.
    pub C,
);

impl<C: theirs::Circuit<BellmanScalar>> Circuit<Scalar> for BellmanCircuit<C> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.0.synthesize(&mut Adapter(cs)).map_err(error_from_bellman)
    }
}

/// The scalar in blstrs.
pub fn scalar_from_bellman(scalar: &BellmanScalar) -> Scalar {
    // Most values of a witness and most coefficients are one of these two.
    if *scalar == BellmanScalar::ZERO {
        <Scalar as ff::Field>::ZERO
    } else if *scalar == BellmanScalar::ONE {
        <Scalar as ff::Field>::ONE
    } else {
        // Bytes of a scalar are below the modulus, which both crates share: there is always a value.
        Option::from(Scalar::from_bytes_le(&scalar.to_bytes())).unwrap_or_default()
    }
}

/// The scalar in `bls12_381`.
pub fn scalar_to_bellman(scalar: &Scalar) -> BellmanScalar {
    Option::from(BellmanScalar::from_bytes(&scalar.to_bytes_le())).unwrap_or_default()
}

/// Public inputs of a bellman circuit, as [`Prover::verify`](crate::Prover::verify) takes them.
pub fn public_inputs_from_bellman(inputs: &[BellmanScalar]) -> Vec<Scalar> {
    inputs.iter().map(scalar_from_bellman).collect()
}

/// Public inputs of a proof ([`Proven::public_inputs`](crate::Proven::public_inputs)), as bellman's verifier
/// takes them.
pub fn public_inputs_to_bellman(inputs: &[Scalar]) -> Vec<BellmanScalar> {
    inputs.iter().map(scalar_to_bellman).collect()
}

/// A constraint system of ours, as bellman's circuits see one. It is its own root: namespaces are forwarded
/// to the root of ours, which is where both families keep them.
struct Adapter<'a, CS>(&'a mut CS);

impl<CS: ConstraintSystem<Scalar>> theirs::ConstraintSystem<BellmanScalar> for Adapter<'_, CS> {
    type Root = Self;

    fn one() -> theirs::Variable {
        variable_to_bellman(CS::one())
    }

    fn alloc<F, A, AR>(&mut self, annotation: A, value: F) -> Result<theirs::Variable, theirs::SynthesisError>
    where
        F: FnOnce() -> Result<BellmanScalar, theirs::SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let variable = self.0.alloc(annotation, || convert_value(value()));
        variable.map(variable_to_bellman).map_err(error_to_bellman)
    }

    fn alloc_input<F, A, AR>(
        &mut self,
        annotation: A,
        value: F,
    ) -> Result<theirs::Variable, theirs::SynthesisError>
    where
        F: FnOnce() -> Result<BellmanScalar, theirs::SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let variable = self.0.alloc_input(annotation, || convert_value(value()));
        variable.map(variable_to_bellman).map_err(error_to_bellman)
    }

    /// Conversion stands inside the closures, which a collector of witnesses does not call.
    fn enforce<A, AR, LA, LB, LC>(&mut self, annotation: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(Combination) -> Combination,
        LB: FnOnce(Combination) -> Combination,
        LC: FnOnce(Combination) -> Combination,
    {
        self.0.enforce(
            annotation,
            |lc| add_terms(lc, &a(Combination::zero())),
            |lc| add_terms(lc, &b(Combination::zero())),
            |lc| add_terms(lc, &c(Combination::zero())),
        );
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        self.0.get_root().push_namespace(name);
    }

    fn pop_namespace(&mut self) {
        self.0.get_root().pop_namespace();
    }

    fn get_root(&mut self) -> &mut Self {
        self
    }
}

type Combination = theirs::LinearCombination<BellmanScalar>;

/// Terms of one variable are added up on the way, as bellpepper's linear combinations are.
fn add_terms(lc: LinearCombination<Scalar>, terms: &Combination) -> LinearCombination<Scalar> {
    terms.as_ref().iter().fold(lc, |lc, (variable, coefficient)| {
        lc + (scalar_from_bellman(coefficient), variable_from_bellman(*variable))
    })
}

fn convert_value(value: Result<BellmanScalar, theirs::SynthesisError>) -> Result<Scalar, SynthesisError> {
    match value {
        Ok(value) => Ok(scalar_from_bellman(&value)),
        Err(error) => Err(error_from_bellman(error)),
    }
}

fn variable_to_bellman(variable: Variable) -> theirs::Variable {
    theirs::Variable::new_unchecked(match variable.get_unchecked() {
        Index::Input(i) => theirs::Index::Input(i),
        Index::Aux(i) => theirs::Index::Aux(i),
    })
}

fn variable_from_bellman(variable: theirs::Variable) -> Variable {
    Variable::new_unchecked(match variable.get_unchecked() {
        theirs::Index::Input(i) => Index::Input(i),
        theirs::Index::Aux(i) => Index::Aux(i),
    })
}

fn error_from_bellman(error: theirs::SynthesisError) -> SynthesisError {
    use theirs::SynthesisError as Theirs;
    match error {
        Theirs::AssignmentMissing => SynthesisError::AssignmentMissing,
        Theirs::DivisionByZero => SynthesisError::DivisionByZero,
        Theirs::Unsatisfiable => SynthesisError::Unsatisfiable,
        Theirs::PolynomialDegreeTooLarge => SynthesisError::PolynomialDegreeTooLarge,
        Theirs::UnexpectedIdentity => SynthesisError::UnexpectedIdentity,
        Theirs::IoError(error) => SynthesisError::IoError(error),
        Theirs::UnconstrainedVariable => SynthesisError::UnconstrainedVariable,
    }
}

/// What bellman has no variant for keeps its message.
fn error_to_bellman(error: SynthesisError) -> theirs::SynthesisError {
    use theirs::SynthesisError as Theirs;
    match error {
        SynthesisError::AssignmentMissing => Theirs::AssignmentMissing,
        SynthesisError::DivisionByZero => Theirs::DivisionByZero,
        SynthesisError::Unsatisfiable => Theirs::Unsatisfiable,
        SynthesisError::PolynomialDegreeTooLarge => Theirs::PolynomialDegreeTooLarge,
        SynthesisError::UnexpectedIdentity => Theirs::UnexpectedIdentity,
        SynthesisError::IoError(error) => Theirs::IoError(error),
        SynthesisError::UnconstrainedVariable => Theirs::UnconstrainedVariable,
        other => Theirs::IoError(io::Error::other(other)),
    }
}

#[cfg(test)]
mod tests;
