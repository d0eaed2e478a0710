//! `bellwether demo`.

use bellwether::DeviceChoice;

use crate::args::DemoArgs;
use crate::console::Console;
use crate::error::Error;
use crate::output::{ProofObject, proof_text};
use crate::subject::{CircuitName, Workshop, random_seed};

pub(crate) fn run(args: &DemoArgs, choice: &DeviceChoice, console: &Console) -> Result<(), Error> {
    let seed = args.seed.map_or_else(random_seed, Ok)?;
    let workshop = Workshop::open(&args.gpu.select_options(choice), console)?;
    if !args.form.json {
        console.write(format!("proving on {}\n", workshop.device.info()).as_bytes())?;
    }
    let mut refused = 0;
    for circuit in CircuitName::ALL {
        let subject = workshop.subject(circuit, console)?;
        let activity = console.spinner(format!("{}: proving", circuit.name()));
        let judged = subject.prove(seed)?;
        drop(activity);
        refused += usize::from(!judged.accepted());
        match args.form.json {
            true => console.json(&ProofObject::new(&subject, judged, None))?,
            false => console.write(format!("\n{}", proof_text(&subject, &judged)).as_bytes())?,
        }
    }
    let proofs = CircuitName::ALL.len();
    match refused {
        0 if args.form.json => Ok(()),
        0 => console.write(format!("\nall {proofs} proofs accepted by every verifier\n").as_bytes()),
        _ => Err(Error::Refused { refused, proofs }),
    }
}
