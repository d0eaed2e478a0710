//! Rank-1 constraint systems: matrices recorded once, witnesses collected for each proof.
//!
//! Three constraint systems take a bellpepper (bellperson 0.27) circuit:
//!
//! - [`Recorder`] looks at the constraints and never asks for a value: once a circuit, it yields the matrices
//!   ([`R1cs`]).
//! - [`Collector`] asks for values and never looks at a constraint: for each proof, it yields the
//!   [`CompactWitness`]. The products A·w, B·w, C·w then come from the matrices, on the device.
//! - [`Evaluator`] does both in one pass, for a circuit that is proved once: witness, evaluations and shape.
//!
//! Variables are numbered inputs first (input 0 is the constant one), auxiliary variables after them. Rows are
//! the circuit's constraints in order, then one row `x_i · 0 = 0` for every input, as bellman adds them.
//!
//! Circuits may make parts of the synthesis in constraint systems of their own (`new`), whose first input is
//! the constant one again, and join them (`extend`). A part that needs neither the constant one nor an input
//! may go without; the first input of any other is taken for the constant one, whatever its value.
//!
//! A constraint may only use variables that its own constraint system has allocated. One that uses another is
//! recorded and evaluated without it, and the synthesis ends with an error that names the first such use:
//! [`SynthesisError::IoError`] of kind `InvalidInput`.

mod collector;
mod evaluator;
mod fault;
mod matrix;
mod recorder;
mod system;
mod variables;
mod witness;

pub use bellpepper_core::{
    Circuit, ConstraintSystem, Index, LinearCombination, Namespace, SynthesisError, Variable,
};
pub use collector::Collector;
pub use evaluator::{Evaluation, Evaluations, Evaluator};
pub use matrix::{CoefficientTable, MINUS_ONE, PLUS_ONE, SparseMatrix};
pub use recorder::Recorder;
pub use system::{R1cs, Shape, Unsatisfied};
pub use variables::VariableSet;
pub use witness::{CODES_PER_WORD, Code, CompactWitness};
