//! Sparse matrices times compact witnesses.

mod plan;

use std::ops::Range;
use std::sync::Arc;

use bellwether_core::curve::{FR_WORDS, scalar_words};
use bellwether_core::device::DeviceError;
use bellwether_core::r1cs::SparseMatrix;
use bellwether_shaders::params;
use blstrs::Scalar;
use rayon::prelude::*;

use crate::buffer::{Buffer, Secrecy, Span};
use crate::gpu::Gpu;
use crate::vector::{Scalars, device_form};
use crate::witness::Witness;

use plan::{Bounds, Fold, LongPiece, Piece, RowsPiece};

/// Invocations of a workgroup of `spmv_entries.wgsl` and `spmv_sums.wgsl`.
const WORKGROUP: usize = 64;

/// Bytes of entries that go up in one piece, at most: what the host holds twice for a moment.
const PIECE_BYTES: u64 = 128 << 20;

/// Bytes of a coefficient in packed form and in device form.
const COEFFICIENT_BYTES: u64 = 8 * FR_WORDS as u64;

/// A [`SparseMatrix`], made resident.
#[derive(Debug)]
pub struct Matrix {
    num_rows: usize,
    rows: Vec<Rows>,
    long: Vec<(Entries, Sums)>,
    /// The levels of sums above the pieces of long rows, each with its number of values.
    folds: Vec<(usize, Sums)>,
}

/// Ranges of entries.
#[derive(Debug)]
struct Entries {
    starts: Buffer,
    entries: Buffer,
    coefficients: Buffer,
    ranges: usize,
    /// Field multiplications of a workgroup: one an entry, on average.
    cost: u64,
}

/// A range for each of some rows.
#[derive(Debug)]
struct Rows {
    entries: Entries,
    /// The part of the product with all of these rows, and the first of them in it.
    part: usize,
    first: usize,
}

/// A [`Fold`], made resident.
#[derive(Debug)]
struct Sums {
    /// Sums that are rows of the product, by part.
    rows: Vec<(usize, Buffer)>,
    /// Sums that go to the next level.
    carried: Option<Buffer>,
}

impl Matrix {
    /// Uploads a matrix.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, matrix: &SparseMatrix) -> Result<Matrix, DeviceError> {
        let uploader = Uploader::new(gpu, matrix)?;
        let starts = matrix.row_starts();
        let mut resident =
            Matrix { num_rows: matrix.num_rows(), rows: Vec::new(), long: Vec::new(), folds: Vec::new() };
        for RowsPiece { piece, part, first } in plan::rows(starts, uploader.rows_bounds()) {
            resident.rows.push(Rows { entries: uploader.entries(&piece)?, part, first });
        }
        let bounds = uploader.long_bounds();
        let mut carried = Vec::new();
        for LongPiece { piece, segments } in plan::long_rows(starts, bounds) {
            let fold = plan::fold(&segments, &bounds, &mut carried);
            resident.long.push((uploader.entries(&piece)?, uploader.sums(&fold)?));
        }
        for (values, fold) in plan::folds(carried, &bounds) {
            uploader.check_values(values)?;
            resident.folds.push((values, uploader.sums(&fold)?));
        }
        Ok(resident)
    }
}

/// A matrix on its way to the device.
struct Uploader<'a> {
    gpu: &'a Arc<Gpu>,
    matrix: &'a SparseMatrix,
    /// All coefficients, if they fit a binding; else each piece brings its own.
    coefficients: Option<Buffer>,
}

impl<'a> Uploader<'a> {
    fn new(gpu: &'a Arc<Gpu>, matrix: &'a SparseMatrix) -> Result<Self, DeviceError> {
        let values = matrix.table().values();
        let fit = COEFFICIENT_BYTES * values.len() as u64 <= gpu.limits().binding;
        let coefficients = match fit {
            true => Some(gpu.upload(&coefficient_words(gpu, values), Secrecy::Public)?),
            false => None,
        };
        Ok(Uploader { gpu, matrix, coefficients })
    }

    /// Entries of a piece, at most.
    fn entries_bound(&self) -> usize {
        let binding = self.gpu.limits().binding;
        let entries = binding.min(PIECE_BYTES) / 8;
        match self.coefficients {
            Some(_) => entries as usize,
            // Beside the coefficients of the piece there are +1 and −1.
            None => entries.min(binding / COEFFICIENT_BYTES - 2).max(plan::RANGE as u64) as usize,
        }
    }

