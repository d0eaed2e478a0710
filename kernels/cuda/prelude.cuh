// What every kernel may use of its surroundings. The same sources are compiled by nvcc, by NVRTC (which has no headers
// of the standard library) and by a C++ compiler for the host, where host/simt.hpp carries out blocks, warps and
// barriers; nothing else in this directory knows which it is.
//
//   KERNEL(name, threads, blocks)(parameters) { body }   an entry point, launched with `threads` threads a block, compiled
//                                                        so that `blocks` blocks fit a multiprocessor
//   EXPORT_KERNELS(module, name, ...)                    once at the end of a .cu file: the entry points of the module
//   BLOCK_SHARED(type, name, count)                      an array shared by the block
//   DYNAMIC_SHARED(type, name)                           the shared memory whose size the launch states
//
// Threads are numbered by threadIdx.x, blockIdx.x, blockDim.x, gridDim.x; grids have one dimension. Barriers, shuffles
// and votes take all threads of the block or warp that have not returned: masks are FULL_WARP, and no thread may return
// before a shuffle or vote in which its warp takes part.
#pragma once

#ifdef BELLWETHER_HOST
#include "../host/simt.hpp"
#else

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#define INLINE __device__ __forceinline__
#define NOINLINE __device__ __noinline__
#define KERNEL(name, threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks) name
#define EXPORT_KERNELS(module, ...)
#define BLOCK_SHARED(type, name, count) __shared__ type name[count]
#define DYNAMIC_SHARED(type, name)                 \
  extern __shared__ uint4 dynamic_shared_memory[]; \
  type* const name = reinterpret_cast<type*>(dynamic_shared_memory)
#define GRID_CONSTANT const __grid_constant__

#endif

constexpr u32 FULL_WARP = 0xffffffffu;
constexpr u32 WARP = 32;

// Number of this thread in the grid.
INLINE u64 grid_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }
