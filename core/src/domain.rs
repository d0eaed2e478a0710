//! The evaluation domain: the powers of a root of unity on which polynomials of the proof are evaluated.

use ff::{Field, PrimeField};

use crate::field::{Scalar, bellman_root_of_unity, snarkjs_root_of_unity};

/// log₂ of the largest domain: 32, the two-adicity of r − 1, where `usize` can count so many rows.
pub const MAX_LOG_SIZE: u32 = if usize::BITS > Scalar::S { Scalar::S } else { usize::BITS - 1 };

/// Which root of unity of order 2^32 the roots of all domains are powers of.
///
/// It is a property of the key: evaluations on the same domain come in another order under the other root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RootConvention {
    /// 7^((r − 1) / 2^32), as in bellman, bellperson and blstrs.
    Bellman,
    /// 5^((r − 1) / 2^32), as in snarkjs and ffjavascript.
    Snarkjs,
}

impl RootConvention {
    /// Both conventions.
    pub const ALL: [RootConvention; 2] = [RootConvention::Bellman, RootConvention::Snarkjs];

    /// The root of unity of order 2^`log_order`: the root of order 2^32, squared 32 − `log_order` times.
    ///
    /// # Errors
    ///
    /// [`DomainError::LogSize`] above 32.
    pub fn root(self, log_order: u32) -> Result<Scalar, DomainError> {
        let squarings = Scalar::S
            .checked_sub(log_order)
            .ok_or(DomainError::LogSize { log_size: log_order, max: Scalar::S })?;
        let root = match self {
            RootConvention::Bellman => bellman_root_of_unity(),
            RootConvention::Snarkjs => snarkjs_root_of_unity(),
        };
        Ok((0..squarings).fold(root, |root, _| root.square()))
    }
}

/// The domain 1, ω, ω², ..., ω^(n−1), for a root of unity ω of order n = 2^`log_size`, and its coset by the
/// shift g.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    log_size: u32,
    convention: RootConvention,
    root: Scalar,
    root_inverse: Scalar,
    size_inverse: Scalar,
    shift: Scalar,
    shift_inverse: Scalar,
    vanishing_on_coset: Scalar,
}

impl Domain {
    /// The domain of 2^`log_size` elements, with bellman's shift g = 7.
    ///
    /// # Errors
    ///
    /// [`DomainError::LogSize`] above [`MAX_LOG_SIZE`].
    pub fn new(log_size: u32, convention: RootConvention) -> Result<Domain, DomainError> {
        if log_size > MAX_LOG_SIZE {
            return Err(DomainError::LogSize { log_size, max: MAX_LOG_SIZE });
        }
        let root = convention.root(log_size)?;
        let plain = Domain {
            log_size,
            convention,
            root,
            // ω^(n−1): an inverse without a division. The product of ω^(2^i) for i < log_size is just that.
            root_inverse: squares(root).take(log_size as usize).product(),
            size_inverse: Scalar::TWO_INV.pow_vartime([u64::from(log_size)]),
            // Overwritten by `with_shift`.
            shift: Scalar::ONE,
            shift_inverse: Scalar::ONE,
            vanishing_on_coset: Scalar::ZERO,
        };
        plain.with_shift(Scalar::MULTIPLICATIVE_GENERATOR)
    }

    /// The smallest domain with an element for each of `rows` rows; with one element for no rows.
    ///
    /// # Errors
    ///
    /// [`DomainError::Rows`] above 2^[`MAX_LOG_SIZE`] rows.
    pub fn for_rows(rows: usize, convention: RootConvention) -> Result<Domain, DomainError> {
        let max = 1usize << MAX_LOG_SIZE;
        if rows > max {
            return Err(DomainError::Rows { rows, max });
        }
        Domain::new(rows.next_power_of_two().trailing_zeros(), convention)
    }

