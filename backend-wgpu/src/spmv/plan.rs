//! How the entries of a matrix are dealt out: into ranges, of which an invocation takes one, and pieces, which fit
//! bindings.
//!
//! A row of at most [`RANGE`] entries is one range, whose sum is the row's product. Longer rows are cut into several
//! ranges and come in pieces of their own; their partial sums are folded, [`FAN_IN`] to one, until one is left. A
//! sum goes straight to its row as soon as all of the row is in it.

use std::ops::Range;

/// Entries of a range, at most.
pub(super) const RANGE: usize = 32;

/// Partial sums that one invocation adds, at most.
pub(super) const FAN_IN: usize = 64;

/// What bounds a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Entries, [`RANGE`] or more.
    pub(super) entries: usize,
    /// Ranges, one or more.
    pub(super) ranges: usize,
    /// Rows in a part of the product.
    pub(super) part: usize,
}

/// Ranges of entries, one behind the other.
#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    /// Which entries of the matrix these are.
    pub(super) runs: Vec<Range<usize>>,
    /// The first entry of each range, counted within the piece, and the end of the last.
    pub(super) starts: Vec<u32>,
}

impl Piece {
    fn new() -> Piece {
        Piece { runs: Vec::new(), starts: vec![0] }
    }

    pub(super) fn ranges(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn entries(&self) -> usize {
        self.runs.iter().map(Range::len).sum()
    }

    /// Whether so many more entries fit, in the fewest ranges.
    fn has_room(&self, entries: usize, bounds: &Bounds) -> bool {
        let end = self.starts[self.ranges()] as usize + entries;
        end <= bounds.entries && self.ranges() + entries.div_ceil(RANGE).max(1) <= bounds.ranges
    }

    /// Appends a range; `false` if it does not fit.
    fn push(&mut self, range: Range<usize>, bounds: &Bounds) -> bool {
        if !self.has_room(range.len(), bounds) {
            return false;
        }
        self.starts.push(self.starts[self.ranges()] + range.len() as u32);
        match self.runs.last_mut() {
            _ if range.is_empty() => {}
            Some(run) if run.end == range.start => run.end = range.end,
            _ => self.runs.push(range),
        }
        true
    }
}

/// A piece with a range for each of some successive rows.
#[derive(Debug)]
pub(super) struct RowsPiece {
    pub(super) piece: Piece,
    /// The part of the product with all of these rows, and the first of them in it.
    pub(super) part: usize,
    pub(super) first: usize,
}

/// All rows, the long ones as empty ranges.
pub(super) fn rows(row_starts: &[usize], bounds: Bounds) -> impl Iterator<Item = RowsPiece> {
    let rows = row_starts.len() - 1;
    let mut row = 0;
    std::iter::from_fn(move || {
        let (part, first) = (row / bounds.part, row % bounds.part);
        let end = rows.min((part + 1) * bounds.part);
        let mut piece = Piece::new();
        while row < end {
            let (start, mut end) = (row_starts[row], row_starts[row + 1]);
            if end - start > RANGE {
                end = start;
            }
            if !piece.push(start..end, &bounds) {
                break;
            }
            row += 1;
        }
        (piece.ranges() > 0).then_some(RowsPiece { piece, part, first })
    })
}

/// Successive values that belong to one row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    row: usize,
    values: Range<usize>,
    /// Whether all values of the row are here.
    whole: bool,
}

/// A piece with ranges of long rows, and which ranges are whose.
#[derive(Debug)]
pub(super) struct LongPiece {
    pub(super) piece: Piece,
    pub(super) segments: Vec<Segment>,
}

/// The long rows.
pub(super) fn long_rows(row_starts: &[usize], bounds: Bounds) -> impl Iterator<Item = LongPiece> {
    let is_long = move |row: &usize| row_starts[row + 1] - row_starts[*row] > RANGE;
    let mut rows = (0..row_starts.len() - 1).filter(is_long).peekable();
    // Where the row begins that is dealt out, if it is begun.
    let mut next = None;
    std::iter::from_fn(move || {
        let mut long = LongPiece { piece: Piece::new(), segments: Vec::new() };
        while let Some(&row) = rows.peek() {
            let (start, end) = (row_starts[row], row_starts[row + 1]);
            let first = long.piece.ranges();
            let mut entry = next.unwrap_or(start);
            let begun = entry > start;
            // Only rows that exceed a piece are in several.
            if !begun && first > 0 && !long.piece.has_room(end - start, &bounds) {
                break;
            }
            while entry < end && long.piece.push(entry..end.min(entry + RANGE), &bounds) {
                entry = end.min(entry + RANGE);
            }
            let values = first..long.piece.ranges();
            if !values.is_empty() {
                long.segments.push(Segment { row, values, whole: !begun && entry == end });
            }
            if entry < end {
                next = Some(entry);
                break;
            }
            next = None;
            rows.next();
        }
        (long.piece.ranges() > 0).then_some(long)
    })
}

/// One level of sums. A sum is three words: its first value, the end, and where it goes.
#[derive(Debug, Default)]
pub(super) struct Fold {
    /// Sums that are rows of the product, by part.
    pub(super) rows: Vec<(usize, Vec<u32>)>,
    /// Sums that go to the next level.
    pub(super) carried: Vec<u32>,
}

