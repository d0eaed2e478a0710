// Arithmetic in Fp2 = Fp[u] / (u^2 + 1), the field of G2's coordinates: the functions of fp.cuh, with the same meaning
// of `closed` for each component.
//
// A product is (a0 b0 - a1 b1) + (a0 b1 + a1 b0) u. In units of 144 products of words, a product of two elements of Fp
// is one and its reduction another:
//   two sums of two products, each reduced once           4 products + 2 reductions = 6
//   Karatsuba over reduced products                       3 products + 3 reductions = 6, and five additions
//   Karatsuba over products of 24 words, reduced after    3 products + 2 reductions = 5, and 120 additions of words
// The last holds two or three products of 24 words beside its operands, where registers are what kernels over Fp2 lack,
// and in G1's kernels Karatsuba gained alone and lost in place. So products are sums of two. A square takes 2 products
// and 2 reductions, a b + c d takes 8 and 2.
//
// These are functions, not parts of their callers: a product is a thousand instructions, and point formulas made of
// copies would be more than the instruction cache holds.
#pragma once

#include "fp.cuh"

struct alignas(16) Fp2 {
  Fp c0, c1;
};

template <>
INLINE Fp2 zero<Fp2>() {
  return Fp2{zero<Fp>(), zero<Fp>()};
}
template <>
INLINE Fp2 one<Fp2>() {
  return Fp2{one<Fp>(), zero<Fp>()};
}

INLINE Fp2 load(const Fp2* from) { return Fp2{load(&from->c0), load(&from->c1)}; }
INLINE Fp2 load_constant(const Fp2* from) { return Fp2{load_constant(&from->c0), load_constant(&from->c1)}; }
INLINE void store(Fp2* to, const Fp2& a) {
  store(&to->c0, a.c0);
  store(&to->c1, a.c1);
}

INLINE Fp2 sub(const Fp2& a, const Fp2& b) { return Fp2{sub(a.c0, b.c0), sub(a.c1, b.c1)}; }
INLINE Fp2 twice(const Fp2& a) { return Fp2{twice(a.c0), twice(a.c1)}; }
INLINE Fp2 thrice(const Fp2& a) { return Fp2{thrice(a.c0), thrice(a.c1)}; }

// Closed, unlike Fp's: a product adds twice as many terms.
INLINE Fp2 difference(const Fp2& a, const Fp2& b) { return sub(a, b); }
// components at most 2p
INLINE Fp2 opposite(const Fp2& a) { return Fp2{opposite(a.c0), opposite(a.c1)}; }

INLINE Fp2 minus(const Fp2& s, const Fp2& p, const Fp2& q) {
  return Fp2{minus(s.c0, p.c0, q.c0), minus(s.c1, p.c1, q.c1)};
}
// Closed p and q will do here, whose sum is below 6p.
INLINE Fp minus_twice_closed(const Fp& s, const Fp& p, const Fp& q) {
  return closed(sub<2>(s, csub<2>(add(add(q, q), p))));
}
INLINE Fp2 minus_twice(const Fp2& s, const Fp2& p, const Fp2& q) {
  return Fp2{minus_twice_closed(s.c0, p.c0, q.c0), minus_twice_closed(s.c1, p.c1, q.c1)};
}

INLINE Fp2 canonical(const Fp2& a) { return Fp2{canonical(a.c0), canonical(a.c1)}; }
INLINE bool is_exactly_zero(const Fp2& a) { return is_exactly_zero(a.c0) && is_exactly_zero(a.c1); }
INLINE bool is_zero(const Fp2& a) { return is_zero(a.c0) && is_zero(a.c1); }
INLINE Fp2 select(bool first, const Fp2& a, const Fp2& b) {
  return Fp2{select(first, a.c0, b.c0), select(first, a.c1, b.c1)};
}
INLINE Fp2 negate_if(bool negative, const Fp2& a) {
  return Fp2{negate_if(negative, a.c0), negate_if(negative, a.c1)};
}
INLINE Fp2 negate(const Fp2& a) { return negate_if(true, a); }

// Components below (1 + 2 * 4 / 9.844) p = 1.82p.
NOINLINE Fp2 mul(Fp2 a, Fp2 b) {
  Fp2 product;
  product.c0 = dot(a.c0, b.c0, a.c1, opposite(b.c1));
  product.c1 = dot(a.c0, b.c1, a.c1, b.c0);
  return product;
}

// (a0 + a1) (a0 - a1) + 2 a0 a1 u; one factor of each is below 4p, the other closed: components below 1.82p
NOINLINE Fp2 sqr(Fp2 a) {
  Fp2 square;
  square.c0 = mul(add(a.c0, a.c1), sub(a.c0, a.c1));
  square.c1 = mul(add(a.c0, a.c0), a.c1);
  return square;
}

// (a0 b0 + a1 b1 + a2 b2 + a3 b3) / R with one reduction, closed. The factors a_i add up to at most 8p.
ARITHMETIC Fp dot4(const Fp& a0, const Fp& b0, const Fp& a1, const Fp& b1, const Fp& a2, const Fp& b2, const Fp& a3,
                   const Fp& b3) {
  RunningProduct sum;
  sum.clear();
  UNROLL
  for (int i = 0; i < 12; i++) {
    if (i == 0) {
      sum.add<false>(a0, b0.words[i]);
    } else {
      sum.add<true>(a0, b0.words[i]);
    }
    sum.add<false>(a1, b1.words[i]);
    sum.add<false>(a2, b2.words[i]);
    sum.add<false>(a3, b3.words[i]);
    sum.reduce();
  }
  return csub<1>(sum.value());  // below (1 + 4 * 4 / 9.844) p = 2.63p before
}

// a and c may be opposites.
NOINLINE Fp2 dot(Fp2 a, Fp2 b, Fp2 c, Fp2 d) {
  Fp2 sum;
  sum.c0 = dot4(a.c0, b.c0, a.c1, opposite(b.c1), c.c0, d.c0, c.c1, opposite(d.c1));
  sum.c1 = dot4(a.c0, b.c1, a.c1, b.c0, c.c0, d.c1, c.c1, d.c0);
  return sum;
}

// (a0 - a1 u) / (a0^2 + a1^2)
NOINLINE Fp2 inverse(Fp2 a) {
  Fp scale = inverse(dot(a.c0, a.c0, a.c1, a.c1));
  return Fp2{mul(a.c0, scale), mul(opposite(a.c1), scale)};
}
