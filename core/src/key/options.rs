//! How thoroughly a key is checked, and how a long check tells of its progress.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::digest::ParameterDigest;

/// What is checked of the points of h, l, a, b_g1 and b_g2.
///
/// Whichever is chosen, every point must be canonically encoded, on the curve and not at infinity, and
/// the verifying key inside the file is checked in full: it decides which proofs are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// Also that each point lies in the subgroup of order r.
    Full,
    /// Nothing else: for bytes known to be a good key.
    CurveOnly,
}

/// When a parameter file gets [`Checks::Full`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckPolicy {
    /// Whatever its digest.
    Always,
    /// Never: the caller vouches for the file.
    Never,
    /// Unless its digest is one of [`ReadOptions::trusted`].
    #[default]
    UnlessTrusted,
}

/// What a reader does, for [`Progress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPhase {
    /// Going through the file's bytes: digest, and decoding where the key goes to memory.
    Reading,
    /// Checking that points lie in the subgroup.
    Checking,
}

/// How far a reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it does; `Checking` comes after `Reading`, or not at all.
    pub phase: ReadPhase,
    /// Bytes of the file dealt with in this phase.
    pub done: u64,
    /// Bytes of the file that this phase deals with.
    pub total: u64,
}

/// A function that is told of progress. It is called from several threads, possibly at once and out of order;
/// in a phase that succeeds one call has `done == total`.
pub type ProgressFn<'a> = &'a (dyn Fn(Progress) + Sync);

/// How to read a parameter file. `ReadOptions::default()` suits a file from anywhere.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// When the subgroup is checked.
    pub checks: CheckPolicy,
    /// Digests of the files that [`CheckPolicy::UnlessTrusted`] trusts: all of them, so that a list of one's
    /// own replaces the default, [`ParameterDigest::TRUSTED`].
    pub trusted: &'a [ParameterDigest],
    /// Who is told of progress.
    pub progress: Option<ProgressFn<'a>>,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self { checks: CheckPolicy::default(), trusted: &ParameterDigest::TRUSTED, progress: None }
    }
}

impl fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("checks", &self.checks)
            .field("trusted", &self.trusted)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

impl ReadOptions<'_> {
    /// The checks for a file with this digest.
    pub fn checks_for(&self, digest: &ParameterDigest) -> Checks {
        match self.checks {
            CheckPolicy::Always => Checks::Full,
            CheckPolicy::Never => Checks::CurveOnly,
            CheckPolicy::UnlessTrusted if self.trusted.contains(digest) => Checks::CurveOnly,
            CheckPolicy::UnlessTrusted => Checks::Full,
        }
    }
}

/// Adds up the progress of one phase.
pub(super) struct Meter<'a> {
    report: Option<ProgressFn<'a>>,
    phase: ReadPhase,
    done: AtomicU64,
    total: u64,
}

impl<'a> Meter<'a> {
    pub(super) fn new(report: Option<ProgressFn<'a>>, phase: ReadPhase, total: u64) -> Self {
        Self { report, phase, done: AtomicU64::new(0), total }
    }

    /// `bytes` more are done.
    pub(super) fn advance(&self, bytes: u64) {
        if let Some(report) = self.report {
            let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
            report(Progress { phase: self.phase, done, total: self.total });
        }
    }
}
