//! The points of a query, made resident in segments that each fit a binding, with multiples of them where memory allows.

use std::marker::PhantomData;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, Group, point_words};
use bellwether_core::device::DeviceError;
use bellwether_core::key::Points;
use bellwether_core::plan::{BasesLimits, BasesPlan, gpu_bases};
use bellwether_shaders::params;

use crate::buffer::{Buffer, Secrecy, Span};
use crate::gpu::Gpu;
use crate::sums::{GROUP, coordinate_cost, normalize, point_words_of, sum_words_of};

/// Points that are uploaded, or multiplied, at once: 24 MiB of G1.
const BLOCK: usize = 1 << 18;

/// Multiplications of a doubling.
const DOUBLE_COST: u64 = 9;

/// The points of a query.
#[derive(Debug)]
pub struct Bases<P> {
    plan: BasesPlan,
    segments: Vec<Segment>,
    len: usize,
    group: PhantomData<P>,
}

/// Consecutive points, table by table: multiple t of point i of the segment stands at t·len + i.
#[derive(Debug)]
pub(crate) struct Segment {
    points: Buffer,
    /// Position in the query of the first point.
    pub(crate) first: usize,
    /// Points of a table.
    pub(crate) len: usize,
}

impl Segment {
    /// All tables.
    pub(crate) fn points(&self) -> Span {
        self.points.span()
    }

    /// The points themselves.
    pub(crate) fn first_table(&self, group: Group) -> Span {
        self.points.range(0..self.len * point_words_of(group))
    }
}

impl<P: AffinePoint> Bases<P> {
    /// Uploads points and computes multiples of them.
    ///
    /// # Errors
    /// [`DeviceError::Key`] if the points cannot be read, or the device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, points: &Points<P>) -> Result<Self, DeviceError> {
        let len = points.len();
        let plan = gpu_bases(len, P::GROUP, &limits(gpu, len, P::GROUP));
        let point_bytes = P::GROUP.packed_bytes() as u64;
        let segment_len = (gpu.limits().binding / (plan.tables as u64 * point_bytes)).max(1) as usize;
        let mut segments = Vec::with_capacity(len.div_ceil(segment_len));
        for first in (0..len).step_by(segment_len) {
            segments.push(upload_segment(gpu, points, &plan, first, segment_len.min(len - first))?);
        }
        Ok(Bases { plan, segments, len, group: PhantomData })
    }

    /// Windows and tables.
    pub(crate) fn plan(&self) -> &BasesPlan {
        &self.plan
    }

    /// The segments in order.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Points of the query.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// What the tables of a query of `len` bases may take: a quarter of the memory that is free then, so that the five
/// queries of a key leave a quarter of it for the work, and nothing of what proofs over as many bases need at least. A
/// software adapter shares its memory and time with the host, and all tables together cost as many multiplications as
/// they save in some ten proofs: it gets none, unless the options ask for them.
fn limits(gpu: &Gpu, len: usize, group: Group) -> BasesLimits {
    /// What is taken to be free where nothing can be told.
    const UNKNOWN: u64 = 2 << 30;
    /// Work space whatever the size.
    const LEAST: u64 = 64 << 20;
    // The other queries and the work take some fifteen times as much as one query.
    let reserved = 16 * (len * group.packed_bytes()) as u64 + LEAST;
    let free = gpu.memory_free().unwrap_or(UNKNOWN).saturating_sub(reserved);
    let tables = gpu.multiples().unwrap_or(!gpu.is_software());
    BasesLimits { tables: if tables { free / 4 } else { 0 }, buffer: gpu.limits().binding }
}

fn upload_segment<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    points: &Points<P>,
    plan: &BasesPlan,
    first: usize,
    len: usize,
) -> Result<Segment, DeviceError> {
    let words = point_words_of(P::GROUP);
    let segment = Segment { points: gpu.alloc(plan.tables * len * words, Secrecy::Public)?, first, len };
    let mut block = vec![P::identity(); BLOCK.min(len)];
    for start in (0..len).step_by(BLOCK) {
        let block = &mut block[..BLOCK.min(len - start)];
        points.read(first + start, block).map_err(|error| DeviceError::Key { reason: error.to_string() })?;
        let packed = gpu.upload(point_words(block), Secrecy::Public)?;
        let to = segment.points.range(start * words..(start + block.len()) * words);
        let params = params::PointsConvert { count: 2 * block.len() as u32, to_packed: 0 };
        let groups = (2 * block.len()).div_ceil(GROUP);
        gpu.run(
            Some(P::GROUP),
            params,
            &[&packed.span(), &to],
            groups,
            GROUP as u64 * coordinate_cost(P::GROUP),
        )?;
    }
    for table in 1..plan.tables {
        multiply(gpu, P::GROUP, plan, &segment, table)?;
    }
    gpu.flush()?;
    Ok(segment)
}

/// Computes a table from the one before: each point doubled c·sets times.
fn multiply(
    gpu: &Arc<Gpu>,
    group: Group,
    plan: &BasesPlan,
    segment: &Segment,
    table: usize,
) -> Result<(), DeviceError> {
    let len = segment.len;
    let times = plan.window_bits * plan.sets;
    let sums = gpu.alloc(BLOCK.min(len) * sum_words_of(group), Secrecy::Public)?;
    for start in (0..len).step_by(BLOCK) {
        let count = BLOCK.min(len - start);
        let params = params::PointsDouble {
            count: count as u32,
            times: times as u32,
            first: ((table - 1) * len + start) as u32,
        };
        let cost = GROUP as u64 * DOUBLE_COST * times as u64 * coordinate_cost(group);
        // The program reads one table and writes another buffer; the next one writes where this one reads.
        gpu.run(Some(group), params, &[&segment.points(), &sums.span()], count.div_ceil(GROUP), cost)?;
        normalize(gpu, group, &sums.span(), count, &segment.points(), table * len + start, false)?;
    }
    Ok(())
}
