//! Circuits as data, so that tests can draw them at random and synthesise them in sequence or in parts.

use bellwether_core::r1cs::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Terms of a linear combination: which of the variables in sight (modulo their number, the constant one being
/// the first), and its coefficient. Variables may repeat, coefficients may be zero.
pub type Terms = Vec<(usize, Scalar)>;

/// One step of a [`Program`].
#[derive(Clone, Debug)]
pub enum Step {
    /// Allocates a public input.
    Input(Scalar),
    /// Allocates an auxiliary variable.
    Aux(Scalar),
    /// Enforces a·b = c, whether it holds or not.
    Enforce([Terms; 3]),
    /// Allocates an auxiliary variable for the product of two combinations and enforces that it is that.
    Product([Terms; 2]),
    /// A part of its own, which sees the constant one and what it allocates. Parallel synthesis runs it on a
    /// constraint system of its own and extends the surrounding one by it.
    Part(Vec<Step>),
    /// Steps in a namespace. Sequential synthesis only.
    Namespace(&'static str, Vec<Step>),
}

/// A circuit that performs steps.
#[derive(Clone, Debug)]
pub struct Program {
    /// The steps.
    pub steps: Vec<Step>,
    /// Whether [parts](Step::Part) are synthesised by `extend`, where the constraint system can.
    pub parallel: bool,
    /// Whether the witness is known; if not, allocation fails where a value is asked for.
    pub with_values: bool,
}

impl Program {
    /// A program synthesised in sequence, with its witness.
    pub fn new(steps: Vec<Step>) -> Self {
        Program { steps, parallel: false, with_values: true }
    }

    /// The same, with parts synthesised by `extend`.
    pub fn parallel(&self) -> Self {
        Program { parallel: true, ..self.clone() }
    }

    /// The same without a witness.
    pub fn without_values(&self) -> Self {
        Program { with_values: false, ..self.clone() }
    }

    /// A satisfied circuit with so many constraints and inputs (beside the constant one), all variables of which
    /// are constrained. Zeros, ones and other values are mixed; combinations have none to six terms; every
    /// variable but the last ones is likely to occur in A and B.
    pub fn satisfied(constraints: usize, inputs: usize, seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let values = [Scalar::ZERO, Scalar::ONE, Scalar::from(seed + 2)];
        let mut steps: Vec<Step> = (0..inputs).map(|i| Step::Input(values[i % 3])).collect();
        steps.extend((0..constraints).map(|i| {
            let in_sight = 1 + inputs + i;
            Step::Product(match i % 8 {
                // A one, of which circuits are full.
                0 | 3 => [vec![(0, Scalar::ONE)], vec![(0, Scalar::ONE)]],
                // Empty rows, and their zero.
                1 => [vec![], terms(&mut rng, in_sight)],
                // Terms that cancel each other, a zero coefficient.
                2 => {
                    let a = random_coefficient(&mut rng);
                    let b = vec![(i, a), (0, Scalar::ZERO), (i, -a)];
                    [terms(&mut rng, in_sight), b]
                }
                _ => [terms(&mut rng, in_sight), terms(&mut rng, in_sight)],
            })
        }));
        Program::new(steps)
    }
}

/// Up to six random terms, with variables from `in_sight`; repetitions are likely when few are.
fn terms(rng: &mut StdRng, in_sight: usize) -> Terms {
    let count = rng.gen_range(1..=6);
    (0..count).map(|_| (rng.gen_range(0..in_sight), random_coefficient(rng))).collect()
}

/// Plus or minus one, small, or any coefficient.
fn random_coefficient(rng: &mut StdRng) -> Scalar {
    match rng.gen_range(0..5) {
        0 | 1 => Scalar::ONE,
        2 => -Scalar::ONE,
        3 => Scalar::from(rng.gen_range(2..10)),
        _ => Scalar::random(rng),
    }
}

impl Circuit<Scalar> for Program {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.run(cs.get_root(), &self.steps, &mut Scope::new())
    }
}

/// The variables in sight and their values.
struct Scope(Vec<(Variable, Scalar)>);

impl Scope {
    fn new() -> Self {
        Scope(vec![(Variable::new_unchecked(Index::Input(0)), Scalar::ONE)])
    }

    fn value(&self, terms: &Terms) -> Scalar {
        terms.iter().map(|&(index, coefficient)| self.0[index % self.0.len()].1 * coefficient).sum()
    }

    /// Adds the terms to a combination one by one, as a circuit does.
    fn combine(&self, terms: &Terms, lc: LinearCombination<Scalar>) -> LinearCombination<Scalar> {
        terms.iter().fold(lc, |lc, &(index, coefficient)| lc + (coefficient, self.0[index % self.0.len()].0))
    }
}

impl Program {
    fn run<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        steps: &[Step],
        scope: &mut Scope,
    ) -> Result<(), SynthesisError> {
        for (i, step) in steps.iter().enumerate() {
            match step {
                Step::Input(value) => {
                    let variable = cs.alloc_input(|| format!("input {i}"), || self.value(*value))?;
                    scope.0.push((variable, *value));
                }
                Step::Aux(value) => {
                    let variable = cs.alloc(|| format!("aux {i}"), || self.value(*value))?;
                    scope.0.push((variable, *value));
                }
                Step::Enforce([a, b, c]) => cs.enforce(
                    || format!("constraint {i}"),
                    |lc| scope.combine(a, lc),
                    |lc| scope.combine(b, lc),
                    |lc| scope.combine(c, lc),
                ),
                Step::Product([a, b]) => {
                    let value = scope.value(a) * scope.value(b);
                    let product = cs.alloc(|| format!("product {i}"), || self.value(value))?;
                    cs.enforce(
                        || format!("constraint {i}"),
                        |lc| scope.combine(a, lc),
                        |lc| scope.combine(b, lc),
                        |lc| lc + product,
                    );
                    scope.0.push((product, value));
                }
                Step::Part(part) if self.parallel && CS::is_extensible() => {
                    let mut child = CS::new();
                    child.alloc_input(|| "one", || Ok(Scalar::ONE))?;
                    self.run(&mut child, part, &mut Scope::new())?;
                    cs.extend(&child);
                }
                Step::Part(part) => self.run(cs, part, &mut Scope::new())?,
                Step::Namespace(name, steps) => {
                    cs.push_namespace(|| *name);
                    self.run(cs, steps, scope)?;
                    cs.pop_namespace();
                }
            }
        }
        Ok(())
    }

    fn value(&self, value: Scalar) -> Result<Scalar, SynthesisError> {
        if self.with_values { Ok(value) } else { Err(SynthesisError::AssignmentMissing) }
    }
}
