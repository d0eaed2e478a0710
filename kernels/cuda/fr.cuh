// Arithmetic modulo r, the order of the BLS12-381 groups, on 8 words of 32 bits.
//
// Values are lazy: any representative in [0, 2r). 2r < 2^256, so they fit 8 words. At rest they are canonical, in
// Montgomery form x 2^256 mod r.
//
// r = 1 - 2^32 + 2^64 T with T = (r >> 64) + 1, so a product of a word with r costs six word products instead of eight,
// and -1/r mod 2^32 = -1 costs none.
//
// Two multiplications:
//   mul_mont(a, b)   a b / 2^256 mod r, for b < r and any a < 2^256; 112 wide products
//   mul_shoup(a, c)  a c.b mod r with the precomputed quotient c.q = floor(c.b 2^256 / r), c.b < r, a < 2r;
//                    86 wide products and 14 narrow ones
// Both return values below 2r without any final subtraction.
#pragma once

#include "carry.cuh"

struct alignas(16) Fr {
  u32 words[8];
};

// A multiplier below r and its quotient.
struct alignas(16) FrConst {
  u32 b[8], q[8];
};

// Constants are functions of the word's index so that they become immediate operands.
namespace fr {
INLINE constexpr u32 modulus(int i) {
  return i == 0   ? 0x00000001u
         : i == 1 ? 0xffffffffu
         : i == 2 ? 0xfffe5bfeu
         : i == 3 ? 0x53bda402u
         : i == 4 ? 0x09a1d805u
         : i == 5 ? 0x3339d808u
         : i == 6 ? 0x299d7d48u
                  : 0x73eda753u;
}
// 2r
INLINE constexpr u32 twice_modulus(int i) { return (modulus(i) << 1) | (i ? modulus(i - 1) >> 31 : 0); }
// T = (r >> 64) + 1; the lowest word of r >> 64 is not 2^32 - 1
INLINE constexpr u32 top(int i) { return modulus(i + 2) + (i == 0); }
// 2^192 - T, the two's complement; the lowest word of T is not 0
INLINE constexpr u32 negative_top(int i) { return ~top(i) + (i == 0); }
}  // namespace fr

INLINE Fr fr_zero() { return Fr{{0, 0, 0, 0, 0, 0, 0, 0}}; }

// 1 in Montgomery form: 2^256 mod r
INLINE Fr fr_one() {
  return Fr{{0xfffffffe, 0x00000001, 0x00034802, 0x5884b7fa, 0xecbc4ff5, 0x998c4fef, 0xacc5056f, 0x1824b159}};
}

INLINE Fr load(const Fr* from) {
  Fr a;
  load_words<8>(a.words, from);
  return a;
}
INLINE Fr load_constant(const Fr* from) {
  Fr a;
  load_constant_words<8>(a.words, from);
  return a;
}
INLINE FrConst load_constant(const FrConst* from) {
  FrConst c;
  load_constant_words<8>(c.b, from->b);
  load_constant_words<8>(c.q, from->q);
  return c;
}
INLINE void store(Fr* to, const Fr& a) { store_words<8>(to, a.words); }
INLINE void store(FrConst* to, const FrConst& c) {
  store_words<8>(to->b, c.b);
  store_words<8>(to->q, c.q);
}

// acc[j] += x[2j] y for j < N; the carry out of the last remains
template <int N>
CHAIN void mad_row(u64* acc, const u32* x, u32 y, Carry& carry) {
  mad_wide_cc(acc[0], x[0], y, carry);
  UNROLL
  for (int j = 1; j < N; j++) madc_wide_cc(acc[j], x[2 * j], y, carry);
}

