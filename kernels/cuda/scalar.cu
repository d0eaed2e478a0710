// Vectors of scalars and the compact witness: prefix sums, the pointwise quotient, selection, the sparse product.

#include "fr.cuh"

// ---- Exclusive prefix sums of words, mod 2^32
//
// A block takes SCAN_BLOCK consecutive words. First the totals of all blocks are taken and scanned by the same means,
// then each block scans its words, beginning with what the blocks before it sum up to: three passes over memory, two
// that read and one that writes.

constexpr u32 SCAN_THREADS = 256;
constexpr u32 SCAN_RUN = 16;
constexpr u32 SCAN_BLOCK = SCAN_THREADS * SCAN_RUN;

// Words at..at + 4 of `len` words, zero where there are none.
INLINE uint4 load_four(const u32* values, u64 at, u64 len) {
  if (at + 4 <= len) return *reinterpret_cast<const uint4*>(values + at);
  return make_uint4(at < len ? values[at] : 0, at + 1 < len ? values[at + 1] : 0, at + 2 < len ? values[at + 2] : 0, 0);
}

INLINE void store_four(u32* values, u64 at, u64 len, uint4 four) {
  if (at + 4 <= len) {
    *reinterpret_cast<uint4*>(values + at) = four;
    return;
  }
  if (at < len) values[at] = four.x;
  if (at + 1 < len) values[at + 1] = four.y;
  if (at + 2 < len) values[at + 2] = four.z;
}

// The sum of each block's words.
KERNEL(scan_totals, SCAN_THREADS, 4)(const u32* values, u32* totals, u64 len) {
  BLOCK_SHARED(u32, warp_sums, SCAN_THREADS / WARP);
  u64 start = u64(blockIdx.x) * SCAN_BLOCK;
  u32 sum = 0;
  UNROLL
  for (u32 i = 0; i < SCAN_RUN / 4; i++) {
    uint4 four = load_four(values, start + 4 * (i * SCAN_THREADS + threadIdx.x), len);
    sum += four.x + four.y + four.z + four.w;
  }
  sum = __reduce_add_sync(FULL_WARP, sum);
  if (threadIdx.x % WARP == 0) warp_sums[threadIdx.x / WARP] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 total = 0;
    for (u32 i = 0; i < SCAN_THREADS / WARP; i++) total += warp_sums[i];
    totals[blockIdx.x] = total;
  }
}

// Replaces each word by the sum of the words before it. `before` is what precedes each block; null for a single block.
// Each thread sums a run of words; the runs of a warp are scanned by shuffles, the warps by adding up those before.
KERNEL(scan_blocks, SCAN_THREADS, 4)(u32* values, const u32* before, u64 len) {
  BLOCK_SHARED(u32, warp_sums, SCAN_THREADS / WARP);
  u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  u64 start = u64(blockIdx.x) * SCAN_BLOCK + threadIdx.x * SCAN_RUN;
  uint4 run[SCAN_RUN / 4];
  u32 sum = 0;
  UNROLL
  for (u32 i = 0; i < SCAN_RUN / 4; i++) {
    run[i] = load_four(values, start + 4 * i, len);
    sum += run[i].x + run[i].y + run[i].z + run[i].w;
  }
  u32 inclusive = sum;
  UNROLL
  for (u32 distance = 1; distance < WARP; distance *= 2) {
    u32 other = __shfl_up_sync(FULL_WARP, inclusive, distance);
    if (lane >= distance) inclusive += other;
  }
  if (lane == WARP - 1) warp_sums[warp] = inclusive;
  __syncthreads();
  u32 next = inclusive - sum + (before == nullptr ? 0 : before[blockIdx.x]);
  for (u32 i = 0; i < warp; i++) next += warp_sums[i];
  UNROLL
  for (u32 i = 0; i < SCAN_RUN / 4; i++) {
    uint4 four = run[i];
    run[i].x = next;
    run[i].y = next += four.x;
    run[i].z = next += four.y;
    run[i].w = next += four.z;
    next += four.w;
    store_four(values, start + 4 * i, len, run[i]);
  }
}

// ---- The pointwise quotient

// Words that come as a parameter, at any address that words may have.
struct FrWords {
  u32 words[8];
};

// a_i <- (a_i b_i - c_i) scale; without c, if that is null, a_i <- a_i b_i scale. The product of two values in
// Montgomery form is in Montgomery form.
KERNEL(quotient, 256, 4)(Fr* a, const Fr* b, const Fr* c, FrWords scale, u64 count) {
  u64 i = grid_thread();
  if (i >= count) return;
  Fr factor;
  UNROLL
  for (int word = 0; word < 8; word++) factor.words[word] = scale.words[word];
  Fr x = mul_mont(load(a + i), load_constant(b + i));
  if (c != nullptr) x = sub(x, load_constant(c + i));
  store(a + i, canonical(mul_mont(x, factor)));
}

