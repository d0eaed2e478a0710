//! Records the matrices of a circuit; asks for no value.

use std::sync::Arc;

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use super::fault::{self, FirstFault};
use super::matrix::{CoefficientInterner, CoefficientTable};
use super::system::{R1cs, Shape};
use super::variables::BitVec;
use super::{SparseMatrix, VariableSet};

/// The `ConstraintSystem` that yields an [`R1cs`].
///
/// Values are not computed, so a circuit without a witness (every assignment missing) can be recorded. It is
/// extensible: parts recorded in parallel and joined in order give the system that sequential synthesis gives.
#[derive(Debug)]
pub struct Recorder {
    num_inputs: u32,
    num_aux: u32,
    a: Rows,
    b: Rows,
    c: Rows,
    coefficients: CoefficientInterner,
    names: Option<Names>,
    fault: FirstFault,
}

impl Recorder {
    /// Records `circuit` without the names of its constraints.
    pub fn record<C: Circuit<Scalar>>(circuit: C) -> Result<R1cs, SynthesisError> {
        Recorder::new().run(circuit)
    }

    /// Records `circuit` and, for each constraint, its annotation and the namespaces around it: for finding
    /// out why a witness fails, at the price of a string a constraint.
    pub fn record_with_names<C: Circuit<Scalar>>(circuit: C) -> Result<R1cs, SynthesisError> {
        let mut recorder = Recorder::new();
        recorder.names = Some(Names::default());
        recorder.run(circuit)
    }

    fn run<C: Circuit<Scalar>>(mut self, circuit: C) -> Result<R1cs, SynthesisError> {
        self.alloc_input(|| "one", || Ok(Scalar::ONE))?;
        circuit.synthesize(&mut self)?;
        self.fault.check()?;
        Ok(self.finish())
    }

    fn finish(mut self) -> R1cs {
        let num_constraints = self.a.starts.len();
        for input in 0..self.num_inputs {
            self.a.push_row([(Column::input(input), super::PLUS_ONE)]);
            self.b.push_row([]);
            self.c.push_row([]);
        }
        let table = self.coefficients.finish();
        let (num_inputs, num_aux) = (self.num_inputs as usize, self.num_aux as usize);
        let [a, b, c] = [self.a, self.b, self.c].map(|rows| rows.into_matrix(num_inputs, num_aux, &table));
        let shape = Shape {
            num_constraints,
            num_inputs,
            num_aux,
            a: occurring_variables(&a),
            b: occurring_variables(&b),
        };
        R1cs { a, b, c, shape, names: self.names.map(|names| names.constraints).unwrap_or_default() }
    }
}

/// The variables that constraint `constraint` may use, and where it is noted if it uses others.
struct Allocated<'a> {
    num_inputs: usize,
    num_aux: usize,
    constraint: usize,
    fault: &'a mut FirstFault,
}

impl Allocated<'_> {
    #[inline]
    fn column(&mut self, variable: Index) -> Option<Column> {
        let count = match variable {
            Index::Input(i) if i < self.num_inputs => return Some(Column::input(i as u32)),
            Index::Aux(i) if i < self.num_aux => return Some(Column(i as u32)),
            Index::Input(_) => self.num_inputs,
            Index::Aux(_) => self.num_aux,
        };
        self.fault.unallocated(self.constraint, variable, count);
        None
    }
}

/// The variables with an entry in some row.
fn occurring_variables(matrix: &SparseMatrix) -> VariableSet {
    let mut bits = BitVec::zeros(matrix.num_columns());
    matrix.columns().iter().for_each(|&column| bits.set(column as usize));
    bits.into_set()
}

/// A variable while the number of inputs is not known yet: auxiliary variables count up from zero, inputs down
/// from the top.
#[derive(Clone, Copy, Debug)]
struct Column(u32);

impl Column {
    fn input(index: u32) -> Self {
        Column(u32::MAX - index)
    }

    /// The variable's final number; each kind has at most [`fault::MAX_VARIABLES`], so the halves do not meet.
    fn resolve(self, num_inputs: u32, num_aux: u32) -> u32 {
        if self.0 < num_aux { num_inputs + self.0 } else { u32::MAX - self.0 }
    }
}

/// The rows of one matrix as they are recorded.
#[derive(Debug, Default)]
struct Rows {
    starts: Vec<usize>,
    columns: Vec<Column>,
    coefficients: Vec<u32>,
}

impl Rows {
    fn push_row(&mut self, entries: impl IntoIterator<Item = (Column, u32)>) {
        self.starts.push(self.columns.len());
        for (column, coefficient) in entries {
            self.columns.push(column);
            self.coefficients.push(coefficient);
        }
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (Column, u32)> + '_ {
        let end = self.starts.get(row + 1).copied().unwrap_or(self.columns.len());
        let entries = self.starts[row]..end;
        self.columns[entries.clone()].iter().copied().zip(self.coefficients[entries].iter().copied())
    }

