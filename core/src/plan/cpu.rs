//! Window sizes of the CPU device.

/// How the CPU device cuts up a multi-scalar multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuMsmPlan {
    /// Bits of a window; digits are signed.
    pub window_bits: usize,
    /// Number of windows.
    pub windows: usize,
    /// Ranges into which the points are cut, each with buckets of its own.
    pub chunks: usize,
}

/// Bits of the smaller of s and r − s.
const MSM_BITS: usize = 254;

/// Points of a chunk at most, so that work space stays bounded: at 2^20 it is some 40 MB a thread in G1.
const MAX_CHUNK: usize = 1 << 20;

/// Below this number of points each is multiplied by itself: on two Zen 4 cores in G1, 16 points take 0.7 ms so and
/// 2.8 ms in buckets, 48 points 2.0 and 2.9 ms, 64 points 2.7 and 3.0 ms.
pub const CPU_MSM_MIN: usize = 64;

/// Windows of `window_bits` bits that cover a scalar.
pub const fn windows(window_bits: usize) -> usize {
    MSM_BITS.div_ceil(window_bits)
}

/// The plan that minimises the time of the busiest of `threads` threads for `len` points.
///
/// Chosen on two Zen 4 cores, best of several runs on an idle machine, where it takes the best window or one beside
/// it at every power of two from 2^9 to 2^18: 124 ms with 13 bits at 2^15 (12: 129, 14: 150), 466 ms with 15 bits at
/// 2^17 (13: 521, 14: 474, 16: 519).
pub fn cpu_msm(len: usize, threads: usize) -> CpuMsmPlan {
    let threads = threads.max(1);
    let min_chunks = len.div_ceil(MAX_CHUNK).max(1);
    let candidates = (3..=18).flat_map(|window_bits| {
        (min_chunks..=min_chunks + threads).map(move |chunks| CpuMsmPlan {
            window_bits,
            windows: windows(window_bits),
            chunks,
        })
    });
    let cost = |plan: &CpuMsmPlan| {
        let rounds = (plan.windows * plan.chunks).div_ceil(threads);
        rounds * task_cost(len.div_ceil(plan.chunks), 1 << (plan.window_bits - 1))
    };
    candidates.min_by_key(cost).unwrap_or(CpuMsmPlan {
        window_bits: 3,
        windows: windows(3),
        chunks: min_chunks,
    })
}

/// The time of one window over `points` points, in units of 1/1024 of an addition.
///
/// Each point that does not open a bucket takes one addition. Of those up to a quarter more where few buckets make
/// points wait for each other, and more where buckets outgrow the cache (2^14 of them take 1.5 MB in G1). Each open
/// bucket takes two and a half additions when it is weighed, each bucket a quarter to be looked at; the short
/// running sums at the end, and an inversion a round, take 600.
fn task_cost(points: usize, buckets: usize) -> usize {
    let opened = buckets.min(points);
    let waiting = 256.min((1 << 20) / buckets);
    let cache = buckets / 128;
    (points - opened) * (1024 + waiting) / 1024 * (1024 + cache) + opened * 2560 + buckets * 256 + 600 * 1024
}

/// Bits of a window of the fixed-base table for `len` multiples: minimises table entries, each about three
/// additions to build, plus one addition a window and multiple.
pub fn fixed_base_window(len: usize) -> usize {
    (2..=14).min_by_key(|&bits| 255usize.div_ceil(bits) * (3 * (1 << bits) + len)).unwrap_or(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_cover_every_scalar_and_every_point() {
        for threads in [1, 2, 16, 192] {
            for len in (0..=27).flat_map(|k| [(1usize << k) - 1, 1 << k, (1 << k) + 1]) {
                let plan = cpu_msm(len, threads);
                assert!(plan.windows * plan.window_bits >= MSM_BITS, "{len} {threads} {plan:?}");
                assert!(len.div_ceil(plan.chunks) <= MAX_CHUNK, "{len} {threads} {plan:?}");
                // The top window is shorter than the others, so its unsigned digit fits their buckets.
                assert!(MSM_BITS - (plan.windows - 1) * plan.window_bits < plan.window_bits, "{plan:?}");
            }
        }
    }

    /// The fastest window for 2^k points on two Zen 4 cores.
    const MEASURED: [(u32, usize); 8] =
        [(9, 8), (11, 9), (12, 10), (13, 11), (14, 12), (15, 13), (16, 13), (17, 15)];

    #[test]
    fn planned_windows_are_next_to_the_measured_best() {
        for (log_len, best) in MEASURED {
            let planned = cpu_msm(1 << log_len, 2).window_bits;
            assert!(planned.abs_diff(best) <= 1, "2^{log_len}: {planned} planned, {best} best");
        }
    }

    #[test]
    fn fixed_base_windows_grow_with_the_number_of_multiples() {
        let bits: Vec<usize> = (0..=24).map(|k| fixed_base_window(1 << k)).collect();
        assert!(bits.is_sorted(), "{bits:?}");
    }
}
