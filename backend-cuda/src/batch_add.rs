//! The sum of the bases whose scalar is one.

use std::future::Future;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, identity};
use bellwether_core::device::DeviceError;

use crate::bases::Bases;
use crate::gpu::Gpu;
use crate::msm::addressable;
use crate::select::Selection;
use crate::sums::plan::{Terms, plan};
use crate::sums::{Buckets, Weighed};

/// Σ bases\[i\] over the positions i at which the selection has ones.
pub(crate) fn batch_add<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    selection: &Selection,
) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
    finish::<P>(sum(gpu, bases, selection, &Terms::of(gpu, P::GROUP)))
}

/// Awaits an enqueued sum.
async fn finish<P: AffinePoint>(
    weighed: Result<Option<Weighed>, DeviceError>,
) -> Result<P::Projective, DeviceError> {
    match weighed? {
        // A single bucket, which counts once.
        Some(weighed) => weighed.join::<P>(0).await,
        None => Ok(identity::<P>()),
    }
}

/// Enqueues the sum; `None` if there is nothing to add. The list of ones is that of the entries of a single bucket.
fn sum<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    selection: &Selection,
    terms: &Terms,
) -> Result<Option<Weighed>, DeviceError> {
    let ones = selection.ones();
    if ones.len() == 0 {
        return Ok(None);
    }
    addressable(bases)?;
    let plan = plan(ones.len(), 1, 1, 1, terms);
    let mut bucket = Buckets::new(gpu, P::GROUP, 1, 1, plan)?;
    let most = bucket.plan().units;
    for first in (0..ones.len()).step_by(most) {
        let count = most.min(ones.len() - first);
        gpu.write(bucket.offsets(), 0, &[0, count as u32])?;
        bucket.add(bases.points().at(0), ones.buffer().at(first))?;
    }
    bucket.weigh().map(Some)
}

/// It is tested with the products (`msm/tests.rs`).
#[cfg(test)]
pub(crate) mod tests {
    use pollster::block_on;

    use super::*;

    /// The sum on given terms.
    pub(crate) fn batch_add_on<P: AffinePoint>(
        gpu: &Arc<Gpu>,
        bases: &Bases<P>,
        selection: &Selection,
        terms: &Terms,
    ) -> P::Projective {
        block_on(finish::<P>(sum(gpu, bases, selection, terms))).unwrap()
    }
}
