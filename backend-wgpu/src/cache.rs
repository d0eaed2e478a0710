//! Compiled pipelines, kept on disk between runs.
//!
//! What a driver gave is given back to the same driver only: the file is named by adapter, driver and the text of
//! all shaders, and it carries a digest, so that one that was cut short or altered is not used. A file is written
//! beside its place and then renamed; several processes may do so at once.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use bellwether_core::curve::Group;
use bellwether_shaders::{Program, Tier};

use crate::options::PipelineCachePlace;

/// First bytes of a file.
const MAGIC: &[u8; 8] = b"bellwpc1";
/// Magic, length and digest.
const HEADER: usize = 8 + 8 + 16;

/// The file of one adapter's pipelines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheFile(PathBuf);

impl CacheFile {
    /// The file for an adapter, unless caching is off or there is no place for it.
    pub(crate) fn new(
        place: &PipelineCachePlace,
        info: &wgpu::AdapterInfo,
        tier: Tier,
        checked: bool,
    ) -> Option<CacheFile> {
        let directory = match place {
            PipelineCachePlace::Off => return None,
            PipelineCachePlace::Directory(directory) => directory.clone(),
            PipelineCachePlace::UserCache => user_cache(|name| std::env::var_os(name).map(PathBuf::from))?,
        };
        let key = wgpu::util::pipeline_cache_key(info)?;
        let mut hasher = DefaultHasher::new();
        (&info.name, &info.driver, &info.driver_info, checked).hash(&mut hasher);
        for &program in Program::ALL {
            for group in [None, Some(Group::G1), Some(Group::G2)] {
                program.source(group, tier).hash(&mut hasher);
            }
        }
        let (tier, version, hash) = (tier.name(), env!("CARGO_PKG_VERSION"), hasher.finish());
        Some(CacheFile(directory.join(format!("{key}_{tier}_{version}_{hash:016x}.bin"))))
    }

    /// What was stored, if it is whole.
    pub(crate) fn load(&self) -> Option<Vec<u8>> {
        let file = fs::read(&self.0).ok()?;
        let (header, data) = file.split_at_checked(HEADER)?;
        if header != header_of(data) {
            tracing::debug!(path = %self.0.display(), "damaged pipeline cache ignored");
            return None;
        }
        Some(data.to_vec())
    }

    /// Stores; without success, the next start is a cold one.
    pub(crate) fn store(&self, data: &[u8]) {
        if let Err(error) = self.try_store(data) {
            tracing::debug!(path = %self.0.display(), %error, "pipeline cache not written");
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
    header[16..24].copy_from_slice(&fnv(data, 0xcbf2_9ce4_8422_2325).to_le_bytes());
    header[24..].copy_from_slice(&fnv(data, 0x6295_c58d_62b8_2175).to_le_bytes());
    header
}

/// FNV-1a over words of eight bytes, from some start: finds damage, not malice, which could as well replace this
/// program.
fn fnv(data: &[u8], start: u64) -> u64 {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    data.chunks(8).fold(start, |hash, bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        step(hash, u64::from_le_bytes(word))
    })
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

    /// A directory that disappears with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("bellwether-cache-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Scratch(path)
        }

        fn file(&self) -> CacheFile {
            CacheFile(self.0.join("some").join("file.bin"))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_was_stored_is_loaded() {
        let scratch = Scratch::new("whole");
        assert_eq!(scratch.file().load(), None);
        for len in [0, 1, 7, 8, 9, 1000] {
            let data: Vec<u8> = (0..len).map(|i| i as u8).collect();
            scratch.file().store(&data);
            assert_eq!(scratch.file().load(), Some(data));
        }
        let files = fs::read_dir(scratch.0.join("some")).unwrap().count();
        assert_eq!(files, 1, "nothing unfinished is left");
    }

    #[test]
    fn damaged_files_are_ignored() {
        let scratch = Scratch::new("damaged");
        let file = scratch.file();
        file.store(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        let whole = fs::read(&file.0).unwrap();
        for len in 0..whole.len() {
            fs::write(&file.0, &whole[..len]).unwrap();
            assert_eq!(file.load(), None, "{len} bytes");
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut altered = whole.clone();
                altered[at] ^= 1 << bit;
                fs::write(&file.0, &altered).unwrap();
                assert_eq!(file.load(), None, "bit {bit} of byte {at}");
            }
        }
        let longer = [&whole[..], &[0]].concat();
        fs::write(&file.0, longer).unwrap();
        assert_eq!(file.load(), None);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_no_fault() {
        let scratch = Scratch::new("blocked");
        fs::create_dir_all(&scratch.0).unwrap();
        fs::write(scratch.0.join("some"), b"a file where a directory should be").unwrap();
        scratch.file().store(b"data");
        assert_eq!(scratch.file().load(), None);
    }

    #[test]
    fn files_are_named_by_what_they_depend_on() {
        let mut info = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Vulkan);
        let place = PipelineCachePlace::Directory("/somewhere".into());
        let name =
            |info: &wgpu::AdapterInfo, tier, checked| CacheFile::new(&place, info, tier, checked).unwrap();
        let first = name(&info, Tier::U64, false);
        assert_eq!(first, name(&info, Tier::U64, false));
        assert_ne!(first, name(&info, Tier::U32, false));
        assert_ne!(first, name(&info, Tier::U64, true));
        info.driver_info = "another version".into();
        assert_ne!(first, name(&info, Tier::U64, false));
        assert_eq!(CacheFile::new(&PipelineCachePlace::Off, &info, Tier::U64, false), None);
        info.backend = wgpu::Backend::Metal;
        assert_eq!(CacheFile::new(&place, &info, Tier::U64, false), None);
    }

    #[test]
    #[cfg(not(any(windows, target_os = "macos")))]
    fn the_users_cache_is_found() {
        let none = user_cache(|_| None);
        let home = user_cache(|name| (name == "HOME").then(|| "/home/somebody".into()));
        let xdg = user_cache(|name| (name == "XDG_CACHE_HOME").then(|| "/cache".into()));
        let relative = user_cache(|_| Some("relative".into()));
        assert_eq!(none, None);
        assert_eq!(home, Some("/home/somebody/.cache/bellwether".into()));
        assert_eq!(xdg, Some("/cache/bellwether".into()));
        assert_eq!(relative, None);
    }
}
