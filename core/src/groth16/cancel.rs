//! Asking a running proof to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch that a proof looks at between phases. Clones share the switch.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// A switch that is off.
    pub fn new() -> Self {
        Cancellation::default()
    }

    /// Turns the switch on: proofs that look at it end with
    /// [`ProveError::Cancelled`](super::ProveError::Cancelled).
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the switch is on.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
