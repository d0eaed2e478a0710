// Buckets, and the entries that go into them.
//
// An entry adds a point to a bucket: 31 bits say which point, the highest whether its negative. Entries lie in order of
// their buckets, and `offsets` says where those of each begin: offsets[b] <= i < offsets[b + 1] for entry i of bucket
// b; offsets[buckets] is how many there are of all. How many that is, only the device knows: grids are made for the
// most there can be.
#pragma once

#include "prelude.cuh"

constexpr u32 NEGATIVE = 0x80000000u;

// No entry beside the other of a pair.
constexpr u32 ALONE = 0xffffffffu;

// The bucket of an entry that is not in one before `bucket`. Steps double, since of few entries most buckets have none.
INLINE u32 bucket_of(const u32* __restrict__ offsets, u32 bucket, u32 buckets, u32 entry) {
  u32 step = 1;
  while (bucket + step < buckets && offsets[bucket + step] <= entry) {
    bucket += step;
    step *= 2;
  }
  u32 behind = min(bucket + step, buckets);
  while (behind - bucket > 1) {
    u32 middle = bucket + (behind - bucket) / 2;
    if (offsets[middle] <= entry) {
      bucket = middle;
    } else {
      behind = middle;
    }
  }
  return bucket;
}

INLINE u32 divide_up(u32 a, u32 b) { return a / b + (a % b != 0); }

// Asks for memory that will be read soon.
INLINE void prefetch(const void* at, u32 bytes) {
#ifdef BELLWETHER_HOST
  __builtin_prefetch(at);
  (void)bytes;
#else
  const char* line = static_cast<const char*>(at);
  for (u32 i = 0; i < bytes; i += 64) asm volatile("prefetch.global.L1 [%0];" ::"l"(line + i));
#endif
}
