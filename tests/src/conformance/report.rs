//! The suite in one process.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::{Device, table};

/// Cases that ran, in order.
#[derive(Debug, Default)]
pub struct Report {
    cases: Vec<Ran>,
}

#[derive(Debug)]
struct Ran {
    name: String,
    time: Duration,
    /// What it panicked with.
    failure: Option<String>,
}

/// Runs the cases whose names are chosen, one after another, each on what `open` gives; goes on after one that fails.
/// What a case panics with is printed when it does, and again in the report.
pub fn run<D: Device>(open: impl Fn() -> D, chosen: impl Fn(&str) -> bool) -> Report {
    let mut report = Report::default();
    for case in table::<D>().into_iter().filter(|case| chosen(&case.name)) {
        report.case(&case.name, || (case.run)(open()));
    }
    report
}

impl Report {
    /// Runs one more case, which panics if it fails.
    pub fn case(&mut self, name: &str, run: impl FnOnce()) {
        let start = Instant::now();
        let failure = catch_unwind(AssertUnwindSafe(run)).err().map(|payload| message(&*payload));
        self.cases.push(Ran { name: name.to_owned(), time: start.elapsed(), failure });
    }

    /// The cases that failed.
    pub fn failed(&self) -> Vec<&str> {
        self.cases.iter().filter(|case| case.failure.is_some()).map(|case| &*case.name).collect()
    }

    /// Fails the test if a case failed, or if none ran.
    pub fn check(&self) {
        let failed = self.failed();
        assert!(failed.is_empty(), "{} of {} cases failed\n{self}", failed.len(), self.cases.len());
        assert!(!self.cases.is_empty(), "no case was chosen");
    }
}

/// A line a case, then what failed and why.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Ran { name, time, failure } in &self.cases {
            let verdict = if failure.is_none() { "passed" } else { "FAILED" };
            writeln!(f, "{verdict} {:>8.2} s  {name}", time.as_secs_f64())?;
        }
        let seconds: f64 = self.cases.iter().map(|case| case.time.as_secs_f64()).sum();
        writeln!(f, "{} cases, {} failed, {seconds:.1} s", self.cases.len(), self.failed().len())?;
        for Ran { name, failure, .. } in &self.cases {
            if let Some(failure) = failure {
                writeln!(f, "FAILED {name}: {failure}")?;
            }
        }
        Ok(())
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use bellwether_core::device::CpuDevice;

    use super::*;

    #[test]
    fn failures_are_named_and_do_not_end_the_run() {
        let mut report = run(CpuDevice::new, |name| name == "vectors/vectors_are_independent");
        report.check();
        report.case("a string", || assert_eq!(1 + 1, 3, "sum"));
        report.case("another", || ());
        assert_eq!(report.failed(), ["a string"]);
        let text = report.to_string();
        assert!(text.contains("3 cases, 1 failed"), "{text}");
        assert!(text.contains("FAILED a string: assertion `left == right` failed: sum"), "{text}");
        assert!(catch_unwind(AssertUnwindSafe(|| report.check())).is_err());
        assert!(catch_unwind(|| Report::default().check()).is_err());
    }
}
