//! `cargo xtask parity`: the conformance suite and whole-proof parity on named devices, as one table.

// A program for a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bellwether_core::device::{CpuDevice, Device, DeviceError};
use bellwether_cuda::{CudaDriver, CudaOptions};
use bellwether_shaders::Tier;
use bellwether_tests::conformance;
use bellwether_tests::interop::{odd, post, sapling, synthetic};
use bellwether_wgpu::{WgpuDriver, WgpuOptions};

const USAGE: &str = "usage: parity [--devices DEVICE,...] [--quick]
Runs the conformance suite and whole-proof parity with bellman and bellperson on each device.
  cpu           the CPU, which is the default
  cuda[:N]      the CUDA card with this ordinal, or 0
  cuda-blocking[:N]  the same, waiting for every kernel
  cuda-host     the host build of the CUDA kernels, if this program was built with the feature of that name
  wgpu[:N]      the wgpu adapter with this ordinal, or 0, with 64-bit integers if it has them
  wgpu-u32[:N]  the same with 32-bit integers only
  --quick       leaves out the cases that take longest: large sizes, and all proofs of bellman's and bellperson's
                circuits but Sapling Output, the odd circuits and SHA-256";

/// The table, printed as it grows: a group of cases is a row, which appears when the next group begins.
struct Table {
    device: String,
    group: String,
    passed: usize,
    failed: Vec<String>,
    time: Duration,
    all_passed: usize,
    all_failed: usize,
}

impl Table {
    fn new() -> Self {
        println!("{:<12} {:<24} {:>6} {:>6} {:>9}", "device", "group", "passed", "failed", "seconds");
        Table {
            device: String::new(),
            group: String::new(),
            passed: 0,
            failed: Vec::new(),
            time: Duration::ZERO,
            all_passed: 0,
            all_failed: 0,
        }
    }

    /// Runs a case, which panics if it fails and then has said why on stderr.
    fn enter(&mut self, device: &str, group: &str, case: &str, run: impl FnOnce()) {
        if (&*self.device, &*self.group) != (device, group) {
            self.end_row();
            (self.device, self.group) = (device.to_owned(), group.to_owned());
        }
        let start = Instant::now();
        let failed = catch_unwind(AssertUnwindSafe(run)).is_err();
        self.time += start.elapsed();
        if failed { self.failed.push(case.to_owned()) } else { self.passed += 1 }
    }

    /// A device that does not open, which is a failure: it was asked for.
    fn unavailable(&mut self, device: &str, error: &DeviceError) {
        self.end_row();
        println!("{device:<12} cannot be used: {error}");
        self.all_failed += 1;
    }

    fn end_row(&mut self) {
        let (passed, failed, seconds) = (self.passed, self.failed.len(), self.time.as_secs_f64());
        if passed + failed > 0 {
            println!("{:<12} {:<24} {passed:>6} {failed:>6} {seconds:>9.1}", self.device, self.group);
        }
        self.failed.drain(..).for_each(|case| println!("{:<12} {:<24} FAILED {case}", "", ""));
        (self.all_passed, self.all_failed) = (self.all_passed + passed, self.all_failed + failed);
        (self.passed, self.time) = (0, Duration::ZERO);
    }

    /// Whether everything passed.
    fn end(mut self) -> bool {
        self.end_row();
        println!("{} passed, {} failed", self.all_passed, self.all_failed);
        self.all_failed == 0
    }
}

/// A device as it is named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Cpu,
    Cuda { blocking: bool, ordinal: usize },
    CudaHost,
    Wgpu { tier: Option<Tier>, ordinal: usize },
}

impl Choice {
    fn parse(text: &str) -> Option<Choice> {
        let (kind, ordinal) = match text.split_once(':') {
            None => (text, 0),
            Some((kind, ordinal)) if ordinal.bytes().all(|byte| byte.is_ascii_digit()) => {
                (kind, ordinal.parse().ok()?)
            }
            Some(_) => return None,
        };
        match kind {
            "cpu" if text == "cpu" => Some(Choice::Cpu),
            "cuda" => Some(Choice::Cuda { blocking: false, ordinal }),
            "cuda-blocking" => Some(Choice::Cuda { blocking: true, ordinal }),
            "cuda-host" if text == "cuda-host" && cfg!(feature = "cuda-host") => Some(Choice::CudaHost),
            "wgpu" => Some(Choice::Wgpu { tier: None, ordinal }),
            "wgpu-u32" => Some(Choice::Wgpu { tier: Some(Tier::U32), ordinal }),
            _ => None,
        }
    }
}

