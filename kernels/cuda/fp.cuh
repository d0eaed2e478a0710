// Arithmetic modulo p, the field of BLS12-381's coordinates, on 12 words of 32 bits, in Montgomery form with R = 2^384.
//
// Values are lazy. R/p = 9.844, so a product of operands with a b <= k p^2 comes out below (1 + k/9.844) p without a
// final subtraction. A value is `closed` when it is below 2p: so are all results here that do not say otherwise, and
// what stands in memory. Sums and differences that are only multiplied once are left unreduced. At rest with the host,
// values are canonical, below p.
//
// Fp and Fp2 (fp2.cuh) offer the same functions, over which curve.cuh is written once. Operands are closed:
//   mul, sqr, dot           a b, a^2, a b + c d
//   difference, opposite    a - b and -a for use as one operand of a product, not closed in Fp
//   sub, twice, thrice      a - b, 2a, 3a
//   minus, minus_twice      s - p - q; s - p - 2q for products p and q with a factor that is itself a product
//   negate, negate_if       -a; zero stays exactly zero
//   inverse                 1/a, and 0 of 0
//   is_zero                 whether the value is 0 modulo p
//   is_exactly_zero         whether all words are 0
//   canonical               the representative below p
//   select                  one of two values
//   zero, one, load, load_constant, store
#pragma once

#include "carry.cuh"

struct alignas(16) Fp {
  u32 words[12];
};

// Constants are functions of the word's index so that they become immediate operands.
namespace fp {
INLINE constexpr u32 modulus(int i) {
  constexpr u32 p[12] = {0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0,
                         0xf38512bf, 0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea};
  return p[i];
}
// 2^shift p, for shifts below 4
INLINE constexpr u32 shifted_modulus(int shift, int i) {
  return shift == 0 ? modulus(i) : (modulus(i) << shift) | (i ? modulus(i - 1) >> (32 - shift) : 0);
}
// -1/p mod 2^32
constexpr u32 NEGATIVE_INVERSE = 0xfffcfffdu;
}  // namespace fp

// Of a field of coordinates.
template <class F>
INLINE F zero();
template <class F>
INLINE F one();

template <>
INLINE Fp zero<Fp>() { return Fp{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}; }

// 1 in Montgomery form: R mod p
template <>
INLINE Fp one<Fp>() {
  return Fp{{0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b, 0x53c758ba, 0x5f489857, 0x70525745, 0x77ce5853, 0xa256ec6d,
             0x5c071a97, 0xfa80e493, 0x15f65ec3}};
}

// R^3 mod p
INLINE Fp fp_r_cubed() {
  return Fp{{0xd94ca1e0, 0xed48ac6b, 0x03a7adf8, 0x315f831e, 0x615e29dd, 0x9a53352a, 0x921e1761, 0x34c04e5e, 0x65724728,
             0x2512d435, 0x91755d4d, 0x0aa63460}};
}

INLINE Fp load(const Fp* from) {
  Fp a;
  load_words<12>(a.words, from);
  return a;
}
INLINE Fp load_constant(const Fp* from) {
  Fp a;
  load_constant_words<12>(a.words, from);
  return a;
}
INLINE void store(Fp* to, const Fp& a) { store_words<12>(to, a.words); }

// ------------------------------------------------------------------------------------------------ sums

// a + b, not reduced
INLINE Fp add(const Fp& a, const Fp& b) {
  Fp sum;
  add_words<12>(sum.words, a.words, b.words);
  return sum;
}

// a - b + 2^SHIFT p, not reduced; b is at most 2^SHIFT p
template <int SHIFT>
INLINE Fp sub(const Fp& a, const Fp& b) {
  Fp d;
  Carry carry;
  d.words[0] = sub_cc(a.words[0], b.words[0], carry);
  UNROLL
  for (int i = 1; i < 11; i++) d.words[i] = subc_cc(a.words[i], b.words[i], carry);
  d.words[11] = subc(a.words[11], b.words[11], carry);
  d.words[0] = add_cc(d.words[0], fp::shifted_modulus(SHIFT, 0), carry);
  UNROLL
  for (int i = 1; i < 11; i++) d.words[i] = addc_cc(d.words[i], fp::shifted_modulus(SHIFT, i), carry);
  d.words[11] = addc(d.words[11], fp::shifted_modulus(SHIFT, 11), carry);
  return d;
}

