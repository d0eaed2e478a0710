//! A circuit to prove: with its key resident on a device, and with all who judge the proof.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bellperson::groth16 as theirs;
use bellwether::bellman::{BellmanCircuit, BellmanScalar, public_inputs_from_bellman};
use bellwether::{
    Bls12, Checks, Circuit, OpenedDevice, ParameterDigest, ProveError, Proven, Prover, ProvingKey, Scalar,
    SelectOptions,
};
use bellwether_circuits::sapling::{self, ConsensusRules, Parameters};
use rand_core::{OsRng, RngCore};

use crate::console::Console;
use crate::error::Error;

/// The circuits of `demo` and `bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CircuitName {
    SaplingOutput,
    SaplingSpend,
}

impl CircuitName {
    pub(crate) const ALL: [CircuitName; 2] = [CircuitName::SaplingOutput, CircuitName::SaplingSpend];

    /// As the command line and JSON have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CircuitName::SaplingOutput => "sapling-output",
            CircuitName::SaplingSpend => "sapling-spend",
        }
    }

    fn digest(self) -> ParameterDigest {
        match self {
            CircuitName::SaplingOutput => ParameterDigest::SAPLING_OUTPUT,
            CircuitName::SaplingSpend => ParameterDigest::SAPLING_SPEND,
        }
    }

    fn file(self, parameters: &Parameters) -> &[u8] {
        match self {
            CircuitName::SaplingOutput => &parameters.output,
            CircuitName::SaplingSpend => &parameters.spend,
        }
    }
}

/// A device and the ceremony's parameters: what subjects are made from.
pub(crate) struct Workshop {
    pub(crate) device: Arc<dyn OpenedDevice>,
    parameters: Parameters,
    rules: ConsensusRules,
}

impl Workshop {
    pub(crate) fn open(options: &SelectOptions, console: &Console) -> Result<Self, Error> {
        let activity = console.spinner("looking for a device");
        let selected = bellwether::select(&bellwether::drivers(), options).map_err(Error::Select)?;
        drop(activity);
        let parameters = Parameters::ceremony();
        let rules = ConsensusRules::new(&parameters).map_err(embedded)?;
        Ok(Workshop { device: selected.device, parameters, rules })
    }

    /// Reads a circuit's key and makes it resident.
    pub(crate) fn subject(&self, circuit: CircuitName, console: &Console) -> Result<Subject<'_>, Error> {
        let name = circuit.name();
        let file = circuit.file(&self.parameters);
        let activity = console.spinner(format!("{name}: reading and checking the key"));
        let start = Instant::now();
        let key = read_key(circuit, file)?;
        let key_load = start.elapsed();
        drop(activity);

        let _activity = console.spinner(format!("{name}: recording the circuit, making the key resident"));
        let start = Instant::now();
        let prover = match circuit {
            CircuitName::SaplingOutput => self.prover(&key, sapling::blank_output()),
            CircuitName::SaplingSpend => self.prover(&key, sapling::blank_spend()),
        };
        let prover = prover.map_err(|source| Error::Prove { circuit: name, source })?;
        let resident = start.elapsed();
        let vk = theirs::VerifyingKey::read(file).map_err(embedded)?;
        Ok(Subject {
            circuit,
            prover,
            bellperson: theirs::prepare_verifying_key(&vk),
            rules: &self.rules,
            key,
            key_load,
            resident,
        })
    }

    fn prover<C>(&self, key: &ProvingKey, circuit: C) -> Result<Prover, ProveError>
    where
        BellmanCircuit<C>: Circuit<Scalar>,
    {
        Prover::new(Arc::clone(&self.device), key, BellmanCircuit(circuit))
    }
}

/// The file's points need no check of their own where its digest is the ceremony's.
fn read_key(circuit: CircuitName, file: &[u8]) -> Result<ProvingKey, Error> {
    let key = ProvingKey::from_bytes(file, Checks::CurveOnly).map_err(embedded)?;
    if key.digest() == Some(circuit.digest()) {
        return Ok(key);
    }
    let name = circuit.name();
    Err(embedded(format!("the digest of the {name} parameters is not the ceremony's")))
}

