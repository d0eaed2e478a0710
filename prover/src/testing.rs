//! A small circuit, and devices that fail when they are told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bellwether_core::curve::Scalar;
use bellwether_core::device::{Backend, CpuDevice, DeviceError, DeviceInfo};
use bellwether_core::driver::{Driver, OpenedDevice};
use bellwether_core::groth16::{
    Assignment, Blinding, BoxFuture, Cancellation, Generators, ProveError, Proven, Prover, SetupError,
    Trapdoor,
};
use bellwether_core::key::{ProvingKey, VerifyingKey};
use bellwether_core::r1cs::{Circuit, ConstraintSystem, R1cs, Shape, SynthesisError};

/// x³ + x + 5 = y for public y, and `padding` more variables that are zero.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cubic {
    pub(crate) x: Option<Scalar>,
    pub(crate) y: Option<Scalar>,
    pub(crate) padding: usize,
}

impl Cubic {
    pub(crate) fn solved(x: u64) -> Self {
        Cubic { x: Some(Scalar::from(x)), y: Some(Scalar::from(x * x * x + x + 5)), padding: 0 }
    }
}

impl Circuit<Scalar> for Cubic {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let value = |value: Option<Scalar>| value.ok_or(SynthesisError::AssignmentMissing);
        let x = cs.alloc(|| "x", || value(self.x))?;
        let square = cs.alloc(|| "x^2", || value(self.x.map(|x| x * x)))?;
        let cube = cs.alloc(|| "x^3", || value(self.x.map(|x| x * x * x)))?;
        let y = cs.alloc_input(|| "y", || value(self.y))?;
        cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
        cs.enforce(|| "cube", |lc| lc + square, |lc| lc + x, |lc| lc + cube);
        cs.enforce(
            || "sum",
            |lc| lc + cube + x + (Scalar::from(5), CS::one()),
            |lc| lc + CS::one(),
            |lc| lc + y,
        );
        for i in 0..self.padding {
            let zero = cs.alloc(|| format!("zero {i}"), || Ok(Scalar::from(0)))?;
            cs.enforce(|| "zero", |lc| lc + zero, |lc| lc + zero, |lc| lc);
        }
        Ok(())
    }
}

/// What happened, in order, as `cuda probe`, `cuda open 1`, `cuda:1 session`.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

/// Faults that the next proofs run into.
pub(crate) type Faults = Arc<Mutex<VecDeque<ProveError>>>;

/// A device that computes on the CPU and says that it is another.
#[derive(Clone)]
pub(crate) struct FakeDevice {
    pub(crate) info: DeviceInfo,
    pub(crate) open: Result<(), DeviceError>,
    pub(crate) self_test: Result<(), DeviceError>,
    pub(crate) faults: Faults,
    pub(crate) log: Log,
}

impl FakeDevice {
    pub(crate) fn new(backend: Backend, ordinal: usize, name: &str) -> Self {
        FakeDevice {
            info: DeviceInfo {
                backend,
                ordinal,
                name: name.into(),
                api: None,
                driver: None,
                software: false,
                memory_total: None,
                memory_free: None,
                shares_host_memory: false,
                units: 1,
                details: Vec::new(),
            },
            open: Ok(()),
            self_test: Ok(()),
            faults: Faults::default(),
            log: Log::default(),
        }
    }

    pub(crate) fn software(mut self) -> Self {
        self.info.software = true;
        self
    }

    pub(crate) fn failing(mut self) -> Self {
        self.self_test = Err(DeviceError::Mismatch {
            operation: "msm",
            index: 0,
            first: self.info.to_string(),
            second: "the known answer".into(),
        });
        self
    }

    pub(crate) fn lost(&self) -> ProveError {
        ProveError::Device {
            device: self.info.to_string(),
            error: DeviceError::DeviceLost { reason: "fell off the bus".into() },
        }
    }

