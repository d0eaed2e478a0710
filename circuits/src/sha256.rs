//! SHA-256 of two blocks: a witness of bits.

use bellperson::gadgets::boolean::{AllocatedBit, Boolean};
use bellperson::gadgets::multipack::pack_into_inputs;
use bellperson::gadgets::sha256::sha256;
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;

/// Bytes of the preimage; padding fills the second block.
pub const PREIMAGE_BYTES: usize = 64;

/// Proves knowledge of a preimage of a public digest, whose bits are packed into two inputs.
#[derive(Clone, Debug)]
pub struct Sha256Preimage(pub [u8; PREIMAGE_BYTES]);

impl Circuit<Scalar> for Sha256Preimage {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let bits = self.0.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1));
        let preimage = bits
            .enumerate()
            .map(|(i, bit)| {
                let allocated = AllocatedBit::alloc(cs.namespace(|| format!("bit {i}")), Some(bit))?;
                Ok(Boolean::from(allocated))
            })
            .collect::<Result<Vec<_>, SynthesisError>>()?;
        let digest = sha256(cs.namespace(|| "digest"), &preimage)?;
        pack_into_inputs(cs.namespace(|| "inputs"), &digest)
    }
}
