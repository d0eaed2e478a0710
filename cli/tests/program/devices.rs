//! `bellwether devices`, and which device is taken.

use serde_json::{Value, json};

use super::{Run, bellwether, run};

fn devices(run: &Run) -> Value {
    let mut lines = run.json();
    assert_eq!(lines.len(), 1);
    lines.remove(0)
}

#[test]
fn json_lists_every_backend_and_the_choice() {
    let object = devices(&run(&["devices", "--json"]).exits(0));
    assert_eq!(object["choice"], "auto");
    let list = object["devices"].as_array().unwrap();
    for backend in ["cuda", "wgpu", "cpu"] {
        assert!(list.iter().any(|device| device["backend"] == backend), "{backend}");
    }
    for device in list {
        let has_reason = device["reason"].is_string();
        match device["verdict"].as_str().unwrap() {
            "chosen" | "usable" => assert!(!has_reason, "{device}"),
            "passed over" | "unavailable" => assert!(has_reason, "{device}"),
            other => panic!("{other}"),
        }
    }
    let chosen: Vec<&Value> = list.iter().filter(|device| device["verdict"] == "chosen").collect();
    assert_eq!(chosen.len(), 1);
}

#[test]
fn text_says_what_proofs_are_made_on() {
    let text = run(&["devices", "--device", "cpu"]).exits(0).stdout;
    assert!(text.contains("With the choice cpu, proofs are made on cpu"), "{text}");
}

#[test]
fn the_flag_overrides_the_variable() {
    let choice = |flag: &[&str], variable: &str| {
        let args = [&["devices", "--json"], flag].concat();
        let output = bellwether(&args).env("BELLWETHER_DEVICE", variable).output().unwrap();
        devices(&Run::from(output).exits(0))["choice"].clone()
    };
    assert_eq!(choice(&[], "cpu"), json!("cpu"));
    assert_eq!(choice(&[], ""), json!("auto"));
    assert_eq!(choice(&["--device", "cpu"], "cuda"), json!("cpu"));
    assert_eq!(choice(&["--device", "cpu"], "nonsense"), json!("cpu"));
}

#[test]
fn the_flag_may_stand_before_the_subcommand() {
    let object = devices(&run(&["--device", "cpu", "devices", "--json"]).exits(0));
    assert_eq!(object["choice"], "cpu");
}

/// On a machine that has no such card, whether or not the backend is part of the build.
#[test]
fn an_explicit_device_that_is_not_there_is_an_error_with_a_reason_and_a_remedy() {
    run(&["demo", "--device", "cuda:4095"]).exits(4).says(&[
        "error: no device can be chosen",
        "because: cuda:4095",
        "try: ",
    ]);
}

#[test]
fn a_required_gpu_and_the_cpu_contradict_each_other() {
    for subcommand in ["demo", "bench"] {
        run(&[subcommand, "--device", "cpu", "--require-gpu"]).exits(2).says(&["contradict", "try: "]);
    }
}
