//! Sparse matrices times compact witnesses.

mod plan;

use std::ops::Range;
use std::sync::Arc;

use bellwether_core::curve::{FR_WORDS, scalar_words};
use bellwether_core::device::DeviceError;
use bellwether_core::r1cs::SparseMatrix;
use bellwether_kernels::Address;
use bellwether_kernels::table::scalar::{
    SPMV_ROWS, SPMV_RUNS, SPMV_SUMS, SPMV_WARPS, SpmvRows, SpmvRuns, SpmvSums,
};
use rayon::prelude::*;

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;
use crate::vector::Scalars;
use crate::witness::{Witness, halves};

use plan::{Plan, pieces};

/// Entries that go up in one piece, at most, 128 MiB of them: what the host holds twice for a moment.
const PIECE: usize = 1 << 24;

/// Entries that one task of the host copies, at most.
const TASK: usize = 1 << 16;

/// A [`SparseMatrix`], made resident. The column and the coefficient's index of an entry take eight bytes, a short row
/// two.
#[derive(Debug)]
pub struct Matrix {
    num_rows: usize,
    coefficients: Buffer,
    short: Short,
    medium: Runs,
    medium_rows: Buffer,
    long: Runs,
    long_starts: Buffer,
    long_rows: Buffer,
    /// Rows of several runs.
    num_long: usize,
}

/// Rows that a thread takes.
#[derive(Debug)]
struct Short {
    bases: Buffer,
    places: Buffer,
    entries: Buffer,
}

/// Runs that a warp takes.
#[derive(Debug)]
struct Runs {
    starts: Buffer,
    entries: Buffer,
    len: usize,
}

impl Matrix {
    /// Uploads a matrix.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn upload(gpu: &Arc<Gpu>, matrix: &SparseMatrix) -> Result<Matrix, DeviceError> {
        let plan = Plan::new(matrix.row_starts());
        let public = |words: &[u32]| gpu.upload(words, Secrecy::Public);
        let runs = |runs: &plan::Runs| {
            Ok(Runs {
                starts: public(&halves(&runs.starts))?,
                entries: upload_entries(gpu, matrix, &runs.entries)?,
                len: runs.len(),
            })
        };
        Ok(Matrix {
            num_rows: matrix.num_rows(),
            coefficients: public(scalar_words(matrix.table().values()))?,
            short: Short {
                bases: public(&halves(&plan.bases))?,
                places: public(&plan.places)?,
                entries: upload_entries(gpu, matrix, &plan.short)?,
            },
            medium: runs(&plan.medium)?,
            medium_rows: public(&plan.medium_rows)?,
            long: runs(&plan.long)?,
            long_starts: public(&halves(&plan.long_starts))?,
            long_rows: public(&plan.long_rows)?,
            num_long: plan.long_rows.len(),
        })
    }
}

/// Uploads column and coefficient of the entries in `ranges`.
fn upload_entries(
    gpu: &Arc<Gpu>,
    matrix: &SparseMatrix,
    ranges: &[Range<usize>],
) -> Result<Buffer, DeviceError> {
    let count: usize = ranges.iter().map(Range::len).sum();
    let entries = gpu.alloc(2 * count, Secrecy::Public)?;
    let mut words = vec![0; 2 * count.min(PIECE)];
    let mut offset = 0;
    for piece in pieces(ranges, TASK, PIECE) {
        let words = gather(matrix, &piece, &mut words);
        gpu.write(&entries, offset, words)?;
        offset += words.len();
    }
    Ok(entries)
}

/// Writes the entries in `ranges` to the beginning of `words`, and returns that.
fn gather<'a>(matrix: &SparseMatrix, ranges: &[Range<usize>], words: &'a mut [u32]) -> &'a [u32] {
    let end = 2 * ranges.iter().map(Range::len).sum::<usize>();
    let mut rest = &mut words[..end];
    let mut tasks = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (words, behind) = rest.split_at_mut(2 * range.len());
        tasks.push((range.clone(), words));
        rest = behind;
    }
    tasks.into_par_iter().for_each(|(range, words)| {
        let entries = matrix.columns()[range.clone()].iter().zip(&matrix.coefficients()[range]);
        for (entry, (column, coefficient)) in words.chunks_exact_mut(2).zip(entries) {
            entry.copy_from_slice(&[*column, *coefficient]);
        }
    });
    &words[..end]
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
    multiply_short(gpu, matrix, witness, &product)?;
    let rows = matrix.medium_rows.at(0);
    multiply_runs(gpu, matrix, witness, &matrix.medium, rows, product.buffer())?;
    if matrix.num_long > 0 {
        let partial = gpu.alloc(FR_WORDS * matrix.long.len, Secrecy::Secret)?;
        multiply_runs(gpu, matrix, witness, &matrix.long, Address(0), &partial)?;
        let parameters = SpmvSums {
            partial: partial.at(0),
            starts: matrix.long_starts.at(0),
            rows: matrix.long_rows.at(0),
            product: product.buffer().at(0),
            count: matrix.num_long as u64,
        };
        gpu.launch(&SPMV_SUMS, matrix.num_long.div_ceil(SPMV_WARPS), &parameters)?;
    }
    Ok(product)
}