fn main() -> ExitCode {
    let mut devices = "cpu".to_owned();
    let mut quick = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match (&*argument, argument.strip_prefix("--devices=")) {
            ("--quick", _) => quick = true,
            ("--devices", _) => match arguments.next() {
                Some(list) => devices = list,
                None => return refuse(USAGE),
            },
            (_, Some(list)) => list.clone_into(&mut devices),
            _ => return refuse(USAGE),
        }
    }
    let mut choices = Vec::new();
    for name in devices.split(',') {
        match Choice::parse(name) {
            Some(choice) => choices.push((name, choice)),
            None => return refuse(&format!("unknown device {name:?}\n{USAGE}")),
        }
    }
    let mut table = Table::new();
    for (name, choice) in choices {
        match choice {
            Choice::Cpu => examine(&mut table, name, quick, CpuDevice::new),
            Choice::Cuda { blocking, ordinal } => {
                let driver = CudaDriver::with_options(CudaOptions { blocking, ..CudaOptions::default() });
                examine_opened(&mut table, name, quick, driver.open_device(ordinal));
            }
            Choice::CudaHost => examine_host_build(&mut table, name, quick),
            Choice::Wgpu { tier, ordinal } => {
                // Opened once: on hardware this compiles all programs.
                let driver = WgpuDriver::with_options(WgpuOptions { tier, ..WgpuOptions::default() });
                match driver.open_device(ordinal) {
                    Ok(device) => {
                        println!("{name} is {}, tier {}", device.info(), device.adapter().tier.name());
                        examine(&mut table, name, quick, || device.clone());
                    }
                    Err(error) => table.unavailable(name, &error),
                }
            }
        }
    }
    ExitCode::from(u8::from(!table.end()))
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}

/// Runs everything on clones of a device, if it opened.
fn examine_opened<D: Device + Clone>(
    table: &mut Table,
    name: &str,
    quick: bool,
    opened: Result<D, DeviceError>,
) {
    match opened {
        Ok(device) => {
            println!("{name} is {}", device.info());
            examine(table, name, quick, || device.clone());
        }
        Err(error) => table.unavailable(name, &error),
    }
}

#[cfg(feature = "cuda-host")]
fn examine_host_build(table: &mut Table, name: &str, quick: bool) {
    examine_opened(table, name, quick, bellwether_cuda::CudaDevice::host(&CudaOptions::default()));
}

/// Not part of this program: the name is not accepted.
#[cfg(not(feature = "cuda-host"))]
fn examine_host_build(_: &mut Table, _: &str, _: bool) {}

/// Whether a case of the conformance suite, by name, takes seconds on a processor that plays GPU.
fn is_slow(case: &str) -> bool {
    case.starts_with("large/")
        || case.ends_with("/known_discrete_logarithms")
        || case == "proofs/rows_around_powers_of_two"
        || case == "proofs/evaluated_in_one_pass"
}

/// Runs everything on one device.
fn examine<D: Device>(table: &mut Table, name: &str, quick: bool, open: impl Fn() -> D) {
    for case in conformance::table::<D>().into_iter().filter(|case| !(quick && is_slow(&case.name))) {
        let (group, case_name) = case.name.rsplit_once('/').unwrap_or(("", &case.name));
        table.enter(name, group, case_name, || (case.run)(open()));
    }
    let device = Arc::new(open());
    let bellman = "proofs of bellman";
    table.enter(name, bellman, "sapling output", || sapling::output(&device));
    if !quick {
        table.enter(name, bellman, "sapling spend", || sapling::spend(&device));
    }
    let bellperson = "proofs of bellperson";
    for circuit in bellwether_circuits::odd::all() {
        table.enter(name, bellperson, circuit.name, || odd::agrees_with_bellperson(&device, &circuit));
    }
    table.enter(name, bellperson, "SHA-256", || synthetic::sha256(&device));
    if !quick {
        table.enter(name, bellperson, "cubic chain", || synthetic::cubic_chain(&device, 16));
        table.enter(name, bellperson, "WindowPoSt", || post::window(&device));
        table.enter(name, bellperson, "WinningPoSt", || post::winning(&device));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named() {
        let wgpu = |tier, ordinal| Some(Choice::Wgpu { tier, ordinal });
        for (text, choice) in [
            ("cpu", Some(Choice::Cpu)),
            ("cuda", Some(Choice::Cuda { blocking: false, ordinal: 0 })),
            ("cuda:1", Some(Choice::Cuda { blocking: false, ordinal: 1 })),
            ("cuda-blocking:2", Some(Choice::Cuda { blocking: true, ordinal: 2 })),
            ("cuda-host", cfg!(feature = "cuda-host").then_some(Choice::CudaHost)),
            ("wgpu", wgpu(None, 0)),
            ("wgpu:3", wgpu(None, 3)),
            ("wgpu-u32", wgpu(Some(Tier::U32), 0)),
            ("wgpu-u32:12", wgpu(Some(Tier::U32), 12)),
        ] {
            assert_eq!(Choice::parse(text), choice, "{text}");
        }
        for text in [
            "",
            "cpu:0",
            "gpu",
            "cuda:x",
            "cuda-host:0",
            "wgpu:",
            "wgpu:x",
            "wgpu:+1",
            "wgpu-u64",
            "wgpu:99999999999999999999",
        ] {
            assert_eq!(Choice::parse(text), None, "{text}");
        }
    }

    #[test]
    fn slow_cases_exist() {
        let cases = conformance::table::<CpuDevice>();
        let slow: Vec<&str> = cases.iter().map(|case| &*case.name).filter(|name| is_slow(name)).collect();
        assert_eq!(slow.len(), 12, "{slow:?}");
        assert!(cases.len() > 6 * slow.len());
    }
}