/// Sums up segments; `carried` are the rows of the values at the next level, to which those from here are appended.
pub(super) fn fold(segments: &[Segment], bounds: &Bounds, carried: &mut Vec<usize>) -> Fold {
    let mut fold = Fold::default();
    for Segment { row, values, whole } in segments {
        if *whole && values.len() <= FAN_IN {
            let (part, row) = (row / bounds.part, row % bounds.part);
            if fold.rows.last().is_none_or(|(last, _)| *last != part) {
                fold.rows.push((part, Vec::new()));
            }
            if let Some((_, sums)) = fold.rows.last_mut() {
                sums.extend([values.start, values.end, row].map(|word| word as u32));
            }
            continue;
        }
        for start in values.clone().step_by(FAN_IN) {
            let end = values.end.min(start + FAN_IN);
            fold.carried.extend([start, end, carried.len()].map(|word| word as u32));
            carried.push(*row);
        }
    }
    fold
}

/// The levels above the pieces, each with its number of values, given the rows of those of the first.
pub(super) fn folds(mut carried: Vec<usize>, bounds: &Bounds) -> Vec<(usize, Fold)> {
    let mut levels = Vec::new();
    while !carried.is_empty() {
        let mut end = 0;
        let segments: Vec<Segment> = carried
            .chunk_by(|a, b| a == b)
            .map(|row| {
                end += row.len();
                Segment { row: row[0], values: end - row.len()..end, whole: true }
            })
            .collect();
        let mut next = Vec::new();
        levels.push((carried.len(), fold(&segments, bounds, &mut next)));
        carried = next;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows every entry to its row, as the device does.
    fn check(lengths: &[usize], bounds: Bounds) {
        let mut row_starts = vec![0];
        lengths.iter().for_each(|len| row_starts.push(row_starts[row_starts.len() - 1] + len));
        // The sum of a range is the set of its entries.
        let entries = |piece: &Piece| -> Vec<Vec<usize>> {
            let all: Vec<usize> = piece.runs.iter().cloned().flatten().collect();
            assert!(all.len() <= bounds.entries && piece.ranges() <= bounds.ranges);
            assert_eq!(all.len(), piece.entries());
            piece.starts.windows(2).map(|range| all[range[0] as usize..range[1] as usize].to_vec()).collect()
        };
        let mut product: Vec<Option<Vec<usize>>> = vec![None; lengths.len()];
        for rows in rows(&row_starts, bounds) {
            assert!(rows.first + rows.piece.ranges() <= bounds.part);
            for (i, sum) in entries(&rows.piece).into_iter().enumerate() {
                let row = &mut product[rows.part * bounds.part + rows.first + i];
                assert!(row.replace(sum).is_none());
            }
        }
        assert!(product.iter().all(Option::is_some));

        let sum = |values: &[Vec<usize>], fold: &Fold, product: &mut [Option<Vec<usize>>]| {
            let total = |task: &[u32]| {
                assert!((task[1] - task[0]) as usize <= FAN_IN);
                values[task[0] as usize..task[1] as usize].concat()
            };
            for (part, tasks) in &fold.rows {
                for task in tasks.chunks_exact(3) {
                    let row = &mut product[part * bounds.part + task[2] as usize];
                    assert_eq!(row.replace(total(task)), Some(vec![]));
                }
            }
            fold.carried.chunks_exact(3).map(|task| (task[2] as usize, total(task))).collect::<Vec<_>>()
        };
        let mut carried = Vec::new();
        let mut values = Vec::new();
        for long in long_rows(&row_starts, bounds) {
            let fold = fold(&long.segments, &bounds, &mut carried);
            for (at, value) in sum(&entries(&long.piece), &fold, &mut product) {
                assert_eq!(at, values.len());
                values.push(value);
            }
        }
        for (count, fold) in folds(carried, &bounds) {
            assert_eq!(count, values.len());
            values = sum(&values, &fold, &mut product).into_iter().map(|(_, value)| value).collect();
        }
        assert!(values.is_empty());
        for (row, sum) in product.into_iter().enumerate() {
            assert_eq!(sum, Some((row_starts[row]..row_starts[row + 1]).collect()), "row {row}");
        }
    }

    #[test]
    fn every_entry_reaches_its_row() {
        let none = Bounds { entries: usize::MAX, ranges: usize::MAX, part: usize::MAX };
        let small = Bounds { entries: 100, ranges: 7, part: 5 };
        let single = Bounds { entries: RANGE, ranges: 1, part: 1 };
        for bounds in [none, small, single, Bounds { ranges: 1000, ..small }] {
            check(&[], bounds);
            check(&[0], bounds);
            check(&[0, 1, 0, 31, 32, 33, 0, 64, 65, 1, 2, 3, 400, 0, 33, 33], bounds);
            check(&[70_000], bounds);
            check(&[1, 70_000, 0, 0, 5000, 2048, 2049, 32 * 64 * 64, 32 * 64 * 64 + 1, 7], bounds);
        }
    }
}