// The first I rows of a product, unrolled by recursion. Columns are kept in two sets of 64-bit accumulators: `even` for
// pairs of columns that begin at an even column, `odd` for those that begin at an odd one.
template <int I>
struct Rows {
  // the upper part of a b: columns 6 to 15; `even` begins at column 6, `odd` at column 7
  static CHAIN void high(u64* even, u64* odd, const u32* a, const u32* b) {
    Rows<I - 1>::high(even, odd, a, b);
    constexpr int i = I - 1, low = i < 6 ? 6 - i : 0;
    constexpr int je = (low & 1) == (i & 1) ? low : low + 1;  // the first j with i + j even
    constexpr int jo = (low & 1) == (i & 1) ? low + 1 : low;
    Carry carry;
    mad_row<(7 - je) / 2 + 1>(even + (i + je - 6) / 2, a + je, b[i], carry);
    if constexpr (i % 2 == 0) addc_wide(even[(i + 8 - 6) / 2], carry);
    mad_row<(7 - jo) / 2 + 1>(odd + (i + jo - 7) / 2, a + jo, b[i], carry);
    if constexpr (i % 2 == 1) addc_wide(odd[(i + 8 - 7) / 2], carry);
  }
  // the lower W words of x y: `even` begins at column 0, `odd` at column 1; the top column's odd share goes to `last`
  template <int W>
  static CHAIN void low(u64* even, u64* odd, u32& last, const u32* x, const u32* y) {
    Rows<I - 1>::template low<W>(even, odd, last, x, y);
    constexpr int i = I - 1, je = i & 1, jo = 1 - je;
    Carry carry;
    if constexpr (i + je <= W - 2) mad_row<(W - 2 - i - je) / 2 + 1>(even + (i + je) / 2, x + je, y[i], carry);
    if constexpr (i + jo <= W - 3) {
      mad_row<(W - 3 - i - jo) / 2 + 1>(odd + (i + jo - 1) / 2, x + jo, y[i], carry);
      madc_lo(last, x[W - 1 - i], y[i], carry);
    } else {
      last += x[W - 1 - i] * y[i];
    }
  }
  // the whole product: `even` begins at column 0, `odd` at column 1
  static CHAIN void full(u64* even, u64* odd, const u32* a, const u32* b) {
    Rows<I - 1>::full(even, odd, a, b);
    constexpr int i = I - 1, je = i & 1, jo = 1 - je;
    Carry carry;
    mad_row<4>(even + (i + je) / 2, a + je, b[i], carry);
    if constexpr (i % 2 == 0 && i > 0) addc_wide(even[(i + 8) / 2], carry);
    mad_row<4>(odd + (i + jo - 1) / 2, a + jo, b[i], carry);
    if constexpr (i % 2 == 1) addc_wide(odd[(i + 7) / 2], carry);
  }
};
template <>
struct Rows<0> {
  static CHAIN void high(u64*, u64*, const u32*, const u32*) {}
  template <int W>
  static CHAIN void low(u64*, u64*, u32&, const u32*, const u32*) {}
  static CHAIN void full(u64*, u64*, const u32*, const u32*) {}
};

