//! The command line.

use std::path::PathBuf;

use bellwether::{DeviceChoice, SelectOptions};
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::error::Error;
use crate::log::{LogFilter, LogFormat};

const LONG_ABOUT: &str = "\
Groth16 proofs over BLS12-381, on the device you have: an NVIDIA GPU through CUDA, another GPU through wgpu, or the \
CPU. Circuits and parameter files of bellman and bellperson work unchanged.

To begin with, `bellwether demo` makes two real proofs and `bellwether devices` says what they can be made on.";

/// What every subcommand's help ends with.
const EXIT_CODES: &str = "\
Exit codes:
  0  all went well; for demo and bench: every proof was accepted by every verifier
  1  a proof was not made, was refused by a verifier, or could not be written
  2  the command line, or BELLWETHER_DEVICE, is not understood
  3  an input file cannot be read or is not what it should be
  4  the device asked for cannot be used, or failed
  141  whoever read the output closed it before the end

Results go to stdout; errors, logs and progress go to stderr.";

/// Heading of the options that every subcommand takes.
const GLOBAL: &str = "Global options";

const EXAMPLES: &str = "\
Examples:
  bellwether demo                            prove Sapling Output and Spend on the best device
  bellwether demo --device cpu --json        the same on the CPU, one JSON object a proof
  bellwether bench --proofs 20               how long each phase takes, warm
  bellwether devices                         what there is to prove on
  bellwether inspect sapling-spend.params    what a parameter file holds
  BELLWETHER_DEVICE=cuda:1 bellwether bench --require-gpu
";

const DEMO_HELP: &str = "\
Proves Zcash's Sapling Output and Sapling Spend circuits with the parameters of the real ceremony, which are part of \
this program. Each proof is judged three times: by Bellwether itself, by bellperson's verifier, and by \
sapling-crypto's consensus checks, those of a Zcash node.

Keys, notes and Merkle paths are drawn anew at each run. --seed repeats those of another run; the proof differs even \
so, because its blinding scalars always come from the operating system.

With --json each proof is one line with an object: circuit, device, constraints, verified, proof (192 bytes in \
hexadecimal), public_inputs (numbers in hexadecimal, the constant one left out), the times of all phases in \
milliseconds, and more.";

const BENCH_HELP: &str = "\
Makes the proofs of `bellwether demo` again and again with the key resident, and reports the median, the smallest \
and the largest time of every phase. The first proof warms the device up and is not counted. Every proof has another \
witness and is judged as in the demo; judging by others is not part of the times.

With --json each counted proof is one line with the object that `bellwether demo --json` prints, and `run`.";

const DEVICES_HELP: &str = "\
Lists every device of every backend: name, API and driver, memory, and what else decides how it computes; how long it \
took to open, and whether it passes the known-answer self-test; which one a proof would be made on, and why the others \
would not be used. A backend that is not part of this build, or finds no driver, is listed with the reason.

Of a CUDA card, `uuid` is what --device takes as well as the number, which counts the cards that CUDA_VISIBLE_DEVICES \
shows, and `kernels` says where they came from: built into the program, or compiled on this machine, by this run or an \
earlier one.

Of a wgpu adapter, `tier` is the arithmetic, with 64-bit integers (u64) or without (u32), and `binding` the memory that \
one kernel can see at once in one piece; longer vectors are split. Opening a GPU compiles all kernels, which takes \
longer the first time. A software adapter (llvmpipe) compiles during the self-test.

With --device cpu no other driver is touched.";

const INSPECT_HELP: &str = "\
Reads a parameter file in the format of bellman and bellperson: the verifying key, which is checked in full, the \
lengths of the queries, and the BLAKE2b-512 digest of the whole file, as `b2sum` prints it. The file is mapped, so \
that even one larger than memory can be looked at.";

const COMPLETIONS_HELP: &str = "\
Prints a completion script for your shell. For bash:

  bellwether completions bash > ~/.local/share/bash-completion/completions/bellwether";

/// Groth16 proofs over BLS12-381 on CUDA, wgpu or the CPU
#[derive(Debug, Parser)]
#[command(name = "bellwether", version, long_about = LONG_ABOUT)]
#[command(propagate_version = true, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "`bellwether --help` has examples and exit codes.")]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Device to prove on: auto, cpu, cuda, cuda:N, cuda:GPU-UUID, wgpu, wgpu:N or wgpu:NAME
    ///
    /// `auto` takes a CUDA card if one passes the self-test, else a hardware wgpu adapter that does, else the CPU.
    /// Anything else is used or refused, never replaced. Without this flag the environment variable
    /// BELLWETHER_DEVICE counts, and without that `auto`. For demo, bench and devices; the others use no device.
    #[arg(long, global = true, value_name = "DEVICE", help_heading = GLOBAL)]
    device: Option<DeviceChoice>,

    /// What to log: off, error, warn, info, debug or trace
    ///
    /// `info` has an event a proof with the times of all phases. Single parts of the program can be given a level
    /// of their own: `warn,bellwether_core=debug`.
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn", help_heading = GLOBAL)]
    pub(crate) log: LogFilter,

    /// How to log
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t, help_heading = GLOBAL)]
    pub(crate) log_format: LogFormat,
}

impl Args {
    /// The flag, else the environment, else `auto`.
    pub(crate) fn device_choice(&self) -> Result<DeviceChoice, Error> {
        match &self.device {
            Some(choice) => Ok(choice.clone()),
            None => DeviceChoice::from_env().map_err(Error::Choice),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prove Sapling Output and Spend with the real parameters, and have others verify the proofs
    #[command(long_about = DEMO_HELP, after_long_help = EXIT_CODES)]
    Demo(DemoArgs),
    /// Measure every phase of proving
    #[command(long_about = BENCH_HELP, after_long_help = EXIT_CODES)]
    Bench(BenchArgs),
    /// List what there is to prove on, and why the rest is not used
    #[command(long_about = DEVICES_HELP, after_long_help = EXIT_CODES)]
    Devices(DevicesArgs),
    /// Say what a parameter file holds
    #[command(long_about = INSPECT_HELP, after_long_help = EXIT_CODES)]
    Inspect(InspectArgs),
    /// Print a completion script for a shell
    #[command(long_about = COMPLETIONS_HELP, after_long_help = EXIT_CODES)]
    Completions(CompletionsArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) gpu: GpuArgs,
    /// Seed of the witnesses, to repeat a run
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) gpu: GpuArgs,
    /// Which circuits
    #[arg(long, value_enum, value_name = "CIRCUIT", default_value_t)]
    pub(crate) circuit: CircuitChoice,
    /// Proofs to count for each circuit
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) proofs: u32,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DevicesArgs {
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// The parameter file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Also check that every point lies on its curve and in the subgroup
    ///
    /// Takes some minutes a gigabyte. Proving checks files of unknown digest in this way by itself.
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GpuArgs {
    /// Fail rather than prove on the CPU
    #[arg(long)]
    require_gpu: bool,
}

impl GpuArgs {
    pub(crate) fn select_options(&self, choice: &DeviceChoice) -> SelectOptions {
        SelectOptions { choice: choice.clone(), require_gpu: self.require_gpu }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct FormArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum CircuitChoice {
    /// 7,827 constraints
    SaplingOutput,
    /// 98,777 constraints
    SaplingSpend,
    /// Both
    #[default]
    All,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
