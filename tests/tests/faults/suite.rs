//! The conformance suite itself: a device that is wrong in one operation does not pass.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bellwether_core::curve::{G1Affine, G2Affine};
use bellwether_core::device::{CpuDevice, Device, DeviceError, self_test};
use bellwether_tests::conformance::{
    multiples, order, products, proofs, quotients, random, selections, sums, transforms, vectors,
};
use bellwether_tests::faulty::{Fault, Faulty, Operation, When};
use pollster::block_on;

fn liar(operation: Operation) -> Faulty<CpuDevice> {
    let liar = Faulty::new(CpuDevice::new());
    liar.arm(When::Every(operation), Fault::Wrong(7));
    liar
}

fn check(operation: Operation, name: &str, case: fn(Faulty<CpuDevice>)) {
    let passed = catch_unwind(AssertUnwindSafe(|| case(liar(operation)))).is_ok();
    assert!(!passed, "{name} passes a device that is wrong in {operation:?}");
}

#[test]
fn operations_on_scalars() {
    check(Operation::Upload, "vectors", vectors::uploads_are_padded_with_zeros);
    check(Operation::Download, "vectors", vectors::vectors_are_independent);
    for operation in [Operation::Ntt, Operation::Domain] {
        check(operation, "forward", transforms::forward);
        check(operation, "inverse", transforms::inverse);
        check(operation, "coset_forward", transforms::coset_forward);
        check(operation, "coset_inverse", transforms::coset_inverse);
        check(operation, "other_shifts", transforms::other_shifts);
        check(operation, "round_trips", transforms::round_trips);
        check(operation, "special_vectors", transforms::special_vectors);
        check(operation, "order", order::transform_before_msm);
    }
    check(Operation::Quotient, "pointwise_with_c", quotients::pointwise_with_c);
    check(Operation::Quotient, "pointwise_without_c", quotients::pointwise_without_c);
    check(Operation::Quotient, "random", random::quotients);
    for operation in [Operation::CosetQuotient, Operation::Domain] {
        check(operation, "on_the_coset_with_c", quotients::on_the_coset_with_c);
        check(operation, "on_the_coset_without_c", quotients::on_the_coset_without_c);
        check(operation, "divides", quotients::divides_by_the_vanishing_polynomial);
    }
    for operation in [Operation::Spmv, Operation::Matrix, Operation::UploadWitness] {
        check(operation, "every_coefficient", products::every_coefficient_and_row);
        check(operation, "long_rows", products::long_rows);
        check(operation, "padding", products::padding);
        check(operation, "no_rows", products::no_rows);
    }
    check(Operation::Spmv, "empty_rows_and_columns", products::empty_rows_and_columns);
}

#[test]
fn operations_on_points() {
    for operation in [Operation::Msm, Operation::Bases, Operation::Upload] {
        check(operation, "edge_scalars", sums::edge_scalars::<G1Affine>);
        check(operation, "equal_scalars", sums::equal_scalars::<G2Affine>);
        check(operation, "futures", order::futures_outlive_their_inputs);
    }
    for operation in [Operation::Msm, Operation::FixedBaseMul] {
        check(operation, "huge bucket", sums::one_huge_bucket::<G2Affine>);
    }
    for operation in [
        Operation::Select,
        Operation::Variables,
        Operation::Bases,
        Operation::TailMsm,
        Operation::BatchAdd,
        Operation::UploadWitness,
    ] {
        check(operation, "set_lengths", selections::set_lengths::<G1Affine>);
        check(operation, "kinds_of_values", selections::kinds_of_values::<G2Affine>);
        check(operation, "sums_that_cancel", selections::sums_that_cancel::<G1Affine>);
    }
    check(Operation::FixedBaseMul, "edge_scalars", multiples::edge_scalars::<G1Affine>);
    check(Operation::FixedBaseMul, "lengths", multiples::lengths::<G2Affine>);
}

#[test]
fn whole_proofs() {
    for operation in [
        Operation::Spmv,
        Operation::Ntt,
        Operation::CosetQuotient,
        Operation::Msm,
        Operation::TailMsm,
        Operation::BatchAdd,
        Operation::FixedBaseMul,
    ] {
        check(operation, "equals_the_proof_of_the_cpu", proofs::equals_the_proof_of_the_cpu);
        check(operation, "bits_only", proofs::bits_only);
    }
}

/// The test by which a device is admitted notices whatever proving uses.
#[test]
fn the_self_test_refuses_a_wrong_device() {
    for operation in [
        Operation::Upload,
        Operation::Download,
        Operation::UploadWitness,
        Operation::Domain,
        Operation::Bases,
        Operation::Variables,
        Operation::Ntt,
        Operation::Quotient,
        Operation::Select,
        Operation::Msm,
        Operation::TailMsm,
        Operation::BatchAdd,
    ] {
        let device = liar(operation);
        let error = block_on(self_test(&device)).expect_err(&format!("{operation:?} is wrong"));
        assert!(matches!(error, DeviceError::Mismatch { .. }), "{operation:?}: {error}");
        let message = error.to_string();
        assert!(message.contains(&device.info().to_string()), "{message}");
    }
}
