//! Number-theoretic transforms.
//!
//! Decimation in frequency takes natural order to bit-reversed order, pass by pass from the highest bits of the index
//! to the lowest; decimation in time takes it back. A transform in natural order is the first with a reversal, which
//! rides on its last pass. An extension to the coset goes one way and comes back the other, and reorders nothing.
//!
//! A pass reads one buffer and writes another, so the parts of a vector change places with a scratch buffer. Where a
//! vector has several parts, layers of butterflies between parts (`ntt_cross.wgsl`) do the highest bits, and each part is
//! transformed by itself.

mod passes;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bellwether_core::curve::FR_WORDS;
use bellwether_core::device::{DeviceError, Transform};
use bellwether_shaders::params;
use blstrs::Scalar;

use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;
use crate::quotient::quotient;
use crate::vector::Scalars;

use passes::{Bits, passes};
use tables::{Powers, Roots};

pub(crate) use tables::DomainTables;

/// Invocations of a workgroup of `ntt_cross.wgsl` and `ntt_reverse.wgsl`.
const WORKGROUP: usize = 64;

/// As in `ntt_pass.wgsl`.
mod flags {
    pub(super) const LOAD_COLUMNS: u32 = 1;
    pub(super) const STORE_COLUMNS: u32 = 2;
    pub(super) const LOAD_REVERSED: u32 = 4;
    pub(super) const STORE_IN_ORDER: u32 = 8;
    pub(super) const SCATTER: u32 = 16;
    pub(super) const CANONICAL: u32 = 32;
    pub(super) const LOAD_FACTOR: u32 = 64;
    pub(super) const LOAD_HIGH: u32 = 128;

    pub(super) const FACTOR_BELOW: u32 = 1;
    pub(super) const FACTOR_ABOVE: u32 = 2;
    pub(super) const FACTOR_POWER: u32 = 3;
    pub(super) const FACTOR_HIGH: u32 = 4;
    pub(super) const FACTOR_NEGATIVE: u32 = 8;
}

/// Transforms a vector of the domain's size in place, from natural order to natural order.
///
/// # Errors
/// [`DeviceError::Unsupported`] for a vector of more parts than a part has scalars; else the device's.
pub(crate) fn transform(
    gpu: &Arc<Gpu>,
    tables: &DomainTables,
    transform: Transform,
    values: &mut Scalars,
) -> Result<(), DeviceError> {
    if tables.log_size == 0 {
        return Ok(());
    }
    let mut run = Run::new(gpu, tables, values)?;
    let inverse = matches!(transform, Transform::Inverse | Transform::CosetInverse);
    let scale = match transform {
        Transform::Inverse => Some(tables.size_inverse),
        Transform::CosetInverse => Some(tables.unshift),
        Transform::Forward | Transform::CosetForward => None,
    };
    let mut load = (transform == Transform::CosetForward).then_some(tables.shift);
    if run.log_parts > 0 {
        if let Some(powers) = load.take() {
            run.scale(powers)?;
        }
        run.layers_in_frequency(inverse)?;
    }
    let bits = passes(run.log_part);
    for (i, bits) in bits.iter().enumerate() {
        let load = if i == 0 { load } else { None };
        let is_last = bits.start == 0;
        let factor = if is_last { scale.map(Factor::power) } else { Some(run.twist_below(*bits, inverse)) };
        run.pass(&Pass {
            bits: *bits,
            load,
            rounds: &[Round { inverse, factor }],
            takes: Order::Natural,
            leaves: if is_last && run.log_parts == 0 { Leaves::Natural } else { Leaves::Reversed },
            is_canonical: is_last,
        })?;
    }
    if run.log_parts > 0 { run.reverse() } else { Ok(()) }
}

/// From values on the domain to the quotient on the coset: extends a, b and c from the domain to the coset, then takes the
/// pointwise quotient a ← (a·b − c)·scale.
///
/// # Errors
/// As [`transform`].
pub(crate) fn coset_quotient(
    gpu: &Arc<Gpu>,
    tables: &DomainTables,
    mut a: Scalars,
    mut b: Scalars,
    mut c: Option<Scalars>,
    scale: &Scalar,
) -> Result<Scalars, DeviceError> {
    for values in [&mut a, &mut b].into_iter().chain(&mut c) {
        extend(gpu, tables, values)?;
    }
    quotient(gpu, &mut a, &b, c.as_ref(), scale)?;
    Ok(a)
}

