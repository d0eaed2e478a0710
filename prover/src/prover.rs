//! A key loaded once on a device, for one circuit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bellwether_core::curve::Scalar;
use bellwether_core::device::{DeviceError, DeviceInfo};
use bellwether_core::driver::OpenedDevice;
use bellwether_core::groth16::{
    self, Assignment, Blinding, Cancellation, PreparedVerifyingKey, Proof, ProveError, Proven, VerifyError,
};
use bellwether_core::key::{ProvingKey, VerifyingKey};
use bellwether_core::r1cs::{Circuit, R1cs, Recorder, Shape};

type Session = Arc<dyn groth16::Prover>;

/// A proving key resident on a device, for one circuit. Makes any number of proofs, several at once if called
/// from several threads.
///
/// The circuit's matrices are recorded once. A proof then runs the circuit for its witness only and never
/// looks at its constraints; products, transforms and multi-scalar products happen on the device.
///
/// The prover shares the points of the key for as long as it lives, for the fallback: of a mapped key
/// ([`ProvingKey::map`]) that costs no memory.
pub struct Prover {
    session: Session,
    key: ProvingKey,
    r1cs: Arc<R1cs>,
    verifier: PreparedVerifyingKey,
    fallback: Option<Fallback>,
}

/// A second device, whose session is opened when it is needed.
struct Fallback {
    device: Arc<dyn OpenedDevice>,
    session: Mutex<Option<Session>>,
    /// Whether the first device is out of use for good.
    first_is_gone: AtomicBool,
}

impl Prover {
    /// Records a circuit, which needs no witness, and makes the key resident for it.
    ///
    /// The errors of unsatisfied witnesses will give the number of the constraint; for its name use
    /// [`from_r1cs`](Prover::from_r1cs) with [`Recorder::record_with_names`].
    ///
    /// # Errors
    /// [`ProveError::Synthesis`] if the circuit cannot be recorded, and those of
    /// [`from_r1cs`](Prover::from_r1cs).
    pub fn new<C: Circuit<Scalar>>(
        device: Arc<dyn OpenedDevice>,
        key: &ProvingKey,
        circuit: C,
    ) -> Result<Self, ProveError> {
        Prover::from_r1cs(device, key, Arc::new(Recorder::record(circuit)?))
    }

    /// Makes the key resident for a circuit that was recorded before.
    ///
    /// # Errors
    /// [`ProveError::KeyMismatch`] if key and circuit do not belong together, [`ProveError::Memory`] if they
    /// do not fit the device, the device's error if it fails.
    pub fn from_r1cs(
        device: Arc<dyn OpenedDevice>,
        key: &ProvingKey,
        r1cs: Arc<R1cs>,
    ) -> Result<Self, ProveError> {
        let session = device.session_for_circuit(key, Arc::clone(&r1cs))?;
        Ok(Prover {
            session: Arc::from(session),
            key: key.clone(),
            r1cs,
            verifier: PreparedVerifyingKey::new(&key.vk),
            fallback: None,
        })
    }

    /// Names a second device for proofs that fail on the first through the device's fault
    /// ([`ProveError::is_device_fault`]): each is then tried there, which is logged as a warning.
    ///
    /// The key becomes resident there at the first such fault, not before, and stays. A first device that is
    /// lost or returns wrong proofs, where the second one succeeds, is not tried again; after other faults, such as
    /// too little memory, the next proof begins on the first device as before.
    #[must_use]
    pub fn with_fallback(self, device: Arc<dyn OpenedDevice>) -> Self {
        Prover {
            fallback: Some(Fallback {
                device,
                session: Mutex::new(None),
                first_is_gone: AtomicBool::new(false),
            }),
            ..self
        }
    }

    /// Makes a proof, blocking until it is there, with blinding scalars from the operating system's
    /// generator.
    ///
    /// # Errors
    /// [`ProveError::Randomness`] and those of [`prove_async`](Prover::prove_async) but for `Cancelled`.
    pub fn prove<C: Circuit<Scalar>>(&self, circuit: C) -> Result<Proven, ProveError> {
        self.prove_with(circuit, &Blinding::random()?)
    }

    /// Makes a proof with these blinding scalars, blocking until it is there.
    ///
    /// Scalars that are known or used twice give the witness away: this is for comparing proofs byte by byte
    /// and for protocols that fix the scalars.
    ///
    /// # Errors
    /// Those of [`prove_async`](Prover::prove_async) but for `Cancelled`.
    pub fn prove_with<C: Circuit<Scalar>>(
        &self,
        circuit: C,
        blinding: &Blinding,
    ) -> Result<Proven, ProveError> {
        pollster::block_on(self.prove_async(circuit, blinding, &Cancellation::new()))
    }

