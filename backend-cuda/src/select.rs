//! Sorting witness values into zeros, ones and the rest.
//!
//! How many there are of each the host counts, from the codes that it keeps, so that nothing waits for the device. The
//! lists are made on the device: a count for each 32 variables, a scan, and one kernel that writes both lists.

use std::sync::Arc;

use bellwether_core::device::DeviceError;
use bellwether_core::r1cs::VariableSet;
use bellwether_kernels::table::scalar::{LIST_WARPS, SELECT_COUNT, SELECT_LIST, SelectCount, SelectList};
use rayon::prelude::*;

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;
use crate::scan::exclusive_scan;
use crate::vector::Scalars;
use crate::witness::{Witness, halves};

/// Words of a set that one task of the host counts, at least.
const WORDS_PER_TASK: usize = 1 << 13;

/// A [`VariableSet`], made resident.
#[derive(Debug)]
pub struct Variables {
    /// As on the device, for counting: two bits a variable, as in a witness's codes, of which the lower says whether it
    /// is a member.
    host_members: Vec<u32>,
    members: Buffer,
    /// Members before each 32 variables.
    positions: Buffer,
}

impl Variables {
    /// Uploads a set.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, set: &VariableSet) -> Result<Variables, DeviceError> {
        let both = |word: &u64| [spread(*word as u32), spread((word >> 32) as u32)];
        let mut members: Vec<u64> = set.words().iter().flat_map(both).collect();
        // As many words as there are of codes.
        members.truncate(set.len().div_ceil(32));
        let mut count = 0;
        let before = |word: &u64| {
            let before = count;
            count += word.count_ones();
            before
        };
        let positions: Vec<u32> = members.iter().map(before).collect();
        let host_members = halves(&members);
        Ok(Variables {
            members: gpu.upload(&host_members, Secrecy::Public)?,
            positions: gpu.upload(&positions, Secrecy::Public)?,
            host_members,
        })
    }
}

/// Which members of a variable set have the value one, and which have neither that nor zero.
#[derive(Debug)]
pub struct Selection {
    ones: List,
    tail: List,
    dense: Arc<Scalars>,
}

/// A list on the device.
#[derive(Debug)]
pub(crate) struct List {
    buffer: Buffer,
    len: usize,
}

impl List {
    /// The words of all entries.
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl Selection {
    /// Positions in the query of the members whose value is one, ascending: a word each.
    pub(crate) fn ones(&self) -> &List {
        &self.ones
    }

    /// Positions, ascending, and indices into [`dense`](Self::dense) of the members whose value is neither zero nor
    /// one: two words each.
    pub(crate) fn tail(&self) -> &List {
        &self.tail
    }

    /// The dense values of the whole witness.
    pub(crate) fn dense(&self) -> &Arc<Scalars> {
        &self.dense
    }
}

/// Sorts the values that a witness gives to the members of a set of as many variables.
///
/// # Errors
/// The device's.
pub(crate) fn select(
    gpu: &Arc<Gpu>,
    variables: &Variables,
    witness: &Witness,
) -> Result<Selection, DeviceError> {
    let words = variables.host_members.len() / 2;
    let counts = count(&variables.host_members, witness.host_codes());
    let list = |words, len| Ok(List { buffer: gpu.alloc(words * len, Secrecy::Secret)?, len });
    let (ones, tail) = (list(1, counts.ones)?, list(2, counts.tail)?);
    if counts.ones + counts.tail > 0 {
        let offsets = gpu.alloc(2 * words, Secrecy::Secret)?;
        let (members, codes) = (variables.members.at(0), witness.codes().at(0));
        let parameters = SelectCount { members, codes, counts: offsets.at(0), words: words as u64 };
        gpu.launch(&SELECT_COUNT, words.div_ceil(SELECT_COUNT.threads() as usize), &parameters)?;
        exclusive_scan(gpu, &offsets, 2 * words)?;
        let parameters = SelectList {
            members,
            positions: variables.positions.at(0),
            codes,
            ranks: witness.ranks().at(0),
            offsets: offsets.at(0),
            ones: ones.buffer.at(0),
            tail: tail.buffer.at(0),
            ones_count: counts.ones as u32,
            words: words as u64,
        };
        gpu.launch(&SELECT_LIST, words.div_ceil(LIST_WARPS), &parameters)?;
    }
    Ok(Selection { ones, tail, dense: Arc::clone(witness.dense()) })
}

/// Members with the value one, and with a dense value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    ones: usize,
    tail: usize,
}

