//! The conformance suite on lavapipe: each run in one process, on clones of one device.

use bellwether_core::device::{CpuDevice, Dual};
use bellwether_shaders::Tier;
use bellwether_tests::conformance::run;
use bellwether_tests::wgpu::{checked, open, options, split};
use bellwether_wgpu::WgpuOptions;

/// The chosen cases; the report is printed, and shown if one fails.
fn check(options: WgpuOptions, chosen: impl Fn(&str) -> bool) {
    let device = open(options);
    let report = run(|| device.clone(), chosen);
    println!("{report}");
    report.check();
}

#[test]
fn tier_u64() {
    check(options(Tier::U64), |_| true);
}

#[test]
fn tier_u32() {
    check(options(Tier::U32), |_| true);
}

#[test]
fn small_bindings() {
    check(split(Tier::U64), |_| true);
}

#[test]
fn small_bindings_tier_u32() {
    check(split(Tier::U32), |_| true);
}

#[test]
fn checked_shaders() {
    check(checked(Tier::U64), |_| true);
}

#[test]
fn checked_shaders_tier_u32() {
    check(checked(Tier::U32), |_| true);
}

#[test]
fn dual_with_the_cpu() {
    let device = open(options(Tier::U64));
    let report = run(|| Dual::new(CpuDevice::new(), device.clone()), |_| true);
    println!("{report}");
    report.check();
}
