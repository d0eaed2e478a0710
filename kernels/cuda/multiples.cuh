// Multiples of points: tables of the bases of a key, and many multiples of one point. Over `Coordinate`, the field of
// the coordinates; GROUPED(name) is the name of an entry point in the group.
//
//   double_points                          points times a power of two, as sums
//   normalize_sums                         sums as affine points
//   fixed_base_table, fixed_base_multiply  multiples of one point, from a table of multiples of it
//
// Offsets are in 64 bits: tables reach 2^31 points of 96 or 192 bytes.
#pragma once

#include "curve.cuh"
#include "fr.cuh"

// Blocks of 128 threads of a multiprocessor: they leave a thread 168 registers in G1 and 255 in G2, as XYZZ
// accumulation takes them (prototype, H200: a cap of 128 registers loses to 168).
constexpr u32 MULTIPLES_BLOCKS = sizeof(Coordinate) == sizeof(Fp) ? 3 : 2;

// sums[i] <- 2^times points[i], for times of at least one
KERNEL(GROUPED(double_points), 128, MULTIPLES_BLOCKS)
(const Affine<Coordinate>* __restrict__ points, Sum<Coordinate>* sums, u64 count, u32 times) {
  const u64 i = grid_thread();
  if (i >= count) return;
  Sum<Coordinate> sum = dbl(load_constant(points + i));
#pragma unroll 1
  for (u32 k = 1; k < times; k++) sum = dbl(sum);
  store(sums + i, sum);
}

// points[i] <- sums[i], canonical. Thread t has the elements t, t + threads, t + 2 threads, ... and inverts the product
// of their ZZZ (Montgomery's trick): on the way forth each x holds the product of those before, on the way back the
// inverse of the product up to here is known.
KERNEL(GROUPED(normalize_sums), 128, MULTIPLES_BLOCKS)
(const Sum<Coordinate>* __restrict__ sums, Affine<Coordinate>* points, u64 count, u64 threads) {
  const u64 thread = grid_thread();
  if (thread >= threads || thread >= count) return;
  Coordinate product = one<Coordinate>();
#pragma unroll 1
  for (u64 i = thread; i < count; i += threads) {
    store(&points[i].x, product);
    const Coordinate zzz = load_constant(&sums[i].zzz);
    if (!is_exactly_zero(zzz)) product = mul(product, zzz);
  }
  Coordinate inverted = inverse(product);
#pragma unroll 1
  for (u64 left = (count - 1 - thread) / threads + 1; left > 0; left--) {
    const u64 i = thread + (left - 1) * threads;
    const Sum<Coordinate> sum = load_constant(sums + i);
    Affine<Coordinate> point = affine_infinity<Coordinate>();
    if (!is_infinity(sum)) {
      point = normalized(sum, mul(inverted, load(&points[i].x)));
      inverted = mul(inverted, sum.zzz);
    }
    store(points + i, point);
  }
}

// A scalar is cut into 256 / bits digits, for bits that divide 32. With P_w = 2^(bits w) P, entry 2^bits w + d of the
// table is d P_w. For 8 bits the table has 0.8 MB in G1 and 1.6 MB in G2 and stays in the second-level cache.

// sums[2^bits w + d] <- d starts[w], for count = 2^bits 256 / bits
KERNEL(GROUPED(fixed_base_table), 128, MULTIPLES_BLOCKS)
(const Affine<Coordinate>* __restrict__ starts, Sum<Coordinate>* sums, u32 count, u32 bits) {
  const u32 entry = u32(grid_thread());
  if (entry >= count) return;
  const Affine<Coordinate> start = load_constant(starts + (entry >> bits));
  Sum<Coordinate> sum = infinity<Coordinate>();
#pragma unroll 1
  for (u32 bit = bits; bit > 0; bit--) {
    sum = dbl(sum);
    if (entry >> (bit - 1) & 1) add(sum, start);
  }
  store(sums + entry, sum);
}

// sums[i] <- scalars[i] P
KERNEL(GROUPED(fixed_base_multiply), 128, MULTIPLES_BLOCKS)
(const Fr* __restrict__ scalars, const Affine<Coordinate>* __restrict__ table, Sum<Coordinate>* sums, u64 count,
 u32 bits) {
  const u64 i = grid_thread();
  if (i >= count) return;
  const Fr scalar = from_montgomery(load_constant(scalars + i));
  Sum<Coordinate> sum = infinity<Coordinate>();
#pragma unroll 1
  for (u32 k = 0; k < 8; k++) {
    // An array that a variable indexes would not be in registers.
    u32 word = 0;
    UNROLL
    for (u32 j = 0; j < 8; j++) word = j == k ? scalar.words[j] : word;
#pragma unroll 1
    for (u32 left = 32; left > 0; left -= bits) {
      const u32 digit = word & ((1u << bits) - 1);
      word >>= bits;
      if (digit != 0) add(sum, load_constant(table + digit));
      table += 1u << bits;
    }
  }
  store(sums + i, sum);
}
