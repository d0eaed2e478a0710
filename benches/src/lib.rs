//! Inputs that the benches share: uniform scalars and points with no structure, the same in every run.

use bellwether_core::curve::AffinePoint;
use bellwether_core::device::{CpuDevice, Device, DeviceError};
use blstrs::Scalar;
use ff::Field;
use rand::SeedableRng;
use rand::rngs::StdRng;

/// `len` uniform scalars.
pub fn scalars(len: usize) -> Vec<Scalar> {
    let mut rng = StdRng::seed_from_u64(len as u64);
    (0..len).map(|_| Scalar::random(&mut rng)).collect()
}

/// Scalars with the statistics of a real witness: 45 % zeros, 45 % ones, 10 % uniform.
pub fn sparse_scalars(len: usize) -> Vec<Scalar> {
    let dense = scalars(len);
    let kinds = dense.iter().map(|scalar| scalar.to_bytes_le()[0] % 100);
    let sparse = kinds.zip(&dense).map(|(kind, scalar)| match kind {
        0..45 => Scalar::ZERO,
        45..90 => Scalar::ONE,
        _ => *scalar,
    });
    sparse.collect()
}

/// `len` points: multiples of the generator with uniform factors.
///
/// # Errors
/// The device's.
pub fn points<P: AffinePoint>(device: &CpuDevice, len: usize) -> Result<Vec<P>, DeviceError> {
    let factors = device.upload(&scalars(len), len)?;
    pollster::block_on(device.fixed_base_mul(&P::generator(), &factors))
}
