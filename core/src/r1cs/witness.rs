//! The compact witness: two bits a variable, and the few values that need more.

use blstrs::Scalar;
use ff::Field;

use crate::secret::SecretVec;

/// What the two bits of a variable say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The value is zero.
    Zero = 0,
    /// The value is one.
    One = 1,
    /// The value is neither; it stands in the dense part.
    Dense = 2,
}

/// Variables in a code word.
pub const CODES_PER_WORD: usize = 32;

/// Low bit of each two-bit code.
const LOW_BITS: u64 = 0x5555_5555_5555_5555;

/// The values of all variables, zeros and ones in two bits each, the others as field elements in order.
///
/// Real witnesses are mostly bits: of a Filecoin PoRep partition 98 % of the values are zero or one, so that
/// 130 million variables take 33 MB of codes and 83 MB of values instead of 4.2 GB. This is the form in which
/// a witness travels to a device. It is cleared when dropped and `Debug` shows sizes only.
#[derive(Clone, Default)]
pub struct CompactWitness {
    len: usize,
    /// 32 codes a word, the first in the lowest bits.
    codes: SecretVec<u64>,
    /// Dense values before each word.
    ranks: SecretVec<u32>,
    dense: SecretVec<Scalar>,
}

impl CompactWitness {
    /// A witness without variables.
    pub fn new() -> Self {
        CompactWitness::default()
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends the value of the next variable.
    #[inline]
    pub fn push(&mut self, value: Scalar) {
        let code = if value == Scalar::ZERO {
            Code::Zero
        } else if value == Scalar::ONE {
            Code::One
        } else {
            Code::Dense
        };
        self.push_code(code);
        if code == Code::Dense {
            self.dense.push(value);
        }
    }

    /// Appends a code; for [`Code::Dense`] the caller appends the value behind it.
    #[inline]
    fn push_code(&mut self, code: Code) {
        let slot = self.len % CODES_PER_WORD;
        if slot == 0 {
            self.codes.push(0);
            self.ranks.push(self.dense.len() as u32);
        }
        self.codes[self.len / CODES_PER_WORD] |= (code as u64) << (2 * slot);
        self.len += 1;
    }

    /// Appends the variables of `other` from position `start` on.
    pub fn append(&mut self, other: &CompactWitness, start: usize) {
        for index in start..other.len {
            self.push_code(other.code(index));
            if other.code(index) == Code::Dense {
                self.dense.push(other.get(index));
            }
        }
    }

    /// The code of variable `index`, which must be below `len`.
    #[inline]
    pub fn code(&self, index: usize) -> Code {
        match self.codes[index / CODES_PER_WORD] >> (2 * (index % CODES_PER_WORD)) & 3 {
            0 => Code::Zero,
            1 => Code::One,
            _ => Code::Dense,
        }
    }

    /// The position in [`dense`](Self::dense) of variable `index`, whose code must be [`Code::Dense`].
    #[inline]
    pub fn dense_rank(&self, index: usize) -> usize {
        let (word, slot) = (index / CODES_PER_WORD, index % CODES_PER_WORD);
        let dense = self.codes[word] >> 1 & LOW_BITS;
        self.ranks[word] as usize + (dense & ((1 << (2 * slot)) - 1)).count_ones() as usize
    }

    /// The value of variable `index`, which must be below `len`.
    #[inline]
    pub fn get(&self, index: usize) -> Scalar {
        match self.code(index) {
            Code::Zero => Scalar::ZERO,
            Code::One => Scalar::ONE,
            Code::Dense => self.dense[self.dense_rank(index)],
        }
    }

    /// The codes, 32 variables a word, the first in the lowest bits: what a device uploads.
    pub fn codes(&self) -> &[u64] {
        &self.codes
    }

    /// For each code word, the number of dense values in the words before it.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The values that are neither zero nor one, in order of their variables.
    pub fn dense(&self) -> &[Scalar] {
        &self.dense
    }
}

impl FromIterator<Scalar> for CompactWitness {
    fn from_iter<I: IntoIterator<Item = Scalar>>(values: I) -> Self {
        let mut witness = CompactWitness::new();
        values.into_iter().for_each(|value| witness.push(value));
        witness
    }
}

impl std::fmt::Debug for CompactWitness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CompactWitness({} variables, {} dense)", self.len, self.dense.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(kind: u64) -> Scalar {
        match kind % 4 {
            0 => Scalar::ZERO,
            1 => Scalar::ONE,
            2 => -Scalar::ONE,
            _ => Scalar::from(kind),
        }
    }

    proptest! {
        #[test]
        fn every_value_comes_back(kinds in proptest::collection::vec(any::<u64>(), 0..200)) {
            let values: Vec<Scalar> = kinds.into_iter().map(value).collect();
            let witness: CompactWitness = values.iter().copied().collect();
            prop_assert_eq!(witness.len(), values.len());
            prop_assert_eq!(witness.codes().len(), values.len().div_ceil(CODES_PER_WORD));
            for (i, expected) in values.iter().enumerate() {
                prop_assert_eq!(&witness.get(i), expected);
            }
            let bits = [Scalar::ZERO, Scalar::ONE];
            prop_assert_eq!(witness.dense().len(), values.iter().filter(|v| !bits.contains(v)).count());
        }

        #[test]
        fn append_is_concatenation(
            a in proptest::collection::vec(any::<u64>(), 0..100),
            b in proptest::collection::vec(any::<u64>(), 1..100),
            start in 0usize..2,
        ) {
            let collect = |kinds: &[u64]| kinds.iter().copied().map(value).collect::<CompactWitness>();
            let mut joined = collect(&a);
            joined.append(&collect(&b), start);
            let expected: Vec<Scalar> = a.iter().chain(&b[start..]).copied().map(value).collect();
            prop_assert_eq!(joined.len(), expected.len());
            for (i, expected) in expected.iter().enumerate() {
                prop_assert_eq!(&joined.get(i), expected);
            }
        }
    }

    #[test]
    fn debug_shows_no_value() {
        let witness: CompactWitness = [Scalar::from(0xdead_beef_u64)].into_iter().collect();
        assert_eq!(format!("{witness:?}"), "CompactWitness(1 variables, 1 dense)");
    }
}