    fn record(&self, what: &str) {
        let entry = format!("{}:{} {what}", self.info.backend, self.info.ordinal);
        self.log.lock().unwrap().push(entry);
    }
}

impl OpenedDevice for FakeDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn self_test(&self) -> BoxFuture<'_, Result<(), DeviceError>> {
        self.record("self-test");
        Box::pin(std::future::ready(self.self_test.clone()))
    }

    fn session_for_circuit(
        self: Arc<Self>,
        key: &ProvingKey,
        r1cs: Arc<R1cs>,
    ) -> Result<Box<dyn Prover>, ProveError> {
        self.record("session");
        let session = Arc::new(CpuDevice::new()).session_for_circuit(key, r1cs)?;
        Ok(Box::new(FakeSession { device: self, session }))
    }

    fn session_for_shape(
        self: Arc<Self>,
        key: &ProvingKey,
        shape: Shape,
    ) -> Result<Box<dyn Prover>, ProveError> {
        self.record("session");
        let session = Arc::new(CpuDevice::new()).session_for_shape(key, shape)?;
        Ok(Box::new(FakeSession { device: self, session }))
    }

    fn generate_key<'a>(
        &'a self,
        _: &'a R1cs,
        _: &'a Trapdoor,
        _: &'a Generators,
    ) -> BoxFuture<'a, Result<ProvingKey, SetupError>> {
        Box::pin(std::future::ready(Err(SetupError::Degenerate("a fake device"))))
    }
}

struct FakeSession {
    device: Arc<FakeDevice>,
    session: Box<dyn Prover>,
}

impl Prover for FakeSession {
    fn info(&self) -> &DeviceInfo {
        &self.device.info
    }

    fn verifying_key(&self) -> &VerifyingKey {
        self.session.verifying_key()
    }

    fn shape(&self) -> &Shape {
        self.session.shape()
    }

    fn prove<'a>(
        &'a self,
        assignment: &'a Assignment,
        blinding: &'a Blinding,
        cancellation: &'a Cancellation,
    ) -> BoxFuture<'a, Result<Proven, ProveError>> {
        self.device.record("prove");
        match self.device.faults.lock().unwrap().pop_front() {
            Some(fault) => Box::pin(std::future::ready(Err(fault))),
            None => self.session.prove(assignment, blinding, cancellation),
        }
    }
}

/// A driver of fake devices, which share its log.
pub(crate) struct FakeDriver {
    backend: Backend,
    devices: Result<Vec<FakeDevice>, DeviceError>,
    log: Log,
}

impl FakeDriver {
    pub(crate) fn boxed(backend: Backend, devices: Vec<FakeDevice>, log: &Log) -> Box<dyn Driver> {
        let share = |device| FakeDevice { log: Arc::clone(log), ..device };
        Box::new(FakeDriver {
            backend,
            devices: Ok(devices.into_iter().map(share).collect()),
            log: Arc::clone(log),
        })
    }

    pub(crate) fn broken(backend: Backend, error: DeviceError, log: &Log) -> Box<dyn Driver> {
        Box::new(FakeDriver { backend, devices: Err(error), log: Arc::clone(log) })
    }
}

impl Driver for FakeDriver {
    fn backend(&self) -> Backend {
        self.backend
    }

    fn probe(&self) -> Result<Vec<DeviceInfo>, DeviceError> {
        self.log.lock().unwrap().push(format!("{} probe", self.backend));
        let devices = self.devices.as_ref().map_err(Clone::clone)?;
        Ok(devices.iter().map(|device| device.info.clone()).collect())
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn OpenedDevice>, DeviceError> {
        self.log.lock().unwrap().push(format!("{}:{ordinal} open", self.backend));
        let devices = self.devices.as_ref().map_err(Clone::clone)?;
        let device = devices.iter().find(|device| device.info.ordinal == ordinal).unwrap();
        device.open.clone()?;
        Ok(Arc::new(device.clone()))
    }
}
