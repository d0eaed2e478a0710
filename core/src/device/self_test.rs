//! A known-answer test that a device passes before it is used.

use blstrs::Scalar;
use ff::Field;
use group::{Curve, Group};

use super::{Device, DeviceError, Transform, composed_coset_quotient};
use crate::curve::{AffinePoint, G1Affine, G2Affine};
use crate::domain::{Domain, RootConvention};
use crate::key::Points;
use crate::r1cs::{CompactWitness, SparseMatrix, VariableSet};

/// log₂ of the transform that is tested.
const LOG_SIZE: u32 = 6;

/// Runs every operation on small inputs and compares with what the definitions give: all transforms, the quotient
/// pointwise and by way of the coset, the sparse product, and in both groups MSM, selection, tail and batch
/// addition, fixed-base multiplication. Takes 15 to 50 ms on two CPU cores.
///
/// # Errors
/// The device's own error, or [`DeviceError::Mismatch`] with the operation whose answer is wrong.
pub async fn self_test<D: Device>(device: &D) -> Result<(), DeviceError> {
    let domain = Domain::new(LOG_SIZE, RootConvention::Bellman).map_err(|error| {
        DeviceError::Unsupported { what: "the self-test's domain".into(), why: error.to_string() }
    })?;
    // Large values with no structure: powers of 7/3.
    let ratio = Scalar::from(7u64) * Scalar::from(3u64).invert().unwrap_or(Scalar::ONE);
    let values: Vec<Scalar> = (1..=domain.size() as u64).map(|i| ratio.pow_vartime([i * i + 251])).collect();
    transforms(device, &domain, &values).await?;
    quotient(device, &values).await?;
    coset_quotient(device, &domain, &values).await?;
    sparse_product(device, &values).await?;
    group_operations::<D, G1Affine>(device, &values).await?;
    group_operations::<D, G2Affine>(device, &values).await
}

async fn transforms<D: Device>(device: &D, domain: &Domain, values: &[Scalar]) -> Result<(), DeviceError> {
    let resident = device.domain(domain)?;
    let evaluate = |at: Scalar| values.iter().rev().fold(Scalar::ZERO, |sum, value| sum * at + value);
    for (transform, back, operation, shift) in [
        (Transform::Forward, Transform::Inverse, "forward transform", Scalar::ONE),
        (Transform::CosetForward, Transform::CosetInverse, "coset transform", domain.shift()),
    ] {
        let mut vector = device.upload(values, values.len())?;
        device.ntt(&resident, transform, &mut vector)?;
        let expected: Vec<Scalar> = (0..domain.size()).map(|i| evaluate(shift * domain.element(i))).collect();
        compare(device, operation, &device.download(&vector).await?, &expected)?;
        device.ntt(&resident, back, &mut vector)?;
        compare(device, operation, &device.download(&vector).await?, values)?;
    }
    Ok(())
}

async fn quotient<D: Device>(device: &D, values: &[Scalar]) -> Result<(), DeviceError> {
    let (a, b, c) = (values, &values.iter().map(Scalar::square).collect::<Vec<_>>()[..], &values[1..]);
    let mut result = device.upload(a, a.len())?;
    let (b_vector, c_vector) = (device.upload(b, b.len())?, device.upload(c, a.len())?);
    let scale = Scalar::from(11u64);
    device.quotient(&mut result, &b_vector, Some(&c_vector), &scale)?;
    let c = |i: usize| c.get(i).copied().unwrap_or(Scalar::ZERO);
    let expected: Vec<Scalar> = (0..a.len()).map(|i| (a[i] * b[i] - c(i)) * scale).collect();
    compare(device, "quotient", &device.download(&result).await?, &expected)
}

async fn coset_quotient<D: Device>(
    device: &D,
    domain: &Domain,
    values: &[Scalar],
) -> Result<(), DeviceError> {
    let resident = device.domain(domain)?;
    let upload = |shift: usize| {
        let rotated: Vec<Scalar> = (0..values.len()).map(|i| values[(i + shift) % values.len()]).collect();
        device.upload(&rotated, rotated.len())
    };
    let scale = Scalar::from(13u64);
    let found = device.coset_quotient(&resident, upload(0)?, upload(1)?, Some(upload(2)?), &scale)?;
    let parts = composed_coset_quotient(device, &resident, upload(0)?, upload(1)?, Some(upload(2)?), &scale)?;
    compare(device, "coset quotient", &device.download(&found).await?, &device.download(&parts).await?)
}

