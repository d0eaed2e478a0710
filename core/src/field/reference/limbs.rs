//! Elements of a [`LimbField`](super::LimbField).

use crate::field::Modulus;

/// Limbs of the longest element: of Fp, with 13 bits a limb.
pub const MAX_LIMBS: usize = 30;

/// An element of a [`LimbField`](super::LimbField): limbs below 2^W, least significant first.
#[derive(Clone, Copy)]
pub struct Limbs {
    count: usize,
    /// Zero from `count` on.
    limbs: [u32; MAX_LIMBS],
}

impl Limbs {
    /// The limbs, as a device holds them.
    pub fn as_slice(&self) -> &[u32] {
        &self.limbs[..self.count]
    }

    /// Zero.
    pub(super) fn zero(count: usize) -> Limbs {
        Limbs { count: count.min(MAX_LIMBS), limbs: [0; MAX_LIMBS] }
    }

    /// Limbs known to belong to the field and to be narrow enough.
    pub(super) fn from_trusted(limbs: &[u32]) -> Limbs {
        let mut element = Limbs::zero(limbs.len());
        for (target, limb) in element.limbs.iter_mut().zip(limbs) {
            *target = *limb;
        }
        element
    }

    /// Limb `index`, ready to be multiplied. `index` is below [`MAX_LIMBS`].
    pub(super) fn limb(&self, index: usize) -> u64 {
        u64::from(self.limbs[index])
    }

    /// Sets limb `index` to the lowest 32 bits of `limb`. `index` is below [`MAX_LIMBS`].
    pub(super) fn set(&mut self, index: usize, limb: u64) {
        self.limbs[index] = limb as u32;
    }
}

impl PartialEq for Limbs {
    fn eq(&self, other: &Limbs) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Limbs {}

impl std::fmt::Debug for Limbs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice().iter().map(|limb| format!("{limb:#x}"))).finish()
    }
}

/// Why limbs are no element of a [`LimbField`](super::LimbField).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimbError {
    /// Too many limbs or too few.
    #[error("{found} limbs where an element has {expected}")]
    Count {
        /// Limbs given.
        found: usize,
        /// Limbs of an element.
        expected: usize,
    },
    /// A limb with more bits than the field's limbs have.
    #[error("limb {index} is {limb:#x}, wider than {limb_bits} bits")]
    Width {
        /// Which limb, counted from the least significant.
        index: usize,
        /// Its value.
        limb: u32,
        /// Bits of a limb.
        limb_bits: u32,
    },
    /// A number that is not below the modulus.
    #[error("a number that is not below the modulus {modulus:?}")]
    NotReduced {
        /// The field's modulus.
        modulus: Modulus,
    },
}
