//! How a transform is cut into passes.

/// log₂ of the points of a workgroup of `ntt_pass.wgsl`.
pub(super) const LOG_POINTS: u32 = 9;

/// log₂ of the largest sub-transform.
pub(super) const MAX_RADIX: u32 = LOG_POINTS;

/// log₂ of the largest sub-transform that leaves two neighbouring columns, 64 bytes, to a workgroup.
const BROAD_RADIX: u32 = 8;

/// The bits of the index that one pass transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    pub(super) start: u32,
    pub(super) radix: u32,
}

/// The passes of a transform of 2^`log_size` points, from the highest bits to the lowest; as few as there can be.
///
/// A step within a pass takes two bits, so radices are even where they can be; an odd bit goes to the lowest, whose
/// columns lie side by side in any case.
pub(super) fn passes(log_size: u32) -> Vec<Bits> {
    let count = log_size.div_ceil(MAX_RADIX) as usize;
    let mut radices = vec![0; count];
    let mut left = log_size;
    while left >= 2 && radices.iter().any(|radix| radix + 2 <= BROAD_RADIX) {
        for radix in radices.iter_mut().filter(|radix| **radix + 2 <= BROAD_RADIX) {
            if left >= 2 {
                *radix += 2;
                left -= 2;
            }
        }
    }
    for radix in radices.iter_mut() {
        let bits = left.min(MAX_RADIX - *radix).min(1);
        *radix += bits;
        left -= bits;
    }
    let mut start = 0;
    let mut passes: Vec<Bits> = radices
        .into_iter()
        .map(|radix| {
            start += radix;
            Bits { start: start - radix, radix }
        })
        .collect();
    passes.reverse();
    passes
}

/// How a workgroup finds its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) columns: u32,
    pub(super) column_shift: u32,
    pub(super) low_bits: u32,
    pub(super) low_shift: u32,
    pub(super) high_shift: u32,
    pub(super) groups: usize,
}

impl Bits {
    /// The bit behind the last.
    pub(super) fn end(self) -> u32 {
        self.start + self.radix
    }

    /// The columns of a workgroup are neighbours; `spread`, which goes with the lowest bits, makes them neighbours
    /// once their index is reversed.
    pub(super) fn geometry(self, log_size: u32, spread: bool) -> Geometry {
        let Bits { start, radix } = self;
        let columns = (LOG_POINTS - radix).min(log_size - radix);
        let groups = 1 << (log_size - radix - columns);
        if start == 0 {
            let (column_shift, high_shift) =
                if spread { (log_size - columns, radix) } else { (radix, radix + columns) };
            return Geometry { columns, column_shift, low_bits: 0, low_shift: 0, high_shift, groups };
        }
        let low_bits = start - columns;
        Geometry { columns, column_shift: 0, low_bits, low_shift: columns, high_shift: start + radix, groups }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn radices(log_size: u32) -> Vec<u32> {
        passes(log_size).iter().map(|pass| pass.radix).collect()
    }

    #[test]
    fn passes_cover_all_bits() {
        for log_size in 0..=32 {
            let passes = passes(log_size);
            let mut top = log_size;
            for pass in &passes {
                assert_eq!(pass.end(), top);
                assert!((1..=MAX_RADIX).contains(&pass.radix));
                top = pass.start;
            }
            assert_eq!(top, 0);
            assert_eq!(passes.len(), log_size.div_ceil(9) as usize);
        }
    }

    #[test]
    fn radices_of_some_sizes() {
        assert_eq!(radices(0), []);
        assert_eq!(radices(1), [1]);
        assert_eq!(radices(9), [9]);
        assert_eq!(radices(10), [4, 6]);
        assert_eq!(radices(13), [6, 7]);
        assert_eq!(radices(17), [8, 9]);
        assert_eq!(radices(20), [6, 6, 8]);
        assert_eq!(radices(24), [8, 8, 8]);
        assert_eq!(radices(26), [8, 9, 9]);
        assert_eq!(radices(27), [9, 9, 9]);
    }

    /// Every index belongs to one group, column and place.
    #[test]
    fn geometries_are_bijections() {
        for log_size in 1..=14u32 {
            for pass in passes(log_size) {
                for spread in [false, true] {
                    let g = pass.geometry(log_size, spread);
                    let mut seen = vec![false; 1 << log_size];
                    for group in 0..g.groups {
                        for column in 0..1usize << g.columns {
                            for place in 0..1usize << pass.radix {
                                let index = ((group >> g.low_bits) << g.high_shift)
                                    | (place << pass.start)
                                    | ((group & ((1 << g.low_bits) - 1)) << g.low_shift)
                                    | (column << g.column_shift);
                                assert!(!std::mem::replace(&mut seen[index], true));
                            }
                        }
                    }
                    assert!(seen.iter().all(|seen| *seen));
                }
            }
        }
    }
}
