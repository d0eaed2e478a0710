//! Zcash's Sapling circuits on the CPU: proofs are bellman's, and consensus accepts them.

use std::sync::Arc;

use bellwether_core::device::CpuDevice;
use bellwether_tests::interop::sapling;

#[test]
fn sapling_spend() {
    sapling::spend(&Arc::new(CpuDevice::new()));
}

#[test]
fn sapling_output() {
    sapling::output(&Arc::new(CpuDevice::new()));
}
