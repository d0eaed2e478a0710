//! CHECKS 20: what was secret is cleared when it is dropped. The memory of the host build is the process's own, so that
//! everything can be looked at: buffers in use, the stacks and shared memory of threads that carried kernels out, and what
//! the allocator has back.
#![cfg(target_os = "linux")]

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bellwether_circuits::chain::CubicChain;
use bellwether_core::curve::scalar_words;
use bellwether_core::device::{CpuDevice, Device};
use bellwether_core::groth16::{Assignment, Session};
use bellwether_core::r1cs::Recorder;
use bellwether_cuda::CudaDevice;
use bellwether_tests::conformance::inputs::{scalars, upload};
use bellwether_tests::conformance::proofs::prove;
use bellwether_tests::cuda::{open, options};
use bellwether_tests::interop::keys::KnownSetup;
use blstrs::Scalar;

/// Scalars to look for. What is kept is the complement of their words, so that this is not found itself.
struct Wanted(HashSet<[u64; 4]>);

impl Wanted {
    fn new(values: &[Scalar]) -> Wanted {
        Wanted(values.iter().map(|value| complement(&packed(value))).collect())
    }

    /// How many of them are somewhere in this process's memory, as packed words: Montgomery form, on the host and on the
    /// device.
    fn found(&self) -> usize {
        let memory = File::open("/proc/self/mem").expect("Linux has it");
        let maps = fs::read_to_string("/proc/self/maps").expect("Linux has it");
        let mut found = HashSet::new();
        for line in maps.lines().filter(|line| line.contains(" rw")) {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let (start, end) = range.expect("a range");
            let [start, end] =
                [start, end].map(|address| u64::from_str_radix(address, 16).expect("hexadecimal"));
            self.search(&memory, start, end, &mut found);
        }
        found.len()
    }

    /// How many are found when the device has nothing more to do.
    fn left(&self, device: &CudaDevice) -> usize {
        finish(device);
        self.found()
    }

    fn search(&self, memory: &File, start: u64, end: u64, found: &mut HashSet<[u64; 4]>) {
        const BLOCK: u64 = 1 << 20;
        let firsts: HashSet<u64> = self.0.iter().map(|words| words[0]).collect();
        let mut block = vec![0; BLOCK as usize];
        // Blocks overlap by three words. A mapping that cannot be read is a device's.
        for at in (start..end).step_by((BLOCK - 24) as usize) {
            let len = BLOCK.min(end - at) as usize;
            if memory.read_exact_at(&mut block[..len], at).is_err() {
                break;
            }
            let word = |i: usize| !u64::from_ne_bytes(block[i..i + 8].try_into().expect("eight bytes"));
            for i in (0..len.saturating_sub(31)).step_by(8) {
                if firsts.contains(&word(i)) {
                    let words = [0, 8, 16, 24].map(|offset| word(i + offset));
                    if self.0.contains(&words) {
                        found.insert(words);
                    }
                }
            }
        }
        // It holds what the last read one held.
        wipe(&mut block, 0);
    }
}

fn packed(value: &Scalar) -> [u64; 4] {
    let words = scalar_words(std::slice::from_ref(value));
    std::array::from_fn(|i| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32)
}

fn complement(words: &[u64; 4]) -> [u64; 4] {
    words.map(|word| !word)
}

/// Overwrites values so that the compiler does not find it pointless.
fn wipe<T: Copy>(values: &mut Vec<T>, with: T) {
    values.fill(with);
    std::hint::black_box(values);
}

fn finish(device: &CudaDevice) {
    device.testing().finish().expect("the device works");
}

#[test]
fn vectors_are_cleared() {
    let device = open(&options());
    let mut values = scalars(5000, 91);
    let wanted = Wanted::new(&values);
    let vector = upload(&device, &values);
    wipe(&mut values, Scalar::from(1));
    finish(&device);
    assert_eq!(wanted.found(), 5000, "in the buffer: the search finds");
    let downloaded = device.download(&vector);
    drop(vector);
    drop(pollster::block_on(downloaded).expect("download"));
    let left = wanted.left(&device);
    assert!(left <= 4, "{left} of 5000 scalars are left");
}

/// The witness of a proof, the session and its device being alive: nothing is left but what the host's stack kept of a
/// few values.
#[test]
fn a_proof_leaves_no_witness() {
    let device = Arc::new(open(&options()));
    // A circuit that keeps no values by itself.
    let circuit = CubicChain::filling(12, scalars(1, 92)[0]);
    let r1cs = Recorder::record(circuit.clone()).expect("recorded");
    let key = KnownSetup::from_seed(93).ours(&CpuDevice::new(), &r1cs).expect("a key");
    let session = Session::for_circuit(Arc::clone(&device), &key, Arc::new(r1cs)).expect("a session");
    let collect = || Assignment::collect(circuit.clone()).expect("a witness");
    let (wanted, len, before) = {
        let assignment = collect();
        let witness = assignment.witness();
        // A vector that grows leaves copies behind.
        let mut values = Vec::with_capacity(witness.len());
        values.extend(
            (0..witness.len())
                .map(|variable| witness.get(variable))
                .filter(|value| packed(value).iter().all(|&word| word.count_ones() > 8)),
        );
        let wanted = Wanted::new(&values);
        let len = wanted.0.len();
        wipe(&mut values, Scalar::from(1));
        assert!(len > 500, "{len} values");
        assert_eq!(wanted.found(), len, "in the witness: the search finds");
        drop(assignment);
        // The circuit's own few.
        let before = wanted.found();
        assert!(before < 10, "{before} of {len} values are left by synthesis");
        prove(&session, &collect());
        (wanted, len, before)
    };
    let left = wanted.left(&device);
    assert!(left <= before + len / 100, "{left} of {len} values are left, {before} were there before");
}
