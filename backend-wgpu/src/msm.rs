//! Multi-scalar multiplication: Pippenger's method over resident tables of multiples.
//!
//! Scalars are cut into signed digits; each digit other than zero is an *entry* that adds a point to a bucket. Entries
//! are counted by bucket, placed in order of their buckets, and summed by position: an invocation adds so many consecutive
//! entries, whatever their buckets, so that a bucket with all of them costs no more than many with a few. The buckets
//! are weighed by folding ([`fold`]), and the last few sums are joined on the host.

use std::future::Future;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, FR_WORDS, Group as Curve, identity};
use bellwether_core::device::DeviceError;
use bellwether_core::field::Modulus;
use bellwether_core::plan::{BasesPlan, GpuMsmWork, gpu_msm_work};
use bellwether_shaders::params;
use group::Group;

use crate::bases::{Bases, Segment};
use crate::buffer::{Buffer, Secrecy, Span};
use crate::gpu::Gpu;
use crate::scan::exclusive_scan;
use crate::select::Selection;
use crate::sums::{ADD_AFFINE_COST, ADD_COST, GROUP, coordinate_cost, fold, read, sum_words_of};
use crate::vector::Scalars;

/// Partial sums that one invocation combines.
const COMBINE_RUN: usize = 8;

/// What one digit takes of the time of a field multiplication, very roughly: an atomic addition, or a scattered write.
const DIGIT_COST: u64 = 1;

/// Σ scalars\[i\]·bases\[i\].
pub(crate) fn msm<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    scalars: &Scalars,
) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
    finish::<P>(
        run(gpu, bases, bases.len(), &|most, segment| all_pieces(scalars, segment, most)),
        *bases.plan(),
    )
}

/// Σ s·bases\[i\] over the positions i at which the selection has a scalar s other than zero and one.
pub(crate) fn tail_msm<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    selection: &Selection,
) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
    let len = selection.tail().len();
    finish::<P>(run(gpu, bases, len, &|most, segment| chosen_pieces(selection, segment, most)), *bases.plan())
}

/// Scalars that meet the bases of a segment, few enough for the work space.
struct Piece {
    scalars: Span,
    /// Where the scalars start in the whole vector, and how many of them `scalars` has, for those that are looked up.
    scalars_first: usize,
    scalars_count: usize,
    /// Pairs of position and scalar, if not every base has a scalar in turn.
    positions: Option<Span>,
    /// Where the piece starts in `scalars` or `positions`.
    first: usize,
    /// Position in the segment of the base of the first scalar, if every base has one.
    base: usize,
    count: usize,
}

/// One scalar for each base in turn.
fn all_pieces(scalars: &Scalars, segment: &Segment, most: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for part in scalars.parts() {
        let len = part.words() / FR_WORDS;
        let (from, to) = (start.max(segment.first), (start + len).min(segment.first + segment.len));
        for first in (from..to.max(from)).step_by(most) {
            pieces.push(Piece {
                scalars: part.span(),
                scalars_first: start,
                scalars_count: len,
                positions: None,
                first: first - start,
                base: first - segment.first,
                count: most.min(to - first),
            });
        }
        start += len;
    }
    pieces
}

/// The scalars of a selection whose positions may lie in the segment. Those that do not are passed over.
fn chosen_pieces(selection: &Selection, segment: &Segment, most: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let reaches = |positions: &std::ops::Range<usize>| {
        segment.first < positions.end && positions.start < segment.first + segment.len
    };
    for part in selection.tail().parts().iter().filter(|part| reaches(&part.positions)) {
        let mut start = 0;
        for scalars in selection.dense().parts() {
            let len = scalars.words() / FR_WORDS;
            for first in (0..part.len).step_by(most) {
                pieces.push(Piece {
                    scalars: scalars.span(),
                    scalars_first: start,
                    scalars_count: len,
                    positions: Some(part.span.clone()),
                    first,
                    base: 0,
                    count: most.min(part.len - first),
                });
            }
            start += len;
        }
    }
    pieces
}

