//! `cargo xtask`: the tasks of the repository.

// A program for a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod ci;
mod record;
mod run;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tasks of the Bellwether repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that has to hold before a change lands: format, lints, docs, all tests, the demo
    ///
    /// Tools that are not installed (taplo, typos, cargo-deny) are skipped with a word, unless CI is set in the
    /// environment: there a missing tool is a failure.
    Ci {
        /// Stop before the demo, which needs a release build
        #[arg(long)]
        no_demo: bool,
    },
    /// Runs the conformance suite and whole-proof parity on the named devices and prints one table
    Parity {
        /// Devices, separated by commas
        #[arg(long, default_value = "cpu")]
        devices: String,
    },
    /// Turns the estimates of the last `cargo bench` into benches/record/MACHINE/DATE.csv
    Record {
        /// Name of the machine, such as epyc-zen4-2core
        #[arg(long)]
        machine: String,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Ci { no_demo } => ci::run(no_demo),
        Task::Parity { devices } => parity(&devices),
        Task::Record { machine } => record::write(&machine),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The suite lives in `tests/`, whose dependencies would make every other task slow to start.
fn parity(devices: &str) -> Result<(), String> {
    run::cargo(&["run", "--package", "bellwether-tests", "--bin", "parity", "--", "--devices", devices])
}
