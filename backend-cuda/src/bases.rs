//! The points of a query, made resident, with multiples of them where memory allows.

use std::marker::PhantomData;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, Group, point_words};
use bellwether_core::device::DeviceError;
use bellwether_core::key::Points;
use bellwether_core::plan::{BasesLimits, BasesPlan, gpu_bases};
use bellwether_kernels::table::multiples::{DOUBLE_POINTS, DoublePoints, NORMALIZE_SUMS, NormalizeSums};
use bellwether_kernels::{Address, of_group};

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;
use crate::sums;

/// Points that are uploaded, or multiplied, at once: 24 MiB of G1, and five times the threads that an H200 runs at one
/// time.
const BLOCK: usize = 1 << 18;

/// The points of a query. Multiple t of point i stands at t·len + i.
#[derive(Debug)]
pub struct Bases<P> {
    plan: BasesPlan,
    points: Buffer,
    len: usize,
    group: PhantomData<P>,
}

impl<P: AffinePoint> Bases<P> {
    /// Uploads points and computes multiples of them.
    ///
    /// # Errors
    /// [`DeviceError::Key`] if the points cannot be read, or the device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, points: &Points<P>) -> Result<Self, DeviceError> {
        let plan = gpu_bases(points.len(), P::GROUP, &limits(gpu, points.len(), P::GROUP));
        Self::upload_in_blocks(gpu, points, plan, BLOCK)
    }

    fn upload_in_blocks(
        gpu: &Arc<Gpu>,
        points: &Points<P>,
        plan: BasesPlan,
        block_len: usize,
    ) -> Result<Self, DeviceError> {
        let (len, words) = (points.len(), sums::point_words(P::GROUP));
        let buffer = gpu.alloc(plan.tables * len * words, Secrecy::Public)?;
        let mut block = vec![P::identity(); block_len.min(len)];
        for first in (0..len).step_by(block_len) {
            let block = &mut block[..block_len.min(len - first)];
            points.read(first, block).map_err(|error| DeviceError::Key { reason: error.to_string() })?;
            gpu.write(&buffer, first * words, point_words(block))?;
        }
        let bases = Bases { plan, points: buffer, len, group: PhantomData };
        bases.multiply(gpu, block_len)?;
        Ok(bases)
    }

    /// Computes each table from the one before: each point doubled c·sets times.
    fn multiply(&self, gpu: &Arc<Gpu>, block_len: usize) -> Result<(), DeviceError> {
        if self.plan.tables < 2 {
            return Ok(());
        }
        let (group, words) = (P::GROUP, sums::point_words(P::GROUP));
        let kernel = of_group(&DOUBLE_POINTS, group);
        let doubled = gpu.alloc(block_len.min(self.len) * sums::sum_words(group), Secrecy::Public)?;
        for table in 1..self.plan.tables {
            for first in (0..self.len).step_by(block_len) {
                let count = block_len.min(self.len - first);
                let parameters = DoublePoints {
                    points: self.points.at(((table - 1) * self.len + first) * words),
                    sums: doubled.at(0),
                    count: count as u64,
                    times: (self.plan.window_bits * self.plan.sets) as u32,
                };
                gpu.launch(kernel, count.div_ceil(kernel.threads() as usize), &parameters)?;
                let to = self.points.at((table * self.len + first) * words);
                normalize(gpu, group, doubled.at(0), to, count)?;
            }
        }
        Ok(())
    }

    /// Windows and tables.
    pub(crate) fn plan(&self) -> &BasesPlan {
        &self.plan
    }

    /// All tables; the first holds the points themselves.
    pub(crate) fn points(&self) -> &Buffer {
        &self.points
    }

    /// Points of the query.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// Makes affine points of `count` sums; both are addresses of so many.
///
/// # Errors
/// The device's.
pub(crate) fn normalize(
    gpu: &Gpu,
    group: Group,
    sums: Address,
    points: Address,
    count: usize,
) -> Result<(), DeviceError> {
    /// Sums that share an inversion: it takes as long as some thirty multiplications, a sum takes eight.
    const SHARING: usize = 16;
    let kernel = of_group(&NORMALIZE_SUMS, group);
    let block = kernel.threads() as usize;
    let threads = count.div_ceil(SHARING).max(gpu.multiprocessors() * block).min(count);
    let parameters = NormalizeSums { sums, points, count: count as u64, threads: threads as u64 };
    gpu.launch(kernel, threads.div_ceil(block), &parameters)
}

