//! Read-only memory-mapped files.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use crate::key::{KeyError, KeyOrigin, open_file};

/// A file mapped for reading, whose bytes are handed out only while the file still has the size it was
/// opened with.
///
/// # What remains
/// The operating system lets others write to a mapped file, and this type cannot forbid it. A file that is
/// shortened *between* the check in [`MappedFile::bytes`] and the use of the bytes ends the process (SIGBUS
/// on Unix); users keep that window short by asking for blocks of a few megabytes. Bytes overwritten in place
/// are seen as they are: whatever is decoded must be validated each time. Windows refuses to shorten a mapped file.
#[derive(Debug)]
pub(crate) struct MappedFile {
    file: File,
    map: Mmap,
    origin: KeyOrigin,
}

impl MappedFile {
    /// Maps the whole of a regular file.
    ///
    /// # Errors
    /// `Io` if it cannot be opened or mapped, `Empty` if there is nothing to map.
    pub(crate) fn open(path: &Path) -> Result<Self, KeyError> {
        let (file, len) = open_file(path)?;
        let origin = KeyOrigin::from(path);
        let io = |source| KeyError::Io { file: KeyOrigin::from(path), offset: 0, source };
        let len = usize::try_from(len).map_err(|_| io(io::ErrorKind::FileTooLarge.into()))?;
        // SAFETY: the mapping is private to this type, read-only, and lives as long as `self`. Its bytes leave
        // only through `bytes`, bounded by the length mapped here and after checking that the file still has
        // that length, so they are backed by the file. That nobody writes to the file while a caller looks at
        // the bytes is the operator's part, as the type's documentation says; callers only copy single
        // bytes out of the slice and validate what they copied, they keep no reference into it.
        let map = unsafe { MmapOptions::new().len(len).map(&file) }.map_err(io)?;
        Ok(Self { file, map, origin })
    }

    /// The file's size when it was opened, in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.map.len() as u64
    }

    /// The file's name, for messages.
    pub(crate) fn origin(&self) -> &KeyOrigin {
        &self.origin
    }

    /// `len` bytes from `start` on.
    ///
    /// # Errors
    /// `Changed` if the file has another size than when it was opened, `Truncated` if the range ends behind
    /// the file, `Io` if the file cannot be asked.
    pub(crate) fn bytes(&self, start: u64, len: u64) -> Result<&[u8], KeyError> {
        let file = || self.origin.clone();
        let found = self
            .file
            .metadata()
            .map_err(|source| KeyError::Io { file: file(), offset: start, source })?
            .len();
        if found != self.len() {
            return Err(KeyError::Changed { file: file(), expected: self.len(), found });
        }
        let end = start.checked_add(len).filter(|&end| end <= self.len());
        // Both fit: they are at most the length of a slice.
        end.and_then(|end| self.map.get(start as usize..end as usize)).ok_or_else(|| KeyError::Truncated {
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
