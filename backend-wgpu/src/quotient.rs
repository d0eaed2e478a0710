//! The pointwise quotient.

use bellwether_core::device::DeviceError;
use bellwether_shaders::params;
use blstrs::Scalar;
use ff::Field;

use crate::gpu::Gpu;
use crate::vector::{Scalars, device_form, log_r};

/// Invocations of a workgroup of `quotient.wgsl`.
const WORKGROUP: usize = 64;

/// a_i ← (a_i·b_i − c_i)·scale; without `c`, a_i ← a_i·b_i·scale. Lengths are equal. The values of all three may be
/// from r to below 2·r; those of the result are below r.
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
    // A product of packed forms has a factor P²/R, P = 2^256; a product with scale·R²/P, the device form of scale·R/P,
    // makes it P.
    let packed = *scale * Scalar::from(2).pow_vartime([u64::from(log_r(gpu.tier()) - 256)]);
    let scale = device_form(gpu.tier(), &packed);
    let third = c.unwrap_or(b);
    for ((a, b), third) in a.parts().iter().zip(b.parts()).zip(third.parts()) {
        let count = a.words() / scale.len();
        let params =
            params::Quotient { count: count as u32, with_c: u32::from(c.is_some()), unused: 0, scale };
        let groups = count.div_ceil(WORKGROUP);
        gpu.run(None, params, &[&a.span(), &b.span(), &third.span()], groups, 3 * WORKGROUP as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use bellwether_shaders::Tier;

    use super::*;
    use crate::gpu::tests::open;
    use crate::options::WgpuOptions;

    #[test]
    fn quotients_are_those_of_the_host() {
        let scale = Scalar::from(12_345).invert().unwrap();
        let values = |seed: u64, len: u64| -> Vec<Scalar> {
            (0..len).map(|i| Scalar::from(seed).pow_vartime([i * i]) - Scalar::from(i % 3)).collect()
        };
        for tier in Tier::ALL {
            for max_binding in [None, Some(4096)] {
                let gpu = open(&WgpuOptions { tier: Some(tier), max_binding, ..WgpuOptions::default() });
                for len in [0, 1, 63, 64, 65, 300] {
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
}
