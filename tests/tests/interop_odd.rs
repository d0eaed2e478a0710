//! Odd circuits on the CPU: keys and proofs are bellperson's.

use std::sync::Arc;

use bellwether_circuits::odd::all;
use bellwether_core::device::CpuDevice;
use bellwether_tests::interop::odd;

#[test]
fn every_odd_circuit_agrees_with_bellperson() {
    let device = Arc::new(CpuDevice::new());
    for circuit in all() {
        println!("{}", circuit.name);
        odd::agrees_with_bellperson(&device, &circuit);
    }
}

#[test]
fn the_unblinded_proof_of_the_empty_circuit_has_c_at_infinity() {
    odd::unblinded_empty_circuit(&Arc::new(CpuDevice::new()));
}

#[test]
fn unconstrained_variables_are_refused() {
    odd::unconstrained_variables_are_refused(&Arc::new(CpuDevice::new()));
}