// a b mod r for a < 2r and b < r with its quotient bq = floor(b 2^256 / r), after Shoup. q = floor(a bq / 2^256) falls
// short of a b / r by less than a / 2^256 < 0.91 for the rounding of bq, 1 for that of q and 2^-29 for the columns left
// out, so by less than 2, and a b - q r < 2r.
ARITHMETIC Fr mul_shoup(const Fr& a, const u32* b, const u32* bq) {
  u64 even[5] = {0}, odd[5] = {0};
  u32 q[8];
  Carry carry;
  Rows<8>::high(even, odd, a.words, bq);  // columns below 6 change the quotient by less than 2^-29
  add_cc(high_word(even[0]), low_word(odd[0]), carry);
  UNROLL
  for (int c = 0; c < 4; c++) {
    q[2 * c] = addc_cc(low_word(even[c + 1]), high_word(odd[c]), carry);
    q[2 * c + 1] = c < 3 ? addc_cc(high_word(even[c + 1]), low_word(odd[c + 1]), carry)
                         : addc(high_word(even[c + 1]), low_word(odd[c + 1]), carry);
  }
  // a b - q r modulo 2^256, with -q r = -q + q 2^32 + 2^64 q (2^192 - T); the odd accumulators start from q 2^32
  u64 low_even[4] = {0}, low_odd[3];
  u32 last = q[6];
  UNROLL
  for (int c = 0; c < 3; c++) low_odd[c] = q[2 * c] | u64(q[2 * c + 1]) << 32;
  const u32 negative_top[6] = {fr::negative_top(0), fr::negative_top(1), fr::negative_top(2),
                               fr::negative_top(3), fr::negative_top(4), fr::negative_top(5)};
  Rows<8>::low<8>(low_even, low_odd, last, a.words, b);
  Rows<6>::low<6>(low_even + 1, low_odd + 1, last, q, negative_top);
  Fr r;
  r.words[0] = low_word(low_even[0]);
  r.words[1] = add_cc(high_word(low_even[0]), low_word(low_odd[0]), carry);
  r.words[2] = addc_cc(low_word(low_even[1]), high_word(low_odd[0]), carry);
  r.words[3] = addc_cc(high_word(low_even[1]), low_word(low_odd[1]), carry);
  r.words[4] = addc_cc(low_word(low_even[2]), high_word(low_odd[1]), carry);
  r.words[5] = addc_cc(high_word(low_even[2]), low_word(low_odd[2]), carry);
  r.words[6] = addc_cc(low_word(low_even[3]), high_word(low_odd[2]), carry);
  r.words[7] = addc(high_word(low_even[3]), last, carry);
  r.words[0] = sub_cc(r.words[0], q[0], carry);
  UNROLL
  for (int c = 1; c < 7; c++) r.words[c] = subc_cc(r.words[c], q[c], carry);
  r.words[7] = subc(r.words[7], q[7], carry);
  return r;
}
INLINE Fr mul_shoup(const Fr& a, const FrConst& c) { return mul_shoup(a, c.b, c.q); }

// One step of Montgomery's reduction: with s = word I - 1 of the running sum, subtracts s r 2^(32 (I - 1)). The part
// s (1 - 2^32) moves s one word up; -s T is added as (~s) T, whose constant excess sums to what the caller corrects.
// `even` begins at column 2, `odd` at column 3.
template <int I>
struct Reduce {
  static CHAIN void run(u64* even, u64* odd, const u32* t, u32& s, u32& k) {
    Reduce<I - 1>::run(even, odd, t, s, k);
    constexpr int i = I - 1, je = i & 1, jo = 1 - je;
    u64 sum = u64(t[i]) + s + k;  // word i, plus the word moved up, plus the carry
    if constexpr (i >= 2) sum += i % 2 == 0 ? low_word(even[i / 2 - 1]) : high_word(even[i / 2 - 1]);
    if constexpr (i >= 3) sum += i % 2 == 1 ? low_word(odd[(i - 3) / 2]) : high_word(odd[(i - 3) / 2]);
    s = low_word(sum);
    k = high_word(sum);
    const u32 top[6] = {fr::top(0), fr::top(1), fr::top(2), fr::top(3), fr::top(4), fr::top(5)};
    u32 m = ~s;
    Carry carry;
    mad_row<3>(even + (i + je) / 2, top + je, m, carry);
    if constexpr (i % 2 == 0) addc_wide(even[i / 2 + 3], carry);
    mad_row<3>(odd + (i + jo - 1) / 2, top + jo, m, carry);
    if constexpr (i % 2 == 1) addc_wide(odd[(i + 5) / 2], carry);
  }
};
template <>
struct Reduce<0> {
  static CHAIN void run(u64*, u64*, const u32*, u32&, u32&) {}
};

