//! Proves knowledge of an x with x^3 + x + 5 = 35, with a set-up made on the spot.

use bellwether::{
    Circuit, ConstraintSystem, Generators, Prover, Scalar, SelectOptions, SynthesisError, Trapdoor,
};

struct Cubic(Option<Scalar>);

impl Circuit<Scalar> for Cubic {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let of_x = |f: fn(Scalar) -> Scalar| self.0.map(f).ok_or(SynthesisError::AssignmentMissing);
        let x = cs.alloc(|| "x", || of_x(|x| x))?;
        let square = cs.alloc(|| "x^2", || of_x(|x| x * x))?;
        let y = cs.alloc_input(|| "y", || of_x(|x| x * x * x + x + Scalar::from(5)))?;
        let five = (Scalar::from(5), CS::one());
        cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
        cs.enforce(|| "sum", |lc| lc + square, |lc| lc + x, |lc| lc + y - x - five);
        Ok(())
    }
}

#[expect(clippy::print_stdout, reason = "an example is a program")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = bellwether::select(&bellwether::drivers(), &SelectOptions::from_env()?)?.device;
    let (trapdoor, generators) = (Trapdoor::random()?, Generators::default());
    let key = bellwether::generate_key(&*device, Cubic(None), &trapdoor, &generators)?;

    let prover = Prover::new(device, &key, Cubic(None))?;
    let proven = prover.prove(Cubic(Some(Scalar::from(3))))?;

    let verified = prover.verify(&proven.proof, &[Scalar::from(35)])?;
    println!("proved on {}, verified: {verified}", proven.device);
    Ok(())
}
