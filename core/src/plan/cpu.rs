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

/// Points of a chunk at most: 2^20 G1 points need about 200 MB of work space a thread.
const MAX_CHUNK: usize = 1 << 20;

/// Windows of `window_bits` bits that cover a scalar.
pub const fn windows(window_bits: usize) -> usize {
    MSM_BITS.div_ceil(window_bits)
}

/// The plan that minimises the time of the busiest of `threads` threads for `len` points, counted in point
/// additions: one for each point that does not open a bucket, two for each bucket that is weighed, a quarter for
/// each bucket that is looked at.
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
        let points = len.div_ceil(plan.chunks);
        let buckets = 1usize << (plan.window_bits - 1);
        let task = points.saturating_sub(buckets) + 2 * buckets.min(points) + buckets / 4 + TASK_OVERHEAD;
        (plan.windows * plan.chunks).div_ceil(threads) * task
    };
    candidates.min_by_key(cost).unwrap_or(CpuMsmPlan {
        window_bits: 3,
        windows: windows(3),
        chunks: min_chunks,
    })
}

/// Cost of a task beside its additions, in additions: the short running sums, an inversion a round.
const TASK_OVERHEAD: usize = 600;

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

    #[test]
    fn windows_grow_with_the_number_of_points() {
        let bits: Vec<usize> = (8..=24).map(|k| cpu_msm(1 << k, 1).window_bits).collect();
        assert!(bits.is_sorted(), "{bits:?}");
        let bits: Vec<usize> = (0..=24).map(|k| fixed_base_window(1 << k)).collect();
        assert!(bits.is_sorted(), "{bits:?}");
    }
}
