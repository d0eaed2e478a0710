//! Help, and command lines that are refused.

use super::{bellwether, run};

const SUBCOMMANDS: [&str; 5] = ["demo", "bench", "devices", "inspect", "completions"];

#[test]
fn help_names_every_subcommand_and_the_exit_codes() {
    let help = run(&["--help"]).exits(0).stdout;
    for subcommand in SUBCOMMANDS {
        assert!(help.contains(subcommand), "{subcommand}");
    }
    for text in ["Exit codes:", "Examples:", "BELLWETHER_DEVICE"] {
        assert!(help.contains(text), "{text}");
    }
}

#[test]
fn every_subcommand_has_a_short_and_a_long_help() {
    for subcommand in SUBCOMMANDS {
        let short = run(&[subcommand, "-h"]).exits(0).stdout;
        let long = run(&[subcommand, "--help"]).exits(0).stdout;
        assert!(long.len() > short.len(), "{subcommand}");
        assert!(long.contains("Exit codes:"), "{subcommand}");
    }
}

#[test]
fn without_arguments_there_is_help_and_a_usage_exit_code() {
    run(&[]).exits(2).says(&["demo", "Usage:"]);
}

#[test]
fn version() {
    let version = run(&["--version"]).exits(0).stdout;
    assert_eq!(version, format!("bellwether {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_unknown_device_is_refused_with_the_list() {
    for device in ["gpu", "CUDA", "cuda:", "cuda:x", "cuda:GPU-", "cpu:0", ""] {
        run(&["devices", "--device", device])
            .exits(2)
            .says(&["auto, cpu, cuda, cuda:N, cuda:GPU-UUID, wgpu, wgpu:N, wgpu:NAME"]);
    }
}

#[test]
fn an_unknown_device_in_the_environment_is_refused_with_the_list_and_the_variable() {
    let output = bellwether(&["devices"]).env("BELLWETHER_DEVICE", "gpu").output();
    let list = "auto, cpu, cuda, cuda:N, cuda:GPU-UUID, wgpu, wgpu:N, wgpu:NAME";
    super::Run::from(output.unwrap()).exits(2).says(&["BELLWETHER_DEVICE", "\"gpu\"", list, "try: "]);
}

#[test]
fn a_variable_that_a_subcommand_does_not_use_does_not_disturb_it() {
    let output = bellwether(&["completions", "bash"]).env("BELLWETHER_DEVICE", "gpu").output();
    super::Run::from(output.unwrap()).exits(0);
}

#[test]
fn unknown_levels_formats_circuits_and_shells_are_refused_with_the_list() {
    let levels = "off, error, warn, info, debug, trace";
    run(&["devices", "--log", "inof"]).exits(2).says(&[levels]);
    run(&["devices", "--log", "bellwether=loud"]).exits(2).says(&[levels]);
    run(&["devices", "--log-format", "xml"]).exits(2).says(&["text, json"]);
    run(&["bench", "--circuit", "sprout"]).exits(2).says(&["sapling-output, sapling-spend, all"]);
    run(&["completions", "korn"]).exits(2).says(&["bash", "zsh", "fish"]);
    run(&["bench", "--proofs", "0"]).exits(2).says(&["1.."]);
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&["completions", shell]).exits(0).stdout;
        assert!(script.contains("bellwether") && script.contains("inspect"), "{shell}");
    }
}