    /// Appends a combination as a row, without its variables that are not allocated.
    fn push_combination(
        &mut self,
        lc: &LinearCombination<Scalar>,
        allocated: &mut Allocated<'_>,
        coefficients: &mut CoefficientInterner,
    ) {
        self.push_row(lc.iter().filter_map(|(variable, coefficient)| {
            let column = allocated.column(variable.get_unchecked())?;
            (!coefficient.is_zero_vartime()).then(|| (column, coefficients.index(coefficient)))
        }));
    }

    fn into_matrix(
        mut self,
        num_inputs: usize,
        num_aux: usize,
        table: &Arc<CoefficientTable>,
    ) -> SparseMatrix {
        self.starts.push(self.columns.len());
        let columns = self.columns.iter().map(|c| c.resolve(num_inputs as u32, num_aux as u32)).collect();
        SparseMatrix {
            num_columns: num_inputs + num_aux,
            row_starts: self.starts,
            columns,
            coefficients: self.coefficients,
            table: Arc::clone(table),
        }
    }
}

/// The namespaces around the constraint being enforced, and the names of those before it.
#[derive(Debug, Default)]
pub(super) struct Names {
    path: Vec<String>,
    constraints: Vec<String>,
}

impl Names {
    pub(super) fn push_namespace(&mut self, name: String) {
        self.path.push(name);
    }

    pub(super) fn pop_namespace(&mut self) {
        self.path.pop();
    }

    pub(super) fn constraint(&self, annotation: String) -> String {
        self.path.iter().map(String::as_str).chain([annotation.as_str()]).collect::<Vec<_>>().join("/")
    }
}

impl ConstraintSystem<Scalar> for Recorder {
    type Root = Self;

    fn new() -> Self {
        Recorder {
            num_inputs: 0,
            num_aux: 0,
            a: Rows::default(),
            b: Rows::default(),
            c: Rows::default(),
            coefficients: CoefficientInterner::new(),
            names: None,
            fault: FirstFault::default(),
        }
    }

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let index = self.num_aux;
        self.num_aux = fault::next(index as usize)? as u32;
        Ok(Variable::new_unchecked(Index::Aux(index as usize)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let index = self.num_inputs;
        self.num_inputs = fault::next(index as usize)? as u32;
        Ok(Variable::new_unchecked(Index::Input(index as usize)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, annotation: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let mut allocated = Allocated {
            num_inputs: self.num_inputs as usize,
            num_aux: self.num_aux as usize,
            constraint: self.a.starts.len(),
            fault: &mut self.fault,
        };
        self.a.push_combination(&a(LinearCombination::zero()), &mut allocated, &mut self.coefficients);
        self.b.push_combination(&b(LinearCombination::zero()), &mut allocated, &mut self.coefficients);
        self.c.push_combination(&c(LinearCombination::zero()), &mut allocated, &mut self.coefficients);
        if let Some(names) = &mut self.names {
            let name = names.constraint(annotation().into());
            names.constraints.push(name);
        }
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

    /// The parts of a parallel synthesis are made with [`new`](ConstraintSystem::new) and so record no names;
    /// where the whole does, [`extend`](ConstraintSystem::extend) calls their constraints `part/constraint N`.
    fn is_extensible() -> bool {
        true
    }

    /// Appends the variables and constraints of `other`, whose first input is the constant one again; where this
    /// system has no inputs yet, it takes over all of `other`'s.
    fn extend(&mut self, other: &Self) {
        let (first_input, first_aux) = (self.num_inputs.saturating_sub(1), self.num_aux);
        let first_constraint = self.a.starts.len();
        self.fault.extend(&other.fault, first_constraint);
        let inputs = fault::sum_of_inputs(self.num_inputs as usize, other.num_inputs as usize);
        let aux = fault::sum(self.num_aux as usize, other.num_aux as usize);
        let (Some(num_inputs), Some(num_aux)) = (inputs, aux) else {
            self.fault.too_many_variables();
            return;
        };
        let shift = |column: Column| {
            if column.0 < other.num_aux {
                Column(column.0 + first_aux)
            } else {
                match u32::MAX - column.0 {
                    0 => Column::input(0),
                    input => Column::input(input + first_input),
                }
            }
        };
        // Row by row, so that coefficients are met, and numbered, in the order of sequential synthesis.
        for row in 0..other.a.starts.len() {
            let pairs = [(&mut self.a, &other.a), (&mut self.b, &other.b), (&mut self.c, &other.c)];
            for (rows, more) in pairs {
                rows.push_row(more.row(row).map(|(column, coefficient)| {
                    (shift(column), self.coefficients.index(other.coefficients.value(coefficient)))
                }));
            }
        }
        (self.num_inputs, self.num_aux) = (num_inputs as u32, num_aux as u32);
        if let Some(names) = &mut self.names {
            let count = other.a.starts.len();
            let more =
                (0..count).map(|i| names.constraint(format!("part/constraint {}", first_constraint + i)));
            let more: Vec<String> = more.collect();
            names.constraints.extend(more);
        }
    }
}
