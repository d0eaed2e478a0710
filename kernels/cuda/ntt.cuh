// Number-theoretic transforms.
//
// A transform of N = 2^n points is two to four passes over memory, of M1, M2, .., Mp points each, N = M1 M2 .. Mp. A
// pass does transforms of M = 2^LOG points inside a block: the points stand in shared memory and go through registers
// eight at a time. With digits of mixed radix, most significant first, an index and a frequency are
//
//   j = (j1, j2, .., jp) = j1 M2..Mp + j2 M3..Mp + .. + jp    natural order
//   k = k1 + M1 k2 + M1 M2 k3 + ..                            at the position (k1, k2, .., kp): reversed order
//
// In frequency (natural to reversed order), passes 1 to p - 1 transform columns, points at distance S = M(i+1)..Mp,
// from ji to ki, and multiply each by w^(ki column), w the root of order M S; the last pass transforms rows, contiguous
// points. In time (back), the same steps are undone in the opposite order, each column pass multiplying first. So what
// goes there and back is never reordered, and the two row passes between join in one kernel. A transform that ends in
// natural order goes there, and its row pass writes where the frequencies belong: a block takes rows whose k1 are
// neighbours, so that it writes runs of four points, 128 bytes, or more.
//
// Within a block the transform is in frequency, too, in steps of radix 8 (the last of radix 2 or 4 where that is left),
// and leaves frequencies in the order of reversed digits of three bits: `order`.
//
// Values are lazy, in [0, 2r); what leaves the last pass is canonical. Factors that are known beforehand are
// multipliers with quotients (FrConst), so that values keep their form.
//
// Measured in the prototype on an H200 (GPU-NOTES.md): eight points a thread with 128 registers; four neighbouring
// columns or more a block; 32 KiB of shared memory; one copy of the multiplication in a loop where the code would
// outgrow the instruction cache otherwise; twiddles from one table an eighth faster than as products from two.
#pragma once

#include "fr.cuh"

constexpr int RADIX_BITS = 3;
constexpr int POINTS = 1 << RADIX_BITS;  // of a thread

// Number of steps of radix 8 before the last step of a block's transform.
INLINE constexpr int steps_before_last(int log) { return (log - 1) / RADIX_BITS; }

// The frequency at a place of a block's result. Linear over exclusive or.
template <int LOG>
INLINE u32 order(u32 place) {
  constexpr int STEPS = steps_before_last(LOG), LAST = LOG - RADIX_BITS * STEPS;
  u32 k = 0;
  UNROLL
  for (int s = 0; s < STEPS; s++) {
    k |= ((place >> (LOG - RADIX_BITS - RADIX_BITS * s)) & (POINTS - 1)) << (RADIX_BITS * s);
  }
  return k | (place & ((1 << LAST) - 1)) << (RADIX_BITS * STEPS);
}

// The place of a frequency: the inverse of `order`.
template <int LOG>
INLINE u32 order_place(u32 k) {
  constexpr int STEPS = steps_before_last(LOG);
  u32 place = k >> (RADIX_BITS * STEPS);
  UNROLL
  for (int s = 0; s < STEPS; s++) {
    place |= ((k >> (RADIX_BITS * s)) & (POINTS - 1)) << (LOG - RADIX_BITS - RADIX_BITS * s);
  }
  return place;
}

// What transforms of one direction multiply by inside a block.
struct Roots {
  FrConst eighth[3];        // the root of order 8, its square, its cube
  const FrConst* steps[2];  // by step, with L = M, M/8: w^(j k) for w of order L at k L/8 + j, j < L/8, k < 8
};

// Factors for k and e: low[k 2^low_bits + e mod 2^low_bits], times high[k 2^high_bits + (e >> low_bits)] unless that is
// null.
struct Factors {
  const FrConst* low;
  const FrConst* high;
  u32 low_bits, high_bits;
};

// The points of a block in shared memory: the low halves of E points, then the high halves. Indices are swizzled
// against bank conflicts. That is linear over exclusive or: the swizzled sum of a base and an offset with disjoint bits
// is the exclusive or of the swizzled two, so callers compute the first once and let the second be a constant. `order`
// and `order_place` are alike.
template <int E>
struct Tile {
  uint4* halves;