/// What an enqueued product leaves: sums to come, and how many lists they are.
type Enqueued<F> = Result<Option<(F, usize)>, DeviceError>;

/// Enqueues a product over all segments; `None` if there is nothing to add.
fn run<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    bases: &Bases<P>,
    len: usize,
    pieces: &dyn Fn(usize, &Segment) -> Vec<Piece>,
) -> Enqueued<impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<P>> {
    if len == 0 || bases.len() == 0 {
        return Ok(None);
    }
    let plan = bases.plan();
    let longest = bases.segments().iter().map(|segment| segment.len).max().unwrap_or(0).min(len);
    let work = gpu_msm_work(longest, plan, P::GROUP, gpu.limits().binding);
    let mut space = Space::new(gpu, plan, work, P::GROUP)?;
    for segment in bases.segments() {
        for piece in pieces(work.entries / plan.windows, segment) {
            space.add(gpu, segment, &piece)?;
        }
    }
    let log_buckets = plan.buckets().trailing_zeros();
    let Space { sums, .. } = space;
    let (sums, lists) = fold(gpu, P::GROUP, sums.span(), plan.sets, log_buckets, true)?;
    Ok(Some((read::<P>(gpu, &sums, lists * plan.sets)?, lists)))
}

/// Buckets, and the work space for one piece.
struct Space {
    group: Curve,
    plan: BasesPlan,
    work: GpuMsmWork,
    sums: Buffer,
    /// Entries of each bucket, later of those before it; their total at the end.
    counts: Buffer,
    ranks: Buffer,
    entries: Buffer,
    /// Partial sums and their buckets, twice: what a level reads and what it writes.
    partials: [(Buffer, Buffer); 2],
    /// Whether the buckets hold sums already.
    resume: bool,
}

impl Space {
    fn new(gpu: &Arc<Gpu>, plan: &BasesPlan, work: GpuMsmWork, group: Curve) -> Result<Space, DeviceError> {
        let buckets = plan.sets * plan.buckets();
        let secret = |words: usize| gpu.alloc(words, Secrecy::Secret);
        let runs = work.entries.div_ceil(work.run);
        let partials =
            |runs: usize| Ok::<_, DeviceError>((secret(2 * runs * sum_words_of(group))?, secret(2 * runs)?));
        let space = Space {
            group,
            plan: *plan,
            work,
            sums: secret(buckets * sum_words_of(group))?,
            counts: secret(buckets + 1)?,
            ranks: secret(work.entries)?,
            entries: secret(2 * work.entries)?,
            partials: [partials(runs)?, partials((2 * runs + 1).div_ceil(COMBINE_RUN))?],
            resume: false,
        };
        gpu.clear(&space.sums.span())?;
        Ok(space)
    }

    /// Adds the entries of a piece to the buckets.
    fn add(&mut self, gpu: &Arc<Gpu>, segment: &Segment, piece: &Piece) -> Result<(), DeviceError> {
        self.sort(gpu, segment, piece)?;
        let runs = (piece.count * self.plan.windows).div_ceil(self.work.run);
        let buckets = self.plan.sets * self.plan.buckets();
        let params = params::MsmAccumulate {
            count: runs as u32,
            run: self.work.run as u32,
            total: buckets as u32,
            resume: u32::from(self.resume),
        };
        let [(partials, keys), _] = &self.partials;
        let buffers = [
            &segment.points(),
            &self.entries.span(),
            &self.counts.span(),
            &self.sums.span(),
            &partials.span(),
            &keys.span(),
        ];
        let cost = GROUP as u64 * self.work.run as u64 * ADD_AFFINE_COST * coordinate_cost(self.group);
        gpu.run(Some(self.group), params, &buffers, runs.div_ceil(GROUP), cost)?;
        self.resume = true;
        self.combine(gpu, runs)
    }