// a b / 2^256 mod r, below 2r, for b < r and any a < 2^256
ARITHMETIC Fr mul_mont(const Fr& a, const Fr& b) {
  u64 even[9] = {0}, odd[8] = {0};
  u32 t[16];
  Carry carry;
  Rows<8>::full(even, odd, a.words, b.words);
  t[0] = low_word(even[0]);
  t[1] = add_cc(high_word(even[0]), low_word(odd[0]), carry);
  UNROLL
  for (int c = 1; c < 8; c++) {
    t[2 * c] = addc_cc(low_word(even[c]), high_word(odd[c - 1]), carry);
    t[2 * c + 1] = c < 7 ? addc_cc(high_word(even[c]), low_word(odd[c]), carry)
                         : addc(high_word(even[c]), low_word(odd[c]), carry);
  }
  u64 sum_even[8] = {0}, sum_odd[7] = {0};
  u32 s = 0, k = 0;
  UNROLL
  for (int c = 0; c < 3; c++) sum_even[c] = fr::top(2 * c) | u64(fr::top(2 * c + 1)) << 32;
  Reduce<8>::run(sum_even, sum_odd, t, s, k);
  Fr r;
  r.words[0] = add_cc(t[8], low_word(sum_even[3]), carry);
  UNROLL
  for (int c = 1; c < 7; c++) {
    r.words[c] =
        addc_cc(t[8 + c], c % 2 ? high_word(sum_even[3 + c / 2]) : low_word(sum_even[3 + c / 2]), carry);
  }
  r.words[7] = addc(t[15], high_word(sum_even[6]), carry);
  r.words[0] = add_cc(r.words[0], high_word(sum_odd[2]), carry);
  UNROLL
  for (int c = 1; c < 7; c++) {
    r.words[c] =
        addc_cc(r.words[c], c % 2 ? low_word(sum_odd[3 + c / 2]) : high_word(sum_odd[2 + c / 2]), carry);
  }
  r.words[7] = addc(r.words[7], low_word(sum_odd[6]), carry);
  // what is left to add: s + k - (2^32 - 1), a signed number of 34 bits
  u64 left = u64(s) + k + 1 - (1ull << 32);
  u32 sign = u32(i64(left) >> 63);
  r.words[0] = add_cc(r.words[0], low_word(left), carry);
  r.words[1] = addc_cc(r.words[1], high_word(left), carry);
  UNROLL
  for (int c = 2; c < 7; c++) r.words[c] = addc_cc(r.words[c], sign, carry);
  r.words[7] = addc(r.words[7], sign, carry);
  return r;
}

// a + b, closed on [0, 2r)
INLINE Fr add(const Fr& a, const Fr& b) {
  Fr sum, less;
  Carry carry;
  sum.words[0] = add_cc(a.words[0], b.words[0], carry);
  UNROLL
  for (int i = 1; i < 8; i++) sum.words[i] = addc_cc(a.words[i], b.words[i], carry);
  u32 above = addc(0, 0, carry);
  less.words[0] = sub_cc(sum.words[0], fr::twice_modulus(0), carry);
  UNROLL
  for (int i = 1; i < 8; i++) less.words[i] = subc_cc(sum.words[i], fr::twice_modulus(i), carry);
  bool keep = subc(above, 0, carry) != 0;  // -1 when a + b < 2r, else 0
  UNROLL
  for (int i = 0; i < 8; i++) less.words[i] = keep ? sum.words[i] : less.words[i];
  return less;
}