  static INLINE constexpr u32 swizzle(u32 i) { return i ^ ((i >> 3) & 7) ^ ((i >> 6) & 7) ^ ((i >> 8) & 3); }
  INLINE Fr get(u32 swizzled) const {
    uint4 a = halves[swizzled], b = halves[E + swizzled];
    return Fr{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
  }
  INLINE void put(u32 swizzled, const Fr& a) const {
    halves[swizzled] = make_uint4(a.words[0], a.words[1], a.words[2], a.words[3]);
    halves[E + swizzled] = make_uint4(a.words[4], a.words[5], a.words[6], a.words[7]);
  }
  // The half with this number in memory, where the halves of a point are neighbours.
  INLINE uint4& half(u32 number) const { return halves[(number & 1) * E + swizzle(number >> 1)]; }
};

INLINE void butterfly(Fr& a, Fr& b) {
  Fr difference = sub(a, b);
  a = add(a, b);
  b = difference;
}

INLINE void swap(Fr& a, Fr& b) {
  Fr c = a;
  a = b;
  b = c;
}

INLINE void transform_4(Fr* x, const FrConst* eighth) {
  butterfly(x[0], x[2]);
  butterfly(x[1], x[3]);
  x[3] = mul_shoup(x[3], eighth[1]);
  butterfly(x[0], x[1]);
  butterfly(x[2], x[3]);
  swap(x[1], x[2]);
}

// A transform of RADIX points in registers, natural order to natural order.
template <int RADIX>
INLINE void transform_registers(Fr* x, const FrConst* eighth) {
  if constexpr (RADIX == 2) butterfly(x[0], x[1]);
  if constexpr (RADIX == 4) transform_4(x, eighth);
  if constexpr (RADIX == 8) {
    UNROLL
    for (int i = 0; i < 4; i++) butterfly(x[i], x[i + 4]);
    UNROLL
    for (int i = 1; i < 4; i++) x[i + 4] = mul_shoup(x[i + 4], eighth[i - 1]);
    transform_4(x, eighth);
    transform_4(x + 4, eighth);
    Fr y[8];
    UNROLL
    for (int i = 0; i < 8; i++) y[i] = x[i];
    UNROLL
    for (int i = 0; i < 4; i++) {
      x[2 * i] = y[i];
      x[2 * i + 1] = y[i + 4];
    }
  }
}

// Transforms of 2^LOG points within a tile of E points, one for each c: point m of that is at m MS + c CS. A thread has
// u, one in eight of the points, and c. It brings the points u + i 2^LOG / 8 in x[i], while nobody else reads their
// places any more, and hands what is at the places 8 u + i to done(i, value), group by group, so that not all of it is
// in registers together with where it goes; nobody else reads those places then.
template <int LOG, int MS, int CS, int E, class Done>
INLINE void transform_block(Fr* x, const Tile<E>& tile, u32 u, u32 c, const Roots& roots, Done done) {
  constexpr int STEPS = steps_before_last(LOG), LAST = LOG - RADIX_BITS * STEPS;
#pragma unroll 1
  for (int s = 0; s < STEPS; s++) {
    // From u to the sub-transform b and the place j in it: j is the slow part, so that warps with j = 0 skip
    // multiplying by 1; which warp that is changes with the block, or one scheduler would always have the light one.
    const int log_distance = LOG - RADIX_BITS - RADIX_BITS * s;
    const u32 b = u & ((1u << (RADIX_BITS * s)) - 1);
    const u32 j = ((u >> (RADIX_BITS * s)) + (s ? blockIdx.x : 0)) & ((1u << log_distance) - 1);
    const u32 base = tile.swizzle(((b << (log_distance + RADIX_BITS)) + j) * MS + c * CS);
    auto place = [&](u32 i) { return base ^ tile.swizzle((i << log_distance) * MS); };
    if (s > 0) {
      __syncthreads();
      UNROLL
      for (int i = 0; i < POINTS; i++) x[i] = tile.get(place(i));
    }
    transform_registers<POINTS>(x, roots.eighth);
    UNROLL
    for (int i = 0; i < POINTS; i++) tile.put(place(i), x[i]);
    if (j) {
      const FrConst* factors = roots.steps[s] + j;
#pragma unroll 1
      for (int i = 1; i < POINTS; i++) {
        const u32 p = place(i);
        tile.put(p, mul_shoup(tile.get(p), load_constant(factors + (i << log_distance))));
      }
    }
  }
  __syncthreads();
  const u32 base = tile.swizzle(POINTS * u * MS + c * CS);
  UNROLL
  for (int group = 0; group < POINTS; group += 1 << LAST) {
    UNROLL
    for (int i = group; i < group + (1 << LAST); i++) x[i] = tile.get(base ^ tile.swizzle(i * MS));
    transform_registers<1 << LAST>(x + group, roots.eighth);
    UNROLL
    for (int i = group; i < group + (1 << LAST); i++) done(i, x[i]);
  }
}

// Multiplies the points of a thread in the tile: for i < 8 that at place(i) by the factor for k(i) and e(i). Hands i
// and the product to done. The points stay in the tile: so there is room in registers to load a factor one step ahead.
template <int E, class Place, class K, class Exponent, class Done>
INLINE void multiply(const Tile<E>& tile, const Factors& factors, Place place, K k, Exponent e, Done done) {
  const u32 mask = (1u << factors.low_bits) - 1;
  auto low = [&](int i) { return factors.low + ((u64(k(i)) << factors.low_bits) + (e(i) & mask)); };
  if (factors.high == nullptr) {
    FrConst next = load_constant(low(0));
#pragma unroll 2
    for (int i = 0; i < POINTS; i++) {
      const FrConst factor = next;
      next = load_constant(low(i < POINTS - 1 ? i + 1 : i));
      done(i, mul_shoup(tile.get(place(i)), factor));
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < POINTS; i++) {
      const FrConst first = load_constant(low(i));
      const u64 high = (u64(k(i)) << factors.high_bits) + (e(i) >> factors.low_bits);
      const FrConst second = load_constant(factors.high + high);
      done(i, mul_shoup(mul_shoup(tile.get(place(i)), first), second));
    }
  }
}

// A pass over columns, in place or not.
struct ColumnPass {
  Roots roots;
  Factors twiddles;  // for k = ki and e = the column
  Factors before;    // in frequency: by what points are multiplied first, for e = their index; low null: nothing
  const Fr* in;
  Fr* out;
  const Fr* times;  // product: what results are multiplied by, at the same position
  const Fr* minus;  // and what is then subtracted, or null
  u32 log_stride;   // log2 of S
  u32 unused[3];
};

// What a thread has of the transforms of 2^LOG points at distance S over 2^LOG_COLUMNS neighbouring columns.
template <int LOG, int LOG_COLUMNS>
struct ColumnBlock {
  static constexpr int COLUMNS = 1 << LOG_COLUMNS, E = 1 << (LOG + LOG_COLUMNS), DISTANCE = (1 << LOG) / POINTS;

