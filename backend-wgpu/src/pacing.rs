//! How long work takes: what submits are cut by.
//!
//! A watchdog ends a submit that takes some seconds (Windows: two), and a desktop stutters long before that, so that
//! submits aim at [`TARGET`]. Costs are given in field multiplications; how many of them a second a program does is
//! learnt from the submits that have finished.

use std::time::Duration;

/// Time that a submit should take, in seconds. Shorter ones lose throughput to the gaps in between, a tenth of a
/// millisecond each; longer ones come near what a desktop feels.
pub(crate) const TARGET: f64 = 0.020;
/// With nothing in flight, so much recorded work is enough to begin with, in seconds.
pub(crate) const EARLY: f64 = 0.002;

/// What every dispatch costs besides its multiplications, in seconds: 4 µs on an H200 (GPU-NOTES.md).
const DISPATCH: f64 = 4e-6;
/// One step of learning changes a rate by no more than this factor.
const STEP: f64 = 8.0;
/// Submits that are predicted to take less, and do, say little about rates: their time is overhead.
const TELLING: f64 = 200e-6;

/// The kind of an adapter, for first guesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speed {
    Discrete,
    Integrated,
    Software,
}

impl Speed {
    /// Field multiplications a second, guessed low: the first submits are then too short, not too long. Measured: an
    /// H200 does 2.3e10 (GPU-NOTES.md), llvmpipe on two cores 1e7.
    fn multiplications(self) -> f64 {
        match self {
            Speed::Discrete => 1e9,
            Speed::Integrated => 2e8,
            Speed::Software => 5e6,
        }
    }

    /// Bytes a second of zeros.
    fn cleared_bytes(self) -> f64 {
        match self {
            Speed::Discrete => 1e11,
            Speed::Integrated => 1e10,
            Speed::Software => 2e9,
        }
    }

    /// Bytes a second to the host. An H200 took 427 ms for a submit of reads that 1e10 bytes a second had let grow to
    /// some 200 MB.
    fn read_bytes(self) -> f64 {
        match self {
            Speed::Discrete => 5e8,
            Speed::Integrated => 1e9,
            Speed::Software => 2e9,
        }
    }

    /// Bytes a second from the host.
    fn uploaded_bytes(self) -> f64 {
        match self {
            Speed::Discrete => 1e10,
            Speed::Integrated => 5e9,
            Speed::Software => 2e9,
        }
    }
}

/// Rates of one device.
#[derive(Debug)]
pub(crate) struct Pace {
    speed: Speed,
    /// Multiplications a second, by program; as guessed until the program has run.
    rates: Vec<f64>,
    /// Programs that have been submitted. A driver may compile at the first dispatch: that submit does not count.
    known: Vec<bool>,
    longest: Duration,
    submits: u64,
}

/// What a submit is predicted to take, by program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prediction {
    programs: Vec<(usize, f64)>,
    /// Seconds of all work.
    pub(crate) total: f64,
}

impl Prediction {
    /// Adds work of a program, or of none.
    pub(crate) fn add(&mut self, program: Option<usize>, seconds: f64) {
        self.total += seconds;
        let Some(program) = program else { return };
        match self.programs.iter_mut().find(|(other, _)| *other == program) {
            Some((_, sum)) => *sum += seconds,
            None => self.programs.push((program, seconds)),
        }
    }
}

impl Pace {
    pub(crate) fn new(speed: Speed, programs: usize) -> Pace {
        Pace {
            speed,
            rates: vec![speed.multiplications(); programs],
            known: vec![false; programs],
            longest: Duration::ZERO,
            submits: 0,
        }
    }

    /// Seconds of one workgroup of so many multiplications.
    pub(crate) fn group(&self, program: usize, cost: u64) -> f64 {
        cost as f64 / self.rates[program]
    }

    /// Seconds of a dispatch.
    pub(crate) fn dispatch(&self, program: usize, cost: u64, groups: u32) -> f64 {
        DISPATCH + f64::from(groups) * self.group(program, cost)
    }

