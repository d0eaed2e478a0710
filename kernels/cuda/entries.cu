// Entries of multi-scalar products: digits, order, pairs. No arithmetic of curves.
//
// Digits of a scalar s are those of the smaller of s and r - s, each in -2^(c-1)+1 ..= 2^(c-1), lowest first. The
// magnitude has 254 bits, so that ceil(255/c) digits leave no carry. Window w belongs to bucket set w mod sets and to
// the table of multiples w / sets; digit d to bucket |d| - 1 of the set. The sums of a set are weighted together, so
// that more tables of multiples mean fewer sets. A digit of zero is no entry.
//
// Entries are sorted by counting. The first pass counts the entries of each bucket and notes of each which one of its
// bucket it is, the second puts it there. Both make the digits anew from the scalar, since a product in Fr and some
// shifts are less than the 4 bytes a digit, written and read again, that keeping them would take. The ranks are kept:
// 4 bytes as well, but in order, where the second pass would otherwise need an atomic addition for each entry again,
// which is by far the dearest of either pass.
#include "buckets.cuh"
#include "fr.cuh"

constexpr u32 NO_BUCKET = 0xffffffffu;

struct Digits {
  // What is left of the magnitude, shifted down by a window a digit; the last word is zero.
  u32 magnitude[9];
  u32 carry;
  bool negative;
};

// Of a scalar in Montgomery form.
INLINE Digits digits_of(const Fr& scalar) {
  Fr natural = from_montgomery(scalar);
  Fr opposite;
  Carry carry;
  opposite.words[0] = sub_cc(fr::modulus(0), natural.words[0], carry);
  UNROLL
  for (int i = 1; i < 7; i++) opposite.words[i] = subc_cc(fr::modulus(i), natural.words[i], carry);
  opposite.words[7] = subc(fr::modulus(7), natural.words[7], carry);
  sub_cc(opposite.words[0], natural.words[0], carry);
  UNROLL
  for (int i = 1; i < 8; i++) subc_cc(opposite.words[i], natural.words[i], carry);
  Digits digits;
  digits.negative = subc(0, 0, carry) != 0;
  UNROLL
  for (int i = 0; i < 8; i++) digits.magnitude[i] = digits.negative ? opposite.words[i] : natural.words[i];
  digits.magnitude[8] = 0;
  digits.carry = 0;
  return digits;
}

struct Digit {
  u32 magnitude;
  bool negative;
};

INLINE Digit next_digit(Digits& digits, u32 bits) {
  u32 value = (digits.magnitude[0] & ((1u << bits) - 1)) + digits.carry;
  UNROLL
  for (int i = 0; i < 8; i++) {
    digits.magnitude[i] = __funnelshift_r(digits.magnitude[i], digits.magnitude[i + 1], bits);
  }
  bool above = value > 1u << (bits - 1);
  digits.carry = above;
  return Digit{above ? (1u << bits) - value : value, digits.negative != above};
}

// Adds one to the count of a bucket and returns what it was before. All lanes of the warp take part, those without a
// bucket by NO_BUCKET. Lanes of the same bucket add at once: if all scalars are equal, so are their digits.
INLINE u32 count_entry(u32* counts, u32 bucket) {
  u32 lane = threadIdx.x % WARP;
  u32 peers = __match_any_sync(FULL_WARP, bucket);
  u32 leader = __ffs(peers) - 1;
  u32 before = 0;
  if (lane == leader && bucket != NO_BUCKET) before = atomicAdd(counts + bucket, u32(__popc(peers)));
  before = __shfl_sync(FULL_WARP, before, leader);
  return before + __popc(peers & ((1u << lane) - 1));
}

// Scalar i belongs to base first + i; with a list, pair i of it says: the base's position, and the scalar's.
INLINE uint2 source_of(const uint2* list, u32 first, u32 index) {
  return list ? list[index] : make_uint2(first + index, index);
}