    /// For rows of one range.
    fn rows_bounds(&self) -> Bounds {
        let ranges = self.gpu.limits().binding.min(PIECE_BYTES) as usize / 4 - 1;
        Bounds { entries: self.entries_bound(), ranges, part: Scalars::part_len(self.gpu) }
    }

    /// For long rows, where each range has a partial sum.
    fn long_bounds(&self) -> Bounds {
        let ranges = self.gpu.limits().binding as usize / (4 * FR_WORDS);
        Bounds { ranges, ..self.rows_bounds() }
    }

    /// # Errors
    /// [`DeviceError::Unsupported`] unless so many partial sums fit a binding. One of 128 MiB holds those of about
    /// 2^32 entries in long rows at least.
    fn check_values(&self, values: usize) -> Result<(), DeviceError> {
        if 4 * FR_WORDS * values <= self.gpu.limits().binding as usize {
            return Ok(());
        }
        Err(DeviceError::Unsupported {
            what: format!("a matrix of {} entries", self.matrix.num_entries()),
            why: format!("{values} partial sums exceed a binding"),
        })
    }

    fn entries(&self, piece: &Piece) -> Result<Entries, DeviceError> {
        let mut words = vec![0; (2 * piece.entries()).max(2)];
        gather(self.matrix, &piece.runs, &mut words);
        let coefficients = match &self.coefficients {
            Some(shared) => shared.clone(),
            None => {
                let local = localize(&mut words, self.matrix.table().values());
                self.gpu.upload(&coefficient_words(self.gpu, &local), Secrecy::Public)?
            }
        };
        let ranges = piece.ranges();
        Ok(Entries {
            starts: self.gpu.upload(&piece.starts, Secrecy::Public)?,
            entries: self.gpu.upload(&words, Secrecy::Public)?,
            coefficients,
            ranges,
            cost: (WORKGROUP * (piece.entries() + ranges)).div_ceil(ranges.max(1)) as u64,
        })
    }

    fn sums(&self, fold: &Fold) -> Result<Sums, DeviceError> {
        let upload = |tasks: &[u32]| self.gpu.upload(tasks, Secrecy::Public);
        let rows = fold.rows.iter().map(|(part, tasks)| Ok((*part, upload(tasks)?)));
        Ok(Sums {
            rows: rows.collect::<Result<_, DeviceError>>()?,
            carried: (!fold.carried.is_empty()).then(|| upload(&fold.carried)).transpose()?,
        })
    }
}

/// Writes column and coefficient of the entries in `runs`.
fn gather(matrix: &SparseMatrix, runs: &[Range<usize>], words: &mut [u32]) {
    let mut rest = words;
    for run in runs {
        let (words, behind) = rest.split_at_mut(2 * run.len());
        let columns = matrix.columns()[run.clone()].par_iter().with_min_len(1 << 14);
        let coefficients = &matrix.coefficients()[run.clone()];
        words.par_chunks_exact_mut(2).zip(columns).zip(coefficients).for_each(|((entry, column), index)| {
            entry.copy_from_slice(&[*column, *index]);
        });
        rest = behind;
    }
}

/// Replaces the indices of coefficients in entries by those into a table of their own, which is returned.
fn localize(words: &mut [u32], values: &[Scalar]) -> Vec<Scalar> {
    // +1 and −1 keep their places.
    let mut used: Vec<u32> = words.iter().skip(1).step_by(2).copied().chain([0, 1]).collect();
    used.par_sort_unstable();
    used.dedup();
    words.par_chunks_exact_mut(2).for_each(|entry| {
        // Every index is among them; the place of another would be 0.
        entry[1] = used.binary_search(&entry[1]).unwrap_or(0) as u32;
    });
    used.iter().map(|index| values[*index as usize]).collect()
}

/// Each value in packed form, then in device form.
fn coefficient_words(gpu: &Gpu, values: &[Scalar]) -> Vec<u32> {
    let mut words = Vec::with_capacity(2 * FR_WORDS * values.len());
    for value in values {
        words.extend_from_slice(scalar_words(&[*value]));
        words.extend_from_slice(&device_form(gpu.tier(), value));
    }
    words
}

