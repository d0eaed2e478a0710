//! Sums of points by bucket, and what the buckets come to.
//!
//! [`Buckets`] takes entries in order of their buckets. Large inputs go first through levels of pairwise additions in
//! affine form, which halve the entries of each bucket; what is left is summed in runs by position (`sums.cuh`).
//! Nothing waits for the device: how many entries there are it knows itself.

use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, Group, identity, unpack_sums};
use bellwether_core::device::DeviceError;
use bellwether_kernels::table::entries::{
    HALVE_OFFSETS, HalveOffsets, PAIR_ENTRIES, PAIRS_OF_BLOCK, PairEntries,
};
use bellwether_kernels::table::points::{
    ACCUMULATE_ENTRIES, ACCUMULATE_POINTS, ADD_PAIRS, AccumulateEntries, AccumulatePoints, AddPairs,
    COMBINE_LAST, COMBINE_PARTIALS, COMBINE_RUN, CombinePartials, FOLD_LAST, FOLD_LISTS, FoldLast, FoldLists,
    INVERT_PRODUCTS, InvertProducts, PAIR_PRODUCTS, PairProducts, WEIGH_CHUNKS, WeighChunks,
};
use bellwether_kernels::{Address, Kernel, Parameters, of_group};
use group::Group as _;

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;
use crate::pending::Pending;
use crate::scan::exclusive_scan;
use plan::{Level, Plan, Terms};

pub(crate) mod plan;

/// The address of nothing.
pub(crate) const NOWHERE: Address = Address(0);

/// Words of an affine point.
pub(crate) fn point_words(group: Group) -> usize {
    group.packed_bytes() / 4
}

/// Words of a sum (X, Y, ZZ, ZZZ).
pub(crate) fn sum_words(group: Group) -> usize {
    group.packed_bytes() / 2
}

impl Terms {
    /// For sums on this device now: at most a quarter of the memory that is free, since several sums may be under way.
    pub(crate) fn of(gpu: &Gpu, group: Group) -> Terms {
        /// What is taken to be free where nothing can be told.
        const UNKNOWN: u64 = 4 << 30;
        /// 2^24 scalars of G1 in one piece take 21 GB; more at once gains nothing.
        const MOST: u64 = 24 << 30;
        /// Less would be many launches for little work.
        const LEAST: u64 = 32 << 20;
        let space = (gpu.memory_free().unwrap_or(UNKNOWN) / 4).clamp(LEAST, MOST);
        Terms { group, multiprocessors: gpu.multiprocessors(), space, levels: None }
    }
}

/// Sets of buckets, and the space in which entries are summed into them.
pub(crate) struct Buckets {
    gpu: Arc<Gpu>,
    group: Group,
    sets: usize,
    /// Of all sets.
    count: usize,
    plan: Plan,
    sums: Buffer,
    /// Where the entries of each bucket begin, and at the end how many they are in all: of those that a level reads,
    /// and of those that it writes.
    offsets: [Buffer; 2],
    pairs: Buffer,
    points: [Buffer; 2],
    before: Buffer,
    products: Buffer,
    before_products: Buffer,
    /// What a level of combining reads, and what it writes.
    partials: [Partials; 2],
    /// Whether the buckets hold sums already.
    resume: bool,
}

/// Partial sums and their keys, a word each.
struct Partials {
    sums: Buffer,
    keys: Buffer,
}

/// Entries, or points where there are none, in order of their buckets.
#[derive(Clone, Copy)]
struct Source<'a> {
    points: Address,
    entries: Address,
    offsets: &'a Buffer,
}

