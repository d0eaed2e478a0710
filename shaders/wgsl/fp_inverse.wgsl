
// a^(p-2) = 1/a, for a below 8·p; 0 for 0. Fermat's theorem, bit by bit: the exponent is the same in every invocation.
fn fp_inverse(a: Fp) -> Fp {
    var power = FP_ONE;
    for (var bit = FP_INVERSE_BITS; bit > 0u; bit--) {
        power = fp_sqr(power);
        if ((FP_INVERSE_EXPONENT[(bit - 1u) >> 5u] >> ((bit - 1u) & 31u)) & 1u) == 1u {
            power = fp_mul(power, a);
        }
    }
    return power;
}
