//! What can go wrong on a device.

/// A device did not do its work. Never raised for a malformed circuit, key or witness.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// An allocation does not fit.
    #[error("out of memory: {asked} bytes asked, {} free", free.map_or("unknown".to_owned(), |f| f.to_string()))]
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes free at that time, if it can be told.
        free: Option<u64>,
    },
    /// The device was lost or reset; it can be opened anew, what it held is gone.
    #[error("device lost: {reason}")]
    DeviceLost {
        /// The driver's words.
        reason: String,
    },
    /// A kernel does not compile.
    #[error("kernel {kernel} does not compile: {log}")]
    Compile {
        /// Name of the kernel.
        kernel: String,
        /// The compiler's log.
        log: String,
    },
    /// A copy or a launch failed.
    #[error("{operation} failed: {reason}")]
    Launch {
        /// Name of the operation or kernel.
        operation: String,
        /// The driver's words.
        reason: String,
    },
    /// The device cannot do this.
    #[error("{what} is not supported: {why}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// Why it cannot be.
        why: String,
    },
    /// There is no driver, or one too old.
    #[error("no usable driver: {} found, {needed} needed", found.as_deref().unwrap_or("none"))]
    NoDriver {
        /// Version found, if any.
        found: Option<String>,
        /// Version needed.
        needed: String,
    },
    /// The points of a key could not be read while they were made resident.
    #[error("reading the key: {reason}")]
    Key {
        /// The reader's words.
        reason: String,
    },
    /// Two devices, or a device and a known answer, differ.
    #[error("{operation}: {first} and {second} differ at index {index}")]
    Mismatch {
        /// Name of the operation.
        operation: &'static str,
        /// Position of the first difference; 0 for a single value.
        index: usize,
        /// One side.
        first: String,
        /// The other.
        second: String,
    },
}