    /// Places the entries of a piece in order of their buckets.
    fn sort(&self, gpu: &Arc<Gpu>, segment: &Segment, piece: &Piece) -> Result<(), DeviceError> {
        let buckets = self.plan.sets * self.plan.buckets();
        let counts = self.counts.span();
        gpu.clear(&counts)?;
        let [modulus, half] = bounds();
        let params = params::MsmDigits {
            count: piece.count as u32,
            first: piece.first as u32,
            window_bits: self.plan.window_bits as u32,
            windows: self.plan.windows as u32,
            sets: self.plan.sets as u32,
            indexed: u32::from(piece.positions.is_some()),
            bases_first: segment.first as u32,
            bases_count: segment.len as u32,
            base: piece.base as u32,
            scalars_first: piece.scalars_first as u32,
            scalars_count: piece.scalars_count as u32,
            modulus,
            half,
        };
        // Without positions the program looks at none, but a buffer has to be bound.
        let positions = piece.positions.as_ref().unwrap_or(&piece.scalars);
        let ranks = self.ranks.span();
        let groups = piece.count.div_ceil(GROUP);
        let cost = GROUP as u64 * (2 + self.plan.windows as u64 * DIGIT_COST);
        gpu.run(None, params, &[&piece.scalars, positions, &counts, &ranks], groups, cost)?;
        exclusive_scan(gpu, &counts, buckets + 1)?;
        let params = params::MsmScatter {
            count: params.count,
            first: params.first,
            window_bits: params.window_bits,
            windows: params.windows,
            sets: params.sets,
            indexed: params.indexed,
            bases_first: params.bases_first,
            bases_count: params.bases_count,
            base: params.base,
            scalars_first: params.scalars_first,
            scalars_count: params.scalars_count,
            modulus,
            half,
        };
        let buffers = [&piece.scalars, positions, &counts, &ranks, &self.entries.span()];
        gpu.run(None, params, &buffers, groups, cost)
    }

    /// Combines the partial sums that `runs` runs left, level by level.
    fn combine(&self, gpu: &Arc<Gpu>, mut runs: usize) -> Result<(), DeviceError> {
        let [mut from, mut to] = self.partials.each_ref();
        while runs > 1 {
            let length = 2 * runs;
            // The first run is one short.
            runs = (length + 1).div_ceil(COMBINE_RUN);
            let params =
                params::MsmCombine { count: runs as u32, run: COMBINE_RUN as u32, length: length as u32 };
            let buffers = [&from.0.span(), &from.1.span(), &self.sums.span(), &to.0.span(), &to.1.span()];
            let cost = GROUP as u64 * COMBINE_RUN as u64 * ADD_COST * coordinate_cost(self.group);
            gpu.run(Some(self.group), params, &buffers, runs.div_ceil(GROUP), cost)?;
            std::mem::swap(&mut from, &mut to);
        }
        Ok(())
    }
}

/// r and (r − 1)/2 in words.
fn bounds() -> [[u32; 8]; 2] {
    let r = Modulus::FR.value();
    let half = r.shift_right(1);
    [r, &half].map(|natural| std::array::from_fn(|i| natural.limb(i, 32)))
}

/// Awaits the sums of an enqueued product and joins them: see [`join`].
async fn finish<P: AffinePoint>(
    sums: Enqueued<impl Future<Output = Result<Vec<P>, DeviceError>> + Send>,
    plan: BasesPlan,
) -> Result<P::Projective, DeviceError> {
    match sums? {
        Some((sums, lists)) => Ok(join(&sums.await?, lists, &plan)),
        None => Ok(identity::<P>()),
    }
}

/// What the folded lists stand for. Of a set there are R = Σ B_i and, for each bit j of the index from the highest
/// down, T_j = Σ B_i over the i that have it; bucket i counts for digit i + 1, so that the set's sum is R + Σ 2^j·T_j.
/// Set s counts 2^(c·s)-fold. List l of set s stands at l·sets + s.
fn join<P: AffinePoint>(sums: &[P], lists: usize, plan: &BasesPlan) -> P::Projective {
    (0..plan.sets).rev().fold(identity::<P>(), |mut sum, set| {
        (0..plan.window_bits).for_each(|_| sum = sum.double());
        let bits = (1..lists).map(|list| &sums[list * plan.sets + set]);
        let weighted = bits.fold(identity::<P>(), |weighted, bit| weighted.double() + bit);
        sum + weighted + sums[set]
    })
}

