//! A reader who leaves before the end.

use std::io::pipe;
use std::process::Stdio;

use super::bellwether;

/// What shells report of a program that SIGPIPE ends.
const PIPE: i32 = 141;

#[test]
fn a_closed_pipe_is_no_panic_and_no_success() {
    for args in [
        &["devices", "--device", "cpu"][..],
        &["devices", "--device", "cpu", "--json"],
        &["completions", "zsh"],
        &["demo", "--device", "cpu"],
    ] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = bellwether(args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(PIPE), "{args:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, "", "{args:?}");
    }
}

#[test]
fn a_closed_stderr_is_no_panic() {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let status = bellwether(&["inspect", "/nowhere", "--log", "trace"])
        .stdout(Stdio::null())
        .stderr(writer)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn help_into_a_closed_pipe_is_no_panic() {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let output = bellwether(&["--help"]).stdout(writer).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
