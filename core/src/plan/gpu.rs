//! Multi-scalar multiplication on a GPU: windows, tables of multiples, runs.

use super::ProofSizes;
use crate::curve::Group;

/// How the bases of a query stand on a GPU.
///
/// The bases of a key never change, so that multiples of them can be computed once: with 2^(c·sets·t)·P for t = 0, 1, …,
/// window w of a scalar belongs to table w / sets and to bucket set w mod sets. With as many tables as windows there is
/// one set of buckets, and no more work behind it than for one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasesPlan {
    /// Bits c of a window; digits are signed.
    pub window_bits: usize,
    /// Windows of a scalar.
    pub windows: usize,
    /// Sets of 2^(c−1) buckets.
    pub sets: usize,
    /// Tables: the bases themselves, and multiples.
    pub tables: usize,
}

impl BasesPlan {
    fn new(window_bits: usize, sets: usize) -> Self {
        let windows = SCALAR_BITS.div_ceil(window_bits);
        BasesPlan { window_bits, windows, sets, tables: windows.div_ceil(sets) }
    }

    /// Buckets of a set.
    pub fn buckets(&self) -> usize {
        1 << (self.window_bits - 1)
    }
}

/// Bits of the smaller of s and r − s, and one for the carry of the last digit.
const SCALAR_BITS: usize = 255;

/// Windows of more bits would win some 5 % of the multiplications from 2^25 bases on, at four times the buckets.
const MAX_WINDOW: usize = 22;

/// What bounds a [`BasesPlan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasesLimits {
    /// Bytes that the tables of one query may take.
    pub tables: u64,
    /// Bytes of one buffer, which must hold all sums: 128 KiB or more.
    pub buffer: u64,
}

/// Bytes of a sum (X, Y, ZZ, ZZZ).
fn sum_bytes(group: Group) -> u64 {
    2 * group.packed_bytes() as u64
}

/// Window and tables for `len` bases: the fewest multiplications within the limits.
///
/// Counted in additions to a bucket (10 multiplications each): one a window and base, and a weighted tree of twice as
/// many additions of sums (14) as there are buckets. Tables that do not fit are given up for bucket sets; without room
/// for any there is the table of the bases themselves.
pub fn gpu_bases(len: usize, group: Group, limits: &BasesLimits) -> BasesPlan {
    let table = len as u64 * group.packed_bytes() as u64;
    let fits = |plan: &BasesPlan| {
        let sums = (plan.sets * plan.buckets()) as u64 * sum_bytes(group);
        (plan.tables == 1 || plan.tables as u64 * table <= limits.tables) && sums <= limits.buffer
    };
    let candidates = (2..=MAX_WINDOW)
        .flat_map(|bits| (1..=SCALAR_BITS.div_ceil(bits)).map(move |sets| BasesPlan::new(bits, sets)));
    let cost =
        |plan: &BasesPlan| 10 * len as u64 * plan.windows as u64 + 28 * (plan.sets * plan.buckets()) as u64;
    // Of equal plans the one with the fewer tables.
    candidates
        .filter(fits)
        .min_by_key(|plan| (cost(plan), plan.tables))
        .unwrap_or(BasesPlan::new(2, SCALAR_BITS.div_ceil(2)))
}

/// How one multi-scalar multiplication is cut up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuMsmWork {
    /// Entries, that is scalars times windows, which are sorted and summed at once.
    pub entries: usize,
    /// Entries that one invocation adds.
    pub run: usize,
}

/// Runs are no longer than this: the two partial sums that a run leaves then cost 1/16 of its additions.
const MAX_RUN: usize = 64;

/// Runs are no shorter than this.
const MIN_RUN: usize = 8;

/// Invocations that fill a large GPU a few times over.
const INVOCATIONS: usize = 1 << 17;

/// Entries sorted at once at most: 2^26 take 768 MiB of work space.
const MAX_ENTRIES: usize = 1 << 26;

/// The work for `len` scalars on bases of this plan, with buffers of at most `buffer` bytes.
pub fn gpu_msm_work(len: usize, plan: &BasesPlan, group: Group, buffer: u64) -> GpuMsmWork {
    let sum = sum_bytes(group);
    // An entry is 8 bytes; a run leaves two sums.
    let by_entries = buffer / 8;
    let run_for = |entries: usize| (entries / INVOCATIONS).next_power_of_two().clamp(MIN_RUN, MAX_RUN);
    let mut entries = (len * plan.windows).min(MAX_ENTRIES).min(by_entries as usize);
    let mut run = run_for(entries);
    let by_partials = (buffer / (2 * sum)) as usize * run;
    if entries > by_partials {
        run = MAX_RUN;
        entries = entries.min((buffer / (2 * sum)) as usize * run);
    }
    GpuMsmWork { entries: entries.max(plan.windows), run }
}

