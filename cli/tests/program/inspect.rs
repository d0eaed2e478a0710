//! `bellwether inspect`.

use std::fs;

use bellwether::ParameterDigest;
use bellwether_circuits::sapling::Parameters;
use serde_json::json;
use tempfile::TempDir;

use super::{Run, run};

/// Writes bytes to a file and inspects it.
fn inspect(bytes: &[u8], flags: &[&str]) -> Run {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("some.params");
    fs::write(&path, bytes).unwrap();
    run(&[&["inspect", path.to_str().unwrap()], flags].concat())
}

#[test]
fn sapling_output_has_its_known_lengths_and_its_name() {
    let parameters = Parameters::ceremony();
    let object = inspect(&parameters.output, &["--json"]).exits(0).json().remove(0);
    let expected = json!({
        "file_bytes": 3_592_860, "domain": 8192, "checked": false,
        "ic": 6, "h": 8191, "l": 7821, "a": 6298, "b_g1": 4850, "b_g2": 4850,
        "digest": ParameterDigest::SAPLING_OUTPUT.to_string(),
        "short": "657e3d38dbb5cb5e7dd2970e8b03d69b",
        "known": "sapling-output",
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&object[field], value, "{field}");
    }
}

#[test]
fn text_shows_the_same() {
    let parameters = Parameters::ceremony();
    let text = inspect(&parameters.output, &[]).exits(0).stdout;
    let digest = ParameterDigest::SAPLING_OUTPUT.to_string();
    for part in ["3,592,860 bytes", "8,192 = 2^13", "8,191", "7,821", "sapling-output", &digest] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn a_file_with_bytes_behind_the_key_is_another_file_and_they_are_counted() {
    let mut bytes = Parameters::ceremony().output;
    let before = inspect(&bytes, &["--json"]).exits(0).json().remove(0);
    bytes.extend([0; 5]);
    let after = inspect(&bytes, &["--json"]).exits(0).json().remove(0);
    let trailing = |object: &serde_json::Value| object["trailing_bytes"].as_u64().unwrap();
    assert_eq!(trailing(&after), trailing(&before) + 5);
    assert!(after["known"].is_null());
}

#[test]
fn a_missing_file_and_a_directory_are_input_errors() {
    let directory = TempDir::new().unwrap();
    let missing = directory.path().join("no.params");
    run(&["inspect", missing.to_str().unwrap()]).exits(3).says(&["no.params: ", "No such file", "try: "]);
    run(&["inspect", directory.path().to_str().unwrap()]).exits(3);
}

#[test]
fn an_empty_file_is_an_input_error() {
    inspect(&[], &[]).exits(3).says(&["some.params", "byte 0", "empty", "try: "]);
}

#[test]
fn a_truncated_file_is_an_input_error_with_the_offset() {
    let bytes = Parameters::ceremony().output;
    // In α, in the count of ic, and in h, whose count follows six points of ic.
    for (len, offset) in [(50, 0), (866, 864), (100_000, 1444)] {
        inspect(&bytes[..len], &["--json"]).exits(3).says(&[
            "some.params",
            &format!("byte {offset}"),
            "truncated",
            "b2sum",
        ]);
    }
}

#[test]
fn what_is_no_parameter_file_is_an_input_error() {
    let bytes = [b'x'; 5000];
    inspect(&bytes, &[]).exits(3).says(&["byte 0", "alpha_g1", "try: "]);
}

/// A point that is on no curve, far behind the verifying key.
#[test]
fn only_a_check_finds_a_bad_point() {
    let mut bytes = Parameters::ceremony().output;
    // The last byte of the y-coordinate of point 100 of h.
    bytes[1444 + 4 + 96 * 101 - 1] ^= 1;
    inspect(&bytes, &[]).exits(0);
    inspect(&bytes, &["--check"]).exits(3).says(&[
        "point 100 of h",
        "not on the curve",
        &format!("byte {}", 1448 + 9600),
    ]);
}
