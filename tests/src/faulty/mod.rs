//! A device that fails, or lies, at a chosen call.

mod fault;

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bellwether_core::curve::AffinePoint;
use bellwether_core::device::{Device, DeviceError, DeviceInfo, Transform};
use bellwether_core::domain::Domain;
use bellwether_core::key::Points;
use bellwether_core::r1cs::{CompactWitness, SparseMatrix, VariableSet};
use bellwether_core::secret::SecretVec;
use blstrs::Scalar;
use ff::Field;
use group::Curve;

pub use fault::{Fault, Operation, When};

/// A device whose calls are counted and, where it is [armed](Faulty::arm), fail or lie.
pub struct Faulty<D> {
    inner: D,
    info: DeviceInfo,
    state: Mutex<State>,
    live: Arc<AtomicUsize>,
}

#[derive(Default)]
struct State {
    fault: Option<(When, Fault)>,
    calls: Vec<Operation>,
}

/// Something resident on the inner device, counted while it lives.
pub struct Held<T> {
    value: T,
    /// Where to spoil what is computed from the value.
    wrong: Option<usize>,
    _live: Live,
}

struct Live(Arc<AtomicUsize>);

impl Drop for Live {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<D: Device> Faulty<D> {
    /// A device without faults.
    pub fn new(inner: D) -> Self {
        Faulty { info: inner.info().clone(), inner, state: Mutex::default(), live: Arc::default() }
    }

    /// The device under another name, which tells it from the inner device in messages.
    pub fn named(mut self, name: &str) -> Self {
        self.info.name = name.into();
        self
    }

    /// The device with so many bytes of memory free.
    pub fn with_memory_free(mut self, bytes: u64) -> Self {
        self.info.memory_free = Some(bytes);
        self
    }

    /// Counts calls anew and lets the chosen ones meet the fault.
    pub fn arm(&self, when: When, fault: Fault) {
        *self.state() = State { fault: Some((when, fault)), calls: Vec::new() };
    }

    /// Counts calls anew, without a fault; gives the calls counted so far.
    pub fn disarm(&self) -> Vec<Operation> {
        std::mem::take(&mut *self.state()).calls
    }

    /// How many buffers, bases, domains and so on are alive.
    pub fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call. It fails if that is its fault, else says where its result is to be wrong.
    fn enter(&self, operation: Operation) -> Result<Option<usize>, DeviceError> {
        let fault = {
            let mut state = self.state();
            let call = state.calls.len();
            state.calls.push(operation);
            match &state.fault {
                Some((when, fault)) if when.includes(call, operation) => Some(fault.clone()),
                _ => None,
            }
        };
        match fault {
            None => Ok(None),
            Some(Fault::Error(error)) => Err(error),
            Some(Fault::Wrong(index)) => Ok(Some(index)),
            Some(Fault::Run(action)) => {
                action();
                Ok(None)
            }
        }
    }

    fn hold<T>(&self, value: T, wrong: Option<usize>) -> Held<T> {
        self.live.fetch_add(1, Ordering::Relaxed);
        Held { value, wrong, _live: Live(Arc::clone(&self.live)) }
    }

    /// The vector, altered if there is an index.
    fn altered(&self, values: D::Scalars, wrong: Option<usize>) -> Result<D::Scalars, DeviceError> {
        if wrong.is_none() {
            return Ok(values);
        }
        let values = altered_values(pollster::block_on(self.inner.download(&values))?.to_vec(), wrong);
        self.inner.upload(&values, values.len())
    }

