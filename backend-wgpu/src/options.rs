//! What a program may choose about the backend.

use std::path::PathBuf;

use bellwether_shaders::Tier;

/// Choices for [`WgpuDriver`](crate::WgpuDriver); the default is right for proving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WgpuOptions {
    /// The representation of field elements. `None` takes 64-bit integers where the adapter has them.
    pub tier: Option<Tier>,
    /// Whether shaders check indices at run time. Costs up to a factor of nine; for tests.
    pub checked: bool,
    /// An upper bound for the bytes of one binding, below the adapter's own: with a small one, tests reach the code
    /// that splits vectors. Below 256 KiB, which the tables of a fixed base in G2 need, devices are refused.
    pub max_binding: Option<u64>,
    /// Where compiled pipelines are kept between runs.
    pub cache: PipelineCachePlace,
    /// Whether multiples of the bases are computed where memory allows. `None` does so unless the adapter computes in
    /// software; tests ask for them there, too.
    pub multiples: Option<bool>,
    /// An upper bound for the bytes of device memory at one time. Counts buffers in use and kept for use again; not
    /// upload chunks (up to 64 MiB), landings of results, or parameters.
    pub memory_limit: Option<u64>,
}

/// Where compiled pipelines are kept between runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PipelineCachePlace {
    /// `bellwether` in the user's cache directory: `$XDG_CACHE_HOME`, `~/.cache`, `~/Library/Caches` or
    /// `%LOCALAPPDATA%`.
    #[default]
    UserCache,
    /// This directory.
    Directory(PathBuf),
    /// Nowhere.
    Off,
}
