//! The cubic chain and SHA-256 on the CPU: keys and proofs are bellperson's.

use std::sync::Arc;

use bellwether_core::device::CpuDevice;
use bellwether_tests::interop::synthetic;

#[test]
fn cubic_chain_that_fills_its_domain() {
    synthetic::cubic_chain(&Arc::new(CpuDevice::new()), 12);
}

#[test]
fn sha256_of_two_blocks() {
    synthetic::sha256(&Arc::new(CpuDevice::new()));
}
