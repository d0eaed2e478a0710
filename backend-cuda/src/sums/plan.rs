//! How sums by bucket are cut up: a pure function of sizes, tested without a device.

use bellwether_core::curve::Group;

use super::{point_words, sum_words};

/// Threads of a warp: threads of a level are a multiple of it, so that rows of columns begin at whole lines.
const WARP: usize = 32;

/// A level of pairwise additions is worth its launches if it has as many outputs. On an H200 one level is best at 2^18
/// scalars, where the second would have half as many (GPU-NOTES, prototypes/msm).
const LEVEL_OUTPUTS: usize = 3 << 19;

/// And if it leaves as many entries of a bucket, on average: pairs are found in buckets of some entries only. The best
/// at 2^20, 2^22 and 2^24 scalars leave 6.5, 13 and 6.
const LEVEL_FILL: usize = 6;

/// Outputs of a level for one of a thread, within the bounds of [`ELEMENTS`]: more of them share an inversion, but
/// fewer threads are there to do it. 16 was best at 2^20 scalars, 32 at 2^22, 64 at 2^24.
const OUTPUTS_PER_ELEMENT: usize = 1 << 19;

/// Outputs of a thread.
const ELEMENTS: [usize; 2] = [16, 64];

/// Products that share an inversion, if there are enough of them for all multiprocessors.
const INVERTED_TOGETHER: usize = 16;

/// Threads of a multiprocessor that invert.
const INVERTERS: usize = 128;

/// Threads of a multiprocessor over which runs are spread: four times as many as it holds at once, so that the last
/// ones leave little of it idle.
const RUNS: usize = 4 * 3 * 128;

/// Entries of a run: at most so many that the two partial sums it leaves cost little, and no fewer than the next step
/// combines at once.
const RUN: [usize; 2] = [8, 64];

/// Threads of a multiprocessor that weigh buckets. With 2^19 buckets chunks of 8 were best, with 2^21 of 16, with 2^16
/// of 2.
const WEIGHERS: usize = 256;

/// Buckets of a chunk.
const CHUNK: [usize; 2] = [2, 16];

/// Entries at most, whatever the work space: their positions have 31 bits.
const MAX_ENTRIES: usize = (1 << 31) - 1;

/// What a plan goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) group: Group,
    /// Multiprocessors.
    pub(crate) multiprocessors: usize,
    /// Bytes of work space at most, if one scalar's entries fit it.
    pub(crate) space: u64,
    /// Levels of pairwise additions, if they are not to be chosen. For tests.
    pub(crate) levels: Option<usize>,
}

/// A level of pairwise additions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Outputs at most.
    pub(crate) outputs: usize,
    /// Threads, a multiple of a warp's.
    pub(crate) threads: usize,
    /// Outputs of a thread at most.
    pub(crate) elements: usize,
    /// Threads that invert the products of all.
    pub(crate) inverters: usize,
}

/// How entries are summed into buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Scalars, or other units of entries, that are taken at once.
    pub(crate) units: usize,
    /// Entries at once at most.
    pub(crate) entries: usize,
    /// Levels of pairwise additions.
    pub(crate) levels: Vec<Level>,
    /// Threads that sum what the levels leave, in runs.
    pub(crate) runs: usize,
    /// Buckets of a chunk of the reduction, a power of two and no more than a set has.
    pub(crate) chunk: usize,
}

/// A plan for `units` scalars of at most `entries_of_unit` entries each, into `sets` sets of `buckets` buckets: with as
/// few pieces as the work space allows.
pub(crate) fn plan(units: usize, entries_of_unit: usize, sets: usize, buckets: usize, terms: &Terms) -> Plan {
    let most = (MAX_ENTRIES / entries_of_unit).max(1);
    let mut pieces = units.div_ceil(most).max(1);
    loop {
        let units = units.div_ceil(pieces).max(1);
        let plan = whole(units, units * entries_of_unit, sets, buckets, terms);
        if units == 1 || plan.work_bytes(terms.group) <= terms.space {
            return plan;
        }
        pieces += pieces / 16 + 1;
    }
}

/// A plan for one piece.
fn whole(units: usize, entries: usize, sets: usize, buckets: usize, terms: &Terms) -> Plan {
    let all_buckets = sets * buckets;
    let mut levels = Vec::new();
    let mut left = entries;
    loop {
        // Of an odd number of entries one is left over in each bucket.
        let outputs = (left + left.min(all_buckets)).div_ceil(2);
        let worth = outputs >= LEVEL_OUTPUTS && outputs >= LEVEL_FILL * all_buckets;
        if terms.levels.map_or(!worth, |wanted| levels.len() == wanted) {
            break;
        }
        levels.push(level(outputs, terms));
        left = outputs;
    }
    let run = (left / (terms.multiprocessors * RUNS)).clamp(RUN[0], RUN[1]);
    let chunk = prev_power_of_two(all_buckets / (terms.multiprocessors * WEIGHERS)).clamp(CHUNK[0], CHUNK[1]);
    Plan { units, entries, levels, runs: left.div_ceil(run).max(1), chunk: chunk.min(buckets) }
}

fn level(outputs: usize, terms: &Terms) -> Level {
    let per_thread = prev_power_of_two(outputs / OUTPUTS_PER_ELEMENT).clamp(ELEMENTS[0], ELEMENTS[1]);
    let threads = outputs.div_ceil(per_thread).next_multiple_of(WARP);
    let inverters = threads.div_ceil(INVERTED_TOGETHER).max(terms.multiprocessors * INVERTERS);
    Level { outputs, threads, elements: outputs.div_ceil(threads), inverters: inverters.min(threads) }
}

