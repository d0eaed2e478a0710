//! The twiddle factors of a domain.

use std::sync::Arc;

use bellwether_core::curve::FR_WORDS;
use bellwether_core::device::DeviceError;
use bellwether_core::domain::Domain;
use bellwether_shaders::{Tier, params};
use blstrs::Scalar;
use ff::Field;

use super::passes::{Bits, MAX_RADIX, passes};
use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;
use crate::vector::{Scalars, device_form};

/// log₂ of the order up to which roots have a table of their own between passes, of 128 MiB then: larger ones are
/// products of two.
const MAX_DIRECT: u32 = 22;

/// log₂ of the size up to which the powers of the shift have one table, of 512 KiB then, and not two.
const MAX_DIRECT_SHIFT: u32 = 14;

/// Powers that one thread of `ntt_powers.wgsl` makes.
const RUN: usize = 32;

/// Invocations of a workgroup of `ntt_powers.wgsl`.
const WORKGROUP: usize = 64;

/// What transforms over a [`Domain`] need, in one buffer, in device form.
#[derive(Debug)]
pub struct DomainTables {
    pub(super) log_size: u32,
    pub(super) buffer: Buffer,
    steps: [u32; 2],
    roots: Powers,
    /// The powers of a root of lower order, and log₂ of that.
    direct: Option<(Powers, u32)>,
    /// g^j.
    pub(super) shift: Powers,
    /// g^j/n.
    pub(super) extend: Powers,
    /// g^(−j)/n.
    pub(super) unshift: Powers,
    /// 1/n for every j.
    pub(super) size_inverse: Powers,
}

/// Powers with exponents e: the entry low + e mod 2^low_bits, times the entry high + e div 2^low_bits if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Powers {
    pub(super) low: u32,
    pub(super) low_bits: u32,
    pub(super) high: Option<u32>,
}

/// The powers of a root: of the root of order 2^k, those with exponents e are these with e·2^shift, modulo 2^log_order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Roots {
    pub(super) powers: Powers,
    pub(super) shift: u32,
    pub(super) log_order: u32,
}

impl DomainTables {
    /// Makes the tables on the device.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] for a domain whose tables exceed a binding: 256 KiB hold them up to 2^19 elements,
    /// 128 MiB up to 2^32; else the device's.
    pub(crate) fn new(gpu: &Arc<Gpu>, domain: &Domain) -> Result<DomainTables, DeviceError> {
        let log_size = domain.log_size();
        let room = (gpu.limits().binding / (4 * FR_WORDS as u64)) as usize;
        let mut layout = Layout { room, len: 0, fills: Vec::new() };
        let steps = [domain.root(), domain.root_inverse()].map(|_| layout.reserve(STEPS));
        let roots = layout.pair(log_size, domain.root(), Scalar::ONE);
        let n_inverse = domain.size_inverse();
        let shift = layout.powers(log_size, domain.shift(), Scalar::ONE);
        let extend = layout.powers(log_size, domain.shift(), n_inverse);
        let unshift = layout.powers(log_size, domain.shift_inverse(), n_inverse);
        let size_inverse = Powers { low: layout.fill(0, n_inverse, n_inverse), low_bits: 0, high: None };
        // The largest root between two passes that is within bounds.
        let log_part = log_size.min(Scalars::part_len(gpu).ilog2());
        let direct = passes(log_part)
            .into_iter()
            .map(Bits::end)
            .filter(|order| *order > MAX_RADIX && *order <= MAX_DIRECT && layout.len + (1 << order) <= room);
        let direct = direct.max().map(|order| {
            let root = (order..log_size).fold(domain.root(), |root, _| root.square());
            (Powers { low: layout.fill(order, root, Scalar::ONE), low_bits: order, high: None }, order)
        });
        if layout.len > room {
            return Err(DeviceError::Unsupported {
                what: format!("a domain of 2^{log_size} elements"),
                why: format!("its tables of {} bytes exceed a binding", 4 * FR_WORDS * layout.len),
            });
        }
        let buffer = gpu.alloc(FR_WORDS * layout.len, Secrecy::Public)?;
        let words = step_words(gpu.tier(), domain)?;
        gpu.write(&buffer.range(0..words.len()), &words)?;
        layout.make(gpu, &buffer)?;
        Ok(DomainTables { log_size, buffer, steps, roots, direct, shift, extend, unshift, size_inverse })
    }

