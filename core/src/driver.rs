//! How a program finds devices and uses one without knowing its type.
//!
//! A backend brings a [`Driver`]; a program passes the drivers it was built with as an explicit list. Nothing
//! registers itself.

use std::sync::Arc;

use crate::device::{Backend, CpuDevice, Device, DeviceError, DeviceInfo, self_test};
use crate::groth16::{
    BoxFuture, Generators, ProveError, Prover, Session, SetupError, Trapdoor, generate_key,
};
use crate::key::ProvingKey;
use crate::r1cs::{R1cs, Shape};

/// Finds and opens the devices of one backend.
pub trait Driver: Send + Sync {
    /// Which backend this is.
    fn backend(&self) -> Backend;

    /// The devices there are; opens none of them.
    ///
    /// # Errors
    /// [`DeviceError::NoDriver`] or another reason why the backend cannot be used on this machine.
    fn probe(&self) -> Result<Vec<DeviceInfo>, DeviceError>;

    /// Opens the device with this ordinal.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if there is none, or the reason why it cannot be used.
    fn open(&self, ordinal: usize) -> Result<Arc<dyn OpenedDevice>, DeviceError>;
}

/// A device of a type chosen at run time. Every [`Device`] is one.
pub trait OpenedDevice: Send + Sync {
    /// What device this is.
    fn info(&self) -> &DeviceInfo;

    /// Runs the known-answer test.
    fn self_test(&self) -> BoxFuture<'_, Result<(), DeviceError>>;

    /// Makes a key resident for a recorded circuit. See [`Session::for_circuit`].
    fn session_for_circuit(
        self: Arc<Self>,
        key: &ProvingKey,
        r1cs: Arc<R1cs>,
    ) -> Result<Box<dyn Prover>, ProveError>;

    /// Makes a key resident for circuits that bring their evaluations along. See [`Session::for_shape`].
    fn session_for_shape(
        self: Arc<Self>,
        key: &ProvingKey,
        shape: Shape,
    ) -> Result<Box<dyn Prover>, ProveError>;

    /// Makes the key of a circuit. See [`generate_key`].
    fn generate_key<'a>(
        &'a self,
        r1cs: &'a R1cs,
        trapdoor: &'a Trapdoor,
        generators: &'a Generators,
    ) -> BoxFuture<'a, Result<ProvingKey, SetupError>>;
}

impl<D: Device> OpenedDevice for D {
    fn info(&self) -> &DeviceInfo {
        Device::info(self)
    }

    fn self_test(&self) -> BoxFuture<'_, Result<(), DeviceError>> {
        Box::pin(self_test(self))
    }

    fn session_for_circuit(
        self: Arc<Self>,
        key: &ProvingKey,
        r1cs: Arc<R1cs>,
    ) -> Result<Box<dyn Prover>, ProveError> {
        Ok(Box::new(Session::for_circuit(self, key, r1cs)?))
    }

    fn session_for_shape(
        self: Arc<Self>,
        key: &ProvingKey,
        shape: Shape,
    ) -> Result<Box<dyn Prover>, ProveError> {
        Ok(Box::new(Session::for_shape(self, key, shape)?))
    }

    fn generate_key<'a>(
        &'a self,
        r1cs: &'a R1cs,
        trapdoor: &'a Trapdoor,
        generators: &'a Generators,
    ) -> BoxFuture<'a, Result<ProvingKey, SetupError>> {
        Box::pin(generate_key(self, r1cs, trapdoor, generators))
    }
}

/// The driver of the CPU device, of which there is always one.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuDriver;

impl Driver for CpuDriver {
    fn backend(&self) -> Backend {
        Backend::Cpu
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, DeviceError> {
        Ok(vec![Device::info(&CpuDevice::new()).clone()])
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn OpenedDevice>, DeviceError> {
        match ordinal {
            0 => Ok(Arc::new(CpuDevice::new())),
            _ => Err(DeviceError::Unsupported {
                what: format!("cpu:{ordinal}"),
                why: "the host is one device".into(),
            }),
        }
    }
}
