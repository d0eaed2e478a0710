//! Number-theoretic transforms on the host.
//!
//! Decimation in frequency takes natural order to bit-reversed order, decimation in time takes it back. A
//! coset extension goes one way and returns the other, so nothing is reordered in between.

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::super::Transform;
use crate::domain::Domain;
use crate::secret::SecretVec;

/// Sub-transforms below this size (128 KiB) run on one thread, layer by layer; larger ones split in halves.
const SEQUENTIAL: usize = 1 << 12;

/// The twiddle factors of a domain.
#[derive(Debug)]
pub struct Twiddles {
    log_size: u32,
    /// The powers ω_{2h}^0..ω_{2h}^(h−1) of the root of order 2h stand at positions h..2h, for each h = 2^i below
    /// the size. The inverse powers are the same ones backwards: ω^(−j) = −ω^(h−j).
    layers: Vec<Scalar>,
    size_inverse: Scalar,
    /// g^j/n, for the way from coefficients times n to the coset.
    extend: Powers,
    /// g^j.
    shift: Powers,
    /// g^(−j)/n.
    unshift: Powers,
}

impl Twiddles {
    pub(super) fn new(domain: &Domain) -> Self {
        let log_size = domain.log_size();
        let mut layers = vec![Scalar::ONE; domain.size()];
        if log_size > 0 {
            let half = domain.size() / 2;
            fill_powers(&mut layers[half..], &domain.root());
            for h in (0..log_size - 1).rev().map(|i| 1usize << i) {
                let (below, above) = layers.split_at_mut(2 * h);
                below[h..].par_iter_mut().with_min_len(4096).enumerate().for_each(|(j, w)| *w = above[2 * j]);
            }
        }
        let size_inverse = domain.size_inverse();
        Twiddles {
            log_size,
            layers,
            size_inverse,
            extend: Powers::new(log_size, domain.shift(), size_inverse),
            shift: Powers::new(log_size, domain.shift(), Scalar::ONE),
            unshift: Powers::new(log_size, domain.shift_inverse(), size_inverse),
        }
    }

    pub(super) fn transform(&self, transform: Transform, values: &mut SecretVec<Scalar>) {
        match transform {
            Transform::Forward => {
                self.reverse_bits(values);
                self.decimate_in_time(values);
            }
            Transform::Inverse => {
                self.decimate_in_frequency(values);
                self.reverse_bits(values);
                values.par_iter_mut().with_min_len(1024).for_each(|value| *value *= self.size_inverse);
            }
            Transform::CosetForward => {
                self.shift.scale(values, |j| j);
                self.reverse_bits(values);
                self.decimate_in_time(values);
            }
            Transform::CosetInverse => {
                self.decimate_in_frequency(values);
                self.reverse_bits(values);
                self.unshift.scale(values, |j| j);
            }
        }
    }

    /// [`Transform::Inverse`] followed by [`Transform::CosetForward`].
    pub(super) fn extend_to_coset(&self, values: &mut [Scalar]) {
        self.decimate_in_frequency(values);
        self.extend.scale(values, |position| reverse(position, self.log_size));
        self.decimate_in_time(values);
    }

    /// The forward transform of values in bit-reversed order.
    fn decimate_in_time(&self, values: &mut [Scalar]) {
        let half = values.len() / 2;
        if values.len() > SEQUENTIAL {
            let (low, high) = values.split_at_mut(half);
            rayon::join(|| self.decimate_in_time(low), || self.decimate_in_time(high));
            let butterflies =
                low.par_iter_mut().with_min_len(1024).zip(high).zip(&self.layers[half..2 * half]);
            butterflies.for_each(|((u, v), w)| butterfly_in_time(u, v, w));
            return;
        }
        let mut h = 1;
        while h < values.len() {
            for block in values.chunks_exact_mut(2 * h) {
                let (low, high) = block.split_at_mut(h);
                // The first factor of a layer is one.
                (low[0], high[0]) = (low[0] + high[0], low[0] - high[0]);
                let rest = low[1..].iter_mut().zip(&mut high[1..]).zip(&self.layers[h + 1..2 * h]);
                rest.for_each(|((u, v), w)| butterfly_in_time(u, v, w));
            }
            h *= 2;
        }
    }

