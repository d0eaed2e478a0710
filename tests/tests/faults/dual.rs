//! `Dual` finds a planted difference and names operation and index.

use bellwether_core::curve::{AffinePoint, G1Affine, G2Affine};
use bellwether_core::device::{CpuDevice, Device, DeviceError, Dual, Transform};
use bellwether_core::domain::{Domain, RootConvention};
use bellwether_core::key::Points;
use bellwether_core::r1cs::{Recorder, VariableSet};
use bellwether_tests::conformance::inputs::{points, scalars, set_of, witness, witness_values};
use bellwether_tests::faulty::{Fault, Faulty, Operation, When};
use bellwether_tests::program::Program;
use blstrs::Scalar;
use pollster::block_on;

const LOG_SIZE: u32 = 5;
const SIZE: usize = 1 << LOG_SIZE;

/// Which device of the pair lies.
#[derive(Clone, Copy, Debug)]
enum Side {
    First,
    Second,
}

/// Runs `work` on a pair of which one device is wrong in every result of `operation`.
fn outcome(side: Side, operation: Operation, index: usize, work: impl Work) -> Result<(), DeviceError> {
    let liar = Faulty::new(CpuDevice::new()).named("the liar");
    liar.arm(When::Every(operation), Fault::Wrong(index));
    match side {
        Side::First => work.run(&Dual::new(liar, CpuDevice::new())),
        Side::Second => work.run(&Dual::new(CpuDevice::new(), liar)),
    }
}

/// Work for any device. A trait, because closures cannot be generic.
trait Work: Copy {
    fn run<D: Device>(self, device: &D) -> Result<(), DeviceError>;
}

/// The difference is named, on whichever side it is; without a fault there is none.
fn check(operation: Operation, index: usize, name: &str, expected_index: usize, work: impl Work) {
    work.run(&Dual::new(CpuDevice::new(), CpuDevice::new())).expect("no difference");
    work.run(&Dual::new(CpuDevice::new(), Faulty::new(CpuDevice::new()))).expect("no difference");
    for side in [Side::First, Side::Second] {
        let error = outcome(side, operation, index, work).expect_err("a difference");
        let message = error.to_string();
        match error {
            DeviceError::Mismatch { operation, index, first, second } => {
                assert_eq!((operation, index), (name, expected_index), "{side:?}");
                let (liar, honest) = match side {
                    Side::First => (first, second),
                    Side::Second => (second, first),
                };
                assert!(liar.contains("the liar") && !honest.contains("the liar"), "{message}");
            }
            other => assert_eq!(other.to_string(), "a mismatch", "{side:?}, {name}"),
        }
        assert!(message.contains(name) && message.contains(&format!("index {expected_index}")), "{message}");
    }
}

#[derive(Clone, Copy)]
struct Vectors;

impl Work for Vectors {
    fn run<D: Device>(self, device: &D) -> Result<(), DeviceError> {
        let vector = device.upload(&scalars(SIZE, 1), SIZE)?;
        block_on(device.download(&vector)).map(drop)
    }
}

#[derive(Clone, Copy)]
struct Transforms(Transform);

impl Work for Transforms {
    fn run<D: Device>(self, device: &D) -> Result<(), DeviceError> {
        let domain = device.domain(&Domain::new(LOG_SIZE, RootConvention::Bellman).expect("small"))?;
        device.ntt(&domain, self.0, &mut device.upload(&scalars(SIZE, 2), SIZE)?)
    }
}

#[derive(Clone, Copy)]
struct Quotients {
    on_coset: bool,
}

impl Work for Quotients {
    fn run<D: Device>(self, device: &D) -> Result<(), DeviceError> {
        let [mut a, b, c] = [1, 2, 3].map(|seed| device.upload(&scalars(SIZE, seed), SIZE));
        let (b, c, scale) = (b?, c?, Scalar::from(3));
        if self.on_coset {
            let domain = device.domain(&Domain::new(LOG_SIZE, RootConvention::Bellman).expect("small"))?;
            device.coset_quotient(&domain, a?, b, Some(c), &scale).map(drop)
        } else {
            device.quotient(a.as_mut().expect("uploaded"), &b, Some(&c), &scale)
        }
    }
}

#[derive(Clone, Copy)]
struct Products;

impl Work for Products {
    fn run<D: Device>(self, device: &D) -> Result<(), DeviceError> {
        let r1cs = Recorder::record(Program::satisfied(20, 2, 3).without_values()).expect("recorded");
        let matrix = device.matrix(&r1cs.a)?;
        let values = witness_values(r1cs.shape().num_variables(), (30, 30), 4);
        device.spmv(&matrix, &device.upload_witness(&witness(&values))?, SIZE).map(drop)
    }
}

