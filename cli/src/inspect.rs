//! `bellwether inspect`.

use std::path::Path;

use bellwether::core::key::{Progress, ReadPhase, inspect};
use bellwether::{CheckPolicy, KeyError, ParameterDigest, ProvingKey, ReadOptions};
use serde::Serialize;

use crate::args::InspectArgs;
use crate::console::Console;
use crate::error::Error;
use crate::output::{Queries, Sheet, domain_text, grouped};

/// What a parameter file holds, as `--json` prints it.
#[derive(Serialize)]
struct FileObject {
    file: String,
    file_bytes: u64,
    trailing_bytes: u64,
    domain: u64,
    #[serde(flatten)]
    queries: Queries,
    /// Whether the points of the queries were checked; those of the verifying key always are.
    checked: bool,
    digest: String,
    short: String,
    /// The name of a file that is known by its digest.
    known: Option<&'static str>,
}

pub(crate) fn run(args: &InspectArgs, console: &Console) -> Result<(), Error> {
    let object = look(&args.file, args.check, console).map_err(Error::File)?;
    match args.form.json {
        true => console.json(&object),
        false => console.write(text(&object).as_bytes()),
    }
}

/// The summary first: it refuses what is no parameter file before the long check begins.
fn look(path: &Path, check: bool, console: &Console) -> Result<FileObject, KeyError> {
    let bar = console.byte_bar();
    let progress = |progress: Progress| {
        let text = match progress.phase {
            ReadPhase::Reading => "reading",
            ReadPhase::Checking => "checking points",
        };
        bar.set(text, progress.done, progress.total);
    };
    let summary = inspect(path, Some(&progress))?;
    if check {
        let options =
            ReadOptions { checks: CheckPolicy::Always, progress: Some(&progress), ..ReadOptions::default() };
        ProvingKey::map(path, &options)?;
    }
    Ok(FileObject {
        file: path.display().to_string(),
        file_bytes: summary.file_bytes,
        trailing_bytes: summary.trailing_bytes,
        domain: summary.domain_size,
        queries: Queries {
            ic: summary.ic,
            h: summary.h,
            l: summary.l,
            a: summary.a,
            b_g1: summary.b_g1,
            b_g2: summary.b_g2,
        },
        checked: check,
        digest: summary.digest.to_string(),
        short: summary.digest.short(),
        known: known(&summary.digest),
    })
}

fn known(digest: &ParameterDigest) -> Option<&'static str> {
    match *digest {
        ParameterDigest::SAPLING_SPEND => Some("sapling-spend"),
        ParameterDigest::SAPLING_OUTPUT => Some("sapling-output"),
        _ => None,
    }
}

fn text(object: &FileObject) -> String {
    let mut sheet = Sheet::default();
    sheet.entry("size", format!("{} bytes", grouped(object.file_bytes)));
    sheet.entry("digest", &object.digest);
    sheet.entry("short", &object.short);
    sheet.entry(
        "known as",
        match object.known {
            Some(name) => format!("{name}, of Zcash's Sapling ceremony"),
            None => "no file that this program knows".into(),
        },
    );
    sheet.entry("domain", domain_text(object.domain));
    let meaning = |name| match name {
        "ic" => "public inputs, the constant one included",
        "h" => "domain size less one",
        "l" => "private variables",
        "a" => "variables in A, every public input included",
        "b_g1" => "variables in B",
        _ => "the same in G2",
    };
    sheet.entries(
        "queries",
        object
            .queries
            .named()
            .map(|(name, len)| format!("{name:<5} {:>13}  {}", grouped(len), meaning(name))),
    );
    let trailing = match object.trailing_bytes {
        0 => "no bytes behind the key".into(),
        bytes => format!("{} bytes behind the key, such as a ceremony's transcript", grouped(bytes)),
    };
    sheet.entry("trailing", trailing);
    sheet.entry(
        "checked",
        match object.checked {
            true => "every point is on its curve and in the subgroup",
            false => "the verifying key; --check checks every point",
        },
    );
    format!("{}\n{}", object.file, sheet.0)
}
