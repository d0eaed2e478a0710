//! Whole proofs on lavapipe: byte for byte those of bellman and bellperson.

use std::sync::Arc;

use bellwether_circuits::odd::all;
use bellwether_shaders::Tier;
use bellwether_tests::interop::{odd, post, sapling, synthetic};
use bellwether_tests::wgpu::{open, options, split};
use bellwether_wgpu::WgpuOptions;

fn device(options: WgpuOptions) -> Arc<bellwether_wgpu::WgpuDevice> {
    Arc::new(open(options))
}

#[test]
fn sapling_output_and_spend() {
    let device = device(options(Tier::U64));
    sapling::output(&device);
    sapling::spend(&device);
}

#[test]
fn sapling_output_tier_u32() {
    sapling::output(&device(options(Tier::U32)));
}

#[test]
fn sapling_output_with_small_bindings() {
    sapling::output(&device(split(Tier::U64)));
}

#[test]
fn cubic_chain_of_2_to_the_16() {
    synthetic::cubic_chain(&device(options(Tier::U64)), 16);
}

#[test]
fn window_post() {
    post::window(&device(options(Tier::U64)));
}

fn odd_circuits(tier: Tier) {
    let device = device(options(tier));
    for circuit in all() {
        println!("{}", circuit.name);
        odd::agrees_with_bellperson(&device, &circuit);
    }
    odd::unblinded_empty_circuit(&device);
    odd::unconstrained_variables_are_refused(&device);
}

#[test]
fn odd_circuits_tier_u64() {
    odd_circuits(Tier::U64);
}

#[test]
fn odd_circuits_tier_u32() {
    odd_circuits(Tier::U32);
}
