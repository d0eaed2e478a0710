//! With the choice `cpu` no driver is touched. A program of its own: the loader of Vulkan, once loaded, stays.
#![cfg(all(feature = "wgpu", target_os = "linux"))]

use bellwether::{Backend, SelectOptions, drivers, select, survey};

/// Whether the loader of Vulkan is in this process.
fn vulkan_is_loaded() -> bool {
    std::fs::read_to_string("/proc/self/maps").unwrap_or_default().contains("libvulkan")
}

fn options(choice: &str) -> SelectOptions {
    SelectOptions { choice: choice.parse().unwrap_or_default(), require_gpu: false }
}

#[test]
fn the_choice_of_the_cpu_loads_no_driver() {
    let selected = select(&drivers(), &options("cpu")).unwrap();
    assert_eq!(selected.device.info().backend, Backend::Cpu);
    survey(&drivers(), &options("cpu"));
    assert!(!vulkan_is_loaded());
    // Else the assertion above would say nothing.
    select(&drivers(), &options("auto")).unwrap();
    assert!(vulkan_is_loaded(), "no loader is there: install libvulkan1 and mesa-vulkan-drivers");
}
