//! `cargo xtask timing`: every operation and whole proofs on one device, checked, then timed, as one table.
//!
//! One program without a need for a compiler, a network or files beside it, so that it runs where there is only a GPU.

// A program for a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bellwether::bellman::BellmanCircuit;
use bellwether::{Blinding, Checks, Circuit, Prover, ProvingKey};
use bellwether_circuits::sapling::{self, Parameters};
use bellwether_core::curve::{AffinePoint, G1Affine, G2Affine, Group};
use bellwether_core::device::{CpuDevice, Device, Transform};
use bellwether_core::domain::{Domain, RootConvention};
use bellwether_core::driver::OpenedDevice;
use bellwether_core::key::Points;
use bellwether_core::r1cs::{CompactWitness, VariableSet};
use bellwether_shaders::Tier;
use bellwether_wgpu::{PipelineCachePlace, WgpuDriver, WgpuOptions};
use blstrs::Scalar;
use ff::Field;
use group::Curve;
use pollster::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const USAGE: &str =
    "usage: timing [--device cpu|wgpu[:N]] [--tier u64|u32] [--max LOG_SIZE] [--only PREFIX] [--csv FILE]
Checks every result, then takes the median, the least and the greatest of five runs after a warm-up.";

/// Runs behind each figure.
const RUNS: usize = 5;

/// What the command line asks for.
struct Arguments {
    device: String,
    tier: Option<Tier>,
    max: u32,
    only: String,
    csv: Option<String>,
}

impl Arguments {
    fn parse() -> Result<Arguments, String> {
        let mut parsed =
            Arguments { device: "cpu".into(), tier: None, max: 24, only: String::new(), csv: None };
        let mut words = std::env::args().skip(1);
        while let Some(flag) = words.next() {
            let value = words.next().ok_or_else(|| format!("{flag} needs a value\n{USAGE}"))?;
            match &*flag {
                "--device" => parsed.device = value,
                "--tier" => {
                    let tier = Tier::ALL.into_iter().find(|tier| tier.name() == value);
                    parsed.tier = Some(tier.ok_or_else(|| format!("no tier {value:?}\n{USAGE}"))?);
                }
                "--max" => parsed.max = value.parse().map_err(|error| format!("--max {value}: {error}"))?,
                "--only" => parsed.only = value,
                "--csv" => parsed.csv = Some(value),
                _ => return Err(format!("no option {flag:?}\n{USAGE}")),
            }
        }
        Ok(parsed)
    }
}

/// The rows, printed as they come.
struct Table {
    device: String,
    only: String,
    rows: Vec<String>,
}

impl Table {
    fn wants(&self, operation: &str) -> bool {
        operation.starts_with(&self.only)
    }

    /// Warms up, measures and prints; `run` says how long it took.
    fn time(&mut self, operation: &str, mut run: impl FnMut() -> Duration) {
        if !self.wants(operation) {
            return;
        }
        let warm_up = Instant::now();
        while warm_up.elapsed() < Duration::from_millis(300) {
            run();
        }
        let mut times: Vec<f64> = (0..RUNS).map(|_| run().as_secs_f64() * 1e3).collect();
        times.sort_by(f64::total_cmp);
        self.row(operation, times[RUNS / 2], times[0], times[RUNS - 1]);
    }

    fn row(&mut self, operation: &str, median: f64, low: f64, high: f64) {
        println!("{:<10} {operation:<28} {median:>10.3} {low:>10.3} {high:>10.3}", self.device);
        self.rows.push(format!("{}/{operation},{median:.4},{low:.4},{high:.4}", self.device));
    }
}

/// Time on the host until the result is there.
fn wall<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = run();
    (value, start.elapsed())
}

/// Time on the device, between marks.
fn on_device<D: Device>(device: &D, enqueue: impl FnOnce()) -> Duration {
    let from = device.mark().unwrap();
    enqueue();
    let to = device.mark().unwrap();
    block_on(device.elapsed(&from, &to)).unwrap()
}