/// The product of a matrix with a witness that has a value for each of its columns, followed by zeros up to `len`.
///
/// # Errors
/// The device's.
pub(crate) fn product(
    gpu: &Arc<Gpu>,
    matrix: &Matrix,
    witness: &Witness,
    len: usize,
) -> Result<Scalars, DeviceError> {
    let product = Scalars::alloc(gpu, len)?;
    product.clear_from(gpu, matrix.num_rows)?;
    for Rows { entries, part, first } in &matrix.rows {
        multiply(gpu, entries, witness, &product.parts()[*part].span(), *first)?;
    }

    let partial = |len: usize| Ok(gpu.alloc(FR_WORDS * len.max(1), Secrecy::Secret)?.span());
    let values = |level: usize| matrix.folds.get(level).map_or(0, |(values, _)| *values);
    let mut carried = partial(values(0))?;
    for (entries, sums) in &matrix.long {
        let inputs = partial(entries.ranges)?;
        multiply(gpu, entries, witness, &inputs, 0)?;
        add(gpu, sums, &inputs, &product, &carried)?;
    }
    for (level, (_, sums)) in matrix.folds.iter().enumerate() {
        let inputs = std::mem::replace(&mut carried, partial(values(level + 1))?);
        add(gpu, sums, &inputs, &product, &carried)?;
    }
    Ok(product)
}

/// Sums of ranges of entries, from place `first_output` of `outputs` on: a pass for each part of the dense values.
fn multiply(
    gpu: &Arc<Gpu>,
    entries: &Entries,
    witness: &Witness,
    outputs: &Span,
    first_output: usize,
) -> Result<(), DeviceError> {
    let (codes, ranks) = (witness.codes().span(), witness.ranks().span());
    let (starts, words) = (entries.starts.span(), entries.entries.span());
    let coefficients = entries.coefficients.span();
    for (pass, dense) in witness.dense_parts().iter().enumerate() {
        let params = params::SpmvEntries {
            ranges: entries.ranges as u32,
            first_output: first_output as u32,
            first_dense: dense.first as u32,
            dense_count: (dense.span.words() / FR_WORDS) as u32,
            is_later_pass: u32::from(pass > 0),
        };
        let buffers = [&codes, &ranks, &dense.span, &starts, &words, &coefficients, outputs];
        gpu.run(None, params, &buffers, entries.ranges.div_ceil(WORKGROUP), entries.cost)?;
    }
    Ok(())
}

/// One level of sums.
fn add(
    gpu: &Arc<Gpu>,
    sums: &Sums,
    inputs: &Span,
    product: &Scalars,
    carried: &Span,
) -> Result<(), DeviceError> {
    let run = |tasks: &Buffer, outputs: &Span| {
        let count = tasks.words() / 3;
        let params = params::SpmvSums { sums: count as u32 };
        let cost = WORKGROUP * plan::FAN_IN / 8;
        gpu.run(None, params, &[&tasks.span(), inputs, outputs], count.div_ceil(WORKGROUP), cost as u64)
    };
    for (part, tasks) in &sums.rows {
        run(tasks, &product.parts()[*part].span())?;
    }
    sums.carried.as_ref().map_or(Ok(()), |tasks| run(tasks, carried))
}

#[cfg(test)]
mod tests {
    use bellwether_core::r1cs::CompactWitness;
    use bellwether_shaders::Tier;
    use ff::{Field, PrimeField};

    use super::*;
    use crate::gpu::tests::open;
    use crate::options::WgpuOptions;

