// Sums of points: the buckets of a multi-scalar product, and what they come to. Over `Coordinate`, the field of the
// coordinates; GROUPED(name) is the name of an entry point in the group.
//
// Entries (buckets.cuh) are summed by position, never by bucket: a thread takes so many consecutive ones, whatever
// buckets they go into, so that a bucket with all of them costs no more than many with a few.
//
//   pair_products, invert_products, add_pairs   a level of additions of neighbours in affine form; one inversion serves
//                                               thousands of denominators
//   accumulate_entries, accumulate_points       runs of what is left, in XYZZ
//   combine_partials, combine_last              what reaches from run to run
//   weigh_chunks, fold_lists, fold_last         each bucket times its number
#pragma once

#include "buckets.cuh"
#include "curve.cuh"

using Point = Affine<Coordinate>;
using BucketSum = Sum<Coordinate>;

// In G2 everything is twice as long.
constexpr bool IN_G1 = sizeof(Coordinate) == 48;

INLINE const Point* point_of(const Point* points, u32 entry) { return points + (entry & ~NEGATIVE); }

INLINE Point load_entry(const Point* points, u32 entry) {
  return negate_if((entry & NEGATIVE) != 0, load_constant(point_of(points, entry)));
}

INLINE Coordinate load_y(const Point* points, u32 entry) {
  return negate_if((entry & NEGATIVE) != 0, load_constant(&point_of(points, entry)->y));
}

// Columns: part i of element e of thread t stands at (e QUADS + i) threads + t, so that neighbouring threads touch
// neighbouring memory.
constexpr u32 QUADS = sizeof(Coordinate) / sizeof(uint4);

INLINE Coordinate load_column(const uint4* column, u32 threads) {
  Coordinate a;
  u32* words = reinterpret_cast<u32*>(&a);
  UNROLL
  for (u32 i = 0; i < QUADS; i++) unpack_words(words + 4 * i, column[u64(i) * threads]);
  return a;
}

