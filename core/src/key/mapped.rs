//! A key file that stays where it is.

use std::io;
use std::path::Path;

use super::error::{KeyError, KeyOrigin};
use super::reader::open_file;
use crate::fenced::mapping::{Mapping, Unavailable};

/// A memory-mapped key file, which names itself when its bytes cannot be had.
#[derive(Debug)]
pub(super) struct MappedFile {
    mapping: Mapping,
    origin: KeyOrigin,
}

impl MappedFile {
    /// Maps the whole of a regular file.
    ///
    /// # Errors
    /// `Io` if it cannot be opened or mapped, `Empty` if there is nothing to map.
    pub(super) fn open(path: &Path) -> Result<Self, KeyError> {
        let (file, len) = open_file(path)?;
        let io = |source| KeyError::Io { file: KeyOrigin::from(path), offset: 0, source };
        let len = usize::try_from(len).map_err(|_| io(io::ErrorKind::FileTooLarge.into()))?;
        let mapping = Mapping::new(file, len).map_err(io)?;
        Ok(Self { mapping, origin: KeyOrigin::from(path) })
    }

    /// The file's size when it was opened, in bytes.
    pub(super) fn len(&self) -> u64 {
        self.mapping.len() as u64
    }

    /// The file's name, for messages.
    pub(super) fn origin(&self) -> &KeyOrigin {
        &self.origin
    }

    /// `len` bytes from `start` on.
    ///
    /// # Errors
    /// `Changed` if the file has another size than when it was opened, `Truncated` if the range ends behind
    /// the file, `Io` if the file cannot be asked.
    pub(super) fn bytes(&self, start: u64, len: u64) -> Result<&[u8], KeyError> {
        let file = || self.origin.clone();
        let bytes = self.mapping.bytes().map_err(|unavailable| match unavailable {
            Unavailable::Io(source) => KeyError::Io { file: file(), offset: start, source },
            Unavailable::Resized(found) => KeyError::Changed { file: file(), expected: self.len(), found },
        })?;
        let end = start.checked_add(len).filter(|&end| end <= self.len());
        // Both fit: they are at most the length of a slice.
        end.and_then(|end| bytes.get(start as usize..end as usize)).ok_or_else(|| KeyError::Truncated {
            file: file(),
            offset: start,
            needed: len,
            found: self.len().saturating_sub(start),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn mapped(content: &[u8]) -> (tempfile::NamedTempFile, MappedFile) {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(content).expect("written");
        let map = MappedFile::open(file.path()).expect("mapped");
        (file, map)
    }

    #[test]
    fn hands_out_ranges_inside_the_file_only() {
        let (_file, map) = mapped(b"bellwether");
        assert_eq!(map.bytes(4, 3).expect("inside"), b"wet");
        assert_eq!(map.bytes(10, 0).expect("inside"), b"");
        for (start, len) in [(0, 11), (10, 1), (11, 0), (u64::MAX, 1), (1, u64::MAX)] {
            let error = map.bytes(start, len).expect_err("outside");
            assert!(matches!(error, KeyError::Truncated { .. }), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn refuses_a_file_of_another_size() {
        let (file, map) = mapped(b"bellwether");
        for len in [3, 30, 0] {
            file.as_file().set_len(len).expect("resized");
            let error = map.bytes(0, 1).expect_err("resized");
            assert!(
                matches!(error, KeyError::Changed { expected: 10, found, .. } if found == len),
                "{error}"
            );
        }
        file.as_file().set_len(10).expect("resized");
        map.bytes(0, 10).expect("the old size");
    }

    #[test]
    fn refuses_what_cannot_be_mapped() {
        let empty = tempfile::NamedTempFile::new().expect("a temporary file");
        assert!(matches!(MappedFile::open(empty.path()), Err(KeyError::Empty { .. })));
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(matches!(MappedFile::open(folder.path()), Err(KeyError::Io { .. })));
        assert!(matches!(MappedFile::open(&folder.path().join("none")), Err(KeyError::Io { .. })));
    }
}
