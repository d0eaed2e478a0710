//! Two devices that have to agree on everything.

use std::future::Future;
use std::time::Duration;

use blstrs::Scalar;
use group::Curve;

use super::{Device, DeviceError, DeviceInfo, Transform};
use crate::curve::AffinePoint;
use crate::domain::Domain;
use crate::key::Points;
use crate::plan::ProofSizes;
use crate::r1cs::{CompactWitness, SparseMatrix, VariableSet};
use crate::secret::SecretVec;

/// Runs every operation on two devices and fails on the first difference with [`DeviceError::Mismatch`], which
/// names the operation and the index of the first value that differs.
///
/// What is compared is what can be downloaded: vectors and points. Resident keys, matrices, witnesses and selections
/// are opaque; a difference in one of them shows at the first operation that uses it.
///
/// A tool for tests and for hunting a fault: it downloads every result to compare it and waits for that within
/// calls that otherwise only enqueue.
#[derive(Debug)]
pub struct Dual<A, B> {
    first: A,
    second: B,
    info: DeviceInfo,
}

impl<A: Device, B: Device> Dual<A, B> {
    /// Both devices as one. It calls itself after both and otherwise presents the first one's information.
    pub fn new(first: A, second: B) -> Self {
        let name = format!("{} and {}", first.info(), second.info());
        let info = DeviceInfo { name, ..first.info().clone() };
        Dual { first, second, info }
    }

    /// Downloads both sides of a vector and compares them.
    fn compare(
        &self,
        operation: &'static str,
        values: &(A::Scalars, B::Scalars),
    ) -> Result<SecretVec<Scalar>, DeviceError> {
        let first = pollster::block_on(self.first.download(&values.0))?;
        let second = pollster::block_on(self.second.download(&values.1))?;
        match first_difference(&first, &second) {
            None => Ok(first),
            Some(index) => Err(DeviceError::Mismatch {
                operation,
                index,
                first: self.first.info().to_string(),
                second: self.second.info().to_string(),
            }),
        }
    }

    /// A future of the first side's value that fails if the second side's differs.
    fn agree<T, F, G>(
        &self,
        operation: &'static str,
        first: F,
        second: G,
        difference: fn(&T, &T) -> Option<usize>,
    ) -> impl Future<Output = Result<T, DeviceError>> + Send + use<A, B, T, F, G>
    where
        T: Send,
        F: Future<Output = Result<T, DeviceError>> + Send,
        G: Future<Output = Result<T, DeviceError>> + Send,
    {
        let names = (self.first.info().to_string(), self.second.info().to_string());
        async move {
            let (value, other) = (first.await?, second.await?);
            match difference(&value, &other) {
                None => Ok(value),
                Some(index) => {
                    Err(DeviceError::Mismatch { operation, index, first: names.0, second: names.1 })
                }
            }
        }
    }
}

fn first_difference<T: PartialEq>(first: &[T], second: &[T]) -> Option<usize> {
    (0..first.len().max(second.len())).find(|&i| first.get(i) != second.get(i))
}

fn point_difference<P: AffinePoint>(first: &P::Projective, second: &P::Projective) -> Option<usize> {
    (first.to_affine() != second.to_affine()).then_some(0)
}

impl<A: Device, B: Device> Device for Dual<A, B> {
    type Scalars = (A::Scalars, B::Scalars);
    type Witness = (A::Witness, B::Witness);
    type Matrix = (A::Matrix, B::Matrix);
    type Domain = (A::Domain, B::Domain);
    type Bases<P: AffinePoint> = (A::Bases<P>, B::Bases<P>);
    type Variables = (A::Variables, B::Variables);
    type Selection = (A::Selection, B::Selection);
    type Mark = A::Mark;

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The smaller of both: each holds everything.
    fn memory_free(&self) -> Option<u64> {
        [self.first.memory_free(), self.second.memory_free()].into_iter().flatten().min()
    }

    fn admit(&self, sizes: &ProofSizes) -> Result<(), DeviceError> {
        self.first.admit(sizes).and_then(|()| self.second.admit(sizes))
    }

    fn upload(&self, values: &[Scalar], len: usize) -> Result<Self::Scalars, DeviceError> {
        let vectors = (self.first.upload(values, len)?, self.second.upload(values, len)?);
        self.compare("upload", &vectors)?;
        Ok(vectors)
    }

    fn download(
        &self,
        values: &Self::Scalars,
    ) -> impl Future<Output = Result<SecretVec<Scalar>, DeviceError>> + Send + use<A, B> {
        std::future::ready(self.compare("download", values))
    }

    fn upload_witness(&self, witness: &CompactWitness) -> Result<Self::Witness, DeviceError> {
        Ok((self.first.upload_witness(witness)?, self.second.upload_witness(witness)?))
    }

