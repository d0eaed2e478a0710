//! Multi-scalar multiplication: Pippenger's method with signed digits and affine buckets.
//!
//! Scalars are taken as the smaller of s and r − s (the point's sign makes up for it), 254 bits, and cut into
//! windows of signed digits. Each task is a window over a range of points: it sums the points of each digit in a
//! bucket, in affine coordinates with shared inversions ([`PairAdder`]), and weighs the buckets. The tasks'
//! results are joined by Horner's rule.

use std::ops::Range;

use blstrs::Scalar;
use ff::Field;
use group::Group;
use rayon::prelude::*;

use super::sum::{BLOCK, PairAdder, sum_runs};
use crate::curve::{AffinePoint, identity};
use crate::field::{scalar_limbs, scalar_window};
use crate::plan::{self, CpuMsmPlan};
use crate::secret::SecretVec;

/// Σ scalars\[i\]·bases\[i\].
pub(super) fn msm<P: AffinePoint>(bases: &[P], scalars: &[Scalar]) -> P::Projective {
    msm_of(|i| bases[i], scalars)
}

/// Σ scalars\[i\]·bases\[positions\[i\]\].
pub(super) fn msm_indexed<P: AffinePoint>(
    bases: &[P],
    positions: &[u32],
    scalars: &[Scalar],
) -> P::Projective {
    msm_of(|i| bases[positions[i] as usize], scalars)
}

fn msm_of<P: AffinePoint>(base: impl Fn(usize) -> P + Sync, scalars: &[Scalar]) -> P::Projective {
    if scalars.len() < plan::CPU_MSM_MIN {
        let products = scalars.par_iter().enumerate().map(|(i, scalar)| base(i) * *scalar);
        return products.reduce(identity::<P>, |a, b| a + b);
    }
    msm_planned(base, scalars, plan::cpu_msm(scalars.len(), rayon::current_num_threads()))
}

fn msm_planned<P: AffinePoint>(
    base: impl Fn(usize) -> P + Sync,
    scalars: &[Scalar],
    plan: CpuMsmPlan,
) -> P::Projective {
    let digits = Digits::new(scalars, plan);
    let tasks: Vec<(usize, usize)> =
        (0..plan.windows).flat_map(|window| (0..plan.chunks).map(move |chunk| (window, chunk))).collect();
    let chunk_len = scalars.len().div_ceil(plan.chunks);
    let sums: Vec<P::Projective> = tasks
        .into_par_iter()
        .with_max_len(1)
        .map(|(window, chunk)| {
            let range = (chunk * chunk_len).min(scalars.len())..((chunk + 1) * chunk_len).min(scalars.len());
            weigh(&bucket_sums(&base, &digits, window, range))
        })
        .collect();
    sums.chunks(plan.chunks).rev().fold(identity::<P>(), |mut sum, chunks| {
        (0..plan.window_bits).for_each(|_| sum = sum.double());
        chunks.iter().fold(sum, |sum, chunk| sum + chunk)
    })
}

/// Scalars prepared so that any digit can be read off by itself.
///
/// Adding 2^(c−1) at every window but the top one makes signed digits plain bits: the digit is then the window's
/// bits less 2^(c−1). The top window is short and its digit unsigned. The sum stays below 2^255, and bit 255
/// holds the sign of the scalar.
struct Digits {
    recoded: SecretVec<[u64; 4]>,
    plan: CpuMsmPlan,
}

/// Where the sign of a recoded scalar stands, in its last limb.
const SIGN: u64 = 1 << 63;

impl Digits {
    fn new(scalars: &[Scalar], plan: CpuMsmPlan) -> Self {
        let mut offset = Scalar::ZERO;
        for window in 0..plan.windows - 1 {
            offset += Scalar::from(2u64).pow_vartime([(plan.window_bits * (window + 1) - 1) as u64]);
        }
        let (offset, half) =
            (scalar_limbs(&offset), scalar_limbs(&-Scalar::from(2u64).invert().unwrap_or(Scalar::ONE)));
        let recode = |scalar: &Scalar| {
            let limbs = scalar_limbs(scalar);
            // 2^(-1) = (r + 1)/2, so `half` is (r − 1)/2.
            if limbs.iter().rev().gt(half.iter().rev()) {
                let mut recoded = add(&scalar_limbs(&-scalar), &offset);
                recoded[3] |= SIGN;
                recoded
            } else {
                add(&limbs, &offset)
            }
        };
        let mut recoded = SecretVec::from(vec![[0; 4]; scalars.len()]);
        recoded
            .par_iter_mut()
            .with_min_len(1024)
            .zip(scalars)
            .for_each(|(out, scalar)| *out = recode(scalar));
        Digits { recoded, plan }
    }

