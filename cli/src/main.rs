//! The `bellwether` program: a thin shell around the library of the same name.
//!
//! Results go to stdout, everything else (errors, logs, progress) to stderr. `args` is the command line, one file a
//! subcommand does the work, `subject` is a circuit with its key and its judges, `output` gives results their form,
//! `error` turns failures into words, a remedy and an exit code.
// This crate is the only one that prints, yet the lints against `println!` stay on: it panics when the reader of a
// pipe has gone. `console` writes and hands the failure on instead.
#![forbid(unsafe_code)]

mod args;
mod bench;
mod completions;
mod console;
mod demo;
mod devices;
mod error;
mod inspect;
mod log;
mod output;
mod subject;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use console::Console;
use error::Error;

fn main() -> ExitCode {
    let args = Args::parse();
    let console = Console::new();
    log::install(&args.log, args.log_format, &console);
    match run(&args, &console) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console.error(&error.to_text());
            error.exit_code().into()
        }
    }
}

fn run(args: &Args, console: &Console) -> Result<(), Error> {
    match &args.command {
        Command::Demo(demo) => demo::run(demo, &args.device_choice()?, console),
        Command::Bench(bench) => bench::run(bench, &args.device_choice()?, console),
        Command::Devices(devices) => devices::run(devices, args.device_choice()?, console),
        Command::Inspect(inspect) => inspect::run(inspect, console),
        Command::Completions(completions) => completions::run(completions, console),
    }
}
