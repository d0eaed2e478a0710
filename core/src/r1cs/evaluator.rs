//! Witness, evaluations and shape in one pass, for a circuit that is proved once.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use super::CompactWitness;
use super::fault::{self, FirstFault};
use super::recorder::Names;
use super::system::{Shape, Unsatisfied};
use super::variables::BitVec;
use crate::secret::SecretVec;

/// a = A·w, b = B·w and c = C·w, one value a row, the rows of the inputs included.
#[derive(Clone, Debug, Default)]
pub struct Evaluations {
    /// A·w.
    pub a: SecretVec<Scalar>,
    /// B·w.
    pub b: SecretVec<Scalar>,
    /// C·w.
    pub c: SecretVec<Scalar>,
}

/// What one pass over a circuit with its witness yields.
#[derive(Debug)]
pub struct Evaluation {
    /// Sizes and densities of the circuit.
    pub shape: Shape,
    /// The values of all variables.
    pub witness: CompactWitness,
    /// A·w, B·w and C·w.
    pub evaluations: Evaluations,
    /// The first constraint that does not hold.
    pub unsatisfied: Option<Unsatisfied>,
}

/// The `ConstraintSystem` that yields an [`Evaluation`].
#[derive(Debug)]
pub struct Evaluator {
    inputs: CompactWitness,
    aux: CompactWitness,
    evaluations: Evaluations,
    a_aux: BitVec,
    b_inputs: BitVec,
    b_aux: BitVec,
    unsatisfied: Option<Unsatisfied>,
    names: Option<Names>,
    fault: FirstFault,
}

impl Evaluator {
    /// Evaluates `circuit`. A constraint that fails is named by its own annotation.
    pub fn evaluate<C: Circuit<Scalar>>(circuit: C) -> Result<Evaluation, SynthesisError> {
        Evaluator::new().run(circuit)
    }

    /// Evaluates `circuit`. A constraint that fails is named with the namespaces around it, which costs a
    /// string for each namespace entered.
    pub fn evaluate_with_names<C: Circuit<Scalar>>(circuit: C) -> Result<Evaluation, SynthesisError> {
        let mut evaluator = Evaluator::new();
        evaluator.names = Some(Names::default());
        evaluator.run(circuit)
    }

    fn run<C: Circuit<Scalar>>(mut self, circuit: C) -> Result<Evaluation, SynthesisError> {
        self.alloc_input(|| "one", || Ok(Scalar::ONE))?;
        circuit.synthesize(&mut self)?;
        self.fault.check()?;
        Ok(self.finish())
    }

    fn finish(mut self) -> Evaluation {
        let num_constraints = self.evaluations.a.len();
        let (num_inputs, num_aux) = (self.inputs.len(), self.aux.len());
        for input in 0..num_inputs {
            self.evaluations.a.push(self.inputs.get(input));
            self.evaluations.b.push(Scalar::ZERO);
            self.evaluations.c.push(Scalar::ZERO);
        }
        let mut a = BitVec::default();
        (0..num_inputs).for_each(|_| a.push(true));
        a.append(&self.a_aux, 0);
        let mut b = self.b_inputs;
        b.append(&self.b_aux, 0);
        let mut witness = self.inputs;
        witness.append(&self.aux, 0);
        let shape = Shape { num_constraints, num_inputs, num_aux, a: a.into_set(), b: b.into_set() };
        Evaluation { shape, witness, evaluations: self.evaluations, unsatisfied: self.unsatisfied }
    }

    /// The value of a linear combination; marks the variables with a coefficient that is not zero. Variables
    /// that are not allocated are a fault, and left out.
    fn evaluate_combination(
        &mut self,
        lc: &LinearCombination<Scalar>,
        mut mark: impl FnMut(Index),
    ) -> Scalar {
        let mut sum = Scalar::ZERO;
        for (variable, coefficient) in lc.iter() {
            let index = variable.get_unchecked();
            let (values, i) = match index {
                Index::Input(i) => (&self.inputs, i),
                Index::Aux(i) => (&self.aux, i),
            };
            if i >= values.len() {
                self.fault.unallocated(self.evaluations.a.len(), index, values.len());
                continue;
            }
            if coefficient.is_zero_vartime() {
                continue;
            }
            mark(index);
            let value = values.get(i);
            sum += if *coefficient == Scalar::ONE { value } else { value * coefficient };
        }
        sum
    }
}

