//! Filecoin's proofs of spacetime on the CPU: proofs are bellperson's.

use std::sync::Arc;

use bellwether_core::device::CpuDevice;
use bellwether_tests::interop::post;

#[test]
fn window_post() {
    post::window(&Arc::new(CpuDevice::new()));
}

#[test]
fn winning_post() {
    post::winning(&Arc::new(CpuDevice::new()));
}
