//! CUDA cards: when the driver is looked for, and what is said where there is none.

use std::process::Command;

use super::{Run, bellwether};

/// The list of devices, without Vulkan's, which take their time.
fn devices() -> Command {
    let mut command = bellwether(&["devices", "--json"]);
    command.env("VK_DRIVER_FILES", "/nonexistent.json").env("VK_ICD_FILENAMES", "/nonexistent.json");
    command
}

/// The loader of programs tells what it looks for.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn with_the_choice_of_the_cpu_the_driver_is_not_looked_for() {
    let looked_for = |variable: &str| {
        let mut command = devices();
        command.env("BELLWETHER_DEVICE", variable).env("LD_DEBUG", "libs");
        let run = Run::from(command.output().unwrap()).exits(0);
        run.stderr.contains("libcuda") || run.stderr.contains("libnvrtc")
    };
    assert!(!looked_for("cpu"));
    assert!(looked_for("auto"));
}

/// Where there is no card, as here, and where there is.
#[test]
fn the_backend_is_listed_with_what_it_finds() {
    let run = Run::from(devices().output().unwrap()).exits(0);
    let object = run.json().remove(0);
    let mut cuda = object["devices"].as_array().unwrap().iter().filter(|device| device["backend"] == "cuda");
    let first = cuda.next().unwrap();
    match first["name"].is_null() {
        true => {
            assert_eq!(first["verdict"], "unavailable");
            assert!(first["reason"].as_str().unwrap().contains("no usable driver"), "{first}");
            assert_eq!(cuda.next(), None);
        }
        false => {
            assert!(first["details"]["uuid"].as_str().unwrap().starts_with("GPU-"), "{first}");
            assert!(first["details"]["compute_capability"].is_string(), "{first}");
            assert!(first["driver"].as_str().unwrap().starts_with("CUDA "), "{first}");
        }
    }
}