// ---- The compact witness
//
// A variable has two bits: 0 its value is zero, 1 it is one, 2 it is the next of the dense values. A word of 64 bits
// has 32 variables, the first lowest, and a rank: how many dense values there are before it. Nothing is ever expanded.

constexpr u64 LOW_BITS = 0x5555555555555555;

struct Witness {
  const u64* codes;
  const u32* ranks;
  const Fr* dense;
};

INLINE u32 witness_code(const Witness& witness, u32 variable) {
  const u32* codes = reinterpret_cast<const u32*>(witness.codes);
  return __ldg(codes + variable / 16) >> (2 * (variable % 16)) & 3;
}

// Of the codes below the low bit of a slot, how many are dense.
INLINE u32 dense_before(u64 codes, u64 slot) { return __popcll(codes >> 1 & LOW_BITS & (slot - 1)); }

// The value of a variable whose code is 2.
INLINE Fr dense_value(const Witness& witness, u32 variable) {
  u32 word = variable / 32;
  u32 before = dense_before(__ldg(witness.codes + word), u64(1) << (2 * (variable % 32)));
  return load_constant(witness.dense + __ldg(witness.ranks + word) + before);
}

// ---- Selection: the members of a set of variables whose value is one, and those whose value is dense
//
// `members` has the low bit of a variable's two for each that is in the set. Members are counted for each word of 32
// variables, the counts are scanned, and then each warp lists the members of a word, a lane a variable: where a member
// goes follows from the bits below its own, and what a warp writes is consecutive.

// counts_w <- ones of word w, counts_(words + w) <- dense values of word w
KERNEL(select_count, 256, 4)(const u64* members, const u64* codes, u32* counts, u64 words) {
  u64 word = grid_thread();
  if (word >= words) return;
  u64 member = members[word], code = codes[word];
  counts[word] = __popcll(code & member);
  counts[words + word] = __popcll(code >> 1 & member);
}

// `positions` are the numbers of members before each word, `offsets` the scanned counts, in which the dense values come
// after `ones_count` ones. Ones are listed by their positions, dense values by position and index.
KERNEL(select_list, 256, 4)(const u64* members, const u32* positions, const u64* codes, const u32* ranks,
                            const u32* offsets, u32* ones, uint2* tail, u32 ones_count, u64 words) {
  u64 word = grid_thread() / WARP;
  if (word >= words) return;
  u64 member = members[word], code = codes[word];
  u64 slot = u64(1) << (2 * (threadIdx.x % WARP)), below = slot - 1;
  u64 is_one = code & member, is_dense = code >> 1 & member;
  u32 position = positions[word] + __popcll(member & below);
  if (is_one & slot) ones[offsets[word] + __popcll(is_one & below)] = position;
  if (is_dense & slot) {
    u32 at = offsets[words + word] - ones_count + __popcll(is_dense & below);
    tail[at] = make_uint2(position, ranks[word] + dense_before(code, slot));
  }
}

// ---- The sparse product
//
// An entry is its column and the index of its coefficient: 0 is +1, 1 is -1. Most values are zero and end there, most
// others are one and add the coefficient; dense values times coefficients are few. What takes time is latency: an entry
// leads to its code, and only that to anything else. So each thread has several entries under way at once.
//
// Entries are read once and sums written once, past the caches, so that the codes stay in them: 33 MB of the 50 MB of
// second-level cache of an H200 at 130 M variables.

constexpr u32 SPMV_THREADS = 256;
// Entries that a thread has under way.
constexpr u32 SPMV_BATCH = 4;

