//! A device with a resident key: what makes proofs.

use std::sync::Arc;
use std::time::Instant;

use blstrs::Scalar;
use ff::Field;
use tracing::{info, info_span, warn};

use super::resident::{self, ResidentKey};
use super::{
    Assignment, Blinding, Cancellation, PhaseTimes, PreparedVerifyingKey, Proof, ProveError, schedule,
};
use crate::device::{Device, DeviceInfo};
use crate::key::{ProvingKey, VerifyingKey};
use crate::r1cs::{R1cs, Shape};

/// How often a proof that does not verify is made anew before the device counts as faulty.
const ATTEMPTS: u32 = 2;

/// A finished proof, which verifies, and how it came about.
#[derive(Clone, Debug)]
pub struct Proven {
    /// The proof.
    pub proof: Proof,
    /// The public inputs it is for, the constant one left out.
    pub public_inputs: Vec<Scalar>,
    /// How long the phases took.
    pub times: PhaseTimes,
    /// The device that made it.
    pub device: String,
    /// Proofs made until one verified.
    pub attempts: u32,
}

/// A key resident on a device, for one circuit. Many proofs may run on a session at once; each has its own
/// work space.
pub struct Session<D: Device> {
    device: Arc<D>,
    key: ResidentKey<D>,
    verifier: PreparedVerifyingKey,
    shape: Shape,
    r1cs: Option<Arc<R1cs>>,
}

impl<D: Device> Session<D> {
    /// A session for a recorded circuit: its matrices become resident, and a witness is all a proof needs.
    ///
    /// # Errors
    /// [`ProveError::KeyMismatch`] if key and circuit do not belong together, [`ProveError::Memory`] if they do
    /// not fit the device, the device's error if it fails.
    pub fn for_circuit(device: Arc<D>, key: &ProvingKey, r1cs: Arc<R1cs>) -> Result<Self, ProveError> {
        let shape = r1cs.shape().clone();
        Session::new(device, key, shape, Some(r1cs))
    }

    /// A session for circuits of this shape that bring their evaluations along ([`Assignment::evaluate`]).
    ///
    /// # Errors
    /// As [`for_circuit`](Session::for_circuit).
    pub fn for_shape(device: Arc<D>, key: &ProvingKey, shape: Shape) -> Result<Self, ProveError> {
        Session::new(device, key, shape, None)
    }

    fn new(
        device: Arc<D>,
        key: &ProvingKey,
        shape: Shape,
        r1cs: Option<Arc<R1cs>>,
    ) -> Result<Self, ProveError> {
        let verifier = PreparedVerifyingKey::new(&key.vk);
        let key = ResidentKey::new(&*device, key, &shape, r1cs.as_ref())?;
        Ok(Session { device, key, verifier, shape, r1cs })
    }

    /// The device.
    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// The verifying key.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.key.vk
    }

    /// The circuit's sizes and densities.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Makes a proof and verifies it; a proof that does not verify is made once more.
    ///
    /// # Errors
    /// [`ProveError::Unsatisfied`] if the witness is at fault, [`ProveError::InvalidProof`] if it is not and two
    /// proofs failed verification, [`ProveError::Cancelled`], or the device's error.
    pub async fn prove(
        &self,
        assignment: &Assignment,
        blinding: &Blinding,
        cancellation: &Cancellation,
    ) -> Result<Proven, ProveError> {
        self.check(assignment)?;
        resident::admit(&*self.device, &self.key.proof_sizes(&self.shape))?;
        let start = Instant::now();
        let public_inputs = assignment.public_inputs();
        for attempt in 1..=ATTEMPTS {
            let mut times = PhaseTimes { synth: assignment.synthesis, ..PhaseTimes::default() };
            let proof =
                schedule::prove(&*self.device, &self.key, assignment, blinding, cancellation, &mut times)
                    .await?;
            let verification = Instant::now();
            let verified = info_span!("verify").in_scope(|| self.verifier.verify(&proof, &public_inputs));
            if verified == Ok(true) {
                times.verify = verification.elapsed();
                times.total = assignment.synthesis + start.elapsed();
                let proven = Proven {
                    proof,
                    public_inputs,
                    times,
                    device: self.info().to_string(),
                    attempts: attempt,
                };
                self.report(&proven);
                return Ok(proven);
            }
            if let Some(unsatisfied) =
                self.r1cs.as_ref().and_then(|r1cs| r1cs.first_unsatisfied(&assignment.witness))
            {
                return Err(ProveError::Unsatisfied(unsatisfied));
            }
            warn!(device = %self.info(), attempt, "a proof does not verify though its witness is satisfied");
        }
        Err(ProveError::InvalidProof { device: self.info().to_string(), attempts: ATTEMPTS })
    }

    /// The assignment belongs to the circuit and says all that is needed.
    fn check(&self, assignment: &Assignment) -> Result<(), ProveError> {
        let variables = ("variables", assignment.witness.len(), self.shape.num_variables());
        let inputs = ("inputs", assignment.num_inputs, self.shape.num_inputs);
        for (kind, found, expected) in [inputs, variables] {
            if found != expected {
                return Err(ProveError::WitnessLength { kind, found, expected });
            }
        }
        if assignment.witness.get(0) != Scalar::ONE {
            return Err(ProveError::NotOne);
        }
        match &assignment.evaluations {
            None if self.r1cs.is_none() => Err(ProveError::NoMatrices),
            Some(rows) if rows.a.len() != self.shape.num_rows() => Err(ProveError::WitnessLength {
                kind: "rows",
                found: rows.a.len(),
                expected: self.shape.num_rows(),
            }),
            _ => Ok(()),
        }
    }

    /// The one structured event of a proof.
    fn report(&self, proven: &Proven) {
        let [synth, spmv, ntt_msm_h, batch_add, tail_msm, b_g2_msm, gpu_total, gpu, verify, total] =
            proven.times.milliseconds().map(|(_, time)| time);
        info!(
            device = %proven.device,
            constraints = self.shape.num_constraints,
            attempts = proven.attempts,
            synth_ms = synth,
            spmv_ms = spmv,
            ntt_msm_h_ms = ntt_msm_h,
            batch_add_ms = batch_add,
            tail_msm_ms = tail_msm,
            b_g2_msm_ms = b_g2_msm,
            gpu_total_ms = gpu_total,
            gpu_ms = gpu,
            verify_ms = verify,
            total_ms = total,
            "proof"
        );
    }
}
