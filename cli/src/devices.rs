//! `bellwether devices`.

use std::collections::BTreeMap;

use bellwether::{Candidate, Detail, DeviceChoice, DeviceInfo, SelectOptions, Survey, Trial, Verdict};
use serde::Serialize;

use crate::args::DevicesArgs;
use crate::console::Console;
use crate::error::Error;
use crate::output::{Sheet, milliseconds};

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
    api: Option<String>,
    driver: Option<String>,
    software: Option<bool>,
    memory_total: Option<u64>,
    memory_free: Option<u64>,
    units: Option<usize>,
    /// Sizes in bytes; `null` for a backend.
    details: Option<BTreeMap<String, DetailObject>>,
    /// `null` if the device was not tested.
    self_test: Option<&'static str>,
    open_ms: Option<f64>,
    self_test_ms: Option<f64>,
    verdict: &'static str,
    reason: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum DetailObject {
    Text(String),
    Bytes(u64),
}

impl From<&Detail> for DetailObject {
    fn from(detail: &Detail) -> Self {
        match detail {
            Detail::Text(text) => DetailObject::Text(text.clone()),
            Detail::Bytes(bytes) => DetailObject::Bytes(*bytes),
        }
    }
}

impl From<&Candidate> for DeviceObject {
    fn from(candidate: &Candidate) -> Self {
        let device = candidate.device.as_ref();
        let trial = candidate.trial.as_ref();
        let (verdict, reason) = words(&candidate.verdict);
        DeviceObject {
            backend: candidate.backend.name(),
            ordinal: device.map(|device| device.ordinal),
            name: device.map(|device| device.name.clone()),
            api: device.and_then(|device| device.api.clone()),
            driver: device.and_then(|device| device.driver.clone()),
            software: device.map(|device| device.software),
            memory_total: device.and_then(|device| device.memory_total),
            memory_free: device.and_then(|device| device.memory_free),
            units: device.map(|device| device.units).filter(|units| *units > 0),
            details: device.map(details),
            self_test: trial.map(|trial| if trial.passed { "passed" } else { "failed" }),
            open_ms: trial.map(|trial| milliseconds(trial.open)),
            self_test_ms: trial.map(|trial| milliseconds(trial.self_test)),
            verdict,
            reason: reason.map(str::to_owned),
        }
    }
}

/// With names as keys are written.
fn details(device: &DeviceInfo) -> BTreeMap<String, DetailObject> {
    let details = device.details.iter();
    details.map(|(name, detail)| (name.replace(' ', "_"), detail.into())).collect()
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
    let sheets: String = survey.candidates.iter().map(sheet).collect();
    let conclusion = match survey.chosen() {
        Some(device) => format!("With the choice {choice}, proofs are made on {device}."),
        None => format!("With the choice {choice}, no proof can be made."),
    };
    format!("{sheets}{conclusion}\n")
}

/// All that is known of a candidate, and an empty line.
fn sheet(candidate: &Candidate) -> String {
    let (verdict, reason) = words(&candidate.verdict);
    let mut sheet = Sheet::default();
    if let Some(device) = &candidate.device {
        sheet.entry("name", full_name(device));
        let driver = [&device.api, &device.driver].into_iter().flatten().map(String::as_str);
        sheet.entries("driver", joined(driver));
        let total = device.memory_total.map(size);
        let free = device.memory_free.map(|free| format!("{} free", size(free)));
        sheet.entries("memory", joined(total.iter().chain(&free).map(String::as_str)));
        let details: Vec<String> = device.details.iter().map(detail_text).collect();
        sheet.entries("details", joined(details.iter().map(String::as_str)));
    }
    sheet.entries("start", candidate.trial.as_ref().map(trial_text));
    sheet.entries("reason", reason.map(str::to_owned));
    let title = candidate.device.as_ref().map_or_else(|| candidate.backend.name().to_owned(), address);
    format!("{title}: {verdict}\n{}\n", sheet.0)
}

/// What there is, with commas; `None` if there is nothing.
fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> Option<String> {
    let text = parts.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then_some(text)
}

fn detail_text((name, detail): &(&str, Detail)) -> String {
    match detail {
        Detail::Text(text) => format!("{name} {text}"),
        Detail::Bytes(bytes) => format!("{name} {}", size(*bytes)),
    }
}

fn trial_text(trial: &Trial) -> String {
    let outcome = if trial.passed { "passed" } else { "FAILED" };
    let (open, self_test) = (milliseconds(trial.open), milliseconds(trial.self_test));
    format!("opened in {open:.0} ms, self-test {outcome} in {self_test:.0} ms")
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

/// In the largest unit of which there is a whole one; with a decimal from a gibibyte on.
fn size(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bellwether::Backend;

    use super::*;

    fn adapter() -> DeviceInfo {
        DeviceInfo {
            backend: Backend::Wgpu,
            ordinal: 1,
            name: "Radeon".into(),
            api: Some("Vulkan".into()),
            driver: Some("radv 26.0".into()),
            software: false,
            memory_total: Some(16 << 30),
            memory_free: Some(8 << 30),
            shares_host_memory: false,
            units: 0,
            details: vec![
                ("tier", Detail::Text("u64".into())),
                ("workgroup memory", Detail::Bytes(64 << 10)),
            ],
        }
    }

    fn candidate(passed: bool, verdict: Verdict) -> Candidate {
        let trial =
            Trial { open: Duration::from_millis(1200), self_test: Duration::from_micros(34_400), passed };
        Candidate { backend: Backend::Wgpu, device: Some(adapter()), trial: Some(trial), verdict }
    }

    #[test]
    fn a_sheet_has_all_there_is() {
        let expected = "\
wgpu:1: chosen
  name         Radeon
  driver       Vulkan, radv 26.0
  memory       16.0 GiB, 8.0 GiB free
  details      tier u64, workgroup memory 64 KiB
  start        opened in 1200 ms, self-test passed in 34 ms

";
        assert_eq!(sheet(&candidate(true, Verdict::Chosen)), expected);
    }

    #[test]
    fn a_sheet_leaves_out_what_is_not_known() {
        let verdict = Verdict::Unavailable("no device found".into());
        let backend = Candidate { backend: Backend::Cuda, device: None, trial: None, verdict };
        assert_eq!(sheet(&backend), "cuda: unavailable\n  reason       no device found\n\n");
    }

    #[test]
    fn a_failed_self_test_shows_in_both_forms() {
        let candidate = candidate(false, Verdict::PassedOver("fails its self-test: msm".into()));
        assert!(sheet(&candidate).contains("self-test FAILED"), "{}", sheet(&candidate));
        let object = serde_json::to_value(DeviceObject::from(&candidate)).unwrap();
        assert_eq!(object["self_test"], "failed");
        assert_eq!(object["units"], serde_json::Value::Null);
        assert_eq!(object["details"]["workgroup_memory"], 65536);
        assert_eq!(object["open_ms"], 1200.0);
    }

    #[test]
    fn sizes_have_a_unit() {
        let sizes = [0, 1023, 1024, 65_536, 128 << 20, (2 << 30) - 256, 150_754_820_096].map(size);
        let texts = ["0 bytes", "1023 bytes", "1 KiB", "64 KiB", "128 MiB", "2.0 GiB", "140.4 GiB"];
        assert_eq!(sizes, texts);
    }
}