// Counts the entries of each bucket; ranks, window by window for each scalar, say which one of its bucket each is.
KERNEL(count_digits, 256, 4)
(const Fr* __restrict__ scalars, const uint2* __restrict__ list, u32* counts, u32* __restrict__ ranks, u32 count,
 u32 window_bits, u32 windows, u32 sets) {
  u64 index = grid_thread();
  bool present = index < count;
  Digits digits = digits_of(present ? load_constant(scalars + source_of(list, 0, u32(index)).y) : fr_zero());
  u32 set = 0;
  for (u32 window = 0; window < windows; window++) {
    Digit digit = next_digit(digits, window_bits);
    u32 bucket = digit.magnitude ? (set << (window_bits - 1)) + digit.magnitude - 1 : NO_BUCKET;
    u32 rank = count_entry(counts, bucket);
    if (digit.magnitude) ranks[u64(window) * count + index] = rank;
    set = set + 1 == sets ? 0 : set + 1;
  }
}

// Puts each entry behind those of the buckets before its own, at its rank within it. Multiple t of base i stands at
// t table_len + i.
KERNEL(place_entries, 256, 4)
(const Fr* __restrict__ scalars, const uint2* __restrict__ list, const u32* __restrict__ offsets,
 const u32* __restrict__ ranks, u32* __restrict__ entries, u32 count, u32 first, u32 table_len, u32 window_bits,
 u32 windows, u32 sets) {
  u64 index = grid_thread();
  if (index >= count) return;
  uint2 source = source_of(list, first, u32(index));
  Digits digits = digits_of(load_constant(scalars + source.y));
  u32 point = source.x, set = 0;
  for (u32 window = 0; window < windows; window++) {
    Digit digit = next_digit(digits, window_bits);
    if (digit.magnitude) {
      u32 place = offsets[(set << (window_bits - 1)) + digit.magnitude - 1] + ranks[u64(window) * count + index];
      entries[place] = point | (digit.negative ? NEGATIVE : 0);
    }
    set++;
    if (set == sets) {
      set = 0;
      point += table_len;
    }
  }
}

// A level of pairwise additions: the entries of a bucket are added in pairs, and one that is left over stands alone.
// How many there will be of each bucket; 0 behind the last.
KERNEL(halve_offsets, 256, 4)(const u32* __restrict__ offsets, u32* __restrict__ counts, u32 buckets) {
  u64 bucket = grid_thread();
  if (bucket > buckets) return;
  counts[bucket] = bucket < buckets ? divide_up(offsets[bucket + 1] - offsets[bucket], 2) : 0;
}

// Outputs that a warp of pair_entries covers: its lanes lie side by side, so that pairs are written in whole lines.
constexpr u32 WARP_PAIRS = 32 * WARP;

// For each output of the level, whose offsets are `halved`, the two entries of which it is the sum. Without entries,
// the points themselves lie in order of their buckets, and their positions serve for entries.
KERNEL(pair_entries, 128, 8)
(const u32* __restrict__ offsets, const u32* __restrict__ halved, const u32* __restrict__ entries,
 uint2* __restrict__ pairs, u32 buckets) {
  u64 warp_start = grid_thread() / WARP * WARP_PAIRS;
  u32 total = halved[buckets];
  if (warp_start + threadIdx.x % WARP >= total) return;
  u32 output = u32(warp_start) + threadIdx.x % WARP, end = u32(min(warp_start + WARP_PAIRS, u64(total)));
  u32 bucket = bucket_of(halved, 0, buckets, output);
  for (; output < end; output += WARP) {
    if (output >= halved[bucket + 1]) bucket = bucket_of(halved, bucket + 1, buckets, output);
    u32 entry = offsets[bucket] + 2 * (output - halved[bucket]);
    bool alone = entry + 1 == offsets[bucket + 1];
    uint2 pair = make_uint2(entry, entry + 1);
    if (entries) pair = make_uint2(entries[entry], alone ? ALONE : entries[entry + 1]);
    if (alone) pair.y = ALONE;
    pairs[output] = pair;
  }
}

EXPORT_KERNELS(entries, count_digits, place_entries, halve_offsets, pair_entries)
