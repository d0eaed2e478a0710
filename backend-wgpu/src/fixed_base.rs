//! Many multiples of one point, from a table of its multiples.

use std::future::Future;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, FR_WORDS, Group as Curve, point_words, unpack_points};
use bellwether_core::device::DeviceError;
use bellwether_core::field::SCALAR_BITS;
use bellwether_shaders::params;
use group::{Curve as _, Group};

use crate::buffer::{Buffer, Secrecy, Span};
use crate::gpu::Gpu;
use crate::pending::Pending;
use crate::sums::{ADD_AFFINE_COST, GROUP, coordinate_cost, normalize, point_words_of, sum_words_of};
use crate::vector::Scalars;

/// Bits of a window: 32 windows of 256 multiples, 1.5 MiB of sums in G1.
const WINDOW_BITS: usize = 8;

/// Bytes of the multiples that are computed and read at once: a submit reads one such block.
const BLOCK_BYTES: usize = 12 << 20;

/// The points s·base, in order.
pub(crate) fn multiples<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    base: &P,
    scalars: &Scalars,
) -> impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<P> {
    let blocks = enqueue(gpu, base, scalars);
    async move {
        let mut points = Vec::new();
        for block in blocks? {
            let block = unpack_points::<P>(&block.await?).map_err(|error| DeviceError::Launch {
                operation: format!("multiples in {}", P::GROUP),
                reason: error.to_string(),
            })?;
            points.extend(block);
        }
        Ok(points)
    }
}

fn enqueue<P: AffinePoint>(gpu: &Arc<Gpu>, base: &P, scalars: &Scalars) -> Result<Vec<Pending>, DeviceError> {
    if scalars.len() == 0 {
        return Ok(Vec::new());
    }
    let block = (BLOCK_BYTES / P::GROUP.packed_bytes())
        .min((gpu.limits().binding / (4 * sum_words_of(P::GROUP) as u64)).max(1) as usize);
    let bits = window_bits(P::GROUP, gpu.limits().binding);
    let table = table(gpu, base, bits)?;
    let mut blocks = Vec::new();
    for part in scalars.parts() {
        let len = part.words() / FR_WORDS;
        for first in (0..len).step_by(block) {
            blocks.push(multiply(
                gpu,
                P::GROUP,
                (&table, bits),
                &part.span(),
                first,
                block.min(len - first),
            )?);
        }
    }
    Ok(blocks)
}

/// Bits of a window whose table, as sums, fits a binding.
fn window_bits(group: Curve, binding: u64) -> usize {
    let fits = |bits: &usize| (windows(*bits) << bits) as u64 * 4 * sum_words_of(group) as u64 <= binding;
    (1..=WINDOW_BITS).rev().find(fits).unwrap_or(1)
}

/// Windows of a scalar.
fn windows(bits: usize) -> usize {
    SCALAR_BITS.div_ceil(bits)
}

/// d·2^(bits·w)·P at w·2^bits + d, in device form.
fn table<P: AffinePoint>(gpu: &Arc<Gpu>, base: &P, bits: usize) -> Result<Buffer, DeviceError> {
    let windows = windows(bits);
    let mut start = base.to_curve();
    let starts: Vec<P::Projective> = (0..windows)
        .map(|_| {
            let this = start;
            (0..bits).for_each(|_| start = start.double());
            this
        })
        .collect();
    let mut affine = vec![P::identity(); windows];
    P::Projective::batch_normalize(&starts, &mut affine);

    let (group, count) = (Some(P::GROUP), windows << bits);
    let packed = gpu.upload(point_words(&affine), Secrecy::Public)?;
    let starts = gpu.alloc(packed.words(), Secrecy::Public)?;
    let convert = params::PointsConvert { count: 2 * windows as u32, to_packed: 0 };
    let cost = GROUP as u64 * coordinate_cost(P::GROUP);
    gpu.run(group, convert, &[&packed.span(), &starts.span()], (2 * windows).div_ceil(GROUP), cost)?;
    let sums = gpu.alloc(count * sum_words_of(P::GROUP), Secrecy::Public)?;
    let params = params::FixedBaseTable { count: count as u32, bits: bits as u32 };
    let cost = GROUP as u64 * 2 * ADD_AFFINE_COST * bits as u64 * coordinate_cost(P::GROUP);
    gpu.run(group, params, &[&starts.span(), &sums.span()], count.div_ceil(GROUP), cost)?;
    let table = gpu.alloc(count * point_words_of(P::GROUP), Secrecy::Public)?;
    normalize(gpu, P::GROUP, &sums.span(), count, &table.span(), 0, false)?;
    Ok(table)
}

/// The multiples by `len` scalars of a part from `first` on, on their way to the host.
fn multiply(
    gpu: &Arc<Gpu>,
    group: Curve,
    (table, bits): (&Buffer, usize),
    scalars: &Span,
    first: usize,
    len: usize,
) -> Result<Pending, DeviceError> {
    let sums = gpu.alloc(len * sum_words_of(group), Secrecy::Secret)?;
    let params = params::FixedBaseMultiply {
        count: len as u32,
        first: first as u32,
        bits: bits as u32,
        windows: windows(bits) as u32,
    };
    let cost = GROUP as u64 * windows(bits) as u64 * ADD_AFFINE_COST * coordinate_cost(group);
    gpu.run(Some(group), params, &[scalars, &table.span(), &sums.span()], len.div_ceil(GROUP), cost)?;
    let points = gpu.alloc(len * point_words_of(group), Secrecy::Secret)?;
    normalize(gpu, group, &sums.span(), len, &points.span(), 0, true)?;
    Ok(gpu.read(&points.span()))
}
