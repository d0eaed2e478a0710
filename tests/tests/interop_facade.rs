//! The functions shaped like bellperson's give bellperson's bytes.

use bellwether_tests::interop::facade;

#[test]
fn random_parameters_and_a_batch_of_random_proofs() {
    facade::random_parameters_and_proofs();
}