/// Bytes of the work space of one multi-scalar multiplication, without tables of multiples: entries and their ranks,
/// the partial sums of two levels with their keys, the buckets and the lists into which they are folded.
fn msm_memory(len: usize, group: Group, buffer: u64) -> u64 {
    let plan = gpu_bases(len, group, &BasesLimits { tables: 0, buffer });
    let work = gpu_msm_work(len, &plan, group, buffer);
    let (entries, runs) = (work.entries as u64, work.entries.div_ceil(work.run) as u64);
    let buckets = (plan.sets * plan.buckets()) as u64;
    12 * entries + 5 * runs / 2 * (sum_bytes(group) + 4) + 3 * buckets * sum_bytes(group)
}

/// Bytes on a GPU for a resident key, if there are points to upload, and one proof, with buffers of at most `buffer`
/// bytes: points, matrices and twiddle factors; the witness, its dense values counted as if no value were a bit, and the lists of the three
/// selections; and the larger of the transforms, with a vector beside the three, and of the largest product, with the
/// quotient. A quarter is added for what buffers are rounded up by, and 8 MiB for the way to the device and back.
/// Tables of multiples come out of what is left.
pub fn gpu_proof_memory(sizes: &ProofSizes, buffer: u64) -> u64 {
    const SCALAR: u64 = 32;
    let (domain, variables) = (sizes.domain as u64, sizes.variables as u64);
    let points = 96 * sizes.g1_points as u64 + 192 * sizes.g2_points as u64;
    let resident = match points {
        0 => 0,
        // An entry is 8 bytes, and rows are cut into ranges of 12; small buffers are rounded up most.
        _ => points + 24 * sizes.matrix_entries as u64 + 3 * SCALAR * domain + (2 << 20),
    };
    let witness = variables * (SCALAR + 1) + 3 * 12 * variables;
    let transforms = 4 * SCALAR * domain;
    let g1 = msm_memory(sizes.domain.max(sizes.variables), Group::G1, buffer);
    let msm = g1.max(msm_memory(sizes.variables, Group::G2, buffer)) + SCALAR * domain;
    let total = resident + witness + transforms.max(msm);
    total + total / 4 + (8 << 20)
}

/// Bases that one invocation of a batch addition adds.
pub fn gpu_batch_add_run(len: usize) -> usize {
    (len / (1 << 15)).next_power_of_two().clamp(2, MAX_RUN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOMY: BasesLimits = BasesLimits { tables: 1 << 40, buffer: 1 << 31 };
    const PORTABLE: BasesLimits = BasesLimits { tables: 1 << 30, buffer: 128 << 20 };

    #[test]
    fn plans_cover_every_scalar_and_stay_within_limits() {
        for group in Group::ALL {
            for limits in [ROOMY, PORTABLE, BasesLimits { tables: 0, buffer: 1 << 17 }] {
                for len in (0..=27).flat_map(|k| [(1usize << k) - 1, 1 << k, (1 << k) + 1]) {
                    let plan = gpu_bases(len, group, &limits);
                    assert!(plan.windows * plan.window_bits >= SCALAR_BITS, "{plan:?}");
                    assert!(plan.tables * plan.sets >= plan.windows, "{plan:?}");
                    assert!(
                        (plan.tables - 1) * plan.sets < plan.windows,
                        "a table without windows: {plan:?}"
                    );
                    let sums = (plan.sets * plan.buckets()) as u64 * sum_bytes(group);
                    assert!(sums <= limits.buffer, "{len} {plan:?}");
                    let tables = plan.tables as u64 * len as u64 * group.packed_bytes() as u64;
                    assert!(plan.tables == 1 || tables <= limits.tables, "{len} {plan:?}");
                    let work = gpu_msm_work(len, &plan, group, limits.buffer);
                    assert!(work.entries as u64 * 8 <= limits.buffer || work.entries == plan.windows);
                    let partials = 2 * work.entries.div_ceil(work.run) as u64 * sum_bytes(group);
                    assert!(partials <= limits.buffer, "{len} {plan:?} {work:?}");
                }
            }
        }
    }

    /// The windows and tables of the prototype, which were chosen by measurement on an H200.
    #[test]
    fn roomy_plans_are_next_to_the_measured_best() {
        for (log_len, best) in [(18, 17), (20, 20), (22, 20), (24, 22)] {
            let plan = gpu_bases(1 << log_len, Group::G1, &ROOMY);
            assert!(plan.window_bits.abs_diff(best) <= 2, "2^{log_len}: {plan:?}");
            assert_eq!(plan.sets, 1);
        }
    }

    /// A Filecoin 32 GiB PoRep partition: its points dominate, and the work fits beside them on a large card.
    #[test]
    fn the_largest_known_circuit() {
        let sizes = ProofSizes {
            domain: 1 << 27,
            variables: 130_170_222,
            g1_points: (1 << 27) - 1 + 130_169_893 + 129_750_000 + 33_100_000,
            g2_points: 33_100_000,
            matrix_entries: 722_000_000,
        };
        let needed = gpu_proof_memory(&sizes, 1 << 31);
        assert!((70_000_000_000..140_000_000_000).contains(&needed), "{needed}");
    }

    #[test]
    fn without_room_there_are_no_multiples() {
        let plan = gpu_bases(1 << 16, Group::G2, &BasesLimits { tables: 0, buffer: 128 << 20 });
        assert_eq!((plan.tables, plan.sets), (1, plan.windows));
    }
}
