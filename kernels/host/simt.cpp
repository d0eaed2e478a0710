// Carries out blocks, warps and barriers on the host: see simt.hpp.
#include "simt.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "fibre.hpp"
#include "launch.h"

SIMT_THREAD_LOCAL simt::Index threadIdx;
SIMT_THREAD_LOCAL simt::Index blockIdx;
SIMT_THREAD_LOCAL simt::Index blockDim;
SIMT_THREAD_LOCAL simt::Index gridDim;

namespace simt {
namespace {

constexpr u32 MAX_THREADS = 1024;
constexpr u32 WARPS = MAX_THREADS / 32;
// Of a card: what __shared__ arrays may take, and what a block may have in all from sm_80 on (163 KiB on sm_80 itself).
constexpr size_t MAX_STATIC_SHARED = 48 << 10;
constexpr size_t MAX_SHARED = 227 << 10;
constexpr u32 MAX_ARRAYS = 1024;
// Bytes between arrays in shared memory that nothing may touch; the address sanitizer knows.
constexpr size_t GAP = 64;
constexpr size_t ARENA = (MAX_SHARED + MAX_STATIC_SHARED + MAX_ARRAYS * GAP) / 256 * 256;
// A launch that the caller completes within this time starts no other thread.
constexpr auto ALONE = std::chrono::microseconds(30);

u64 next_random(u64& state) {  // splitmix64
  u64 z = state += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

void shuffle(u32* items, u32 count, u64& random) {
  for (u32 left = count; left > 1; left--) std::swap(items[left - 1], items[next_random(random) % left]);
}

// One launch, shared by the threads of the operating system that work on it.
struct Launch {
  const Kernel* kernel;
  void* const* arguments;
  u64 blocks;
  size_t shared_bytes;
  bellwether_options options;
  std::atomic<u64> next_block{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  char* error;
  size_t length;

  // The first failure is kept.
  void fail(u64 block, const char* text) {
    std::lock_guard<std::mutex> guard(mutex);
    if (!failed.exchange(true)) snprintf(error, length, "block %llu: %s", block, text);
  }
};

struct Fibre {
  fibre::Stack stack;
  fibre::Context context;
  Fibre* next;           // of those ready, or of those idle
  u64 prepared_for = 0;  // number of the worker's run in which it began
  u32 thread;            // that it carries out
};

// A warp in which threads wait.
struct Warp {
  Place place;
  u32 parity;
  // Two, so that a thread may enter the next operation while others have yet to look at this one.
  Exchange exchanges[2];
};

// An array in shared memory, of the block in which it was last reached.
struct Placed {
  u64 block = 0;
  void* at;
};

std::atomic<u32> shared_arrays{0};

// Carries out blocks on one thread of the operating system.
class Worker {
 public:
  Worker();
  void begin(Launch& launch);
  bool run_next();

  void barrier(Place place);
  const Exchange& exchange(u32 mask, u64 value, Place place);
  [[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void* dynamic_shared() { return shared_; }
  void* shared_array(SharedArray& array, size_t bytes, size_t alignment);
  [[noreturn]] void fibre_main();

 private:
  Launch* launch_ = nullptr;
  u64 block_ = 0;
  u32 threads_ = 0;

  // Threads of the block: those not begun are order_[begun_..]; those alive have not returned.
  u32 order_[MAX_THREADS];
  u32 begun_ = 0;
  u32 alive_count_ = 0;
  u32 alive_[WARPS];
  Fibre* waiting_[MAX_THREADS];

  u32 at_barrier_ = 0;
  Place barrier_place_{};
  u32 at_exchange_[WARPS];  // lanes that have arrived
  Warp warps_[WARPS];

  Fibre* current_ = nullptr;
  Fibre* ready_ = nullptr;
  Fibre* idle_ = nullptr;
  fibre::Context main_{};
  bool block_failed_ = false;
  Fibre fibres_[MAX_THREADS + 1];
  u32 count_ = 0;  // of fibres that have a stack
  u64 run_ = 0;
  u64 random_ = 0;

  std::unique_ptr<char, void (*)(void*)> arena_;
  char* shared_;           // the dynamic part, then the arrays
  size_t shared_used_ = 0;
  size_t static_bytes_ = 0;
  u64 serial_ = 0;  // of the block among all this worker ran
  Placed placed_[MAX_ARRAYS];

  bool run_block(u64 block);
  void finish();
  void switch_to(Fibre* fibre);
  void wait();
  Fibre* fresh();
  void release_warp(u32 warp);
  void release_barrier();
  void release(u32* threads, u32 count);
  [[noreturn]] void fail_stuck();
  [[noreturn]] void leave();
};

SIMT_THREAD_LOCAL Worker* worker;

void fibre_entry() { worker->fibre_main(); }

Worker::Worker() : arena_(static_cast<char*>(std::aligned_alloc(256, ARENA)), std::free) {
  if (!arena_) throw std::bad_alloc();
  shared_ = arena_.get();
}

void Worker::begin(Launch& launch) {
  launch_ = &launch;
  threads_ = launch.kernel->threads;
  run_++;
  worker = this;
  blockDim.x = threads_;
  gridDim.x = u32(launch.blocks);
  for (u32 t = 0; t < threads_; t++) order_[t] = launch.options.order == BELLWETHER_REVERSE ? threads_ - 1 - t : t;
}

// Runs the next block in increasing order; false if none is left or one has failed.
bool Worker::run_next() {
  if (launch_->failed.load(std::memory_order_relaxed)) return false;
  const u64 block = launch_->next_block.fetch_add(1);
  return block < launch_->blocks && run_block(block);
}

bool Worker::run_block(u64 block) {
  block_ = block;
  blockIdx.x = u32(block);
  begun_ = 0;
  alive_count_ = threads_;
  for (u32 warp = 0; 32 * warp < threads_; warp++) {
    const u32 lanes = std::min(32u, threads_ - 32 * warp);
    alive_[warp] = lanes == 32 ? ~0u : (1u << lanes) - 1;
    at_exchange_[warp] = 0;
  }
  at_barrier_ = 0;
  ready_ = nullptr;
  if (launch_->options.order == BELLWETHER_SHUFFLED) {
    random_ = launch_->options.seed ^ block * 0x9e3779b97f4a7c15ull;
    shuffle(order_, threads_, random_);
  }
  serial_++;
  shared_used_ = (launch_->shared_bytes + GAP + 255) / 256 * 256;
  static_bytes_ = 0;
  fibre::poison(shared_, ARENA);
  fibre::unpoison(shared_, launch_->shared_bytes);
  memset(shared_, int(0x80 | (serial_ * 37 & 0x7f)), launch_->shared_bytes);

  block_failed_ = false;
  current_ = fresh();
  if (current_ == nullptr) throw std::bad_alloc();
  fibre::enter(main_, current_->context, current_->stack);
  if (block_failed_) {
    // The fibres hold threads that will not go on; each begins anew.
    run_++;
    idle_ = nullptr;
    for (u32 i = 0; i < count_; i++) {
      fibres_[i].next = idle_;
      idle_ = &fibres_[i];
    }
  }
  return !block_failed_;
}

// A fibre at the beginning of its loop; null if there is no memory for its stack.
Fibre* Worker::fresh() {
  Fibre* fibre = idle_;
  if (fibre != nullptr) {
    idle_ = fibre->next;
  } else {
    const fibre::Stack stack = fibre::new_stack(count_);
    if (stack.bottom == nullptr) return nullptr;
    fibre = &fibres_[count_++];
    fibre->stack = stack;
  }
  // What it holds of an earlier run belongs to another thread of the operating system: addresses of thread_locals.
  if (fibre->prepared_for != run_) {
    fibre->prepared_for = run_;
    fibre::prepare(fibre->context, fibre->stack, fibre_entry);
  }
  return fibre;
}

// Carries out threads one after another. One that waits keeps this fibre, and another goes on with those not begun.
void Worker::fibre_main() {
  fibre::arrived(current_->context);
  for (;;) {
    while (ready_ == nullptr && begun_ < threads_) {
      const u32 thread = order_[begun_++];
      current_->thread = thread;
      threadIdx.x = thread;
      launch_->kernel->run(launch_->arguments);
      finish();
    }
    Fibre* self = current_;
    if (ready_ == nullptr) {
      if (alive_count_ != 0) fail_stuck();
      self->next = idle_;
      idle_ = self;
      fibre::leave(self->context, main_);
    } else {
      self->next = idle_;
      idle_ = self;
      Fibre* next = ready_;
      ready_ = next->next;
      switch_to(next);
    }
  }
}

// The current thread has returned, which may complete what others wait for.
void Worker::finish() {
  const u32 thread = current_->thread;
  const u32 warp = thread / 32;
  alive_[warp] &= ~(1u << thread % 32);
  alive_count_--;
  if (at_exchange_[warp] != 0 && at_exchange_[warp] == alive_[warp]) release_warp(warp);
  if (at_barrier_ != 0 && at_barrier_ == alive_count_) release_barrier();
}

// `self` has been noted where it will be found again.
void Worker::switch_to(Fibre* next) {
  Fibre* self = current_;
  if (next != self) {
    current_ = next;
    fibre::change(self->context, next->context, next->stack);
  }
}

// Lets others run until the current thread is ready and its turn has come.
void Worker::wait() {
  const u32 thread = current_->thread;
  if (ready_ != nullptr) {
    Fibre* next = ready_;
    ready_ = next->next;
    switch_to(next);
  } else if (begun_ < threads_) {
    Fibre* next = fresh();
    if (next == nullptr) fail("out of memory for the stacks of its threads");
    switch_to(next);
  } else {
    fail_stuck();
  }
  threadIdx.x = thread;
}

void Worker::barrier(Place place) {
  if (at_barrier_ == 0) {
    barrier_place_ = place;
  } else if (barrier_place_.line != place.line || barrier_place_.file != place.file) {
    fail("thread %u is in %s at %s:%u while others of its block wait in that at %s:%u", current_->thread,
         place.operation, place.file, place.line, barrier_place_.file, barrier_place_.line);
  }
  waiting_[current_->thread] = current_;
  at_barrier_++;
  if (at_barrier_ == alive_count_) release_barrier();
  wait();
}

const Exchange& Worker::exchange(u32 mask, u64 value, Place place) {
  const u32 thread = current_->thread;
  const u32 lane = thread % 32;
  Warp& warp = warps_[thread / 32];
  u32& arrived = at_exchange_[thread / 32];
  if (mask != ~0u) fail("%s at %s:%u: the mask is %#x, not FULL_WARP", place.operation, place.file, place.line, mask);
  if (arrived == 0) {
    warp.place = place;
  } else if (warp.place.line != place.line || warp.place.file != place.file) {
    fail("thread %u is in %s at %s:%u while others of its warp wait in %s at %s:%u", thread, place.operation, place.file,
         place.line, warp.place.operation, warp.place.file, warp.place.line);
  }
  Exchange& exchange = warp.exchanges[warp.parity & 1];
  exchange.values[lane] = value;
  waiting_[thread] = current_;
  arrived |= 1u << lane;
  if (arrived == alive_[thread / 32]) release_warp(thread / 32);
  wait();
  return exchange;
}

void Worker::release_warp(u32 warp) {
  Warp& w = warps_[warp];
  const u32 lanes = at_exchange_[warp];
  w.exchanges[w.parity & 1].lanes = lanes;
  w.parity++;
  at_exchange_[warp] = 0;
  u32 threads[32];
  u32 count = 0;
  for (u32 left = lanes; left != 0; left &= left - 1) threads[count++] = 32 * warp + u32(__builtin_ctz(left));
  release(threads, count);
}

void Worker::release_barrier() {
  at_barrier_ = 0;
  u32 threads[MAX_THREADS];
  u32 count = 0;
  for (u32 warp = 0; 32 * warp < threads_; warp++) {
    for (u32 left = alive_[warp]; left != 0; left &= left - 1) threads[count++] = 32 * warp + u32(__builtin_ctz(left));
  }
  release(threads, count);
}

// Makes threads that wait, given in increasing order, ready before all others.
void Worker::release(u32* threads, u32 count) {
  const u32 order = launch_->options.order;
  if (order == BELLWETHER_SHUFFLED) shuffle(threads, count, random_);
  for (u32 i = 0; i < count; i++) {
    Fibre* fibre = waiting_[threads[order == BELLWETHER_REVERSE ? i : count - 1 - i]];
    fibre->next = ready_;
    ready_ = fibre;
  }
}

// No thread can go on: says how many wait where. Nothing here may have a destructor, for nothing comes back.
void Worker::fail_stuck() {
  struct Group {
    Place place;
    u32 first, count;
  };
  Group groups[4];  // of other places there is no word
  u32 known = 0;
  auto note = [&](Place place, u32 warp, u32 lanes) {
    if (lanes == 0) return;
    const u32 count = u32(__builtin_popcount(lanes));
    for (u32 i = 0; i < known; i++) {
      if (groups[i].place.line == place.line && groups[i].place.file == place.file) {
        groups[i].count += count;
        return;
      }
    }
    if (known < 4) groups[known++] = {place, 32 * warp + u32(__builtin_ctz(lanes)), count};
  };
  for (u32 warp = 0; 32 * warp < threads_; warp++) {
    note(warps_[warp].place, warp, at_exchange_[warp]);
    if (at_barrier_ != 0) note(barrier_place_, warp, alive_[warp] & ~at_exchange_[warp]);
  }
  char text[640] = "";
  for (u32 i = 0; i < known; i++) {
    const Group& group = groups[i];
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%u of %u threads (the first is %u) wait in %s at %s:%u",
             i == 0 ? "" : ", ", group.count, threads_, group.first, group.place.operation, group.place.file,
             group.place.line);
  }
  fail("no thread can go on: %s", text);
}

void Worker::fail(const char* format, ...) {
  char text[768];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  launch_->fail(block_, text);
  leave();
}

// Gives the block up.
void Worker::leave() {
  block_failed_ = true;
  fibre::abandon(main_);
}

void* Worker::shared_array(SharedArray& array, size_t bytes, size_t alignment) {
  u32 number = __atomic_load_n(&array.number, __ATOMIC_RELAXED);
  if (number == 0) {
    // Several may come at once: the first number stays.
    const u32 mine = ++shared_arrays;
    if (__atomic_compare_exchange_n(&array.number, &number, mine, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      number = mine;
    }
  }
  if (number >= MAX_ARRAYS) fail("there are more than %u shared arrays", MAX_ARRAYS);
  Placed& placed = placed_[number];
  if (placed.block == serial_) return placed.at;
  const size_t start = (shared_used_ + alignment - 1) / alignment * alignment;
  static_bytes_ += bytes;
  if (static_bytes_ > MAX_STATIC_SHARED || static_bytes_ + launch_->shared_bytes > MAX_SHARED) {
    fail("%zu bytes of shared arrays and %zu of dynamic shared memory are more than a block can have", static_bytes_,
         launch_->shared_bytes);
  }
  shared_used_ = start + bytes + GAP;
  placed.block = serial_;
  placed.at = shared_ + start;
  fibre::unpoison(placed.at, bytes);
  memset(placed.at, int(0x80 | ((serial_ * 37 + number) & 0x7f)), bytes);
  return placed.at;
}

}  // namespace

void barrier(Place place) { worker->barrier(place); }
const Exchange& exchange(u32 mask, u64 value, Place place) { return worker->exchange(mask, value, place); }
void trap(Place place) {
  worker->fail("thread %u reached %s at %s:%u", threadIdx.x, place.operation, place.file, place.line);
}
void yield() { std::this_thread::yield(); }
void* dynamic_shared() { return worker->dynamic_shared(); }
void* shared_array(SharedArray& array, size_t bytes, size_t alignment) {
  return worker->shared_array(array, bytes, alignment);
}

}  // namespace simt

// The modules that were compiled: build.rs writes MODULE(name) for each.
#ifndef BELLWETHER_MODULES
#include "modules.h"
#endif
#define MODULE(name) extern "C" const simt::Module bellwether_kernels_##name;
BELLWETHER_MODULES
#undef MODULE

namespace {

#define MODULE(name) &bellwether_kernels_##name,
const simt::Module* const MODULES[] = {BELLWETHER_MODULES};
#undef MODULE

const simt::Kernel* kernel_at(size_t number, const simt::Module** of) {
  for (const simt::Module* module : MODULES) {
    if (number < module->count) {
      *of = module;
      return &module->kernels[number];
    }
    number -= module->count;
  }
  return nullptr;
}

// Workers that no launch uses at the moment, kept for their stacks.
std::mutex spare_mutex;
std::vector<std::unique_ptr<simt::Worker>>* spare;

std::unique_ptr<simt::Worker> take_worker() {
  {
    std::lock_guard<std::mutex> guard(spare_mutex);
    if (spare != nullptr && !spare->empty()) {
      std::unique_ptr<simt::Worker> worker = std::move(spare->back());
      spare->pop_back();
      return worker;
    }
  }
  return std::make_unique<simt::Worker>();
}

void give_back(std::unique_ptr<simt::Worker> worker) {
  std::lock_guard<std::mutex> guard(spare_mutex);
  // Never destroyed: threads may launch while the process ends.
  if (spare == nullptr) spare = new std::vector<std::unique_ptr<simt::Worker>>;
  spare->push_back(std::move(worker));
}

// Works on a launch until no block is left. The caller of the launch passes `helpers` to fill.
void work(simt::Launch& launch, std::vector<std::thread>* helpers) {
  std::unique_ptr<simt::Worker> worker;
  try {
    worker = take_worker();
    worker->begin(launch);
    const auto start = std::chrono::steady_clock::now();
    while (worker->run_next()) {
      if (helpers == nullptr || std::chrono::steady_clock::now() - start < simt::ALONE) continue;
      const u64 taken = launch.next_block.load();
      const u64 left = launch.blocks - std::min(launch.blocks, taken);
      for (u64 more = std::min<u64>(left, std::max(launch.options.threads, 1u) - 1); more > 0; more--) {
        helpers->emplace_back(work, std::ref(launch), nullptr);
      }
      helpers = nullptr;
    }
    give_back(std::move(worker));
  } catch (const std::system_error&) {
    // The system starts no more threads: those that there are do the work.
    while (worker->run_next()) {
    }
  } catch (const std::exception&) {
    launch.fail(launch.next_block, "out of memory for stacks and shared memory");
  }
}

}  // namespace

bool bellwether_kernel_at(size_t number, bellwether_kernel* kernel) {
  const simt::Module* module;
  const simt::Kernel* found = kernel_at(number, &module);
  if (found == nullptr) return false;
  *kernel = {module->name, found->name, found->threads, found->parameters, found->sizes};
  return true;
}

bool bellwether_launch(size_t number, uint64_t blocks, uint64_t shared_bytes, void* const* arguments,
                       const bellwether_options* options, char* error, size_t length) {
  const simt::Module* module;
  simt::Launch launch;
  launch.kernel = kernel_at(number, &module);
  launch.arguments = arguments;
  launch.blocks = blocks;
  launch.shared_bytes = shared_bytes;
  launch.options = *options;
  launch.error = error;
  launch.length = length;
  if (launch.kernel == nullptr) {
    launch.fail(0, "there is no such kernel");
  } else if (blocks > 0x7fffffff) {
    launch.fail(0, "a grid has at most 2147483647 blocks");
  } else if (shared_bytes > simt::MAX_SHARED) {
    launch.fail(0, "a block has at most 227 KiB of shared memory");
  } else if (blocks > 0) {
    std::vector<std::thread> helpers;
    work(launch, &helpers);
    for (std::thread& helper : helpers) helper.join();
  }
  return !launch.failed;
}
