//! Transforms that one block does.

use std::sync::Arc;

use bellwether_core::device::{DeviceError, Transform};
use bellwether_core::domain::Domain;
use bellwether_kernels::Address;
use bellwether_kernels::table::ntt::{BLOCK, Block, BlockPass, POINT_BYTES};
use blstrs::Scalar;
use ff::Field;

use super::Product;
use super::tables::{Fill, Layout, Place};
use crate::buffer::Buffer;
use crate::gpu::Gpu;
use crate::vector::Scalars;

/// Tables for one block: a factor for each index.
#[derive(Debug)]
pub(super) struct BlockTables {
    log_size: u32,
    buffer: Buffer,
    /// ω^j and ω^(−j) for j < n/2.
    roots: [Place; 2],
    /// g^j.
    shift: Place,
    /// g^(−j)/n.
    unshift: Place,
    /// 1/n for every j.
    size_inverse: Place,
    /// g^j/n.
    extend: Place,
    extend_fill: Fill,
}

impl BlockTables {
    pub(super) fn new(gpu: &Arc<Gpu>, domain: &Domain) -> Result<BlockTables, DeviceError> {
        let log_size = domain.log_size();
        let n_inverse = domain.size_inverse();
        let extend_fill = Fill::powers(log_size, domain.shift(), n_inverse);
        let mut layout = Layout::default();
        let roots = [domain.root(), domain.root_inverse()]
            .map(|root| layout.add(Fill::powers(log_size.saturating_sub(1), root, Scalar::ONE)));
        let shift = layout.add(Fill::powers(log_size, domain.shift(), Scalar::ONE));
        let unshift = layout.add(Fill::powers(log_size, domain.shift_inverse(), n_inverse));
        let size_inverse = layout.add(Fill::powers(log_size, Scalar::ONE, n_inverse));
        let extend = layout.add(extend_fill);
        let buffer = layout.make(gpu)?;
        Ok(BlockTables { log_size, buffer, roots, shift, unshift, size_inverse, extend, extend_fill })
    }

    /// How the factors between the two transforms of an extension are made.
    pub(super) fn extend_fill(&self) -> Fill {
        self.extend_fill
    }

    pub(super) fn transform(
        &self,
        gpu: &Gpu,
        transform: Transform,
        values: &Scalars,
    ) -> Result<(), DeviceError> {
        let [forward, inverse] = self.roots;
        let (roots, before, after) = match transform {
            Transform::Forward => (forward, None, None),
            Transform::Inverse => (inverse, None, Some(self.size_inverse)),
            Transform::CosetForward => (forward, Some(self.shift), None),
            Transform::CosetInverse => (inverse, None, Some(self.unshift)),
        };
        let at = |place: Place| place.in_buffer(&self.buffer);
        let pass = self.pass(values, at(roots));
        self.launch(
            gpu,
            BlockPass { before: before.map_or(Address(0), at), after: after.map_or(Address(0), at), ..pass },
        )
    }

    /// [`Transform::Inverse`], then [`Transform::CosetForward`], then the product.
    pub(super) fn extend(
        &self,
        gpu: &Gpu,
        values: &Scalars,
        factors: Option<Address>,
        product: Option<Product<'_>>,
    ) -> Result<(), DeviceError> {
        let [forward, inverse] = self.roots.map(|roots| roots.in_buffer(&self.buffer));
        let of = |scalars: Option<&Scalars>| scalars.map_or(Address(0), |scalars| scalars.buffer().at(0));
        let pass = self.pass(values, inverse);
        self.launch(
            gpu,
            BlockPass {
                back: forward,
                after: factors.unwrap_or_else(|| self.extend.in_buffer(&self.buffer)),
                times: of(product.map(|product| product.times)),
                minus: of(product.and_then(|product| product.minus)),
                ..pass
            },
        )
    }

    fn pass(&self, values: &Scalars, roots: Address) -> BlockPass {
        let none = Address(0);
        BlockPass {
            roots,
            back: none,
            before: none,
            after: none,
            input: values.buffer().at(0),
            output: values.buffer().at(0),
            times: none,
            minus: none,
            log_size: self.log_size,
            unused: 0,
        }
    }

    fn launch(&self, gpu: &Gpu, pass: BlockPass) -> Result<(), DeviceError> {
        gpu.launch_shared(&BLOCK, 1, POINT_BYTES << self.log_size, &Block { pass })
    }
}