/// Counts over words of a set and the codes of the same variables.
fn count(members: &[u32], codes: &[u32]) -> Counts {
    let of_word = |(members, code): (&u32, &u32)| Counts {
        ones: (code & members).count_ones() as usize,
        tail: (code >> 1 & members).count_ones() as usize,
    };
    let sum = |a: Counts, b: Counts| Counts { ones: a.ones + b.ones, tail: a.tail + b.tail };
    let words = members.par_iter().zip(codes).with_min_len(WORDS_PER_TASK);
    words.map(of_word).reduce(Counts::default, sum)
}

/// The bits of a word at the even positions of another.
fn spread(word: u32) -> u64 {
    let mut bits = u64::from(word);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

#[cfg(test)]
mod tests {
    use bellwether_core::r1cs::{Code, CompactWitness};
    use blstrs::Scalar;
    use ff::Field;

    use super::*;
    use crate::gpu::tests::open;

    /// A witness and a set of `len` variables. Of 256 values `ones` are one and `dense` are dense, of 256 variables
    /// `members` are in the set.
    fn random(len: usize, [ones, dense, members]: [u32; 3]) -> (CompactWitness, VariableSet) {
        let mut state = len as u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % 256
        };
        let mut words = vec![0; len.div_ceil(64)];
        let mut witness = CompactWitness::new();
        for variable in 0..len {
            let kind = next();
            witness.push(match kind {
                _ if kind < ones => Scalar::ONE,
                _ if kind < ones + dense => Scalar::from(variable as u64 + 2),
                _ => Scalar::ZERO,
            });
            words[variable / 64] |= u64::from(next() < members) << (variable % 64);
        }
        (witness, VariableSet::from_words(len, words))
    }

    fn read(gpu: &Arc<Gpu>, list: &List, words: usize) -> Vec<u32> {
        assert_eq!(list.buffer().words(), words * list.len());
        pollster::block_on(gpu.read(list.buffer(), 0..words * list.len())).unwrap().to_vec()
    }

    fn check(gpu: &Arc<Gpu>, witness: &CompactWitness, set: &VariableSet) {
        let resident = Witness::upload(gpu, witness).unwrap();
        let selection = select(gpu, &Variables::upload(gpu, set).unwrap(), &resident).unwrap();
        drop(resident);
        let (mut ones, mut tail) = (Vec::new(), Vec::new());
        for (position, variable) in set.iter().enumerate() {
            match witness.code(variable) {
                Code::Zero => {}
                Code::One => ones.push(position as u32),
                Code::Dense => tail.extend([position as u32, witness.dense_rank(variable) as u32]),
            }
        }
        assert!(read(gpu, selection.ones(), 1) == ones, "ones of {} variables", set.len());
        assert!(read(gpu, selection.tail(), 2) == tail, "tail of {} variables", set.len());
        assert_eq!(selection.dense().len(), witness.dense().len());
    }

    #[test]
    fn lists_are_those_of_the_host() {
        let gpu = open();
        for mix in [[120, 10, 200], [0, 256, 256], [256, 0, 256], [0, 0, 256], [100, 100, 0], [1, 1, 3]] {
            for len in [0, 1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 128, 1000, (1 << 16) + 1] {
                let (witness, set) = random(len, mix);
                check(&gpu, &witness, &set);
            }
        }
    }

    #[test]
    fn single_members_and_all_but_one() {
        let gpu = open();
        let (witness, _) = random(130, [100, 100, 0]);
        for variable in 0..130 {
            let single = VariableSet::from_range(130, variable..variable + 1);
            let mut others = vec![u64::MAX; 3];
            others[variable / 64] &= !(1 << (variable % 64));
            check(&gpu, &witness, &single);
            check(&gpu, &witness, &VariableSet::from_words(130, others));
        }
    }

    #[test]
    fn spreading_is_by_the_bit() {
        for word in [0, 1, 2, 0x8000_0000, 0xdead_beef, u32::MAX] {
            let expected = (0..32).fold(0, |sum, bit| sum | u64::from(word >> bit & 1) << (2 * bit));
            assert_eq!(spread(word), expected);
        }
    }
}
