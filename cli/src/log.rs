//! What the libraries tell through `tracing`, on stderr.

use std::io::{self, IsTerminal, Write};
use std::str::FromStr;

use clap::ValueEnum;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::console::Console;

const LEVELS: &str = "off, error, warn, info, debug, trace";

/// How to log.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line an event, for people
    #[default]
    Text,
    /// An object a line, for programs
    Json,
}

/// What to log: a level, or levels of single targets, as in `warn,bellwether_core=debug`.
#[derive(Clone, Debug)]
pub(crate) struct LogFilter(Targets);

impl FromStr for LogFilter {
    type Err = String;

    /// Stricter than `Targets`, which takes a mistyped level for a target to be logged in full.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut targets = Targets::new();
        for part in text.split(',') {
            let (target, level) = match part.split_once('=') {
                Some((target, level)) => (Some(target), level),
                None => (None, part),
            };
            let level = level_from(level)?;
            targets = match target {
                Some("") => return Err(format!("there is no target before {part:?}")),
                Some(target) => targets.with_target(target, level),
                None => targets.with_default(level),
            };
        }
        Ok(LogFilter(targets))
    }
}

fn level_from(text: &str) -> Result<LevelFilter, String> {
    Ok(match text {
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => return Err(format!("unknown level {text:?}; accepted are {LEVELS}")),
    })
}

/// Sends events to stderr from now on.
pub(crate) fn install(filter: &LogFilter, format: LogFormat, console: &Console) {
    let console = console.clone();
    let layer = tracing_subscriber::fmt::layer().with_writer(move || Stderr(console.clone()));
    let layer = match format {
        LogFormat::Text => layer.with_ansi(colours()).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    let registry = tracing_subscriber::registry().with(layer.with_filter(filter.0.clone()));
    // Fails only where a subscriber is installed already, which nothing in this program does.
    let _ = registry.try_init();
}

fn colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// stderr as the log sees it: nothing that happens there disturbs a proof.
struct Stderr(Console);

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_error(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_targets_are_understood_and_nothing_else() {
        for good in ["off", "warn", "trace", "warn,bellwether_core=debug", "bellwether=info"] {
            assert!(good.parse::<LogFilter>().is_ok(), "{good}");
        }
        for bad in ["", "inof", "WARN", "3", "warn,", "bellwether=loud", "=info"] {
            assert!(bad.parse::<LogFilter>().is_err(), "{bad}");
        }
    }
}
