//! What a prover needs from a device.
//!
//! [`Device`] is the boundary between the proving schedule, which knows Groth16 and no GPU, and the backends,
//! which know a GPU and no Groth16. Whole operations cross it, never kernels: sorting, scans and reductions
//! stay inside a backend.
//!
//! # Contract
//!
//! - **Order.** Operations on one device take effect in the order in which they are called, as if each had
//!   finished before the next. A backend may overlap them where the result is the same.
//! - **Time.** A call enqueues work and returns; it need not have run. What comes back to the host (points,
//!   scalars, durations) is a future, and *calling* the method is what enqueues the work: the future only
//!   waits. The futures borrow nothing. The CPU device computes within the call.
//! - **Errors.** A call fails with what is known at once. A failure of enqueued work surfaces at the next
//!   awaited result of the same device; until then, values that depend on it are unspecified. No operation
//!   panics on a device fault.
//! - **Lengths.** The caller, which is [`groth16`](crate::groth16), checks lengths and indices once; a backend
//!   may rely on what each method states. A violation is a bug of the caller and may panic.
//! - **Memory.** Buffers are freed when dropped. Buffers that hold witness values are cleared first.

mod cpu;
mod dual;
mod error;
mod self_test;

use std::future::Future;
use std::time::Duration;

use blstrs::Scalar;

use crate::curve::AffinePoint;
use crate::domain::Domain;
use crate::key::Points;
use crate::plan::{ProofSizes, proof_memory};
use crate::r1cs::{CompactWitness, SparseMatrix, VariableSet};
use crate::secret::SecretVec;

pub use cpu::CpuDevice;
pub use dual::Dual;
pub use error::DeviceError;
pub use self_test::self_test;

/// Which kind of device a backend drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Threads of the host.
    Cpu,
    /// NVIDIA GPUs through CUDA.
    Cuda,
    /// GPUs through wgpu compute shaders.
    Wgpu,
}

impl Backend {
    /// The name by which users select the backend.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Cpu => "cpu",
            Backend::Cuda => "cuda",
            Backend::Wgpu => "wgpu",
        }
    }
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a device says about itself; what plans are made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The backend that drives it.
    pub backend: Backend,
    /// Position among the backend's devices.
    pub ordinal: usize,
    /// The vendor's name for it.
    pub name: String,
    /// The API it is driven through, where its backend has several.
    pub api: Option<String>,
    /// Name and version of the driver, where there is one.
    pub driver: Option<String>,
    /// Whether it computes in software what it presents as a GPU.
    pub software: bool,
    /// Memory in bytes, if it can be told.
    pub memory_total: Option<u64>,
    /// Memory in bytes that was free when the device was opened or probed.
    pub memory_free: Option<u64>,
    /// Whether buffers of the host are the device's own, so that a key in the host's memory is resident already.
    pub shares_host_memory: bool,
    /// Independent units of execution: threads, multiprocessors; 0 if it cannot be told.
    pub units: usize,
    /// What else decides how it computes, under names of the backend's own. For people; no plan is made from it.
    pub details: Vec<(&'static str, Detail)>,
}

/// The value of one of a device's details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A word.
    Text(String),
    /// A size in bytes.
    Bytes(u64),
}

impl std::fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.backend {
            Backend::Cpu => write!(f, "cpu ({})", self.name),
            backend => write!(f, "{backend}:{} ({})", self.ordinal, self.name),
        }
    }
}

/// A number-theoretic transform. Inputs and outputs stand in natural order.
///
/// With n the size of the [`Domain`], ω its root and g its shift:
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    /// Coefficients to values: y_i = Σ_j x_j·ω^(ij).
    Forward,
    /// Values to coefficients: y_j = (1/n)·Σ_i x_i·ω^(−ij).
    Inverse,
    /// Coefficients to values on the coset: y_i = Σ_j x_j·(g·ω^i)^j.
    CosetForward,
    /// Values on the coset to coefficients: y_j = (g^(−j)/n)·Σ_i x_i·ω^(−ij).
    CosetInverse,
}

impl Transform {
    /// All four.
    pub const ALL: [Transform; 4] =
        [Transform::Forward, Transform::Inverse, Transform::CosetForward, Transform::CosetInverse];
}

