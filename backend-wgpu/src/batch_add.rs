//! The sum of the bases whose scalar is one.

use std::future::Future;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, identity};
use bellwether_core::device::DeviceError;
use bellwether_core::plan::gpu_batch_add_run;
use bellwether_shaders::params;

use crate::bases::Bases;
use crate::buffer::Secrecy;
use crate::gpu::Gpu;
use crate::select::Selection;
use crate::sums::{ADD_AFFINE_COST, GROUP, coordinate_cost, fold, read, sum_words_of};

/// Σ bases\[i\] over the positions i at which the selection has ones.
pub(crate) fn batch_add<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    selection: &Selection,
) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
    let sum = enqueue::<P>(gpu, bases, selection);
    async move {
        match sum? {
            Some(sum) => Ok(sum.await?.into_iter().fold(identity::<P>(), |sum, point| sum + point)),
            None => Ok(identity::<P>()),
        }
    }
}

/// `None` if there is nothing to add.
fn enqueue<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    selection: &Selection,
) -> Result<Option<impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<P>>, DeviceError> {
    let ones = selection.ones();
    if ones.len() == 0 {
        return Ok(None);
    }
    // Each part of the list with each segment it reaches into, and the positions that may be in both.
    let pieces: Vec<_> = ones
        .parts()
        .iter()
        .flat_map(|part| {
            let reached = bases.segments().iter().filter(|segment| {
                segment.first < part.positions.end && part.positions.start < segment.first + segment.len
            });
            reached.map(move |segment| (part, segment, part.len.min(segment.len)))
        })
        .collect();
    let words = sum_words_of(P::GROUP);
    let partials_of = |run: usize| -> usize {
        pieces.iter().map(|(_, _, len)| len.div_ceil(run)).sum::<usize>().next_power_of_two()
    };
    /// No invocation may loop too often: lavapipe ends it silently.
    const LONGEST_RUN: usize = 1 << 12;
    // Runs so long that the partial sums fit a binding.
    let most = gpu.limits().binding / (4 * words as u64);
    let mut run = gpu_batch_add_run(ones.len());
    while partials_of(run) as u64 > most && run < LONGEST_RUN {
        run *= 2;
    }
    if partials_of(run) as u64 > most {
        return Err(DeviceError::Unsupported {
            what: format!("a sum over {} bases in {}", bases.len(), P::GROUP),
            why: format!("with bindings of {} bytes they are in too many segments", gpu.limits().binding),
        });
    }
    let partials = partials_of(run);
    let sums = gpu.alloc(partials * words, Secrecy::Secret)?.span();
    gpu.clear(&sums)?;
    let mut first = 0;
    for (part, segment, len) in pieces {
        let count = len.div_ceil(run);
        let params = params::BatchAdd {
            count: count as u32,
            run: run as u32,
            length: part.len as u32,
            bases_first: segment.first as u32,
            bases_count: segment.len as u32,
            first,
        };
        let cost = GROUP as u64 * run as u64 * ADD_AFFINE_COST * coordinate_cost(P::GROUP);
        let buffers = [&segment.first_table(P::GROUP), &part.span, &sums];
        gpu.run(Some(P::GROUP), params, &buffers, count.div_ceil(GROUP), cost)?;
        first += count as u32;
    }
    let (sum, _) = fold(gpu, P::GROUP, sums, 1, partials.trailing_zeros(), false)?;
    read::<P>(gpu, &sum, 1).map(Some)
}