  Tile<E> tile;
  u32 log_stride, c, u;
  u64 base;

  INLINE ColumnBlock(uint4* shared, u32 log_stride)
      : tile{shared}, log_stride(log_stride), c(threadIdx.x & (COLUMNS - 1)), u(threadIdx.x >> LOG_COLUMNS) {
    const u32 log_groups = log_stride - LOG_COLUMNS;
    const u32 group = blockIdx.x & ((1u << log_groups) - 1), outer = blockIdx.x >> log_groups;
    base = (u64(outer) << (LOG + log_stride)) + ((group << LOG_COLUMNS) + c);
  }
  // The thread's column.
  INLINE u32 column() const { return u32(base) & ((1u << log_stride) - 1); }
  // Where point m of the thread's column stands in memory.
  INLINE u64 at(u32 m) const { return base + (u64(m) << log_stride); }
  // Of point i as it is loaded: its number in the column, its place in the tile.
  INLINE u32 index(u32 i) const { return u + i * DISTANCE; }
  INLINE u32 loaded(u32 i) const { return tile.swizzle(u * COLUMNS + c) ^ tile.swizzle(i * DISTANCE * COLUMNS); }
  // Of point i after the transform.
  INLINE u32 frequency(u32 i) const { return order<LOG>(POINTS * u) ^ order<LOG>(i); }
  INLINE u32 stored(u32 i) const { return tile.swizzle(POINTS * u * COLUMNS + c) ^ tile.swizzle(i * COLUMNS); }