fn main() -> ExitCode {
    let arguments = match Arguments::parse() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let mut table =
        Table { device: arguments.device.clone(), only: arguments.only.clone(), rows: Vec::new() };
    println!("{:<10} {:<28} {:>10} {:>10} {:>10}", "device", "operation", "median ms", "low", "high");
    if arguments.device == "cpu" {
        operations(&mut table, &Arc::new(CpuDevice::new()), arguments.max);
    } else if let Some(ordinal) = wgpu_ordinal(&arguments.device) {
        let options = WgpuOptions { tier: arguments.tier, ..WgpuOptions::default() };
        if let Some(tier) = arguments.tier {
            table.device += &format!("-{}", tier.name());
        }
        cold_starts(&mut table, ordinal, &options);
        match WgpuDriver::with_options(options).open_device(ordinal) {
            Ok(device) => {
                operations(&mut table, &Arc::new(device.clone()), arguments.max);
                let (longest, submits) = (device.testing().longest_submit(), device.testing().submits());
                println!("longest of {submits} submits: {:.1} ms", longest.as_secs_f64() * 1e3);
            }
            Err(error) => {
                eprintln!("{}: {error}", arguments.device);
                return ExitCode::FAILURE;
            }
        }
    } else {
        eprintln!("no device {:?}\n{USAGE}", arguments.device);
        return ExitCode::from(2);
    }
    if let Some(file) = arguments.csv {
        let csv = format!("benchmark,median_ms,low_ms,high_ms\n{}\n", table.rows.join("\n"));
        if let Err(error) = std::fs::write(&file, csv) {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn wgpu_ordinal(device: &str) -> Option<usize> {
    match device.strip_prefix("wgpu")? {
        "" => Some(0),
        ordinal => ordinal.strip_prefix(':')?.parse().ok(),
    }
}

/// From nothing to a device that has passed its self-test, without and with compiled programs on disk.
fn cold_starts(table: &mut Table, ordinal: usize, options: &WgpuOptions) {
    let folder = std::env::temp_dir().join(format!("bellwether-cold-start-{}", std::process::id()));
    for name in ["cold start", "cold start cached"] {
        if !table.wants(name) {
            continue;
        }
        let options = WgpuOptions { cache: PipelineCachePlace::Directory(folder.clone()), ..options.clone() };
        let (opened, time) = wall(|| {
            let device = WgpuDriver::with_options(options).open_device(ordinal)?;
            block_on(OpenedDevice::self_test(&device))?;
            device.start_up()
        });
        match opened {
            Ok(_) => {
                table.row(name, time.as_secs_f64() * 1e3, time.as_secs_f64() * 1e3, time.as_secs_f64() * 1e3)
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

fn operations<D: Device>(table: &mut Table, device: &Arc<D>, max: u32) {
    let sizes = |of: &'static [u32]| of.iter().copied().filter(move |size| *size <= max);
    for log_size in sizes(&[20, 22, 24, 26]) {
        ntt(table, &**device, log_size);
    }
    for log_size in sizes(&[13, 16, 18, 20, 22, 24]) {
        msm::<D, G1Affine>(table, &**device, log_size);
    }
    for log_size in sizes(&[16, 18, 20, 22]) {
        msm::<D, G2Affine>(table, &**device, log_size);
    }
    proofs(table, device);
}

fn scalars(len: usize, seed: u64) -> Vec<Scalar> {
    const PART: usize = 1 << 12;
    use rayon::prelude::*;
    let mut scalars = vec![Scalar::ZERO; len];
    scalars.par_chunks_mut(PART).enumerate().for_each(|(part, out)| {
        let mut rng = StdRng::seed_from_u64(seed << 32 | part as u64);
        out.iter_mut().for_each(|scalar| *scalar = Scalar::random(&mut rng));
    });
    scalars
}

fn ntt<D: Device>(table: &mut Table, device: &D, log_size: u32) {
    let names = ["ntt", "coset quotient"].map(|name| format!("{name}/{log_size}"));
    if !names.iter().any(|name| table.wants(name)) {
        return;
    }
    let domain = Domain::new(log_size, RootConvention::Bellman).unwrap();
    let resident = device.domain(&domain).unwrap();
    let values = scalars(domain.size(), 1);
    let mut vector = device.upload(&values, values.len()).unwrap();

    // A sampled output by Horner's rule, and the way back.
    device.ntt(&resident, Transform::Forward, &mut vector).unwrap();
    let found = block_on(device.download(&vector)).unwrap();
    let at = domain.element(domain.size() / 3);
    let expected = values.iter().rev().fold(Scalar::ZERO, |sum, value| sum * at + value);
    assert_eq!(found[domain.size() / 3], expected, "ntt/{log_size}");
    device.ntt(&resident, Transform::Inverse, &mut vector).unwrap();
    assert_eq!(block_on(device.download(&vector)).unwrap()[..], values[..], "ntt/{log_size}, back");

    table.time(&names[0], || {
        on_device(device, || device.ntt(&resident, Transform::Forward, &mut vector).unwrap())
    });
    let mut vectors = Some(device.upload(&values, values.len()).unwrap());
    table.time(&names[1], || {
        let a = vectors.take().unwrap();
        let b = device.upload(&values, values.len()).unwrap();
        let mut quotient = None;
        let time = on_device(device, || {
            quotient = Some(device.coset_quotient(&resident, a, b, None, &Scalar::from(3u64)).unwrap());
        });
        vectors = quotient;
        time
    });
}

fn msm<D: Device, P: AffinePoint>(table: &mut Table, device: &D, log_size: u32) {
    let group = match P::GROUP {
        Group::G1 => "g1",
        Group::G2 => "g2",
    };
    let name = |operation: &str| format!("{group} {operation}/{log_size}");
    let (uniform, equal, bits) = (name("msm"), name("msm equal"), name("msm bits"));
    let (but_one, add) = (name("msm ones but one"), name("batch add"));
    if ![&uniform, &equal, &bits, &but_one, &add].iter().any(|name| table.wants(name)) {
        return;
    }
    let len = 1usize << log_size;
    let logarithms = scalars(len, 2);
    let uploaded = device.upload(&logarithms, len).unwrap();
    let points = block_on(device.fixed_base_mul(&P::generator(), &uploaded)).unwrap();
    let (bases, resident) = wall(|| {
        let bases = device.bases(&Points::from(points)).unwrap();
        on_device(device, || {});
        bases
    });
    if table.wants(&uniform) {
        println!("{:<10} {group} bases/{log_size}: resident in {:.0} ms", "", resident.as_secs_f64() * 1e3);
    }

    let mut rng = StdRng::seed_from_u64(3);
    let mut one_other = vec![Scalar::ONE; len];
    one_other[len / 3] = Scalar::random(&mut rng);
    let witness: Vec<Scalar> = scalars(len, 4)
        .into_iter()
        .map(|scalar| match rng.gen_range(0..100) {
            0..45 => Scalar::ZERO,
            45..90 => Scalar::ONE,
            _ => scalar,
        })
        .collect();
    for (name, values) in [
        (uniform, scalars(len, 5)),
        (equal, vec![scalars(1, 6)[0]; len]),
        (but_one, one_other),
        (bits, witness.clone()),
    ] {
        if !table.wants(&name) {
            continue;
        }
        let vector = device.upload(&values, len).unwrap();
        let exponent: Scalar = values.iter().zip(&logarithms).map(|(s, k)| s * k).sum();
        let expected = (P::generator() * exponent).to_affine();
        table.time(&name, || {
            let (sum, time) = wall(|| block_on(device.msm::<P>(&bases, &vector)).unwrap());
            assert_eq!(sum.to_affine(), expected, "{name}");
            time
        });
    }
    if table.wants(&add) {
        let set = VariableSet::from_range(len, 0..len);
        let compact: CompactWitness = witness.iter().copied().collect();
        let variables = device.variables(&set).unwrap();
        let selection = device.select(&variables, &device.upload_witness(&compact).unwrap()).unwrap();
        let ones = witness.iter().zip(&logarithms).filter(|(value, _)| **value == Scalar::ONE);
        let expected = (P::generator() * ones.map(|(_, k)| k).sum::<Scalar>()).to_affine();
        table.time(&add, || {
            let (sum, time) = wall(|| block_on(device.batch_add::<P>(&bases, &selection)).unwrap());
            assert_eq!(sum.to_affine(), expected, "{add}");
            time
        });
    }
}

fn proofs<D: Device>(table: &mut Table, device: &Arc<D>) {
    if ["sapling output", "sapling spend"].iter().any(|name| table.wants(name)) {
        let parameters = Parameters::ceremony();
        let (blank, instance) = (sapling::blank_output(), sapling::output(1).circuit);
        let circuits = (BellmanCircuit(blank), BellmanCircuit(instance));
        proof(table, device, "sapling output", &parameters.output, circuits);
        let (blank, instance) = (sapling::blank_spend(), sapling::spend(1).circuit);
        let circuits = (BellmanCircuit(blank), BellmanCircuit(instance));
        proof(table, device, "sapling spend", &parameters.spend, circuits);
    }
}

/// A warm proof after synthesis, verification included.
fn proof<D: Device, C>(table: &mut Table, device: &Arc<D>, name: &str, parameters: &[u8], circuits: (C, C))
where
    C: Circuit<Scalar> + Clone + Send,
{
    if !table.wants(name) {
        return;
    }
    let (blank, instance) = circuits;
    let key = ProvingKey::from_bytes(parameters, Checks::CurveOnly).unwrap();
    let opened: Arc<dyn OpenedDevice> = Arc::clone(device) as Arc<dyn OpenedDevice>;
    let (prover, resident) = wall(|| Prover::new(opened, &key, blank).unwrap());
    println!("{:<10} {name}: resident in {:.0} ms", "", resident.as_secs_f64() * 1e3);
    let blinding = || Blinding::new(Scalar::from(3u64), Scalar::from(5u64));
    let mut last = None;
    table.time(name, || {
        let proven = prover.prove_with(instance.clone(), &blinding()).unwrap();
        let time = proven.times.total - proven.times.synth;
        last = Some(proven.times);
        time
    });
    if let Some(times) = last {
        println!("{:<10} {times:?}", "");
    }
}