// a, or a - 2^SHIFT p where that is not negative
template <int SHIFT>
INLINE Fp csub(const Fp& a) {
  Fp d;
  Carry carry;
  d.words[0] = sub_cc(a.words[0], fp::shifted_modulus(SHIFT, 0), carry);
  UNROLL
  for (int i = 1; i < 12; i++) d.words[i] = subc_cc(a.words[i], fp::shifted_modulus(SHIFT, i), carry);
  bool keep = subc(0, 0, carry) != 0;
  UNROLL
  for (int i = 0; i < 12; i++) d.words[i] = keep ? a.words[i] : d.words[i];
  return d;
}

// below 8p to closed
INLINE Fp closed(const Fp& a) { return csub<1>(csub<2>(a)); }

INLINE Fp sub(const Fp& a, const Fp& b) { return csub<1>(sub<1>(a, b)); }
INLINE Fp twice(const Fp& a) { return csub<1>(add(a, a)); }
INLINE Fp thrice(const Fp& a) { return closed(add(add(a, a), a)); }

// below 4p
INLINE Fp difference(const Fp& a, const Fp& b) { return sub<1>(a, b); }
// at most 2p
INLINE Fp opposite(const Fp& a) { return sub<1>(zero<Fp>(), a); }

// s - p - q
INLINE Fp minus(const Fp& s, const Fp& p, const Fp& q) { return closed(sub<2>(s, add(p, q))); }
// s - p - 2q; of the latter, one factor is itself a product, so p and q are below (1 + 2 * 1.41 / 9.844) p = 1.29p and
// p + 2q is below 4p
INLINE Fp minus_twice(const Fp& s, const Fp& p, const Fp& q) { return closed(sub<2>(s, add(add(q, q), p))); }

INLINE Fp canonical(const Fp& a) { return csub<0>(a); }
INLINE bool is_exactly_zero(const Fp& a) { return words_are_zero<12>(a.words); }

INLINE bool is_zero(const Fp& a) {
  // the lowest word decides almost always
  if (a.words[0] != 0 && a.words[0] != fp::modulus(0)) return false;
  u32 above = 0, beside = 0;
  UNROLL
  for (int i = 0; i < 12; i++) {
    above |= a.words[i];
    beside |= a.words[i] ^ fp::modulus(i);
  }
  return above == 0 || beside == 0;
}

INLINE Fp select(bool first, const Fp& a, const Fp& b) {
  Fp r;
  UNROLL
  for (int i = 0; i < 12; i++) r.words[i] = first ? a.words[i] : b.words[i];
  return r;
}

// Zero stays exactly zero, so that a negated infinity is one.
INLINE Fp negate_if(bool negative, const Fp& a) {
  return select(negative && !is_exactly_zero(a), sub<1>(zero<Fp>(), a), a);
}
INLINE Fp negate(const Fp& a) { return negate_if(true, a); }

// ------------------------------------------------------------------------------------------------ products

// The running sum of an interleaved multiplication: x + sum even[j] 2^(32 j) + sum odd[j] 2^(32 (j + 1)). The two rows
// of words keep the chains of low and high halves of products apart from each other, so that each is one chain.
//
// It holds T + sum a_k b_k[i] while word i of the factors b_k is added, and T stays below (1 + sum a_k / p) p; so the
// factors a_k may add up to 8.8p.
struct RunningProduct {
  u32 even[12], odd[12], x;

  CHAIN void clear() {
    x = 0;
    UNROLL
    for (int i = 0; i < 12; i++) even[i] = odd[i] = 0;
  }

  // row[0..11] += sum over j of a[2j + S] b 2^(64 j); the carry out remains. CARRY_IN: takes the carry in.
  template <int S, bool CARRY_IN>
  static CHAIN void add_row(u32* row, const u32* a, u32 b, Carry& carry) {
    UNROLL
    for (int j = 0; j < 6; j++) {
      if (j == 0 && !CARRY_IN) {
        mad_pair_cc(row[0], row[1], a[S], b, carry);
      } else {
        madc_pair_cc(row[2 * j], row[2 * j + 1], a[2 * j + S], b, carry);
      }
    }
  }

