//! Sorting witness values into zeros, ones and the rest.
//!
//! How many there are of each the host counts, from the codes that it keeps, so that nothing waits for the device. The
//! lists are made on the device: a count for each 64 variables, a scan, and one program that writes both lists.

use std::ops::{AddAssign, Range};
use std::sync::Arc;

use bellwether_core::device::DeviceError;
use bellwether_core::r1cs::VariableSet;
use bellwether_shaders::params;
use rayon::prelude::*;

use crate::buffer::{Buffer, Secrecy, Span};
use crate::gpu::Gpu;
use crate::scan::exclusive_scan;
use crate::vector::Scalars;
use crate::witness::Witness;

/// Invocations of a workgroup of `select_count.wgsl` and `select_emit.wgsl`, each with one word of the set.
const WORKGROUP: usize = 64;

/// What a workgroup takes of the time of a field multiplication, very roughly.
const GROUP_COST: u64 = 128;

/// Words of the set that one task counts, at most.
const WORDS_PER_TASK: usize = 512;

/// A [`VariableSet`], made resident.
#[derive(Debug)]
pub struct Variables {
    /// For counting.
    set: VariableSet,
    members: Buffer,
    positions: Buffer,
}

impl Variables {
    /// Uploads a set.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, set: &VariableSet) -> Result<Variables, DeviceError> {
        let mut members: Vec<u32> =
            set.words().iter().flat_map(|word| [*word as u32, (word >> 32) as u32]).collect();
        let mut positions = set.ranks().to_vec();
        // No buffer is empty.
        members.resize(members.len().max(2), 0);
        positions.resize(positions.len().max(1), 0);
        Ok(Variables {
            set: set.clone(),
            members: gpu.upload(&members, Secrecy::Public)?,
            positions: gpu.upload(&positions, Secrecy::Public)?,
        })
    }

    /// Members before a word of the set, which may be the one past the end.
    fn position(&self, word: usize) -> usize {
        self.set.ranks().get(word).map_or(self.set.count(), |rank| *rank as usize)
    }
}

/// Which members of a variable set have the value one, and which have neither that nor zero.
#[derive(Debug)]
pub struct Selection {
    ones: List,
    tail: List,
    dense: Arc<Scalars>,
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

/// A list in parts that each fit a binding; without parts if it is empty.
#[derive(Debug, Default)]
pub(crate) struct List {
    parts: Vec<ListPart>,
    len: usize,
}

/// A part of a list, of one entry or more.
#[derive(Debug)]
pub(crate) struct ListPart {
    /// The entries.
    pub(crate) span: Span,
    /// How many they are.
    pub(crate) len: usize,
    /// What positions there can be among them; ranges of successive parts follow each other.
    pub(crate) positions: Range<usize>,
}

impl List {
    /// The parts in order.
    pub(crate) fn parts(&self) -> &[ListPart] {
        &self.parts
    }

    /// Entries of all parts.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A buffer for the entries of the next part; for none, one that is too small to matter.
    fn grow(
        &mut self,
        gpu: &Arc<Gpu>,
        len: usize,
        words: usize,
        positions: Range<usize>,
    ) -> Result<Span, DeviceError> {
        let span = gpu.alloc(words * len.max(1), Secrecy::Secret)?.span();
        self.len += len;
        if len > 0 {
            self.parts.push(ListPart { span: span.clone(), len, positions });
        }
        Ok(span)
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
    let words = variables.set.words().len();
    let tasks = count(variables.set.words(), witness.host_codes(), gpu.limits().binding);
    let mut total = Counts::default();
    tasks.iter().for_each(|(_, counts)| total += *counts);
    let mut selection =
        Selection { ones: List::default(), tail: List::default(), dense: Arc::clone(witness.dense()) };
    if total.ones + total.tail == 0 {
        return Ok(selection);
    }

    let offsets = gpu.alloc(2 * words, Secrecy::Secret)?.span();
    let members = variables.members.span();
    let codes = witness.codes().span();
    let params = params::SelectCount { words: words as u32 };
    gpu.run(None, params, &[&members, &codes, &offsets], words.div_ceil(WORKGROUP), GROUP_COST)?;
    exclusive_scan(gpu, &offsets, 2 * words)?;

    let (positions, ranks) = (variables.positions.span(), witness.ranks().span());
    let mut first = Counts::default();
    for (part, counts) in parts(&tasks, gpu.limits().binding) {
        let range = variables.position(part.start)..variables.position(part.end);
        let ones = selection.ones.grow(gpu, counts.ones, 1, range.clone())?;
        let tail = selection.tail.grow(gpu, counts.tail, 2, range)?;
        let params = params::SelectEmit {
            words: words as u32,
            first_word: part.start as u32,
            end_word: part.end as u32,
            ones_base: first.ones as u32,
            // The counts of dense values stand behind those of ones.
            tail_base: (total.ones + first.tail) as u32,
        };
        let buffers = [&members, &positions, &codes, &ranks, &offsets, &ones, &tail];
        gpu.run(None, params, &buffers, part.len().div_ceil(WORKGROUP), 4 * GROUP_COST)?;
        first += counts;
    }
    Ok(selection)
}

/// Members with the value one, and with a dense value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    ones: usize,
    tail: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.ones += other.ones;
        self.tail += other.tail;
    }
}

