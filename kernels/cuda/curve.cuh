// Points of y^2 = x^3 + b over F, which is Fp for G1 and Fp2 for G2. The formulas are those for a = 0 and do not use b
// (Explicit-Formulas Database, short Weierstrass curves, XYZZ coordinates).
//
// Affine points are (x, y), infinity is (0, 0) exactly: no point of either group has y = 0, as both have odd order.
// Sums are (X, Y, ZZ, ZZZ) with x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2; infinity has ZZ = ZZZ = 0 exactly. Coordinates
// are closed (fp.cuh) in memory and in operands and results here; those of tables of affine points, and what the host
// gets, are canonical.
//
// All operations are complete: they take infinity, equal points and opposite points.
#pragma once

#include "fp2.cuh"

template <class F>
struct Affine {
  F x, y;
};

template <class F>
struct Sum {
  F x, y, zz, zzz;
};

template <class F>
INLINE Affine<F> load(const Affine<F>* from) {
  return Affine<F>{load(&from->x), load(&from->y)};
}
template <class F>
INLINE Affine<F> load_constant(const Affine<F>* from) {
  return Affine<F>{load_constant(&from->x), load_constant(&from->y)};
}
template <class F>
INLINE void store(Affine<F>* to, const Affine<F>& p) {
  store(&to->x, p.x);
  store(&to->y, p.y);
}
template <class F>
INLINE Sum<F> load(const Sum<F>* from) {
  return Sum<F>{load(&from->x), load(&from->y), load(&from->zz), load(&from->zzz)};
}
template <class F>
INLINE Sum<F> load_constant(const Sum<F>* from) {
  return Sum<F>{load_constant(&from->x), load_constant(&from->y), load_constant(&from->zz), load_constant(&from->zzz)};
}
template <class F>
INLINE void store(Sum<F>* to, const Sum<F>& s) {
  store(&to->x, s.x);
  store(&to->y, s.y);
  store(&to->zz, s.zz);
  store(&to->zzz, s.zzz);
}

template <class F>
INLINE bool is_infinity(const Affine<F>& p) {
  return is_exactly_zero(p.y) && is_exactly_zero(p.x);
}
template <class F>
INLINE bool is_infinity(const Sum<F>& s) {
  return is_exactly_zero(s.zz);
}

template <class F>
INLINE Affine<F> affine_infinity() {
  return Affine<F>{zero<F>(), zero<F>()};
}
template <class F>
INLINE Sum<F> infinity() {
  return Sum<F>{zero<F>(), zero<F>(), zero<F>(), zero<F>()};
}

template <class F>
INLINE Sum<F> as_sum(const Affine<F>& p) {
  F scale = is_infinity(p) ? zero<F>() : one<F>();
  return Sum<F>{p.x, p.y, scale, scale};
}

template <class F>
INLINE Affine<F> negate_if(bool negative, const Affine<F>& p) {
  return Affine<F>{p.x, negate_if(negative, p.y)};
}
template <class F>
INLINE Sum<F> negate_if(bool negative, const Sum<F>& s) {
  return Sum<F>{s.x, negate_if(negative, s.y), s.zz, s.zzz};
}

template <class F>
INLINE Affine<F> canonical(const Affine<F>& p) {
  return Affine<F>{canonical(p.x), canonical(p.y)};
}
template <class F>
INLINE Sum<F> canonical(const Sum<F>& s) {
  return Sum<F>{canonical(s.x), canonical(s.y), canonical(s.zz), canonical(s.zzz)};
}

// ------------------------------------------------------------------------------------------------ sums

// 2s: six products, three squares, one reduction saved
template <class F>
NOINLINE Sum<F> dbl(Sum<F> s) {
  F u = twice(s.y), v = sqr(u), w = mul(u, v), t = mul(s.x, v);
  F m = thrice(sqr(s.x));
  Sum<F> r;
  r.x = minus(sqr(m), t, t);
  r.y = dot(m, difference(t, r.x), opposite(s.y), w);
  r.zz = mul(s.zz, v);
  r.zzz = mul(s.zzz, w);
  return r;
}

// 2p: four products, three squares, one reduction saved
template <class F>
NOINLINE Sum<F> dbl(Affine<F> p) {
  F u = twice(p.y), v = sqr(u), w = mul(u, v), t = mul(p.x, v);
  F m = thrice(sqr(p.x));
  Sum<F> r;
  r.x = minus(sqr(m), t, t);
  r.y = dot(m, difference(t, r.x), opposite(p.y), w);
  r.zz = v;
  r.zzz = w;
  return r;
}