fn embedded(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Embedded(error.into())
}

/// A circuit with its key resident.
pub(crate) struct Subject<'a> {
    pub(crate) circuit: CircuitName,
    pub(crate) prover: Prover,
    pub(crate) key: ProvingKey,
    /// Decoding the parameter file, its digest included.
    pub(crate) key_load: Duration,
    /// Recording the circuit and making key and matrices resident.
    pub(crate) resident: Duration,
    bellperson: theirs::PreparedVerifyingKey<Bls12>,
    rules: &'a ConsensusRules,
}

/// A proof, and what others say of it.
pub(crate) struct Judged {
    pub(crate) seed: u64,
    pub(crate) proven: Proven,
    pub(crate) verdicts: Vec<Verdict>,
}

impl Judged {
    /// Whether all accept the proof.
    pub(crate) fn accepted(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.outcome.is_ok())
    }
}

/// What a verifier says of a proof.
pub(crate) struct Verdict {
    pub(crate) verifier: &'static str,
    /// Or why not.
    pub(crate) outcome: Result<(), String>,
}

impl Subject<'_> {
    /// Proves the instance with this seed and has the proof judged.
    pub(crate) fn prove(&self, seed: u64) -> Result<Judged, Error> {
        match self.circuit {
            CircuitName::SaplingOutput => {
                let instance = sapling::output(seed);
                let proven = self.prove_circuit(instance.circuit.clone())?;
                let consensus = self.rules.check_output(&instance, &proven.proof.to_bytes());
                Ok(self.judge(seed, proven, &instance.public_inputs(), consensus))
            }
            CircuitName::SaplingSpend => {
                let instance = sapling::spend(seed);
                let proven = self.prove_circuit(instance.circuit.clone())?;
                let consensus = self.rules.check_spend(&instance, &proven.proof.to_bytes());
                Ok(self.judge(seed, proven, &instance.public_inputs(), consensus))
            }
        }
    }

    fn prove_circuit<C>(&self, circuit: C) -> Result<Proven, Error>
    where
        BellmanCircuit<C>: Circuit<Scalar>,
    {
        let proven = self.prover.prove(BellmanCircuit(circuit));
        proven.map_err(|source| Error::Prove { circuit: self.circuit.name(), source })
    }

    /// Others get the public inputs of the instance, not those that the prover reports.
    fn judge(
        &self,
        seed: u64,
        proven: Proven,
        public_inputs: &[BellmanScalar],
        consensus: Result<(), sapling::Refusal>,
    ) -> Judged {
        let public_inputs = public_inputs_from_bellman(public_inputs);
        let ours = match proven.public_inputs == public_inputs {
            true => Ok(()),
            false => Err("the public inputs are not the instance's".to_owned()),
        };
        let verdict = |verifier, outcome| Verdict { verifier, outcome };
        let verdicts = vec![
            verdict("bellwether", ours),
            verdict("bellperson", self.ask_bellperson(&proven.proof.to_bytes(), &public_inputs)),
            verdict("sapling-crypto", consensus.map_err(|refusal| refusal.to_string())),
        ];
        Judged { seed, proven, verdicts }
    }

    fn ask_bellperson(&self, proof: &[u8], public_inputs: &[Scalar]) -> Result<(), String> {
        let proof = theirs::Proof::read(proof).map_err(|error| error.to_string())?;
        match theirs::verify_proof(&self.bellperson, &proof, public_inputs) {
            Ok(true) => Ok(()),
            Ok(false) => Err("the proof does not hold".into()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A seed from the operating system's generator, small enough for a JSON number to be exact.
pub(crate) fn random_seed() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    OsRng.try_fill_bytes(&mut bytes).map_err(Error::Randomness)?;
    Ok(u64::from_le_bytes(bytes) >> 11)
}