#[derive(Clone, Copy)]
enum Sums {
    Msm,
    Tail,
    Ones,
    Multiples,
}

impl Sums {
    fn in_group<D: Device, P: AffinePoint>(self, device: &D) -> Result<(), DeviceError> {
        let bases = device.bases(&Points::from(points::<P>(SIZE, 5)))?;
        let set: VariableSet = set_of(2 * SIZE, |variable| variable % 2 == 0);
        let values = witness(&witness_values(2 * SIZE, (30, 30), 6));
        let selection = device.select(&device.variables(&set)?, &device.upload_witness(&values)?)?;
        let vector = device.upload(&scalars(SIZE, 7), SIZE)?;
        match self {
            Sums::Msm => block_on(device.msm::<P>(&bases, &vector)).map(drop),
            Sums::Tail => block_on(device.tail_msm::<P>(&bases, &selection)).map(drop),
            Sums::Ones => block_on(device.batch_add::<P>(&bases, &selection)).map(drop),
            Sums::Multiples => block_on(device.fixed_base_mul(&P::generator(), &vector)).map(drop),
        }
    }
}

impl Work for Sums {
    fn run<D: Device>(self, device: &D) -> Result<(), DeviceError> {
        self.in_group::<D, G2Affine>(device)?;
        self.in_group::<D, G1Affine>(device)
    }
}

#[test]
fn differences_of_vectors_are_named() {
    for index in [0, 1, 17, SIZE - 1] {
        check(Operation::Upload, index, "upload", index, Vectors);
        // The comparison within `upload` downloads, and so is the first to meet a wrong download.
        check(Operation::Download, index, "upload", index, Vectors);
        for transform in Transform::ALL {
            check(Operation::Ntt, index, "ntt", index, Transforms(transform));
        }
        check(Operation::Quotient, index, "quotient", index, Quotients { on_coset: false });
        check(Operation::CosetQuotient, index, "coset quotient", index, Quotients { on_coset: true });
        check(Operation::Spmv, index, "spmv", index, Products);
    }
}

#[test]
fn differences_of_points_are_named() {
    check(Operation::Msm, 9, "msm", 0, Sums::Msm);
    check(Operation::TailMsm, 9, "tail msm", 0, Sums::Tail);
    check(Operation::BatchAdd, 9, "batch addition", 0, Sums::Ones);
    for index in [0, 9, SIZE - 1] {
        check(Operation::FixedBaseMul, index, "fixed-base multiplication", index, Sums::Multiples);
    }
}

/// What is resident cannot be compared; a difference there shows at the first operation that uses it.
#[test]
fn differences_of_resident_values_show_where_they_are_used() {
    check(Operation::Domain, 3, "ntt", 3, Transforms(Transform::Forward));
    check(Operation::Domain, 3, "coset quotient", 3, Quotients { on_coset: true });
    check(Operation::Matrix, 3, "spmv", 3, Products);
    for (sums, name) in [(Sums::Tail, "tail msm"), (Sums::Ones, "batch addition")] {
        check(Operation::Bases, 3, name, 0, sums);
        check(Operation::Variables, 3, name, 0, sums);
        check(Operation::Select, 3, name, 0, sums);
    }
    check(Operation::Bases, 3, "msm", 0, Sums::Msm);
    let error = outcome(Side::Second, Operation::UploadWitness, 0, Products).expect_err("a difference");
    assert!(matches!(error, DeviceError::Mismatch { operation: "spmv", .. }), "{error}");
}

/// A download that is wrong later on: the first one is that of the comparison within `upload`.
#[test]
fn a_wrong_download_is_named() {
    let liar = Faulty::new(CpuDevice::new());
    // Calls: upload, download to compare it, download.
    liar.arm(When::Calls(vec![2]), Fault::Wrong(11));
    let error = Vectors.run(&Dual::new(CpuDevice::new(), liar)).expect_err("a difference");
    assert!(matches!(error, DeviceError::Mismatch { operation: "download", index: 11, .. }), "{error}");
}

/// An error of either device is passed on as it is.
#[test]
fn errors_of_either_device_are_passed_on() {
    for operation in [Operation::Upload, Operation::Msm, Operation::Select] {
        let lost = DeviceError::DeviceLost { reason: format!("at {operation:?}") };
        let liar = Faulty::new(CpuDevice::new());
        liar.arm(When::Every(operation), Fault::Error(lost.clone()));
        assert_eq!(Sums::Msm.run(&Dual::new(CpuDevice::new(), liar)), Err(lost));
    }
}
