//! Files that are truncated, forged, altered or changed under way.

use group::prime::PrimeCurveAffine;

use super::*;

/// Where the six counts of [`small_key`] are, with the part and the points' size.
const COUNTS: [(usize, KeyPart, usize); 6] = [
    (864, KeyPart::Ic, 96),
    (868 + 192, KeyPart::H, 96),
    (1064 + 288, KeyPart::L, 96),
    (1356 + 192, KeyPart::A, 96),
    (1552 + 192, KeyPart::BG1, 96),
    (1748 + 96, KeyPart::BG2, 192),
];

/// A mapped key with all its points decoded.
fn map_and_decode(path: &Path) -> Result<ProvingKey, KeyError> {
    let key = ProvingKey::map(path, &NEVER)?;
    let loaded = |points: &Points<G1Affine>| points.to_shared();
    let (h, l, a, b_g1) = (loaded(&key.h)?, loaded(&key.l)?, loaded(&key.a)?, loaded(&key.b_g1)?);
    Ok(ProvingKey::new(key.vk.clone(), h, l, a, b_g1, key.b_g2.to_shared()?))
}

#[test]
fn truncation_at_every_byte_is_an_error_with_its_offset() {
    let bytes = bytes_of(&small_key());
    let file = file_of(&bytes);
    for len in (0..bytes.len()).rev() {
        let in_memory = ProvingKey::from_bytes(&bytes[..len], Checks::CurveOnly).expect_err("truncated");
        assert!(offset_of(&in_memory) <= len as u64, "{in_memory}");
        file.as_file().set_len(len as u64).expect("truncated");
        let path = file.path().display().to_string();
        for error in [
            ProvingKey::read(file.path(), &NEVER).expect_err("truncated"),
            ProvingKey::map(file.path(), &NEVER).expect_err("truncated"),
        ] {
            assert_eq!(offset_of(&error), offset_of(&in_memory), "{error}");
            assert!(error.to_string().contains(&path), "{error}");
            assert!(error.to_string().contains("byte"), "{error}");
        }
    }
}

#[test]
fn forged_counts_are_refused_before_memory_is_allocated() {
    let bytes = bytes_of(&small_key());
    for (at, part, size) in COUNTS {
        let rest = (bytes.len() - at - 4) as u64;
        for forged in [u32::MAX, 0x8000_0000, rest as u32 / size as u32 + 1] {
            let mut bytes = bytes.clone();
            bytes[at..at + 4].copy_from_slice(&forged.to_be_bytes());
            let file = file_of(&bytes);
            for result in [
                ProvingKey::from_bytes(&bytes, Checks::Full),
                ProvingKey::read(file.path(), &NEVER),
                ProvingKey::map(file.path(), &NEVER),
            ] {
                let KeyError::ForgedCount { offset, part: found, count, available, .. } =
                    result.expect_err("forged")
                else {
                    panic!("another error for {part} and {forged}")
                };
                assert_eq!((offset, found, count, available), (at as u64, part, forged, rest));
            }
        }
    }
}

#[test]
fn an_altered_byte_is_refused_or_means_another_key() {
    let bytes = bytes_of(&small_key());
    let digest = ParameterDigest::of(&bytes);
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 1 << (at * 5 % 8);
        let file = file_of(&altered);
        let results = [ProvingKey::from_bytes(&altered, Checks::CurveOnly), map_and_decode(file.path())];
        for result in results {
            match result {
                // The encoding is unique: what was accepted is what is written again.
                Ok(key) => {
                    let written = bytes_of(&key);
                    assert_eq!(written, altered[..written.len()], "byte {at}");
                    assert!(key.digest() != Some(digest), "byte {at}");
                }
                Err(error) => assert!(offset_of(&error) <= at.max(4) as u64, "byte {at}: {error}"),
            }
        }
    }
}

#[test]
fn points_outside_the_subgroup_are_refused_where_that_is_checked() {
    let mut key = small_key();
    let outside = outside_subgroup_g1();
    key.a = vec![key.a.as_slice().expect("in memory")[0], outside].into();
    let g1 = (bytes_of(&key), KeyPart::A, 1, 1552 + 96);
    let mut key = small_key();
    key.b_g2 = vec![outside_subgroup_g2()].into();
    let g2 = (bytes_of(&key), KeyPart::BG2, 0, 1848);
    for (bytes, part, index, at) in [g1, g2] {
        let file = file_of(&bytes);
        let own = [ParameterDigest::of(&bytes)];
        let trusting = ReadOptions { trusted: &own, ..ReadOptions::default() };
        ProvingKey::from_bytes(&bytes, Checks::CurveOnly).expect("not checked");
        for options in [NEVER, trusting] {
            ProvingKey::read(file.path(), &options).expect("not checked");
            assert_eq!(bytes_of(&ProvingKey::map(file.path(), &options).expect("not checked")), bytes);
        }
        let always = ReadOptions { checks: CheckPolicy::Always, ..trusting };
        for result in [
            ProvingKey::from_bytes(&bytes, Checks::Full),
            ProvingKey::read(file.path(), &ReadOptions::default()),
            ProvingKey::map(file.path(), &ReadOptions::default()),
            ProvingKey::read(file.path(), &always),
            ProvingKey::map(file.path(), &always),
        ] {
            let error = result.expect_err("outside the subgroup");
            let KeyError::InvalidPoint { offset, part: found_part, index: found, fault, .. } = error else {
                panic!("another error: {error}")
            };
            assert_eq!((found_part, found, offset), (part, index, at));
            assert_eq!(fault, PointFault::NotInSubgroup);
        }
    }
}

