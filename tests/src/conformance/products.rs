//! Sparse products against dense ones.

use bellwether_core::r1cs::{
    Circuit, ConstraintSystem, LinearCombination, Recorder, SparseMatrix, SynthesisError, Variable,
};
use blstrs::Scalar;
use ff::Field;
use rand::Rng;

use super::inputs::{Device, download, scalars, seeded, witness, witness_values};
use crate::oracle;

/// A sparse matrix of `columns` columns as rows of (column, coefficient).
pub(super) type SparseRows = Vec<Vec<(usize, Scalar)>>;

/// A circuit whose matrix A has these rows. The first variables are inputs, so that A has a row for each behind.
struct Rows<'a> {
    columns: usize,
    rows: &'a SparseRows,
}

/// Inputs of the circuit, if it has so many variables.
const INPUTS: usize = 4;

impl Circuit<Scalar> for Rows<'_> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut variables = vec![CS::one()];
        for i in 1..self.columns {
            let missing = || Err(SynthesisError::AssignmentMissing);
            let variable: Variable =
                if i < INPUTS { cs.alloc_input(|| "", missing)? } else { cs.alloc(|| "", missing)? };
            variables.push(variable);
        }
        for row in self.rows {
            let combine = |lc: LinearCombination<Scalar>| {
                row.iter().fold(lc, |lc, &(column, coefficient)| lc + (coefficient, variables[column]))
            };
            cs.enforce(|| "", combine, |lc| lc, |lc| lc);
        }
        Ok(())
    }
}

/// The matrix with these rows, and behind them one row for each of the first columns (the circuit's inputs).
fn matrix(columns: usize, rows: &SparseRows) -> SparseMatrix {
    Recorder::record(Rows { columns, rows }).expect("recorded").a
}

/// Compares the product of a matrix with every kind of witness, padded or not.
pub(super) fn check<D: Device>(device: &D, columns: usize, rows: &SparseRows, padding: usize) {
    let matrix = matrix(columns, rows);
    let mut dense = vec![vec![Scalar::ZERO; columns]; matrix.num_rows()];
    for (row, entries) in dense.iter_mut().zip(rows) {
        entries.iter().for_each(|&(column, coefficient)| row[column] += coefficient);
    }
    let inputs = matrix.num_rows() - rows.len();
    (0..inputs).for_each(|input| dense[rows.len() + input][input] = Scalar::ONE);

    let resident = device.matrix(&matrix).expect("matrix");
    for shares in [(0, 0), (50, 48), (50, 50), (100, 0)] {
        let values = witness_values(columns, shares, columns);
        let uploaded = device.upload_witness(&witness(&values)).expect("upload");
        let len = matrix.num_rows() + padding;
        let product = device.spmv(&resident, &uploaded, len).expect("spmv");
        let mut expected = oracle::matrix_vector(&dense, &values);
        expected.resize(len, Scalar::ZERO);
        assert_eq!(
            download(device, &product),
            expected,
            "{} rows, {columns} columns, {padding} more, values {shares:?}",
            rows.len()
        );
    }
}

/// Rows with up to `max_entries` random entries; coefficients are often ±1, as in circuits.
pub(super) fn random_rows(rows: usize, columns: usize, max_entries: usize, seed: usize) -> SparseRows {
    let mut rng = seeded(seed);
    let table = scalars(5, seed);
    (0..rows)
        .map(|_| {
            let count = rng.gen_range(0..=max_entries);
            (0..count)
                .map(|_| {
                    let coefficient = match rng.gen_range(0..10) {
                        0..=4 => Scalar::ONE,
                        5..=7 => -Scalar::ONE,
                        other => table[other % table.len()],
                    };
                    (rng.gen_range(0..columns), coefficient)
                })
                .collect()
        })
        .collect()
}

/// ±1, small and large coefficients, alone and together, and many distinct ones.
pub fn every_coefficient_and_row<D: Device>(device: D) {
    let kinds = [
        Scalar::ONE,
        -Scalar::ONE,
        Scalar::from(2),
        -Scalar::from(2),
        Scalar::from(u64::MAX),
        scalars(1, 1)[0],
    ];
    let alone: SparseRows = kinds.iter().map(|&kind| vec![(1, kind)]).collect();
    check(&device, 4, &alone, 0);
    let together: SparseRows = vec![kinds.iter().copied().enumerate().collect(); 3];
    check(&device, kinds.len(), &together, 0);
    let distinct = scalars(3000, 2);
    let rows: SparseRows = distinct.chunks(10).map(|row| row.iter().copied().enumerate().collect()).collect();
    check(&device, 10, &rows, 0);
    check(&device, 300, &random_rows(500, 300, 8, 3), 0);
}

/// Rows without entries at both ends and between; columns that no row uses.
pub fn empty_rows_and_columns<D: Device>(device: D) {
    check(&device, 5, &vec![vec![]; 70], 0);
    let mut rows = vec![vec![]; 100];
    rows[37] = vec![(99, -Scalar::ONE), (3, Scalar::from(5))];
    check(&device, 200, &rows, 0);
    let last = (0..65).map(|row| if row == 64 { vec![(1, Scalar::ONE)] } else { vec![] });
    check(&device, 2, &last.collect(), 0);
}

/// Rows far longer than the others, as the packing of bits or a hash's linear layer makes them.
pub fn long_rows<D: Device>(device: D) {
    let columns = 2000;
    let coefficients = scalars(columns, 4);
    let mut rows = random_rows(150, columns, 3, 5);
    rows[100] = coefficients.iter().copied().enumerate().collect();
    rows[101] = (0..columns).map(|column| (column, Scalar::ONE)).collect();
    rows[149] = (0..columns).step_by(2).map(|column| (column, -Scalar::ONE)).collect();
    check(&device, columns, &rows, 8);
}

/// Zeros behind the rows.
pub fn padding<D: Device>(device: D) {
    for padding in [0, 1, 31, 64, 1000] {
        check(&device, 40, &random_rows(33, 40, 5, 6), padding);
    }
}

/// No constraint at all: only the rows of the inputs.
pub fn no_rows<D: Device>(device: D) {
    check(&device, 1, &vec![], 0);
    check(&device, 1, &vec![], 7);
    check(&device, 6, &vec![], 2);
}