    /// Numbers that are random enough.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % bound
        }

        fn scalar(&mut self) -> Scalar {
            Scalar::from(self.below(1 << 31) as u64).pow_vartime([3 + self.below(100) as u64])
        }

        /// Half bits, the rest what is random or close to a bound.
        fn value(&mut self) -> Scalar {
            match self.below(8) {
                0 | 1 => Scalar::ZERO,
                2 | 3 => Scalar::ONE,
                4 => -Scalar::ONE,
                5 => -Scalar::from(2),
                _ => self.scalar(),
            }
        }

        /// One of `distinct` coefficients, ±1 among them.
        fn coefficient(&mut self, distinct: usize) -> Scalar {
            match self.below(4) {
                0 => Scalar::ONE,
                1 => -Scalar::ONE,
                _ => {
                    let index = self.below(distinct) as u64;
                    Scalar::from(index + 2).pow_vartime([1 + index % 7 * 50])
                }
            }
        }

        fn witness(&mut self, len: usize) -> CompactWitness {
            (0..len).map(|_| self.value()).collect()
        }

        fn matrix(&mut self, columns: usize, distinct: usize, lengths: &[usize]) -> SparseMatrix {
            let rows: Vec<Vec<(usize, Scalar)>> = lengths
                .iter()
                .map(|len| {
                    // The device does not mind that a column may occur twice.
                    (0..*len).map(|_| (self.below(columns), self.coefficient(distinct))).collect()
                })
                .collect();
            SparseMatrix::from_rows(columns, rows)
        }
    }

    fn check(gpu: &Arc<Gpu>, matrix: &SparseMatrix, witness: &CompactWitness, len: usize) {
        let resident = Matrix::upload(gpu, matrix).unwrap();
        let values = Witness::upload(gpu, witness).unwrap();
        // Twice, so that the second takes the buffers of the first, with what is in them.
        drop(product(gpu, &resident, &values, len).unwrap());
        let product = product(gpu, &resident, &values, len).unwrap();
        let product = pollster::block_on(product.download(gpu)).unwrap();
        assert_eq!(product.len(), len);
        for (row, value) in product.iter().enumerate() {
            let expected = match row < matrix.num_rows() {
                true => matrix.row_product(row, |variable| witness.get(variable)),
                false => Scalar::ZERO,
            };
            assert_eq!(*value, expected, "row {row} of {}", matrix.num_rows());
        }
    }

    fn options(tier: Tier, max_binding: Option<u64>) -> WgpuOptions {
        WgpuOptions {
            tier: Some(tier),
            checked: max_binding.is_none(),
            max_binding,
            ..WgpuOptions::default()
        }
    }

    fn check_all(tier: Tier, max_binding: Option<u64>) {
        let gpu = open(&options(tier, max_binding));
        let mut numbers = Numbers(5);
        for columns in [1, 63, 64, 65, 1000, 30_000] {
            let witness = numbers.witness(columns);
            for rows in [0, 1, 63, 64, 65, 1000] {
                let lengths: Vec<usize> = (0..rows).map(|_| numbers.below(5)).collect();
                let matrix = numbers.matrix(columns, 20, &lengths);
                check(&gpu, &matrix, &witness, rows + [0, 1, 300][rows % 3]);
            }
            let mut lengths: Vec<usize> = (0..600).map(|_| numbers.below(90)).collect();
            lengths.extend([0, 32, 33, 0, 2048, 2049, 0]);
            check(&gpu, &numbers.matrix(columns, 1000, &lengths), &witness, 1024);
        }
        let witness = numbers.witness(20_000);
        check(&gpu, &numbers.matrix(20_000, 50, &[3, 70_000, 0, 1]), &witness, 4);
        check(&gpu, &numbers.matrix(0, 1, &[0, 0, 0]), &CompactWitness::new(), 5);
        check(&gpu, &numbers.matrix(0, 1, &[]), &CompactWitness::new(), 0);
    }

    #[test]
    fn products_in_one_piece() {
        Tier::ALL.into_iter().for_each(|tier| check_all(tier, None));
    }

    #[test]
    fn products_in_pieces() {
        Tier::ALL.into_iter().for_each(|tier| check_all(tier, Some(8192)));
    }

    #[test]
    fn every_coefficient_meets_every_value() {
        let extremes = [Scalar::ONE, -Scalar::ONE, Scalar::from(2), -Scalar::from(2), Scalar::ROOT_OF_UNITY];
        let witness: CompactWitness =
            extremes.into_iter().chain([Scalar::ZERO, Scalar::MULTIPLICATIVE_GENERATOR]).collect();
        let rows = extremes.iter().flat_map(|coefficient| {
            let single = (0..7).map(|column| vec![(column, *coefficient)]);
            single.chain([(0..7).map(|column| (column, *coefficient)).collect::<Vec<_>>()])
        });
        let matrix = SparseMatrix::from_rows(7, rows);
        for tier in Tier::ALL {
            let gpu = open(&options(tier, None));
            check(&gpu, &matrix, &witness, matrix.num_rows());
        }
    }
}
