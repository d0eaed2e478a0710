//! `bellwether demo` and `bellwether bench`.

use serde_json::Value;

use super::run;
#[cfg(feature = "wgpu")]
use super::run_on_lavapipe;

const PHASES: [&str; 10] = [
    "synth_ms",
    "spmv_ms",
    "ntt_msm_h_ms",
    "batch_add_ms",
    "tail_msm_ms",
    "b_g2_msm_ms",
    "gpu_total_ms",
    "gpu_ms",
    "verify_ms",
    "total_ms",
];

#[track_caller]
fn check_proof(object: &Value, device: &str, circuit: &str, constraints: u64, inputs: usize) {
    assert_eq!(object["circuit"], circuit);
    assert_eq!(object["constraints"], constraints);
    assert_eq!(object["verified"], true, "{object}");
    for verifier in ["bellwether", "bellperson", "sapling-crypto"] {
        assert_eq!(object["verifiers"][verifier], true, "{verifier}");
    }
    assert!(object["device"].as_str().unwrap().starts_with(device), "{object}");
    for phase in PHASES {
        assert!(object[phase].as_f64().unwrap() >= 0.0, "{phase}");
    }
    assert!(object["total_ms"].as_f64() > object["gpu_ms"].as_f64());
    let hex = |text: &str| text.bytes().all(|digit| b"0123456789abcdef".contains(&digit));
    let proof = object["proof"].as_str().unwrap();
    assert!(proof.len() == 384 && hex(proof), "{proof}");
    let public_inputs = object["public_inputs"].as_array().unwrap();
    assert_eq!(public_inputs.len(), inputs);
    for input in public_inputs {
        let digits = input.as_str().unwrap().strip_prefix("0x").unwrap();
        assert!(digits.len() == 64 && hex(digits), "{input}");
    }
}

#[test]
fn both_circuits_are_proved_and_accepted_and_the_log_tells_of_them() {
    let args = ["demo", "--device", "cpu", "--json", "--seed", "7", "--log", "info"];
    let run = run(&[&args[..], &["--log-format", "json"]].concat()).exits(0);
    let lines = run.json();
    assert_eq!(lines.len(), 2);
    check_proof(&lines[0], "cpu (", "sapling-output", 7827, 5);
    check_proof(&lines[1], "cpu (", "sapling-spend", 98777, 7);

    let events: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let proofs: Vec<&Value> = events.iter().filter(|event| event["message"] == "proof").collect();
    assert_eq!(proofs.len(), 2);
    for phase in PHASES {
        assert!(proofs.iter().all(|event| event[phase].is_f64()), "{phase}");
    }
}

#[test]
fn bench_counts_its_runs_and_draws_other_witnesses() {
    let args = ["bench", "--device", "cpu", "--circuit", "sapling-output", "--proofs", "2"];
    let run = run(&[&args[..], &["--json"]].concat()).exits(0);
    let lines = run.json();
    assert_eq!(lines.len(), 2);
    for (object, number) in lines.iter().zip(1..) {
        check_proof(object, "cpu (", "sapling-output", 7827, 5);
        assert_eq!(object["run"], number);
    }
    assert_ne!(lines[0]["public_inputs"], lines[1]["public_inputs"]);
}

#[test]
fn bench_prints_a_row_a_phase() {
    let args = ["bench", "--device", "cpu", "--circuit", "sapling-output", "--proofs", "1"];
    let text = run(&args).exits(0).stdout;
    for phase in PHASES {
        assert!(text.contains(phase), "{phase}");
    }
    assert!(text.contains("1 accepted by every verifier"), "{text}");
}

#[test]
#[cfg(feature = "wgpu")]
fn an_adapter_named_explicitly_proves() {
    let args = ["bench", "--device", "wgpu:llvmpipe", "--circuit", "sapling-output", "--proofs", "1"];
    let lines = run_on_lavapipe(&[&args[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(lines.len(), 1);
    check_proof(&lines[0], "wgpu:0 (llvmpipe", "sapling-output", 7827, 5);
}
