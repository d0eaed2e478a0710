//! `cargo xtask parity`: the conformance suite and whole-proof parity on named devices, as one table.

// A program for a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bellwether_core::device::{CpuDevice, Device};
use bellwether_tests::conformance;
use bellwether_tests::interop::{odd, post, sapling, synthetic};

const USAGE: &str = "usage: parity [--devices cpu,...]
Runs the conformance suite and whole-proof parity with bellman and bellperson on each device.
Devices of this build: cpu";

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
        println!("{:<8} {:<24} {:>6} {:>6} {:>9}", "device", "group", "passed", "failed", "seconds");
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

    fn end_row(&mut self) {
        let (passed, failed, seconds) = (self.passed, self.failed.len(), self.time.as_secs_f64());
        if passed + failed > 0 {
            println!("{:<8} {:<24} {passed:>6} {failed:>6} {seconds:>9.1}", self.device, self.group);
        }
        self.failed.drain(..).for_each(|case| println!("{:<8} {:<24} FAILED {case}", "", ""));
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

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let devices = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => "cpu".to_owned(),
        ["--devices", devices] => devices.to_owned(),
        _ => return refuse(USAGE),
    };
    let unknown = devices.split(',').find(|device| *device != "cpu");
    if let Some(device) = unknown {
        return refuse(&format!("unknown device {device:?}\n{USAGE}"));
    }
    let mut table = Table::new();
    for device in devices.split(',') {
        examine(&mut table, device, CpuDevice::new);
    }
    ExitCode::from(u8::from(!table.end()))
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}

/// Runs everything on one kind of device.
fn examine<D: Device>(table: &mut Table, name: &str, open: fn() -> D) {
    for case in conformance::table::<D>() {
        let (group, case_name) = case.name.rsplit_once('/').unwrap_or(("", &case.name));
        table.enter(name, group, case_name, || (case.run)(open()));
    }
    let device = Arc::new(open());
    let bellman = "proofs of bellman";
    table.enter(name, bellman, "sapling output", || sapling::output(&device));
    table.enter(name, bellman, "sapling spend", || sapling::spend(&device));
    let bellperson = "proofs of bellperson";
    for circuit in bellwether_circuits::odd::all() {
        table.enter(name, bellperson, circuit.name, || odd::agrees_with_bellperson(&device, &circuit));
    }
    table.enter(name, bellperson, "cubic chain", || synthetic::cubic_chain(&device, 12));
    table.enter(name, bellperson, "SHA-256", || synthetic::sha256(&device));
    table.enter(name, bellperson, "WindowPoSt", || post::window(&device));
    table.enter(name, bellperson, "WinningPoSt", || post::winning(&device));
}
