//! The pointwise quotient.

use bellwether_core::curve::{FR_WORDS, scalar_words};
use bellwether_core::device::DeviceError;
use bellwether_kernels::Address;
use bellwether_kernels::table::scalar::{QUOTIENT, Quotient};
use blstrs::Scalar;

use crate::gpu::Gpu;
use crate::vector::Scalars;

/// a_i ← (a_i·b_i − c_i)·scale; without `c`, a_i ← a_i·b_i·scale. Lengths are equal.
///
/// # Errors
/// The device's.
pub(crate) fn quotient(
    gpu: &Gpu,
    a: &mut Scalars,
    b: &Scalars,
    c: Option<&Scalars>,
    scale: &Scalar,
) -> Result<(), DeviceError> {
    let parameters = Quotient {
        a: a.buffer().at(0),
        b: b.buffer().at(0),
        c: c.map_or(Address(0), |c| c.buffer().at(0)),
        scale: words(scale),
        count: a.len() as u64,
    };
    gpu.launch(&QUOTIENT, a.len().div_ceil(QUOTIENT.threads() as usize), &parameters)
}

/// The packed form of a scalar, as a parameter.
fn words(scalar: &Scalar) -> [u32; FR_WORDS] {
    let mut words = [0; FR_WORDS];
    words.copy_from_slice(scalar_words(std::slice::from_ref(scalar)));
    words
}

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;
    use crate::gpu::tests::open;

    #[test]
    fn quotients_are_those_of_the_host() {
        let gpu = open();
        let values = |seed: u64, len: u64| -> Vec<Scalar> {
            (0..len).map(|i| Scalar::from(seed).pow_vartime([i * i]) - Scalar::from(i % 3)).collect()
        };
        for scale in [Scalar::from(12_345).invert().unwrap(), Scalar::ONE, -Scalar::ONE, Scalar::ZERO] {
            for len in [0, 1, 31, 32, 33, 255, 256, 257, 1000] {
                let [a, b, c] = [3, 5, 7].map(|seed| values(seed, len));
                let upload = |values: &[Scalar]| Scalars::upload(&gpu, values, values.len()).unwrap();
                for with_c in [false, true] {
                    let (mut x, y, z) = (upload(&a), upload(&b), upload(&c));
                    quotient(&gpu, &mut x, &y, with_c.then_some(&z), &scale).unwrap();
                    let third = |i: usize| if with_c { c[i] } else { Scalar::ZERO };
                    let expected: Vec<Scalar> =
                        (0..a.len()).map(|i| (a[i] * b[i] - third(i)) * scale).collect();
                    assert_eq!(pollster::block_on(x.download(&gpu)).unwrap()[..], expected);
                }
            }
        }
    }
}
