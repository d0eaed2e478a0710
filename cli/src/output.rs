//! The form of results: tables for people, objects for programs.

use std::fmt::Write;
use std::time::Duration;

use bellwether::{PhaseTimes, ProvingKey};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::subject::{Judged, Subject, Verdict};

/// One proof, as `--json` prints it.
#[derive(Serialize)]
pub(crate) struct ProofObject {
    circuit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<u32>,
    device: String,
    constraints: usize,
    domain: u64,
    queries: Queries,
    seed: u64,
    key_load_ms: f64,
    key_resident_ms: f64,
    #[serde(flatten)]
    phases: Phases,
    attempts: u32,
    verified: bool,
    #[serde(serialize_with = "verdicts_as_map")]
    verifiers: Vec<Verdict>,
    proof: String,
    public_inputs: Vec<String>,
}

impl ProofObject {
    /// `run` counts the proofs of `bench` from 1.
    pub(crate) fn new(subject: &Subject<'_>, judged: Judged, run: Option<u32>) -> Self {
        ProofObject {
            circuit: subject.circuit.name(),
            run,
            device: judged.proven.device.clone(),
            constraints: subject.prover.shape().num_constraints,
            domain: subject.key.domain_size(),
            queries: Queries::of(&subject.key),
            seed: judged.seed,
            key_load_ms: milliseconds(subject.key_load),
            key_resident_ms: milliseconds(subject.resident),
            phases: Phases(judged.proven.times),
            attempts: judged.proven.attempts,
            verified: judged.accepted(),
            proof: hex(&judged.proven.proof.to_bytes()),
            public_inputs: public_inputs(&judged),
            verifiers: judged.verdicts,
        }
    }
}

/// Points of each query of a key.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Queries {
    pub(crate) ic: u64,
    pub(crate) h: u64,
    pub(crate) l: u64,
    pub(crate) a: u64,
    pub(crate) b_g1: u64,
    pub(crate) b_g2: u64,
}

impl Queries {
    fn of(key: &ProvingKey) -> Self {
        Queries {
            ic: key.vk.ic.len() as u64,
            h: key.h.len() as u64,
            l: key.l.len() as u64,
            a: key.a.len() as u64,
            b_g1: key.b_g1.len() as u64,
            b_g2: key.b_g2.len() as u64,
        }
    }

    /// Names and lengths, in the order of the file.
    pub(crate) fn named(self) -> [(&'static str, u64); 6] {
        [
            ("ic", self.ic),
            ("h", self.h),
            ("l", self.l),
            ("a", self.a),
            ("b_g1", self.b_g1),
            ("b_g2", self.b_g2),
        ]
    }
}

/// The phases under the names of [`PhaseTimes::milliseconds`], in the order of the schedule.
struct Phases(PhaseTimes);

impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.milliseconds())
    }
}

fn verdicts_as_map<S: Serializer>(verdicts: &[Verdict], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(verdicts.len()))?;
    for verdict in verdicts {
        map.serialize_entry(verdict.verifier, &verdict.outcome.is_ok())?;
    }
    map.end()
}

/// One proof, as people read it.
pub(crate) fn proof_text(subject: &Subject<'_>, judged: &Judged) -> String {
    let shape = subject.prover.shape();
    let domain = subject.key.domain_size();
    let mut sheet = Sheet::default();
    sheet.entry("constraints", grouped(shape.num_constraints as u64));
    sheet.entry(
        "variables",
        format!(
            "{} private, {} public (the constant one included)",
            grouped(shape.num_aux as u64),
            shape.num_inputs
        ),
    );
    sheet.entry("domain", domain_text(domain));
    let queries = Queries::of(&subject.key).named().map(|(name, len)| format!("{name} {}", grouped(len)));
    sheet.entry("queries", queries.join(", "));
    sheet.entry("key", key_text(subject));
    sheet.entry("seed", judged.seed.to_string());
    sheet.entries("phases", judged.proven.times.milliseconds().map(phase_text));
    sheet.entries("verdicts", judged.verdicts.iter().map(verdict_text));
    sheet.entries("inputs", public_inputs(judged));
    sheet.entry("proof", hex(&judged.proven.proof.to_bytes()));
    format!("{}\n{}", subject.circuit.name(), sheet.0)
}