/// A device that computes over the scalar field and in both groups of BLS12-381. See the [module](self) for
/// the contract.
pub trait Device: Send + Sync + 'static {
    /// A vector of scalars.
    type Scalars: Send + Sync;
    /// A [`CompactWitness`].
    type Witness: Send + Sync;
    /// A [`SparseMatrix`].
    type Matrix: Send + Sync;
    /// What transforms over a [`Domain`] need: twiddle factors.
    type Domain: Send + Sync;
    /// Points of a key, with multiples of them if the backend's plan says so.
    type Bases<P: AffinePoint>: Send + Sync;
    /// A [`VariableSet`].
    type Variables: Send + Sync;
    /// The witness values of a variable set, sorted into zeros, ones and the rest.
    type Selection: Send + Sync;
    /// A moment in the device's work.
    type Mark: Send + Sync;

    /// What device this is.
    fn info(&self) -> &DeviceInfo;

    /// Memory in bytes that is free now, if it can be told; without a better source, what was free when the
    /// device was opened.
    fn memory_free(&self) -> Option<u64> {
        self.info().memory_free
    }

    /// Whether a proof of these sizes fits into the memory that is free now. Asked when a key is made resident, with
    /// the points that have to be uploaded, and before each proof, without them.
    ///
    /// A backend that can do with less than [`proof_memory`], by streaming points or working in chunks, says so
    /// here.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] with the bytes needed and free.
    fn admit(&self, sizes: &ProofSizes) -> Result<(), DeviceError> {
        let asked = proof_memory(sizes);
        match self.memory_free() {
            Some(free) if asked > free => Err(DeviceError::OutOfMemory { asked, free: Some(free) }),
            _ => Ok(()),
        }
    }

    /// The vector of the first `values.len()` scalars given, followed by zeros up to length `len`, which is
    /// no less.
    fn upload(&self, values: &[Scalar], len: usize) -> Result<Self::Scalars, DeviceError>;

    /// The values of a vector.
    fn download(
        &self,
        values: &Self::Scalars,
    ) -> impl Future<Output = Result<SecretVec<Scalar>, DeviceError>> + Send + use<Self>;

    /// Makes a witness resident; what travels is its compact form.
    fn upload_witness(&self, witness: &CompactWitness) -> Result<Self::Witness, DeviceError>;

    /// Makes a matrix resident.
    fn matrix(&self, matrix: &SparseMatrix) -> Result<Self::Matrix, DeviceError>;

    /// Makes a domain resident.
    fn domain(&self, domain: &Domain) -> Result<Self::Domain, DeviceError>;

    /// Makes the points of a query resident. Points at infinity may be among them.
    fn bases<P: AffinePoint>(&self, points: &Points<P>) -> Result<Self::Bases<P>, DeviceError>;

    /// Makes a set of variables resident.
    fn variables(&self, variables: &VariableSet) -> Result<Self::Variables, DeviceError>;

    /// The sparse product y = M·w, followed by zeros up to length `len`, which is no less than the number of
    /// rows: y_i = Σ_j M\[i\]\[j\]·w_j. The witness has a value for each column.
    fn spmv(
        &self,
        matrix: &Self::Matrix,
        witness: &Self::Witness,
        len: usize,
    ) -> Result<Self::Scalars, DeviceError>;

    /// Transforms a vector of the domain's size in place.
    fn ntt(
        &self,
        domain: &Self::Domain,
        transform: Transform,
        values: &mut Self::Scalars,
    ) -> Result<(), DeviceError>;

    /// The pointwise quotient a_i ← (a_i·b_i − c_i)·scale; without `c`, a_i ← a_i·b_i·scale. Lengths are
    /// equal.
    fn quotient(
        &self,
        a: &mut Self::Scalars,
        b: &Self::Scalars,
        c: Option<&Self::Scalars>,
        scale: &Scalar,
    ) -> Result<(), DeviceError>;

    /// From values on the domain to the quotient on the coset: extends a, b and c from the domain to the coset
    /// (inverse transform, then coset transform), then takes the pointwise [`quotient`](Device::quotient).
    ///
    /// Between the two transforms no order need be kept, and the product can ride on the last pass: backends
    /// replace this composition, [`composed_coset_quotient`], by one of their own.
    fn coset_quotient(
        &self,
        domain: &Self::Domain,
        a: Self::Scalars,
        b: Self::Scalars,
        c: Option<Self::Scalars>,
        scale: &Scalar,
    ) -> Result<Self::Scalars, DeviceError> {
        composed_coset_quotient(self, domain, a, b, c, scale)
    }

    /// The values that a witness gives to the members of a set, sorted into zeros, ones and the rest. The set
    /// and the witness have the same number of variables.
    fn select(
        &self,
        variables: &Self::Variables,
        witness: &Self::Witness,
    ) -> Result<Self::Selection, DeviceError>;

    /// The multi-scalar product Σ_i s_i·P_i over all bases; there are as many scalars or more.
    fn msm<P: AffinePoint>(
        &self,
        bases: &Self::Bases<P>,
        scalars: &Self::Scalars,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<Self, P>;

    /// The multi-scalar product Σ s_i·P_i over those members of the selection whose value s_i is neither zero
    /// nor one; the i-th member belongs to the i-th base.
    fn tail_msm<P: AffinePoint>(
        &self,
        bases: &Self::Bases<P>,
        selection: &Self::Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<Self, P>;

    /// The sum Σ P_i over those members of the selection whose value is one.
    fn batch_add<P: AffinePoint>(
        &self,
        bases: &Self::Bases<P>,
        selection: &Self::Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<Self, P>;

    /// The multiples s_i·P of one point, in order.
    fn fixed_base_mul<P: AffinePoint>(
        &self,
        base: &P,
        scalars: &Self::Scalars,
    ) -> impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<Self, P>;

    /// Marks the moment at which all work enqueued so far is done.
    fn mark(&self) -> Result<Self::Mark, DeviceError>;

    /// The time that passed on the device between two marks.
    fn elapsed(
        &self,
        from: &Self::Mark,
        to: &Self::Mark,
    ) -> impl Future<Output = Result<Duration, DeviceError>> + Send + use<Self>;
}

/// [`Device::coset_quotient`] by its definition: two transforms a vector, then the pointwise quotient. What a
/// device's own version is held against.
///
/// # Errors
/// The device's.
pub fn composed_coset_quotient<D: Device + ?Sized>(
    device: &D,
    domain: &D::Domain,
    mut a: D::Scalars,
    mut b: D::Scalars,
    mut c: Option<D::Scalars>,
    scale: &Scalar,
) -> Result<D::Scalars, DeviceError> {
    for values in [&mut a, &mut b].into_iter().chain(&mut c) {
        device.ntt(domain, Transform::Inverse, values)?;
        device.ntt(domain, Transform::CosetForward, values)?;
    }
    device.quotient(&mut a, &b, c.as_ref(), scale)?;
    Ok(a)
}