    fn matrix(&self, matrix: &SparseMatrix) -> Result<Self::Matrix, DeviceError> {
        Ok((self.first.matrix(matrix)?, self.second.matrix(matrix)?))
    }

    fn domain(&self, domain: &Domain) -> Result<Self::Domain, DeviceError> {
        Ok((self.first.domain(domain)?, self.second.domain(domain)?))
    }

    fn bases<P: AffinePoint>(&self, points: &Points<P>) -> Result<Self::Bases<P>, DeviceError> {
        Ok((self.first.bases(points)?, self.second.bases(points)?))
    }

    fn variables(&self, variables: &VariableSet) -> Result<Self::Variables, DeviceError> {
        Ok((self.first.variables(variables)?, self.second.variables(variables)?))
    }

    fn spmv(
        &self,
        matrix: &Self::Matrix,
        witness: &Self::Witness,
        len: usize,
    ) -> Result<Self::Scalars, DeviceError> {
        let products =
            (self.first.spmv(&matrix.0, &witness.0, len)?, self.second.spmv(&matrix.1, &witness.1, len)?);
        self.compare("spmv", &products)?;
        Ok(products)
    }

    fn ntt(
        &self,
        domain: &Self::Domain,
        transform: Transform,
        values: &mut Self::Scalars,
    ) -> Result<(), DeviceError> {
        self.first.ntt(&domain.0, transform, &mut values.0)?;
        self.second.ntt(&domain.1, transform, &mut values.1)?;
        self.compare("ntt", values).map(drop)
    }

    fn quotient(
        &self,
        a: &mut Self::Scalars,
        b: &Self::Scalars,
        c: Option<&Self::Scalars>,
        scale: &Scalar,
    ) -> Result<(), DeviceError> {
        self.first.quotient(&mut a.0, &b.0, c.map(|c| &c.0), scale)?;
        self.second.quotient(&mut a.1, &b.1, c.map(|c| &c.1), scale)?;
        self.compare("quotient", a).map(drop)
    }

    fn coset_quotient(
        &self,
        domain: &Self::Domain,
        a: Self::Scalars,
        b: Self::Scalars,
        c: Option<Self::Scalars>,
        scale: &Scalar,
    ) -> Result<Self::Scalars, DeviceError> {
        let (first_c, second_c) = c.unzip();
        let quotients = (
            self.first.coset_quotient(&domain.0, a.0, b.0, first_c, scale)?,
            self.second.coset_quotient(&domain.1, a.1, b.1, second_c, scale)?,
        );
        self.compare("coset quotient", &quotients)?;
        Ok(quotients)
    }

    fn select(
        &self,
        variables: &Self::Variables,
        witness: &Self::Witness,
    ) -> Result<Self::Selection, DeviceError> {
        Ok((self.first.select(&variables.0, &witness.0)?, self.second.select(&variables.1, &witness.1)?))
    }

    fn msm<P: AffinePoint>(
        &self,
        bases: &Self::Bases<P>,
        scalars: &Self::Scalars,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<A, B, P> {
        let (first, second) = (self.first.msm(&bases.0, &scalars.0), self.second.msm(&bases.1, &scalars.1));
        self.agree("msm", first, second, point_difference::<P>)
    }

    fn tail_msm<P: AffinePoint>(
        &self,
        bases: &Self::Bases<P>,
        selection: &Self::Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<A, B, P> {
        let first = self.first.tail_msm(&bases.0, &selection.0);
        let second = self.second.tail_msm(&bases.1, &selection.1);
        self.agree("tail msm", first, second, point_difference::<P>)
    }

    fn batch_add<P: AffinePoint>(
        &self,
        bases: &Self::Bases<P>,
        selection: &Self::Selection,
    ) -> impl Future<Output = Result<P::Projective, DeviceError>> + Send + use<A, B, P> {
        let first = self.first.batch_add(&bases.0, &selection.0);
        let second = self.second.batch_add(&bases.1, &selection.1);
        self.agree("batch addition", first, second, point_difference::<P>)
    }

    fn fixed_base_mul<P: AffinePoint>(
        &self,
        base: &P,
        scalars: &Self::Scalars,
    ) -> impl Future<Output = Result<Vec<P>, DeviceError>> + Send + use<A, B, P> {
        let first = self.first.fixed_base_mul(base, &scalars.0);
        let second = self.second.fixed_base_mul(base, &scalars.1);
        self.agree("fixed-base multiplication", first, second, |first, second| {
            first_difference(first, second)
        })
    }

    fn mark(&self) -> Result<A::Mark, DeviceError> {
        self.first.mark()
    }

    fn elapsed(
        &self,
        from: &A::Mark,
        to: &A::Mark,
    ) -> impl Future<Output = Result<Duration, DeviceError>> + Send + use<A, B> {
        self.first.elapsed(from, to)
    }
}
