// The surroundings of a kernel on the host: the CUDA built-ins that the sources in cuda/ use, carried out by simt.cpp.
//
// A block runs on one thread of the operating system, its threads as fibres. Threads run one after another until they
// end or wait; which of those that can go on comes next is an option of the launch. Blocks are taken in increasing order
// by several threads of the operating system, so a block may spin until an earlier one has written, but a thread may not
// spin for another of its own block.
//
// What a card leaves undefined shows here: shared memory holds garbage when a block begins, a shuffle from a lane that
// takes no part yields garbage, and a launch ends with an error if threads of a warp meet in different operations, if
// threads of a block meet in different barriers, if a mask is not FULL_WARP, or if none of the threads left can go on.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

struct alignas(8) uint2 {
  u32 x, y;
};
struct alignas(16) uint4 {
  u32 x, y, z, w;
};
inline uint2 make_uint2(u32 x, u32 y) { return {x, y}; }
inline uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }

// Grids and blocks have one dimension.
namespace simt {
struct Index {
  u32 x;
};
}  // namespace simt
#define SIMT_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))
extern SIMT_THREAD_LOCAL simt::Index threadIdx;
extern SIMT_THREAD_LOCAL simt::Index blockIdx;
extern SIMT_THREAD_LOCAL simt::Index blockDim;
extern SIMT_THREAD_LOCAL simt::Index gridDim;