    /// The same domain with the coset shift g = `shift`.
    ///
    /// # Errors
    ///
    /// [`DomainError::Shift`] for zero and for elements of the domain, whose coset is the domain itself: the
    /// vanishing polynomial is zero there, and nothing can be divided by it.
    pub fn with_shift(self, shift: Scalar) -> Result<Domain, DomainError> {
        let vanishing_on_coset = self.vanishing_at(shift);
        let refused = DomainError::Shift { log_size: self.log_size };
        let shift_inverse = Option::<Scalar>::from(shift.invert()).ok_or(refused)?;
        if vanishing_on_coset.is_zero_vartime() {
            return Err(refused);
        }
        Ok(Domain { shift, shift_inverse, vanishing_on_coset, ..self })
    }

    /// log₂ n.
    pub fn log_size(&self) -> u32 {
        self.log_size
    }

    /// n, the number of elements.
    pub fn size(&self) -> usize {
        1 << self.log_size
    }

    /// Where the root comes from.
    pub fn convention(&self) -> RootConvention {
        self.convention
    }

    /// ω, of order n.
    pub fn root(&self) -> Scalar {
        self.root
    }

    /// 1/ω.
    pub fn root_inverse(&self) -> Scalar {
        self.root_inverse
    }

    /// 1/n.
    pub fn size_inverse(&self) -> Scalar {
        self.size_inverse
    }

    /// g, the shift of the coset g, gω, gω², ...: 7 unless set by [`Domain::with_shift`].
    pub fn shift(&self) -> Scalar {
        self.shift
    }

    /// 1/g.
    pub fn shift_inverse(&self) -> Scalar {
        self.shift_inverse
    }

    /// z = g^n − 1, the value of the vanishing polynomial on the whole coset; never zero.
    pub fn vanishing_on_coset(&self) -> Scalar {
        self.vanishing_on_coset
    }

    /// x^n − 1, the value at x of the polynomial that vanishes on the domain.
    pub fn vanishing_at(&self, x: Scalar) -> Scalar {
        (0..self.log_size).fold(x, |power, _| power.square()) - Scalar::ONE
    }

    /// ω^`index`. Indices wrap around at n.
    pub fn element(&self, index: usize) -> Scalar {
        self.root.pow_vartime([index as u64])
    }
}

/// x, x², x⁴, x⁸, ...
fn squares(x: Scalar) -> impl Iterator<Item = Scalar> {
    std::iter::successors(Some(x), |power| Some(power.square()))
}

