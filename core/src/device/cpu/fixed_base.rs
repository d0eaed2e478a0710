//! Many multiples of one point, from a table of its multiples.

use blstrs::Scalar;
use group::{Curve, Group};
use rayon::prelude::*;

use super::sum::sum_runs;
use crate::curve::AffinePoint;
use crate::field::{SCALAR_BITS, scalar_limbs, scalar_window};
use crate::plan;
use crate::secret::SecretVec;

/// Multiples that one task computes: their table look-ups share the inversions of a round.
const TASK: usize = 256;

/// The points s·base, in order.
pub(super) fn multiples<P: AffinePoint>(base: &P, scalars: &[Scalar]) -> Vec<P> {
    let bits = plan::fixed_base_window(scalars.len());
    let table = Table::new(base, bits);
    scalars.par_chunks(TASK).flat_map_iter(|part| table.multiples(part)).collect()
}

/// d·2^(bits·w)·P for each window w and each digit d in 1..2^bits.
struct Table<P> {
    bits: usize,
    windows: Vec<Vec<P>>,
}

impl<P: AffinePoint> Table<P> {
    fn new(base: &P, bits: usize) -> Self {
        let mut start = base.to_curve();
        let starts: Vec<P::Projective> = (0..SCALAR_BITS.div_ceil(bits))
            .map(|_| {
                let this = start;
                (0..bits).for_each(|_| start = start.double());
                this
            })
            .collect();
        let windows = starts
            .into_par_iter()
            .map(|start| {
                let mut multiple = start;
                let multiples: Vec<P::Projective> = (1..1usize << bits)
                    .map(|_| {
                        let this = multiple;
                        multiple += start;
                        this
                    })
                    .collect();
                let mut affine = vec![P::identity(); multiples.len()];
                P::Projective::batch_normalize(&multiples, &mut affine);
                affine
            })
            .collect();
        Table { bits, windows }
    }

    fn multiples(&self, scalars: &[Scalar]) -> Vec<P> {
        let limbs: SecretVec<[u64; 4]> = scalars.iter().map(scalar_limbs).collect();
        let windows = self.windows.len();
        let look_up = |i: usize| {
            let (scalar, window) = (i / windows, i % windows);
            match scalar_window(&limbs[scalar], window * self.bits, self.bits) {
                0 => P::identity(),
                digit => self.windows[window][digit - 1],
            }
        };
        sum_runs(look_up, vec![windows as u32; scalars.len()])
    }
}