// The sum over the entries first, first + STRIDE, .. below `count`; below 2r.
template <u32 STRIDE>
INLINE Fr sum_entries(const Witness& witness, const Fr* coefficients, const uint2* entries, u32 first, u32 count) {
  Fr sum = fr_zero();
  for (u32 start = first; start < count; start += SPMV_BATCH * STRIDE) {
    uint2 entry[SPMV_BATCH];
    u32 code[SPMV_BATCH];
    u32 dense = 0;
    UNROLL
    for (u32 i = 0; i < SPMV_BATCH; i++) {
      u32 at = start + i * STRIDE;
      entry[i] = at < count ? __ldcs(entries + at) : make_uint2(0, 0);
    }
    UNROLL
    for (u32 i = 0; i < SPMV_BATCH; i++) {
      code[i] = start + i * STRIDE < count ? witness_code(witness, entry[i].x) : 0;
    }
    UNROLL
    for (u32 i = 0; i < SPMV_BATCH; i++) {
      if (code[i] == 1) sum = add(sum, load_constant(coefficients + entry[i].y));
      dense |= (code[i] >> 1) << i;
    }
    // A loop and not four copies, of which each lane would wait for those that other lanes need.
    for (; dense != 0; dense &= dense - 1) {
      uint2 factors = __ldg(entries + start + (__ffs(dense) - 1) * STRIDE);
      Fr value = dense_value(witness, factors.x);
      if (factors.y == 1) {
        value = negate(value);
      } else if (factors.y != 0) {
        value = mul_mont(value, load_constant(coefficients + factors.y));
      }
      sum = add(sum, value);
    }
  }
  return sum;
}

INLINE void store_sum(Fr* to, const Fr& sum) {
  Fr a = canonical(sum);
  uint4* packed = reinterpret_cast<uint4*>(to);
  __stcs(packed, make_uint4(a.words[0], a.words[1], a.words[2], a.words[3]));
  __stcs(packed + 1, make_uint4(a.words[4], a.words[5], a.words[6], a.words[7]));
}

// Short rows, a thread each: those of up to 15 entries, of which a block's 256 rows have fewer than 4096. `bases` is
// where the entries of each block begin. `rows` is for each row the number of entries before it in its block, times 16,
// plus that of its own; longer rows have none here, and get their sums afterwards.
KERNEL(spmv_rows, SPMV_THREADS, 4)(const u64* codes, const u32* ranks, const Fr* dense, const Fr* coefficients,
                                   const u64* bases, const u16* rows, const uint2* entries, Fr* product, u64 count) {
  u64 row = grid_thread();
  if (row >= count) return;
  u32 place = rows[row];
  const uint2* row_entries = entries + bases[blockIdx.x] + place / 16;
  Witness witness = {codes, ranks, dense};
  store_sum(product + row, sum_entries<1>(witness, coefficients, row_entries, 0, place % 16));
}

// The sum of the values of a warp's lanes, in lane 0; `sums` is the warp's own.
INLINE Fr sum_of_warp(Fr sum, Fr* sums) {
  u32 lane = threadIdx.x % WARP;
  store(sums + lane, sum);
  for (u32 half = WARP / 2; half != 0; half /= 2) {
    __syncwarp();
    if (lane < half) {
      sum = add(sum, load(sums + lane + half));
      store(sums + lane, sum);
    }
  }
  return sum;
}

// Runs of entries that follow one another, a warp each, lanes on neighbouring entries: longer rows, or pieces of them.
// Run i begins at starts_i, its sum goes to places_i of `outputs`; to i, if `places` is null.
KERNEL(spmv_runs, SPMV_THREADS, 4)(const u64* codes, const u32* ranks, const Fr* dense, const Fr* coefficients,
                                   const u64* starts, const u32* places, const uint2* entries, Fr* outputs,
                                   u64 count) {
  BLOCK_SHARED(Fr, sums, SPMV_THREADS);
  u64 run = grid_thread() / WARP;
  if (run >= count) return;
  u32 lane = threadIdx.x % WARP;
  u64 start = starts[run];
  Witness witness = {codes, ranks, dense};
  Fr sum = sum_entries<WARP>(witness, coefficients, entries + start, lane, u32(starts[run + 1] - start));
  sum = sum_of_warp(sum, sums + (threadIdx.x - lane));
  if (lane == 0) store_sum(outputs + (places == nullptr ? run : places[run]), sum);
}

// Rows of several runs, a warp each: row rows_i has the sums from starts_i to starts_(i + 1).
KERNEL(spmv_sums, SPMV_THREADS, 4)(const Fr* partial, const u64* starts, const u32* rows, Fr* product, u64 count) {
  BLOCK_SHARED(Fr, sums, SPMV_THREADS);
  u64 task = grid_thread() / WARP;
  if (task >= count) return;
  u32 lane = threadIdx.x % WARP;
  Fr sum = fr_zero();
  for (u64 i = starts[task] + lane; i < starts[task + 1]; i += WARP) sum = add(sum, load_constant(partial + i));
  sum = sum_of_warp(sum, sums + (threadIdx.x - lane));
  if (lane == 0) store_sum(product + rows[task], sum);
}

EXPORT_KERNELS(scalar, scan_totals, scan_blocks, quotient, select_count, select_list, spmv_rows, spmv_runs, spmv_sums)