    /// Alters a resident vector in place, if there is an index.
    fn alter(&self, held: &mut Held<D::Scalars>, wrong: Option<usize>) -> Result<(), DeviceError> {
        if wrong.is_some() {
            let values =
                altered_values(pollster::block_on(self.inner.download(&held.value))?.to_vec(), wrong);
            held.value = self.inner.upload(&values, values.len())?;
        }
        Ok(())
    }
}

fn altered_values(mut values: Vec<Scalar>, wrong: Option<usize>) -> Vec<Scalar> {
    if let (Some(index), 1..) = (wrong, values.len()) {
        let index = index % values.len();
        values[index] += Scalar::ONE;
    }
    values
}

/// The future of a point, with the generator added if there is an index.
async fn altered_point<P: AffinePoint>(
    entered: Result<
        (Option<usize>, impl Future<Output = Result<P::Projective, DeviceError>> + Send),
        DeviceError,
    >,
) -> Result<P::Projective, DeviceError> {
    let (wrong, point) = entered?;
    let mut point = point.await?;
    if wrong.is_some() {
        point += &P::generator();
    }
    Ok(point)
}

impl<D: Device> Device for Faulty<D> {
    type Scalars = Held<D::Scalars>;
    type Witness = Held<D::Witness>;
    type Matrix = Held<D::Matrix>;
    type Domain = Held<D::Domain>;
    type Bases<P: AffinePoint> = Held<D::Bases<P>>;
    type Variables = Held<D::Variables>;
    type Selection = Held<D::Selection>;
    type Mark = Held<D::Mark>;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn upload(&self, values: &[Scalar], len: usize) -> Result<Self::Scalars, DeviceError> {
        let wrong = self.enter(Operation::Upload)?;
        let vector = self.altered(self.inner.upload(values, len)?, wrong)?;
        Ok(self.hold(vector, None))
    }

    fn download(
        &self,
        values: &Self::Scalars,
    ) -> impl Future<Output = Result<SecretVec<Scalar>, DeviceError>> + Send + use<D> {
        let entered =
            self.enter(Operation::Download).map(|wrong| (wrong, self.inner.download(&values.value)));
        async move {
            let (wrong, values) = entered?;
            Ok(altered_values(values.await?.to_vec(), wrong).into())
        }
    }

    fn upload_witness(&self, witness: &CompactWitness) -> Result<Self::Witness, DeviceError> {
        let wrong = self.enter(Operation::UploadWitness)?;
        let uploaded = if wrong.is_some() {
            let values = (0..witness.len()).map(|variable| witness.get(variable)).collect();
            let altered = altered_values(values, wrong).into_iter().collect();
            self.inner.upload_witness(&altered)?
        } else {
            self.inner.upload_witness(witness)?
        };
        Ok(self.hold(uploaded, None))
    }

    fn matrix(&self, matrix: &SparseMatrix) -> Result<Self::Matrix, DeviceError> {
        let wrong = self.enter(Operation::Matrix)?;
        Ok(self.hold(self.inner.matrix(matrix)?, wrong))
    }

    fn domain(&self, domain: &Domain) -> Result<Self::Domain, DeviceError> {
        let wrong = self.enter(Operation::Domain)?;
        Ok(self.hold(self.inner.domain(domain)?, wrong))
    }

    fn bases<P: AffinePoint>(&self, points: &Points<P>) -> Result<Self::Bases<P>, DeviceError> {
        let wrong = self.enter(Operation::Bases)?;
        Ok(self.hold(self.inner.bases(points)?, wrong))
    }

    fn variables(&self, variables: &VariableSet) -> Result<Self::Variables, DeviceError> {
        let wrong = self.enter(Operation::Variables)?;
        Ok(self.hold(self.inner.variables(variables)?, wrong))
    }

    fn spmv(
        &self,
        matrix: &Self::Matrix,
        witness: &Self::Witness,
        len: usize,
    ) -> Result<Self::Scalars, DeviceError> {
        let wrong = self.enter(Operation::Spmv)?.or(matrix.wrong);
        let product = self.inner.spmv(&matrix.value, &witness.value, len)?;
        Ok(self.hold(self.altered(product, wrong)?, None))
    }