impl Buckets {
    /// Empty buckets.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn new(
        gpu: &Arc<Gpu>,
        group: Group,
        sets: usize,
        buckets: usize,
        plan: Plan,
    ) -> Result<Buckets, DeviceError> {
        let count = sets * buckets;
        let secret = |words: usize| gpu.alloc(words, Secrecy::Secret);
        let partials = |slots: usize| {
            Ok::<_, DeviceError>(Partials { sums: secret(slots * sum_words(group))?, keys: secret(slots)? })
        };
        let slots = 2 * plan.runs;
        let [even, odd] = plan.point_words(group);
        let next_offsets = if plan.levels.is_empty() { 0 } else { count + 1 };
        let buckets = Buckets {
            gpu: Arc::clone(gpu),
            group,
            sets,
            count,
            sums: secret(count * sum_words(group))?,
            offsets: [secret(count + 1)?, secret(next_offsets)?],
            pairs: secret(plan.pair_words())?,
            points: [secret(even)?, secret(odd)?],
            before: secret(plan.before_words(group))?,
            products: secret(plan.product_words(group))?,
            before_products: secret(plan.product_words(group))?,
            partials: [partials(slots)?, partials(2 * combine_runs(slots))?],
            plan,
            resume: false,
        };
        gpu.clear(&buckets.sums, 0..buckets.sums.words())?;
        Ok(buckets)
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Where the entries of each bucket begin, and how many they are in all: to be filled before [`add`](Self::add).
    pub(crate) fn offsets(&self) -> &Buffer {
        &self.offsets[0]
    }

    /// Space for a word for each entry, until [`add`](Self::add).
    pub(crate) fn ranks(&self) -> &Buffer {
        &self.pairs
    }

    /// Adds entries to the buckets: at most as many as the plan says, in order, with their offsets in place.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn add(&mut self, points: Address, entries: Address) -> Result<(), DeviceError> {
        let mut source = Source { points, entries, offsets: &self.offsets[0] };
        for (number, level) in self.plan.levels.iter().enumerate() {
            source = self.add_pairs(level, number, source)?;
        }
        self.accumulate(source)?;
        self.resume = true;
        self.combine()
    }

    fn launch<P: Parameters>(
        &self,
        kernels: &[Kernel<P>; 2],
        threads: usize,
        parameters: &P,
    ) -> Result<(), DeviceError> {
        let kernel = of_group(kernels, self.group);
        self.gpu.launch(kernel, threads.div_ceil(kernel.threads() as usize), parameters)
    }

    /// A level of pairwise additions; returns what is left.
    fn add_pairs<'a>(
        &'a self,
        level: &Level,
        number: usize,
        source: Source<'a>,
    ) -> Result<Source<'a>, DeviceError> {
        let gpu = &self.gpu;
        let (offsets, halved) = (source.offsets.at(0), &self.offsets[(number + 1) % 2]);
        let buckets = self.count as u32;
        let parameters = HalveOffsets { offsets, counts: halved.at(0), buckets };
        gpu.launch(&HALVE_OFFSETS, (self.count + 1).div_ceil(HALVE_OFFSETS.threads() as usize), &parameters)?;
        exclusive_scan(gpu, halved, self.count + 1)?;
        let pairs = self.pairs.at(0);
        let parameters =
            PairEntries { offsets, halved: halved.at(0), entries: source.entries, pairs, buckets };
        gpu.launch(&PAIR_ENTRIES, level.outputs.div_ceil(PAIRS_OF_BLOCK), &parameters)?;

        let (total, threads) = (halved.at(self.count), level.threads as u32);
        let (points, before, products) = (source.points, self.before.at(0), self.products.at(0));
        let parameters = PairProducts { points, pairs, total, threads, before, products };
        self.launch(&PAIR_PRODUCTS, level.threads, &parameters)?;
        let parameters = InvertProducts {
            products,
            before: self.before_products.at(0),
            count: threads,
            threads: level.inverters as u32,
        };
        self.launch(&INVERT_PRODUCTS, level.inverters, &parameters)?;
        let out = self.points[number % 2].at(0);
        let parameters = AddPairs { points, pairs, total, threads, before, inverses: products, out };
        self.launch(&ADD_PAIRS, level.threads, &parameters)?;
        Ok(Source { points: out, entries: NOWHERE, offsets: halved })
    }

    /// Sums runs.
    fn accumulate(&self, source: Source<'_>) -> Result<(), DeviceError> {
        let Source { points, entries, offsets } = source;
        let (offsets, buckets, sums) = (offsets.at(0), self.count as u32, self.sums.at(0));
        let (partials, keys) = (self.partials[0].sums.at(0), self.partials[0].keys.at(0));
        let (threads, resume) = (self.plan.runs as u32, u32::from(self.resume));
        let shortest = Plan::SHORTEST_RUN as u32;
        if entries == NOWHERE {
            let parameters = AccumulatePoints {
                points,
                offsets,
                buckets,
                sums,
                partials,
                keys,
                threads,
                shortest,
                resume,
            };
            return self.launch(&ACCUMULATE_POINTS, self.plan.runs, &parameters);
        }
        let parameters = AccumulateEntries {
            points,
            entries,
            offsets,
            buckets,
            sums,
            partials,
            keys,
            threads,
            shortest,
            resume,
        };
        self.launch(&ACCUMULATE_ENTRIES, self.plan.runs, &parameters)
    }

    /// Combines the partial sums of the runs, level by level; a run that is alone leaves none.
    fn combine(&self) -> Result<(), DeviceError> {
        let [mut from, mut to] = self.partials.each_ref();
        let last = of_group(&COMBINE_LAST, self.group);
        let mut length = 2 * self.plan.runs;
        while length > 2 {
            let runs = combine_runs(length);
            let parameters = CombinePartials {
                partials: from.sums.at(0),
                keys: from.keys.at(0),
                length: length as u32,
                sums: self.sums.at(0),
                out_partials: to.sums.at(0),
                out_keys: to.keys.at(0),
            };
            if runs <= last.threads() as usize {
                return self.gpu.launch(last, 1, &parameters);
            }
            self.launch(&COMBINE_PARTIALS, runs, &parameters)?;
            std::mem::swap(&mut from, &mut to);
            length = 2 * runs;
        }
        Ok(())
    }

    /// Weighs each bucket b of a set by b + 1 and starts bringing what that comes to to the host.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn weigh(self) -> Result<Weighed, DeviceError> {
        let words = sum_words(self.group);
        let secret = |sums: usize| self.gpu.alloc(sums * words, Secrecy::Secret);
        let sets = self.sets;
        let mut length = self.count / sets / self.plan.chunk;
        let mut lists = 2;
        // The lists of a level, and those of the next: their upper halves go, and one comes for it.
        let (mut from, mut to) = (secret(lists * sets * length)?, secret(3 * sets * length.div_ceil(2))?);
        let count = sets * length;
        let parameters = WeighChunks {
            sums: self.sums.at(0),
            lists: from.at(0),
            count: count as u32,
            chunk: self.plan.chunk as u32,
        };
        self.launch(&WEIGH_CHUNKS, count, &parameters)?;
        let last = of_group(&FOLD_LAST, self.group);
        while lists * length / 2 > last.threads() as usize {
            length /= 2;
            let parameters = FoldLists {
                from: from.at(0),
                to: to.at(0),
                lists: lists as u32,
                sets: sets as u32,
                half: length as u32,
            };
            self.launch(&FOLD_LISTS, lists * sets * length, &parameters)?;
            std::mem::swap(&mut from, &mut to);
            lists += 1;
        }
        // Two levels of the lists of a set.
        let space = 2 * (lists + 1) * (length / 2);
        let work = secret(sets * space)?;
        let folded = lists + length.trailing_zeros() as usize;
        let out = secret(folded * sets)?;
        let parameters = FoldLast {
            from: from.at(0),
            work: work.at(0),
            space: space as u32,
            out: out.at(0),
            lists: lists as u32,
            sets: sets as u32,
            length: length as u32,
        };
        self.gpu.launch(last, sets, &parameters)?;
        let sums = self.gpu.read(&out, 0..folded * sets * words);
        Ok(Weighed { sums, lists: folded, sets, chunk: self.plan.chunk })
    }
}