    /// The digit of scalar `index` as bucket and sign; bucket 0 is digit zero.
    #[inline]
    fn digit(&self, index: usize, window: usize) -> (usize, bool) {
        let bits = self.plan.window_bits;
        let mut limbs = self.recoded[index];
        let negative = limbs[3] & SIGN != 0;
        limbs[3] &= !SIGN;
        let digit = scalar_window(&limbs, window * bits, bits);
        if window == self.plan.windows - 1 {
            return (digit, negative);
        }
        let zero = 1 << (bits - 1);
        if digit >= zero { (digit - zero, negative) } else { (zero - digit, !negative) }
    }
}

/// a + b, whose sum is below 2^256.
fn add(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut carry = 0;
    std::array::from_fn(|i| {
        let sum = u128::from(a[i]) + u128::from(b[i]) + carry;
        carry = sum >> 64;
        sum as u64
    })
}

/// For each bucket, the sum of the points whose digit it is. Bucket 0 is left empty.
///
/// Points are read in order and added to their buckets, many additions at a time. A point whose bucket already
/// waits for an addition of the same block is put off; those, a few per cent of uniform scalars and nearly all of
/// equal ones, are sorted by bucket and summed in runs at the end.
fn bucket_sums<P: AffinePoint>(
    base: impl Fn(usize) -> P,
    digits: &Digits,
    window: usize,
    range: Range<usize>,
) -> Vec<P> {
    let mut buckets = vec![P::identity(); (1 << (digits.plan.window_bits - 1)) + 1];
    let mut adder = PairAdder::new();
    let mut waiting_in = vec![0u32; buckets.len()];
    let mut block = 1;
    let mut taken = 0;
    // Bucket, index in the range and sign, from the highest bits down.
    let mut put_off = SecretVec::new();
    let signed = |index: usize, negative: bool| if negative { -base(index) } else { base(index) };
    for index in range.clone() {
        let (bucket, negative) = digits.digit(index, window);
        if bucket == 0 {
            continue;
        }
        if waiting_in[bucket] == block {
            put_off.push((bucket as u64) << 32 | ((index - range.start) as u64) << 1 | u64::from(negative));
        } else if buckets[bucket].is_infinity() {
            buckets[bucket] = signed(index, negative);
        } else {
            waiting_in[bucket] = block;
            adder.push(buckets[bucket], signed(index, negative), bucket);
        }
        taken += 1;
        if adder.is_full() || taken == 2 * BLOCK {
            adder.flush(&mut buckets);
            (block, taken) = (block + 1, 0);
        }
    }
    adder.flush(&mut buckets);

    put_off.sort_unstable();
    let runs: Vec<&[u64]> = put_off.chunk_by(|a, b| a >> 32 == b >> 32).collect();
    let point = |i: usize| signed(range.start + (put_off[i] as u32 >> 1) as usize, put_off[i] & 1 == 1);
    let sums = sum_runs(point, runs.iter().map(|run| run.len() as u32).collect());
    for (run, sum) in runs.iter().zip(sums) {
        let bucket = (run[0] >> 32) as usize;
        adder.push(buckets[bucket], sum, bucket);
        if adder.is_full() {
            adder.flush(&mut buckets);
        }
    }
    adder.flush(&mut buckets);
    buckets
}

