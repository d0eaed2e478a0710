// Field and curve operations one by one, for tests, and chains of them, for a device's rates. No proof launches these.
#include "curve.cuh"
#include "fr.cuh"

// ------------------------------------------------------------------------------------------------ operations

// out[i] = OPERATION, in which a, b, c and d are the elements i of the arrays; results are as the operation leaves them
#define UNARY_KERNEL(name, F, operation)                                   \
  KERNEL(name, 128, 1)(const F* __restrict__ as, F* out, u64 count) {      \
    const u64 i = grid_thread();                                           \
    if (i >= count) return;                                                \
    const F a = load(as + i);                                              \
    store(out + i, operation);                                             \
  }
#define BINARY_KERNEL(name, F, operation)                                                        \
  KERNEL(name, 128, 1)(const F* __restrict__ as, const F* __restrict__ bs, F* out, u64 count) {  \
    const u64 i = grid_thread();                                                                 \
    if (i >= count) return;                                                                      \
    const F a = load(as + i), b = load(bs + i);                                                  \
    store(out + i, operation);                                                                   \
  }
#define DOT_KERNEL(name, F)                                                                                     \
  KERNEL(name, 128, 1)                                                                                          \
  (const F* __restrict__ as, const F* __restrict__ bs, const F* __restrict__ cs, const F* __restrict__ ds, F* out, \
   u64 count) {                                                                                                 \
    const u64 i = grid_thread();                                                                                \
    if (i >= count) return;                                                                                     \
    store(out + i, dot(load(as + i), load(bs + i), load(cs + i), load(ds + i)));                                \
  }

BINARY_KERNEL(fr_mul_mont, Fr, mul_mont(a, b))
BINARY_KERNEL(fr_mul_shoup, Fr, mul_shoup(a, shoup_constant(b)))
BINARY_KERNEL(fr_add, Fr, add(a, b))
BINARY_KERNEL(fr_sub, Fr, sub(a, b))
UNARY_KERNEL(fr_negate, Fr, negate(a))
UNARY_KERNEL(fr_canonical, Fr, canonical(a))

BINARY_KERNEL(fp_mul, Fp, mul(a, b))
BINARY_KERNEL(fp_sub, Fp, sub(a, b))
BINARY_KERNEL(fp_minus_twice, Fp, minus_twice(a, b, b))
UNARY_KERNEL(fp_sqr, Fp, sqr(a))
UNARY_KERNEL(fp_thrice, Fp, thrice(a))
UNARY_KERNEL(fp_negate, Fp, negate(a))
UNARY_KERNEL(fp_inverse, Fp, inverse(a))
UNARY_KERNEL(fp_canonical, Fp, canonical(a))
// 1 for zero, else 0
UNARY_KERNEL(fp_is_zero, Fp, select(is_zero(a), one<Fp>(), zero<Fp>()))
DOT_KERNEL(fp_dot, Fp)

BINARY_KERNEL(fp2_mul, Fp2, mul(a, b))
BINARY_KERNEL(fp2_minus_twice, Fp2, minus_twice(a, b, b))
UNARY_KERNEL(fp2_sqr, Fp2, sqr(a))
UNARY_KERNEL(fp2_inverse, Fp2, inverse(a))
DOT_KERNEL(fp2_dot, Fp2)

// The constants in the order: r, 1 in Fr; p, 1 and R^3 in Fp; -1/p mod 2^32 and 1/p mod 2^30, one word each.
KERNEL(field_constants, 32, 1)(u32* out) {
  if (grid_thread() != 0) return;
  for (int i = 0; i < 8; i++) {
    out[i] = fr::modulus(i);
    out[8 + i] = fr_one().words[i];
  }
  for (int i = 0; i < 12; i++) {
    out[16 + i] = fp::modulus(i);
    out[28 + i] = one<Fp>().words[i];
    out[40 + i] = fp_r_cubed().words[i];
  }
  out[52] = fp::NEGATIVE_INVERSE;
  out[53] = division_steps::INVERSE;
}

// ------------------------------------------------------------------------------------------------ curve operations

// The same point with other denominators: (X z^2, Y z^3, ZZ z^2, ZZZ z^3). Infinity stays it.
template <class F>
INLINE Sum<F> rescaled(const Sum<F>& s, const F& z) {
  const F zz = sqr(z), zzz = mul(zz, z);
  return Sum<F>{mul(s.x, zz), mul(s.y, zzz), mul(s.zz, zz), mul(s.zzz, zzz)};
}

template <class F>
INLINE Affine<F> add_alone(const Affine<F>& p, const Affine<F>& q) {
  F denominator;
  const Slope slope = slope_denominator(p, q, denominator);
  return add_with_inverse(slope, p, q, slope == Slope::None ? zero<F>() : inverse(denominator));
}

