//! Compiled kernels, kept on disk between runs.
//!
//! A file is named by the digest of what its image was made from, and carries the digest of the image, so that one that
//! was cut short or altered is not used. It is written beside its place and then renamed; several processes may do so at
//! once.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::options::KernelCachePlace;

/// First bytes of a file.
const MAGIC: &[u8; 8] = b"bellwck1";
/// Bytes of a digest.
const DIGEST: usize = 32;
/// Magic, length and digest.
const HEADER: usize = 8 + 8 + DIGEST;

/// The digest of some parts, none of which can be taken for the end of another.
pub(crate) fn digest(parts: &[&[u8]]) -> [u8; DIGEST] {
    let mut state = blake2b_simd::Params::new().hash_length(DIGEST).to_state();
    for part in parts {
        state.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    let mut digest = [0; DIGEST];
    digest.copy_from_slice(state.finalize().as_bytes());
    digest
}

/// The file of one module's image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheFile(PathBuf);

impl CacheFile {
    /// The file for a module whose image is determined by what has this digest, unless caching is off or there is no
    /// place for it.
    pub(crate) fn new(place: &KernelCachePlace, name: &str, digest: &[u8; DIGEST]) -> Option<CacheFile> {
        let directory = match place {
            KernelCachePlace::Off => return None,
            KernelCachePlace::Directory(directory) => directory.clone(),
            KernelCachePlace::UserCache => user_cache(|name| std::env::var_os(name).map(PathBuf::from))?,
        };
        let digest: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Some(CacheFile(directory.join(format!("cuda_{name}_{digest}.bin"))))
    }

    /// What was stored, if it is whole.
    pub(crate) fn load(&self) -> Option<Vec<u8>> {
        let file = fs::read(&self.0).ok()?;
        let (header, data) = file.split_at_checked(HEADER)?;
        if header != header_of(data) {
            tracing::debug!(path = %self.0.display(), "damaged image of kernels ignored");
            return None;
        }
        Some(data.to_vec())
    }

    /// Stores; without success, the next start compiles again.
    pub(crate) fn store(&self, data: &[u8]) {
        if let Err(error) = self.try_store(data) {
            tracing::debug!(path = %self.0.display(), %error, "image of kernels not written");
        }
    }

    fn try_store(&self, data: &[u8]) -> std::io::Result<()> {
        let directory = self.0.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let unfinished = self.0.with_extension(format!("{}.tmp", std::process::id()));
        let written = fs::File::create(&unfinished).and_then(|mut file| {
            file.write_all(&header_of(data))?;
            file.write_all(data)?;
            file.sync_all()
        });
        let renamed = written.and_then(|()| fs::rename(&unfinished, &self.0));
        if renamed.is_err() {
            // It may not even exist.
            let _ = fs::remove_file(&unfinished);
        }
        renamed
    }
}

fn header_of(data: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..16].copy_from_slice(&(data.len() as u64).to_le_bytes());
    header[16..].copy_from_slice(&digest(&[data]));
    header
}

/// The user's cache directory, from the environment.
fn user_cache(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let cache = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        absolute("HOME").map(|home| home.join("Library/Caches"))
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
    };
    cache.map(|cache| cache.join("bellwether"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(directory: &Path) -> CacheFile {
        let place = KernelCachePlace::Directory(directory.join("some"));
        CacheFile::new(&place, "ntt", &digest(&[b"sources"])).unwrap()
    }

    #[test]
    fn what_was_stored_is_loaded() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(file(scratch.path()).load(), None);
        for data in [&b""[..], b"image", &[7; 100_000]] {
            file(scratch.path()).store(data);
            assert_eq!(file(scratch.path()).load().as_deref(), Some(data));
        }
        assert_eq!(
            fs::read_dir(scratch.path().join("some")).unwrap().count(),
            1,
            "nothing unfinished is left"
        );
    }

    #[test]
    fn damage_is_noticed() {
        let scratch = tempfile::tempdir().unwrap();
        let file = file(scratch.path());
        file.store(&[5; 1000]);
        let whole = fs::read(&file.0).unwrap();
        for at in (0..whole.len()).step_by(13) {
            let mut altered = whole.clone();
            altered[at] ^= 1;
            fs::write(&file.0, altered).unwrap();
            assert_eq!(file.load(), None, "byte {at}");
            fs::write(&file.0, &whole[..at]).unwrap();
            assert_eq!(file.load(), None, "cut to {at} bytes");
        }
    }

    #[test]
    fn no_place_and_a_place_that_cannot_be_written() {
        assert_eq!(CacheFile::new(&KernelCachePlace::Off, "ntt", &[0; 32]), None);
        let scratch = tempfile::tempdir().unwrap();
        let taken = scratch.path().join("some");
        fs::write(&taken, "a file").unwrap();
        file(scratch.path()).store(b"image");
        assert_eq!(file(scratch.path()).load(), None);
    }

    #[test]
    fn digests_tell_parts_apart() {
        let digests =
            [digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]), digest(&[b"abc"]), digest(&[b"abc", b""])];
        for (i, one) in digests.iter().enumerate() {
            assert!(digests[..i].iter().all(|other| other != one));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_users_cache() {
        let of = |set: &[(&str, &str)]| {
            user_cache(|name| set.iter().find(|(set, _)| *set == name).map(|(_, path)| PathBuf::from(path)))
        };
        assert_eq!(of(&[("HOME", "/home/a")]), Some("/home/a/.cache/bellwether".into()));
        assert_eq!(of(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/home/a")]), Some("/c/bellwether".into()));
        assert_eq!(of(&[("XDG_CACHE_HOME", "relative")]), None);
    }
}