// a - b, closed on [0, 2r)
INLINE Fr sub(const Fr& a, const Fr& b) {
  Fr d;
#ifdef BELLWETHER_HOST
  Carry carry;
  d.words[0] = sub_cc(a.words[0], b.words[0], carry);
  UNROLL
  for (int i = 1; i < 8; i++) d.words[i] = subc_cc(a.words[i], b.words[i], carry);
  if (subc(0, 0, carry) != 0) {
    d.words[0] = add_cc(d.words[0], fr::twice_modulus(0), carry);
    UNROLL
    for (int i = 1; i < 7; i++) d.words[i] = addc_cc(d.words[i], fr::twice_modulus(i), carry);
    d.words[7] = addc(d.words[7], fr::twice_modulus(7), carry);
  }
#else
  // the same; the second chain is predicated, which saves masking the constant
  asm volatile("{.reg .pred p; .reg .u32 m;\n\t"
      "sub.cc.u32 %0, %8, %16; subc.cc.u32 %1, %9, %17; subc.cc.u32 %2, %10, %18; subc.cc.u32 %3, %11, %19;\n\t"
      "subc.cc.u32 %4, %12, %20; subc.cc.u32 %5, %13, %21; subc.cc.u32 %6, %14, %22; subc.cc.u32 %7, %15, %23;\n\t"
      "subc.u32 m, 0, 0; setp.ne.u32 p, m, 0;\n\t"
      "@p add.cc.u32 %0, %0, %24; @p addc.cc.u32 %1, %1, %25;\n\t"
      "@p addc.cc.u32 %2, %2, %26; @p addc.cc.u32 %3, %3, %27;\n\t"
      "@p addc.cc.u32 %4, %4, %28; @p addc.cc.u32 %5, %5, %29;\n\t"
      "@p addc.cc.u32 %6, %6, %30; @p addc.u32 %7, %7, %31;}"
      : "=&r"(d.words[0]), "=&r"(d.words[1]), "=&r"(d.words[2]), "=&r"(d.words[3]), "=&r"(d.words[4]),
        "=&r"(d.words[5]), "=&r"(d.words[6]), "=&r"(d.words[7])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(a.words[4]), "r"(a.words[5]),
        "r"(a.words[6]), "r"(a.words[7]), "r"(b.words[0]), "r"(b.words[1]), "r"(b.words[2]), "r"(b.words[3]),
        "r"(b.words[4]), "r"(b.words[5]), "r"(b.words[6]), "r"(b.words[7]), "n"(fr::twice_modulus(0)),
        "n"(fr::twice_modulus(1)), "n"(fr::twice_modulus(2)), "n"(fr::twice_modulus(3)), "n"(fr::twice_modulus(4)),
        "n"(fr::twice_modulus(5)), "n"(fr::twice_modulus(6)), "n"(fr::twice_modulus(7)));
#endif
  return d;
}

// -a, closed on [0, 2r)
INLINE Fr negate(const Fr& a) { return sub(fr_zero(), a); }

// [0, 2r) to [0, r)
INLINE Fr canonical(const Fr& a) {
  Fr less;
  Carry carry;
  less.words[0] = sub_cc(a.words[0], fr::modulus(0), carry);
  UNROLL
  for (int i = 1; i < 8; i++) less.words[i] = subc_cc(a.words[i], fr::modulus(i), carry);
  bool keep = subc(0, 0, carry) != 0;
  UNROLL
  for (int i = 0; i < 8; i++) less.words[i] = keep ? a.words[i] : less.words[i];
  return less;
}

// of a canonical value
INLINE bool is_zero(const Fr& a) { return words_are_zero<8>(a.words); }

// The number that a < 2^256 represents in Montgomery form: a / 2^256 mod r, canonical.
INLINE Fr from_montgomery(const Fr& a) {
  const Fr one = {{1, 0, 0, 0, 0, 0, 0, 0}};
  return canonical(mul_mont(a, one));
}

// The constant for a multiplier in Montgomery form, canonical: b = m / 2^256 mod r and the quotient of b 2^256 by r.
// The remainder of that division is m, so q r = b 2^256 - m, and q = -m / r mod 2^256; r = 1 mod 2^32 makes each word
// of q the negative of a remaining word.
ARITHMETIC FrConst shoup_constant(const Fr& m) {
  Fr b = from_montgomery(m);
  FrConst c;
  u32 left[8];
  UNROLL
  for (int i = 0; i < 8; i++) {
    left[i] = m.words[i];
    c.b[i] = b.words[i];
  }
  UNROLL
  for (int i = 0; i < 8; i++) {
    u32 q = 0u - left[i];
    c.q[i] = q;
    u64 carry = 0;
    UNROLL
    for (int j = 0; i + j < 8; j++) {
      u64 sum = u64(q) * fr::modulus(j) + left[i + j] + carry;
      left[i + j] = low_word(sum);
      carry = high_word(sum);
    }
  }
  return c;
}
