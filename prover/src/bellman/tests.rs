use ::bellman::ConstraintSystem as _;
use bellwether_core::device::CpuDevice;
use bellwether_core::groth16::{Generators, ProveError, Trapdoor};
use bellwether_core::r1cs::Recorder;
use std::sync::Arc;

use super::*;
use crate::Prover;

/// x³ + x + 5 = y for public y, in bellman's terms, with namespaces and a term that cancels.
#[derive(Clone, Copy)]
struct Cubic {
    x: Option<BellmanScalar>,
    y: Option<BellmanScalar>,
}

impl theirs::Circuit<BellmanScalar> for Cubic {
    fn synthesize<CS: theirs::ConstraintSystem<BellmanScalar>>(
        self,
        cs: &mut CS,
    ) -> Result<(), theirs::SynthesisError> {
        let value = |value: Option<BellmanScalar>| value.ok_or(theirs::SynthesisError::AssignmentMissing);
        let mut powers = cs.namespace(|| "powers");
        let x = powers.alloc(|| "x", || value(self.x))?;
        let square = powers.alloc(|| "x^2", || value(self.x.map(|x| x * x)))?;
        let cube = powers.alloc(|| "x^3", || value(self.x.map(|x| x * x * x)))?;
        {
            let mut inner = powers.namespace(|| "products");
            inner.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
            inner.enforce(|| "cube", |lc| lc + square, |lc| lc + x, |lc| lc + cube);
        }
        drop(powers);
        let y = cs.alloc_input(|| "y", || value(self.y))?;
        cs.enforce(
            || "sum",
            |lc| lc + cube + x + (BellmanScalar::from(5), CS::one()) + square - square,
            |lc| lc + CS::one(),
            |lc| lc + y,
        );
        Ok(())
    }
}

const EMPTY: Cubic = Cubic { x: None, y: None };

fn prover() -> Prover {
    let device = Arc::new(CpuDevice::new());
    let r1cs = Recorder::record_with_names(BellmanCircuit(EMPTY)).unwrap();
    let trapdoor = Trapdoor::random().unwrap();
    let key = crate::generate_key(&*device, BellmanCircuit(EMPTY), &trapdoor, &Generators::default());
    Prover::from_r1cs(device, &key.unwrap(), Arc::new(r1cs)).unwrap()
}

#[test]
fn a_bellman_circuit_proves_and_verifies() {
    let prover = prover();
    let x = BellmanScalar::from(9);
    let y = x * x * x + x + BellmanScalar::from(5);
    let circuit = Cubic { x: Some(x), y: Some(y) };
    let proven = prover.prove(BellmanCircuit(circuit)).unwrap();
    assert_eq!(public_inputs_to_bellman(&proven.public_inputs), [y]);
    let inputs = public_inputs_from_bellman(&[y]);
    assert_eq!(prover.verify(&proven.proof, &inputs), Ok(true));

    let wrong = Cubic { y: Some(x), ..circuit };
    let error = prover.prove(BellmanCircuit(wrong)).unwrap_err();
    assert_eq!(error.to_string(), "the witness does not satisfy constraint 2 (sum)");
}

#[test]
fn a_bellman_circuit_is_the_bellpepper_circuit_of_the_same_constraints() {
    let theirs = Recorder::record(BellmanCircuit(EMPTY)).unwrap();
    let ours = Recorder::record(crate::testing::Cubic::default()).unwrap();
    assert_eq!(theirs, ours);
}

#[test]
fn namespaces_and_names_are_forwarded() {
    let r1cs = Recorder::record_with_names(BellmanCircuit(EMPTY)).unwrap();
    let names: Vec<_> = (0..3).map(|i| r1cs.constraint_name(i).unwrap()).collect();
    assert_eq!(names, ["powers/products/square", "powers/products/cube", "sum"]);
}

#[test]
fn scalars_are_the_same_numbers() {
    let mut value = BellmanScalar::from(3);
    for _ in 0..300 {
        for theirs in [value, -value, BellmanScalar::ZERO, BellmanScalar::ONE, -BellmanScalar::ONE] {
            let ours = scalar_from_bellman(&theirs);
            assert_eq!(ours.to_bytes_le(), theirs.to_bytes());
            assert_eq!(scalar_to_bellman(&ours), theirs);
        }
        value = value.square() + value;
    }
}

#[test]
fn errors_keep_their_meaning_both_ways() {
    let missing = prover().prove(BellmanCircuit(EMPTY)).unwrap_err();
    assert!(matches!(missing, ProveError::Synthesis(SynthesisError::AssignmentMissing)));
    for error in [
        SynthesisError::AssignmentMissing,
        SynthesisError::DivisionByZero,
        SynthesisError::Unsatisfiable,
        SynthesisError::PolynomialDegreeTooLarge,
        SynthesisError::UnexpectedIdentity,
        SynthesisError::UnconstrainedVariable,
        SynthesisError::IoError(io::Error::other("disk")),
    ] {
        let text = error.to_string();
        assert_eq!(error_from_bellman(error_to_bellman(error)).to_string(), text);
    }
    let other = error_from_bellman(error_to_bellman(SynthesisError::MalformedSrs));
    assert!(other.to_string().contains("malformed SRS"), "{other}");
}

#[test]
fn a_witness_is_collected_without_looking_at_constraints() {
    struct NoConstraint;
    impl theirs::Circuit<BellmanScalar> for NoConstraint {
        fn synthesize<CS: theirs::ConstraintSystem<BellmanScalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), theirs::SynthesisError> {
            cs.enforce(|| "", |_| panic!("called"), |lc| lc, |lc| lc);
            Ok(())
        }
    }
    let (witness, inputs) = bellwether_core::r1cs::Collector::collect(BellmanCircuit(NoConstraint)).unwrap();
    assert_eq!((witness.len(), inputs), (1, 1));
}