    fn ntt(
        &self,
        domain: &Self::Domain,
        transform: Transform,
        values: &mut Self::Scalars,
    ) -> Result<(), DeviceError> {
        let wrong = self.enter(Operation::Ntt)?.or(domain.wrong);
        self.inner.ntt(&domain.value, transform, &mut values.value)?;
        self.alter(values, wrong)
    }

    fn quotient(
        &self,
        a: &mut Self::Scalars,
        b: &Self::Scalars,
        c: Option<&Self::Scalars>,
        scale: &Scalar,
    ) -> Result<(), DeviceError> {
        let wrong = self.enter(Operation::Quotient)?;
        self.inner.quotient(&mut a.value, &b.value, c.map(|c| &c.value), scale)?;
        self.alter(a, wrong)
    }

    fn coset_quotient(
        &self,
        domain: &Self::Domain,
        a: Self::Scalars,
        b: Self::Scalars,
        c: Option<Self::Scalars>,
        scale: &Scalar,
    ) -> Result<Self::Scalars, DeviceError> {
        let wrong = self.enter(Operation::CosetQuotient)?.or(domain.wrong);
        let c = c.map(|c| c.value);
        let quotient = self.inner.coset_quotient(&domain.value, a.value, b.value, c, scale)?;
        Ok(self.hold(self.altered(quotient, wrong)?, None))
    }

    fn select(
        &self,
        variables: &Self::Variables,
        witness: &Self::Witness,
    ) -> Result<Self::Selection, DeviceError> {
        let wrong = self.enter(Operation::Select)?.or(variables.wrong);
        Ok(self.hold(self.inner.select(&variables.value, &witness.value)?, wrong))
    }

    fn msm<P: AffinePoint>(
        &self,
        bases: &Self::Bases<P>,
        scalars: &Self::Scalars,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<D, P> {
        altered_point::<P>(self.enter(Operation::Msm).map(|wrong| {
            let sum = self.inner.msm(&bases.value, &scalars.value);
            (wrong.or(bases.wrong), sum)
        }))
    }

    fn tail_msm<P: AffinePoint>(
        &self,
        bases: &Self::Bases<P>,
        selection: &Self::Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<D, P> {
        altered_point::<P>(self.enter(Operation::TailMsm).map(|wrong| {
            let sum = self.inner.tail_msm(&bases.value, &selection.value);
            (wrong.or(bases.wrong).or(selection.wrong), sum)
        }))
    }

    fn batch_add<P: AffinePoint>(
        &self,
        bases: &Self::Bases<P>,
        selection: &Self::Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<D, P> {
        altered_point::<P>(self.enter(Operation::BatchAdd).map(|wrong| {
            let sum = self.inner.batch_add(&bases.value, &selection.value);
            (wrong.or(bases.wrong).or(selection.wrong), sum)
        }))
    }

    fn fixed_base_mul<P: AffinePoint>(
        &self,
        base: &P,
        scalars: &Self::Scalars,
    ) -> impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<D, P> {
        let entered = self
            .enter(Operation::FixedBaseMul)
            .map(|wrong| (wrong, self.inner.fixed_base_mul(base, &scalars.value)));
        async move {
            let (wrong, points) = entered?;
            let mut points = points.await?;
            if let (Some(index), 1..) = (wrong, points.len()) {
                let index = index % points.len();
                points[index] = (points[index].to_curve() + P::generator()).to_affine();
            }
            Ok(points)
        }
    }

    fn mark(&self) -> Result<Self::Mark, DeviceError> {
        self.enter(Operation::Mark)?;
        Ok(self.hold(self.inner.mark()?, None))
    }

    fn elapsed(
        &self,
        from: &Self::Mark,
        to: &Self::Mark,
    ) -> impl Future<Output = Result<Duration, DeviceError>> + Send + use<D> {
        let entered = self.enter(Operation::Elapsed).map(|_| self.inner.elapsed(&from.value, &to.value));
        async move { entered?.await }
    }
}
