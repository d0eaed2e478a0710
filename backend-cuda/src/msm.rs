//! Multi-scalar multiplication: Pippenger's method over resident tables of multiples.
//!
//! Scalars are cut into signed digits; each digit other than zero is an *entry* that adds a point to a bucket. Entries
//! are counted by bucket and placed in order of their buckets (`entries.cu`), then summed and weighed ([`Buckets`]),
//! and the last few sums are joined on the host. Where the work space is too small for all entries, pieces of the
//! scalars go into the same buckets one after the other.

use std::future::Future;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, FR_WORDS, identity};
use bellwether_core::device::DeviceError;
use bellwether_kernels::Address;
use bellwether_kernels::table::entries::{COUNT_DIGITS, CountDigits, PLACE_ENTRIES, PlaceEntries};

use crate::bases::Bases;
use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;
use crate::scan::exclusive_scan;
use crate::select::Selection;
use crate::sums::plan::{Terms, plan};
use crate::sums::{Buckets, NOWHERE, Weighed, point_words};
use crate::vector::Scalars;

/// Σ scalars\[i\]·bases\[i\].
pub(crate) fn msm<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    scalars: &Scalars,
) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
    let factors = Factors { scalars: scalars.buffer(), list: None, len: bases.len() };
    finish::<P>(product(gpu, bases, factors, &Terms::of(gpu, P::GROUP)), bases.plan().window_bits)
}

/// Σ s·bases\[i\] over the positions i at which the selection has a scalar s other than zero and one.
pub(crate) fn tail_msm<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    selection: &Selection,
) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
    let tail = selection.tail();
    let factors = Factors { scalars: selection.dense().buffer(), list: Some(tail.buffer()), len: tail.len() };
    finish::<P>(product(gpu, bases, factors, &Terms::of(gpu, P::GROUP)), bases.plan().window_bits)
}

/// The scalars of a product.
#[derive(Clone, Copy)]
struct Factors<'a> {
    scalars: &'a Buffer,
    /// Pairs of a base's position and a scalar's, if not every base has a scalar in turn.
    list: Option<&'a Buffer>,
    /// Scalars in turn, or pairs.
    len: usize,
}

impl Factors<'_> {
    /// Where the scalars and the list begin for those from `first` on.
    fn from(&self, first: usize) -> (Address, Address) {
        match self.list {
            None => (self.scalars.at(FR_WORDS * first), NOWHERE),
            Some(list) => (self.scalars.at(0), list.at(2 * first)),
        }
    }
}

/// Enqueues a product; `None` if there is nothing to add.
fn product<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    factors: Factors<'_>,
    terms: &Terms,
) -> Result<Option<Weighed>, DeviceError> {
    if factors.len == 0 {
        return Ok(None);
    }
    let shape = *bases.plan();
    addressable(bases)?;
    let plan = plan(factors.len, shape.windows, shape.sets, shape.buckets(), terms);
    let entries = gpu.alloc(plan.entries, Secrecy::Secret)?;
    let mut buckets = Buckets::new(gpu, P::GROUP, shape.sets, shape.buckets(), plan)?;
    let most = buckets.plan().units;
    for first in (0..factors.len).step_by(most) {
        let count = most.min(factors.len - first);
        sort(gpu, bases, factors, (first, count), &buckets, &entries)?;
        buckets.add(bases.points().at(0), entries.at(0))?;
    }
    buckets.weigh().map(Some)
}

/// Entries say in 31 bits which point they add.
///
/// # Errors
/// [`DeviceError::Unsupported`].
pub(crate) fn addressable<P: AffinePoint>(bases: &Bases<P>) -> Result<(), DeviceError> {
    let points = bases.points().words() / point_words(P::GROUP);
    if points < 1 << 31 {
        return Ok(());
    }
    Err(DeviceError::Unsupported {
        what: format!("a sum over {points} bases and multiples of them in {}", P::GROUP),
        why: "there are fewer than 2^31".into(),
    })
}

/// Places the entries of some scalars in order of their buckets.
fn sort<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    factors: Factors<'_>,
    (first, count): (usize, usize),
    buckets: &Buckets,
    entries: &Buffer,
) -> Result<(), DeviceError> {
    let shape = bases.plan();
    let (offsets, ranks) = (buckets.offsets(), buckets.ranks().at(0));
    gpu.clear(offsets, 0..offsets.words())?;
    let (scalars, list) = factors.from(first);
    let [window_bits, windows, sets] = [shape.window_bits, shape.windows, shape.sets].map(|n| n as u32);
    let parameters = CountDigits {
        scalars,
        list,
        counts: offsets.at(0),
        ranks,
        count: count as u32,
        window_bits,
        windows,
        sets,
    };
    gpu.launch(&COUNT_DIGITS, count.div_ceil(COUNT_DIGITS.threads() as usize), &parameters)?;
    exclusive_scan(gpu, offsets, offsets.words())?;
    let parameters = PlaceEntries {
        scalars,
        list,
        offsets: offsets.at(0),
        ranks,
        entries: entries.at(0),
        count: count as u32,
        first: first as u32,
        table_len: bases.len() as u32,
        window_bits,
        windows,
        sets,
    };
    gpu.launch(&PLACE_ENTRIES, count.div_ceil(PLACE_ENTRIES.threads() as usize), &parameters)
}

/// Awaits and joins the sums of an enqueued product.
async fn finish<P: AffinePoint>(
    weighed: Result<Option<Weighed>, DeviceError>,
    window_bits: usize,
) -> Result<P::Projective, DeviceError> {
    match weighed? {
        Some(weighed) => weighed.join::<P>(window_bits).await,
        None => Ok(identity::<P>()),
    }
}

#[cfg(test)]
mod tests;