  // the same with p for a
  template <int S, bool CARRY_IN>
  static CHAIN void add_modulus_row(u32* row, u32 b, Carry& carry) {
    UNROLL
    for (int j = 0; j < 6; j++) {
      if (j == 0 && !CARRY_IN) {
        mad_pair_cc(row[0], row[1], fp::modulus(S), b, carry);
      } else {
        madc_pair_cc(row[2 * j], row[2 * j + 1], fp::modulus(2 * j + S), b, carry);
      }
    }
  }

  // += a b. PENDING: x is not zero and is added to the even row; its carry enters the odd row, which starts a word up.
  template <bool PENDING>
  CHAIN void add(const Fp& a, u32 b) {
    Carry carry;
    if (PENDING) {
      even[0] = add_cc(even[0], x, carry);
      add_row<1, true>(odd, a.words, b, carry);
    } else {
      add_row<1, false>(odd, a.words, b, carry);
    }
    add_row<0, false>(even, a.words, b, carry);
    odd[11] = addc(odd[11], 0, carry);
  }

  // Adds m p so that the lowest word vanishes, and drops it. x is not pending.
  CHAIN void reduce() {
    u32 m = even[0] * fp::NEGATIVE_INVERSE;
    Carry carry;
    add_modulus_row<1, false>(odd, m, carry);
    add_modulus_row<0, false>(even, m, carry);
    odd[11] = addc(odd[11], 0, carry);
    drop_word();
  }

  // The same with x pending.
  CHAIN void reduce_pending() {
    u32 lowest = even[0] + x, m = lowest * fp::NEGATIVE_INVERSE;
    Carry carry;
    even[0] = add_cc(even[0], x, carry);
    add_modulus_row<1, true>(odd, m, carry);
    add_modulus_row<0, false>(even, m, carry);
    odd[11] = addc(odd[11], 0, carry);
    drop_word();
  }

  CHAIN void drop_word() {
    x = even[1];
    UNROLL
    for (int j = 0; j < 12; j++) {
      u32 word = odd[j];
      odd[j] = j < 10 ? even[j + 2] : 0;
      even[j] = word;
    }
  }

  CHAIN Fp value() const {
    Fp r;
    Carry carry;
    r.words[0] = add_cc(even[0], x, carry);
    UNROLL
    for (int j = 1; j < 11; j++) r.words[j] = addc_cc(even[j], odd[j - 1], carry);
    r.words[11] = addc(even[11], odd[10], carry);
    return r;
  }
};

// a b / R, below (1 + a b / (9.844 p^2)) p; closed for a below 4p and b closed
ARITHMETIC Fp mul(const Fp& a, const Fp& b) {
  RunningProduct sum;
  sum.clear();
  UNROLL
  for (int i = 0; i < 12; i++) {
    if (i == 0) {
      sum.add<false>(a, b.words[i]);
    } else {
      sum.add<true>(a, b.words[i]);
    }
    sum.reduce();
  }
  return sum.value();
}

// (a b + c d) / R with one reduction, below (1 + (a b + c d) / (9.844 p^2)) p
ARITHMETIC Fp dot(const Fp& a, const Fp& b, const Fp& c, const Fp& d) {
  RunningProduct sum;
  sum.clear();
  UNROLL
  for (int i = 0; i < 12; i++) {
    if (i == 0) {
      sum.add<false>(a, b.words[i]);
    } else {
      sum.add<true>(a, b.words[i]);
    }
    sum.add<false>(c, d.words[i]);
    sum.reduce();
  }
  return sum.value();
}

