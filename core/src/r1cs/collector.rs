//! Collects a witness; looks at no constraint.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use super::CompactWitness;

/// The `ConstraintSystem` that yields a [`CompactWitness`].
///
/// Constraints are not evaluated, not even built: `enforce` does not call its closures. It is extensible, so
/// that circuits which synthesise their parts in parallel (Filecoin's PoSt) do so.
#[derive(Debug)]
pub struct Collector {
    inputs: CompactWitness,
    aux: CompactWitness,
}

impl Collector {
    /// The values of all variables of `circuit`: the constant one, the other inputs, the auxiliary variables.
    /// Beside them the number of inputs, the constant one included.
    pub fn collect<C: Circuit<Scalar>>(circuit: C) -> Result<(CompactWitness, usize), SynthesisError> {
        let mut collector = Collector::new();
        collector.inputs.push(Scalar::ONE);
        circuit.synthesize(&mut collector)?;
        let Collector { mut inputs, aux } = collector;
        let num_inputs = inputs.len();
        inputs.append(&aux, 0);
        Ok((inputs, num_inputs))
    }
}

impl ConstraintSystem<Scalar> for Collector {
    type Root = Self;

    fn new() -> Self {
        Collector { inputs: CompactWitness::new(), aux: CompactWitness::new() }
    }

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(value()?);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(value()?);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }

    fn is_extensible() -> bool {
        true
    }

    /// Appends the variables of `other` without its first input, which is the constant one again; where this
    /// system has none yet, it takes over that of `other`.
    fn extend(&mut self, other: &Self) {
        self.inputs.append(&other.inputs, usize::from(!self.inputs.is_empty()));
        self.aux.append(&other.aux, 0);
    }
}
