//! `bellwether devices`.

use bellwether::{Candidate, DeviceChoice, DeviceInfo, SelectOptions, Survey, Verdict};
use serde::Serialize;

use crate::args::DevicesArgs;
use crate::console::Console;
use crate::error::Error;
use crate::output::table;

/// The list, as `--json` prints it.
#[derive(Serialize)]
struct SurveyObject {
    choice: String,
    /// The device a proof would be made on; `null` if there is none for this choice.
    chosen: Option<String>,
    devices: Vec<DeviceObject>,
}

/// A device, or a backend without one: then most is `null`.
#[derive(Serialize)]
struct DeviceObject {
    backend: &'static str,
    ordinal: Option<usize>,
    name: Option<String>,
    driver: Option<String>,
    software: Option<bool>,
    memory_total: Option<u64>,
    memory_free: Option<u64>,
    units: Option<usize>,
    verdict: &'static str,
    reason: Option<String>,
}

impl From<&Candidate> for DeviceObject {
    fn from(candidate: &Candidate) -> Self {
        let device = candidate.device.as_ref();
        let (verdict, reason) = words(&candidate.verdict);
        DeviceObject {
            backend: candidate.backend.name(),
            ordinal: device.map(|device| device.ordinal),
            name: device.map(|device| device.name.clone()),
            driver: device.and_then(|device| device.driver.clone()),
            software: device.map(|device| device.software),
            memory_total: device.and_then(|device| device.memory_total),
            memory_free: device.and_then(|device| device.memory_free),
            units: device.map(|device| device.units),
            verdict,
            reason: reason.map(str::to_owned),
        }
    }
}

pub(crate) fn run(args: &DevicesArgs, choice: DeviceChoice, console: &Console) -> Result<(), Error> {
    let options = SelectOptions { choice, require_gpu: false };
    let activity = console.spinner("testing every device");
    let survey = bellwether::survey(&bellwether::drivers(), &options);
    drop(activity);
    match args.form.json {
        true => console.json(&SurveyObject {
            choice: options.choice.to_string(),
            chosen: survey.chosen().map(address),
            devices: survey.candidates.iter().map(DeviceObject::from).collect(),
        }),
        false => console.write(text(&survey, &options.choice).as_bytes()),
    }
}

fn text(survey: &Survey, choice: &DeviceChoice) -> String {
    let heading = ["DEVICE", "VERDICT", "NAME", "MEMORY", "FREE", "DRIVER", "REASON"].map(str::to_owned);
    let mut rows = vec![heading];
    rows.extend(survey.candidates.iter().map(row));
    let conclusion = match survey.chosen() {
        Some(device) => format!("With the choice {choice}, proofs are made on {device}."),
        None => format!("With the choice {choice}, no proof can be made."),
    };
    format!("{}\n{conclusion}\n", table(&rows))
}

fn row(candidate: &Candidate) -> [String; 7] {
    let device = candidate.device.as_ref();
    let (verdict, reason) = words(&candidate.verdict);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    [
        device.map_or_else(|| candidate.backend.name().to_owned(), address),
        verdict.to_owned(),
        or_dash(device.map(full_name)),
        or_dash(device.and_then(|device| device.memory_total).map(gibibytes)),
        or_dash(device.and_then(|device| device.memory_free).map(gibibytes)),
        or_dash(device.and_then(|device| device.driver.clone())),
        or_dash(reason.map(str::to_owned)),
    ]
}

/// As `--device` takes it.
fn address(device: &DeviceInfo) -> String {
    match device.backend {
        // There is one, and the flag wants no number for it.
        bellwether::Backend::Cpu => device.backend.name().to_owned(),
        backend => format!("{backend}:{}", device.ordinal),
    }
}

fn full_name(device: &DeviceInfo) -> String {
    let software = if device.software { " (software)" } else { "" };
    format!("{}{software}", device.name)
}

fn words(verdict: &Verdict) -> (&'static str, Option<&str>) {
    match verdict {
        Verdict::Chosen => ("chosen", None),
        Verdict::Usable => ("usable", None),
        Verdict::PassedOver(reason) => ("passed over", Some(reason)),
        Verdict::Unavailable(reason) => ("unavailable", Some(reason)),
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}
