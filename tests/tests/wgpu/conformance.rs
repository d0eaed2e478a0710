//! The conformance suite on lavapipe: each run in one process, on clones of one device, since a program is compiled
//! when it first runs, and in each process anew.

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

/// Everything that is cut to the binding is cut. Where is decided on the host, for both tiers alike.
#[test]
fn small_bindings() {
    check(split(Tier::U64), |_| true);
}

/// The longest case of all makes sure of many sizes of proofs, which the runs above have done.
fn is_not_the_longest(case: &str) -> bool {
    case != "proofs/rows_around_powers_of_two"
}

#[test]
fn checked_shaders() {
    check(checked(Tier::U64), is_not_the_longest);
}

#[test]
fn dual_with_the_cpu() {
    let device = open(options(Tier::U64));
    let report = run(|| Dual::new(CpuDevice::new(), device.clone()), is_not_the_longest);
    println!("{report}");
    report.check();
}
