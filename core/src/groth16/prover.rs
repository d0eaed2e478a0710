//! The object-safe face of a session.

use std::future::Future;
use std::pin::Pin;

use super::{Assignment, Blinding, Cancellation, ProveError, Proven, Session};
use crate::device::{Device, DeviceInfo};
use crate::key::VerifyingKey;
use crate::r1cs::Shape;

/// A future that a program can hold without knowing the device.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that makes proofs with one key for one circuit, on a device chosen at run time.
///
/// Costs one virtual call and one allocation a proof over [`Session`].
pub trait Prover: Send + Sync {
    /// The device.
    fn info(&self) -> &DeviceInfo;

    /// The verifying key.
    fn verifying_key(&self) -> &VerifyingKey;

    /// The circuit's sizes and densities.
    fn shape(&self) -> &Shape;

    /// Makes a proof and verifies it. See [`Session::prove`].
    fn prove<'a>(
        &'a self,
        assignment: &'a Assignment,
        blinding: &'a Blinding,
        cancellation: &'a Cancellation,
    ) -> BoxFuture<'a, Result<Proven, ProveError>>;
}

impl<D: Device> Prover for Session<D> {
    fn info(&self) -> &DeviceInfo {
        Session::info(self)
    }

    fn verifying_key(&self) -> &VerifyingKey {
        Session::verifying_key(self)
    }

    fn shape(&self) -> &Shape {
        Session::shape(self)
    }

    fn prove<'a>(
        &'a self,
        assignment: &'a Assignment,
        blinding: &'a Blinding,
        cancellation: &'a Cancellation,
    ) -> BoxFuture<'a, Result<Proven, ProveError>> {
        Box::pin(Session::prove(self, assignment, blinding, cancellation))
    }
}