fn prev_power_of_two(n: usize) -> usize {
    n.checked_ilog2().map_or(1, |log| 1 << log)
}

/// Words of the work space.
impl Plan {
    /// Entries of the runs at least, if there are so many: as many as a step combines.
    pub(crate) const SHORTEST_RUN: usize = RUN[0];

    /// Ranks of entries, then pairs of them.
    pub(crate) fn pair_words(&self) -> usize {
        self.levels.first().map_or(0, |level| 2 * level.outputs).max(self.entries)
    }

    /// The outputs of every other level.
    pub(crate) fn point_words(&self, group: Group) -> [usize; 2] {
        [0, 1].map(|first| self.levels.get(first).map_or(0, |level| level.outputs * point_words(group)))
    }

    /// Products of the denominators before each.
    pub(crate) fn before_words(&self, group: Group) -> usize {
        let elements = self.levels.iter().map(|level| level.elements * level.threads);
        elements.max().unwrap_or(0) * coordinate_words(group)
    }

    /// Products of threads.
    pub(crate) fn product_words(&self, group: Group) -> usize {
        self.levels.iter().map(|level| level.threads).max().unwrap_or(0) * coordinate_words(group)
    }

    /// Bytes of all of it, but for the buckets and their offsets, which do not depend on how much is taken at once.
    fn work_bytes(&self, group: Group) -> u64 {
        let partials = 5 * self.runs.div_ceil(2) * (sum_words(group) + 1);
        let points: usize = self.point_words(group).iter().sum();
        let words = self.entries
            + self.pair_words()
            + points
            + self.before_words(group)
            + 2 * self.product_words(group)
            + partials;
        4 * words as u64
    }
}

fn coordinate_words(group: Group) -> usize {
    point_words(group) / 2
}

#[cfg(test)]
mod tests {
    use bellwether_core::plan::{BasesLimits, gpu_bases};

    use super::*;

    const H200: Terms = Terms { group: Group::G1, multiprocessors: 132, space: 24 << 30, levels: None };

    fn of_msm(log_len: u32, terms: &Terms) -> Plan {
        let len = 1 << log_len;
        let bases = gpu_bases(len, terms.group, &BasesLimits { tables: 1 << 40, buffer: 1 << 40 });
        plan(len, bases.windows, bases.sets, bases.buckets(), terms)
    }

    /// What was best in the prototype: levels, outputs of a thread, buckets of a chunk.
    #[test]
    fn plans_are_next_to_the_measured_best() {
        for (log_len, [window, windows], levels, elements, chunk) in [
            (17, [17, 15], 0, None, 2),
            (18, [17, 15], 1, Some(16), 2),
            (20, [20, 13], 2, Some(16), 8),
            (22, [20, 13], 3, Some(32), 8),
            (24, [22, 12], 4, Some(64), 16),
        ] {
            let plan = plan(1 << log_len, windows, 1, 1 << (window - 1), &H200);
            assert!(plan.levels.len().abs_diff(levels) <= 1, "2^{log_len}: {plan:?}");
            assert!((levels == 0) == plan.levels.is_empty());
            assert_eq!(plan.levels.first().map(|level| level.elements.next_power_of_two()), elements);
            assert_eq!(plan.chunk, chunk, "2^{log_len}: {plan:?}");
            assert_eq!(plan.units, 1 << log_len);
        }
    }

    #[test]
    fn work_stays_within_its_space() {
        for group in Group::ALL {
            for space in [1 << 16, 64 << 20, 1 << 30, 24 << 30] {
                for log_len in 0..=27 {
                    for levels in [None, Some(0), Some(3)] {
                        let plan = of_msm(log_len, &Terms { group, space, levels, ..H200 });
                        assert!(plan.units == 1 || plan.work_bytes(group) <= space, "{plan:?}");
                        assert!(plan.units >= 1 && plan.units <= 1 << log_len);
                        assert!(plan.entries <= MAX_ENTRIES);
                    }
                }
            }
        }
    }

    /// Each output has a thread, each level's bound holds for any split into buckets.
    #[test]
    fn levels_hold_all_outputs() {
        for entries in [1, 2, 3, 100, 4097, 1 << 20] {
            for buckets in [1, 2, 64, 1 << 19] {
                let terms = Terms { levels: Some(4), multiprocessors: 2, ..H200 };
                let plan = plan(entries, 1, 1, buckets, &terms);
                assert_eq!(plan.levels.len(), 4);
                let (mut worst, filled) = (entries, entries.min(buckets));
                for level in &plan.levels {
                    // All buckets but one hold a single entry.
                    worst = (worst - (filled - 1)).div_ceil(2) + filled - 1;
                    assert!(level.outputs >= worst, "{entries} in {buckets}: {plan:?}");
                    assert!(level.threads * level.elements >= level.outputs);
                    assert!(level.threads.is_multiple_of(WARP));
                    assert!((1..=level.threads).contains(&level.inverters));
                }
                assert!(plan.chunk.is_power_of_two() && plan.chunk <= buckets);
            }
        }
    }

    #[test]
    fn nothing_is_planned_for_no_scalars_but_a_unit() {
        let plan = plan(0, 20, 1, 1024, &H200);
        assert_eq!((plan.units, plan.levels.len()), (1, 0));
    }
}