    /// Seconds of zeros.
    pub(crate) fn clear(&self, bytes: u64) -> f64 {
        DISPATCH + bytes as f64 / self.speed.cleared_bytes()
    }

    /// Seconds of a copy from the host.
    pub(crate) fn upload(&self, bytes: u64) -> f64 {
        DISPATCH + bytes as f64 / self.speed.uploaded_bytes()
    }

    /// Seconds of a copy to the host.
    pub(crate) fn read(&self, bytes: u64) -> f64 {
        DISPATCH + bytes as f64 / self.speed.read_bytes()
    }

    /// Learns from a submit that has finished after `took`. The error is put down to its programs by their share of the
    /// prediction, in the exponent, so that repeated submits of different mixtures settle on the rates of each.
    pub(crate) fn learn(&mut self, prediction: &Prediction, took: Duration) {
        let first = prediction.programs.iter().any(|(program, _)| !self.known[*program]);
        prediction.programs.iter().for_each(|(program, _)| self.known[*program] = true);
        self.submits += 1;
        if first {
            return;
        }
        self.longest = self.longest.max(took);
        let took = took.as_secs_f64();
        if took.max(prediction.total) < TELLING {
            return;
        }
        let faster = (prediction.total / took.max(1e-9)).clamp(1.0 / STEP, STEP);
        for (program, seconds) in &prediction.programs {
            self.rates[*program] *= faster.powf(seconds / prediction.total);
        }
    }

    /// The longest submit so far, of those that count.
    pub(crate) fn longest(&self) -> Duration {
        self.longest
    }

    /// Submits so far.
    pub(crate) fn submits(&self) -> u64 {
        self.submits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that does `rates[i]` multiplications a second of program i.
    fn run(pace: &mut Pace, rates: &[f64], work: &[(usize, u64)]) -> f64 {
        let mut prediction = Prediction::default();
        let mut took = 0.0;
        for &(program, cost) in work {
            prediction.add(Some(program), pace.dispatch(program, cost, 1));
            took += cost as f64 / rates[program];
        }
        pace.learn(&prediction, Duration::from_secs_f64(took));
        prediction.total / took
    }

    #[test]
    fn the_first_submit_of_a_program_does_not_count() {
        let mut pace = Pace::new(Speed::Discrete, 1);
        run(&mut pace, &[1e3], &[(0, 10_000)]);
        assert_eq!((pace.longest(), pace.submits()), (Duration::ZERO, 1));
        assert_eq!(pace.group(0, 1_000_000_000), 1.0);
    }

    #[test]
    fn one_program_is_learnt() {
        let mut pace = Pace::new(Speed::Discrete, 1);
        for _ in 0..4 {
            run(&mut pace, &[2e10], &[(0, 100_000_000)]);
        }
        let ratio = run(&mut pace, &[2e10], &[(0, 100_000_000)]);
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
    }

    #[test]
    fn mixtures_settle_on_the_rate_of_each() {
        let mut pace = Pace::new(Speed::Integrated, 2);
        let rates = [5e9, 3e8];
        for i in 0..200 {
            let work =
                if i % 2 == 0 { [(0, 80_000_000), (1, 1_000_000)] } else { [(0, 5_000_000), (1, 6_000_000)] };
            run(&mut pace, &rates, &work);
        }
        for (program, rate) in rates.iter().enumerate() {
            let ratio = pace.group(program, 1_000_000) * rate / 1e6;
            assert!((0.9..1.1).contains(&ratio), "program {program}: {ratio}");
        }
    }

    #[test]
    fn short_submits_say_nothing() {
        let mut pace = Pace::new(Speed::Discrete, 1);
        for _ in 0..10 {
            pace.learn(&Prediction { programs: vec![(0, 1e-6)], total: 1e-6 }, Duration::from_micros(150));
        }
        assert_eq!(pace.group(0, 1_000_000_000), 1.0);
    }
}
