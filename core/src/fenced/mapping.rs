//! Read-only memory-mapped files.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// A file mapped for reading, whose bytes are handed out only while the file still has the size that was mapped.
///
/// # What remains
/// The operating system lets others write to a mapped file, and this type cannot forbid it. A file that is
/// shortened *between* the check in [`Mapping::bytes`] and the use of the bytes ends the process (SIGBUS on
/// Unix); users keep that window short by asking anew for each block of a few megabytes. Bytes overwritten in
/// place are seen as they are: whatever is decoded must be validated each time. Windows refuses to shorten a mapped
/// file.
#[derive(Debug)]
pub(crate) struct Mapping {
    file: File,
    map: Mmap,
}

/// Why the bytes are not handed out.
#[derive(Debug)]
pub(crate) enum Unavailable {
    /// The file cannot be asked for its size.
    Io(io::Error),
    /// The file has this size by now.
    Resized(u64),
}

impl Mapping {
    /// Maps the first `len` bytes of a file, which are all of them.
    pub(crate) fn new(file: File, len: usize) -> io::Result<Self> {
        // SAFETY: the mapping is private to this type, read-only, and lives as long as `self`. Its bytes leave
        // only through `bytes`, after checking that the file still has the mapped length, so they are backed by
        // the file. That nobody writes to the file while a caller looks at the bytes is the operator's part, as the
        // type's documentation says; callers only copy single bytes out of the slice and validate what they
        // copied, they keep no reference into it.
        let map = unsafe { MmapOptions::new().len(len).map(&file) }?;
        Ok(Self { file, map })
    }

    /// The size that was mapped, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> Result<&[u8], Unavailable> {
        match self.file.metadata() {
            Err(error) => Err(Unavailable::Io(error)),
            Ok(metadata) if metadata.len() != self.map.len() as u64 => {
                Err(Unavailable::Resized(metadata.len()))
            }
            Ok(_) => Ok(&self.map),
        }
    }
}