/// A domain that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// More rows than the largest domain has elements.
    #[error("{rows} rows do not fit into the largest evaluation domain, of {max} elements")]
    Rows {
        /// Rows asked for.
        rows: usize,
        /// Elements of the largest domain.
        max: usize,
    },
    /// A domain beyond the largest.
    #[error("there is no evaluation domain of 2^{log_size} elements; the largest has 2^{max}")]
    LogSize {
        /// log₂ of the elements asked for.
        log_size: u32,
        /// log₂ of the elements of the largest domain.
        max: u32,
    },
    /// A shift whose coset is no coset, or the domain itself.
    #[error("the coset shift is zero or an element of the evaluation domain of 2^{log_size} elements")]
    Shift {
        /// log₂ of the domain's elements.
        log_size: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(log_size: u32, convention: RootConvention) -> Domain {
        Domain::new(log_size, convention).unwrap()
    }

    #[test]
    fn bellman_roots_are_squares_of_the_root_of_blstrs() {
        let mut root = Scalar::ROOT_OF_UNITY;
        for log_size in (0..=MAX_LOG_SIZE).rev() {
            assert_eq!(domain(log_size, RootConvention::Bellman).root(), root);
            root = root.square();
        }
        assert_eq!(domain(0, RootConvention::Bellman).root(), Scalar::ONE);
    }

    #[test]
    fn snarkjs_root_of_order_two_to_the_32() {
        // ffjavascript: w[s] = nqr^t with nqr the smallest non-residue and r − 1 = 2^s · t.
        let t = (-Scalar::ONE).to_repr();
        let t: [u64; 4] = std::array::from_fn(|i| {
            let byte = |j: usize| u64::from(t.get(8 * i + j + 4).copied().unwrap_or(0)) << (8 * j);
            (0..8).map(byte).sum()
        });
        assert_eq!(RootConvention::Snarkjs.root(32).unwrap(), Scalar::from(5).pow_vartime(t));
    }

    #[test]
    fn accessors_agree() {
        for convention in RootConvention::ALL {
            for log_size in 0..=MAX_LOG_SIZE {
                let domain = domain(log_size, convention);
                let n = 1u64 << log_size;
                assert_eq!((domain.log_size(), domain.size() as u64), (log_size, n));
                assert_eq!(domain.convention(), convention);
                assert_eq!(domain.root() * domain.root_inverse(), Scalar::ONE);
                assert_eq!(domain.size_inverse() * Scalar::from(n), Scalar::ONE);
                assert_eq!(domain.shift(), Scalar::from(7));
                assert_eq!(domain.shift() * domain.shift_inverse(), Scalar::ONE);
                let z = Scalar::from(7).pow_vartime([n]) - Scalar::ONE;
                assert_eq!(domain.vanishing_on_coset(), z);
                assert_eq!(domain.vanishing_at(domain.shift() * domain.element(3)), z);
                assert_eq!(domain.vanishing_at(domain.element(5)), Scalar::ZERO);
                // The order is n and no less.
                assert_eq!(domain.element(domain.size()), Scalar::ONE);
                if log_size > 0 {
                    assert_eq!(domain.element(domain.size() / 2), -Scalar::ONE);
                }
            }
        }
    }

    #[test]
    fn rows_round_up_to_a_power_of_two() {
        let log_size = |rows| Domain::for_rows(rows, RootConvention::Bellman).map(|domain| domain.log_size());
        assert_eq!([0, 1, 2, 3, 4].map(log_size), [0, 0, 1, 2, 2].map(Ok));
        for k in 2..=MAX_LOG_SIZE {
            let n = 1usize << k;
            assert_eq!([n - 1, n].map(log_size), [Ok(k), Ok(k)]);
            let above =
                if k == MAX_LOG_SIZE { Err(DomainError::Rows { rows: n + 1, max: n }) } else { Ok(k + 1) };
            assert_eq!(log_size(n + 1), above);
        }
        // The 32 GiB PoRep partition of Filecoin.
        assert_eq!(log_size(130_278_869), Ok(27));
        assert!(log_size(usize::MAX).is_err());
    }

    #[test]
    fn errors_name_both_numbers() {
        let error = Domain::for_rows((1 << MAX_LOG_SIZE) + 1, RootConvention::Bellman).unwrap_err();
        assert!(error.to_string().contains("4294967297 rows"));
        assert!(error.to_string().contains("4294967296 elements"));
        let error = Domain::new(33, RootConvention::Snarkjs).unwrap_err();
        assert_eq!(error, DomainError::LogSize { log_size: 33, max: 32 });
        assert!(RootConvention::Snarkjs.root(u32::MAX).is_err());
    }

    #[test]
    fn shifts() {
        // snarkjs shifts by the root of twice the order: the odd coset.
        let odd = RootConvention::Snarkjs.root(11).unwrap();
        let domain = domain(10, RootConvention::Snarkjs);
        let shifted = domain.clone().with_shift(odd).unwrap();
        assert_eq!(shifted.vanishing_on_coset(), -Scalar::from(2));
        assert_eq!((shifted.shift(), shifted.root()), (odd, domain.root()));
        for refused in [Scalar::ZERO, Scalar::ONE, domain.element(77)] {
            assert_eq!(domain.clone().with_shift(refused), Err(DomainError::Shift { log_size: 10 }));
        }
    }
}