impl ConstraintSystem<Scalar> for Evaluator {
    type Root = Self;

    fn new() -> Self {
        Evaluator {
            inputs: CompactWitness::new(),
            aux: CompactWitness::new(),
            evaluations: Evaluations::default(),
            a_aux: BitVec::default(),
            b_inputs: BitVec::default(),
            b_aux: BitVec::default(),
            unsatisfied: None,
            names: None,
            fault: FirstFault::default(),
        }
    }

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        fault::next(self.aux.len())?;
        self.aux.push(value()?);
        self.a_aux.push(false);
        self.b_aux.push(false);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        fault::next(self.inputs.len())?;
        self.inputs.push(value()?);
        self.b_inputs.push(false);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, annotation: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let mut a_aux = std::mem::take(&mut self.a_aux);
        let a = self.evaluate_combination(&a(LinearCombination::zero()), |index| match index {
            Index::Input(_) => {}
            Index::Aux(i) => a_aux.set(i),
        });
        self.a_aux = a_aux;

        let (mut b_inputs, mut b_aux) = (std::mem::take(&mut self.b_inputs), std::mem::take(&mut self.b_aux));
        let b = self.evaluate_combination(&b(LinearCombination::zero()), |index| match index {
            Index::Input(i) => b_inputs.set(i),
            Index::Aux(i) => b_aux.set(i),
        });
        (self.b_inputs, self.b_aux) = (b_inputs, b_aux);

        let c = self.evaluate_combination(&c(LinearCombination::zero()), |_| {});

        if self.unsatisfied.is_none() && a * b != c {
            let annotation = annotation().into();
            let name = match &self.names {
                Some(names) => names.constraint(annotation),
                None => annotation,
            };
            self.unsatisfied = Some(Unsatisfied { constraint: self.evaluations.a.len(), name: Some(name) });
        }
        self.evaluations.a.push(a);
        self.evaluations.b.push(b);
        self.evaluations.c.push(c);
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        if let Some(names) = &mut self.names {
            names.push_namespace(name().into());
        }
    }

    fn pop_namespace(&mut self) {
        if let Some(names) = &mut self.names {
            names.pop_namespace();
        }
    }

    fn get_root(&mut self) -> &mut Self {
        self
    }

    fn is_extensible() -> bool {
        true
    }

    /// Appends the variables and rows of `other`. Its first input is the constant one again: its value is
    /// dropped, but if B uses it there, B uses it here. Where this system has no inputs yet, it takes over all
    /// of `other`'s.
    fn extend(&mut self, other: &Self) {
        self.fault.extend(&other.fault, self.evaluations.a.len());
        let inputs = fault::sum_of_inputs(self.inputs.len(), other.inputs.len());
        if inputs.and(fault::sum(self.aux.len(), other.aux.len())).is_none() {
            self.fault.too_many_variables();
            return;
        }
        if self.unsatisfied.is_none() {
            self.unsatisfied = other.unsatisfied.clone().map(|found| Unsatisfied {
                constraint: found.constraint + self.evaluations.a.len(),
                ..found
            });
        }
        let first = usize::from(!self.inputs.is_empty());
        if first == 1 && !other.inputs.is_empty() && other.b_inputs.get(0) {
            self.b_inputs.set(0);
        }
        self.inputs.append(&other.inputs, first);
        self.b_inputs.append(&other.b_inputs, first);
        self.aux.append(&other.aux, 0);
        self.a_aux.append(&other.a_aux, 0);
        self.b_aux.append(&other.b_aux, 0);
        self.evaluations.a.extend_from_slice(&other.evaluations.a);
        self.evaluations.b.extend_from_slice(&other.evaluations.b);
        self.evaluations.c.extend_from_slice(&other.evaluations.c);
    }
}
