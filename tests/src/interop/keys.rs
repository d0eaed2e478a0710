//! Keys: our set-up against bellperson's, and files written and read by either.

use bellperson::groth16::{Parameters, generate_parameters};
use bellwether_core::device::Device;
use bellwether_core::groth16::{Generators, SetupError, Trapdoor, generate_key};
use bellwether_core::key::{CheckPolicy, Checks, ProvingKey, ReadOptions};
use bellwether_core::r1cs::{Circuit, R1cs, SynthesisError};
use blstrs::{Bls12, G1Projective, G2Projective, Scalar};
use ff::Field;
use group::{Curve, Group};
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Generators and trapdoor of a set-up that everybody knows.
#[derive(Clone, Copy, Debug)]
pub struct KnownSetup {
    g1: G1Projective,
    g2: G2Projective,
    /// α, β, γ, δ, τ.
    secrets: [Scalar; 5],
}

impl KnownSetup {
    /// Drawn from a seed.
    pub fn from_seed(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        KnownSetup {
            g1: G1Projective::random(&mut rng),
            g2: G2Projective::random(&mut rng),
            secrets: std::array::from_fn(|_| Scalar::random(&mut rng)),
        }
    }

    /// Our key.
    pub fn ours<D: Device>(&self, device: &D, r1cs: &R1cs) -> Result<ProvingKey, SetupError> {
        let [alpha, beta, gamma, delta, tau] = self.secrets;
        let generators = Generators { g1: self.g1.to_affine(), g2: self.g2.to_affine() };
        let trapdoor = Trapdoor::new(alpha, beta, gamma, delta, tau);
        pollster::block_on(generate_key(device, r1cs, &trapdoor, &generators))
    }

    /// bellperson's parameters.
    pub fn bellpersons<C: Circuit<Scalar>>(&self, circuit: C) -> Result<Parameters<Bls12>, SynthesisError> {
        let [alpha, beta, gamma, delta, tau] = self.secrets;
        generate_parameters::<Bls12, _>(circuit, self.g1, self.g2, alpha, beta, gamma, delta, tau)
    }
}

/// The file of our key.
pub fn file_of(key: &ProvingKey) -> Vec<u8> {
    let mut bytes = Vec::new();
    key.write(&mut bytes).unwrap();
    bytes
}

/// Our key as bellperson reads it from our file.
pub fn read_by_bellperson(key: &ProvingKey, checked: bool) -> Parameters<Bls12> {
    Parameters::read(&file_of(key)[..], checked).unwrap()
}

/// Both keys are the same, and so are their files, whoever reads them. `checked` has the readers check that every
/// point lies in its subgroup, which takes long for a large key.
pub fn assert_same(ours: &ProvingKey, theirs: &Parameters<Bls12>, checked: bool) {
    let our_file = file_of(ours);
    let mut their_file = Vec::new();
    theirs.write(&mut their_file).unwrap();
    assert!(our_file == their_file, "files of the same key");
    assert!(*theirs == Parameters::read(&our_file[..], checked).unwrap(), "our file, read by bellperson");
    assert_read_back(ours, &their_file, checked);
}

/// We read the file into memory and map it, and what we read is `key`.
fn assert_read_back(key: &ProvingKey, file: &[u8], checked: bool) {
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&path, file).unwrap();
    let (checks, policy) =
        if checked { (Checks::Full, CheckPolicy::Always) } else { (Checks::CurveOnly, CheckPolicy::Never) };
    let options = ReadOptions { checks: policy, ..ReadOptions::default() };
    for read in [
        ProvingKey::from_bytes(file, checks),
        ProvingKey::read(&path, &options),
        ProvingKey::map(&path, &options),
    ] {
        let read = read.unwrap();
        assert_eq!(read.vk, key.vk);
        assert_eq!(read.trailing_bytes(), 0);
        let g1 =
            |key: &ProvingKey| [&key.h, &key.l, &key.a, &key.b_g1].map(|query| query.to_shared().unwrap());
        assert!(g1(&read) == g1(key), "queries in G1");
        assert!(read.b_g2.to_shared().unwrap() == key.b_g2.to_shared().unwrap(), "query in G2");
    }
}
