//! wgpu adapters: what is told of them, and when they are taken.

use serde_json::Value;

use super::{Run, bellwether, lavapipe, run_on_lavapipe};

/// The entry of a backend that has one.
#[track_caller]
fn entry(run: &Run, backend: &str) -> Value {
    let survey = run.json().remove(0);
    let devices = survey["devices"].as_array().unwrap().iter();
    let mut entries = devices.filter(|device| device["backend"] == backend);
    let entry = entries.next().unwrap().clone();
    assert!(entries.next().is_none(), "{survey}");
    entry
}

#[test]
fn json_tells_what_matters_of_an_adapter() {
    let run = run_on_lavapipe(&["devices", "--json"]).exits(0);
    let adapter = entry(&run, "wgpu");
    assert_eq!(adapter["ordinal"], 0);
    assert!(adapter["name"].as_str().unwrap().starts_with("llvmpipe"), "{adapter}");
    assert_eq!(adapter["api"], "Vulkan");
    assert!(adapter["driver"].as_str().unwrap().contains("Mesa"), "{adapter}");
    assert_eq!(adapter["software"], true);
    for field in ["memory_total", "memory_free", "units"] {
        assert!(adapter[field].as_u64() > Some(0), "{field}: {adapter}");
    }
    let details = &adapter["details"];
    assert!(["u64", "u32"].contains(&details["tier"].as_str().unwrap()), "{adapter}");
    assert!(details["binding"].as_u64() >= Some(128 << 20), "{adapter}");
    assert!(details["workgroup_memory"].as_u64() >= Some(16 << 10), "{adapter}");
    assert_eq!(details["pipelines"], "compiled at first use", "{adapter}");
    assert_eq!(adapter["self_test"], "passed");
    for field in ["open_ms", "self_test_ms"] {
        assert!(adapter[field].as_f64() > Some(0.0), "{field}: {adapter}");
    }
    let cpu = entry(&run, "cpu");
    assert_eq!((&cpu["self_test"], &cpu["verdict"]), (&"passed".into(), &"chosen".into()));
}

#[test]
fn auto_ends_on_the_cpu_and_says_why_not_on_software() {
    let text = run_on_lavapipe(&["devices"]).exits(0).stdout;
    for part in [
        "wgpu:0: passed over\n  name         llvmpipe",
        " (software)\n",
        "\n  driver       Vulkan, llvmpipe ",
        "\n  details      tier u",
        ", pipelines compiled at first use\n",
        ", self-test passed in ",
        "\n  reason       computes in software, which is used only by name: wgpu:0\n",
        "With the choice auto, proofs are made on cpu (",
    ] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn software_is_taken_by_ordinal_and_by_name_but_is_no_gpu() {
    for choice in ["wgpu:0", "wgpu:llvmpipe"] {
        let run = run_on_lavapipe(&["devices", "--json", "--device", choice]).exits(0);
        assert_eq!(entry(&run, "wgpu")["verdict"], "chosen", "{choice}");
        assert_eq!(run.json()[0]["chosen"], "wgpu:0");
    }
    let cannot = |args: &[&str], reason: &str| {
        run_on_lavapipe(args).exits(4).says(&["error: no device can be chosen", reason, "try: "]);
    };
    cannot(&["demo", "--device", "wgpu"], "computes in software, which is used only by name: wgpu:0");
    cannot(&["demo", "--device", "wgpu:1"], "there is no such device; there are wgpu:0 (llvmpipe");
    cannot(&["demo", "--require-gpu"], "a GPU is required and none can be used");
    let required = ["demo", "--require-gpu", "--device", "wgpu:llvmpipe"];
    cannot(&required, "a GPU is required, and this computes on the CPU");
}

/// The loader of Vulkan tells what it does, if it is there to tell.
#[test]
fn with_the_choice_of_the_cpu_vulkan_is_not_touched() {
    let devices = |variable: &str| {
        let mut command = lavapipe(&["devices", "--json"]);
        command.env("BELLWETHER_DEVICE", variable).env("VK_LOADER_DEBUG", "all");
        Run::from(command.output().unwrap()).exits(0)
    };
    assert_eq!(devices("cpu").stderr, "");
    let said = devices("auto").stderr;
    assert!(
        said.contains("lvp"),
        "lavapipe is not there: install libvulkan1 and mesa-vulkan-drivers: {said}"
    );
}

#[test]
fn without_an_adapter_proofs_are_made_on_the_cpu() {
    let without = |args: &[&str]| {
        let mut command = bellwether(args);
        command.env("VK_DRIVER_FILES", "/nonexistent.json").env("VK_ICD_FILENAMES", "/nonexistent.json");
        Run::from(command.output().unwrap())
    };
    // Elsewhere there are other APIs.
    if cfg!(target_os = "linux") {
        let run = without(&["devices", "--json"]).exits(0);
        let wgpu = entry(&run, "wgpu");
        assert_eq!(wgpu["verdict"], "unavailable");
        assert!(wgpu["reason"].as_str().unwrap().contains("no usable driver"), "{wgpu}");
        assert!(wgpu["name"].is_null() && wgpu["details"].is_null() && wgpu["self_test"].is_null(), "{wgpu}");
        assert_eq!(entry(&run, "cpu")["verdict"], "chosen");
        without(&["demo", "--device", "wgpu:0"]).exits(4).says(&["no usable driver", "try: "]);
    }
}
