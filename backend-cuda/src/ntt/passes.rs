//! Transforms in passes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bellwether_core::device::{DeviceError, Transform};
use bellwether_core::domain::Domain;
use bellwether_kernels::table::ntt::{
    ColumnPass, Columns, ExtendPass, Factor, Factors, PASSES, POINT_BYTES, PassKernels, Roots, RowPass, Rows,
    RowsExtend, block_points,
};
use bellwether_kernels::{Address, Kernel, Parameters};
use blstrs::Scalar;
use ff::Field;

use super::Product;
use super::plan::{ColumnPlan, columns};
use super::tables::{Fill, Layout, Pair, Place, factor, squared};
use crate::buffer::Buffer;
use crate::gpu::Gpu;
use crate::vector::Scalars;

/// log₂ of the radix of the steps within a block.
const RADIX_BITS: u32 = 3;

/// Tables for transforms in passes.
#[derive(Debug)]
pub(super) struct PassTables {
    log_size: u32,
    /// Passes over columns, from the outermost.
    columns: Vec<ColumnPlan>,
    /// log₂ of the points of a row.
    row_bits: u32,
    buffer: Buffer,
    /// By powers of 1/ω.
    inverse: Side,
    /// By powers of ω, of values times the power of g for their index.
    coset: Side,
    /// g^j.
    shift: Pair,
    /// g^(−j)/n.
    unshift: Pair,
    /// 1/n.
    size_inverse: Pair,
    /// The part of g^j/n that belongs to the place in a row: neighbours there are n/M apart in natural order, for M
    /// points.
    extend: Place,
    extend_fill: Fill,
}

impl PassTables {
    /// For transforms in these passes, of which there are two at least.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn new(
        gpu: &Arc<Gpu>,
        domain: &Domain,
        passes: &[u32],
        budget: u64,
    ) -> Result<PassTables, DeviceError> {
        let log_size = domain.log_size();
        let columns = columns(passes, budget);
        let row_bits = passes.last().copied().unwrap_or_default();
        let (shift, n_inverse) = (domain.shift(), domain.size_inverse());
        let mut layout = Layout::default();
        let inverse =
            Side::new(&mut layout, log_size, &columns, row_bits, domain.root_inverse(), Scalar::ONE);
        let coset = Side::new(&mut layout, log_size, &columns, row_bits, domain.root(), shift);
        let extend_fill = Fill::powers(row_bits, squared(shift, log_size - row_bits), n_inverse);
        let extend = layout.add(extend_fill);
        let size_inverse = layout.add_constant(n_inverse);
        let unshift = layout.add_powers(log_size, domain.shift_inverse(), n_inverse);
        let shift = layout.add_powers(log_size, shift, Scalar::ONE);
        let buffer = layout.make(gpu)?;
        Ok(PassTables {
            log_size,
            columns,
            row_bits,
            buffer,
            inverse,
            coset,
            shift,
            unshift,
            size_inverse,
            extend,
            extend_fill,
        })
    }

    /// How the factors between the two transforms of an extension are made.
    pub(super) fn extend_fill(&self) -> Fill {
        self.extend_fill
    }

    /// All four go by the inverse roots: y_i = Σ_j x_j·ω^(ij) is what these make of x at −i mod n.
    pub(super) fn transform(
        &self,
        gpu: &Arc<Gpu>,
        transform: Transform,
        values: &mut Scalars,
    ) -> Result<(), DeviceError> {
        let natural = Scalars::alloc(gpu, values.len())?;
        let pair = |pair: Pair| pair.in_buffer(&self.buffer);
        let (before, after) = match transform {
            Transform::Forward => (None, None),
            Transform::Inverse => (None, Some(self.size_inverse)),
            Transform::CosetForward => (Some(self.shift), None),
            Transform::CosetInverse => (None, Some(self.unshift)),
        };
        let mut before = before.map_or(Factors::default(), pair);
        for (number, column) in self.columns.iter().enumerate() {
            let pass = ColumnPass { before, ..self.column_pass(&self.inverse, number, values) };
            self.launch(gpu, &kernels(column.bits).columns, &Columns { pass })?;
            before = Factors::default();
        }
        let negate = matches!(transform, Transform::Forward | Transform::CosetForward);
        self.rows_to_natural(gpu, after.map_or(Factors::default(), pair), negate, values, &natural)?;
        *values = natural;
        Ok(())
    }

    /// [`Transform::Inverse`], then [`Transform::CosetForward`], then the product; in place. Without a product, values
    /// are below 2·r. `factors` take the place of those between the two transforms.
    pub(super) fn extend(
        &self,
        gpu: &Gpu,
        values: &Scalars,
        factors: Option<Address>,
        product: Option<Product<'_>>,
    ) -> Result<(), DeviceError> {
        for (number, column) in self.columns.iter().enumerate() {
            let pass = self.column_pass(&self.inverse, number, values);
            self.launch(gpu, &kernels(column.bits).columns, &Columns { pass })?;
        }
        self.rows_extend(gpu, factors.unwrap_or_else(|| self.extend.in_buffer(&self.buffer)), values)?;
        for (number, column) in self.columns.iter().enumerate().rev() {
            let pass = self.column_pass(&self.coset, number, values);
            let kernels = kernels(column.bits);
            match product.filter(|_| number == 0) {
                Some(Product { times, minus }) => {
                    let times = times.buffer().at(0);
                    let minus = minus.map_or(Address(0), |minus| minus.buffer().at(0));
                    let pass = ColumnPass { times, minus, ..pass };
                    self.launch(gpu, &kernels.columns_product, &Columns { pass })?;
                }
                None => self.launch(gpu, &kernels.columns_back, &Columns { pass })?,
            }
        }
        Ok(())
    }

    /// The pass of this number over columns, in place.
    fn column_pass(&self, side: &Side, number: usize, values: &Scalars) -> ColumnPass {
        let column = self.columns[number];
        ColumnPass {
            roots: side.roots(&self.buffer, column.bits),
            twiddles: side.twiddles[number].in_buffer(&self.buffer),
            before: Factors::default(),
            input: values.buffer().at(0),
            output: values.buffer().at(0),
            times: Address(0),
            minus: Address(0),
            log_stride: column.log_stride,
            unused: [0; 3],
        }
    }

    /// A kernel over all points, which stand in the shared memory of its blocks.
    fn launch<P: Parameters>(
        &self,
        gpu: &Gpu,
        kernel: &Kernel<P>,
        parameters: &P,
    ) -> Result<(), DeviceError> {
        let points = block_points(kernel);
        gpu.launch_shared(kernel, (1 << self.log_size) / points, POINT_BYTES * points, parameters)
    }

    fn rows_to_natural(
        &self,
        gpu: &Gpu,
        after: Factors,
        negate: bool,
        values: &Scalars,
        natural: &Scalars,
    ) -> Result<(), DeviceError> {
        let kernel = &kernels(self.row_bits).rows;
        let bits = |number: usize| self.columns.get(number).map_or(0, |column| column.bits);
        let pass = RowPass {
            roots: self.inverse.roots(&self.buffer, self.row_bits),
            after,
            input: values.buffer().at(0),
            output: natural.buffer().at(0),
            log_size: self.log_size,
            log_first: bits(0),
            log_second: bits(1),
            log_third: bits(2),
            negate: negate.into(),
            unused: 0,
        };
        self.launch(gpu, kernel, &Rows { pass })
    }

    fn rows_extend(&self, gpu: &Gpu, between: Address, values: &Scalars) -> Result<(), DeviceError> {
        let pass = ExtendPass {
            there: self.inverse.roots(&self.buffer, self.row_bits),
            back: self.coset.roots(&self.buffer, self.row_bits),
            between,
            input: values.buffer().at(0),
            output: values.buffer().at(0),
            unused: 0,
        };
        let kernel = &kernels(self.row_bits).rows_extend;
        self.launch(gpu, kernel, &RowsExtend { pass })
    }
}

