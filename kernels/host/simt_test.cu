// Kernels for the tests of what carries them out: tests/simt.rs. They are part of the host build only.
#include "../cuda/prelude.cuh"

// y_i <- by * x_i
KERNEL(simt_scale, 256, 4)(const u32* x, u32* y, u32 by, u64 count) {
  const u64 i = grid_thread();
  if (i < count) y[i] = x[i] * by;
}

// Turns the values of each block round by one, `rounds` times; the last `returned` threads take no part.
KERNEL(simt_turn, 192, 1)(u32* values, u32 rounds, u32 returned) {
  BLOCK_SHARED(u32, turned, 192);
  const u32 count = blockDim.x - returned;
  if (threadIdx.x >= count) return;
  u32 value = values[grid_thread()];
  for (u32 round = 0; round < rounds; round++) {
    turned[(threadIdx.x + 1) % count] = value;
    __syncthreads();
    value = turned[threadIdx.x];
    __syncthreads();
  }
  values[grid_thread()] = value;
}

// The same in dynamic shared memory, one round, without the barrier that it needs.
KERNEL(simt_turn_without_barrier, 192, 1)(u32* values) {
  DYNAMIC_SHARED(u32, turned);
  turned[(threadIdx.x + 1) % blockDim.x] = values[grid_thread()];
  values[grid_thread()] = turned[threadIdx.x];
}

// What each operation of a warp gives to a thread, a row an operation. Threads whose bit is set in `returned` take no
// part. 80 threads: two whole warps and half of one.
template <typename T>
INLINE void shuffles(const T* in, T* out, i32 by, i32 width, const u64* returned) {
  const u32 t = threadIdx.x;
  if (returned[t / 64] >> t % 64 & 1) return;
  out[t] = __shfl_sync(FULL_WARP, in[t], by, width);
  out[80 + t] = __shfl_up_sync(FULL_WARP, in[t], u32(by), width);
  out[160 + t] = __shfl_down_sync(FULL_WARP, in[t], u32(by), width);
  out[240 + t] = __shfl_xor_sync(FULL_WARP, in[t], by, width);
}
KERNEL(simt_shuffles_32, 80, 1)(const u32* in, u32* out, i32 by, i32 width, const u64* returned) {
  shuffles(in, out, by, width, returned);
}
KERNEL(simt_shuffles_64, 80, 1)(const u64* in, u64* out, i32 by, i32 width, const u64* returned) {
  shuffles(in, out, by, width, returned);
}
KERNEL(simt_votes, 80, 1)(const u32* in, u32* out, const u64* returned) {
  const u32 t = threadIdx.x;
  if (returned[t / 64] >> t % 64 & 1) return;
  const u32 x = in[t];
  u32 row = 0;
  auto put = [&](u32 value) { out[80 * row++ + t] = value; };
  put(__ballot_sync(FULL_WARP, x & 2));
  put(u32(__any_sync(FULL_WARP, x & 4)));
  put(u32(__all_sync(FULL_WARP, x & 8)));
  put(__match_any_sync(FULL_WARP, x & 15));
  put(__match_any_sync(FULL_WARP, u64(x & 15) << 40));
  __syncwarp();
  put(__reduce_add_sync(FULL_WARP, x));
  put(__reduce_min_sync(FULL_WARP, x));
  put(__reduce_max_sync(FULL_WARP, x));
  put(__reduce_and_sync(FULL_WARP, x));
  put(__reduce_or_sync(FULL_WARP, x));
  put(__reduce_xor_sync(FULL_WARP, x));
  put(u32(__reduce_add_sync(FULL_WARP, i32(x))));
  put(u32(__reduce_min_sync(FULL_WARP, i32(x))));
  put(u32(__reduce_max_sync(FULL_WARP, i32(x))));
}

// All threads of all blocks on the same words: totals by global atomics, and the same by way of shared memory.
template <typename T>
INLINE void atomics(T* totals, u32* tickets, T* by_block) {
  BLOCK_SHARED(T, block, 1);
  const T i = T(grid_thread());
  atomicAdd(&totals[0], i);
  atomicMax(&totals[1], i);
  atomicMin(&totals[2], i);
  atomicOr(&totals[3], T(1) << i % (8 * sizeof(T)));
  atomicXor(&totals[4], i);
  atomicAnd(&totals[5], ~(T(1) << i % (8 * sizeof(T))));
  const T ticket = atomicAdd(&totals[6], T(1));
  atomicAdd(&tickets[ticket], 1u);
  // What was larger is put back.
  for (T value = i, old; (old = atomicExch(&totals[7], value)) > value;) value = old;
  for (T seen = 0, old; (old = atomicCAS(&totals[8], seen, seen + 1)) != seen;) seen = old;
  if (threadIdx.x == 0) block[0] = 0;
  __syncthreads();
  atomicAdd(&block[0], i);
  __syncthreads();
  if (threadIdx.x == 0) by_block[blockIdx.x] = block[0];
}
KERNEL(simt_atomics_32, 128, 1)(u32* totals, u32* tickets, u32* by_block) { atomics(totals, tickets, by_block); }
KERNEL(simt_atomics_64, 128, 1)(u64* totals, u32* tickets, u64* by_block) { atomics(totals, tickets, by_block); }

