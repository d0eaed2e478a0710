// Transforms: passes over columns and rows, whole transforms of few points, tables. See ntt.cuh.

#include "ntt.cuh"

// Passes of each size that a plan has: with 1024 points a block or more, and four columns, or rows that write to
// natural order, or more.
#define PASSES(LOG, LOG_COLUMNS, LOG_ROWS, THREADS, BLOCKS)                           \
  KERNEL(ntt_columns_##LOG, THREADS, BLOCKS)(GRID_CONSTANT ColumnPass pass) {         \
    columns_in_frequency<LOG, LOG_COLUMNS>(pass);                                     \
  }                                                                                   \
  KERNEL(ntt_columns_back_##LOG, THREADS, BLOCKS)(GRID_CONSTANT ColumnPass pass) {    \
    columns_in_time<LOG, LOG_COLUMNS, false>(pass);                                   \
  }                                                                                   \
  KERNEL(ntt_columns_product_##LOG, THREADS, BLOCKS)(GRID_CONSTANT ColumnPass pass) { \
    columns_in_time<LOG, LOG_COLUMNS, true>(pass);                                    \
  }                                                                                   \
  KERNEL(ntt_rows_##LOG, THREADS, BLOCKS)(GRID_CONSTANT RowPass pass) {               \
    rows_to_natural<LOG, LOG_COLUMNS>(pass);                                          \
  }                                                                                   \
  KERNEL(ntt_rows_extend_##LOG, 128, 4)(GRID_CONSTANT ExtendPass pass) { rows_extend<LOG, LOG_ROWS>(pass); }

PASSES(6, 4, 4, 128, 4)
PASSES(7, 3, 3, 128, 4)
PASSES(8, 2, 2, 128, 4)
PASSES(9, 2, 1, 256, 2)

// A whole transform in one block, of up to 2^11 points: they stand in shared memory, transformed in frequency by radix
// 2. With `back`, a transform in time follows.
struct BlockPass {
  const FrConst* roots;   // powers j < 2^log_size / 2 of the root
  const FrConst* back;    // the same of the second transform, or null
  const FrConst* before;  // by what points are multiplied first, for their index, or null
  const FrConst* after;   // by what the results of the first transform are multiplied, for their frequency, or null
  const Fr* in;
  Fr* out;
  const Fr* times;  // by what the end results are multiplied, or null
  const Fr* minus;  // and what is then subtracted, or null
  u32 log_size;
  u32 unused;
};

// One block is all that runs, so it is large; more threads would have fewer registers than a multiplication takes.
constexpr u32 BLOCK_THREADS = 512;

// One layer of butterflies at distance 2^log_distance, and a barrier.
template <bool IN_TIME>
INLINE void layer(Fr* points, u32 threads, u32 log_size, u32 log_distance, const FrConst* roots) {
  for (u32 i = threadIdx.x; i < 1u << (log_size - 1); i += threads) {
    const u32 j = i & ((1u << log_distance) - 1);
    Fr* first = points + (((i - j) << 1) + j);
    Fr* second = first + (1u << log_distance);
    const FrConst root = load_constant(roots + (u64(j) << (log_size - 1 - log_distance)));
    Fr a = load(first), b = load(second);
    if (IN_TIME) b = mul_shoup(b, root);
    butterfly(a, b);
    if (!IN_TIME) b = mul_shoup(b, root);
    store(first, a);
    store(second, b);
  }
  __syncthreads();
}

INLINE void transform_few(const BlockPass& pass) {
  DYNAMIC_SHARED(Fr, points);
  const u32 size = 1u << pass.log_size, threads = min(BLOCK_THREADS, max(size / 2, 1u));
  if (threadIdx.x >= threads) return;
  // The bits of an index or place in reverse.
  auto reverse = [&](u32 i) { return pass.log_size == 0 ? 0 : __brev(i) >> (32 - pass.log_size); };
  for (u32 i = threadIdx.x; i < size; i += threads) {
    Fr x = load(pass.in + i);
    if (pass.before != nullptr) x = mul_shoup(x, load_constant(pass.before + i));
    store(points + i, x);
  }
  __syncthreads();
  for (u32 log_distance = pass.log_size; log_distance-- > 0;) {
    layer<false>(points, threads, pass.log_size, log_distance, pass.roots);
  }
  if (pass.back != nullptr) {
    if (pass.after != nullptr) {
      for (u32 i = threadIdx.x; i < size; i += threads) {
        store(points + i, mul_shoup(load(points + i), load_constant(pass.after + reverse(i))));
      }
      __syncthreads();
    }
    for (u32 log_distance = 0; log_distance < pass.log_size; log_distance++) {
      layer<true>(points, threads, pass.log_size, log_distance, pass.back);
    }
  }
  for (u32 i = threadIdx.x; i < size; i += threads) {
    Fr x = load(points + (pass.back != nullptr ? i : reverse(i)));
    if (pass.back == nullptr && pass.after != nullptr) x = mul_shoup(x, load_constant(pass.after + i));
    if (pass.times != nullptr) x = mul_mont(x, canonical(load(pass.times + i)));
    if (pass.minus != nullptr) x = sub(x, load(pass.minus + i));
    store(pass.out + i, canonical(x));
  }
}

KERNEL(ntt_block, BLOCK_THREADS, 1)(GRID_CONSTANT BlockPass pass) { transform_few(pass); }

// A table of factors: entry k 2^log_columns + c is first ratio^k (step root^k)^c.
struct TableFill {
  Fr first, ratio, step, root;  // canonical, in Montgomery form
  FrConst* out;
  u64 count;
  u32 log_columns;
  u32 log_run;  // a thread makes 2^log_run entries of one k
  u32 unused[2];
};

// a base^exponent
INLINE Fr times_power(Fr a, Fr base, u32 exponent) {
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) a = mul_mont(a, base);
    base = canonical(mul_mont(base, base));
  }
  return a;
}

KERNEL(ntt_table, 128, 4)(GRID_CONSTANT TableFill fill) {
  const u64 start = grid_thread() << fill.log_run;
  if (start >= fill.count) return;
  const u32 k = u32(start >> fill.log_columns), c = u32(start & ((u64(1) << fill.log_columns) - 1));
  const Fr step = canonical(times_power(fill.step, fill.root, k));
  Fr value = times_power(times_power(fill.first, fill.ratio, k), step, c);
  for (u64 i = start; i < start + (u64(1) << fill.log_run); i++) {
    store(fill.out + i, shoup_constant(canonical(value)));
    value = mul_mont(value, step);
  }
}

#define EXPORTED(LOG) \
  ntt_columns_##LOG, ntt_columns_back_##LOG, ntt_columns_product_##LOG, ntt_rows_##LOG, ntt_rows_extend_##LOG

EXPORT_KERNELS(ntt, EXPORTED(6), EXPORTED(7), EXPORTED(8), EXPORTED(9), ntt_block, ntt_table)
