//! The program as its users meet it: started, with its output read and its exit code looked at.
// The allowance for tests in clippy.toml covers `#[test]` functions, not their helpers.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "cuda")]
mod cuda;
mod demo;
mod devices;
mod inspect;
mod pipe;
mod usage;
#[cfg(feature = "wgpu")]
mod wgpu;

use std::process::{Command, Output};

/// The program, with an environment in which only what a test sets has a meaning.
fn bellwether(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    command.args(args).env_remove("BELLWETHER_DEVICE").env_remove("RUST_LOG");
    command
}

/// What a run left behind.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    /// The exit code is this one; if not, stderr is shown.
    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        self
    }

    /// stderr has all of these.
    #[track_caller]
    fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is not in: {}", self.stderr);
        }
        self
    }

    /// Every line of stdout, parsed.
    #[track_caller]
    fn json(&self) -> Vec<serde_json::Value> {
        let lines = self.stdout.lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn run(args: &[&str]) -> Run {
    bellwether(args).output().unwrap().into()
}

/// The program, where lavapipe is the only adapter, whatever else the machine has.
#[cfg(feature = "wgpu")]
fn lavapipe(args: &[&str]) -> Command {
    let mut command = bellwether(args);
    command.env("VK_LOADER_DRIVERS_SELECT", "*lvp*");
    command
}

#[cfg(feature = "wgpu")]
#[track_caller]
fn run_on_lavapipe(args: &[&str]) -> Run {
    let run = Run::from(lavapipe(args).output().unwrap());
    // So the wgpu backend says what it has not found.
    let missing = "an adapter of Vulkan";
    assert!(
        !run.stderr.contains(missing) && !run.stdout.contains(missing),
        "lavapipe is not there: install libvulkan1 and mesa-vulkan-drivers"
    );
    run
}