// a^2 / R, below (1 + a^2 / (9.844 p^2)) p: 78 products of words and the reduction in place of 144 and it
ARITHMETIC Fp sqr(const Fp& a) {
  // the products of different words, once: those of even columns in `even`, those of odd columns in `odd`, both by
  // column
  u32 even[25], odd[25];
  UNROLL
  for (int i = 0; i < 25; i++) even[i] = odd[i] = 0;
  Carry carry;
  UNROLL
  for (int i = 0; i < 11; i++) {
    int column = 2 * i + 1;
    UNROLL
    for (int j = i + 1; j < 12; j += 2) {
      column = i + j;
      if (j == i + 1) {
        mad_pair_cc(odd[column], odd[column + 1], a.words[j], a.words[i], carry);
      } else {
        madc_pair_cc(odd[column], odd[column + 1], a.words[j], a.words[i], carry);
      }
    }
    odd[column + 2] = addc(odd[column + 2], 0, carry);
    if (i < 10) {
      UNROLL
      for (int j = i + 2; j < 12; j += 2) {
        column = i + j;
        if (j == i + 2) {
          mad_pair_cc(even[column], even[column + 1], a.words[j], a.words[i], carry);
        } else {
          madc_pair_cc(even[column], even[column + 1], a.words[j], a.words[i], carry);
        }
      }
      even[column + 2] = addc(even[column + 2], 0, carry);
    }
  }
  // t = 2 (even + odd) + the squares of the words
  u32 t[24];
  t[0] = 0;
  t[1] = odd[1];
  t[2] = add_cc(even[2], odd[2], carry);
  UNROLL
  for (int i = 3; i < 23; i++) t[i] = addc_cc(even[i], odd[i], carry);
  t[23] = addc(even[23], odd[23], carry);
  UNROLL
  for (int i = 23; i > 1; i--) t[i] = __funnelshift_l(t[i - 1], t[i], 1);
  t[1] <<= 1;
  mad_pair_cc(t[0], t[1], a.words[0], a.words[0], carry);
  UNROLL
  for (int i = 1; i < 12; i++) {
    if (i < 11) {
      madc_pair_cc(t[2 * i], t[2 * i + 1], a.words[i], a.words[i], carry);
    } else {
      madc_lo_cc(t[22], a.words[11], a.words[11], carry);
      madc_hi(t[23], a.words[11], a.words[11], carry);
    }
  }
  // the lower half is reduced, the upper half added
  RunningProduct low;
  low.clear();
  UNROLL
  for (int i = 0; i < 12; i++) low.even[i] = t[i];
  low.reduce();
  UNROLL
  for (int i = 1; i < 12; i++) low.reduce_pending();
  Fp r = low.value();
  add_words<12>(r.words, r.words, t + 12);
  return r;
}

// ------------------------------------------------------------------------------------------------ inversion

// Inversion by the division steps of Bernstein and Yang (Fast constant-time gcd computation and modular inversion,
// 2019), in the variant that starts at delta = 1/2, of which 881 steps suffice for 382 bits; 30 rounds of 30 steps. A
// round runs on the lowest 30 bits of f and g, collects its steps in a matrix (u v; q r), and applies that to f, g and,
// modulo p, to d, e. Numbers are 13 signed words of 30 bits, the topmost with the sign. Few multiplications: an eighth
// of the time of 480 dependent multiplications of Fermat's way (50 µs against 380 µs on an H200).
namespace division_steps {
constexpr int WORDS = 13;
constexpr i32 MASK = 0x3fffffff;
// 1/p mod 2^30
constexpr u32 INVERSE = 196611u;

// word i of p
INLINE constexpr i32 modulus(int i) {
  int word = 30 * i / 32, shift = 30 * i % 32;
  u32 low = fp::modulus(word) >> shift;
  u32 high = shift != 0 && word + 1 < 12 ? fp::modulus(word + 1) << (32 - shift) : 0;
  return i32((low | high) & MASK);
}
// word i of 2p
INLINE constexpr i32 twice_modulus(int i) {
  i32 shifted = (modulus(i) << 1) | (i > 0 ? modulus(i - 1) >> 29 : 0);
  return i < WORDS - 1 ? shifted & MASK : shifted;
}

struct Matrix {
  i32 u, v, q, r;
};

// 30 steps; zeta = -(delta + 1/2)
INLINE Matrix steps(i32& zeta, u32 f, u32 g) {
  Matrix m = {1, 0, 0, 1};
#pragma unroll 6
  for (int i = 0; i < 30; i++) {
    // swap: delta > 0, where g is odd; odd: g is odd
    i32 swap = zeta >> 31, odd = -i32(g & 1);
    u32 x = (f ^ swap) - swap;
    i32 y = (m.u ^ swap) - swap, z = (m.v ^ swap) - swap;
    g += x & odd;
    m.q += y & odd;
    m.r += z & odd;
    swap &= odd;
    zeta = (zeta ^ swap) - 1;
    f += g & swap;
    m.u += m.q & swap;
    m.v += m.r & swap;
    g >>= 1;
    m.u *= 2;
    m.v *= 2;
  }
  return m;
}

// (f, g) <- m (f, g) / 2^30 and (d, e) <- m (d, e) / 2^30 mod p, d and e in (-2p, p)
INLINE void apply(const Matrix& m, i32* f, i32* g, i32* d, i32* e) {
  i32 sign_d = d[WORDS - 1] >> 31, sign_e = e[WORDS - 1] >> 31;
  i32 multiple_d = (m.u & sign_d) + (m.v & sign_e), multiple_e = (m.q & sign_d) + (m.r & sign_e);
  i64 sum_d = i64(m.u) * d[0] + i64(m.v) * e[0], sum_e = i64(m.q) * d[0] + i64(m.r) * e[0];
  multiple_d -= i32((INVERSE * u32(sum_d) + u32(multiple_d)) & MASK);
  multiple_e -= i32((INVERSE * u32(sum_e) + u32(multiple_e)) & MASK);
  sum_d = (sum_d + i64(modulus(0)) * multiple_d) >> 30;
  sum_e = (sum_e + i64(modulus(0)) * multiple_e) >> 30;
  i64 sum_f = (i64(m.u) * f[0] + i64(m.v) * g[0]) >> 30, sum_g = (i64(m.q) * f[0] + i64(m.r) * g[0]) >> 30;
  UNROLL
  for (int i = 1; i < WORDS; i++) {
    sum_d += i64(m.u) * d[i] + i64(m.v) * e[i] + i64(modulus(i)) * multiple_d;
    sum_e += i64(m.q) * d[i] + i64(m.r) * e[i] + i64(modulus(i)) * multiple_e;
    d[i - 1] = i32(sum_d) & MASK;
    e[i - 1] = i32(sum_e) & MASK;
    sum_d >>= 30;
    sum_e >>= 30;
    sum_f += i64(m.u) * f[i] + i64(m.v) * g[i];
    sum_g += i64(m.q) * f[i] + i64(m.r) * g[i];
    f[i - 1] = i32(sum_f) & MASK;
    g[i - 1] = i32(sum_g) & MASK;
    sum_f >>= 30;
    sum_g >>= 30;
  }
  d[WORDS - 1] = i32(sum_d);
  e[WORDS - 1] = i32(sum_e);
  f[WORDS - 1] = i32(sum_f);
  g[WORDS - 1] = i32(sum_g);
}
}  // namespace division_steps