// The end of both additions, with P = U2 - U1, R = S2 - S1: X3 = R^2 - P^3 - 2 U1 P^2, Y3 = R (U1 P^2 - X3) - S1 P^3,
// the two products of the latter with one reduction.
template <class F>
INLINE void finish_addition(Sum<F>& s, const F& r, const F& ppp, const F& q, const F& s1) {
  s.x = minus_twice(sqr(r), ppp, q);
  s.y = dot(r, difference(q, s.x), opposite(s1), ppp);
}

// s += p: eight products, two squares, one reduction saved
template <class F>
INLINE void add(Sum<F>& s, const Affine<F>& p) {
  if (is_infinity(p)) return;
  if (is_infinity(s)) {
    s = Sum<F>{p.x, p.y, one<F>(), one<F>()};
    return;
  }
  F u = sub(mul(p.x, s.zz), s.x);
  F r = sub(mul(p.y, s.zzz), s.y);
  if (is_zero(u)) {
    if (is_zero(r)) {
      s = dbl(p);
    } else {
      s = infinity<F>();
    }
    return;
  }
  F uu = sqr(u), q = mul(s.x, uu), uuu = mul(u, uu);
  s.zz = mul(s.zz, uu);
  s.zzz = mul(s.zzz, uuu);
  finish_addition(s, r, uuu, q, s.y);
}

// s += t: twelve products, two squares, one reduction saved. In place, and part of the caller: sums handed to a function
// go through memory, 400 bytes in G1 for each addition and thread, which is more than a multiprocessor keeps at hand.
template <class F>
INLINE void add(Sum<F>& s, const Sum<F>& t) {
  if (is_infinity(t)) return;
  if (is_infinity(s)) {
    s = t;
    return;
  }
  F u1 = mul(s.x, t.zz), u = sub(mul(t.x, s.zz), u1);
  F s1 = mul(s.y, t.zzz), r = sub(mul(t.y, s.zzz), s1);
  if (is_zero(u)) {
    if (is_zero(r)) {
      s = dbl(s);
    } else {
      s = infinity<F>();
    }
    return;
  }
  F uu = sqr(u), uuu = mul(u, uu), q = mul(u1, uu);
  s.zz = mul(mul(s.zz, t.zz), uu);
  s.zzz = mul(mul(s.zzz, t.zzz), uuu);
  finish_addition(s, r, uuu, q, s1);
}

// The affine point of a sum that is not infinity, given 1 / ZZZ: with i = 1 / ZZZ, ZZ i is 1 / sqrt(ZZ).
template <class F>
INLINE Affine<F> normalized(const Sum<F>& s, const F& inverse_zzz) {
  F inverse_zz = sqr(mul(s.zz, inverse_zzz));
  return Affine<F>{canonical(mul(s.x, inverse_zz)), canonical(mul(s.y, inverse_zzz))};
}

// ------------------------------------------------------------------------------------------------ affine additions

// Affine additions share inversions: each multiplies its denominator into a running product, and later gets its inverse
// out of that of the product.
enum class Slope {
  None,     // the sum needs no division: a summand is infinite, or they are opposite
  Chord,    // (y2 - y1) / (x2 - x1)
  Tangent,  // 3 x1^2 / 2 y1
};

// How p + q is divided and by what, from x coordinates alone where that will do: y1() and y2() are called else.
template <class F, class Y1, class Y2>
INLINE Slope slope_denominator(const F& x1, const F& x2, Y1 y1, Y2 y2, F& denominator) {
  if (is_exactly_zero(x1) && is_exactly_zero(y1())) return Slope::None;
  if (is_exactly_zero(x2) && is_exactly_zero(y2())) return Slope::None;
  denominator = sub(x2, x1);
  if (!is_zero(denominator)) return Slope::Chord;
  F y = y1();
  if (!is_zero(sub(y2(), y))) return Slope::None;
  denominator = twice(y);
  return Slope::Tangent;
}

template <class F>
INLINE Slope slope_denominator(const Affine<F>& p, const Affine<F>& q, F& denominator) {
  return slope_denominator(p.x, q.x, [&] { return p.y; }, [&] { return q.y; }, denominator);
}

// p + q, given what slope_denominator said and the inverse of its denominator: two products, one square and, for a
// tangent, another
template <class F>
INLINE Affine<F> add_with_inverse(Slope slope, const Affine<F>& p, const Affine<F>& q, const F& inverse) {
  if (slope == Slope::None) {
    if (is_infinity(p)) return q;
    return is_infinity(q) ? p : affine_infinity<F>();
  }
  F numerator = slope == Slope::Chord ? difference(q.y, p.y) : thrice(sqr(p.x));
  F tangent = mul(numerator, inverse);
  Affine<F> sum;
  sum.x = minus(sqr(tangent), p.x, q.x);
  sum.y = sub(mul(difference(p.x, sum.x), tangent), p.y);
  return sum;
}
