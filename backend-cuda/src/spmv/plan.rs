//! How the rows of a matrix are dealt out.
//!
//! Short rows take a thread each, longer ones a warp each, and the longest are cut into runs of [`RUN`] entries, a warp
//! each, whose sums are added in a further step. Most rows of most circuits have two or three entries, but a circuit of
//! SHA-256 packs the bits of seven additions into one row (bellman's `MultiEq`), hundreds of entries; with a thread a
//! row, 31 others would wait for it. The bound of short rows is the kernel's: with it, and 256 rows a block, where a
//! row's entries begin in its block and how many they are take 16 bits together.

use std::ops::Range;

use bellwether_kernels::table::scalar::{SHORT_ROW, SPMV_ROWS};

/// Entries of a run, at most: 64 a lane, so that the sum over lanes, five additions in which most of them wait, is
/// little. Not measured yet.
pub(super) const RUN: usize = 2048;

/// Rows of a block.
const BLOCK: usize = SPMV_ROWS.threads() as usize;

/// Places fit 16 bits.
const _: () = assert!(BLOCK * SHORT_ROW < 1 << 12 && SHORT_ROW < 1 << 4);

/// Entries of one class of rows, in order, and where each run of them begins.
#[derive(Debug)]
pub(super) struct Runs {
    /// Which entries of the matrix these are.
    pub(super) entries: Vec<Range<usize>>,
    /// For each run, and once more at the end, the number of entries before it.
    pub(super) starts: Vec<u64>,
}

impl Runs {
    fn new() -> Runs {
        Runs { entries: Vec::new(), starts: vec![0] }
    }

    /// How many runs there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Appends entries as one run.
    fn push(&mut self, entries: Range<usize>) {
        self.starts.push(self.starts[self.len()] + entries.len() as u64);
        append(&mut self.entries, entries);
    }
}

