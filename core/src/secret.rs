//! Buffers that are cleared when they are dropped, and also when they grow.

use std::ops::{Deref, DerefMut};

use blstrs::Scalar;
use zeroize::Zeroize;

use crate::fenced::slices;

/// Plain values that can be overwritten with zeros in a way the compiler keeps.
pub trait Clearable: Copy + Send + Sync + 'static {
    /// Overwrites every value with zero.
    fn clear(values: &mut [Self]);
}

impl Clearable for u32 {
    fn clear(values: &mut [Self]) {
        values.zeroize();
    }
}

impl Clearable for u64 {
    fn clear(values: &mut [Self]) {
        values.zeroize();
    }
}

impl Clearable for [u64; 4] {
    fn clear(values: &mut [Self]) {
        values.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl Clearable for Scalar {
    fn clear(values: &mut [Self]) {
        slices::scalar_words_mut(values).zeroize();
    }
}

/// A vector for witness values and what is computed from them.
///
/// A plain `Vec` leaves copies behind when it reallocates. This one clears the old storage when it grows and
/// the last one when it is dropped. `Debug` shows the length only.
#[derive(Clone)]
pub struct SecretVec<T: Clearable>(Vec<T>);

impl<T: Clearable> SecretVec<T> {
    /// An empty vector.
    pub const fn new() -> Self {
        SecretVec(Vec::new())
    }

    /// An empty vector with room for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Self {
        SecretVec(Vec::with_capacity(capacity))
    }

    /// Appends one value.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.0.len() == self.0.capacity() {
            self.grow(1);
        }
        self.0.push(value);
    }

    /// Appends all of `values`.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        if self.0.capacity() - self.0.len() < values.len() {
            self.grow(values.len());
        }
        self.0.extend_from_slice(values);
    }

    /// Makes the length `len`, cutting off values (which are cleared) or appending `value`.
    pub fn resize(&mut self, len: usize, value: T) {
        if len < self.0.len() {
            T::clear(&mut self.0[len..]);
        } else if len > self.0.capacity() {
            self.grow(len - self.0.len());
        }
        self.0.resize(len, value);
    }

    #[cold]
    fn grow(&mut self, additional: usize) {
        let capacity = (self.0.len() + additional).max(self.0.len() * 2).max(16);
        let mut larger = Vec::with_capacity(capacity);
        larger.extend_from_slice(&self.0);
        T::clear(&mut self.0);
        self.0 = larger;
    }
}

impl<T: Clearable> Default for SecretVec<T> {
    fn default() -> Self {
        SecretVec::new()
    }
}

/// Takes over the vector's storage as it is; earlier copies made by its growth are the caller's concern.
impl<T: Clearable> From<Vec<T>> for SecretVec<T> {
    fn from(values: Vec<T>) -> Self {
        SecretVec(values)
    }
}

impl<T: Clearable> FromIterator<T> for SecretVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values = values.into_iter();
        let mut vector = SecretVec::with_capacity(values.size_hint().0);
        values.for_each(|value| vector.push(value));
        vector
    }
}

impl<T: Clearable> Deref for SecretVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Clearable> DerefMut for SecretVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Clearable> Drop for SecretVec<T> {
    fn drop(&mut self) {
        T::clear(&mut self.0);
    }
}

impl<T: Clearable> std::fmt::Debug for SecretVec<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretVec({} values)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn grows_and_keeps_its_values() {
        let mut values = SecretVec::new();
        for i in 0..1000u64 {
            values.push(i);
        }
        values.extend_from_slice(&[7; 500]);
        values.resize(1400, 0);
        values.resize(1600, 9);
        assert_eq!(values.len(), 1600);
        assert!((0..1000).all(|i| values[i] == i as u64));
        assert!(values[1000..1400].iter().all(|&v| v == 7) && values[1400..].iter().all(|&v| v == 9));
    }

    /// A value whose clearing is recorded.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Probe(u32);

    thread_local! {
        static CLEARED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    }

    impl Clearable for Probe {
        fn clear(values: &mut [Self]) {
            CLEARED.with_borrow_mut(|cleared| cleared.extend(values.iter().map(|probe| probe.0)));
            values.fill(Probe(0));
        }
    }

    /// What this thread has cleared since it was last asked.
    fn cleared() -> Vec<u32> {
        CLEARED.take()
    }

    fn probes(values: std::ops::RangeInclusive<u32>) -> Vec<Probe> {
        values.map(Probe).collect()
    }

    /// The values 1, 2, 3 in storage without room for a fourth.
    fn full() -> SecretVec<Probe> {
        let mut values = SecretVec::with_capacity(3);
        values.extend_from_slice(&probes(1..=3));
        assert_eq!(values.0.capacity(), 3);
        assert_eq!(cleared(), []);
        values
    }

    #[test]
    fn dropping_clears() {
        let values = full();
        let copy = values.clone();
        drop(values);
        assert_eq!(cleared(), [1, 2, 3]);
        assert_eq!(copy[..], probes(1..=3));
        drop(copy);
        assert_eq!(cleared(), [1, 2, 3]);
        drop(SecretVec::from(probes(7..=8)));
        assert_eq!(cleared(), [7, 8]);
    }

    #[test]
    fn growth_by_push_clears_the_old_storage() {
        let mut values = full();
        values.push(Probe(4));
        assert_eq!(cleared(), [1, 2, 3]);
        assert_eq!(values[..], probes(1..=4));
        values.push(Probe(5));
        assert_eq!(cleared(), [], "there was room");
    }

    #[test]
    fn growth_by_extend_from_slice_clears_the_old_storage() {
        let mut values = full();
        values.extend_from_slice(&probes(4..=5));
        assert_eq!(cleared(), [1, 2, 3]);
        assert_eq!(values[..], probes(1..=5));
        values.extend_from_slice(&probes(6..=7));
        assert_eq!(cleared(), [], "there was room");
    }

    #[test]
    fn growth_by_resize_clears_the_old_storage() {
        let mut values = full();
        values.resize(5, Probe(9));
        assert_eq!(cleared(), [1, 2, 3]);
        assert_eq!(values[..], [1, 2, 3, 9, 9].map(Probe));
    }

    /// An iterator that does not know its length: the storage has room for 16 values first.
    #[test]
    fn growth_by_from_iter_clears_the_old_storage() {
        let mut next = 0;
        let count_to_17 = std::iter::from_fn(|| {
            next += 1;
            (next <= 17).then_some(Probe(next))
        });
        let values: SecretVec<Probe> = count_to_17.collect();
        assert_eq!(cleared(), (1..=16).collect::<Vec<u32>>());
        assert_eq!(values[..], probes(1..=17));
    }

    #[test]
    fn shortening_by_resize_clears_what_is_cut_off() {
        let mut values = full();
        values.resize(1, Probe(9));
        assert_eq!(cleared(), [2, 3]);
        assert_eq!(values[..], [Probe(1)]);
        drop(values);
        assert_eq!(cleared(), [1]);
    }

    #[test]
    fn clear_zeroes_scalars() {
        let mut values = [Scalar::from(5u64), -Scalar::from(1u64)];
        Scalar::clear(&mut values);
        assert_eq!(values, [Scalar::from(0u64); 2]);
    }

    #[test]
    fn debug_shows_no_value() {
        let text = format!("{:?}", SecretVec::from(vec![0xdead_beef_u64]));
        assert!(text.contains('1') && !text.contains("beef") && !text.contains("3735928559"));
    }
}
