//! `bellwether bench`.

use bellwether::{DeviceChoice, PhaseTimes};

use crate::args::{BenchArgs, CircuitChoice};
use crate::console::Console;
use crate::error::Error;
use crate::output::{ProofObject, grouped, statistics_text};
use crate::subject::{CircuitName, Subject, Workshop, random_seed};

pub(crate) fn run(args: &BenchArgs, choice: &DeviceChoice, console: &Console) -> Result<(), Error> {
    let circuits: &[CircuitName] = match args.circuit {
        CircuitChoice::SaplingOutput => &[CircuitName::SaplingOutput],
        CircuitChoice::SaplingSpend => &[CircuitName::SaplingSpend],
        CircuitChoice::All => &CircuitName::ALL,
    };
    let workshop = Workshop::open(&args.gpu.select_options(choice), console)?;
    if !args.form.json {
        let heading = format!("proving on {}; all times in milliseconds\n", workshop.device.info());
        console.write(heading.as_bytes())?;
    }
    let mut refused = 0;
    for &circuit in circuits {
        let subject = workshop.subject(circuit, console)?;
        refused += measure(&subject, args, console)?;
    }
    let proofs = circuits.len() * (args.proofs as usize + 1);
    match refused {
        0 => Ok(()),
        _ => Err(Error::Refused { refused, proofs }),
    }
}

/// Makes the proofs of one circuit, prints what there is to print, and returns how many were refused.
fn measure(subject: &Subject<'_>, args: &BenchArgs, console: &Console) -> Result<usize, Error> {
    let name = subject.circuit.name();
    let warm_up = console.spinner(format!("{name}: warming up"));
    let first = subject.prove(random_seed()?)?;
    drop(warm_up);

    let bar = console.count_bar(format!("{name}: proving"), args.proofs);
    let mut times: Vec<PhaseTimes> = Vec::new();
    let mut refused = 0;
    for run in 1..=args.proofs {
        let judged = subject.prove(random_seed()?)?;
        bar.advance();
        refused += usize::from(!judged.accepted());
        times.push(judged.proven.times);
        if args.form.json {
            console.json(&ProofObject::new(subject, judged, Some(run)))?;
        }
    }
    drop(bar);
    if !args.form.json {
        let constraints = grouped(subject.prover.shape().num_constraints as u64);
        let text = format!(
            "\n{name}: {constraints} constraints, {} proofs after one to warm up, {} accepted by every verifier\n{}",
            args.proofs,
            args.proofs as usize - refused,
            statistics_text(&times)
        );
        console.write(text.as_bytes())?;
    }
    Ok(refused + usize::from(!first.accepted()))
}
