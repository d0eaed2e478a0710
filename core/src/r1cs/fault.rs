//! What a circuit did wrong while it was synthesised, kept until the end, where it is an error.
//!
//! `enforce` and `extend` return nothing, so that a fault they find has to wait in the constraint system.

use std::io;

use bellpepper_core::{Index, SynthesisError};

/// The most inputs, and the most auxiliary variables, of a constraint system: half of the 32-bit range each.
pub(super) const MAX_VARIABLES: usize = (u32::MAX / 2) as usize;

/// The first fault of a circuit, if there was one.
#[derive(Debug, Default)]
pub(super) struct FirstFault(Option<Fault>);

#[derive(Clone, Debug)]
enum Fault {
    /// A constraint uses a variable that was not allocated before it.
    Unallocated {
        /// The constraint's position in this constraint system.
        constraint: usize,
        /// The variable as the circuit named it, in the part of the synthesis that it stood in.
        variable: Index,
        /// The variables of its kind that this part had then.
        count: usize,
    },
    /// There are more than [`MAX_VARIABLES`] of a kind.
    TooManyVariables,
}

impl FirstFault {
    /// Notes that `constraint` uses `variable`, of which kind `count` are allocated.
    #[cold]
    pub(super) fn unallocated(&mut self, constraint: usize, variable: Index, count: usize) {
        self.0.get_or_insert(Fault::Unallocated { constraint, variable, count });
    }

    /// Notes that there are too many variables.
    #[cold]
    pub(super) fn too_many_variables(&mut self) {
        self.0.get_or_insert(Fault::TooManyVariables);
    }

    /// Takes over the fault of a part whose first constraint is this system's constraint `first_constraint`.
    pub(super) fn extend(&mut self, part: &FirstFault, first_constraint: usize) {
        if self.0.is_none() {
            self.0 = part.0.clone();
            if let Some(Fault::Unallocated { constraint, .. }) = &mut self.0 {
                *constraint += first_constraint;
            }
        }
    }

    /// The fault as an error.
    pub(super) fn check(&self) -> Result<(), SynthesisError> {
        let (constraint, kind, index, count) = match self.0 {
            None => return Ok(()),
            Some(Fault::TooManyVariables) => return Err(SynthesisError::PolynomialDegreeTooLarge),
            Some(Fault::Unallocated { constraint, variable: Index::Input(index), count }) => {
                (constraint, "input", index, count)
            }
            Some(Fault::Unallocated { constraint, variable: Index::Aux(index), count }) => {
                (constraint, "auxiliary variable", index, count)
            }
        };
        let text = format!("constraint {constraint} uses {kind} {index}, of {count}");
        Err(SynthesisError::IoError(io::Error::new(io::ErrorKind::InvalidInput, text)))
    }
}

/// The number of variables of a kind when `more` are added to `count`, if there may be so many.
pub(super) fn sum(count: usize, more: usize) -> Option<usize> {
    count.checked_add(more).filter(|&sum| sum <= MAX_VARIABLES)
}

/// The number of inputs after an extension: the first of `more` is the constant one, which a system that has
/// inputs already has.
pub(super) fn sum_of_inputs(count: usize, more: usize) -> Option<usize> {
    sum(count, if count == 0 { more } else { more.saturating_sub(1) })
}

/// The number of variables of a kind after one more.
pub(super) fn next(count: usize) -> Result<usize, SynthesisError> {
    sum(count, 1).ok_or(SynthesisError::PolynomialDegreeTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_end_at_the_limit() {
        assert_eq!(sum(MAX_VARIABLES - 3, 3), Some(MAX_VARIABLES));
        assert_eq!(sum(MAX_VARIABLES - 3, 4), None);
        assert_eq!(sum(1, usize::MAX), None);
        assert_eq!(next(MAX_VARIABLES - 1).ok(), Some(MAX_VARIABLES));
        assert!(matches!(next(MAX_VARIABLES), Err(SynthesisError::PolynomialDegreeTooLarge)));
    }

    #[test]
    fn the_constant_one_counts_once() {
        assert_eq!([(0, 0), (0, 1), (0, 3)].map(|(a, b)| sum_of_inputs(a, b)), [Some(0), Some(1), Some(3)]);
        assert_eq!([(1, 0), (1, 1), (4, 3)].map(|(a, b)| sum_of_inputs(a, b)), [Some(1), Some(1), Some(6)]);
        assert_eq!(sum_of_inputs(MAX_VARIABLES, 1), Some(MAX_VARIABLES));
        assert_eq!(sum_of_inputs(MAX_VARIABLES, 2), None);
    }

    #[test]
    fn the_first_fault_stays() {
        let (mut whole, mut part) = (FirstFault::default(), FirstFault::default());
        whole.extend(&part, 7);
        assert!(whole.check().is_ok());
        part.unallocated(2, Index::Input(3), 1);
        part.too_many_variables();
        whole.extend(&part, 7);
        whole.unallocated(0, Index::Aux(0), 0);
        whole.extend(&part, 8);
        let error = whole.check().expect_err("a fault");
        assert_eq!(error.to_string(), "encountered an I/O error: constraint 9 uses input 3, of 1");
    }
}
