//! An opened card, or the host build, as a [`Device`].

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

use crate::bases::Bases;
use crate::gpu::Gpu;
use crate::marks::{self, Mark};
use crate::memory::WORK_BUFFER;
use crate::ntt::{self, DomainTables};
use crate::options::CudaOptions;
use crate::runtime::driver::DriverRuntime;
use crate::select::{self, Selection, Variables};
use crate::spmv::{self, Matrix};
use crate::testing::Testing;
use crate::vector::Scalars;
use crate::witness::Witness;
use crate::{batch_add, fixed_base, msm, quotient};

/// An opened card, or the host build. A clone is the same device.
#[derive(Clone, Debug)]
pub struct CudaDevice {
    gpu: Arc<Gpu>,
    info: Arc<DeviceInfo>,
}

impl CudaDevice {
    /// Opens the card with this ordinal.
    pub(crate) fn open(ordinal: usize, options: &CudaOptions) -> Result<CudaDevice, DeviceError> {
        CudaDevice::over(DriverRuntime::open(ordinal, options)?, options)
    }

    fn over(runtime: DriverRuntime, options: &CudaOptions) -> Result<CudaDevice, DeviceError> {
        let mut info = runtime.card().info();
        info.details.push(("kernels", Detail::Text(runtime.origin().to_owned())));
        CudaDevice::new(Gpu::open(Box::new(runtime), options.clone())?, info)
    }

    /// The host build of the kernels, for tests: a processor that does what a card would, blocks, warps and all.
    ///
    /// # Errors
    /// [`DeviceError::Launch`] if no thread can be started.
    #[cfg(any(test, feature = "host"))]
    pub fn host(options: &CudaOptions) -> Result<CudaDevice, DeviceError> {
        let runtime = crate::runtime::host::HostRuntime::new(options);
        let gpu = Gpu::open(Box::new(runtime), options.clone())?;
        let info = crate::driver::host_info(gpu.multiprocessors(), gpu.runtime().memory());
        CudaDevice::new(gpu, info)
    }

    /// A card of a double of the driver, for tests: what talks to the driver is what talks to a real one, and the work
    /// is the host build's, done later than the call, by another thread.
    ///
    /// # Errors
    /// As for a card.
    #[doc(hidden)]
    #[cfg(any(test, feature = "host"))]
    pub fn double(options: &CudaOptions) -> Result<CudaDevice, DeviceError> {
        use crate::runtime::driver::double::card;
        CudaDevice::over(DriverRuntime::open_double(card::COMPLETE)?, options)
    }

    fn new(gpu: Arc<Gpu>, mut info: DeviceInfo) -> Result<CudaDevice, DeviceError> {
        info.memory_free = gpu.memory_free();
        tracing::info!(device = %info, driver = info.driver, free = info.memory_free, "device opened");
        Ok(CudaDevice { gpu, info: Arc::new(info) })
    }

    /// Faults on purpose, and what only tests ask.
    #[doc(hidden)]
    pub fn testing(&self) -> Testing<'_> {
        Testing(&self.gpu)
    }
}

impl Device for CudaDevice {
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
        let asked = gpu_proof_memory(sizes, WORK_BUFFER);
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
        marks::elapsed(from.clone(), to.clone())
    }
}
