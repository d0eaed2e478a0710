//! Number-theoretic transforms.
//!
//! Up to 2^11 points, one block does all (`block`). Above, two to four passes over memory do (`passes`): through
//! columns, from natural to reversed order, and at last through rows, out of place, to natural order again. An
//! extension to the coset goes to reversed order and comes back, in place, with one pass over rows in the middle; a
//! pointwise product rides on its last pass. What a pass does is said in `ntt.cuh`.

mod block;
mod passes;
mod plan;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bellwether_core::device::{DeviceError, Transform};
use bellwether_core::domain::Domain;
use bellwether_kernels::Address;
use bellwether_kernels::table::ntt::MAX_BLOCK_BITS;
use blstrs::Scalar;
use ff::Field;

use crate::buffer::Buffer;
use crate::gpu::Gpu;
use crate::vector::Scalars;

use block::BlockTables;
use passes::PassTables;
use plan::passes;

/// Of the memory that is free when a domain is made resident, its tables take so large a share at most: one in 16. On a
/// card with 141 GB, that is one table for the twiddles of every pass up to 2^26 points.
const TABLE_SHARE: u64 = 16;

/// The same in bytes, where nobody can tell what is free.
const TABLE_BYTES: u64 = 256 << 20;

/// What transforms over a [`Domain`] need.
#[derive(Debug)]
pub struct DomainTables(Tables);

#[derive(Debug)]
enum Tables {
    Block(Box<BlockTables>),
    Passes(Box<PassTables>),
}

/// By what the values of a transform are multiplied at the end: times_i, then less minus_i.
#[derive(Clone, Copy, Debug)]
struct Product<'a> {
    times: &'a Scalars,
    minus: Option<&'a Scalars>,
}

impl DomainTables {
    /// Makes the tables on the device.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn new(gpu: &Arc<Gpu>, domain: &Domain) -> Result<DomainTables, DeviceError> {
        let budget = gpu.memory_free().map_or(TABLE_BYTES, |free| free / TABLE_SHARE);
        DomainTables::with_budget(gpu, domain, budget)
    }

    /// With twiddles of no more than `budget` bytes, if they fit.
    fn with_budget(gpu: &Arc<Gpu>, domain: &Domain, budget: u64) -> Result<DomainTables, DeviceError> {
        let tables = match domain.log_size() {
            0..=MAX_BLOCK_BITS => Tables::Block(Box::new(BlockTables::new(gpu, domain)?)),
            log_size => Tables::Passes(Box::new(PassTables::new(gpu, domain, passes(log_size), budget)?)),
        };
        Ok(DomainTables(tables))
    }
}

/// Transforms a vector of the domain's size, from natural order to natural order.
///
/// # Errors
/// The device's.
pub(crate) fn transform(
    gpu: &Arc<Gpu>,
    tables: &DomainTables,
    transform: Transform,
    values: &mut Scalars,
) -> Result<(), DeviceError> {
    match &tables.0 {
        Tables::Block(tables) => tables.transform(gpu, transform, values),
        Tables::Passes(tables) => tables.transform(gpu, transform, values),
    }
}

/// From values on the domain to the quotient on the coset: extends a, b and c from the domain to the coset, then takes
/// the pointwise quotient a ← (a·b − c)·scale.
///
/// The scale rides on the extension of a and c.
///
/// # Errors
/// The device's.
pub(crate) fn coset_quotient(
    gpu: &Arc<Gpu>,
    tables: &DomainTables,
    a: Scalars,
    b: Scalars,
    c: Option<Scalars>,
    scale: &Scalar,
) -> Result<Scalars, DeviceError> {
    let scaled = scale_of(gpu, tables, scale)?;
    let scaled = scaled.as_ref().map(|buffer| buffer.at(0));
    let extend = |values: &Scalars, factors: Option<Address>, product: Option<Product<'_>>| match &tables.0 {
        Tables::Block(tables) => tables.extend(gpu, values, factors, product),
        Tables::Passes(tables) => tables.extend(gpu, values, factors, product),
    };
    if let Some(c) = &c {
        extend(c, scaled, None)?;
    }
    extend(&b, None, None)?;
    extend(&a, scaled, Some(Product { times: &b, minus: c.as_ref() }))?;
    Ok(a)
}

/// The factors between the two transforms of an extension, times `scale`; none if that is one.
fn scale_of(gpu: &Arc<Gpu>, tables: &DomainTables, scale: &Scalar) -> Result<Option<Buffer>, DeviceError> {
    if *scale == Scalar::ONE {
        return Ok(None);
    }
    let fill = match &tables.0 {
        Tables::Block(tables) => tables.extend_fill(),
        Tables::Passes(tables) => tables.extend_fill(),
    };
    fill.times(scale).make(gpu).map(Some)
}