/// [`Transform::Inverse`] followed by [`Transform::CosetForward`]; leaves values below 2·r.
fn extend(gpu: &Arc<Gpu>, tables: &DomainTables, values: &mut Scalars) -> Result<(), DeviceError> {
    if tables.log_size == 0 {
        return Ok(());
    }
    let mut run = Run::new(gpu, tables, values)?;
    run.layers_in_frequency(true)?;
    let bits = passes(run.log_part);
    // The lowest bits are transformed back as soon as they have been transformed.
    let Some((lowest, above)) = bits.split_last() else { return Ok(()) };
    for bits in above {
        run.pass(&Pass {
            bits: *bits,
            load: None,
            rounds: &[Round { inverse: true, factor: Some(run.twist_below(*bits, true)) }],
            takes: Order::Natural,
            leaves: Leaves::Reversed,
            is_canonical: false,
        })?;
    }
    let mut rest = above.iter().rev();
    let mut next = rest.next();
    let there = Round { inverse: true, factor: Some(Factor::power(tables.extend)) };
    let back = Round { inverse: false, factor: next.map(|next| run.twist_above(*next)) };
    run.pass(&Pass {
        bits: *lowest,
        load: None,
        rounds: &[there, back],
        takes: Order::Natural,
        leaves: Leaves::InOrder,
        is_canonical: false,
    })?;
    while let Some(bits) = next {
        next = rest.next();
        run.pass(&Pass {
            bits: *bits,
            load: None,
            rounds: &[Round { inverse: false, factor: next.map(|next| run.twist_above(*next)) }],
            takes: Order::Reversed,
            leaves: Leaves::InOrder,
            is_canonical: false,
        })?;
    }
    run.layers_in_time()
}

/// The order in which a pass finds the points of a sub-transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Natural,
    Reversed,
}

/// Where a pass leaves values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// The frequencies of a sub-transform in reverse.
    Reversed,
    /// The frequencies of a sub-transform in order.
    InOrder,
    /// The whole vector in natural order, after it was in reverse.
    Natural,
}

/// One pass over each part.
struct Pass<'a> {
    bits: Bits,
    /// Powers by which the values are multiplied first, for their natural index.
    load: Option<Powers>,
    rounds: &'a [Round],
    takes: Order,
    leaves: Leaves,
    is_canonical: bool,
}

/// One sub-transform within a pass.
#[derive(Clone, Copy)]
struct Round {
    inverse: bool,
    /// By what each value is multiplied at its end.
    factor: Option<Factor>,
}

#[derive(Clone, Copy)]
struct Factor {
    kind: u32,
    roots: Roots,
    next_radix: u32,
}

impl Factor {
    /// The power for the natural index of what is in bit-reversed order.
    fn power(powers: Powers) -> Factor {
        Factor { kind: flags::FACTOR_POWER, roots: Roots { powers, shift: 0, log_order: 0 }, next_radix: 0 }
    }
}

impl Round {
    /// The words of the shader's parameters.
    fn words(&self, tables: &DomainTables) -> [u32; 8] {
        let steps = tables.steps(self.inverse);
        let Some(Factor { kind, roots, next_radix }) = self.factor else {
            return [steps, 0, 0, 0, 0, 0, 0, 0];
        };
        let Powers { low, low_bits, high } = roots.powers;
        let kind = kind | if high.is_some() { flags::FACTOR_HIGH } else { 0 };
        [steps, kind, low, high.unwrap_or(0), low_bits, roots.shift, roots.log_order, next_radix]
    }
}

/// A transform of one vector on its way.
struct Run<'a> {
    gpu: &'a Arc<Gpu>,
    tables: &'a DomainTables,
    values: &'a mut Scalars,
    scratch: Buffer,
    log_part: u32,
    log_parts: u32,
}

