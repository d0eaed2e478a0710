//! A chain of cubes: every scalar dense, the evaluation domain full.

use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field;

/// Proves knowledge of x with x^(3^steps) = y, for a public y. Each step squares and multiplies.
///
/// Every variable but the constant one is a large field element, the worst case for a multi-scalar product.
#[derive(Clone, Debug)]
pub struct CubicChain {
    steps: usize,
    start: Scalar,
}

impl CubicChain {
    /// The chain whose 2·steps constraints and two inputs fill a domain of 2^log_size rows to the last row.
    pub fn filling(log_size: u32, start: Scalar) -> Self {
        CubicChain { steps: (1 << (log_size - 1)) - 1, start }
    }
}

impl Circuit<Scalar> for CubicChain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = self.start;
        let mut variable = cs.alloc(|| "x", || Ok(value))?;
        for step in 1..=self.steps {
            let squared = value.square();
            let square = cs.alloc(|| "square", || Ok(squared))?;
            cs.enforce(|| "square", |lc| lc + variable, |lc| lc + variable, |lc| lc + square);
            let cubed = squared * value;
            let cube = if step == self.steps {
                cs.alloc_input(|| "y", || Ok(cubed))?
            } else {
                cs.alloc(|| "cube", || Ok(cubed))?
            };
            cs.enforce(|| "cube", |lc| lc + square, |lc| lc + variable, |lc| lc + cube);
            (value, variable) = (cubed, cube);
        }
        Ok(())
    }
}
