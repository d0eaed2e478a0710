//! Operations of the CPU device by size, with bellperson's (ec-gpu-gen's) multiexp beside the MSM.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::sync::Arc;

use bellwether_benches::{points, scalars, sparse_scalars};
use bellwether_core::curve::AffinePoint;
use bellwether_core::device::{CpuDevice, Device, Transform};
use bellwether_core::domain::{Domain, RootConvention};
use bellwether_core::key::Points;
use bellwether_core::r1cs::VariableSet;
use blstrs::{G1Affine, G2Affine};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ec_gpu_gen::multiexp_cpu::{FullDensity, multiexp_cpu};
use ec_gpu_gen::threadpool::Worker;
use ff::PrimeField;
use pollster::block_on;

fn transforms(criterion: &mut Criterion) {
    let device = CpuDevice::new();
    let mut group = criterion.benchmark_group("ntt");
    for log_size in [13, 17, 20] {
        let domain = device.domain(&Domain::new(log_size, RootConvention::Bellman).unwrap()).unwrap();
        let values = scalars(1 << log_size);
        let mut vector = device.upload(&values, values.len()).unwrap();
        for (name, transform) in [("forward", Transform::Forward), ("coset_inverse", Transform::CosetInverse)]
        {
            group.bench_function(BenchmarkId::new(name, log_size), |bencher| {
                bencher.iter(|| device.ntt(&domain, transform, &mut vector).unwrap());
            });
        }
    }
}

fn msm<P: AffinePoint>(criterion: &mut Criterion, log_sizes: &[u32]) {
    let device = CpuDevice::new();
    let mut group = criterion.benchmark_group(format!("msm_{}", P::GROUP));
    for &log_size in log_sizes {
        let len = 1 << log_size;
        let (factors, points) = (scalars(len), points::<P>(&device, len).unwrap());
        let vector = device.upload(&factors, len).unwrap();
        let bases = device.bases(&Points::from(points.clone())).unwrap();
        group.bench_function(BenchmarkId::new("bellwether", log_size), |bencher| {
            bencher.iter(|| block_on(device.msm::<P>(&bases, &vector)).unwrap());
        });
        let (worker, points) = (Worker::new(), Arc::new(points));
        let exponents = Arc::new(factors.iter().map(PrimeField::to_repr).collect::<Vec<_>>());
        group.bench_function(BenchmarkId::new("bellperson", log_size), |bencher| {
            bencher.iter(|| {
                let source = (Arc::clone(&points), 0);
                let sum = multiexp_cpu::<_, _, P, _>(&worker, source, FullDensity, Arc::clone(&exponents));
                black_box(sum.wait().unwrap())
            });
        });
    }
}

fn msm_g1(criterion: &mut Criterion) {
    msm::<G1Affine>(criterion, &[10, 13, 17]);
}

fn msm_g2(criterion: &mut Criterion) {
    msm::<G2Affine>(criterion, &[10, 13, 15]);
}

fn witness_operations(criterion: &mut Criterion) {
    let device = CpuDevice::new();
    let len = 1 << 17;
    let witness = device.upload_witness(&sparse_scalars(len).into_iter().collect()).unwrap();
    let variables = device.variables(&VariableSet::from_range(len, 0..len)).unwrap();
    let bases = device.bases(&Points::from(points::<G1Affine>(&device, len).unwrap())).unwrap();
    let selection = device.select(&variables, &witness).unwrap();
    let mut group = criterion.benchmark_group("sparse_witness");
    group.bench_function(BenchmarkId::new("select", 17), |bencher| {
        bencher.iter(|| device.select(&variables, &witness).unwrap());
    });
    group.bench_function(BenchmarkId::new("batch_add", 17), |bencher| {
        bencher.iter(|| block_on(device.batch_add::<G1Affine>(&bases, &selection)).unwrap());
    });
    group.bench_function(BenchmarkId::new("tail_msm", 17), |bencher| {
        bencher.iter(|| block_on(device.tail_msm::<G1Affine>(&bases, &selection)).unwrap());
    });
}

fn fixed_base(criterion: &mut Criterion) {
    let device = CpuDevice::new();
    let mut group = criterion.benchmark_group("fixed_base_mul");
    for log_size in [10, 14] {
        group.bench_function(BenchmarkId::new("G1", log_size), |bencher| {
            bencher.iter(|| points::<G1Affine>(&device, 1 << log_size).unwrap());
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = transforms, msm_g1, msm_g2, witness_operations, fixed_base
}
criterion_main!(benches);