impl<'a> Run<'a> {
    fn new(
        gpu: &'a Arc<Gpu>,
        tables: &'a DomainTables,
        values: &'a mut Scalars,
    ) -> Result<Run<'a>, DeviceError> {
        let log_part = tables.log_size.min(Scalars::part_len(gpu).ilog2());
        let log_parts = tables.log_size - log_part;
        if log_parts > log_part {
            return Err(DeviceError::Unsupported {
                what: format!("a transform of 2^{} scalars", tables.log_size),
                why: format!("a binding holds no more than 2^{log_part}"),
            });
        }
        let scratch = gpu.alloc(FR_WORDS << log_part, Secrecy::Secret)?;
        Ok(Run { gpu, tables, values, scratch, log_part, log_parts })
    }

    /// The twist between a pass of decimation in frequency and the next.
    fn twist_below(&self, bits: Bits, inverse: bool) -> Factor {
        let sign = if inverse { flags::FACTOR_NEGATIVE } else { 0 };
        Factor { kind: flags::FACTOR_BELOW | sign, roots: self.tables.roots(bits.end()), next_radix: 0 }
    }

    /// The twist between a pass of decimation in time and the next, which is over `next`.
    fn twist_above(&self, next: Bits) -> Factor {
        Factor { kind: flags::FACTOR_ABOVE, roots: self.tables.roots(next.end()), next_radix: next.radix }
    }

    /// Multiplies each value by the power for its index.
    fn scale(&mut self, powers: Powers) -> Result<(), DeviceError> {
        let Some(bits) = passes(self.log_part).pop() else { return Ok(()) };
        self.pass(&Pass {
            bits,
            load: Some(powers),
            rounds: &[],
            takes: Order::Natural,
            leaves: Leaves::Reversed,
            is_canonical: false,
        })
    }

    fn pass(&mut self, pass: &Pass<'_>) -> Result<(), DeviceError> {
        let Bits { start, radix } = pass.bits;
        let geometry = pass.bits.geometry(self.log_part, pass.leaves == Leaves::Natural);
        let load = pass.load.unwrap_or(Powers { low: 0, low_bits: 0, high: None });
        let mut round = [0; 16];
        for (words, of) in round.chunks_exact_mut(8).zip(pass.rounds) {
            words.copy_from_slice(&of.words(self.tables));
        }
        let mut params = params::NttPass {
            log_size: self.tables.log_size,
            log_part: self.log_part,
            part: 0,
            start,
            radix,
            columns: geometry.columns,
            column_shift: geometry.column_shift,
            low_bits: geometry.low_bits,
            low_shift: geometry.low_shift,
            high_shift: geometry.high_shift,
            rounds: pass.rounds.len() as u32,
            flags: pass.flags(),
            load_low: load.low,
            load_high: load.high.unwrap_or(0),
            load_low_bits: load.low_bits,
            round,
        };
        // Half a multiplication a point and bit; a factor takes one or two.
        let halves = pass.rounds.len() as u64 * u64::from(radix + 3) + 2 * u64::from(pass.load.is_some());
        let cost = (halves << (radix + geometry.columns)) / 2;
        let tables = self.tables.buffer.span();
        for (number, part) in self.values.parts_mut().iter_mut().enumerate() {
            params.part = number as u32;
            let buffers = [&part.span(), &self.scratch.span(), &tables];
            self.gpu.run(None, params, &buffers, geometry.groups, cost)?;
            std::mem::swap(part, &mut self.scratch);
        }
        Ok(())
    }

    /// The layers of decimation in frequency between parts.
    fn layers_in_frequency(&self, inverse: bool) -> Result<(), DeviceError> {
        (0..self.log_parts).try_for_each(|layer| self.layer(layer, false, inverse))
    }

    /// The layers of decimation in time between parts.
    fn layers_in_time(&self) -> Result<(), DeviceError> {
        (0..self.log_parts).rev().try_for_each(|layer| self.layer(layer, true, false))
    }

    /// The butterflies of the bit that stands `layer` below the highest.
    fn layer(&self, layer: u32, in_time: bool, inverse: bool) -> Result<(), DeviceError> {
        let roots = self.tables.root_pair(self.tables.log_size - layer);
        let part_len = 1usize << self.log_part;
        let half = (1usize << self.log_parts) >> (layer + 1);
        let tables = self.tables.buffer.span();
        for block in self.values.parts().chunks_exact(2 * half) {
            let (first, second) = block.split_at(half);
            for (number, (first, second)) in first.iter().zip(second).enumerate() {
                let params = params::NttCross {
                    count: part_len as u32,
                    in_time: u32::from(in_time),
                    negative: u32::from(inverse),
                    offset: (number << self.log_part) as u32,
                    shift: roots.shift,
                    log_order: roots.log_order,
                    low: roots.powers.low,
                    high: roots.powers.high.unwrap_or(0),
                    low_bits: roots.powers.low_bits,
                };
                let buffers = [&first.span(), &second.span(), &tables];
                self.gpu.run(None, params, &buffers, part_len.div_ceil(WORKGROUP), 2 * WORKGROUP as u64)?;
            }
        }
        Ok(())
    }

    /// Reverses the bits of the index.
    fn reverse(&self) -> Result<(), DeviceError> {
        let parts = self.values.parts();
        let count = 1usize << (self.log_part - self.log_parts);
        for first_part in 0..parts.len() {
            for second_part in first_part..parts.len() {
                let params = params::NttReverse {
                    count: count as u32,
                    log_part: self.log_part,
                    log_parts: self.log_parts,
                    first_part: first_part as u32,
                    second_part: second_part as u32,
                };
                // A part within itself has no second one; the scratch buffer stands in.
                let second = if first_part == second_part { &self.scratch } else { &parts[second_part] };
                let buffers = [&parts[first_part].span(), &second.span()];
                self.gpu.run(None, params, &buffers, count.div_ceil(WORKGROUP), WORKGROUP as u64)?;
            }
        }
        Ok(())
    }
}

impl Pass<'_> {
    fn flags(&self) -> u32 {
        let columns = self.bits.start > 0;
        let load = self.load.as_ref();
        [
            (columns, flags::LOAD_COLUMNS),
            (columns || self.leaves == Leaves::Natural, flags::STORE_COLUMNS),
            (self.takes == Order::Reversed, flags::LOAD_REVERSED),
            (self.leaves == Leaves::InOrder, flags::STORE_IN_ORDER),
            (self.leaves == Leaves::Natural, flags::SCATTER),
            (self.is_canonical, flags::CANONICAL),
            (load.is_some(), flags::LOAD_FACTOR),
            (load.is_some_and(|powers| powers.high.is_some()), flags::LOAD_HIGH),
        ]
        .into_iter()
        .filter_map(|(is_set, flag)| is_set.then_some(flag))
        .fold(0, |flags, flag| flags | flag)
    }
}