// Each way to p + q and each to 2p, with `scales` for denominators: eight sums for each pair, canonical
template <class F>
INLINE void check_additions(const Affine<F>* ps, const Affine<F>* qs, const F* scales, Sum<F>* out, u64 count) {
  const u64 i = grid_thread();
  if (i >= count) return;
  const Affine<F> p = load(ps + i), q = load(qs + i);
  const F z = load(scales + i);
  const Sum<F> sum_p = rescaled(as_sum(p), z), sum_q = rescaled(as_sum(q), sqr(z));
  out += 8 * i;
#pragma unroll 1
  for (u32 k = 0; k < 2; k++) {
    Sum<F> mixed = negate_if(k != 0, sum_p);
    add(mixed, negate_if(k != 0, q));
    store(out + k, canonical(negate_if(k != 0, mixed)));
  }
#pragma unroll 1
  for (u32 k = 0; k < 2; k++) {
    Sum<F> sum = k == 0 ? sum_p : sum_q;
    add(sum, k == 0 ? sum_q : sum_p);
    store(out + 2 + 2 * k, canonical(sum));
  }
  store(out + 3, canonical(as_sum(add_alone(p, q))));
  store(out + 5, canonical(dbl(p)));
  store(out + 6, canonical(dbl(sum_p)));
  const Sum<F> doubled = dbl(sum_p);
  store(out + 7, as_sum(is_infinity(p) ? p : normalized(doubled, inverse(doubled.zzz))));
}

KERNEL(check_additions_g1, 64, 1)
(const Affine<Fp>* ps, const Affine<Fp>* qs, const Fp* scales, Sum<Fp>* out, u64 count) {
  check_additions(ps, qs, scales, out, count);
}
KERNEL(check_additions_g2, 64, 1)
(const Affine<Fp2>* ps, const Affine<Fp2>* qs, const Fp2* scales, Sum<Fp2>* out, u64 count) {
  check_additions(ps, qs, scales, out, count);
}

// ------------------------------------------------------------------------------------------------ rates

// Two values a thread, each step twice: a <- OPERATION(a, b), b <- OPERATION(b, a)
#define CHAIN_KERNEL(name, F, blocks, step)                          \
  KERNEL(name, 128, blocks)(F* values, u64 count, u32 steps) {       \
    const u64 i = grid_thread();                                     \
    if (2 * i + 1 >= count) return;                                  \
    F a = load(values + 2 * i), b = load(values + 2 * i + 1);        \
    _Pragma("unroll 1") for (u32 k = 0; k < steps; k++) { step; }    \
    store(values + 2 * i, canonical(a));                             \
    store(values + 2 * i + 1, canonical(b));                         \
  }

CHAIN_KERNEL(fr_mul_mont_chain, Fr, 4, a = canonical(mul_mont(a, b)); b = canonical(mul_mont(b, a)))
CHAIN_KERNEL(fp_mul_chain, Fp, 4, a = mul(a, b); b = mul(b, a))
CHAIN_KERNEL(fp_sqr_chain, Fp, 4, a = sqr(a); b = sqr(b))
CHAIN_KERNEL(fp2_mul_chain, Fp2, 3, a = mul(a, b); b = mul(b, a))

// Multiplications by a constant, `multiplier` in Montgomery form
KERNEL(fr_mul_shoup_chain, 128, 4)(Fr* values, const Fr* multiplier, u64 count, u32 steps) {
  const u64 i = grid_thread();
  if (2 * i + 1 >= count) return;
  Fr a = load(values + 2 * i), b = load(values + 2 * i + 1);
  const FrConst c = shoup_constant(load(multiplier));
#pragma unroll 1
  for (u32 k = 0; k < steps; k++) {
    a = mul_shoup(a, c);
    b = mul_shoup(b, c);
  }
  store(values + 2 * i, canonical(a));
  store(values + 2 * i + 1, canonical(b));
}

EXPORT_KERNELS(field, fr_mul_mont, fr_mul_shoup, fr_add, fr_sub, fr_negate, fr_canonical, fp_mul, fp_sub,
               fp_minus_twice, fp_sqr, fp_thrice, fp_negate, fp_inverse, fp_canonical, fp_is_zero, fp_dot, fp2_mul,
               fp2_minus_twice, fp2_sqr, fp2_inverse, fp2_dot, field_constants, check_additions_g1, check_additions_g2,
               fr_mul_mont_chain, fp_mul_chain, fp_sqr_chain, fp2_mul_chain, fr_mul_shoup_chain)
