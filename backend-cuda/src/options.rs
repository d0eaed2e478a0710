//! What a program may choose about the backend.

use std::path::PathBuf;

/// Choices for [`CudaDriver`](crate::CudaDriver) and for the host build; the default is right for proving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CudaOptions {
    /// An upper bound for the bytes of device memory in use at one time. Does not count pinned memory of the host, nor
    /// what the driver takes for itself.
    pub memory_limit: Option<u64>,
    /// Whether multiples of the bases are computed where memory allows. `None` does so on a card, and not in the host
    /// build; tests ask for them there, too.
    pub tables: Option<bool>,
    /// Waits for every kernel before the next command, so that a fault names the kernel.
    pub blocking: bool,
    /// Where compiled kernels are kept between runs, for kernels that are not part of the program.
    pub cache: KernelCachePlace,
    /// Threads of the host build; `None` takes as many as the machine has.
    pub host_threads: Option<usize>,
    /// The order in which the host build carries out the threads of a block, for tests: results must not depend on it.
    pub host_order: HostOrder,
}

/// Where compiled kernels are kept between runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KernelCachePlace {
    /// `bellwether` in the user's cache directory: `$XDG_CACHE_HOME`, `~/.cache`, `~/Library/Caches` or
    /// `%LOCALAPPDATA%`.
    #[default]
    UserCache,
    /// This directory.
    Directory(PathBuf),
    /// Nowhere.
    Off,
}

/// The order in which the host build carries out those threads of a block that can go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostOrder {
    /// By increasing number.
    #[default]
    Forward,
    /// By decreasing number.
    Reverse,
    /// Another at each block and barrier, determined by the seed.
    Shuffled(u64),
}