  INLINE void load_points(Fr* x, const Fr* in) const {
    UNROLL
    for (int i = 0; i < POINTS; i++) x[i] = load(in + at(index(i)));
  }
  INLINE void put_loaded(const Fr* x) const {
    UNROLL
    for (int i = 0; i < POINTS; i++) tile.put(loaded(i), x[i]);
  }
  INLINE void get_loaded(Fr* x) const {
    UNROLL
    for (int i = 0; i < POINTS; i++) x[i] = tile.get(loaded(i));
  }
  template <class Done>
  INLINE void transform(Fr* x, const Roots& roots, Done done) const {
    transform_block<LOG, COLUMNS, 1, E>(x, tile, u, c, roots, done);
  }
};

// In frequency: transform, then twiddles.
template <int LOG, int LOG_COLUMNS>
INLINE void columns_in_frequency(const ColumnPass& pass) {
  DYNAMIC_SHARED(uint4, shared);
  const ColumnBlock<LOG, LOG_COLUMNS> block(shared, pass.log_stride);
  Fr x[POINTS];
  block.load_points(x, pass.in);
  if (pass.before.low != nullptr) {
    block.put_loaded(x);
    multiply(
        block.tile, pass.before, [&](u32 i) { return block.loaded(i); }, [](u32) { return 0; },
        [&](u32 i) { return u32(block.base) + (block.index(i) << block.log_stride); },
        [&](u32 i, const Fr& y) { block.tile.put(block.loaded(i), y); });
    block.get_loaded(x);
  }
  block.transform(x, pass.roots, [&](u32 i, const Fr& y) { block.tile.put(block.stored(i), y); });
  multiply(
      block.tile, pass.twiddles, [&](u32 i) { return block.stored(i); }, [&](u32 i) { return block.frequency(i); },
      [&](u32) { return block.column(); },
      [&](u32 i, const Fr& y) { store(pass.out + block.at(block.frequency(i)), y); });
}

// In time: twiddles, then transform; then, with PRODUCT, the product with the same position of another vector, minus
// that of a third, as canonical values.
template <int LOG, int LOG_COLUMNS, bool PRODUCT>
INLINE void columns_in_time(const ColumnPass& pass) {
  DYNAMIC_SHARED(uint4, shared);
  const ColumnBlock<LOG, LOG_COLUMNS> block(shared, pass.log_stride);
  Fr x[POINTS];
  block.load_points(x, pass.in);
  block.put_loaded(x);
  multiply(
      block.tile, pass.twiddles, [&](u32 i) { return block.loaded(i); }, [&](u32 i) { return block.index(i); },
      [&](u32) { return block.column(); }, [&](u32 i, const Fr& y) { block.tile.put(block.loaded(i), y); });
  block.get_loaded(x);
  if constexpr (PRODUCT) {
    block.transform(x, pass.roots, [&](u32 i, const Fr& y) { block.tile.put(block.stored(i), y); });
    Fr next = load(pass.times + block.at(block.frequency(0)));
#pragma unroll 1
    for (int i = 0; i < POINTS; i++) {
      const u64 at = block.at(block.frequency(i));
      const Fr factor = next;
      next = load(pass.times + block.at(block.frequency(i < POINTS - 1 ? i + 1 : i)));
      Fr y = mul_mont(block.tile.get(block.stored(i)), canonical(factor));
      if (pass.minus != nullptr) y = sub(y, load(pass.minus + at));
      store(pass.out + at, canonical(y));
    }
  } else {
    block.transform(x, pass.roots, [&](u32 i, const Fr& y) { store(pass.out + block.at(block.frequency(i)), y); });
  }
}

// The last pass of a transform to natural order, out of place.
struct RowPass {
  Roots roots;
  Factors after;  // by what results are multiplied, for e = their frequency; low null: nothing
  const Fr* in;
  Fr* out;
  u32 log_size;
  u32 log_first;              // log2 of M1
  u32 log_second, log_third;  // log2 of M2 and M3, where these are not the last; else 0
  u32 negate;  // writes frequency k where -k belongs, which makes a transform by the inverse roots one by the roots
  u32 unused;
};

// What a thread has of the transforms of 2^LOG contiguous points in 2^LOG_ROWS rows.
template <int LOG, int LOG_ROWS>
struct RowBlock {
  static constexpr int M = 1 << LOG, ROWS = 1 << LOG_ROWS, E = M * ROWS, THREADS = E / POINTS, DISTANCE = M / POINTS;

  Tile<E> tile;
  u32 c, u;

  INLINE RowBlock(uint4* shared, u32 row) : tile{shared}, c(row), u(threadIdx.x >> LOG_ROWS) {}
  static INLINE u32 thread_row() { return threadIdx.x & (ROWS - 1); }
  INLINE u32 stored(u32 i) const { return tile.swizzle(c * M + POINTS * u) ^ tile.swizzle(i); }
  INLINE u32 frequency(u32 i) const { return order<LOG>(POINTS * u) ^ order<LOG>(i); }