/// Runs of so many slots of partial sums, as `sums.cuh` has it.
fn combine_runs(slots: usize) -> usize {
    (slots + 1).div_ceil(COMBINE_RUN)
}

/// Weighed buckets, on their way to the host.
///
/// Buckets lie in chunks of m, bucket b = i·m + l. Of a set there are R = Σ B_b, W = Σ l·B_b, and for each bit j of i,
/// from the highest down, T_j = Σ B_b over the b whose chunk has it.
pub(crate) struct Weighed {
    sums: Pending,
    lists: usize,
    sets: usize,
    chunk: usize,
}

impl Weighed {
    /// Joins them: a set is worth Σ (b + 1)·B_b = R + W + m·Σ 2^j·T_j, and set s counts 2^(`window_bits`·s)-fold.
    ///
    /// # Errors
    /// The device's; also [`DeviceError::Launch`] if what comes back is no point of the curve.
    pub(crate) async fn join<P: AffinePoint>(self, window_bits: usize) -> Result<P::Projective, DeviceError> {
        let Weighed { sums, lists, sets, chunk } = self;
        let sums: Vec<P> = unpack_sums(&sums.await?).map_err(|error| DeviceError::Launch {
            operation: format!("a sum in {}", P::GROUP),
            reason: error.to_string(),
        })?;
        let double = |sum: P::Projective, times: usize| (0..times).fold(sum, |sum, _| sum.double());
        Ok((0..sets).rev().fold(identity::<P>(), |sum, set| {
            let list = |list: usize| sums[list * sets + set];
            let chunks = (2..lists).fold(identity::<P>(), |chunks, bit| chunks.double() + list(bit));
            let weighted = double(chunks, chunk.ilog2() as usize) + list(0) + list(1);
            double(sum, window_bits) + weighted
        }))
    }
}
