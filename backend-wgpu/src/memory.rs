//! How much memory an adapter has.

use crate::fenced;

/// Bytes of the adapter's own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) total: u64,
    /// What this process may still allocate, where the driver tells.
    pub(crate) free: Option<u64>,
}

/// The memory of an adapter, if it can be told: through Vulkan only.
pub(crate) fn of(adapter: &wgpu::Adapter) -> Option<Memory> {
    let heaps = fenced::vulkan_heaps(adapter)?;
    // The other local heap of a card, if any, is a window for the host.
    let (total, free) = heaps.into_iter().max_by_key(|(size, _)| *size)?;
    Some(Memory { total, free })
}