/// Appends a range to successive ones.
fn append(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// What `spmv_rows`, `spmv_runs` and `spmv_sums` read of the rows.
#[derive(Debug)]
pub(super) struct Plan {
    /// Entries of short rows.
    pub(super) short: Vec<Range<usize>>,
    /// For each block, the number of entries of short rows before it.
    pub(super) bases: Vec<u64>,
    /// Two rows a word, the first in the lower half: the number of entries before it in its block, times 16, plus that
    /// of its own. Of a longer row it says that there are none.
    pub(super) places: Vec<u32>,
    /// Rows of one run.
    pub(super) medium: Runs,
    /// Which rows these are.
    pub(super) medium_rows: Vec<u32>,
    /// Rows of several runs.
    pub(super) long: Runs,
    /// For each of these rows, and once more at the end, the number of runs before it.
    pub(super) long_starts: Vec<u64>,
    /// Which rows these are.
    pub(super) long_rows: Vec<u32>,
}

impl Plan {
    /// For rows that begin and end there.
    pub(super) fn new(row_starts: &[usize]) -> Plan {
        let rows = row_starts.len() - 1;
        let mut plan = Plan {
            short: Vec::new(),
            bases: Vec::with_capacity(rows.div_ceil(BLOCK)),
            places: Vec::with_capacity(rows.div_ceil(2)),
            medium: Runs::new(),
            medium_rows: Vec::new(),
            long: Runs::new(),
            long_starts: vec![0],
            long_rows: Vec::new(),
        };
        let (mut base, mut before) = (0, 0);
        for row in 0..rows {
            let entries = row_starts[row]..row_starts[row + 1];
            if row % BLOCK == 0 {
                base += before as u64;
                before = 0;
                plan.bases.push(base);
            }
            let count = if entries.len() <= SHORT_ROW { entries.len() } else { 0 };
            plan.push_place(row, (before << 4 | count) as u32);
            before += count;
            plan.push_entries(row, entries);
        }
        plan
    }

    fn push_place(&mut self, row: usize, place: u32) {
        match self.places.last_mut() {
            Some(last) if row % 2 == 1 => *last |= place << 16,
            _ => self.places.push(place),
        }
    }

    fn push_entries(&mut self, row: usize, entries: Range<usize>) {
        if entries.len() <= SHORT_ROW {
            append(&mut self.short, entries);
        } else if entries.len() <= RUN {
            self.medium.push(entries);
            self.medium_rows.push(row as u32);
        } else {
            for start in entries.clone().step_by(RUN) {
                self.long.push(start..entries.end.min(start + RUN));
            }
            self.long_starts.push(self.long.len() as u64);
            self.long_rows.push(row as u32);
        }
    }
}

/// Cuts ranges into ranges of at most `len`, and puts as many of these together as have at most `total`, which is no
/// less.
pub(super) fn pieces(
    ranges: &[Range<usize>],
    len: usize,
    total: usize,
) -> impl Iterator<Item = Vec<Range<usize>>> {
    let cut = move |range: &Range<usize>| {
        let end = range.end;
        range.clone().step_by(len).map(move |start| start..end.min(start + len))
    };
    let mut cuts = ranges.iter().flat_map(cut).peekable();
    std::iter::from_fn(move || {
        let mut piece = Vec::new();
        let mut room = total;
        while let Some(range) = cuts.next_if(|range| range.len() <= room) {
            room -= range.len();
            piece.push(range);
        }
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows every entry to its row, as the device does.
    fn check(lengths: &[usize]) {
        let mut row_starts = vec![0];
        lengths.iter().for_each(|len| row_starts.push(row_starts[row_starts.len() - 1] + len));
        let plan = Plan::new(&row_starts);
        assert_eq!(plan.bases.len(), lengths.len().div_ceil(BLOCK));
        assert_eq!(plan.places.len(), lengths.len().div_ceil(2));

        let all = |ranges: &[Range<usize>]| ranges.iter().cloned().flatten().collect::<Vec<usize>>();
        let short = all(&plan.short);
        let mut product: Vec<Vec<usize>> = Vec::new();
        for row in 0..lengths.len() {
            let place = (plan.places[row / 2] >> (16 * (row % 2))) as usize & 0xffff;
            let start = plan.bases[row / BLOCK] as usize + place / 16;
            product.push(short[start..start + place % 16].to_vec());
        }
        let sums = |runs: &Runs| -> Vec<Vec<usize>> {
            let entries = all(&runs.entries);
            assert_eq!(runs.starts[runs.len()] as usize, entries.len());
            let run = |ends: &[u64]| entries[ends[0] as usize..ends[1] as usize].to_vec();
            runs.starts.windows(2).map(run).inspect(|run| assert!(run.len() <= RUN)).collect()
        };
        let medium = sums(&plan.medium);
        assert_eq!(medium.len(), plan.medium_rows.len());
        for (row, sum) in plan.medium_rows.iter().zip(medium) {
            assert_eq!(std::mem::replace(&mut product[*row as usize], sum), []);
        }
        let partial = sums(&plan.long);
        assert_eq!(plan.long_starts.len(), plan.long_rows.len() + 1);
        for (row, ends) in plan.long_rows.iter().zip(plan.long_starts.windows(2)) {
            let sum = partial[ends[0] as usize..ends[1] as usize].concat();
            assert_eq!(std::mem::replace(&mut product[*row as usize], sum), []);
        }
        for (row, sum) in product.into_iter().enumerate() {
            assert_eq!(sum, (row_starts[row]..row_starts[row + 1]).collect::<Vec<_>>(), "row {row}");
        }
    }

    #[test]
    fn every_entry_reaches_its_row() {
        check(&[]);
        check(&[0]);
        check(&[0, 1, 0, 15, 16, 17, 0, 64, 65, 1, 2, 3, 400, 0, 15, 15]);
        check(&[70_000]);
        check(&[1, 70_000, 0, 0, 5000, 2047, 2048, 2049, 4096, 4097, 7]);
        check(&[SHORT_ROW; 3 * BLOCK]);
        check(&(0..1000).map(|row| row % 19).collect::<Vec<_>>());
    }

    #[test]
    fn pieces_are_all_in_order() {
        let ranges = [3..4, 10..35, 40..40, 50..61];
        for (len, total) in [(1, 1), (1, 7), (5, 5), (5, 12), (100, 100)] {
            let pieces: Vec<_> = pieces(&ranges, len, total).collect();
            for piece in &pieces {
                assert!(piece.iter().all(|range| range.len() <= len));
                assert!(piece.iter().map(Range::len).sum::<usize>() <= total);
            }
            assert!(pieces.into_iter().flatten().flatten().eq(ranges.iter().cloned().flatten()));
        }
    }
}
