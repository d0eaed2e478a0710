//! Failures: what, why, what to do about it, and the exit code.

use std::error::Error as _;
use std::io;
use std::process::ExitCode;

use bellwether::{ChoiceError, KeyError, ProveError, SelectError};

/// Why the program ends without having done what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// `BELLWETHER_DEVICE`; the flag is checked by clap.
    #[error("the choice of a device is not understood")]
    Choice(#[source] ChoiceError),
    #[error("no device can be chosen")]
    Select(#[source] SelectError),
    #[error("the parameter file cannot be used")]
    File(#[source] KeyError),
    /// The program's own parameters: altered in the binary or in memory.
    #[error("the parameters inside this program cannot be used")]
    Embedded(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("no proof of {circuit} was made")]
    Prove {
        circuit: &'static str,
        #[source]
        source: ProveError,
    },
    #[error("of {proofs} proofs, {refused} were not accepted by every verifier")]
    Refused { refused: usize, proofs: usize },
    #[error("no seed could be drawn")]
    Randomness(#[source] rand_core::Error),
    #[error("standard output cannot be written")]
    Output(#[source] io::Error),
}

/// The exit codes of `bellwether --help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Proof = 1,
    Usage = 2,
    File = 3,
    Device = 4,
    /// What shells report of a program that SIGPIPE ends: 128 + 13.
    Pipe = 141,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl Error {
    pub(crate) fn exit_code(&self) -> Exit {
        match self {
            Error::Choice(_) | Error::Select(SelectError::Contradiction) => Exit::Usage,
            Error::Select(_) => Exit::Device,
            Error::File(_) => Exit::File,
            // The device worked, its proofs are wrong: that is a matter of proofs.
            Error::Prove { source: ProveError::InvalidProof { .. }, .. } => Exit::Proof,
            Error::Prove { source, .. } if source.is_device_fault() => Exit::Device,
            Error::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Pipe,
            Error::Prove { .. }
            | Error::Refused { .. }
            | Error::Embedded(_)
            | Error::Randomness(_)
            | Error::Output(_) => Exit::Proof,
        }
    }

    /// What stderr says: the failure, its causes, and a remedy where one is known. Nothing for a pipe that was
    /// closed: `bellwether ... | head` is no failure to tell of.
    pub(crate) fn to_text(&self) -> String {
        if self.exit_code() == Exit::Pipe {
            return String::new();
        }
        let mut said = self.to_string();
        let mut text = format!("error: {said}\n");
        let mut cause = self.source();
        while let Some(error) = cause {
            let message = error.to_string();
            // Many errors repeat their source; once is enough.
            if !said.contains(&message) {
                text += &format!("  because: {message}\n");
                said = message;
            }
            cause = error.source();
        }
        if let Some(remedy) = self.remedy() {
            text += &format!("  try: {remedy}\n");
        }
        text
    }

    fn remedy(&self) -> Option<&'static str> {
        match self {
            Error::Choice(_) => Some("unset BELLWETHER_DEVICE, or override it with --device"),
            Error::Select(error) => Some(select_remedy(error)),
            Error::File(error) => key_remedy(error),
            Error::Embedded(_) => Some("install the program again: this copy is damaged"),
            Error::Prove { source, .. } => prove_remedy(source),
            Error::Refused { .. } => Some(
                "`bellwether devices` repeats the self-test; --device cpu tells a faulty device from other faults",
            ),
            Error::Randomness(_) | Error::Output(_) => None,
        }
    }
}

fn select_remedy(error: &SelectError) -> &'static str {
    match error {
        SelectError::NotInBuild { .. } => {
            "let --device or BELLWETHER_DEVICE name a device that `bellwether devices` lists, or leave out both"
        }
        SelectError::NoGpu { .. } => {
            "leave out --require-gpu to prove on the CPU; `bellwether devices` says more of each GPU"
        }
        SelectError::Contradiction => "leave out --require-gpu, or choose another device than the CPU",
        _ => {
            "let --device or BELLWETHER_DEVICE name a device that `bellwether devices` lists, or leave out both"
        }
    }
}

fn key_remedy(error: &KeyError) -> Option<&'static str> {
    const DOWNLOAD: &str =
        "make or fetch the file again; `b2sum FILE` gives the digest that a publisher states";
    match error {
        KeyError::Io { source, .. } => match source.kind() {
            io::ErrorKind::NotFound => Some("check the path; `ls` shows what is there"),
            io::ErrorKind::PermissionDenied => {
                Some("check that you may read the file: `ls -l` shows who may")
            }
            io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => Some("name a regular file"),
            _ => None,
        },
        KeyError::Empty { .. } | KeyError::Truncated { .. } | KeyError::ForgedCount { .. } => Some(DOWNLOAD),
        KeyError::InvalidPoint { .. } => Some(
            "check that this is a parameter file of bellman or bellperson for BLS12-381; if so, make or fetch it again",
        ),
        KeyError::Changed { .. } => Some("wait until whatever writes to the file is done"),
        _ => None,
    }
}

fn prove_remedy(error: &ProveError) -> Option<&'static str> {
    match error {
        ProveError::Memory { .. } => Some(
            "free memory on the device, or choose another with --device; `bellwether devices` lists them",
        ),
        ProveError::Device { .. } | ProveError::InvalidProof { .. } | ProveError::Fallback { .. } => {
            Some("`bellwether devices` repeats the device's self-test; --device cpu proves without it")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_cause_and_remedy_and_do_not_repeat_themselves() {
        let source = KeyError::Io {
            file: std::path::Path::new("x.params").into(),
            offset: 0,
            source: io::ErrorKind::NotFound.into(),
        };
        let text = Error::File(source).to_text();
        assert_eq!(text.matches("not found").count(), 1, "{text}");
        assert!(text.starts_with("error: "), "{text}");
        assert!(text.contains("\n  because: x.params: "), "{text}");
        assert!(text.contains("\n  try: "), "{text}");
    }

    #[test]
    fn a_wrong_proof_is_no_device_failure_but_too_little_memory_is() {
        let prove = |source| Error::Prove { circuit: "sapling-spend", source };
        let device = "cpu".to_owned();
        let invalid = prove(ProveError::InvalidProof { device: device.clone(), attempts: 2 });
        let memory = prove(ProveError::Memory { device, needed: 2, free: 1 });
        assert_eq!(invalid.exit_code(), Exit::Proof);
        assert_eq!(memory.exit_code(), Exit::Device);
    }

    #[test]
    fn a_closed_pipe_is_silent() {
        let error = Error::Output(io::ErrorKind::BrokenPipe.into());
        assert_eq!((error.exit_code(), error.to_text()), (Exit::Pipe, String::new()));
    }
}
