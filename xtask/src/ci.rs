//! Everything that has to hold before a change lands.

use std::time::Instant;

use crate::run::{cargo_path, command, is_installed};

/// One command of the run.
struct Step {
    name: &'static str,
    /// Program that has to be installed beside cargo, and how to get it.
    tool: Option<(&'static str, &'static str)>,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Step {
    Step { name, tool: None, arguments, environment: &[] }
}

const STEPS: &[Step] = &[
    cargo("format", &["fmt", "--all", "--check"]),
    Step {
        name: "TOML format",
        tool: Some(("taplo", "pip install taplo")),
        arguments: &["fmt", "--check", "--diff"],
        environment: &[],
    },
    Step { name: "spelling", tool: Some(("typos", "pip install typos")), arguments: &[], environment: &[] },
    Step {
        name: "licences and sources",
        tool: Some(("cargo-deny", "cargo install --locked cargo-deny")),
        arguments: &["deny", "check", "licenses", "bans", "sources"],
        environment: &[],
    },
    cargo("lints", &["clippy", "--workspace", "--all-targets", "--all-features", "--", "--deny", "warnings"]),
    cargo(
        "lints without wgpu",
        &[
            "clippy",
            "--package=bellwether",
            "--package=bellwether-cli",
            "--all-targets",
            "--no-default-features",
            "--",
            "--deny",
            "warnings",
        ],
    ),
    Step {
        environment: &[("RUSTDOCFLAGS", "--deny warnings")],
        ..cargo("documentation", &["doc", "--workspace", "--all-features", "--no-deps"])
    },
    cargo("tests", &["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"]),
    cargo("examples in the documentation", &["test", "--workspace", "--all-features", "--doc", "--quiet"]),
    cargo("parity", &["run", "--quiet", "--package", "bellwether-tests", "--bin", "parity", "--", "--quick"]),
    // The whole suite runs on lavapipe among the tests; here the program that is taken to machines with cards.
    cargo(
        "parity on lavapipe",
        &[
            "run",
            "--quiet",
            "--package",
            "bellwether-tests",
            "--bin",
            "parity",
            "--",
            "--devices",
            "wgpu",
            "--quick",
        ],
    ),
];

const DEMO: Step = cargo("demo", &["run", "--release", "--quiet", "--", "demo"]);

/// Runs all steps in order and stops at the first that fails; prints what ran and how long it took.
pub(crate) fn run(no_demo: bool) -> Result<(), String> {
    // Better now than after ten minutes of builds.
    if !is_installed("cargo-nextest") {
        return Err("cargo-nextest is not installed (cargo install --locked cargo-nextest)".to_owned());
    }
    let mut table = Vec::new();
    let steps = STEPS.iter().chain((!no_demo).then_some(&DEMO));
    let outcome = steps.map(|step| run_step(step, &mut table)).collect::<Result<Vec<()>, String>>();
    println!("\n{:<32} {:>10}", "step", "seconds");
    for (name, outcome) in table {
        println!("{name:<32} {outcome:>10}");
    }
    outcome.map(drop)
}

fn run_step(step: &Step, table: &mut Vec<(&'static str, String)>) -> Result<(), String> {
    println!("\n=== {}", step.name);
    let program = match step.tool {
        None => cargo_path(),
        Some((program, _)) if is_installed(program) => program.to_owned(),
        Some((program, remedy)) if std::env::var_os("CI").is_none() => {
            println!("{program} is not installed, so this step is skipped ({remedy})");
            table.push((step.name, "skipped".to_owned()));
            return Ok(());
        }
        Some((program, remedy)) => return Err(format!("{program} is not installed ({remedy})")),
    };
    let start = Instant::now();
    let outcome = command(program, step.arguments, step.environment);
    let seconds = start.elapsed().as_secs_f64();
    table.push((step.name, if outcome.is_ok() { format!("{seconds:.1}") } else { "FAILED".to_owned() }));
    outcome
}