#[test]
fn the_verifying_key_is_checked_in_full_always() {
    let bytes = bytes_of(&small_key());
    let outside = outside_subgroup_g1().to_uncompressed();
    for (at, part) in [(576, KeyPart::DeltaG1), (868 + 96, KeyPart::Ic)] {
        let mut bytes = bytes.clone();
        bytes[at..at + 96].copy_from_slice(&outside);
        let file = file_of(&bytes);
        for result in [
            ProvingKey::from_bytes(&bytes, Checks::CurveOnly),
            ProvingKey::map(file.path(), &NEVER),
            VerifyingKey::read_prefix(&bytes).map(|(vk, _)| ProvingKey { vk, ..small_key() }),
        ] {
            let error = result.expect_err("outside the subgroup");
            let KeyError::InvalidPoint { offset, part: found, fault: PointFault::NotInSubgroup, .. } = error
            else {
                panic!("another error: {error}")
            };
            assert_eq!((offset, found), (at as u64, part));
        }
    }
}

#[test]
fn infinity_is_refused_by_readers_and_writers() {
    let bytes = bytes_of(&small_key());
    for (at, size) in [(0, 96), (192, 192), (868, 96), (1064, 96), (1848, 192)] {
        let mut bytes = bytes.clone();
        bytes[at..at + size].fill(0);
        bytes[at] = 0x40;
        let file = file_of(&bytes);
        for result in [ProvingKey::from_bytes(&bytes, Checks::CurveOnly), map_and_decode(file.path())] {
            let error = result.expect_err("infinity");
            let KeyError::InvalidPoint { offset, fault: PointFault::Infinity, .. } = error else {
                panic!("another error: {error}")
            };
            assert_eq!(offset, at as u64);
        }
    }
    let mut key = small_key();
    key.l = vec![G1Affine::generator(), G1Affine::identity()].into();
    let error = key.write(std::io::sink()).expect_err("infinity");
    let KeyError::InvalidPoint { offset: 1452, part: KeyPart::L, index: 1, .. } = error else {
        panic!("another error: {error}")
    };
}

#[cfg(unix)]
#[test]
fn a_mapped_file_that_changes_its_size_is_an_error() {
    let bytes = bytes_of(&small_key());
    let file = file_of(&bytes);
    let key = ProvingKey::map(file.path(), &NEVER).expect("a good key");
    let mut out = [G1Affine::default(); 2];
    key.h.read(1, &mut out).expect("unchanged");
    for len in [bytes.len() as u64 - 1, 0, 4096 * 3] {
        file.as_file().set_len(len).expect("resized");
        for error in [
            key.h.read(0, &mut out).expect_err("changed"),
            key.b_g2.to_shared().expect_err("changed"),
            key.write(std::io::sink()).expect_err("changed"),
        ] {
            let KeyError::Changed { expected, found, .. } = error else { panic!("another error: {error}") };
            assert_eq!((expected, found), (bytes.len() as u64, len));
        }
    }
}

#[test]
fn a_stream_that_ends_early_or_late_is_an_error() {
    let bytes = bytes_of(&small_key());
    let read = |total: usize| {
        ProvingKey::read_stream(&bytes[..], KeyOrigin::UNNAMED, total as u64, &ReadOptions::default())
    };
    read(bytes.len()).expect("as promised");
    let error = read(bytes.len() + 1000).expect_err("shorter than promised");
    assert!(matches!(error, KeyError::Changed { found, .. } if found == bytes.len() as u64), "{error}");

    let longer = [&bytes[..], &[0]].concat();
    let error = ProvingKey::read_stream(&longer[..], KeyOrigin::UNNAMED, bytes.len() as u64, &NEVER)
        .expect_err("longer than promised");
    assert!(matches!(error, KeyError::Changed { .. }), "{error}");
}

#[test]
fn empty_files_and_folders_are_refused() {
    let file = file_of(b"");
    let folder = tempfile::tempdir().expect("a temporary folder");
    for read in [ProvingKey::read, ProvingKey::map] {
        assert!(matches!(read(file.path(), &NEVER), Err(KeyError::Empty { .. })));
        assert!(matches!(read(folder.path(), &NEVER), Err(KeyError::Io { .. })));
    }
    assert!(matches!(ProvingKey::from_bytes(&[], Checks::Full), Err(KeyError::Empty { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_file_is_refused_and_not_read() {
    for path in ["/dev/zero", "/dev/null"] {
        assert!(matches!(inspect(path, None), Err(KeyError::Io { .. })), "{path}");
    }
}