/// Sums of the short rows; zeros for the others.
fn multiply_short(
    gpu: &Gpu,
    matrix: &Matrix,
    witness: &Witness,
    product: &Scalars,
) -> Result<(), DeviceError> {
    let parameters = SpmvRows {
        codes: witness.codes().at(0),
        ranks: witness.ranks().at(0),
        dense: witness.dense().buffer().at(0),
        coefficients: matrix.coefficients.at(0),
        bases: matrix.short.bases.at(0),
        rows: matrix.short.places.at(0),
        entries: matrix.short.entries.at(0),
        product: product.buffer().at(0),
        count: matrix.num_rows as u64,
    };
    gpu.launch(&SPMV_ROWS, matrix.num_rows.div_ceil(SPMV_ROWS.threads() as usize), &parameters)
}

/// Sums of runs, to these places of `outputs`; in order, if there are none.
fn multiply_runs(
    gpu: &Gpu,
    matrix: &Matrix,
    witness: &Witness,
    runs: &Runs,
    places: Address,
    outputs: &Buffer,
) -> Result<(), DeviceError> {
    let parameters = SpmvRuns {
        codes: witness.codes().at(0),
        ranks: witness.ranks().at(0),
        dense: witness.dense().buffer().at(0),
        coefficients: matrix.coefficients.at(0),
        starts: runs.starts.at(0),
        places,
        entries: runs.entries.at(0),
        outputs: outputs.at(0),
        count: runs.len as u64,
    };
    gpu.launch(&SPMV_RUNS, runs.len.div_ceil(SPMV_WARPS), &parameters)
}

#[cfg(test)]
mod tests {
    use bellwether_core::r1cs::CompactWitness;
    use blstrs::Scalar;
    use ff::{Field, PrimeField};

    use super::*;
    use crate::gpu::tests::open;

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
        // Twice, so that the second may find what the first left in its memory.
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

    #[test]
    fn products_are_those_of_the_host() {
        let gpu = open();
        let mut numbers = Numbers(5);
        for columns in [1, 31, 32, 33, 63, 64, 65, 1000, 30_000] {
            let witness = numbers.witness(columns);
            for rows in [0, 1, 63, 64, 255, 256, 257, 1000] {
                let lengths: Vec<usize> = (0..rows).map(|_| numbers.below(5)).collect();
                let matrix = numbers.matrix(columns, 20, &lengths);
                check(&gpu, &matrix, &witness, rows + [0, 1, 300][rows % 3]);
            }
            let mut lengths: Vec<usize> = (0..600).map(|_| numbers.below(90)).collect();
            lengths.extend([0, 15, 16, 31, 32, 33, 0, 2048, 2049, 4096, 4097, 0]);
            check(&gpu, &numbers.matrix(columns, 1000, &lengths), &witness, 1024);
        }
    }

    #[test]
    fn long_rows_and_no_rows() {
        let gpu = open();
        let mut numbers = Numbers(6);
        let witness = numbers.witness(20_000);
        check(&gpu, &numbers.matrix(20_000, 50, &[3, 70_000, 0, 1]), &witness, 4);
        check(&gpu, &numbers.matrix(20_000, 50, &[70_000]), &witness, 1);
        check(&gpu, &numbers.matrix(0, 1, &[0, 0, 0]), &CompactWitness::new(), 5);
        check(&gpu, &numbers.matrix(0, 1, &[]), &CompactWitness::new(), 0);
        check(&gpu, &numbers.matrix(0, 1, &[]), &CompactWitness::new(), 3);
    }

    /// Every short length at every place, and rows that are as full as they can be.
    #[test]
    fn rows_of_every_length() {
        let gpu = open();
        let mut numbers = Numbers(7);
        let witness = numbers.witness(500);
        let lengths: Vec<usize> = (0..1000).map(|row| row % 19).collect();
        check(&gpu, &numbers.matrix(500, 30, &lengths), &witness, 1000);
        check(&gpu, &numbers.matrix(500, 30, &[15; 600]), &witness, 600);
    }

    /// Witnesses of one kind of value only.
    #[test]
    fn uniform_witnesses() {
        let gpu = open();
        let mut numbers = Numbers(8);
        let lengths: Vec<usize> = (0..300).map(|row| row % 40).chain([3000]).collect();
        let matrix = numbers.matrix(200, 10, &lengths);
        for value in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, numbers.scalar()] {
            check(&gpu, &matrix, &std::iter::repeat_n(value, 200).collect(), 301);
        }
    }

    #[test]
    fn every_coefficient_meets_every_value() {
        let extremes = [Scalar::ONE, -Scalar::ONE, Scalar::from(2), -Scalar::from(2), Scalar::ROOT_OF_UNITY];
        let witness: CompactWitness =
            extremes.into_iter().chain([Scalar::ZERO, Scalar::MULTIPLICATIVE_GENERATOR]).collect();
        // Alone, all in a short row, and all in rows that take a warp, whose products are then added.
        let rows = extremes.iter().flat_map(|coefficient| {
            let all = |times: usize| (0..7 * times).map(|i| (i % 7, *coefficient)).collect::<Vec<_>>();
            let single = (0..7).map(|column| vec![(column, *coefficient)]);
            single.chain([all(1), all(3), all(301)])
        });
        let matrix = SparseMatrix::from_rows(7, rows);
        check(&open(), &matrix, &witness, matrix.num_rows());
    }
}
