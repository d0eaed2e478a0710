//! A key made resident on a device, for one circuit.

use std::sync::Arc;

use blstrs::Scalar;
use ff::Field;
use group::prime::PrimeCurveAffine;

use super::ProveError;
use crate::curve::{AffinePoint, G1Affine, G2Affine};
use crate::device::{Device, DeviceError};
use crate::domain::{Domain, RootConvention};
use crate::key::{Points, ProvingKey, VerifyingKey};
use crate::plan::ProofSizes;
use crate::r1cs::{R1cs, Shape};

/// The queries of a key, the variables they belong to, the domain and, if the circuit was recorded, its
/// matrices.
pub(super) struct ResidentKey<D: Device> {
    pub(super) vk: VerifyingKey,
    pub(super) domain_size: usize,
    pub(super) domain: D::Domain,
    /// 1/z, where z is the value of the vanishing polynomial on the coset.
    pub(super) quotient_scale: Scalar,
    pub(super) matrices: Option<Matrices<D>>,
    pub(super) h: D::Bases<G1Affine>,
    pub(super) l: Query<D, G1Affine>,
    pub(super) a: Query<D, G1Affine>,
    pub(super) b_g1: D::Bases<G1Affine>,
    pub(super) b_g2: D::Bases<G2Affine>,
    pub(super) b_variables: D::Variables,
}

/// A query: bases, and the variables they belong to.
pub(super) struct Query<D: Device, P: AffinePoint> {
    pub(super) bases: D::Bases<P>,
    pub(super) variables: D::Variables,
}

/// A, B and C.
pub(super) struct Matrices<D: Device> {
    pub(super) a: D::Matrix,
    pub(super) b: D::Matrix,
    pub(super) c: D::Matrix,
}

impl<D: Device> ResidentKey<D> {
    /// What one more proof takes: the key is there already.
    pub(super) fn proof_sizes(&self, shape: &Shape) -> ProofSizes {
        ProofSizes {
            domain: self.domain_size,
            variables: shape.num_variables(),
            g1_points: 0,
            g2_points: 0,
            matrix_entries: 0,
        }
    }

    /// Checks that key and circuit belong together and that they fit the device, then uploads both.
    pub(super) fn new(
        device: &D,
        key: &ProvingKey,
        shape: &Shape,
        r1cs: Option<&Arc<R1cs>>,
    ) -> Result<Self, ProveError> {
        let infinite =
            key.vk.delta_g1.is_identity() | key.vk.delta_g2.is_identity() | key.vk.gamma_g2.is_identity();
        if bool::from(infinite) {
            return Err(ProveError::DegenerateKey);
        }
        let domain = Domain::for_rows(shape.num_rows(), RootConvention::Bellman)?;
        check_lengths(key, shape, &domain)?;
        let sizes = sizes(device, key, shape, r1cs, &domain);
        admit(device, &sizes)?;
        Self::upload(device, key, shape, r1cs, &domain)
            .map_err(|error| ProveError::Device { device: device.info().to_string(), error })
    }

    fn upload(
        device: &D,
        key: &ProvingKey,
        shape: &Shape,
        r1cs: Option<&Arc<R1cs>>,
        domain: &Domain,
    ) -> Result<Self, DeviceError> {
        let matrices = match r1cs {
            None => None,
            Some(r1cs) => Some(Matrices {
                a: device.matrix(&r1cs.a)?,
                b: device.matrix(&r1cs.b)?,
                c: device.matrix(&r1cs.c)?,
            }),
        };
        Ok(ResidentKey {
            vk: key.vk.clone(),
            domain_size: domain.size(),
            domain: device.domain(domain)?,
            quotient_scale: domain.vanishing_on_coset().invert().unwrap_or(Scalar::ZERO),
            matrices,
            h: device.bases(&key.h)?,
            l: Query { bases: device.bases(&key.l)?, variables: device.variables(&shape.l())? },
            a: Query { bases: device.bases(&key.a)?, variables: device.variables(&shape.a)? },
            b_g1: device.bases(&key.b_g1)?,
            b_g2: device.bases(&key.b_g2)?,
            b_variables: device.variables(&shape.b)?,
        })
    }
}

/// Asks the device for room.
pub(super) fn admit<D: Device>(device: &D, sizes: &ProofSizes) -> Result<(), ProveError> {
    device.admit(sizes).map_err(|error| match error {
        DeviceError::OutOfMemory { asked, free: Some(free) } => {
            ProveError::Memory { device: device.info().to_string(), needed: asked, free }
        }
        error => ProveError::Device { device: device.info().to_string(), error },
    })
}

/// Every query of the key has the length that the circuit asks for.
fn check_lengths(key: &ProvingKey, shape: &Shape, domain: &Domain) -> Result<(), ProveError> {
    let b = shape.b.count();
    let expected = [
        ("ic", key.vk.ic.len(), shape.num_inputs),
        ("h", key.h.len(), domain.size() - 1),
        ("l", key.l.len(), shape.num_aux),
        ("a", key.a.len(), shape.a.count()),
        ("b_g1", key.b_g1.len(), b),
        ("b_g2", key.b_g2.len(), b),
    ];
    match expected.into_iter().find(|(_, key, circuit)| key != circuit) {
        None => Ok(()),
        Some((query, key, circuit)) => Err(ProveError::KeyMismatch { query, key, circuit }),
    }
}

/// What the device has to find room for: points that stand in memory which it shares need no more of it.
fn sizes<D: Device>(
    device: &D,
    key: &ProvingKey,
    shape: &Shape,
    r1cs: Option<&Arc<R1cs>>,
    domain: &Domain,
) -> ProofSizes {
    fn to_upload<P: AffinePoint>(points: &Points<P>, shared: bool) -> usize {
        if shared && points.as_slice().is_some() { 0 } else { points.len() }
    }
    let shared = device.info().shares_host_memory;
    let g1_queries = [&key.h, &key.l, &key.a, &key.b_g1];
    ProofSizes {
        domain: domain.size(),
        variables: shape.num_variables(),
        g1_points: g1_queries.into_iter().map(|points| to_upload(points, shared)).sum(),
        g2_points: to_upload(&key.b_g2, shared),
        matrix_entries: r1cs.filter(|_| !shared).map_or(0, |r1cs| r1cs.num_entries()),
    }
}