    /// The first entry of the roots within a pass.
    pub(super) fn steps(&self, inverse: bool) -> u32 {
        self.steps[usize::from(inverse)]
    }

    /// The powers of the root of order 2^`log_order`.
    pub(super) fn roots(&self, log_order: u32) -> Roots {
        match self.direct {
            Some((powers, order)) if order >= log_order => {
                Roots { powers, shift: order - log_order, log_order: order }
            }
            _ => self.root_pair(log_order),
        }
    }

    /// The same, from two tables in every case.
    pub(super) fn root_pair(&self, log_order: u32) -> Roots {
        Roots { powers: self.roots, shift: self.log_size - log_order, log_order: self.log_size }
    }
}

/// Entries for the steps of one direction: three for each place of each distance 1, 2, 4, ...
const STEPS: usize = 3 * ((1 << (MAX_RADIX - 1)) - 1);

/// The roots within a pass, forwards and then inverse: for each distance d = 2^i and k = 1, 2, 3 the powers ω^(k·j),
/// j below d, of the root of order 4·d.
fn step_words(tier: Tier, domain: &Domain) -> Result<Vec<u32>, DeviceError> {
    let mut words = Vec::with_capacity(2 * STEPS * FR_WORDS);
    for inverse in [false, true] {
        for log_distance in 0..MAX_RADIX - 1 {
            let order = log_distance + 2;
            let root = domain.convention().root(order).map_err(|error| DeviceError::Unsupported {
                what: format!("a root of order 2^{order}"),
                why: error.to_string(),
            })?;
            let root = if inverse { root.pow_vartime([(1u64 << order) - 1]) } else { root };
            for k in 1..=3u64 {
                let mut power = Scalar::ONE;
                let base = root.pow_vartime([k]);
                for _ in 0..1 << log_distance {
                    words.extend_from_slice(&device_form(tier, &power));
                    power *= base;
                }
            }
        }
    }
    Ok(words)
}

/// Where the tables stand, and how they are made.
#[derive(Debug)]
struct Layout {
    /// Entries that a binding holds.
    room: usize,
    /// Entries so far.
    len: usize,
    fills: Vec<Fill>,
}

/// scale·base^i from an entry on.
#[derive(Debug)]
struct Fill {
    first: usize,
    count: usize,
    base: Scalar,
    scale: Scalar,
}

impl Layout {
    fn reserve(&mut self, count: usize) -> u32 {
        let first = self.len;
        self.len += count;
        first as u32
    }

    /// 2^`log_count` powers; the first entry.
    fn fill(&mut self, log_count: u32, base: Scalar, scale: Scalar) -> u32 {
        let count = 1 << log_count;
        self.fills.push(Fill { first: self.len, count, base, scale });
        self.reserve(count)
    }

    /// All powers below 2^`log_count` from two tables of about the root of that.
    fn pair(&mut self, log_count: u32, base: Scalar, scale: Scalar) -> Powers {
        let low_bits = log_count / 2;
        let low = self.fill(low_bits, base, Scalar::ONE);
        let high = self.fill(log_count - low_bits, base.pow_vartime([1u64 << low_bits]), scale);
        Powers { low, low_bits, high: Some(high) }
    }

    /// All powers below 2^`log_count`, from one table or two.
    fn powers(&mut self, log_count: u32, base: Scalar, scale: Scalar) -> Powers {
        if log_count > MAX_DIRECT_SHIFT || 8 << log_count > self.room {
            return self.pair(log_count, base, scale);
        }
        Powers { low: self.fill(log_count, base, scale), low_bits: log_count, high: None }
    }

    fn make(&self, gpu: &Gpu, buffer: &Buffer) -> Result<(), DeviceError> {
        for fill in &self.fills {
            let params = params::NttPowers {
                first: fill.first as u32,
                count: fill.count as u32,
                run: RUN as u32,
                base: device_form(gpu.tier(), &fill.base),
                scale: device_form(gpu.tier(), &fill.scale),
            };
            let groups = fill.count.div_ceil(RUN * WORKGROUP);
            gpu.run(None, params, &[&buffer.span()], groups, (WORKGROUP * (RUN + 32)) as u64)?;
        }
        Ok(())
    }
}
