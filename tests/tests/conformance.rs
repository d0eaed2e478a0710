//! The conformance suite over the devices of `core`.

use bellwether_core::device::{CpuDevice, Dual};

bellwether_tests::conformance_suite!(cpu, CpuDevice::new);
bellwether_tests::conformance_suite!(dual, || Dual::new(CpuDevice::new(), CpuDevice::new()));