namespace simt {

// An operation in which threads wait for each other, and where it stands in the source.
struct Place {
  const char* operation;
  const char* file;
  u32 line;
};

// What the lanes of a warp brought to a warp operation. It holds until the thread that looks at it enters the next.
struct Exchange {
  u32 lanes;  // those that took part
  u64 values[32];
};

// Waits for all threads of the block that have not returned.
void barrier(Place place);
// Waits for all threads of the warp that have not returned.
const Exchange& exchange(u32 mask, u64 value, Place place);
// Ends the launch with an error.
[[noreturn]] void trap(Place place);

// Lets another thread of the operating system run.
void yield();

// The shared memory whose size the launch states.
void* dynamic_shared();
// One declaration of an array shared by the block; its number is given when it is first reached.
struct SharedArray {
  u32 number;
};
void* shared_array(SharedArray& array, size_t bytes, size_t alignment);

inline u32 lane() { return threadIdx.x % 32; }

// What a thread gets that asks for something undefined.
template <typename T>
T garbage() {
  return static_cast<T>(0xdead'c0de'bad5'eed5ull);
}

template <typename T>
u64 to_slot(T value) {
  static_assert(std::is_integral<T>::value && sizeof(T) <= 8, "a warp operation takes integers");
  return static_cast<u64>(static_cast<typename std::make_unsigned<T>::type>(value));
}

template <typename T>
T from_lane(const Exchange& exchange, u32 lane) {
  return exchange.lanes >> lane & 1 ? static_cast<T>(exchange.values[lane]) : garbage<T>();
}

template <typename T, typename Combine>
T reduce(const Exchange& exchange, Combine combine) {
  u32 lanes = exchange.lanes;
  T sum = static_cast<T>(exchange.values[__builtin_ctz(lanes)]);
  for (lanes &= lanes - 1; lanes != 0; lanes &= lanes - 1) {
    sum = combine(sum, static_cast<T>(exchange.values[__builtin_ctz(lanes)]));
  }
  return sum;
}

}  // namespace simt

// Each takes its place as default arguments, which are evaluated where it is called.
#define SIMT_PLACE const char *file = __builtin_FILE(), u32 line = __builtin_LINE()

inline void __syncthreads(SIMT_PLACE) { simt::barrier({"__syncthreads", file, line}); }
inline void __syncwarp(u32 mask = 0xffffffffu, SIMT_PLACE) { simt::exchange(mask, 0, {"__syncwarp", file, line}); }
[[noreturn]] inline void __trap(SIMT_PLACE) { simt::trap({"__trap", file, line}); }

// Shuffles. `width`, a power of two, cuts the warp into segments of which each is a warp of its own.
template <typename T>
T __shfl_sync(u32 mask, T value, i32 source, i32 width = 32, SIMT_PLACE) {
  const simt::Exchange& all = simt::exchange(mask, simt::to_slot(value), {"__shfl_sync", file, line});
  const u32 segment = simt::lane() & ~u32(width - 1);
  return simt::from_lane<T>(all, segment | (u32(source) & u32(width - 1)));
}
template <typename T>
T __shfl_up_sync(u32 mask, T value, u32 delta, i32 width = 32, SIMT_PLACE) {
  const simt::Exchange& all = simt::exchange(mask, simt::to_slot(value), {"__shfl_up_sync", file, line});
  const u32 within = simt::lane() & u32(width - 1);
  return within < delta ? value : simt::from_lane<T>(all, simt::lane() - delta);
}
template <typename T>
T __shfl_down_sync(u32 mask, T value, u32 delta, i32 width = 32, SIMT_PLACE) {
  const simt::Exchange& all = simt::exchange(mask, simt::to_slot(value), {"__shfl_down_sync", file, line});
  const u32 within = simt::lane() & u32(width - 1);
  return u64(within) + delta >= u32(width) ? value : simt::from_lane<T>(all, simt::lane() + delta);
}
template <typename T>
T __shfl_xor_sync(u32 mask, T value, i32 lanes, i32 width = 32, SIMT_PLACE) {
  const simt::Exchange& all = simt::exchange(mask, simt::to_slot(value), {"__shfl_xor_sync", file, line});
  const u32 source = simt::lane() ^ u32(lanes);
  // A lane of a later segment is out of reach; one of an earlier segment is not.
  const bool beyond = source >= (simt::lane() & ~u32(width - 1)) + u32(width);
  return beyond ? value : simt::from_lane<T>(all, source);
}

// Votes.
inline u32 __ballot_sync(u32 mask, i32 predicate, SIMT_PLACE) {
  const simt::Exchange& all = simt::exchange(mask, predicate != 0, {"__ballot_sync", file, line});
  u32 votes = 0;
  for (u32 lanes = all.lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = u32(__builtin_ctz(lanes));
    votes |= u32(all.values[lane]) << lane;
  }
  return votes;
}
inline i32 __any_sync(u32 mask, i32 predicate, SIMT_PLACE) {
  const simt::Exchange& all = simt::exchange(mask, predicate != 0, {"__any_sync", file, line});
  return simt::reduce<i32>(all, [](i32 a, i32 b) { return a | b; });
}
inline i32 __all_sync(u32 mask, i32 predicate, SIMT_PLACE) {
  const simt::Exchange& all = simt::exchange(mask, predicate != 0, {"__all_sync", file, line});
  return simt::reduce<i32>(all, [](i32 a, i32 b) { return a & b; });
}
template <typename T>
u32 __match_any_sync(u32 mask, T value, SIMT_PLACE) {
  const simt::Exchange& all = simt::exchange(mask, simt::to_slot(value), {"__match_any_sync", file, line});
  u32 same = 0;
  for (u32 lanes = all.lanes; lanes != 0; lanes &= lanes - 1) {
    const u32 lane = u32(__builtin_ctz(lanes));
    same |= u32(all.values[lane] == simt::to_slot(value)) << lane;
  }
  return same;
}

// Reductions, of 32-bit integers as on the card.
#define SIMT_REDUCE(name, T, expression)                                                        \
  inline T name(u32 mask, T value, SIMT_PLACE) {                                                \
    const simt::Exchange& all = simt::exchange(mask, simt::to_slot(value), {#name, file, line}); \
    return simt::reduce<T>(all, [](T a, T b) { return T(expression); });                        \
  }
SIMT_REDUCE(__reduce_add_sync, u32, a + b)
SIMT_REDUCE(__reduce_add_sync, i32, u32(a) + u32(b))
SIMT_REDUCE(__reduce_min_sync, u32, a < b ? a : b)
SIMT_REDUCE(__reduce_min_sync, i32, a < b ? a : b)
SIMT_REDUCE(__reduce_max_sync, u32, a > b ? a : b)
SIMT_REDUCE(__reduce_max_sync, i32, a > b ? a : b)
SIMT_REDUCE(__reduce_and_sync, u32, a& b)
SIMT_REDUCE(__reduce_or_sync, u32, a | b)
SIMT_REDUCE(__reduce_xor_sync, u32, a ^ b)
#undef SIMT_REDUCE
#undef SIMT_PLACE

// Atomics, in global and shared memory alike. Each returns what was there.
#define SIMT_ATOMICS(T)                                                                                   \
  inline T atomicAdd(T* at, T value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }          \
  inline T atomicSub(T* at, T value) { return __atomic_fetch_sub(at, value, __ATOMIC_RELAXED); }          \
  inline T atomicOr(T* at, T value) { return __atomic_fetch_or(at, value, __ATOMIC_RELAXED); }            \
  inline T atomicAnd(T* at, T value) { return __atomic_fetch_and(at, value, __ATOMIC_RELAXED); }          \
  inline T atomicXor(T* at, T value) { return __atomic_fetch_xor(at, value, __ATOMIC_RELAXED); }          \
  inline T atomicExch(T* at, T value) { return __atomic_exchange_n(at, value, __ATOMIC_RELAXED); }        \
  inline T atomicCAS(T* at, T expected, T value) {                                                        \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);         \
    return expected;                                                                                      \
  }                                                                                                       \
  inline T atomicMax(T* at, T value) {                                                                    \
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);                                                        \
    while (old < value &&                                                                                 \
           !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {     \
    }                                                                                                     \
    return old;                                                                                           \
  }                                                                                                       \
  inline T atomicMin(T* at, T value) {                                                                    \
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);                                                        \
    while (value < old &&                                                                                 \
           !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {     \
    }                                                                                                     \
    return old;                                                                                           \
  }
SIMT_ATOMICS(u32)
SIMT_ATOMICS(i32)
SIMT_ATOMICS(u64)
#undef SIMT_ATOMICS

// What a thread does that spins until an earlier block has written.
inline void __nanosleep(u32) { simt::yield(); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Loads and stores with a hint for the caches.
template <typename T>
T __ldg(const T* at) {
  return *at;
}
template <typename T>
T __ldcs(const T* at) {
  return *at;
}
template <typename T>
T __ldcg(const T* at) {
  return *at;
}
template <typename T, typename V>
void __stcs(T* at, V value) {
  *at = static_cast<T>(value);
}
template <typename T, typename V>
void __stcg(T* at, V value) {
  *at = static_cast<T>(value);
}

// Integers.
inline i32 __popc(u32 x) { return __builtin_popcount(x); }
inline i32 __popcll(u64 x) { return __builtin_popcountll(x); }
inline i32 __clz(i32 x) { return x == 0 ? 32 : __builtin_clz(u32(x)); }
inline i32 __clzll(i64 x) { return x == 0 ? 64 : __builtin_clzll(u64(x)); }
inline i32 __ffs(i32 x) { return __builtin_ffs(x); }
inline i32 __ffsll(i64 x) { return __builtin_ffsll(x); }
inline u32 __brev(u32 x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline u64 __brevll(u64 x) { return u64(__brev(u32(x))) << 32 | __brev(u32(x >> 32)); }
inline u32 __funnelshift_l(u32 low, u32 high, u32 shift) { return u32((u64(high) << 32 | low) << (shift % 32) >> 32); }
inline u32 __funnelshift_r(u32 low, u32 high, u32 shift) { return u32((u64(high) << 32 | low) >> (shift % 32)); }
inline u32 __umulhi(u32 a, u32 b) { return u32(u64(a) * b >> 32); }
inline u64 __umul64hi(u64 a, u64 b) { return u64(static_cast<unsigned __int128>(a) * b >> 64); }
template <typename A, typename B>
constexpr typename std::common_type<A, B>::type min(A a, B b) {
  using T = typename std::common_type<A, B>::type;
  return T(b) < T(a) ? T(b) : T(a);
}
template <typename A, typename B>
constexpr typename std::common_type<A, B>::type max(A a, B b) {
  using T = typename std::common_type<A, B>::type;
  return T(a) < T(b) ? T(b) : T(a);
}

// The table of a module: its entry points without their types, for simt.cpp.
namespace simt {

struct Kernel {
  const char* name;
  u32 threads;
  u32 parameters;
  const u32* sizes;
  void (*run)(void* const* arguments);  // as the current thread
};

struct Module {
  const char* name;
  const Kernel* kernels;
  u32 count;
};

template <typename Function>
struct Signature;
template <typename... P>
struct Signature<void (*)(P...)> {
  static_assert(((std::is_trivially_copyable<P>::value && !std::is_reference<P>::value) && ...),
                "a launch copies the bytes of each parameter");
  static constexpr u32 count = sizeof...(P);
  static constexpr u32 sizes[sizeof...(P) + 1] = {sizeof(P)..., 0};

  template <void (*function)(P...)>
  static void run(void* const* arguments) {
    run<function>(arguments, std::index_sequence_for<P...>());
  }
  template <void (*function)(P...), size_t... i>
  static void run([[maybe_unused]] void* const* arguments, std::index_sequence<i...>) {
    function(*static_cast<const typename std::remove_cv<P>::type*>(arguments[i])...);
  }
};

template <auto function>
constexpr Kernel kernel(const char* name, u32 threads) {
  using S = Signature<decltype(function)>;
  return {name, threads, S::count, S::sizes, &S::template run<function>};
}

}  // namespace simt

#define INLINE inline
#define NOINLINE inline __attribute__((noinline))
#define GRID_CONSTANT const
// Through a second macro each, so that names may be macros.
#define KERNEL(name, threads, blocks) SIMT_KERNEL(name, threads, blocks)
#define SIMT_KERNEL(name, threads, blocks)                                                     \
  static_assert((threads) > 0 && (threads) <= 1024, "a block has at most 1024 threads");       \
  static_assert((blocks) > 0 && (threads) * (blocks) <= 2048, "a multiprocessor has 2048 threads"); \
  static constexpr u32 simt_threads_of_##name = threads;                                       \
  static void name
#define EXPORT_KERNELS(module, ...)                                                          \
  static constexpr simt::Kernel simt_kernels[] = {SIMT_ROWS(SIMT_ROW, __VA_ARGS__)};         \
  extern "C" const simt::Module bellwether_kernels_##module;                                 \
  const simt::Module bellwether_kernels_##module = {#module, simt_kernels,                   \
                                                    u32(sizeof simt_kernels / sizeof simt_kernels[0])};
#define SIMT_ROW(name) SIMT_ROW_OF(name)
#define SIMT_ROW_OF(name) simt::kernel<&name>(#name, simt_threads_of_##name),

// row(a) row(b) ..., up to 256 of them: a macro does not expand within itself, so each step is put off to the next scan.
#define SIMT_ROWS(row, ...) __VA_OPT__(SIMT_SCAN(SIMT_STEP(row, __VA_ARGS__)))
#define SIMT_STEP(row, first, ...) row(first) __VA_OPT__(SIMT_AGAIN SIMT_PARENTHESES(row, __VA_ARGS__))
#define SIMT_AGAIN() SIMT_STEP
#define SIMT_PARENTHESES ()
#define SIMT_SCAN(...) SIMT_SCAN4(SIMT_SCAN4(SIMT_SCAN4(SIMT_SCAN4(__VA_ARGS__))))
#define SIMT_SCAN4(...) SIMT_SCAN3(SIMT_SCAN3(SIMT_SCAN3(SIMT_SCAN3(__VA_ARGS__))))
#define SIMT_SCAN3(...) SIMT_SCAN2(SIMT_SCAN2(SIMT_SCAN2(SIMT_SCAN2(__VA_ARGS__))))
#define SIMT_SCAN2(...) SIMT_SCAN1(SIMT_SCAN1(SIMT_SCAN1(SIMT_SCAN1(__VA_ARGS__))))
#define SIMT_SCAN1(...) __VA_ARGS__

#define BLOCK_SHARED(type, name, count)                \
  static simt::SharedArray simt_array_of_##name;       \
  type(&name)[count] = *static_cast<type(*)[count]>(   \
      simt::shared_array(simt_array_of_##name, sizeof(type) * (count), alignof(type)))
#define DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(simt::dynamic_shared())