    /// Makes a proof and verifies it.
    ///
    /// The circuit runs within the first poll, and the CPU device computes within polls: an async program
    /// that must stay responsive gives this future a thread where blocking is allowed. A GPU is waited for
    /// without one. Dropping the future ends the proof; `cancellation` ends it between phases.
    ///
    /// # Errors
    /// - [`ProveError::Synthesis`] if the circuit fails, [`ProveError::WitnessLength`] if it is not the one
    ///   that was recorded;
    /// - [`ProveError::Unsatisfied`] if the witness does not satisfy the circuit, with the first constraint;
    /// - [`ProveError::Cancelled`];
    /// - a fault of the device: [`ProveError::Device`], [`ProveError::Memory`], [`ProveError::InvalidProof`];
    ///   or [`ProveError::Fallback`] if it failed and the second device as well.
    pub async fn prove_async<C: Circuit<Scalar>>(
        &self,
        circuit: C,
        blinding: &Blinding,
        cancellation: &Cancellation,
    ) -> Result<Proven, ProveError> {
        let assignment = Assignment::collect(circuit)?;
        self.prove_assignment(&assignment, blinding, cancellation).await
    }

    /// Makes a proof for a witness that was collected or made elsewhere, as
    /// [`prove_async`](Prover::prove_async) does.
    ///
    /// # Errors
    /// Those of [`prove_async`](Prover::prove_async) but for `Synthesis`.
    pub async fn prove_assignment(
        &self,
        assignment: &Assignment,
        blinding: &Blinding,
        cancellation: &Cancellation,
    ) -> Result<Proven, ProveError> {
        let Some(fallback) = &self.fallback else {
            return self.session.prove(assignment, blinding, cancellation).await;
        };
        if fallback.first_is_gone.load(Ordering::Relaxed) {
            let session = self.fallback_session(fallback)?;
            return session.prove(assignment, blinding, cancellation).await;
        }
        let first = match self.session.prove(assignment, blinding, cancellation).await {
            Err(error) if error.is_device_fault() => error,
            other => return other,
        };
        tracing::warn!(
            error = %first,
            fallback = %fallback.device.info(),
            "a device fails; the proof is tried on the fallback"
        );
        let second = match self.fallback_session(fallback) {
            Ok(session) => session.prove(assignment, blinding, cancellation).await,
            Err(error) => Err(error),
        };
        // If both fail alike, the key may be another circuit's, and neither device is to blame.
        if second.is_ok() && is_lasting(&first) {
            fallback.first_is_gone.store(true, Ordering::Relaxed);
        }
        second.map_err(|second| match second.is_device_fault() {
            true => ProveError::Fallback { first: Box::new(first), second: Box::new(second) },
            // The witness's fault or the user's wish says more than the device's.
            false => second,
        })
    }

    /// The session of the second device, opened if it is not yet.
    ///
    /// The lock is not held while a session opens: that computes on a thread pool, whose threads may be waiting for
    /// the same lock. If two proofs open one at once, the first that is done stays.
    fn fallback_session(&self, fallback: &Fallback) -> Result<Session, ProveError> {
        // Nothing is left half done where the lock is held, so that a poisoned one is as good.
        let lock = || fallback.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &*lock() {
            return Ok(Arc::clone(session));
        }
        let device = Arc::clone(&fallback.device);
        let opened = Session::from(device.session_for_circuit(&self.key, Arc::clone(&self.r1cs))?);
        Ok(Arc::clone(lock().get_or_insert(opened)))
    }

    /// Whether a proof proves the statement with these public inputs, the constant one left out.
    ///
    /// # Errors
    /// [`VerifyError::InputCount`] if there are more or fewer inputs than the key has.
    pub fn verify(&self, proof: &Proof, public_inputs: &[Scalar]) -> Result<bool, VerifyError> {
        self.verifier.verify(proof, public_inputs)
    }

    /// The device; with a fallback, the first one.
    pub fn info(&self) -> &DeviceInfo {
        self.session.info()
    }

    /// The verifying key.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.key.vk
    }

    /// The circuit's sizes and densities.
    pub fn shape(&self) -> &Shape {
        self.r1cs.shape()
    }
}

impl std::fmt::Debug for Prover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fallback = self.fallback.as_ref().map(|fallback| fallback.device.info());
        f.debug_struct("Prover")
            .field("device", self.info())
            .field("fallback", &fallback)
            .field("num_constraints", &self.shape().num_constraints)
            .finish_non_exhaustive()
    }
}

/// Whether a device that failed so will fail again.
fn is_lasting(error: &ProveError) -> bool {
    matches!(
        error,
        ProveError::InvalidProof { .. } | ProveError::Device { error: DeviceError::DeviceLost { .. }, .. }
    )
}

#[cfg(test)]
mod tests;
