//! A small circuit on a device that can be made to fail.

use std::sync::Arc;

use bellwether_core::device::CpuDevice;
use bellwether_core::groth16::{Assignment, Cancellation, ProveError, Proven, Session};
use bellwether_tests::conformance::proofs::{Keyed, blinding, prove};
use bellwether_tests::faulty::{Fault, Faulty, Operation, When};
use bellwether_tests::program::Program;
use pollster::block_on;

/// Where a wrong result is altered, modulo its length.
pub(crate) const WRONG: Fault = Fault::Wrong(5);

/// A CPU device that can be made to fail.
pub(crate) fn faulty() -> Arc<Faulty<CpuDevice>> {
    Arc::new(Faulty::new(CpuDevice::new()))
}

/// A circuit of 20 constraints and 3 inputs with its key.
pub(crate) fn keyed() -> Keyed {
    Keyed::new(&CpuDevice::new(), Program::satisfied(20, 2, 1))
}

/// The two ways of proving: from resident matrices, and from evaluations made in one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path {
    Matrices,
    Evaluations,
}

pub(crate) const PATHS: [Path; 2] = [Path::Matrices, Path::Evaluations];

impl Path {
    pub(crate) fn assignment(self, keyed: &Keyed) -> Assignment {
        match self {
            Path::Matrices => keyed.assignment(),
            Path::Evaluations => Assignment::evaluate(keyed.program.clone()).expect("satisfied").0,
        }
    }

    pub(crate) fn open(
        self,
        keyed: &Keyed,
        device: Arc<Faulty<CpuDevice>>,
    ) -> Result<Session<Faulty<CpuDevice>>, ProveError> {
        match self {
            Path::Matrices => Session::for_circuit(device, &keyed.key, Arc::clone(&keyed.r1cs)),
            Path::Evaluations => Session::for_shape(device, &keyed.key, keyed.r1cs.shape().clone()),
        }
    }
}

/// A circuit, a device and a session on it, with the operations that opening and one proof take.
pub(crate) struct Setting {
    pub(crate) keyed: Keyed,
    pub(crate) device: Arc<Faulty<CpuDevice>>,
    pub(crate) session: Session<Faulty<CpuDevice>>,
    pub(crate) assignment: Assignment,
    pub(crate) opening: Vec<Operation>,
    pub(crate) proving: Vec<Operation>,
}

impl Setting {
    pub(crate) fn new(path: Path) -> Self {
        let (keyed, device) = (keyed(), faulty());
        let session = path.open(&keyed, Arc::clone(&device)).expect("a session");
        let opening = device.disarm();
        let assignment = path.assignment(&keyed);
        prove(&session, &assignment);
        let proving = device.disarm();
        Setting { keyed, device, session, assignment, opening, proving }
    }

    /// A proof while these calls meet this fault; afterwards the device is sound again.
    pub(crate) fn prove_under(&self, when: When, fault: Fault) -> Result<Proven, ProveError> {
        self.device.arm(when, fault);
        let outcome = self.try_prove(&Cancellation::new());
        self.device.disarm();
        outcome
    }

    pub(crate) fn try_prove(&self, cancellation: &Cancellation) -> Result<Proven, ProveError> {
        block_on(self.session.prove(&self.assignment, &blinding(), cancellation))
    }

    /// The session proves as if nothing had been, and holds no more on the device than after its opening.
    pub(crate) fn check_usable(&self, live: usize) {
        assert_eq!(self.device.live(), live, "buffers are freed");
        let proven = prove(&self.session, &self.assignment);
        assert_eq!(proven.attempts, 1);
        assert!(self.keyed.verifies(&proven));
        assert_eq!(self.device.live(), live, "buffers are freed");
    }
}
