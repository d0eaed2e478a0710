//! Records of benchmark runs, committed by machine and date.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::run::root;

/// Collects the estimates that criterion left in target/criterion into one CSV file: benchmark, median and the
/// bounds of its 95 % confidence interval, in milliseconds.
pub(crate) fn write(machine: &str) -> Result<(), String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let estimates = target.join("criterion");
    let mut rows = Vec::new();
    collect(&estimates, &estimates, &mut rows)?;
    if rows.is_empty() {
        return Err(format!("no estimates under {}: run `cargo bench` first", estimates.display()));
    }
    rows.sort();
    let mut csv = String::from("benchmark,median_ms,low_ms,high_ms\n");
    for (name, [median, low, high]) in rows {
        let _ = writeln!(csv, "{name},{median},{low},{high}");
    }
    let folder = root().join("benches/record").join(machine);
    let file = folder.join(format!("{}.csv", today()?));
    fs::create_dir_all(&folder).and_then(|()| fs::write(&file, csv)).map_err(|error| at(&file, error))?;
    println!("{}", file.display());
    Ok(())
}

/// Finds `<group>/<benchmark>/new/estimates.json` below a folder.
fn collect(top: &Path, folder: &Path, rows: &mut Vec<(String, [String; 3])>) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(|error| at(folder, error))?.path();
        if path.ends_with("new/estimates.json") {
            let name: PathBuf = folder.parent().unwrap_or(folder).strip_prefix(top).unwrap_or(folder).into();
            rows.push((name.display().to_string(), estimate(&path)?));
        } else if path.is_dir() {
            collect(top, &path, rows)?;
        }
    }
    Ok(())
}

fn estimate(path: &Path) -> Result<[String; 3], String> {
    let text = fs::read_to_string(path).map_err(|error| at(path, error))?;
    let json: Value = serde_json::from_str(&text).map_err(|error| at(path, error))?;
    let median = &json["median"];
    let interval = &median["confidence_interval"];
    let fields = [&median["point_estimate"], &interval["lower_bound"], &interval["upper_bound"]];
    let milliseconds =
        fields.map(|field| field.as_f64().map(|nanoseconds| format!("{:.4}", nanoseconds / 1e6)));
    match milliseconds {
        [Some(median), Some(low), Some(high)] => Ok([median, low, high]),
        _ => Err(format!("{}: not criterion's estimates", path.display())),
    }
}

fn today() -> Result<String, String> {
    let output = Command::new("date").arg("+%Y-%m-%d").output().map_err(|error| format!("date: {error}"))?;
    String::from_utf8(output.stdout)
        .map(|date| date.trim().to_owned())
        .map_err(|error| format!("date: {error}"))
}

fn at(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}
