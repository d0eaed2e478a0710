//! The sum of chosen bases.

use rayon::prelude::*;

use super::sum::sum_runs;
use crate::curve::{AffinePoint, identity};

/// Bases that one task adds at least: below, the additions do not repay the task.
const MIN_TASK: usize = 512;

/// Σ bases\[i\] over the positions i.
pub(super) fn sum_of<P: AffinePoint>(bases: &[P], positions: &[u32]) -> P::Projective {
    let task = positions.len().div_ceil(rayon::current_num_threads()).max(MIN_TASK);
    let sums: Vec<P> = positions
        .par_chunks(task)
        .flat_map_iter(|part| sum_runs(|i| bases[part[i] as usize], vec![part.len() as u32]))
        .collect();
    sums.iter().fold(identity::<P>(), |sum, part| sum + part)
}
