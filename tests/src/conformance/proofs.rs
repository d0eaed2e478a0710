//! Whole proofs through [`Session`], each verified with the key's own verifier once more.

use std::sync::Arc;

use bellwether_core::device::CpuDevice;
use bellwether_core::groth16::{
    Assignment, Blinding, Cancellation, Generators, PreparedVerifyingKey, Proven, Session, Trapdoor,
    generate_key,
};
use bellwether_core::key::ProvingKey;
use bellwether_core::r1cs::{R1cs, Recorder};
use blstrs::Scalar;
use ff::Field;
use pollster::block_on;

use super::inputs::{Device, seeded};
use crate::program::{Program, Step};

/// A circuit, its matrices and a key for it.
pub struct Keyed {
    /// The circuit with its witness.
    pub program: Program,
    /// The matrices, with names.
    pub r1cs: Arc<R1cs>,
    /// The key, from a trapdoor that anybody can compute.
    pub key: ProvingKey,
}

impl Keyed {
    /// Makes the key of a circuit on a device.
    pub fn new<D: Device>(device: &D, program: Program) -> Self {
        let r1cs = Recorder::record_with_names(program.without_values()).expect("recorded");
        let trapdoor = Trapdoor::from_rng(seeded(r1cs.shape().num_rows()));
        let key = block_on(generate_key(device, &r1cs, &trapdoor, &Generators::default())).expect("a key");
        Keyed { program, r1cs: Arc::new(r1cs), key }
    }

    /// A session for the circuit's matrices.
    pub fn session<D: Device>(&self, device: Arc<D>) -> Session<D> {
        Session::for_circuit(device, &self.key, Arc::clone(&self.r1cs)).expect("a session")
    }

    /// The circuit's witness.
    pub fn assignment(&self) -> Assignment {
        Assignment::collect(self.program.clone()).expect("a witness")
    }

    /// Whether the proof is one for the circuit's inputs, by a verifier that shares nothing with the session.
    pub fn verifies(&self, proven: &Proven) -> bool {
        let inputs = self.assignment().public_inputs();
        PreparedVerifyingKey::new(&self.key.vk).verify(&proven.proof, &inputs) == Ok(true)
    }
}

/// The same blinding scalars every time.
pub fn blinding() -> Blinding {
    Blinding::from_rng(seeded(4242))
}

/// A proof on a session that nothing disturbs.
pub fn prove<D: Device>(session: &Session<D>, assignment: &Assignment) -> Proven {
    block_on(session.prove(assignment, &blinding(), &Cancellation::new())).expect("a proof")
}

fn check<D: Device>(device: &Arc<D>, program: Program, what: &str) {
    let keyed = Keyed::new(&**device, program);
    let proven = prove(&keyed.session(Arc::clone(device)), &keyed.assignment());
    assert_eq!(proven.attempts, 1, "{what}");
    assert!(keyed.verifies(&proven), "{what}");
}

/// 2^k − 1, 2^k and 2^k + 1 rows; the rows are the constraints and one for each input.
pub fn rows_around_powers_of_two<D: Device>(device: D) {
    let device = Arc::new(device);
    for rows in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 127, 128, 129, 511, 512, 513] {
        let inputs = if rows > 8 { 2 } else { 0 };
        let program = Program::satisfied(rows - inputs - 1, inputs, rows as u64);
        check(&device, program, &format!("{rows} rows"));
    }
}

/// Through evaluations made in one pass, on a session without matrices.
pub fn evaluated_in_one_pass<D: Device>(device: D) {
    let device = Arc::new(device);
    for (constraints, inputs) in [(1, 0), (13, 2), (60, 3), (61, 3), (300, 1)] {
        let keyed = Keyed::new(&*device, Program::satisfied(constraints, inputs, 5));
        let (assignment, shape) = Assignment::evaluate(keyed.program.clone()).expect("satisfied");
        let session = Session::for_shape(Arc::clone(&device), &keyed.key, shape).expect("a session");
        let proven = prove(&session, &assignment);
        assert!(keyed.verifies(&proven), "{constraints} constraints");
        let by_matrices = prove(&keyed.session(Arc::clone(&device)), &keyed.assignment());
        assert_eq!(proven.proof, by_matrices.proof, "{constraints} constraints");
    }
}

/// Public inputs only: the l query is empty.
pub fn without_private_variables<D: Device>(device: D) {
    let one = |variable: usize| vec![(variable, Scalar::ONE)];
    let steps = vec![
        Step::Input(Scalar::from(3)),
        Step::Input(Scalar::from(9)),
        Step::Enforce([one(1), one(1), one(2)]),
        Step::Enforce([one(2), one(0), one(2)]),
    ];
    check(&Arc::new(device), Program::new(steps), "no private variables");
}

/// A witness of bits, as most circuits have: the tails are empty.
pub fn bits_only<D: Device>(device: D) {
    let one = |variable: usize| vec![(variable, Scalar::ONE)];
    let mut steps = Vec::new();
    for bit in 0..100u64 {
        let variable = bit as usize + 1;
        steps.push(Step::Aux(Scalar::from(bit % 2)));
        let complement = vec![(0, Scalar::ONE), (variable, -Scalar::ONE)];
        steps.push(Step::Enforce([one(variable), complement, vec![]]));
    }
    check(&Arc::new(device), Program::new(steps), "bits only");
}

/// Several threads prove on one session at once.
pub fn many_threads<D: Device>(device: D) {
    let device = Arc::new(device);
    let keyed = Keyed::new(&*device, Program::satisfied(200, 2, 6));
    let (session, assignment) = (keyed.session(device), keyed.assignment());
    let expected = prove(&session, &assignment).proof;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| (0..3).map(|_| prove(&session, &assignment).proof).collect::<Vec<_>>()))
            .collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no panic"), [expected; 3]);
        }
    });
}

/// The key is the same as one made on the CPU, byte for byte, and so is the proof for the same blinding.
pub fn equals_the_proof_of_the_cpu<D: Device>(device: D) {
    let device = Arc::new(device);
    let program = Program::satisfied(350, 4, 7);
    let (keyed, by_cpu) = (Keyed::new(&*device, program.clone()), Keyed::new(&CpuDevice::new(), program));
    let bytes = |key: &ProvingKey| {
        let mut bytes = Vec::new();
        key.write(&mut bytes).expect("written");
        bytes
    };
    assert_eq!(bytes(&keyed.key), bytes(&by_cpu.key));
    let proven = prove(&keyed.session(device), &keyed.assignment());
    let expected = prove(&by_cpu.session(Arc::new(CpuDevice::new())), &by_cpu.assignment());
    assert_eq!(proven.proof.to_bytes(), expected.proof.to_bytes());
}