impl Counts {
    /// Of some words of a set, and the codes of the same variables.
    fn of(words: &[u64], codes: &[u64]) -> Counts {
        let mut counts = Counts::default();
        for (i, code) in codes.iter().enumerate().take(2 * words.len()) {
            let members = spread((words[i / 2] >> (32 * (i % 2))) as u32);
            counts.ones += (code & members).count_ones() as usize;
            counts.tail += (code >> 1 & members).count_ones() as usize;
        }
        counts
    }

    /// Whether both lists fit a binding of so many bytes.
    fn fit(&self, binding: u64) -> bool {
        (4 * self.ones).max(8 * self.tail) as u64 <= binding
    }
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

/// Counts for runs of words, each so short that its lists fit a binding.
fn count(words: &[u64], codes: &[u64], binding: u64) -> Vec<(Range<usize>, Counts)> {
    let task = (binding as usize / (8 * 64)).clamp(1, WORDS_PER_TASK);
    (0..words.len().div_ceil(task))
        .into_par_iter()
        .map(|i| {
            let range = i * task..words.len().min((i + 1) * task);
            let counts = Counts::of(&words[range.clone()], &codes[2 * range.start..2 * range.end]);
            (range, counts)
        })
        .collect()
}

/// The runs joined as long as their lists fit a binding.
fn parts(tasks: &[(Range<usize>, Counts)], binding: u64) -> Vec<(Range<usize>, Counts)> {
    let mut parts: Vec<(Range<usize>, Counts)> = Vec::new();
    for (range, counts) in tasks {
        if let Some((joined, sum)) = parts.last_mut() {
            let mut both = *sum;
            both += *counts;
            if both.fit(binding) {
                (joined.end, *sum) = (range.end, both);
                continue;
            }
        }
        parts.push((range.clone(), *counts));
    }
    parts
}

#[cfg(test)]
mod tests {
    use bellwether_core::r1cs::{Code, CompactWitness};
    use blstrs::Scalar;
    use ff::Field;

    use super::*;
    use crate::gpu::tests::open;
    use crate::options::WgpuOptions;

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
        let mut entries = Vec::new();
        let mut position = 0;
        for part in list.parts() {
            assert!(part.len > 0 && part.span.words() == words * part.len);
            assert!(part.positions.start >= position);
            position = part.positions.end;
            let part_entries = pollster::block_on(gpu.read(&part.span)).unwrap();
            for entry in part_entries.chunks_exact(words) {
                assert!(part.positions.contains(&(entry[0] as usize)));
            }
            entries.extend_from_slice(&part_entries);
        }
        assert_eq!(entries.len(), words * list.len());
        entries
    }

    fn check(gpu: &Arc<Gpu>, witness: &CompactWitness, set: &VariableSet) -> usize {
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
        selection.ones().parts().len().max(selection.tail().parts().len())
    }

    #[test]
    fn lists_are_those_of_the_host() {
        for (max_binding, longest) in
            [(None, (1 << 16) + 1), (Some(32_768), (1 << 16) + 1), (Some(8192), 30_000)]
        {
            let gpu =
                open(&WgpuOptions { max_binding, checked: max_binding.is_none(), ..WgpuOptions::default() });
            for mix in [[120, 10, 200], [0, 256, 256], [256, 0, 256], [0, 0, 256], [100, 100, 0], [1, 1, 3]] {
                for len in [0, 1, 31, 32, 33, 63, 64, 65, 128, 1000, longest] {
                    let (witness, set) = random(len, mix);
                    let parts = check(&gpu, &witness, &set);
                    assert!(parts <= 1 || max_binding.is_some());
                    assert!(parts > 1 || max_binding.is_none() || len < longest || mix[0] + mix[1] < 256);
                }
            }
        }
    }

    #[test]
    fn a_witness_whose_codes_exceed_a_binding_is_refused() {
        let gpu = open(&WgpuOptions { max_binding: Some(256), ..WgpuOptions::default() });
        let ones = |len| std::iter::repeat_n(Scalar::ONE, len).collect::<CompactWitness>();
        assert!(Witness::upload(&gpu, &ones(1024)).is_ok());
        assert!(matches!(Witness::upload(&gpu, &ones(1025)), Err(DeviceError::Unsupported { .. })));
    }

    #[test]
    fn spreading_is_by_the_bit() {
        for word in [0, 1, 2, 0x8000_0000, 0xdead_beef, u32::MAX] {
            let expected = (0..32).fold(0, |sum, bit| sum | u64::from(word >> bit & 1) << (2 * bit));
            assert_eq!(spread(word), expected);
        }
    }
}
