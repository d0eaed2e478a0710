//! A set of variables with constant-time rank: which variables a query covers, and where.

/// A subset of the variables `0..len`, inputs first, auxiliary variables after them.
///
/// The points of a query belong, in order, to the members of such a set: the point of variable `v` stands at
/// position [`rank`](VariableSet::rank)`(v)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableSet {
    len: usize,
    words: Vec<u64>,
    /// Members before each word.
    ranks: Vec<u32>,
    count: usize,
}

impl VariableSet {
    /// The set with a bit for each of `len` variables: bit `v % 64` of `words[v / 64]` says whether `v` is in.
    /// Bits past `len` are ignored, missing words are empty.
    pub fn from_words(len: usize, mut words: Vec<u64>) -> Self {
        words.resize(len.div_ceil(64), 0);
        if let (Some(last), used @ 1..) = (words.last_mut(), len % 64) {
            *last &= (1 << used) - 1;
        }
        let mut count = 0;
        let ranks = words
            .iter()
            .map(|word| {
                let before = count as u32;
                count += word.count_ones() as usize;
                before
            })
            .collect();
        VariableSet { len, words, ranks, count }
    }

    /// The members of a consecutive range, out of `len` variables.
    pub fn from_range(len: usize, range: std::ops::Range<usize>) -> Self {
        let mut bits = BitVec::zeros(len);
        range.for_each(|variable| bits.set(variable));
        VariableSet::from_words(len, bits.words)
    }

    /// How many variables there are, members or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no variables at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many variables are members.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether `variable` is a member.
    pub fn contains(&self, variable: usize) -> bool {
        variable < self.len && self.words[variable / 64] >> (variable % 64) & 1 == 1
    }

    /// Members smaller than `variable`, which must be below `len`.
    #[inline]
    pub fn rank(&self, variable: usize) -> usize {
        let below = self.words[variable / 64] & ((1u64 << (variable % 64)) - 1);
        self.ranks[variable / 64] as usize + below.count_ones() as usize
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.iter_words(0..self.words.len())
    }

    /// The members whose bits stand in these words, in ascending order.
    pub(crate) fn iter_words(&self, words: std::ops::Range<usize>) -> impl Iterator<Item = usize> + '_ {
        words.flat_map(|i| Ones(self.words[i]).map(move |bit| i * 64 + bit))
    }

    /// The bits, 64 variables a word, lowest bit first: what a device uploads.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// For each word, the number of members in the words before it.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }
}

/// Positions of the one bits of a word, ascending.
pub(crate) struct Ones(pub(crate) u64);

impl Iterator for Ones {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// Bits that grow while a circuit is synthesised.
#[derive(Clone, Debug, Default)]
pub(crate) struct BitVec {
    len: usize,
    words: Vec<u64>,
}

impl BitVec {
    pub(crate) fn zeros(len: usize) -> Self {
        BitVec { len, words: vec![0; len.div_ceil(64)] }
    }

    pub(crate) fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.len += 1;
        if bit {
            self.set(self.len - 1);
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    pub(crate) fn get(&self, index: usize) -> bool {
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// Appends the bits of `other` from position `start` on.
    pub(crate) fn append(&mut self, other: &BitVec, start: usize) {
        if self.len.is_multiple_of(64) && start == 0 {
            self.words.extend_from_slice(&other.words);
            self.len += other.len;
        } else {
            (start..other.len).for_each(|i| self.push(other.get(i)));
        }
    }

    pub(crate) fn into_set(self) -> VariableSet {
        VariableSet::from_words(self.len, self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rank_and_iter_agree_with_a_naive_count(bits in proptest::collection::vec(any::<bool>(), 0..300)) {
            let mut grown = BitVec::default();
            bits.iter().for_each(|&bit| grown.push(bit));
            let set = grown.into_set();
            prop_assert_eq!(set.len(), bits.len());
            prop_assert_eq!(set.count(), bits.iter().filter(|&&b| b).count());
            for (i, &bit) in bits.iter().enumerate() {
                prop_assert_eq!(set.contains(i), bit);
                prop_assert_eq!(set.rank(i), bits[..i].iter().filter(|&&b| b).count());
            }
            let members: Vec<usize> = (0..bits.len()).filter(|&i| bits[i]).collect();
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), members);
        }

        #[test]
        fn append_is_concatenation(
            a in proptest::collection::vec(any::<bool>(), 0..200),
            b in proptest::collection::vec(any::<bool>(), 1..200),
            start in 0usize..2,
        ) {
            let grow = |bits: &[bool]| {
                let mut grown = BitVec::default();
                bits.iter().for_each(|&bit| grown.push(bit));
                grown
            };
            let mut joined = grow(&a);
            joined.append(&grow(&b), start);
            let expected = grow(&[&a[..], &b[start..]].concat());
            prop_assert_eq!(joined.into_set(), expected.into_set());
        }
    }

    #[test]
    fn bits_past_the_end_do_not_count() {
        let set = VariableSet::from_words(3, vec![u64::MAX, 5]);
        assert_eq!((set.count(), set.words().len()), (3, 1));
        assert!(!set.contains(3) && !set.contains(64));
    }

    #[test]
    fn ranges() {
        let set = VariableSet::from_range(130, 2..130);
        assert_eq!((set.count(), set.rank(129), set.contains(1)), (128, 127, false));
    }
}