fn key_text(subject: &Subject<'_>) -> String {
    format!(
        "loaded in {:.0} ms, with the circuit resident after another {:.0} ms",
        milliseconds(subject.key_load),
        milliseconds(subject.resident)
    )
}

fn phase_text((name, time): (&'static str, f64)) -> String {
    format!("{name:<14} {time:>9.2}  {}", phase_meaning(name))
}

/// What a phase is, for those who see its name for the first time.
fn phase_meaning(name: &str) -> &'static str {
    match name {
        "synth_ms" => "witness generation, on the CPU",
        "spmv_ms" => "upload of the witness, evaluation of the constraints",
        "ntt_msm_h_ms" => "transforms, quotient, MSM with the h query",
        "batch_add_ms" => "sums of the bases whose scalar is one: l, a, b_g1, b_g2",
        "tail_msm_ms" => "MSM of the other scalars: l, a, b_g1",
        "b_g2_msm_ms" => "MSM of the other scalars: b_g2",
        "gpu_total_ms" => "sum of the device phases",
        "gpu_ms" => "wall time around the device phases",
        "verify_ms" => "verification before the proof is returned",
        "total_ms" => "everything",
        _ => "",
    }
}

fn verdict_text(verdict: &Verdict) -> String {
    match &verdict.outcome {
        Ok(()) => format!("{:<14} accepted", verdict.verifier),
        Err(reason) => format!("{:<14} REFUSED: {reason}", verdict.verifier),
    }
}

fn public_inputs(judged: &Judged) -> Vec<String> {
    let inputs = judged.proven.public_inputs.iter();
    inputs.map(|input| format!("0x{}", hex(&input.to_bytes_be()))).collect()
}

/// Median, smallest and largest of each phase over some proofs.
pub(crate) fn statistics_text(times: &[PhaseTimes]) -> String {
    let mut text = format!("  {:<14} {:>10} {:>10} {:>10}\n", "phase", "median", "min", "max");
    for (phase, (name, _)) in PhaseTimes::default().milliseconds().into_iter().enumerate() {
        let mut values: Vec<f64> = times.iter().map(|times| times.milliseconds()[phase].1).collect();
        values.sort_by(f64::total_cmp);
        if let (Some(min), Some(max)) = (values.first(), values.last()) {
            let _ = writeln!(text, "  {name:<14} {:>10.2} {min:>10.2} {max:>10.2}", median(&values));
        }
    }
    text
}

/// The middle of sorted values, or the mean of the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// Labels on the left, values on the right.
#[derive(Default)]
pub(crate) struct Sheet(pub(crate) String);

impl Sheet {
    pub(crate) fn entry(&mut self, label: &str, value: impl AsRef<str>) {
        let _ = writeln!(self.0, "  {label:<12} {}", value.as_ref());
    }

    /// Several values under one label.
    pub(crate) fn entries(&mut self, label: &str, values: impl IntoIterator<Item = String>) {
        for (row, value) in values.into_iter().enumerate() {
            self.entry(if row == 0 { label } else { "" }, value);
        }
    }
}

pub(crate) fn domain_text(size: u64) -> String {
    format!("{} = 2^{}", grouped(size), size.ilog2())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// With a comma between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (130_278_869, "130,278,869")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(&[1.0, 2.0, 9.0]), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
    }

    #[test]
    fn every_phase_has_a_meaning() {
        for (name, _) in PhaseTimes::default().milliseconds() {
            assert_ne!(phase_meaning(name), "", "{name}");
        }
    }
}
