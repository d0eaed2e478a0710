//! What is written is what is read.

use std::sync::Mutex;

use super::*;

#[test]
fn reads_what_it_writes() {
    for sizes in [[2, 3, 2, 2, 1, 1], [1, 0, 0, 0, 0, 0], [3, 600, 300, 257, 256, 255]] {
        let key = key_of_sizes(sizes);
        let bytes = bytes_of(&key);
        let read = ProvingKey::from_bytes(&bytes, Checks::Full).expect("a good key");
        assert_eq!(read.vk, key.vk);
        assert_eq!(read.h.as_slice(), key.h.as_slice());
        assert_eq!(read.b_g2.as_slice(), key.b_g2.as_slice());
        assert_eq!(bytes_of(&read), bytes);
        assert_eq!(read.digest(), Some(ParameterDigest::of(&bytes)));
        assert_eq!((read.trailing_bytes(), key.digest()), (0, None));

        let file = file_of(&bytes);
        let mapped = ProvingKey::map(file.path(), &ReadOptions::default()).expect("a good key");
        assert!(mapped.h.as_slice().is_none());
        assert_eq!(bytes_of(&mapped), bytes);
        assert_eq!(mapped.digest(), read.digest());
        let read = ProvingKey::read(file.path(), &ReadOptions::default()).expect("a good key");
        assert_eq!(bytes_of(&read), bytes);
    }
}

#[test]
fn verifying_keys_read_what_they_write() {
    let key = small_key().vk;
    let mut bytes = Vec::new();
    key.write(&mut bytes).expect("written");
    assert_eq!(VerifyingKey::read(&bytes).expect("a good key"), key);
    for len in 0..bytes.len() {
        let error = VerifyingKey::read(&bytes[..len]).expect_err("truncated");
        assert!(offset_of(&error) <= len as u64, "{error}");
    }
    bytes.push(0);
    let error = VerifyingKey::read(&bytes).expect_err("too long");
    let expected = bytes.len() as u64 - 1;
    assert!(matches!(error, KeyError::TrailingBytes { offset, extra: 1, .. } if offset == expected));
    assert_eq!(VerifyingKey::read_prefix(&bytes).expect("a good key"), (key, bytes.len() - 1));
}

#[test]
fn trailing_bytes_are_counted_hashed_and_not_written() {
    let mut bytes = bytes_of(&small_key());
    let len = bytes.len();
    bytes.extend([0xa5; 52_836]);
    let file = file_of(&bytes);
    for key in [
        ProvingKey::from_bytes(&bytes, Checks::Full).expect("a good key"),
        ProvingKey::read(file.path(), &NEVER).expect("a good key"),
        ProvingKey::map(file.path(), &NEVER).expect("a good key"),
    ] {
        assert_eq!(key.trailing_bytes(), 52_836);
        assert_eq!(key.digest(), Some(ParameterDigest::of(&bytes)));
        assert_eq!(bytes_of(&key), bytes[..len]);
    }
    let summary = inspect(file.path(), None).expect("a good key");
    let expected = ParameterSummary {
        ic: 2,
        h: 3,
        l: 2,
        a: 2,
        b_g1: 1,
        b_g2: 1,
        domain_size: 4,
        file_bytes: bytes.len() as u64,
        trailing_bytes: 52_836,
        digest: ParameterDigest::of(&bytes),
    };
    assert_eq!(summary, expected);
}

#[test]
fn ranges_outside_a_query_are_an_error() {
    let key = small_key();
    let bytes = bytes_of(&key);
    let file = file_of(&bytes);
    let mapped = ProvingKey::map(file.path(), &NEVER).expect("a good key");
    for points in [&key.h, &mapped.h] {
        for (start, count) in [(0, 4), (3, 1), (4, 0), (usize::MAX, 1)] {
            let error = points.read(start, &mut vec![G1Affine::default(); count]).expect_err("outside");
            assert!(matches!(error, KeyError::OutOfRange { len: 3, .. }), "{error}");
        }
        points.read(3, &mut []).expect("an empty range at the end");
    }
}

#[test]
fn progress_reaches_the_end_of_each_phase() {
    let key = key_of_sizes([1, 700, 1, 1, 1, 300]);
    let bytes = bytes_of(&key);
    let file = file_of(&bytes);
    let seen = Mutex::new(Vec::new());
    let note = |progress: Progress| seen.lock().expect("no panic").push(progress);
    let options = ReadOptions { progress: Some(&note), ..ReadOptions::default() };
    for mapped in [false, true] {
        seen.lock().expect("no panic").clear();
        let read = if mapped { ProvingKey::map } else { ProvingKey::read };
        read(file.path(), &options).expect("a good key");
        let seen = seen.lock().expect("no panic");
        let points = 703 * 96 + 300 * 192;
        for (phase, total) in [(ReadPhase::Reading, bytes.len() as u64), (ReadPhase::Checking, points)] {
            let of_phase: Vec<_> = seen.iter().filter(|progress| progress.phase == phase).collect();
            assert!(of_phase.iter().all(|progress| progress.total == total && progress.done <= total));
            assert_eq!(of_phase.iter().filter(|progress| progress.done == total).count(), 1, "{phase:?}");
        }
    }
}
