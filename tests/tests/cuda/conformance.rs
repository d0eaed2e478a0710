//! The conformance suite on the host build of the kernels, each run on clones of one device.

use bellwether_core::device::{CpuDevice, Dual};
use bellwether_cuda::{CudaDevice, CudaOptions, HostOrder};
use bellwether_tests::conformance::run;
use bellwether_tests::cuda::{blocking, open, open_double, options, ordered, tables};

/// The chosen cases on the host build with these options.
fn check(options: &CudaOptions, chosen: impl Fn(&str) -> bool) {
    check_device(&open(options), chosen);
}

/// The chosen cases; the report is printed, and shown if one fails.
fn check_device(device: &CudaDevice, chosen: impl Fn(&str) -> bool) {
    let report = run(|| device.clone(), chosen);
    println!("{report}");
    report.check();
}

/// The longest case of all makes sure of many sizes of proofs, which the first run does.
fn is_not_the_longest(case: &str) -> bool {
    case != "proofs/rows_around_powers_of_two"
}

/// Those whose sizes only take time.
fn is_quick(case: &str) -> bool {
    is_not_the_longest(case) && !case.starts_with("large/") && !case.ends_with("/known_discrete_logarithms")
}

#[test]
fn all() {
    check(&options(), |_| true);
}

/// The host build computes multiples slowly: G2 is left to the chain of `proofs`.
#[test]
fn with_multiples_of_bases() {
    let meets_bases = |case: &str| case.starts_with("sums/g1/") || case.starts_with("selections/g1/");
    check(&tables(), |case| is_quick(case) && meets_bases(case));
}

/// Nothing is written outside of its buffer.
#[test]
fn blocking_launches() {
    check(&blocking(), is_quick);
}

/// Results do not depend on which thread of a block comes first.
#[test]
fn threads_in_reverse_order() {
    check(&ordered(HostOrder::Reverse), is_quick);
}

#[test]
fn threads_in_any_order() {
    check(&ordered(HostOrder::Shuffled(7)), is_quick);
}

/// By way of the code that talks to a driver.
#[test]
fn double_of_the_driver() {
    check_device(&open_double(), is_quick);
}

#[test]
fn dual_with_the_cpu() {
    let device = open(&options());
    let report = run(|| Dual::new(CpuDevice::new(), device.clone()), is_quick);
    println!("{report}");
    report.check();
}
