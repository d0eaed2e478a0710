//! The times of a proof's phases.

use std::time::Duration;

/// How long each phase took. Field names are the names under which the times are reported, there in
/// milliseconds.
///
/// Device phases are measured on the device. Where a backend overlaps them, their sum exceeds the wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// Witness generation on the CPU.
    pub synth: Duration,
    /// Upload of the witness, and the evaluation of the constraints: A·w, B·w, C·w.
    pub spmv: Duration,
    /// Transforms, quotient and the MSM with the h query.
    pub ntt_msm_h: Duration,
    /// Sorting the witness into zeros, ones and the rest; sums of the bases whose scalar is one, for l, a, b_g1
    /// and b_g2.
    pub batch_add: Duration,
    /// MSM over the remaining scalars of l, a and b_g1.
    pub tail_msm: Duration,
    /// MSM over the remaining scalars of b_g2.
    pub b_g2_msm: Duration,
    /// The sum of the device phases.
    pub gpu_total: Duration,
    /// Wall time around the device phases.
    pub gpu: Duration,
    /// Verification of the finished proof.
    pub verify: Duration,
    /// Everything on this device: synthesis, device phases, blinding, assembly, verification, and an attempt that did
    /// not verify. A proof on a fallback does not count what the first device took.
    pub total: Duration,
}

impl PhaseTimes {
    /// Every phase's name and its time in milliseconds, in the order of the schedule.
    pub fn milliseconds(&self) -> [(&'static str, f64); 10] {
        [
            ("synth_ms", self.synth),
            ("spmv_ms", self.spmv),
            ("ntt_msm_h_ms", self.ntt_msm_h),
            ("batch_add_ms", self.batch_add),
            ("tail_msm_ms", self.tail_msm),
            ("b_g2_msm_ms", self.b_g2_msm),
            ("gpu_total_ms", self.gpu_total),
            ("gpu_ms", self.gpu),
            ("verify_ms", self.verify),
            ("total_ms", self.total),
        ]
        .map(|(name, time)| (name, time.as_secs_f64() * 1e3))
    }
}
