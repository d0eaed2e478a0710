//! Whole proofs on the host build of the kernels: byte for byte those of bellman and bellperson.

use std::sync::Arc;

use bellwether_circuits::odd::all;
use bellwether_cuda::{CudaDevice, CudaOptions};
use bellwether_tests::cuda::{open, open_double, options, tables};
use bellwether_tests::interop::{odd, post, sapling, synthetic};

fn device(options: &CudaOptions) -> Arc<CudaDevice> {
    Arc::new(open(options))
}

#[test]
fn sapling_output_and_spend() {
    let device = device(&options());
    sapling::output(&device);
    sapling::spend(&device);
}

#[test]
fn sapling_output_by_the_double_of_the_driver() {
    sapling::output(&Arc::new(open_double()));
}

/// Two passes of each transform.
#[test]
fn cubic_chain_of_2_to_the_14() {
    synthetic::cubic_chain(&device(&options()), 14);
}

/// The host build computes multiples slowly.
#[test]
fn cubic_chain_with_multiples_of_bases() {
    synthetic::cubic_chain(&device(&tables()), 9);
}

#[test]
fn window_post() {
    post::window(&device(&options()));
}

#[test]
fn odd_circuits() {
    let device = device(&options());
    for circuit in all() {
        println!("{}", circuit.name);
        odd::agrees_with_bellperson(&device, &circuit);
    }
    odd::unblinded_empty_circuit(&device);
    odd::unconstrained_variables_are_refused(&device);
}