#[cfg(test)]
mod tests {
    use bellwether_core::curve::{G1Affine, G2Affine};
    use bellwether_core::key::Points;
    use bellwether_shaders::Tier;
    use blstrs::Scalar;
    use ff::Field;
    use group::Curve as _;
    use pollster::block_on;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::fixed_base;
    use crate::gpu::tests::open;
    use crate::options::WgpuOptions;

    /// Products against known logarithms: uniform scalars, and all kinds of skew, among bases with infinities.
    fn check<P: AffinePoint>(options: &WgpuOptions, len: usize) {
        let gpu = open(options);
        let mut rng = StdRng::seed_from_u64(len as u64);
        let mut logarithms: Vec<Scalar> = (0..len).map(|_| Scalar::random(&mut rng)).collect();
        logarithms.iter_mut().step_by(7).for_each(|k| *k = Scalar::ZERO);
        let uploaded = Scalars::upload(&gpu, &logarithms, len).unwrap();
        let points = block_on(fixed_base::multiples(&gpu, &P::generator(), &uploaded)).unwrap();
        for (point, k) in points.iter().zip(&logarithms).step_by(13) {
            assert_eq!(*point, (P::generator() * k).to_affine());
        }
        let bases = Bases::upload(&gpu, &Points::from(points)).unwrap();
        let uniform: Vec<Scalar> = (0..len).map(|_| Scalar::random(&mut rng)).collect();
        let mut one_other = vec![Scalar::ONE; len];
        one_other[len / 2] = uniform[0];
        let few = (0..len).map(|_| Scalar::from(rng.gen_range(0..3u64)) - Scalar::ONE).collect();
        for scalars in [uniform.clone(), vec![uniform[0]; len], one_other, few, vec![Scalar::ZERO; len]] {
            let exponent: Scalar = scalars.iter().zip(&logarithms).map(|(s, k)| s * k).sum();
            let uploaded = Scalars::upload(&gpu, &scalars, len).unwrap();
            let sum = block_on(msm(&gpu, &bases, &uploaded)).unwrap();
            assert_eq!(sum.to_affine(), (P::generator() * exponent).to_affine(), "{len} {}", P::GROUP);
        }
    }

    fn tier(tier: Tier) -> WgpuOptions {
        WgpuOptions { tier: Some(tier), ..WgpuOptions::default() }
    }

    #[test]
    fn g1_with_64_bit_integers() {
        [1, 2, 100, 1000].into_iter().for_each(|len| check::<G1Affine>(&tier(Tier::U64), len));
    }

    #[test]
    fn g2_with_64_bit_integers() {
        [1, 2, 300].into_iter().for_each(|len| check::<G2Affine>(&tier(Tier::U64), len));
    }

    #[test]
    fn g1_with_32_bit_integers() {
        [1, 300].into_iter().for_each(|len| check::<G1Affine>(&tier(Tier::U32), len));
    }

    #[test]
    fn g2_with_32_bit_integers() {
        [1, 100].into_iter().for_each(|len| check::<G2Affine>(&tier(Tier::U32), len));
    }

    /// Multiples of the bases, as on hardware: other tables, and bucket sets that share them.
    #[test]
    fn with_multiples() {
        for (each, len) in [(Tier::U64, 300), (Tier::U32, 50)] {
            check::<G1Affine>(&WgpuOptions { multiples: Some(true), ..tier(each) }, len);
        }
        check::<G2Affine>(&WgpuOptions { multiples: Some(true), ..tier(Tier::U64) }, 100);
        let options = WgpuOptions { multiples: Some(true), max_binding: Some(1 << 18), ..tier(Tier::U64) };
        check::<G1Affine>(&options, 700);
    }

    /// Bindings of 256 KiB: many segments, pieces and levels.
    #[test]
    fn split_by_small_bindings() {
        let options = WgpuOptions { max_binding: Some(1 << 18), ..tier(Tier::U64) };
        check::<G1Affine>(&options, 5000);
        check::<G2Affine>(&options, 1500);
    }
}
