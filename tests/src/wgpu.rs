//! The wgpu backend's software adapter, as tests open it.
//!
//! lavapipe is Vulkan on a processor. Tests name it, so that they mean the same on a machine with a card; a machine
//! without it fails them with the packages to install.

use bellwether_core::driver::Driver;
use bellwether_shaders::Tier;
use bellwether_wgpu::{PipelineCachePlace, WgpuDevice, WgpuDriver, WgpuOptions};

/// What is missing where no software adapter is found.
const REMEDY: &str =
    "no Vulkan adapter that computes in software: install libvulkan1 and mesa-vulkan-drivers";

/// A binding of so many bytes holds 8192 scalars or 2730 points of G1: what the conformance suite calls large, and every
/// proof of a real circuit, is cut into parts. It still has to hold the table of a fixed base in G2, of 195,840 bytes.
pub const SMALL_BINDING: u64 = 256 << 10;

/// A tier, and nothing written to the user's cache.
pub fn options(tier: Tier) -> WgpuOptions {
    WgpuOptions { tier: Some(tier), cache: PipelineCachePlace::Off, ..WgpuOptions::default() }
}

/// Bindings so small that everything is cut into parts.
pub fn split(tier: Tier) -> WgpuOptions {
    WgpuOptions { max_binding: Some(SMALL_BINDING), ..options(tier) }
}

/// Shaders that check indices at run time: an access out of bounds shows as a wrong result instead of as another
/// buffer's contents.
pub fn checked(tier: Tier) -> WgpuOptions {
    WgpuOptions { checked: true, ..options(tier) }
}

/// Opens the software adapter.
///
/// # Panics
/// If there is none, naming the packages that bring it, or if it does not open.
#[allow(clippy::panic, reason = "a test without its device fails")]
pub fn open(options: WgpuOptions) -> WgpuDevice {
    let driver = WgpuDriver::with_options(options);
    let adapters = driver.probe().unwrap_or_else(|error| panic!("{REMEDY} ({error})"));
    let software = adapters.iter().find(|info| info.software).unwrap_or_else(|| {
        let names: Vec<String> = adapters.iter().map(ToString::to_string).collect();
        panic!("{REMEDY} (found: {})", names.join(", "))
    });
    driver.open_device(software.ordinal).unwrap_or_else(|error| panic!("{software}: {error}"))
}
