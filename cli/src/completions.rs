//! `bellwether completions`.

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::console::Console;
use crate::error::Error;

pub(crate) fn run(args: &CompletionsArgs, console: &Console) -> Result<(), Error> {
    // Not to stdout at once: `generate` panics when its writer fails, memory does not.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "bellwether", &mut script);
    console.write(&script)
}