// 1/a for closed a, and 0 of 0. Not inlined: inlining it keeps the compiler busy for minutes.
NOINLINE Fp inverse(Fp a) {
  using namespace division_steps;
  a = canonical(a);
  i32 f[WORDS], g[WORDS], d[WORDS], e[WORDS];
  UNROLL
  for (int i = 0; i < WORDS; i++) {
    int word = 30 * i / 32, shift = 30 * i % 32;
    u32 high = word + 1 < 12 ? a.words[word + 1] : 0;
    g[i] = i32(__funnelshift_r(a.words[word], high, shift) & MASK);
    f[i] = modulus(i);
    d[i] = 0;
    e[i] = i == 0;
  }
  i32 zeta = -1;
#pragma unroll 1
  for (int round = 0; round < 30; round++) {
    apply(steps(zeta, u32(f[0]), u32(g[0])), f, g, d, e);
  }
  // f is 1 or -1 and the inverse is d f, with d in (-2p, p): d f + 2p is in (0, 4p)
  i32 sign = f[WORDS - 1] >> 31;
  u32 n[WORDS];
  i64 sum = 0;
  UNROLL
  for (int i = 0; i < WORDS; i++) {
    sum += i64((d[i] ^ sign) - sign) + twice_modulus(i);
    n[i] = i < WORDS - 1 ? u32(sum) & MASK : u32(sum);
    sum >>= 30;
  }
  Fp inverted;
  UNROLL
  for (int i = 0; i < 12; i++) {
    int word = 32 * i / 30, shift = 32 * i % 30;  // 32 bits from bit 32 i on
    u64 bits = u64(n[word]) >> shift | u64(n[word + 1]) << (30 - shift);
    if (word + 2 < WORDS && 60 - shift < 32) bits |= u64(n[word + 2]) << (60 - shift);
    inverted.words[i] = u32(bits);
  }
  // of a R it is 1 / (a R); a product divides by R, so R^3 makes it R / a
  return mul(csub<1>(inverted), fp_r_cubed());
}