/// The kernels of a pass of a plan; all such are there, as the plan's tests say.
fn kernels(bits: u32) -> &'static PassKernels {
    &PASSES[(bits - PASSES[0].bits) as usize]
}

/// What the transforms of one direction multiply by.
#[derive(Debug)]
struct Side {
    /// The root of order 8, its square and its cube.
    eighth: [Factor; 3],
    /// By log₂ of the order of w: w^(j·k) at k·order/8 + j.
    steps: BTreeMap<u32, Place>,
    /// Of each pass over columns.
    twiddles: Vec<Pair>,
}

impl Side {
    /// By powers of `root`, of order 2^`log_size`. With them, the value of index j is multiplied by the part of shift^j
    /// that comes from its digits but the last.
    fn new(
        layout: &mut Layout,
        log_size: u32,
        columns: &[ColumnPlan],
        row_bits: u32,
        root: Scalar,
        shift: Scalar,
    ) -> Side {
        let root = |log_order: u32| squared(root, log_size - log_order);
        let passes = columns.iter().map(|column| column.bits).chain([row_bits]);
        let orders: BTreeSet<u32> = passes.flat_map(step_orders).collect();
        let table =
            |log_order: u32| Fill::products(RADIX_BITS, log_order - RADIX_BITS, root(log_order), Scalar::ONE);
        let steps = orders.into_iter().map(|log_order| (log_order, layout.add(table(log_order)))).collect();
        let mut ratio = shift;
        let mut twiddles = Vec::new();
        for column in columns {
            let root = root(column.bits + column.log_stride);
            let low = layout.add(Fill::products(column.bits, column.low_bits, root, ratio));
            let high = column.high_bits().map(|bits| {
                let root = squared(root, column.low_bits);
                (layout.add(Fill::products(column.bits, bits, root, Scalar::ONE)), bits)
            });
            twiddles.push(Pair { low, low_bits: column.low_bits, high });
            ratio = squared(ratio, column.bits);
        }
        let eighth = root(RADIX_BITS);
        let eighth = [eighth, eighth.square(), eighth.square() * eighth].map(|power| factor(&power));
        Side { eighth, steps, twiddles }
    }

    /// What a pass of 2^`bits` points needs.
    fn roots(&self, buffer: &Buffer, bits: u32) -> Roots {
        let mut steps = [Address(0); 2];
        for (step, log_order) in steps.iter_mut().zip(step_orders(bits)) {
            *step = self.steps.get(&log_order).map_or(Address(0), |place| place.in_buffer(buffer));
        }
        Roots { eighth: self.eighth, steps }
    }
}

/// log₂ of the orders of the roots by which a block multiplies between its steps: all but the last are of radix 8.
fn step_orders(bits: u32) -> impl Iterator<Item = u32> {
    (0..(bits - 1) / RADIX_BITS).map(move |step| bits - RADIX_BITS * step)
}
