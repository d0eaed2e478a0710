//! The CPU device: the same operations on the threads of the host.
//!
//! Every operation runs within its call, on the rayon pool it is called in, and is done when the call returns.

mod batch_add;
mod fixed_base;
mod host;
mod msm;
mod ntt;
mod select;
mod sum;

use std::future::{Future, Ready, ready};
use std::sync::Arc;
use std::time::{Duration, Instant};

use blstrs::Scalar;
use rayon::prelude::*;

use super::{Backend, Device, DeviceError, DeviceInfo, Transform};
use crate::curve::AffinePoint;
use crate::domain::Domain;
use crate::key::Points;
use crate::r1cs::{CompactWitness, SparseMatrix, VariableSet};
use crate::secret::SecretVec;

use ntt::Twiddles;
use select::Selection;

/// The host as a [`Device`].
#[derive(Debug)]
pub struct CpuDevice {
    info: DeviceInfo,
}

impl CpuDevice {
    /// The host with all threads of the current rayon pool.
    pub fn new() -> Self {
        let units = rayon::current_num_threads();
        let model = host::processor().map_or(String::new(), |model| format!("{model}, "));
        let (memory_total, memory_free) = host::memory();
        CpuDevice {
            info: DeviceInfo {
                backend: Backend::Cpu,
                ordinal: 0,
                name: format!("{model}{units} {}", if units == 1 { "thread" } else { "threads" }),
                api: None,
                driver: None,
                software: false,
                memory_total,
                memory_free,
                shares_host_memory: true,
                units,
                details: Vec::new(),
            },
        }
    }
}

impl Default for CpuDevice {
    fn default() -> Self {
        CpuDevice::new()
    }
}

impl Device for CpuDevice {
    type Scalars = SecretVec<Scalar>;
    type Witness = CompactWitness;
    type Matrix = SparseMatrix;
    type Domain = Twiddles;
    type Bases<P: AffinePoint> = Arc<[P]>;
    type Variables = VariableSet;
    type Selection = Selection;
    type Mark = Instant;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_free(&self) -> Option<u64> {
        host::memory().1
    }

    fn upload(&self, values: &[Scalar], len: usize) -> Result<SecretVec<Scalar>, DeviceError> {
        let mut vector = SecretVec::with_capacity(len);
        vector.extend_from_slice(values);
        vector.resize(len, Scalar::from(0u64));
        Ok(vector)
    }

    fn download(
        &self,
        values: &SecretVec<Scalar>,
    ) -> impl Future<Output = Result<SecretVec<Scalar>, DeviceError>> + Send + use<> {
        ready(Ok(values.clone()))
    }

    fn upload_witness(&self, witness: &CompactWitness) -> Result<CompactWitness, DeviceError> {
        Ok(witness.clone())
    }

    fn matrix(&self, matrix: &SparseMatrix) -> Result<SparseMatrix, DeviceError> {
        Ok(matrix.clone())
    }

    fn domain(&self, domain: &Domain) -> Result<Twiddles, DeviceError> {
        Ok(Twiddles::new(domain))
    }

    fn bases<P: AffinePoint>(&self, points: &Points<P>) -> Result<Arc<[P]>, DeviceError> {
        points.to_shared().map_err(|error| DeviceError::Key { reason: error.to_string() })
    }

    fn variables(&self, variables: &VariableSet) -> Result<VariableSet, DeviceError> {
        Ok(variables.clone())
    }

    fn spmv(
        &self,
        matrix: &SparseMatrix,
        witness: &CompactWitness,
        len: usize,
    ) -> Result<SecretVec<Scalar>, DeviceError> {
        let mut product = self.upload(&[], len)?;
        product[..matrix.num_rows()]
            .par_iter_mut()
            .with_min_len(64)
            .enumerate()
            .for_each(|(row, sum)| *sum = matrix.row_product(row, |column| witness.get(column)));
        Ok(product)
    }

    fn ntt(
        &self,
        domain: &Twiddles,
        transform: Transform,
        values: &mut SecretVec<Scalar>,
    ) -> Result<(), DeviceError> {
        domain.transform(transform, values);
        Ok(())
    }

    fn quotient(
        &self,
        a: &mut SecretVec<Scalar>,
        b: &SecretVec<Scalar>,
        c: Option<&SecretVec<Scalar>>,
        scale: &Scalar,
    ) -> Result<(), DeviceError> {
        let pairs = a.par_iter_mut().with_min_len(256).zip(&b[..]);
        match c {
            Some(c) => pairs.zip(&c[..]).for_each(|((a, b), c)| *a = (*a * b - c) * scale),
            None => pairs.for_each(|(a, b)| *a = *a * b * scale),
        }
        Ok(())
    }

    fn coset_quotient(
        &self,
        domain: &Twiddles,
        mut a: SecretVec<Scalar>,
        mut b: SecretVec<Scalar>,
        mut c: Option<SecretVec<Scalar>>,
        scale: &Scalar,
    ) -> Result<SecretVec<Scalar>, DeviceError> {
        for values in [&mut a, &mut b].into_iter().chain(&mut c) {
            domain.extend_to_coset(values);
        }
        self.quotient(&mut a, &b, c.as_ref(), scale)?;
        Ok(a)
    }

    fn select(&self, variables: &VariableSet, witness: &CompactWitness) -> Result<Selection, DeviceError> {
        Ok(Selection::new(variables, witness))
    }

    fn msm<P: AffinePoint>(
        &self,
        bases: &Arc<[P]>,
        scalars: &SecretVec<Scalar>,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
        done(msm::msm(bases, &scalars[..bases.len()]))
    }

    fn tail_msm<P: AffinePoint>(
        &self,
        bases: &Arc<[P]>,
        selection: &Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
        done(msm::msm_indexed(bases, selection.tail_positions(), selection.tail_scalars()))
    }

    fn batch_add<P: AffinePoint>(
        &self,
        bases: &Arc<[P]>,
        selection: &Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
        done(batch_add::sum_of(bases, selection.ones()))
    }

    fn fixed_base_mul<P: AffinePoint>(
        &self,
        base: &P,
        scalars: &SecretVec<Scalar>,
    ) -> impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<P> {
        done(fixed_base::multiples(base, scalars))
    }

    fn mark(&self) -> Result<Instant, DeviceError> {
        Ok(Instant::now())
    }

    fn elapsed(
        &self,
        from: &Instant,
        to: &Instant,
    ) -> impl Future<Output = Result<Duration, DeviceError>> + Send + use<> {
        ready(Ok(to.duration_since(*from)))
    }
}

/// The future of something already computed.
fn done<T>(value: T) -> Ready<Result<T, DeviceError>> {
    ready(Ok(value))
}
