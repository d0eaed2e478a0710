//! Membership of many points in the subgroup of order r.

use group::Curve;
use rand_core::{OsRng, RngCore};
use rayon::prelude::*;

use super::encoding::Refused;
use super::error::PointFault;
use crate::curve::{AffinePoint, identity};

/// Points checked together. On 2 busy cores Sapling Spend takes 6 s so, 17 to 22 s point by point.
pub(super) const BATCH_POINTS: usize = 1 << 17;

/// Fewer points than these are checked one by one: the buckets would cost more than they save.
const BATCH_MINIMUM: usize = 1 << 13;

/// Rounds of a batch; each lets wrong points pass with probability 1/[`BUCKETS`] at most, all of them 2^-128.
const ROUNDS: usize = 16;

/// Buckets of a round: a random byte names one.
const BUCKETS: usize = 256;

/// Checks that every point, all of them on the curve, lies in the subgroup of order r, in parallel.
/// `checked` is told of points done, in sixteenths of a point, from any thread.
///
/// A round adds each point to a bucket chosen at random and checks the buckets' sums. Let a point Q be outside
/// the subgroup, and all other points have their buckets: for the round to pass, every sum without Q but one
/// must be in the subgroup, and Q must meet just that one, which it does with probability 1/256. The
/// choices come from the operating system's generator, so that nobody can make points that fit them.
///
/// # Errors
/// The first point outside, named after checking one by one.
pub(super) fn check<P: AffinePoint>(points: &[P], checked: impl Fn(usize) + Sync) -> Result<(), Refused> {
    for (batch, points) in points.chunks(BATCH_POINTS).enumerate() {
        let passes = if points.len() < BATCH_MINIMUM {
            let refused = check_singly(points);
            checked(points.len() * ROUNDS);
            refused
        } else {
            let passed = (0..ROUNDS).into_par_iter().all(|_| {
                let passed = round_passes(points);
                checked(points.len());
                passed
            });
            if passed { Ok(()) } else { check_singly(points) }
        };
        passes.map_err(|(index, fault)| (batch * BATCH_POINTS + index, fault))?;
    }
    Ok(())
}

/// Whether the sums of random buckets are in the subgroup; `false` too if there is no randomness.
fn round_passes<P: AffinePoint>(points: &[P]) -> bool {
    let mut buckets = [identity::<P>(); BUCKETS];
    let mut choices = [0; 1024];
    for points in points.chunks(choices.len()) {
        if OsRng.try_fill_bytes(&mut choices).is_err() {
            return false;
        }
        for (point, &choice) in points.iter().zip(&choices) {
            buckets[usize::from(choice)] += point;
        }
    }
    buckets.iter().all(|sum| sum.to_affine().is_in_subgroup())
}

fn check_singly<P: AffinePoint>(points: &[P]) -> Result<(), Refused> {
    let outside = points.par_iter().position_first(|point| !point.is_in_subgroup());
    outside.map_or(Ok(()), |index| Err((index, PointFault::NotInSubgroup)))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use blstrs::{Fp, G1Affine, G2Affine};
    use group::prime::PrimeCurveAffine;

    use super::*;
    use crate::key::tests::{outside_subgroup_g1, outside_subgroup_g2};

    /// Checks `len` good points with others put among them.
    fn check_with<P: AffinePoint>(len: usize, others: &[(usize, P)]) -> Result<(), Refused> {
        let mut points = vec![P::generator(); len];
        for &(at, point) in others {
            points[at] = point;
        }
        let done = AtomicUsize::new(0);
        let result = check(&points, |sixteenths| {
            done.fetch_add(sixteenths, Ordering::Relaxed);
        });
        assert!(result.is_err() || done.into_inner() == len * 16);
        result
    }

    fn names_the_first_outside<P: AffinePoint + std::ops::Neg<Output = P>>(outside: P) {
        for len in [0, 1, 100, BATCH_MINIMUM - 1, BATCH_MINIMUM, BATCH_MINIMUM + 1] {
            check_with::<P>(len, &[]).expect("good points");
        }
        for len in [100, BATCH_MINIMUM] {
            for others in [
                &[(len - 1, outside)][..],
                // What a plain sum would not see.
                &[(len / 3, outside), (len / 3 + 1, -outside)],
                &[(7, -outside), (len - 1, outside)],
            ] {
                assert_eq!(check_with(len, others), Err((others[0].0, PointFault::NotInSubgroup)));
            }
        }
    }

    #[test]
    fn names_the_first_outside_in_g1() {
        names_the_first_outside::<G1Affine>(outside_subgroup_g1());
    }

    #[test]
    fn names_the_first_outside_in_g2() {
        names_the_first_outside::<G2Affine>(outside_subgroup_g2());
    }

    #[test]
    fn sees_components_of_small_order() {
        // (0, 2) has order 3: a combination with random coefficients misses it in a third of all cases.
        let order_three = G1Affine::from_coordinates(Fp::from(0), Fp::from(2));
        for count in 1..=6 {
            let others: Vec<_> = (0..count).map(|index| (100 * index + 5, order_three)).collect();
            assert_eq!(check_with(BATCH_MINIMUM, &others), Err((5, PointFault::NotInSubgroup)));
        }
    }

    #[test]
    fn counts_over_batches() {
        let at = BATCH_POINTS + 3;
        assert_eq!(
            check_with(BATCH_POINTS + 10, &[(at, outside_subgroup_g1())]),
            Err((at, PointFault::NotInSubgroup))
        );
        check_with(BATCH_POINTS + 10, &[(at, G1Affine::identity())]).expect("neutral");
    }
}
