//! The proving schedule, one function a phase.
//!
//! A Groth16 proof over a key with trapdoor (α, β, γ, δ, τ) and a witness w, with blinding scalars r and s, is
//!
//! - A = α + Σ_k w_k·u_k(τ) + r·δ,
//! - B = β + Σ_k w_k·v_k(τ) + s·δ,
//! - C = Σ_aux w_k·l_k + Σ_i h_i·τ^i·Z(τ)/δ + s·A + r·B − r·s·δ,
//!
//! where h are the coefficients of the quotient (A(X)·B(X) − C(X)) / Z(X). The sums over the witness are split:
//! variables that are one only need their points added, which is most of the variables of real circuits, and
//! the rest go through an MSM.
//!
//! [`prove`] reads from top to bottom like the list of phases. Each phase enqueues its work and returns a future
//! where there is something to bring back; nothing is awaited before everything is enqueued, so that a backend
//! may overlap the phases. The span around a phase covers the enqueueing, which on the CPU is all of it; its time on
//! the device comes from marks and stands in the event.

use std::future::Future;
use std::time::{Duration, Instant};

use blstrs::{G1Projective, G2Projective, Scalar};
use group::Curve;
use tracing::{Span, info_span};

use super::resident::ResidentKey;
use super::{Assignment, Blinding, Cancellation, PhaseTimes, Proof, ProveError, Step};
use crate::curve::{G1Affine, G2Affine};
use crate::device::{Device, DeviceError, Transform};
use crate::key::VerifyingKey;

/// Computes one proof, which is not yet verified; `times` receives the times of the device phases.
pub(super) async fn prove<D: Device>(
    device: &D,
    key: &ResidentKey<D>,
    assignment: &Assignment,
    blinding: &Blinding,
    cancellation: &Cancellation,
    times: &mut PhaseTimes,
) -> Result<Proof, ProveError> {
    let start = Instant::now();
    let run = Run { device, key, cancellation };
    let mut marks = vec![run.mark()?];

    let (witness, rows) = run.phase(Step::Spmv, &mut marks, || run.spmv(assignment))?;
    let h = run.phase(Step::NttMsmH, &mut marks, || run.ntt_msm_h(rows))?;
    let (selected, ones) = run.phase(Step::BatchAdd, &mut marks, || run.batch_add(&witness))?;
    let tails = run.phase(Step::TailMsm, &mut marks, || Ok(run.tail_msm(&selected)))?;
    let b_g2_tail = run.phase(Step::BG2Msm, &mut marks, || Ok(run.b_g2_msm(&selected)))?;

    let results = async {
        let sums = Sums::new(h.await?, ones.await?, tails.await?, b_g2_tail.await?);
        run.read_times(&marks, times).await?;
        Ok(sums)
    };
    let sums = cancellation.unless_cancelled(results).await.ok_or(ProveError::Cancelled { before: None })?;
    let sums = sums.map_err(|error| run.fault(error))?;
    times.gpu = start.elapsed();
    Ok(assemble(&key.vk, &sums, blinding))
}

/// A proof on its way through the device.
struct Run<'a, D: Device> {
    device: &'a D,
    key: &'a ResidentKey<D>,
    cancellation: &'a Cancellation,
}

/// A·w, B·w and C·w: one value a row, padded to the domain.
struct Rows<S> {
    a: S,
    b: S,
    c: S,
}

/// The witness as each query sees it.
struct Selected<S> {
    l: S,
    a: S,
    /// Of both b queries.
    b: S,
}

/// Parts of the sums over the queries l, a and b in G1.
struct G1Parts {
    l: G1Projective,
    a: G1Projective,
    b: G1Projective,
}

