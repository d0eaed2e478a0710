//! Montgomery arithmetic over limbs of 13 to 32 bits: the oracle for GPU code.
//!
//! [`LimbField`] does with 64-bit integers what a kernel does with the limbs of its machine, one loop an
//! operation, in the order in which papers write it. It is meant to be read and compared with; nothing here is
//! fast or of constant time.
//!
//! Elements are [`Limbs`]: always reduced, below m. `mul`, `square`, `pow` and `inverse` take and give
//! Montgomery forms x·R mod m; `add`, `sub` and `neg` are the same in either form. Elements of one
//! [`LimbField`] mean nothing in another of different modulus or width.
//!
//! ```
//! use bellwether_core::field::{Modulus, Natural, reference::LimbField};
//!
//! let field = LimbField::new(Modulus::FR, 13)?;
//! let six = field.to_montgomery(&field.to_limbs(&Natural::from(6))?);
//! let seven = field.to_montgomery(&field.to_limbs(&Natural::from(7))?);
//! let product = field.from_montgomery(&field.mul(&six, &seven));
//! assert_eq!(field.from_limbs(&product), Natural::from(42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod limbs;
#[cfg(test)]
mod tests;

pub use limbs::{LimbError, Limbs, MAX_LIMBS};

use super::{LimbWidthError, Modulus, MontgomeryConstants, Natural};

/// A prime field whose elements are Montgomery residues in limbs of W bits.
#[derive(Clone, Debug)]
pub struct LimbField {
    modulus: Modulus,
    constants: MontgomeryConstants,
    /// m, as an operand; the one value of this type that is not below m.
    m: Limbs,
}

impl LimbField {
    /// The field modulo `modulus`, over limbs of `limb_bits`.
    ///
    /// # Errors
    ///
    /// [`LimbWidthError`] unless 13 ≤ `limb_bits` ≤ 32.
    pub fn new(modulus: Modulus, limb_bits: u32) -> Result<LimbField, LimbWidthError> {
        let constants = modulus.montgomery(limb_bits)?;
        let m = Limbs::from_trusted(&constants.modulus);
        Ok(LimbField { modulus, constants, m })
    }

    /// The modulus m.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The constants of this modulus and limb width.
    pub fn constants(&self) -> &MontgomeryConstants {
        &self.constants
    }

    /// Bits of a limb, W.
    pub fn limb_bits(&self) -> u32 {
        self.constants.limb_bits
    }

    /// Limbs of an element.
    pub fn limb_count(&self) -> usize {
        self.constants.limbs
    }

    /// 0, in either form.
    pub fn zero(&self) -> Limbs {
        Limbs::zero(self.limb_count())
    }

    /// 1 in Montgomery form.
    pub fn one(&self) -> Limbs {
        Limbs::from_trusted(&self.constants.one)
    }

    /// The limbs of `value`, which is not brought into Montgomery form.
    ///
    /// # Errors
    ///
    /// [`LimbError::NotReduced`] from m on.
    pub fn to_limbs(&self, value: &Natural) -> Result<Limbs, LimbError> {
        if value >= self.modulus.value() {
            return Err(LimbError::NotReduced { modulus: self.modulus });
        }
        Ok(Limbs::from_trusted(&value.limbs(self.limb_bits(), self.limb_count())))
    }

    /// The number that the limbs spell, below m.
    pub fn from_limbs(&self, limbs: &Limbs) -> Natural {
        // An element is below m, so there always is such a number.
        Natural::from_limbs(limbs.as_slice().iter().copied(), self.limb_bits()).unwrap_or(Natural::ZERO)
    }

    /// The element with these limbs, as read back from a device.
    ///
    /// # Errors
    ///
    /// [`LimbError`] when there are too many limbs or too few, when one has more than W bits, or when the
    /// number is not below m.
    pub fn check(&self, limbs: &[u32]) -> Result<Limbs, LimbError> {
        let (limb_bits, expected) = (self.limb_bits(), self.limb_count());
        if limbs.len() != expected {
            return Err(LimbError::Count { found: limbs.len(), expected });
        }
        if let Some(index) = limbs.iter().position(|&limb| u64::from(limb) >> limb_bits != 0) {
            return Err(LimbError::Width { index, limb: limbs[index], limb_bits });
        }
        Natural::from_limbs(limbs.iter().copied(), limb_bits)
            .ok_or(LimbError::NotReduced { modulus: self.modulus })
            .and_then(|value| self.to_limbs(&value))
    }

    /// a + b mod m.
    pub fn add(&self, a: &Limbs, b: &Limbs) -> Limbs {
        let (sum, carry) = self.add_limbs(a, b);
        self.subtract_once(sum, carry)
    }

    /// a − b mod m.
    pub fn sub(&self, a: &Limbs, b: &Limbs) -> Limbs {
        let (difference, borrow) = self.sub_limbs(a, b);
        if borrow == 0 {
            return difference;
        }
        // The carry out of this sum cancels the borrow.
        self.add_limbs(&difference, &self.m).0
    }

