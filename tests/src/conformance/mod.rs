//! The conformance suite: what every [`Device`] has to do, against the [oracles](crate::oracle).
//!
//! [`conformance_suite!`](crate::conformance_suite) makes a test of each case. A case opens a device of its own, so
//! that cases run in parallel and in any order.
//!
//! # Examples
//! ```
//! bellwether_tests::conformance_suite!(cpu, || bellwether_core::device::CpuDevice::new());
//! ```
//!
//! [`table`] is the same suite as data, for programs that run it by themselves, and [`run`] does so in one process: for
//! devices that take long to open, or that compile a program when it first runs.
//!
//! [`Device`]: bellwether_core::device::Device

pub mod inputs;
pub mod large;
pub mod multiples;
pub mod order;
pub mod products;
pub mod proofs;
pub mod quotients;
pub mod random;
mod report;
pub mod selections;
pub mod sums;
pub mod transforms;
pub mod vectors;

use bellwether_core::device::Device;

pub use report::{Report, run};

/// A case of the suite, by name.
pub struct Case<D> {
    /// Groups of cases and the case, as `sums/g1/edge_scalars`.
    pub name: String,
    /// Runs the case on a device; panics if it fails.
    pub run: fn(D),
}

/// All cases.
pub fn table<D: Device>() -> Vec<Case<D>> {
    let mut cases = Vec::new();
    crate::conformance_list!(conformance_table cases);
    cases
}

/// Instantiates the suite as a module of tests for the device that the expression, a closure, constructs.
#[macro_export]
macro_rules! conformance_suite {
    ($name:ident, $open:expr) => {
        #[allow(unused_imports)]
        mod $name {
            use super::*;

            fn open() -> impl $crate::conformance::inputs::Device {
                ($open)()
            }

            $crate::conformance_list!(conformance_tests);
        }
    };
}

/// The list of all cases, handed to the macro whose name is given.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_list {
    ($consumer:ident $($cases:ident)?) => {
        $crate::$consumer! {
            $($cases)?
            scalars {
                vectors: uploads_are_padded_with_zeros, vectors_are_independent;
                transforms: forward, inverse, coset_forward, coset_inverse, other_shifts, round_trips,
                    special_vectors;
                quotients: pointwise_with_c, pointwise_without_c, on_the_coset_with_c,
                    on_the_coset_without_c, divides_by_the_vanishing_polynomial;
                products: every_coefficient_and_row, empty_rows_and_columns, long_rows, padding, no_rows;
                order: transform_before_msm, transform_after_msm, futures_outlive_their_inputs,
                    abandoned_futures, futures_in_any_order, marks_are_monotone, self_test_passes;
                proofs: rows_around_powers_of_two, evaluated_in_one_pass, without_private_variables,
                    bits_only, many_threads, equals_the_proof_of_the_cpu;
                random: transforms, quotients, products;
                large: transforms_at_a_point, coset_quotient_against_composition, quotient, products;
            }
            points {
                sums: lengths, infinity_among_the_bases, edge_scalars, opposite_and_equal_points,
                    equal_scalars, all_ones_but_one, one_huge_bucket, more_scalars_than_bases,
                    known_discrete_logarithms;
                selections: set_lengths, sparse_and_full_sets, kinds_of_values, edge_values,
                    infinity_among_the_bases, sums_that_cancel, one_witness_many_sets;
                multiples: edge_scalars, lengths, other_bases;
                random: sums, selections, multiples;
                large: selections, sums;
            }
        }
    };
}

/// The tests of [`conformance_suite!`]: a module for each group of cases, those over points once a group.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    (
        scalars { $($scalars:ident: $($case:ident),*;)* }
        points { $($points:ident: $($point_case:ident),*;)* }
    ) => {
        mod scalars {
            $(mod $scalars {
                $(#[test]
                fn $case() {
                    $crate::conformance::$scalars::$case(super::super::open());
                })*
            })*
        }
        mod g1 {
            $(mod $points {
                $(#[test]
                fn $point_case() {
                    use $crate::conformance::{$points, inputs::G1Affine};
                    $points::$point_case::<G1Affine>(super::super::open());
                })*
            })*
        }
        mod g2 {
            $(mod $points {
                $(#[test]
                fn $point_case() {
                    use $crate::conformance::{$points, inputs::G2Affine};
                    $points::$point_case::<G2Affine>(super::super::open());
                })*
            })*
        }
    };
}

/// The entries of [`table`](crate::conformance::table).
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_table {
    (
        $cases:ident
        scalars { $($scalars:ident: $($case:ident),*;)* }
        points { $($points:ident: $($point_case:ident),*;)* }
    ) => {
        $($($cases.push($crate::conformance::Case {
            name: format!("{}/{}", stringify!($scalars), stringify!($case)),
            run: |device| $crate::conformance::$scalars::$case(device),
        });)*)*
        $($($cases.push($crate::conformance::Case {
            name: format!("{}/g1/{}", stringify!($points), stringify!($point_case)),
            run: |device| $crate::conformance::$points::$point_case::<$crate::conformance::inputs::G1Affine>(device),
        });)*)*
        $($($cases.push($crate::conformance::Case {
            name: format!("{}/g2/{}", stringify!($points), stringify!($point_case)),
            run: |device| $crate::conformance::$points::$point_case::<$crate::conformance::inputs::G2Affine>(device),
        });)*)*
    };
}
