//! stdout for results, stderr for progress and errors, and the peace between them on one terminal.

use std::io::{self, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::Error;

/// Where the program writes. Clones share the terminal.
#[derive(Clone)]
pub(crate) struct Console {
    /// Draws on stderr, and only if that is a terminal.
    bars: MultiProgress,
}

impl Console {
    pub(crate) fn new() -> Self {
        Console { bars: MultiProgress::new() }
    }

    /// Writes to stdout.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        self.bars
            .suspend(|| {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes)?;
                stdout.flush()
            })
            .map_err(Error::Output)
    }

    /// Writes one line of JSON to stdout.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Error> {
        let mut line = serde_json::to_vec(value).map_err(|error| Error::Output(error.into()))?;
        line.push(b'\n');
        self.write(&line)
    }

    /// Writes to stderr, past any bar. Where that cannot be written there is nobody to tell.
    pub(crate) fn error(&self, text: &str) {
        self.write_error(text.as_bytes());
    }

    /// The same for the log, which writes bytes.
    pub(crate) fn write_error(&self, bytes: &[u8]) {
        let _ = self.bars.suspend(|| io::stderr().write_all(bytes));
    }

    /// Says that something of unknown length goes on, until the result is dropped.
    pub(crate) fn spinner(&self, text: impl Into<String>) -> Activity {
        let bar = self.bars.add(ProgressBar::new_spinner());
        bar.set_style(style("{spinner} {msg} {elapsed}", ProgressStyle::default_spinner()));
        bar.set_message(text.into());
        bar.enable_steady_tick(Duration::from_millis(120));
        Activity(bar)
    }

    /// Shows how much of a file is done, until the result is dropped.
    pub(crate) fn byte_bar(&self) -> Activity {
        let bar = self.bars.add(ProgressBar::new(0));
        let template = "{msg} [{bar:30}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
        bar.set_style(style(template, ProgressStyle::default_bar()));
        Activity(bar)
    }

    /// Shows how many of `total` are done, until the result is dropped.
    pub(crate) fn count_bar(&self, text: impl Into<String>, total: u32) -> Activity {
        let bar = self.bars.add(ProgressBar::new(u64::from(total)));
        let template = "{spinner} {msg} [{bar:30}] {pos} of {len}, {eta} left";
        bar.set_style(style(template, ProgressStyle::default_bar()));
        bar.set_message(text.into());
        bar.enable_steady_tick(Duration::from_millis(120));
        Activity(bar)
    }
}

/// A template that does not parse costs the looks, not the work.
fn style(template: &str, otherwise: ProgressStyle) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or(otherwise).progress_chars("=> ")
}

/// Something that goes on; its line disappears when this is dropped.
pub(crate) struct Activity(ProgressBar);

impl Activity {
    /// One more is done.
    pub(crate) fn advance(&self) {
        self.0.inc(1);
    }

    /// This much is done of that; calls may come out of order.
    pub(crate) fn set(&self, text: &'static str, done: u64, total: u64) {
        if self.0.message() != text {
            self.0.set_length(total);
            self.0.set_position(done);
            self.0.reset_eta();
            self.0.set_message(text);
        } else if done > self.0.position() {
            self.0.set_position(done);
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
