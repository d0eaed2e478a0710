//! Which calls of a device meet a fault, and what fault it is.

use std::sync::Arc;

use bellwether_core::device::DeviceError;

/// The methods of [`Device`](bellwether_core::device::Device) that can fail.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Upload,
    Download,
    UploadWitness,
    Matrix,
    Domain,
    Bases,
    Variables,
    Spmv,
    Ntt,
    Quotient,
    CosetQuotient,
    Select,
    Msm,
    TailMsm,
    BatchAdd,
    FixedBaseMul,
    Mark,
    Elapsed,
}

impl Operation {
    /// Whether the operation yields something that can be wrong; times are never looked at.
    pub fn has_result(self) -> bool {
        !matches!(self, Operation::Mark | Operation::Elapsed)
    }
}

/// What happens at the chosen calls.
#[derive(Clone)]
pub enum Fault {
    /// The call fails: at once, or when its future is awaited.
    Error(DeviceError),
    /// The call succeeds with a wrong result: one is added to the scalar at this index (modulo the length),
    /// the generator to a point. What cannot be altered itself (bases, a matrix) spoils what is computed
    /// from it in this way.
    Wrong(usize),
    /// The call does its work after this was run.
    Run(Arc<dyn Fn() + Send + Sync>),
}

/// Which calls these are, counted from 0 since [`arm`](super::Faulty::arm).
#[derive(Clone, Debug)]
pub enum When {
    /// These calls.
    Calls(Vec<usize>),
    /// This call and all after it, as on a device that is lost.
    From(usize),
    /// Every call of this operation.
    Every(Operation),
}

impl When {
    pub(super) fn includes(&self, call: usize, operation: Operation) -> bool {
        match self {
            When::Calls(calls) => calls.contains(&call),
            When::From(first) => call >= *first,
            When::Every(every) => operation == *every,
        }
    }
}
