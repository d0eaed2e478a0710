//! Many multiples of one point, from a table of its multiples.

use std::future::Future;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, FR_WORDS, point_words, unpack_points};
use bellwether_core::device::DeviceError;
use bellwether_kernels::of_group;
use bellwether_kernels::table::multiples::{
    FIXED_BASE_MULTIPLY, FIXED_BASE_TABLE, FixedBaseMultiply, FixedBaseTable,
};
use group::{Curve, Group};

use crate::bases::normalize;
use crate::buffer::{Buffer, Secrecy};
use crate::gpu::Gpu;
use crate::pending::Pending;
use crate::sums;
use crate::vector::Scalars;

/// Bytes of the multiples that are computed and read at once, so that their check on the host runs beside the next:
/// 2^18 points of G1.
const BLOCK_BYTES: usize = 24 << 20;

/// The points s·base, in order.
pub(crate) fn multiples<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    base: &P,
    scalars: &Scalars,
) -> impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<P> {
    let len = scalars.len();
    let blocks = enqueue(gpu, base, scalars);
    async move {
        let mut points = Vec::with_capacity(len);
        for block in blocks? {
            let block = unpack_points::<P>(&block.await?).map_err(|error| DeviceError::Launch {
                operation: format!("multiples in {}", P::GROUP),
                reason: error.to_string(),
            })?;
            points.extend(block);
        }
        Ok(points)
    }
}

fn enqueue<P: AffinePoint>(gpu: &Arc<Gpu>, base: &P, scalars: &Scalars) -> Result<Vec<Pending>, DeviceError> {
    if scalars.len() == 0 {
        return Ok(Vec::new());
    }
    let (group, block) = (P::GROUP, BLOCK_BYTES / P::GROUP.packed_bytes());
    let bits = digit_bits(scalars.len());
    let table = table(gpu, base, bits)?;
    let kernel = of_group(&FIXED_BASE_MULTIPLY, group);
    let multiply = |first: usize| {
        let count = block.min(scalars.len() - first);
        let sums = gpu.alloc(count * sums::sum_words(group), Secrecy::Secret)?;
        let points = gpu.alloc(count * sums::point_words(group), Secrecy::Secret)?;
        let parameters = FixedBaseMultiply {
            scalars: scalars.buffer().at(first * FR_WORDS),
            table: table.at(0),
            sums: sums.at(0),
            count: count as u64,
            bits: bits as u32,
        };
        gpu.launch(kernel, count.div_ceil(kernel.threads() as usize), &parameters)?;
        normalize(gpu, group, sums.at(0), points.at(0), count)?;
        Ok(gpu.read(&points, 0..points.words()))
    };
    (0..scalars.len()).step_by(block).map(multiply).collect()
}

/// Bits of a digit of each of `len` scalars, a divisor of 32: the fewest additions for table and multiples.
fn digit_bits(len: usize) -> usize {
    // Larger tables leave the cache.
    let additions = |bits: &usize| (digits(*bits) << bits) * 2 * bits + digits(*bits) * len;
    [2, 4, 8].into_iter().min_by_key(additions).unwrap_or(8)
}

/// Digits of a scalar.
fn digits(bits: usize) -> usize {
    32 * FR_WORDS / bits
}

/// d·2^(bits·w)·P at 2^bits·w + d.
fn table<P: AffinePoint>(gpu: &Arc<Gpu>, base: &P, bits: usize) -> Result<Buffer, DeviceError> {
    let mut start = base.to_curve();
    let starts: Vec<P::Projective> = (0..digits(bits))
        .map(|_| {
            let this = start;
            (0..bits).for_each(|_| start = start.double());
            this
        })
        .collect();
    let mut affine = vec![P::identity(); starts.len()];
    P::Projective::batch_normalize(&starts, &mut affine);

    let (group, count) = (P::GROUP, digits(bits) << bits);
    let starts = gpu.upload(point_words(&affine), Secrecy::Public)?;
    let sums = gpu.alloc(count * sums::sum_words(group), Secrecy::Public)?;
    let kernel = of_group(&FIXED_BASE_TABLE, group);
    let parameters =
        FixedBaseTable { starts: starts.at(0), sums: sums.at(0), count: count as u32, bits: bits as u32 };
    gpu.launch(kernel, count.div_ceil(kernel.threads() as usize), &parameters)?;
    let table = gpu.alloc(count * sums::point_words(group), Secrecy::Public)?;
    normalize(gpu, group, sums.at(0), table.at(0), count)?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use bellwether_core::curve::{G1Affine, G2Affine};
    use blstrs::Scalar;
    use ff::Field;
    use group::prime::PrimeCurveAffine;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;
    use crate::gpu::tests::open;

    fn agrees<P: AffinePoint>(base: P, scalars: &[Scalar]) {
        let gpu = open();
        let vector = Scalars::upload(&gpu, scalars, scalars.len()).unwrap();
        let found = pollster::block_on(multiples(&gpu, &base, &vector)).unwrap();
        let sums: Vec<P::Projective> = scalars.iter().map(|scalar| base.to_curve() * scalar).collect();
        let mut expected = vec![P::identity(); sums.len()];
        P::Projective::batch_normalize(&sums, &mut expected);
        assert!(found == expected, "{} multiples in {}", scalars.len(), P::GROUP);
    }

    /// 0, 1, −1, 2^k and 2^k ± 1, and random scalars.
    fn scalars(random: usize) -> Vec<Scalar> {
        let mut rng = StdRng::seed_from_u64(random as u64);
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE];
        let mut power = Scalar::ONE;
        for _ in 0..255 {
            power = power.double();
            scalars.extend([power - Scalar::ONE, power, power + Scalar::ONE]);
        }
        scalars.extend((0..random).map(|_| Scalar::random(&mut rng)));
        scalars
    }

    #[test]
    fn multiples_agree_with_those_of_the_processor() {
        let all = scalars(4000);
        assert_eq!(digit_bits(all.len()), 8);
        agrees(G1Affine::generator(), &all);
        assert_eq!(digit_bits(800), 4);
        agrees(G2Affine::generator(), &all[..800]);
        assert_eq!(digit_bits(2), 2);
        for len in 0..3 {
            agrees(G1Affine::generator(), &all[..len]);
            agrees(G2Affine::generator(), &all[len..2 * len]);
        }
        let other = (G1Affine::generator() * Scalar::from(77)).to_affine();
        agrees(-other, &all[all.len() - 20..]);
    }

    #[test]
    fn multiples_of_infinity() {
        agrees(G1Affine::default(), &scalars(3)[..10]);
        agrees(G2Affine::default(), &scalars(3)[..10]);
    }
}