/// Σ_k k·buckets\[k\].
///
/// With k = hi·2^m + lo this is 2^m·Σ_hi hi·(Σ_lo buckets) + Σ_lo lo·(Σ_hi buckets): every bucket enters one
/// row sum and one column sum, both cheap, and the running sums that weigh them are short.
fn weigh<P: AffinePoint>(buckets: &[P]) -> P::Projective {
    let m = buckets.len().ilog2().div_ceil(2);
    let (width, height) = (1usize << m, buckets.len().div_ceil(1 << m));
    let at = |row: usize, column: usize| buckets.get(row * width + column).copied().unwrap_or_default();
    let rows = sum_runs(|i| at(i / width, i % width), vec![width as u32; height]);
    let columns = sum_runs(|i| at(i % height, i / height), vec![height as u32; width]);
    let mut sum = weigh_by_running_sums(&rows);
    (0..m).for_each(|_| sum = sum.double());
    sum + weigh_by_running_sums(&columns)
}

/// Σ_k k·points\[k\], by adding up the partial sums from the end.
fn weigh_by_running_sums<P: AffinePoint>(points: &[P]) -> P::Projective {
    let (mut running, mut sum) = (identity::<P>(), identity::<P>());
    for point in points.iter().skip(1).rev() {
        running += point;
        sum += running;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use blstrs::{G1Affine, G1Projective, G2Projective};
    use group::{Curve, prime::PrimeCurveAffine};
    use rand::{SeedableRng, rngs::StdRng};

    fn edge_scalars() -> Vec<Scalar> {
        let two = Scalar::from(2u64);
        let mut scalars =
            vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, two.invert().unwrap(), -two.invert().unwrap()];
        for exponent in 0..255u64 {
            let power = two.pow_vartime([exponent]);
            scalars.extend([power, power - Scalar::ONE, power + Scalar::ONE, -power]);
        }
        scalars
    }

    #[test]
    fn edge_scalars_for_every_window_and_number_of_chunks() {
        let scalars = edge_scalars();
        let base = G1Affine::generator();
        let expected = base * scalars.iter().sum::<Scalar>();
        for window_bits in 3..=16 {
            for chunks in [1, 2, 3, 7] {
                let plan = CpuMsmPlan { window_bits, windows: plan::windows(window_bits), chunks };
                assert_eq!(msm_planned(|_| base, &scalars, plan), expected, "{plan:?}");
            }
        }
    }

    #[test]
    fn chunks_meet_without_gap_or_overlap() {
        // Point i is i times the generator, so that a point left out or taken twice shows.
        let points: Vec<G1Affine> =
            (0..100u64).map(|i| (G1Projective::generator() * Scalar::from(i)).to_affine()).collect();
        let scalars: Vec<Scalar> = (0..100u64).map(|i| Scalar::from(i * i + 1)).collect();
        for len in [1usize, 2, 6, 7, 8, 99, 100] {
            let sum: Scalar = (0..len).map(|i| Scalar::from(i as u64) * scalars[i]).sum();
            for chunks in [1, 2, 3, 7, 64, 101] {
                let plan = CpuMsmPlan { window_bits: 4, windows: plan::windows(4), chunks };
                let found = msm_planned(|i| points[i], &scalars[..len], plan);
                assert_eq!(found, G1Projective::generator() * sum, "{len} points in {chunks} chunks");
            }
        }
    }

    #[test]
    fn random_sizes_in_both_groups() {
        let mut rng = StdRng::seed_from_u64(5);
        for len in [0, 1, 2, 3, 31, 100, 1000, 3333] {
            let scalars: Vec<Scalar> = (0..len).map(|_| Scalar::random(&mut rng)).collect();
            let exponents: Vec<Scalar> = (0..len).map(|_| Scalar::random(&mut rng)).collect();
            let inner: Scalar = scalars.iter().zip(&exponents).map(|(s, e)| s * e).sum();
            let g1: Vec<_> = exponents.iter().map(|e| (G1Projective::generator() * e).to_affine()).collect();
            let g2: Vec<_> = exponents.iter().map(|e| (G2Projective::generator() * e).to_affine()).collect();
            assert_eq!(msm(&g1, &scalars), G1Projective::generator() * inner, "G1, {len}");
            assert_eq!(msm(&g2, &scalars), G2Projective::generator() * inner, "G2, {len}");
        }
    }
}