    /// −a mod m.
    pub fn neg(&self, a: &Limbs) -> Limbs {
        self.sub(&self.zero(), a)
    }

    /// a·b/R mod m: the Montgomery form of xy from those of x and y.
    ///
    /// Coarsely integrated operand scanning (Ç. Koç, T. Acar, B. Kaliski, "Analyzing and comparing Montgomery
    /// multiplication algorithms", IEEE Micro 16 (1996), section 5).
    #[allow(clippy::needless_range_loop, reason = "the loops of the paper, with its indices")]
    pub fn mul(&self, a: &Limbs, b: &Limbs) -> Limbs {
        let (n, w, mask) = (self.limb_count(), self.limb_bits(), self.mask());
        let m = &self.m;
        // Between rounds t < 2m. Within one, t + a · b[i] < m · (2^W + 1), which n + 1 limbs hold because the
        // highest limb of m is below 2^W − 1 in every width; the paper, for any m, takes n + 2.
        let mut t = [0u64; MAX_LIMBS + 1];
        for i in 0..n {
            // t += a · b[i]. A limb, a product of limbs and a carry add up to 2^2W − 1 at most.
            let mut carry = 0;
            for j in 0..n {
                let sum = t[j] + a.limb(j) * b.limb(i) + carry;
                t[j] = sum & mask;
                carry = sum >> w;
            }
            t[n] += carry;

            // t = (t + q · m) / 2^W, with the q that makes the lowest limb vanish.
            let q = (t[0] * u64::from(self.constants.negative_inverse)) & mask;
            let mut carry = (t[0] + q * m.limb(0)) >> w;
            for j in 1..n {
                let sum = t[j] + q * m.limb(j) + carry;
                t[j - 1] = sum & mask;
                carry = sum >> w;
            }
            let sum = t[n] + carry;
            t[n - 1] = sum & mask;
            t[n] = sum >> w;
        }
        let mut product = self.zero();
        for j in 0..n {
            product.set(j, t[j]);
        }
        self.subtract_once(product, t[n])
    }

    /// a²/R mod m.
    pub fn square(&self, a: &Limbs) -> Limbs {
        self.mul(a, a)
    }

    /// The Montgomery form x·R mod m of x.
    pub fn to_montgomery(&self, x: &Limbs) -> Limbs {
        self.mul(x, &Limbs::from_trusted(&self.constants.r_squared))
    }

    /// The x of which `a` is the Montgomery form: a/R mod m.
    pub fn from_montgomery(&self, a: &Limbs) -> Limbs {
        let mut one = self.zero();
        one.set(0, 1);
        self.mul(a, &one)
    }

    /// The Montgomery form of x^e, from that of x.
    pub fn pow(&self, a: &Limbs, exponent: &Natural) -> Limbs {
        (0..exponent.bit_length()).rev().fold(self.one(), |power, position| {
            let square = self.square(&power);
            if exponent.bit(position) { self.mul(&square, a) } else { square }
        })
    }

    /// The Montgomery form of 1/x, from that of x; `None` for zero.
    ///
    /// By Fermat: x^(m−2).
    pub fn inverse(&self, a: &Limbs) -> Option<Limbs> {
        if *a == self.zero() {
            return None;
        }
        let exponent = self.modulus.value().checked_sub(&Natural::from(2))?;
        Some(self.pow(a, &exponent))
    }

    /// 2^W − 1.
    fn mask(&self) -> u64 {
        (1 << self.limb_bits()) - 1
    }

    /// `value` + `carry` · 2^(W · limbs), which is below 2m, mod m.
    fn subtract_once(&self, value: Limbs, carry: u64) -> Limbs {
        let (difference, borrow) = self.sub_limbs(&value, &self.m);
        if carry >= borrow { difference } else { value }
    }

    /// a + b mod 2^(W · limbs), and the carry.
    fn add_limbs(&self, a: &Limbs, b: &Limbs) -> (Limbs, u64) {
        let (mut sum, mut carry) = (self.zero(), 0);
        for i in 0..self.limb_count() {
            let column = a.limb(i) + b.limb(i) + carry;
            sum.set(i, column & self.mask());
            carry = column >> self.limb_bits();
        }
        (sum, carry)
    }

    /// a − b mod 2^(W · limbs), and the borrow.
    fn sub_limbs(&self, a: &Limbs, b: &Limbs) -> (Limbs, u64) {
        let (mut difference, mut borrow) = (self.zero(), 0);
        for i in 0..self.limb_count() {
            let column = a.limb(i).wrapping_sub(b.limb(i)).wrapping_sub(borrow);
            difference.set(i, column & self.mask());
            // Two's complement: below zero, every bit above the limb is one.
            borrow = column >> 63;
        }
        (difference, borrow)
    }
}