INLINE void store_column(uint4* column, u32 threads, const Coordinate& a) {
  const u32* words = reinterpret_cast<const u32*>(&a);
  UNROLL
  for (u32 i = 0; i < QUADS; i++) {
    column[u64(i) * threads] = make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// A level of pairwise additions. Output e of thread t is e threads + t. The inverse of each denominator is that of the
// product of all, times those before it, times those behind it (Montgomery's trick): the way forth keeps the products
// of those before, the way back carries the inverse of those up to here.

// How a pair is added and what that divides by. Coordinates y are loaded only where it takes them.
INLINE Slope denominator_of(const Point* points, uint2 pair, const Coordinate& ax, const Coordinate& bx,
                            Coordinate& denominator) {
  return slope_denominator(
      ax, bx, [&] { return load_y(points, pair.x); }, [&] { return load_y(points, pair.y); }, denominator);
}

// The way forth.
KERNEL(GROUPED(pair_products), 128, (IN_G1 ? 5 : 3))
(const Point* __restrict__ points, const uint2* __restrict__ pairs, const u32* __restrict__ total, u32 threads,
 uint4* __restrict__ before, uint4* __restrict__ products) {
  u32 thread = u32(grid_thread()), count = *total;
  if (thread >= threads) return;
  Coordinate product = one<Coordinate>();
  uint4* column = before + thread;
  uint2 next = thread < count ? pairs[thread] : make_uint2(0, ALONE);
  for (u64 output = thread; output < count; output += threads) {
    uint2 pair = next;
    if (output + threads < count) next = __ldcs(pairs + output + threads);
    if (pair.y != ALONE) {
      Coordinate ax = load_constant(&point_of(points, pair.x)->x), bx = load_constant(&point_of(points, pair.y)->x);
      Coordinate denominator;
      if (denominator_of(points, pair, ax, bx, denominator) != Slope::None) {
        store_column(column, threads, product);
        product = mul(product, denominator);
      }
    }
    column += u64(QUADS) * threads;
  }
  store_column(products + thread, threads, product);
}

// Inverts `count` products in place, several a thread, again with one inversion for all of them.
KERNEL(GROUPED(invert_products), 64, 4)
(uint4* __restrict__ products, uint4* __restrict__ before, u32 count, u32 threads) {
  u32 thread = u32(grid_thread());
  if (thread >= threads) return;
  Coordinate all = one<Coordinate>();
  u32 element = thread;
  for (; element < count; element += threads) {
    store_column(before + element, count, all);
    all = mul(all, load_column(products + element, count));
  }
  all = inverse(all);
  while (element > thread) {
    element -= threads;
    Coordinate product = load_column(products + element, count);
    store_column(products + element, count, mul(all, load_column(before + element, count)));
    all = mul(all, product);
  }
}

// The way back, and the sums.
KERNEL(GROUPED(add_pairs), 128, (IN_G1 ? 4 : 2))
(const Point* __restrict__ points, const uint2* __restrict__ pairs, const u32* __restrict__ total, u32 threads,
 const uint4* __restrict__ before, const uint4* __restrict__ inverses, Point* __restrict__ out) {
  u32 thread = u32(grid_thread()), count = *total;
  if (thread >= threads || thread >= count) return;
  Coordinate up_to_here = load_column(inverses + thread, threads);
  u32 element = (count - 1 - thread) / threads;
  uint2 next = pairs[element * threads + thread];
  for (;;) {
    u32 output = element * threads + thread;
    uint2 pair = next;
    if (element > 0) next = __ldcs(pairs + (output - threads));
    Point sum;
    if (pair.y == ALONE) {
      sum = load_entry(points, pair.x);
    } else {
      Point a, b;
      a.x = load_constant(&point_of(points, pair.x)->x);
      b.x = load_constant(&point_of(points, pair.y)->x);
      Coordinate denominator;
      Slope slope = denominator_of(points, pair, a.x, b.x, denominator);
      if (slope != Slope::None) {
        Coordinate inverse = mul(up_to_here, load_column(before + u64(element) * QUADS * threads + thread, threads));
        up_to_here = mul(up_to_here, denominator);
        // Only now, for want of registers.
        a.y = load_y(points, pair.x);
        b.y = load_y(points, pair.y);
        sum = add_with_inverse(slope, a, b, inverse);
      } else {
        sum = add_with_inverse(slope, load_entry(points, pair.x), load_entry(points, pair.y), denominator);
      }
    }
    store(out + output, sum);
    if (element == 0) break;
    element--;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs. A bucket whose entries lie within one run is done there; of one that reaches into other runs the thread leaves
// a partial sum, of which there are at most two: of a bucket begun before the run, its head, and of one that goes on
// behind it, its tail. Slots 2 i and 2 i + 1 are for those of thread i, and their keys, ascending, name the first and
// the last bucket of the run, with the mark VACANT if there is no partial sum.

constexpr u32 VACANT = 0x80000000u;
// Behind the last.
constexpr u32 NOTHING = 0xffffffffu;

// What becomes of the sum of a bucket.
enum class Goal { Bucket, Head, Tail };

// Sums all entries, or the points themselves where there are no entries, in `threads` runs. Runs are no shorter than
// `shortest`, since each may leave partial sums. With `resume` the buckets hold sums already, of earlier entries.
template <bool INDEXED>
INLINE void accumulate(const Point* __restrict__ points, const u32* __restrict__ entries,
                       const u32* __restrict__ offsets, u32 buckets, BucketSum* __restrict__ sums,
                       BucketSum* __restrict__ partials, u32* __restrict__ keys, u32 threads, u32 shortest,
                       u32 resume) {
  u32 thread = u32(grid_thread());
  if (thread >= threads) return;
  u32 total = offsets[buckets], run = max(divide_up(total, threads), shortest);
  if (u64(thread) * run >= total) {
    keys[2 * thread] = NOTHING;
    keys[2 * thread + 1] = NOTHING;
    return;
  }
  u32 entry = thread * run, end = entry + min(run, total - entry);
  u32 bucket = bucket_of(offsets, 0, buckets, entry);
  // Where the bucket ends, or the run.
  u32 stop = offsets[bucket + 1];
  Goal goal = offsets[bucket] < entry ? Goal::Head : stop <= end ? Goal::Bucket : Goal::Tail;
  stop = min(stop, end);
  keys[2 * thread] = bucket | (goal == Goal::Head ? 0 : VACANT);
  BucketSum sum = goal == Goal::Bucket && resume ? load(sums + bucket) : infinity<Coordinate>();
  for (;;) {
    Point point = INDEXED ? load_entry(points, entries[entry]) : load_constant(points + entry);
    entry++;
    // The entry itself will be read again: it is at hand then, and registers are not.
    if (entry < end) prefetch(INDEXED ? point_of(points, entries[entry]) : points + entry, sizeof(Point));
    add(sum, point);
    if (entry < stop) continue;
    store(goal == Goal::Bucket ? sums + bucket : partials + (2 * thread + (goal == Goal::Tail)), sum);
    if (entry == end) break;
    bucket = bucket_of(offsets, bucket + 1, buckets, entry);
    stop = offsets[bucket + 1];
    goal = stop <= end ? Goal::Bucket : Goal::Tail;
    stop = min(stop, end);
    sum = goal == Goal::Bucket && resume ? load(sums + bucket) : infinity<Coordinate>();
  }
  keys[2 * thread + 1] = bucket | (goal == Goal::Tail ? 0 : VACANT);
}

KERNEL(GROUPED(accumulate_entries), 128, (IN_G1 ? 3 : 2))
(const Point* points, const u32* entries, const u32* offsets, u32 buckets, BucketSum* sums, BucketSum* partials,
 u32* keys, u32 threads, u32 shortest, u32 resume) {
  accumulate<true>(points, entries, offsets, buckets, sums, partials, keys, threads, shortest, resume);
}

KERNEL(GROUPED(accumulate_points), 128, (IN_G1 ? 3 : 2))
(const Point* points, const u32* offsets, u32 buckets, BucketSum* sums, BucketSum* partials, u32* keys, u32 threads,
 u32 shortest, u32 resume) {
  accumulate<false>(points, nullptr, offsets, buckets, sums, partials, keys, threads, shortest, resume);
}

// Slots that a run of partial sums has.
constexpr u32 COMBINE_RUN = 8;

struct Partials {
  BucketSum* sums;
  u32* keys;
};

// Runs of `length` slots, at least 2.
INLINE u32 combine_runs(u32 length) { return divide_up(length + 1, COMBINE_RUN); }

// The same walk over runs of partial sums, which leaves partial sums again; with one run for all, none. Runs start one
// before a multiple of their length, so that the tail of a thread meets the head of the next, with which it shares a
// bucket more often than not. With uniform scalars one level then does nearly all there is to do.
INLINE void combine(Partials from, u32 length, BucketSum* sums, Partials to, u32 run) {
  u32 start = run == 0 ? 0 : run * COMBINE_RUN - 1, end = min((run + 1) * COMBINE_RUN - 1, length);
  u32 first = from.keys[start] & ~VACANT, last = from.keys[end - 1] & ~VACANT;
  bool begun_before = start > 0 && from.keys[start - 1] == first;
  bool goes_on = end < length && (from.keys[end] & ~VACANT) == last;
  u32 head = first | VACANT, tail = last | VACANT;
  u32 bucket = first;
  Goal goal = begun_before ? Goal::Head : goes_on && first == last ? Goal::Tail : Goal::Bucket;
  bool any = false;
  BucketSum sum;
  // One step behind the last slot, where the last bucket ends.
  for (u32 slot = start; slot <= end; slot++) {
    u32 key = slot < end ? from.keys[slot] : NOTHING;
    if (slot == end || (key & ~VACANT) != bucket) {
      if (any) store(goal == Goal::Bucket ? sums + bucket : to.sums + (2 * run + (goal == Goal::Tail)), sum);
      if (any && goal == Goal::Head) head = bucket;
      if (any && goal == Goal::Tail) tail = bucket;
      any = false;
      bucket = key & ~VACANT;
      goal = goes_on && bucket == last ? Goal::Tail : Goal::Bucket;
    }
    if (!(key & VACANT)) {
      if (!any) sum = goal == Goal::Bucket ? load(sums + bucket) : infinity<Coordinate>();
      any = true;
      add(sum, load(from.sums + slot));
    }
  }
  to.keys[2 * run] = head;
  to.keys[2 * run + 1] = tail;
}

// A level.
KERNEL(GROUPED(combine_partials), 128, (IN_G1 ? 3 : 2))
(BucketSum* partials, u32* keys, u32 length, BucketSum* sums, BucketSum* out_partials, u32* out_keys) {
  u64 run = grid_thread();
  if (run >= combine_runs(length)) return;
  combine(Partials{partials, keys}, length, sums, Partials{out_partials, out_keys}, u32(run));
}

// The last levels, by one block. Both lists of partial sums are overwritten.
KERNEL(GROUPED(combine_last), 256, 1)
(BucketSum* partials, u32* keys, u32 length, BucketSum* sums, BucketSum* out_partials, u32* out_keys) {
  Partials from{partials, keys}, to{out_partials, out_keys};
  for (;;) {
    u32 runs = combine_runs(length);
    for (u32 run = threadIdx.x; run < runs; run += blockDim.x) combine(from, length, sums, to, run);
    if (runs == 1) return;
    __syncthreads();
    Partials swap = from;
    from = to;
    to = swap;
    length = 2 * runs;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Weighing. A set is worth the sum of (b + 1) B_b over its buckets b. Buckets are taken in chunks of m: with b = i m +
// l, of chunk i there are R_i = sum of B_b and W_i = sum of l B_b over its buckets, and what is sought is the sum of
// R_i + W_i + m i R_i. Of the last, bit j of i contributes 2^j times the sum of R_i over the i that have it: the lists
// R and W are folded onto their lower halves level by level, and at each level the upper half of R, whose numbers have
// the top bit, becomes a list of its own, folded from there on like the others. After the last level each list is one
// sum: R, W, and one for each bit, the highest first. All sets are folded at once: list k of set s stands at (k sets +
// s) length.

// R and W of chunks of `chunk` buckets, `count` in all. Two sums beside an operand are more than there are registers:
// first each bucket is replaced by the sum of those from it on, of which R is that of the first, then W is the sum of
// all but the first.
KERNEL(GROUPED(weigh_chunks), 128, (IN_G1 ? 3 : 2))
(BucketSum* sums, BucketSum* __restrict__ lists, u32 count, u32 chunk) {
  u64 index = grid_thread();
  if (index >= count) return;
  BucketSum *first = sums + index * chunk, *bucket = first + chunk - 1;
  BucketSum sum = load(bucket);
  bool weighing = false;
  for (;;) {
    if (bucket == first + weighing) {
      store(lists + (weighing ? count + index : index), sum);
      if (weighing || chunk == 1) break;
      weighing = true;
      bucket = first + chunk - 1;
      sum = load(bucket);
      continue;
    }
    bucket--;
    add(sum, load(bucket));
    if (!weighing) store(bucket, sum);
  }
  if (chunk == 1) store(lists + count + index, infinity<Coordinate>());
}

// A level: `lists` lists of length 2 half of each set.
KERNEL(GROUPED(fold_lists), 128, (IN_G1 ? 3 : 2))
(const BucketSum* __restrict__ from, BucketSum* __restrict__ to, u32 lists, u32 sets, u32 half) {
  u64 index = grid_thread(), count = u64(lists) * sets * half;
  if (index >= count) return;
  u64 list = index / half;
  const BucketSum* lower = from + index + list * half;
  BucketSum upper = load(lower + half);
  // The first `sets` lists are R.
  if (list < sets) store(to + count + index, upper);
  add(upper, load(lower));
  store(to + index, upper);
}

// The last levels, by one block for each set, and the sums in canonical form: sum k of set s at k sets + s. Each block
// has `space` sums to work in, enough for all lists of two levels.
KERNEL(GROUPED(fold_last), 256, 1)
(const BucketSum* from, BucketSum* work, u32 space, BucketSum* out, u32 lists, u32 sets, u32 length) {
  u32 set = blockIdx.x;
  // In the work space, the lists of a set follow each other.
  const BucketSum* current = from + u64(set) * length;
  u64 stride = u64(sets) * length;
  BucketSum *to = work + u64(set) * space, *spare = to + space / 2;
  while (length > 1) {
    u32 half = length / 2;
    for (u32 index = threadIdx.x; index < lists * half; index += blockDim.x) {
      u32 list = index / half;
      const BucketSum* lower = current + list * stride + index % half;
      BucketSum upper = load(lower + half);
      if (list == 0) store(to + lists * half + index, upper);
      add(upper, load(lower));
      store(to + index, upper);
    }
    __syncthreads();
    current = to;
    to = spare;
    spare = const_cast<BucketSum*>(current);
    stride = half;
    length = half;
    lists++;
  }
  for (u32 list = threadIdx.x; list < lists; list += blockDim.x) {
    store(out + u64(list) * sets + set, canonical(load(current + list * stride)));
  }
}
