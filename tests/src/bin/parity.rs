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

/// What happened in one group of cases on one device.
struct Row {
    device: String,
    group: String,
    passed: usize,
    failed: Vec<String>,
    time: Duration,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let devices = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => "cpu".to_owned(),
        ["--devices", devices] => devices.to_owned(),
        _ => return refuse(USAGE),
    };
    let mut rows = Vec::new();
    for device in devices.split(',') {
        match device {
            "cpu" => rows.extend(examine(device, CpuDevice::new)),
            other => return refuse(&format!("unknown device {other:?}\n{USAGE}")),
        }
    }
    print(&rows);
    ExitCode::from(u8::from(rows.iter().any(|row| !row.failed.is_empty())))
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}

/// Runs everything on one kind of device.
fn examine<D: Device>(name: &str, open: fn() -> D) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut enter = |group: &str, case: &str, run: &dyn Fn()| {
        let start = Instant::now();
        // A failed case has already said why on stderr.
        let failed = catch_unwind(AssertUnwindSafe(run)).is_err();
        if rows.last().is_none_or(|row| row.group != group) {
            let (device, group) = (name.to_owned(), group.to_owned());
            rows.push(Row { device, group, passed: 0, failed: Vec::new(), time: Duration::ZERO });
        }
        if let Some(row) = rows.last_mut() {
            row.time += start.elapsed();
            if failed { row.failed.push(case.to_owned()) } else { row.passed += 1 }
        }
    };
    for case in conformance::table::<D>() {
        let (group, name) = case.name.rsplit_once('/').unwrap_or(("", &case.name));
        enter(group, name, &|| (case.run)(open()));
    }
    let device = Arc::new(open());
    enter("proofs of bellman", "sapling output", &|| sapling::output(&device));
    enter("proofs of bellman", "sapling spend", &|| sapling::spend(&device));
    for circuit in bellwether_circuits::odd::all() {
        enter("proofs of bellperson", circuit.name, &|| odd::agrees_with_bellperson(&device, &circuit));
    }
    enter("proofs of bellperson", "cubic chain", &|| synthetic::cubic_chain(&device, 12));
    enter("proofs of bellperson", "SHA-256", &|| synthetic::sha256(&device));
    enter("proofs of bellperson", "WindowPoSt", &|| post::window(&device));
    enter("proofs of bellperson", "WinningPoSt", &|| post::winning(&device));
    rows
}

fn print(rows: &[Row]) {
    println!("{:<8} {:<24} {:>6} {:>6} {:>9}", "device", "group", "passed", "failed", "seconds");
    for row in rows {
        let (passed, failed, seconds) = (row.passed, row.failed.len(), row.time.as_secs_f64());
        println!("{:<8} {:<24} {passed:>6} {failed:>6} {seconds:>9.1}", row.device, row.group);
        row.failed.iter().for_each(|case| println!("{:<8} {:<24} FAILED {case}", "", ""));
    }
    let passed: usize = rows.iter().map(|row| row.passed).sum();
    let failed: usize = rows.iter().map(|row| row.failed.len()).sum();
    println!("{passed} passed, {failed} failed");
}
