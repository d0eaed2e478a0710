//! An opened adapter as a [`Device`].

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bellwether_core::curve::AffinePoint;
use bellwether_core::device::{Detail, Device, DeviceError, DeviceInfo, Transform};
use bellwether_core::domain::Domain;
use bellwether_core::key::Points;
use bellwether_core::plan::{ProofSizes, gpu_proof_memory};
use bellwether_core::r1cs::{CompactWitness, SparseMatrix, VariableSet};
use bellwether_core::secret::SecretVec;
use blstrs::Scalar;

use crate::adapter::{self, AdapterDescription};
use crate::bases::Bases;
use crate::gpu::Gpu;
use crate::marks::{self, Mark};
use crate::ntt::{self, DomainTables};
use crate::options::WgpuOptions;
use crate::pipelines::StartUp;
use crate::select::{self, Selection, Variables};
use crate::spmv::{self, Matrix};
use crate::testing::Testing;
use crate::vector::Scalars;
use crate::witness::Witness;
use crate::{batch_add, fixed_base, msm, quotient};

/// An opened adapter. A clone is the same device.
#[derive(Clone, Debug)]
pub struct WgpuDevice {
    gpu: Arc<Gpu>,
    info: Arc<DeviceInfo>,
    adapter: Arc<AdapterDescription>,
}

impl WgpuDevice {
    pub(crate) fn open(
        instance: wgpu::Instance,
        adapter: wgpu::Adapter,
        ordinal: usize,
        options: &WgpuOptions,
    ) -> Result<WgpuDevice, DeviceError> {
        let description = adapter::describe(&adapter, options)?;
        let mut info = adapter::device_info(&adapter, ordinal, options);
        let gpu = Gpu::open(instance, adapter, options)?;
        tracing::info!(
            device = %info,
            api = description.api,
            driver = description.driver,
            tier = description.tier.name(),
            binding = description.max_binding,
            "device opened"
        );
        let pipelines = match gpu.is_software() {
            // It compiles when a program first runs, whatever is done before.
            true => "compiled at first use".to_owned(),
            false => gpu.pipelines().warm_up()?.to_string(),
        };
        info.details.push(("pipelines", Detail::Text(pipelines)));
        Ok(WgpuDevice { gpu, info: Arc::new(info), adapter: Arc::new(description) })
    }

    /// What is known of the adapter.
    pub fn adapter(&self) -> &AdapterDescription {
        &self.adapter
    }

    /// Compiles all programs, if that has not been done, and tells how long it took.
    ///
    /// # Errors
    /// [`DeviceError::Compile`].
    pub fn start_up(&self) -> Result<StartUp, DeviceError> {
        self.gpu.pipelines().warm_up()
    }

    /// Faults on purpose, and what only tests ask.
    #[doc(hidden)]
    pub fn testing(&self) -> Testing<'_> {
        Testing(&self.gpu)
    }
}

impl Device for WgpuDevice {
    type Scalars = Scalars;
    type Witness = Witness;
    type Matrix = Matrix;
    type Domain = DomainTables;
    type Bases<P: AffinePoint> = Bases<P>;
    type Variables = Variables;
    type Selection = Selection;
    type Mark = Mark;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory_free(&self) -> Option<u64> {
        self.gpu.memory_free()
    }

    fn admit(&self, sizes: &ProofSizes) -> Result<(), DeviceError> {
        let asked = gpu_proof_memory(sizes, self.gpu.limits().binding);
        match self.memory_free() {
            Some(free) if asked > free => Err(DeviceError::OutOfMemory { asked, free: Some(free) }),
            _ => Ok(()),
        }
    }

    fn upload(&self, values: &[Scalar], len: usize) -> Result<Scalars, DeviceError> {
        Scalars::upload(&self.gpu, values, len)
    }

    fn download(
        &self,
        values: &Scalars,
    ) -> impl Future<Output = Result<SecretVec<Scalar>, DeviceError>> + Send + use<> {
        values.download(&self.gpu)
    }

    fn upload_witness(&self, witness: &CompactWitness) -> Result<Witness, DeviceError> {
        Witness::upload(&self.gpu, witness)
    }

    fn matrix(&self, matrix: &SparseMatrix) -> Result<Matrix, DeviceError> {
        Matrix::upload(&self.gpu, matrix)
    }

    fn domain(&self, domain: &Domain) -> Result<DomainTables, DeviceError> {
        DomainTables::new(&self.gpu, domain)
    }

    fn bases<P: AffinePoint>(&self, points: &Points<P>) -> Result<Bases<P>, DeviceError> {
        Bases::upload(&self.gpu, points)
    }

    fn variables(&self, variables: &VariableSet) -> Result<Variables, DeviceError> {
        Variables::upload(&self.gpu, variables)
    }

    fn spmv(&self, matrix: &Matrix, witness: &Witness, len: usize) -> Result<Scalars, DeviceError> {
        spmv::product(&self.gpu, matrix, witness, len)
    }

    fn ntt(
        &self,
        domain: &DomainTables,
        transform: Transform,
        values: &mut Scalars,
    ) -> Result<(), DeviceError> {
        ntt::transform(&self.gpu, domain, transform, values)
    }

    fn quotient(
        &self,
        a: &mut Scalars,
        b: &Scalars,
        c: Option<&Scalars>,
        scale: &Scalar,
    ) -> Result<(), DeviceError> {
        quotient::quotient(&self.gpu, a, b, c, scale)
    }

    fn coset_quotient(
        &self,
        domain: &DomainTables,
        a: Scalars,
        b: Scalars,
        c: Option<Scalars>,
        scale: &Scalar,
    ) -> Result<Scalars, DeviceError> {
        ntt::coset_quotient(&self.gpu, domain, a, b, c, scale)
    }

    fn select(&self, variables: &Variables, witness: &Witness) -> Result<Selection, DeviceError> {
        select::select(&self.gpu, variables, witness)
    }

    fn msm<P: AffinePoint>(
        &self,
        bases: &Bases<P>,
        scalars: &Scalars,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
        msm::msm(&self.gpu, bases, scalars)
    }

    fn tail_msm<P: AffinePoint>(
        &self,
        bases: &Bases<P>,
        selection: &Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
        msm::tail_msm(&self.gpu, bases, selection)
    }

    fn batch_add<P: AffinePoint>(
        &self,
        bases: &Bases<P>,
        selection: &Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<P> {
        batch_add::batch_add(&self.gpu, bases, selection)
    }

    fn fixed_base_mul<P: AffinePoint>(
        &self,
        base: &P,
        scalars: &Scalars,
    ) -> impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<P> {
        fixed_base::multiples(&self.gpu, base, scalars)
    }

    fn mark(&self) -> Result<Mark, DeviceError> {
        self.gpu.mark()
    }

    fn elapsed(
        &self,
        from: &Mark,
        to: &Mark,
    ) -> impl Future<Output = Result<Duration, DeviceError>> + Send + use<> {
        // What is recorded has to run for the marks to pass; a failure to submit shows at the marks.
        let flushed = self.gpu.flush();
        let (tower, from, to) = (Arc::clone(self.gpu.tower()), Arc::clone(&from.0), Arc::clone(&to.0));
        async move {
            flushed?;
            marks::elapsed(tower, from, to).await
        }
    }
}