// What shared memory holds when a block begins; then it is set to zero.
KERNEL(simt_shared, 32, 1)(u32* of_array, u32* of_dynamic, u32 words) {
  BLOCK_SHARED(u32, array, 64);
  DYNAMIC_SHARED(u32, dynamic);
  for (u32 i = threadIdx.x; i < 64; i += 32) {
    of_array[64 * blockIdx.x + i] = array[i];
    array[i] = 0;
  }
  for (u32 i = threadIdx.x; i < words; i += 32) {
    of_dynamic[u64(words) * blockIdx.x + i] = dynamic[i];
    dynamic[i] = 0;
  }
}

// More than a block can have.
KERNEL(simt_shared_too_large, 32, 1)(u32* out) {
  BLOCK_SHARED(u32, most, 12000);
  BLOCK_SHARED(u32, more, 1000);
  out[0] = most[threadIdx.x] + more[threadIdx.x];
}

// Two arrays of one name in instances of a template are two.
template <u32 value>
INLINE u32* array_of() {
  BLOCK_SHARED(u32, array, 1);
  array[0] = value;
  return array;
}
KERNEL(simt_arrays, 1, 1)(u32* out) {
  u32* one = array_of<1>();
  u32* two = array_of<2>();
  u32* again = array_of<1>();
  out[0] = one[0];
  out[1] = two[0];
  out[2] = again == one;
}

// Faults of all kinds.
KERNEL(simt_fault, 96, 1)(u32 kind, u32 thread) {
  const bool other = threadIdx.x == thread;
  switch (kind) {
    case 0:  // one is in another barrier
      if (other) {
        __syncthreads();
      } else {
        __syncthreads();
      }
      return;
    case 1:  // one waits for its warp, which waits for it
      if (other) {
        __syncwarp();
      } else {
        __syncthreads();
      }
      return;
    case 2:  // lanes of a warp meet in two operations
      if (other) {
        __shfl_sync(FULL_WARP, 1u, 0);
      } else {
        __ballot_sync(FULL_WARP, 1);
      }
      return;
    case 3:
      __ballot_sync(0x0000ffffu, 1);
      return;
    case 4:
      if (other) __trap();
      __syncthreads();
      return;
    default:  // no fault: those that return are not waited for
      if (other) return;
      __syncthreads();
      __syncwarp();
  }
}

// Each block adds its number to the sum of those before it, for which it spins.
KERNEL(simt_look_back, 64, 1)(u32* flags, u64* sums) {
  if (threadIdx.x == 0) {
    u64 before = 0;
    if (blockIdx.x > 0) {
      while (atomicAdd(&flags[blockIdx.x - 1], 0u) == 0) __nanosleep(100);
      __threadfence();
      before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + blockIdx.x;
    __threadfence();
    atomicExch(&flags[blockIdx.x], 1u);
  }
  __syncthreads();
}

// Which thread of the operating system ran each block: it has its own thread_locals. Each takes some time.
KERNEL(simt_workers, 64, 1)(u64* workers, u64 rounds) {
  u64 x = threadIdx.x;
  for (u64 i = 0; i < rounds; i++) x = x * 6364136223846793005ull + 1442695040888963407ull;
  if (threadIdx.x == 0) {
    workers[blockIdx.x] = reinterpret_cast<u64>(&threadIdx);
    workers[gridDim.x] = x;
  }
}

KERNEL(simt_integers, 1, 1)(const u32* in, u32* out, const u64* in64, u64* out64) {
  const u32 a = in[0], b = in[1], c = in[2];
  out[0] = u32(__popc(a));
  out[1] = u32(__clz(i32(a)));
  out[2] = u32(__ffs(i32(a)));
  out[3] = __brev(a);
  out[4] = __funnelshift_l(a, b, c);
  out[5] = __funnelshift_r(a, b, c);
  out[6] = __umulhi(a, b);
  out[7] = min(a, b);
  out[8] = max(a, b);
  const u64 x = in64[0], y = in64[1];
  out64[0] = u64(__popcll(x));
  out64[1] = u64(__clzll(i64(x)));
  out64[2] = u64(__ffsll(i64(x)));
  out64[3] = __brevll(x);
  out64[4] = __umul64hi(x, y);
  out64[5] = min(x, u64(a));
  out64[6] = max(a, y);
  const uint4 four = __ldg(reinterpret_cast<const uint4*>(in));
  __stcs(reinterpret_cast<uint2*>(out + 10), make_uint2(four.w, __ldcs(in)));
}

// A parameter of many bytes, one of few, and none.
struct Large {
  u64 words[50];
};
KERNEL(simt_large, 32, 1)(GRID_CONSTANT Large large, u8 small, u64* out) {
  for (u32 i = threadIdx.x; i < 50; i += 32) out[i] = large.words[i] + small;
}
KERNEL(simt_nothing, 1024, 1)() {}

EXPORT_KERNELS(simt_test, simt_scale, simt_turn, simt_turn_without_barrier, simt_shuffles_32, simt_shuffles_64,
               simt_votes, simt_atomics_32, simt_atomics_64, simt_shared, simt_shared_too_large, simt_arrays, simt_fault,
               simt_look_back, simt_workers, simt_integers, simt_large, simt_nothing)
