//! What is done with sums of points: plain sums, normal form, the way back to the host.

use std::future::Future;
use std::sync::Arc;

use bellwether_core::curve::{AffinePoint, Group, unpack_sums};
use bellwether_core::device::DeviceError;
use bellwether_shaders::params;

use crate::buffer::{Secrecy, Span};
use crate::gpu::Gpu;

/// Invocations of a workgroup of the programs over points.
pub(crate) const GROUP: usize = 64;

/// Multiplications of a sum of two sums.
pub(crate) const ADD_COST: u64 = 14;

/// Multiplications of a sum and an affine point.
pub(crate) const ADD_AFFINE_COST: u64 = 10;

/// Multiplications of an inversion in Fp by Fermat's theorem.
const INVERSE_COST: u64 = 600;

/// Sums whose normal forms share an inversion, which then takes some 10 multiplications of each.
const NORMALIZE_RUN: usize = 64;

/// Words of an affine point.
pub(crate) fn point_words_of(group: Group) -> usize {
    group.packed_bytes() / 4
}

/// Words of a sum (X, Y, ZZ, ZZZ).
pub(crate) fn sum_words_of(group: Group) -> usize {
    group.packed_bytes() / 2
}

/// Multiplications in Fp of one in the coordinate field.
pub(crate) fn coordinate_cost(group: Group) -> u64 {
    match group {
        Group::G1 => 1,
        Group::G2 => 3,
    }
}

/// Brings `len` sums to affine form, written to `points` from position `first` on: in packed form, or in device form.
///
/// # Errors
/// The device's.
pub(crate) fn normalize(
    gpu: &Arc<Gpu>,
    group: Group,
    sums: &Span,
    len: usize,
    points: &Span,
    first: usize,
    to_packed: bool,
) -> Result<(), DeviceError> {
    // Few sums are better off with an inversion each than with a long row of them.
    let run = (len / 4096).clamp(1, NORMALIZE_RUN);
    let count = len.div_ceil(run);
    // The denominators of secret sums are as secret.
    let products = gpu.alloc(len * sum_words_of(group) / 4, sums.secrecy())?;
    let params = params::PointsNormalize {
        count: count as u32,
        run: run as u32,
        length: len as u32,
        first: first as u32,
        to_packed: u32::from(to_packed),
    };
    let cost = GROUP as u64 * (coordinate_cost(group) * 8 * run as u64 + INVERSE_COST);
    gpu.run(Some(group), params, &[sums, &products.span(), points], count.div_ceil(GROUP), cost)
}

/// Lists of sums, folded level by level until each is one sum: see `msm_fold.wgsl`. `sums` holds one list of
/// 2^`log_len` sums a set; with `weigh`, the upper half of the first list becomes a list of its own at each level.
/// Returns the sums that remain, `lists · sets` of them with `lists` being 1, or 1 + `log_len` if they are weighed.
///
/// # Errors
/// The device's.
pub(crate) fn fold(
    gpu: &Arc<Gpu>,
    group: Group,
    sums: Span,
    sets: usize,
    log_len: u32,
    weigh: bool,
) -> Result<(Span, usize), DeviceError> {
    let words = sum_words_of(group);
    let (mut current, mut lists) = (sums, 1);
    for level in (0..log_len).rev() {
        let half = 1usize << level;
        let count = lists * sets * half;
        let next_lists = if weigh { lists + 1 } else { lists };
        let next = gpu.alloc(next_lists * sets * half * words, Secrecy::Secret)?.span();
        let params = params::MsmFold {
            count: count as u32,
            lists: lists as u32,
            sets: sets as u32,
            half: half as u32,
            weigh: u32::from(weigh),
        };
        let cost = GROUP as u64 * ADD_COST * coordinate_cost(group);
        gpu.run(Some(group), params, &[&current, &next], count.div_ceil(GROUP), cost)?;
        (current, lists) = (next, next_lists);
    }
    Ok((current, lists))
}

/// Starts bringing `count` sums to the host, as points.
///
/// # Errors
/// The device's; the future's also [`DeviceError::Launch`] if what comes back is no point of the curve.
pub(crate) fn read<P: AffinePoint>(
    gpu: &Arc<Gpu>,
    sums: &Span,
    count: usize,
) -> Result<impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<P>, DeviceError> {
    let packed = gpu.alloc(count * sum_words_of(P::GROUP), Secrecy::Secret)?.span();
    let sums = sums.range(0..packed.words());
    let params = params::PointsConvert { count: 4 * count as u32, to_packed: 1 };
    let cost = GROUP as u64 * coordinate_cost(P::GROUP);
    gpu.run(Some(P::GROUP), params, &[&sums, &packed], (4 * count).div_ceil(GROUP), cost)?;
    let words = gpu.read(&packed);
    Ok(async move {
        unpack_sums(&words.await?).map_err(|error| DeviceError::Launch {
            operation: format!("a sum in {}", P::GROUP),
            reason: error.to_string(),
        })
    })
}
