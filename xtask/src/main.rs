//! `cargo xtask`: the tasks of the repository.

// A program for a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod ci;
mod kernels;
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
        /// Devices, separated by commas: cpu, wgpu, wgpu:N, wgpu-u32, wgpu-u32:N
        ///
        /// N is the ordinal of a wgpu adapter, 0 if it is left out. `wgpu` computes with 64-bit integers if the
        /// adapter has them, `wgpu-u32` with 32-bit integers only.
        #[arg(long, default_value = "cpu")]
        devices: String,
        /// Leave out the cases that take longest, for adapters that compute in software
        #[arg(long)]
        quick: bool,
    },
    /// Checks and times every operation and whole proofs on one device and prints one table
    ///
    /// The program behind it, `timing`, needs neither a compiler nor a file beside it: it can be copied to a machine that
    /// has only a GPU.
    Timing {
        /// cpu, wgpu or wgpu:N
        #[arg(long, default_value = "cpu")]
        device: String,
        /// Compute with these integers: u64 or u32
        #[arg(long)]
        tier: Option<String>,
        /// log₂ of the largest size
        #[arg(long, default_value_t = 24)]
        max: u32,
        /// Only operations whose name begins so
        #[arg(long)]
        only: Option<String>,
        /// Write the rows to this file, too
        #[arg(long)]
        csv: Option<String>,
    },
    /// Compiles the CUDA kernels ahead of time into target/kernels and prints what each takes of a multiprocessor
    ///
    /// Takes nvcc from CUDA_HOME or PATH, else from an environment under target/ that it makes with pip. Fails if a kernel
    /// spills registers. With the feature `embed` of bellwether-kernels, a program carries what is left there.
    Kernels {
        /// Architectures, separated by commas: sm_N for code, compute_N for text (PTX)
        #[arg(long, default_value = kernels::ARCHITECTURES)]
        arch: String,
        /// Only these modules, separated by commas; then nothing can be embedded
        #[arg(long)]
        module: Option<String>,
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
        Task::Parity { devices, quick } => parity(&devices, quick),
        Task::Timing { device, tier, max, only, csv } => timing(&[
            ("--device", Some(device)),
            ("--tier", tier),
            ("--max", Some(max.to_string())),
            ("--only", only),
            ("--csv", csv),
        ]),
        Task::Kernels { arch, module } => kernels::build(&arch, module.as_deref()),
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
fn parity(devices: &str, quick: bool) -> Result<(), String> {
    let program = ["run", "--package", "bellwether-tests", "--bin", "parity", "--", "--devices", devices];
    let quick = if quick { &["--quick"][..] } else { &[] };
    run::cargo(&[&program, quick].concat())
}

/// The benches' dependencies are as many.
fn timing(options: &[(&str, Option<String>)]) -> Result<(), String> {
    let mut arguments =
        vec!["run", "--release", "--quiet", "--package", "bellwether-benches", "--bin", "timing", "--"];
    for (name, value) in options {
        arguments.extend(value.iter().flat_map(|value| [*name, value]));
    }
    run::cargo(&arguments)
}