    /// n times the inverse transform, its results in bit-reversed order.
    fn decimate_in_frequency(&self, values: &mut [Scalar]) {
        let half = values.len() / 2;
        if values.len() > SEQUENTIAL {
            let (low, high) = values.split_at_mut(half);
            (low[0], high[0]) = (low[0] + high[0], low[0] - high[0]);
            let rest = low[1..].par_iter_mut().with_min_len(1024).zip(&mut high[1..]);
            rest.zip(self.layers[half + 1..2 * half].par_iter().rev())
                .for_each(|((u, v), w)| butterfly_in_frequency(u, v, w));
            rayon::join(|| self.decimate_in_frequency(low), || self.decimate_in_frequency(high));
            return;
        }
        let mut h = half;
        while h > 0 {
            for block in values.chunks_exact_mut(2 * h) {
                let (low, high) = block.split_at_mut(h);
                (low[0], high[0]) = (low[0] + high[0], low[0] - high[0]);
                let rest =
                    low[1..].iter_mut().zip(&mut high[1..]).zip(self.layers[h + 1..2 * h].iter().rev());
                rest.for_each(|((u, v), w)| butterfly_in_frequency(u, v, w));
            }
            h /= 2;
        }
    }

    fn reverse_bits(&self, values: &mut SecretVec<Scalar>) {
        let mut reversed = SecretVec::from(vec![Scalar::ZERO; values.len()]);
        reversed
            .par_iter_mut()
            .with_min_len(4096)
            .enumerate()
            .for_each(|(i, value)| *value = values[reverse(i, self.log_size)]);
        *values = reversed;
    }
}

/// (u, v) ← (u + w·v, u − w·v).
#[inline]
fn butterfly_in_time(u: &mut Scalar, v: &mut Scalar, w: &Scalar) {
    let product = *v * w;
    *v = *u - product;
    *u += product;
}

/// (u, v) ← (u + v, (v − u)·w), where −w is the inverse factor of this position.
#[inline]
fn butterfly_in_frequency(u: &mut Scalar, v: &mut Scalar, w: &Scalar) {
    let difference = *v - *u;
    *u += *v;
    *v = difference * w;
}

/// The lowest `bits` bits of `index` in reverse.
fn reverse(index: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) }
}

/// Writes 1, base, base², …
fn fill_powers(out: &mut [Scalar], base: &Scalar) {
    const PART: usize = 4096;
    out.par_chunks_mut(PART).enumerate().for_each(|(part, out)| {
        let mut power = base.pow_vartime([(part * PART) as u64]);
        for value in out {
            *value = power;
            power *= base;
        }
    });
}

/// scale·base^j for any j below a power of two, from two tables of about its root.
#[derive(Debug)]
struct Powers {
    inner_bits: u32,
    inner: Vec<Scalar>,
    outer: Vec<Scalar>,
}

impl Powers {
    fn new(log_size: u32, base: Scalar, scale: Scalar) -> Self {
        let inner_bits = log_size / 2;
        let mut inner = vec![Scalar::ONE; 1 << inner_bits];
        fill_powers(&mut inner, &base);
        let mut outer = vec![Scalar::ONE; 1 << (log_size - inner_bits)];
        fill_powers(&mut outer, &base.pow_vartime([1u64 << inner_bits]));
        outer.iter_mut().for_each(|value| *value *= scale);
        Powers { inner_bits, inner, outer }
    }

    /// Multiplies the value at each position with the power for exponent(position).
    fn scale(&self, values: &mut [Scalar], exponent: impl Fn(usize) -> usize + Sync) {
        let mask = (1 << self.inner_bits) - 1;
        values.par_iter_mut().with_min_len(1024).enumerate().for_each(|(position, value)| {
            let j = exponent(position);
            *value *= self.outer[j >> self.inner_bits] * self.inner[j & mask];
        });
    }
}
