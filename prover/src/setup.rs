//! Set-up of a circuit in one call.

use bellwether_core::curve::Scalar;
use bellwether_core::driver::OpenedDevice;
use bellwether_core::groth16::{Generators, SetupError, Trapdoor};
use bellwether_core::key::ProvingKey;
use bellwether_core::r1cs::{Circuit, Recorder};

/// Records a circuit and makes its key on a device, blocking until it is there. The circuit needs no witness.
///
/// For a set-up that others have to trust, use a ceremony: whoever makes a key in one place could have kept
/// the trapdoor.
///
/// # Errors
/// [`SetupError::Synthesis`] if the circuit cannot be recorded, and those of
/// [`core::groth16::generate_key`](bellwether_core::groth16::generate_key).
pub fn generate_key<C: Circuit<Scalar>>(
    device: &dyn OpenedDevice,
    circuit: C,
    trapdoor: &Trapdoor,
    generators: &Generators,
) -> Result<ProvingKey, SetupError> {
    let r1cs = Recorder::record(circuit)?;
    pollster::block_on(device.generate_key(&r1cs, trapdoor, generators))
}
