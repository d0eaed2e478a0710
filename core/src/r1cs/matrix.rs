//! Sparse matrices with few distinct coefficients.

use std::collections::HashMap;
use std::sync::Arc;

use blstrs::Scalar;
use ff::Field;

use crate::curve::scalar_words;

/// Index of the coefficient +1 in every [`CoefficientTable`].
pub const PLUS_ONE: u32 = 0;
/// Index of the coefficient −1 in every [`CoefficientTable`].
pub const MINUS_ONE: u32 = 1;

/// The distinct coefficients of a system; +1 and −1, most of all entries, come first and need no product.
#[derive(Clone, Debug, PartialEq)]
pub struct CoefficientTable {
    values: Vec<Scalar>,
}

impl CoefficientTable {
    /// All coefficients; entry 0 is +1 and entry 1 is −1.
    pub fn values(&self) -> &[Scalar] {
        &self.values
    }
}

/// Builds a [`CoefficientTable`] while a circuit is recorded.
#[derive(Debug)]
pub(crate) struct CoefficientInterner {
    values: Vec<Scalar>,
    indices: HashMap<[u32; 8], u32>,
}

impl CoefficientInterner {
    pub(crate) fn new() -> Self {
        CoefficientInterner { values: vec![Scalar::ONE, -Scalar::ONE], indices: HashMap::new() }
    }

    /// The index of `coefficient`, new or known.
    pub(crate) fn index(&mut self, coefficient: &Scalar) -> u32 {
        if *coefficient == self.values[PLUS_ONE as usize] {
            return PLUS_ONE;
        }
        if *coefficient == self.values[MINUS_ONE as usize] {
            return MINUS_ONE;
        }
        let mut key = [0; 8];
        key.copy_from_slice(scalar_words(std::slice::from_ref(coefficient)));
        let next = self.values.len() as u32;
        let values = &mut self.values;
        *self.indices.entry(key).or_insert_with(|| {
            values.push(*coefficient);
            next
        })
    }

    pub(crate) fn finish(self) -> Arc<CoefficientTable> {
        Arc::new(CoefficientTable { values: self.values })
    }

    /// The coefficient with this index.
    pub(crate) fn value(&self, index: u32) -> &Scalar {
        &self.values[index as usize]
    }
}

/// One of the matrices A, B, C of a rank-1 constraint system, in compressed rows.
///
/// Rows are constraints, columns are variables, inputs first. Within a row every column occurs once and no
/// coefficient is zero.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    pub(super) num_columns: usize,
    /// Row `i` holds the entries `row_starts[i]..row_starts[i + 1]`.
    pub(super) row_starts: Vec<usize>,
    pub(super) columns: Vec<u32>,
    /// Per entry, an index into the table.
    pub(super) coefficients: Vec<u32>,
    pub(super) table: Arc<CoefficientTable>,
}

impl SparseMatrix {
    /// A matrix from its rows, each a list of columns and coefficients. Within a row every column occurs once, is
    /// below `num_columns`, and has a coefficient other than zero.
    pub fn from_rows<R>(num_columns: usize, rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item = (usize, Scalar)>,
    {
        let mut interner = CoefficientInterner::new();
        let (mut row_starts, mut columns, mut coefficients) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (column, coefficient) in row {
                columns.push(column as u32);
                coefficients.push(interner.index(&coefficient));
            }
            row_starts.push(columns.len());
        }
        SparseMatrix { num_columns, row_starts, columns, coefficients, table: interner.finish() }
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Number of columns.
    pub fn num_columns(&self) -> usize {
        self.num_columns
    }

    /// Number of entries that are not zero.
    pub fn num_entries(&self) -> usize {
        self.columns.len()
    }

    /// For each row, and once more at the end, the position of its first entry.
    pub fn row_starts(&self) -> &[usize] {
        &self.row_starts
    }

    /// The column of each entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The coefficient of each entry, as an index into [`table`](Self::table).
    pub fn coefficients(&self) -> &[u32] {
        &self.coefficients
    }

    /// The table of coefficients, shared by the matrices of a system.
    pub fn table(&self) -> &Arc<CoefficientTable> {
        &self.table
    }

    /// Σ_j M\[row\]\[j\]·value(j).
    #[inline]
    pub fn row_product(&self, row: usize, value: impl Fn(usize) -> Scalar) -> Scalar {
        let entries = self.row_starts[row]..self.row_starts[row + 1];
        let mut sum = Scalar::ZERO;
        for (&column, &coefficient) in self.columns[entries.clone()].iter().zip(&self.coefficients[entries]) {
            let value = value(column as usize);
            match coefficient {
                PLUS_ONE => sum += value,
                MINUS_ONE => sum -= value,
                other => sum += value * self.table.values[other as usize],
            }
        }
        sum
    }

    /// The product of the transpose with a vector: component j is Σ_i M\[i\]\[j\]·vector\[i\].
    /// `vector` has one value a row at least.
    pub fn transpose_product(&self, vector: &[Scalar]) -> Vec<Scalar> {
        let mut product = vec![Scalar::ZERO; self.num_columns];
        for (row, value) in vector.iter().enumerate().take(self.num_rows()) {
            let entries = self.row_starts[row]..self.row_starts[row + 1];
            for (&column, &coefficient) in
                self.columns[entries.clone()].iter().zip(&self.coefficients[entries])
            {
                let sum = &mut product[column as usize];
                match coefficient {
                    PLUS_ONE => *sum += value,
                    MINUS_ONE => *sum -= value,
                    other => *sum += value * self.table.values[other as usize],
                }
            }
        }
        product
    }
}
