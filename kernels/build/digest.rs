//! A number that changes with the sources of the kernels; used by the build script and by `cargo xtask kernels`.

use std::path::{Path, PathBuf};

/// All files of a directory of sources, in order.
pub(crate) fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cu" || extension == "cuh"));
    files.sort();
    Ok(files)
}

/// FNV-1a over the names and texts of the sources, as text.
pub(crate) fn digest(directory: &Path) -> Result<String, String> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for path in files(directory)? {
        let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for byte in name.bytes().chain((text.len() as u64).to_le_bytes()).chain(text) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}"))
}