/// What the tables of a query of `len` bases may take: a quarter of the memory that is free then, so that the five
/// queries of a key leave a quarter of it for the work, and nothing of what proofs over as many bases need at least.
/// The host build has no memory of its own, and all tables together cost as many multiplications as they save in some
/// ten proofs: it gets none, unless the options ask for them.
fn limits(gpu: &Gpu, len: usize, group: Group) -> BasesLimits {
    /// What is taken to be free where nothing can be told.
    const UNKNOWN: u64 = 4 << 30;
    /// Work space whatever the size.
    const LEAST: u64 = 64 << 20;
    /// Buckets take no more than this: 2^22 of them in G1 and 2^21 in G2 take 0.8 GB, and larger windows win nothing.
    const BUCKETS: u64 = 2 << 30;
    /// Points that an entry of a multi-scalar product can name, beside its sign.
    const ENTRIES: u64 = (1 << 31) - 1;
    let point = group.packed_bytes() as u64;
    let unused = gpu.memory_free().unwrap_or(UNKNOWN);
    // The other queries and the work take some fifteen times as much as one query.
    let free = unused.saturating_sub(16 * len as u64 * point + LEAST);
    let wanted = gpu.options().tables.unwrap_or(!gpu.is_software());
    let tables = if wanted { (free / 4).min(ENTRIES * point) } else { 0 };
    BasesLimits { tables, buffer: (unused / 16).clamp(1 << 20, BUCKETS) }
}

#[cfg(test)]
mod tests {
    use bellwether_core::curve::{G1Affine, G2Affine, unpack_points};
    use group::prime::PrimeCurveAffine;
    use group::{Curve, Group as _};

    use super::*;
    use crate::gpu::tests::{open, open_with};
    use crate::options::CudaOptions;

    /// Small multiples of the generator, with infinity and opposite points among them.
    fn points<P: AffinePoint>(len: usize) -> Vec<P> {
        let mut sum = P::identity().to_curve();
        let sums: Vec<P::Projective> = (0..len)
            .map(|i| {
                sum += P::generator();
                match i % 5 {
                    3 => P::identity().to_curve(),
                    4 => -sum,
                    _ => sum,
                }
            })
            .collect();
        let mut points = vec![P::identity(); len];
        P::Projective::batch_normalize(&sums, &mut points);
        points
    }

    fn tables_hold_multiples<P: AffinePoint>(len: usize, block_len: usize, plan: BasesPlan) {
        let gpu = open();
        let given = points::<P>(len);
        let bases = Bases::upload_in_blocks(&gpu, &Points::from(given.clone()), plan, block_len).unwrap();
        let words = pollster::block_on(gpu.read(bases.points(), 0..bases.points().words())).unwrap();
        let found = unpack_points::<P>(&words).unwrap();
        assert_eq!(found.len(), plan.tables * len);
        let mut expected: Vec<P::Projective> = given.iter().map(PrimeCurveAffine::to_curve).collect();
        for (table, found) in found.chunks(len.max(1)).enumerate() {
            let mut affine = vec![P::identity(); len];
            P::Projective::batch_normalize(&expected, &mut affine);
            assert!(found == affine, "table {table} of {len} points in {}", P::GROUP);
            for point in &mut expected {
                for _ in 0..plan.window_bits * plan.sets {
                    *point = point.double();
                }
            }
        }
    }

    #[test]
    fn tables_hold_multiples_of_powers_of_two() {
        let plan = |window_bits, windows, sets, tables| BasesPlan { window_bits, windows, sets, tables };
        for len in [0, 1, 2, 127, 128, 1000] {
            tables_hold_multiples::<G1Affine>(len, BLOCK, plan(13, 20, 1, 3));
            tables_hold_multiples::<G1Affine>(len, BLOCK, plan(2, 128, 128, 1));
        }
        for len in [1, 300] {
            tables_hold_multiples::<G2Affine>(len, BLOCK, plan(5, 51, 2, 3));
        }
        // A single doubling.
        tables_hold_multiples::<G1Affine>(3, BLOCK, plan(1, 255, 1, 4));
    }

    /// More sums than threads, so that they share inversions; several blocks.
    #[test]
    fn many_points() {
        let plan = BasesPlan { window_bits: 1, windows: 255, sets: 1, tables: 2 };
        tables_hold_multiples::<G1Affine>(7001, 3000, plan);
    }

    #[test]
    fn tables_are_made_where_they_are_asked_for() {
        let given = Points::from(points::<G1Affine>(100));
        let with = |options| *Bases::upload(&open_with(options), &given).unwrap().plan();
        let none = with(CudaOptions::default());
        assert_eq!((none.tables, none.sets), (1, none.windows));
        let all = with(CudaOptions { tables: Some(true), ..CudaOptions::default() });
        assert_eq!((all.tables, all.sets), (all.windows, 1));
        let small =
            CudaOptions { tables: Some(true), memory_limit: Some(64 << 20), ..CudaOptions::default() };
        assert_eq!(with(small).tables, 1);
    }

    #[test]
    fn limits_keep_entries_addressable() {
        let options = CudaOptions { tables: Some(true), ..CudaOptions::default() };
        let gpu = open_with(options);
        for group in Group::ALL {
            let limits = limits(&gpu, 1 << 20, group);
            assert!(limits.tables / (group.packed_bytes() as u64) < 1 << 31);
            assert!(limits.buffer >= 128 << 10);
        }
    }
}
