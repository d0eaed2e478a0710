//! Running commands from the root of the workspace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// Runs cargo with these arguments.
pub(crate) fn cargo(arguments: &[&str]) -> Result<(), String> {
    command(cargo_path(), arguments, &[])
}

/// Runs a program with these arguments and additional environment variables; fails if it does.
pub(crate) fn command(
    program: String,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Result<(), String> {
    let line = format!("{program} {}", arguments.join(" "));
    let status = Command::new(&program)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()
        .map_err(|error| format!("{line}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{line}: {status}")) }
}

/// Whether a program can be started.
pub(crate) fn is_installed(program: &str) -> bool {
    let probe = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

/// The cargo that runs this task.
pub(crate) fn cargo_path() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}