  // From memory through the tile, so that neighbouring lanes load neighbouring halves of points. half_at(row, number)
  // is where the half with this number in the row is.
  template <class HalfAt>
  INLINE void load_points(Fr* x, HalfAt half_at) const {
    UNROLL
    for (int i = 0; i < 2 * POINTS; i++) {
      const u32 number = i * THREADS + threadIdx.x;
      tile.half(number) = *half_at(number >> (LOG + 1), number & (2 * M - 1));
    }
    __syncthreads();
    UNROLL
    for (int i = 0; i < POINTS; i++) x[i] = tile.get(tile.swizzle(c * M + u) ^ tile.swizzle(i * DISTANCE));
  }
  template <class Done>
  INLINE void transform(Fr* x, const Roots& roots, Done done) const {
    transform_block<LOG, 1, M, E>(x, tile, u, c, roots, done);
  }
};

// Rows whose k1 are neighbours, so that results are written to runs of 2^LOG_ROWS points.
template <int LOG, int LOG_ROWS>
INLINE void rows_to_natural(const RowPass& pass) {
  DYNAMIC_SHARED(uint4, shared);
  using Block = RowBlock<LOG, LOG_ROWS>;
  const Block block(shared, Block::thread_row());
  // The block's rows have k1 = first, first + 1, .. and the same (k2, k3) = rest.
  const u32 log_groups = pass.log_first - LOG_ROWS;
  const u32 first = (blockIdx.x & ((1u << log_groups) - 1)) << LOG_ROWS, rest = blockIdx.x >> log_groups;
  const u32 log_distance = pass.log_size - pass.log_first;
  const uint4* in = reinterpret_cast<const uint4*>(pass.in + ((u64(first) << log_distance) + (u64(rest) << LOG)));
  Fr x[POINTS];
  block.load_points(x, [&](u32 row, u32 half) { return in + ((u64(row) << (log_distance + 1)) + half); });
  // k2 + M2 k3, then the frequency without kp
  const u32 digits = rest >> pass.log_third | (rest & ((1u << pass.log_third) - 1)) << pass.log_second;
  const u32 lower = (digits << pass.log_first) + first + block.c;
  auto frequency = [&](u32 i) { return lower + (block.frequency(i) << (pass.log_size - LOG)); };
  const u32 mask = 0xffffffffu >> (32 - pass.log_size);
  block.transform(x, pass.roots, [&](u32 i, const Fr& y) {
    const u32 k = frequency(i);
    if (pass.after.low != nullptr) {
      block.tile.put(block.stored(i), y);
    } else {
      store(pass.out + (pass.negate ? (0 - k) & mask : k), canonical(y));
    }
  });
  if (pass.after.low != nullptr) {
    multiply(
        block.tile, pass.after, [&](u32 i) { return block.stored(i); }, [](u32) { return 0; }, frequency,
        [&](u32 i, const Fr& y) { store(pass.out + frequency(i), canonical(y)); });
  }
}

// The row pass of a transform in frequency, then that of one in time, in place or not.
struct ExtendPass {
  Roots there, back;
  const FrConst* between;  // by what points are multiplied between, for kp
  const Fr* in;
  Fr* out;
  u64 unused;
};

template <int LOG, int LOG_ROWS>
INLINE void rows_extend(const ExtendPass& pass) {
  DYNAMIC_SHARED(uint4, shared);
  using Block = RowBlock<LOG, LOG_ROWS>;
  // On the way back a thread has another row: with the same, the compiler would keep its addresses, and spill.
  const Block block(shared, Block::thread_row()), back(shared, block.c ^ (Block::ROWS - 1));
  const u64 base = u64(blockIdx.x) * Block::E;
  const uint4* in = reinterpret_cast<const uint4*>(pass.in + base);
  Fr x[POINTS];
  block.load_points(x, [&](u32 row, u32 half) { return in + (row << (LOG + 1)) + half; });
  block.transform(x, pass.there, [&](u32 i, const Fr& y) { block.tile.put(block.stored(i), y); });
#pragma unroll 2
  for (int i = 0; i < POINTS; i++) {
    const Fr y = block.tile.get(block.stored(i));
    block.tile.put(block.stored(i), mul_shoup(y, load_constant(pass.between + block.frequency(i))));
  }
  __syncthreads();
  // From the order of frequencies to the natural order of what is now the index.
  const u32 loaded_base = back.tile.swizzle(back.c * Block::M + order_place<LOG>(back.u));
  UNROLL
  for (int i = 0; i < POINTS; i++) {
    x[i] = back.tile.get(loaded_base ^ back.tile.swizzle(order_place<LOG>(i * Block::DISTANCE)));
  }
  __syncthreads();
  back.transform(x, pass.back, [&](u32 i, const Fr& y) { back.tile.put(back.stored(i), y); });
  __syncthreads();
  // From the order of frequencies to natural order again.
  uint4* out = reinterpret_cast<uint4*>(pass.out + base);
  UNROLL
  for (int i = 0; i < 2 * POINTS; i++) {
    const u32 number = i * Block::THREADS + threadIdx.x, point = number >> 1;
    const u32 place = (point & ~u32(Block::M - 1)) | order_place<LOG>(point & (Block::M - 1));
    out[number] = back.tile.half(place << 1 | (number & 1));
  }
}