/// A square matrix of three entries a row: coefficients 1, −1 and another.
async fn sparse_product<D: Device>(device: &D, values: &[Scalar]) -> Result<(), DeviceError> {
    let n = values.len();
    let columns = |row: usize| [row, (row + 7) % n, (row * 3 + 1) % n];
    let coefficients = [Scalar::ONE, -Scalar::ONE, values[0]];
    let matrix = SparseMatrix::from_rows(n, (0..n).map(|row| columns(row).into_iter().zip(coefficients)));
    let witness = mixed_witness(values);
    let product = device.spmv(&device.matrix(&matrix)?, &device.upload_witness(&witness)?, n + 1)?;
    let row_product = |row: usize| -> Scalar {
        columns(row).into_iter().zip(coefficients).map(|(column, c)| c * witness.get(column)).sum()
    };
    let expected: Vec<Scalar> = (0..n).map(row_product).chain([Scalar::ZERO]).collect();
    compare(device, "sparse product", &device.download(&product).await?, &expected)
}

/// A witness in which zeros, ones and the values alternate.
fn mixed_witness(values: &[Scalar]) -> CompactWitness {
    let mixed = values.iter().enumerate().map(|(i, value)| match i % 3 {
        0 => Scalar::ZERO,
        1 => Scalar::ONE,
        _ => *value,
    });
    mixed.collect()
}

async fn group_operations<D: Device, P: AffinePoint>(
    device: &D,
    values: &[Scalar],
) -> Result<(), DeviceError> {
    // The set leaves out every fifth variable.
    let witness = mixed_witness(values);
    let words = (0..values.len()).step_by(5).fold(u64::MAX, |word, i| word & !(1 << i));
    let variables = VariableSet::from_words(values.len(), vec![words]);

    // The multiples of the generator from 0 on.
    let mut multiple = P::Projective::identity();
    let points: Vec<P> = (0..values.len())
        .map(|_| {
            let this = multiple.to_affine();
            multiple += &P::generator();
            this
        })
        .collect();
    let all = device.bases(&Points::from(points.clone()))?;
    let scalars = device.upload(values, values.len())?;
    let multiples = device.fixed_base_mul(&points[2], &scalars).await?;
    // A few by themselves, all by their sum.
    let multiples_of_two = |value: Scalar| (points[2] * value).to_affine();
    for (found, value) in multiples.iter().zip(values).step_by(17) {
        compare_points::<D, P>(device, "fixed-base multiplication", *found, multiples_of_two(*value))?;
    }
    let sum = multiples.iter().fold(P::Projective::identity(), |sum, multiple| sum + multiple).to_affine();
    compare_points::<D, P>(device, "fixed-base multiplication", sum, multiples_of_two(values.iter().sum()))?;
    let sum = device.msm(&all, &scalars).await?;
    let times = |exponent: Scalar| (P::generator() * exponent).to_affine();
    let weight = |terms: &mut dyn Iterator<Item = (usize, Scalar)>| -> Scalar {
        terms.map(|(i, scalar)| Scalar::from(i as u64) * scalar).sum()
    };
    let expected = times(weight(&mut values.iter().copied().enumerate()));
    compare_points::<D, P>(device, "msm", sum.to_affine(), expected)?;

    let members: Vec<usize> = variables.iter().collect();
    let chosen = device.bases(&Points::from(members.iter().map(|&i| points[i]).collect::<Vec<P>>()))?;
    let selection = device.select(&device.variables(&variables)?, &device.upload_witness(&witness)?)?;
    let (ones, tail) = (device.batch_add(&chosen, &selection), device.tail_msm(&chosen, &selection));
    let (ones, tail) = (ones.await?.to_affine(), tail.await?.to_affine());
    let of_kind = |is_one: bool| {
        members
            .iter()
            .map(|&i| (i, witness.get(i)))
            .filter(move |(_, value)| (*value == Scalar::ONE) == is_one)
    };
    compare_points::<D, P>(device, "batch addition", ones, times(weight(&mut of_kind(true))))?;
    compare_points::<D, P>(device, "tail msm", tail, times(weight(&mut of_kind(false))))
}

fn compare<D: Device>(
    device: &D,
    operation: &'static str,
    found: &[Scalar],
    expected: &[Scalar],
) -> Result<(), DeviceError> {
    let differs = |i: &usize| found.get(*i) != expected.get(*i);
    match (0..found.len().max(expected.len())).find(differs) {
        None => Ok(()),
        Some(index) => Err(mismatch(device, operation, index)),
    }
}

fn compare_points<D: Device, P: AffinePoint>(
    device: &D,
    operation: &'static str,
    found: P,
    expected: P,
) -> Result<(), DeviceError> {
    if found == expected { Ok(()) } else { Err(mismatch(device, operation, 0)) }
}

fn mismatch<D: Device>(device: &D, operation: &'static str, index: usize) -> DeviceError {
    DeviceError::Mismatch {
        operation,
        index,
        first: device.info().to_string(),
        second: "the known answer".into(),
    }
}