impl<D: Device> Run<'_, D> {
    /// Runs one phase under its span, between two marks, unless the proof was cancelled.
    fn phase<T>(
        &self,
        step: Step,
        marks: &mut Vec<D::Mark>,
        enqueue: impl FnOnce() -> Result<T, DeviceError>,
    ) -> Result<T, ProveError> {
        if self.cancellation.is_cancelled() {
            return Err(ProveError::Cancelled { before: Some(step) });
        }
        let result = span(step).in_scope(enqueue).map_err(|error| self.fault(error))?;
        marks.push(self.mark()?);
        Ok(result)
    }

    /// Sends the witness and evaluates the constraints from the matrices, or sends the evaluations that a
    /// one-pass synthesis made.
    fn spmv(&self, assignment: &Assignment) -> Result<(D::Witness, Rows<D::Scalars>), DeviceError> {
        let len = self.key.domain_size;
        let witness = self.device.upload_witness(&assignment.witness)?;
        let rows = match (&assignment.evaluations, &self.key.matrices) {
            (Some(rows), _) => Rows {
                a: self.device.upload(&rows.a, len)?,
                b: self.device.upload(&rows.b, len)?,
                c: self.device.upload(&rows.c, len)?,
            },
            (None, Some(matrices)) => Rows {
                a: self.device.spmv(&matrices.a, &witness, len)?,
                b: self.device.spmv(&matrices.b, &witness, len)?,
                c: self.device.spmv(&matrices.c, &witness, len)?,
            },
            (None, None) => {
                return Err(DeviceError::Unsupported {
                    what: "an assignment without evaluations".into(),
                    why: "the session was opened without matrices".into(),
                });
            }
        };
        Ok((witness, rows))
    }

    /// The coefficients of the quotient, and their MSM with the h query. The last coefficient is zero for a
    /// satisfied witness and has no point.
    fn ntt_msm_h(
        &self,
        rows: Rows<D::Scalars>,
    ) -> Result<impl Future<Output = Result<G1Projective, DeviceError>> + Send + use<D>, DeviceError> {
        let (device, domain) = (self.device, &self.key.domain);
        let mut quotient =
            device.coset_quotient(domain, rows.a, rows.b, Some(rows.c), &self.key.quotient_scale)?;
        device.ntt(domain, Transform::CosetInverse, &mut quotient)?;
        Ok(device.msm::<G1Affine>(&self.key.h, &quotient))
    }

    /// Sorts the witness into zeros, ones and the rest for each query, and sums the points of the ones.
    #[allow(clippy::type_complexity)]
    fn batch_add(
        &self,
        witness: &D::Witness,
    ) -> Result<
        (
            Selected<D::Selection>,
            impl Future<Output = Result<(G1Parts, G2Projective), DeviceError>> + Send + use<D>,
        ),
        DeviceError,
    > {
        let (device, key) = (self.device, self.key);
        let selected = Selected {
            l: device.select(&key.l.variables, witness)?,
            a: device.select(&key.a.variables, witness)?,
            b: device.select(&key.b_variables, witness)?,
        };
        let l = device.batch_add::<G1Affine>(&key.l.bases, &selected.l);
        let a = device.batch_add::<G1Affine>(&key.a.bases, &selected.a);
        let b = device.batch_add::<G1Affine>(&key.b_g1, &selected.b);
        let b_g2 = device.batch_add::<G2Affine>(&key.b_g2, &selected.b);
        Ok((selected, async { Ok((G1Parts { l: l.await?, a: a.await?, b: b.await? }, b_g2.await?)) }))
    }

    /// The MSM over the rest of the witness, for the queries in G1.
    fn tail_msm(
        &self,
        selected: &Selected<D::Selection>,
    ) -> impl Future<Output = Result<G1Parts, DeviceError>> + Send + use<D> {
        let (device, key) = (self.device, self.key);
        let l = device.tail_msm::<G1Affine>(&key.l.bases, &selected.l);
        let a = device.tail_msm::<G1Affine>(&key.a.bases, &selected.a);
        let b = device.tail_msm::<G1Affine>(&key.b_g1, &selected.b);
        async { Ok(G1Parts { l: l.await?, a: a.await?, b: b.await? }) }
    }

    /// The MSM over the rest of the witness, for b in G2.
    fn b_g2_msm(
        &self,
        selected: &Selected<D::Selection>,
    ) -> impl Future<Output = Result<G2Projective, DeviceError>> + Send + use<D> {
        self.device.tail_msm::<G2Affine>(&self.key.b_g2, &selected.b)
    }

    fn mark(&self) -> Result<D::Mark, ProveError> {
        self.device.mark().map_err(|error| self.fault(error))
    }

    /// Phase times from the marks around the five phases.
    async fn read_times(&self, marks: &[D::Mark], times: &mut PhaseTimes) -> Result<(), DeviceError> {
        let mut phases = [Duration::ZERO; 5];
        for (phase, ends) in phases.iter_mut().zip(marks.windows(2)) {
            *phase = self.device.elapsed(&ends[0], &ends[1]).await?;
        }
        [times.spmv, times.ntt_msm_h, times.batch_add, times.tail_msm, times.b_g2_msm] = phases;
        times.gpu_total = phases.iter().sum();
        Ok(())
    }

    fn fault(&self, error: DeviceError) -> ProveError {
        ProveError::Device { device: self.device.info().to_string(), error }
    }
}

/// The span of a phase, which bears its name.
fn span(step: Step) -> Span {
    match step {
        Step::Spmv => info_span!("spmv"),
        Step::NttMsmH => info_span!("ntt_msm_h"),
        Step::BatchAdd => info_span!("batch_add"),
        Step::TailMsm => info_span!("tail_msm"),
        Step::BG2Msm => info_span!("b_g2_msm"),
    }
}

/// The sums over the queries: what the device computes for a proof.
struct Sums {
    h: G1Projective,
    l: G1Projective,
    a: G1Projective,
    b_g1: G1Projective,
    b_g2: G2Projective,
}

impl Sums {
    fn new(
        h: G1Projective,
        (ones, b_g2_ones): (G1Parts, G2Projective),
        tails: G1Parts,
        b_g2_tail: G2Projective,
    ) -> Self {
        Sums {
            h,
            l: ones.l + tails.l,
            a: ones.a + tails.a,
            b_g1: ones.b + tails.b,
            b_g2: b_g2_ones + b_g2_tail,
        }
    }
}

/// Blinds the sums and puts the proof together, by the equations at the head of this file.
fn assemble(vk: &VerifyingKey, sums: &Sums, blinding: &Blinding) -> Proof {
    let (r, s) = (blinding.r(), blinding.s());
    let a = sums.a + vk.alpha_g1 + vk.delta_g1 * r;
    let b_g1 = sums.b_g1 + vk.beta_g1 + vk.delta_g1 * s;
    let b = sums.b_g2 + vk.beta_g2 + vk.delta_g2 * s;
    let rs: Scalar = r * s;
    let c = sums.l + sums.h + a * s + b_g1 * r - vk.delta_g1 * rs;
    Proof { a: a.to_affine(), b: b.to_affine(), c: c.to_affine() }
}
