// Fibres: stacks between which one thread of the operating system changes at will. A change saves the registers that a
// called function has to keep and costs a few nanoseconds; where the processor is not known here, ucontext does it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#define SIMT_UCONTEXT
#endif
#ifdef SIMT_UCONTEXT
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace fibre {

struct Stack {
  char* bottom;
  size_t size;
};

// What is kept of a flow of control while another runs.
struct Context {
#ifdef SIMT_UCONTEXT
  ucontext_t registers;
#else
  void* stack_pointer;
#endif
  // For the address sanitizer: its own stack of this flow, and, of a thread's first flow, the bounds of the stack.
  void* fake_stack;
  const void* bottom;
  size_t size;
};

#ifdef __SANITIZE_ADDRESS__
constexpr size_t STACK_BYTES = 1 << 20;
#else
constexpr size_t STACK_BYTES = 256 << 10;
#endif

// A new stack, without a bottom if there is no memory; below it, if the system has one to spare, is a page that nothing may touch.
inline Stack new_stack(size_t number) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  void* at = mmap(nullptr, STACK_BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return {nullptr, 0};
  mprotect(at, page, PROT_NONE);
  // Stacks begin at different places of a page: the tops of all would share one set of the cache.
  const size_t colour = number % 32 * 128;
  return {static_cast<char*>(at) + page, STACK_BYTES - colour};
}

inline void poison([[maybe_unused]] const void* at, [[maybe_unused]] size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_poison_memory_region(at, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* at, [[maybe_unused]] size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(at, bytes);
#endif
}

#ifndef SIMT_UCONTEXT

// Pushes the registers to keep, leaves the stack pointer in `*from`, and goes on where `to` was left.
extern "C" void bellwether_fibre_change(void** from, void* to);

#define SIMT_TEXT(x) SIMT_TEXT_OF(x)
#define SIMT_TEXT_OF(x) #x
#define SIMT_SYMBOL SIMT_TEXT(__USER_LABEL_PREFIX__) "bellwether_fibre_change"

#endif

// Makes `context` begin with `entry`, which never returns.
inline void prepare(Context& context, const Stack& stack, void (*entry)()) {
  unpoison(stack.bottom, stack.size);
  context.fake_stack = nullptr;
#ifdef SIMT_UCONTEXT
  getcontext(&context.registers);
  context.registers.uc_stack.ss_sp = stack.bottom;
  context.registers.uc_stack.ss_size = stack.size;
  context.registers.uc_link = nullptr;
  makecontext(&context.registers, entry, 0);
#else
  // The end is aligned to 16 bytes, as both architectures want it.
  void** top = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(stack.bottom + stack.size) / 16 * 16);
#ifdef __x86_64__
  // Six registers, where to go on, and a return address for nobody.
  top -= 8;
  for (int i = 0; i < 8; i++) top[i] = nullptr;
  top[6] = reinterpret_cast<void*>(entry);
#else
  // Twenty registers; that to which the change returns is the twelfth.
  top -= 20;
  for (int i = 0; i < 20; i++) top[i] = nullptr;
  top[11] = reinterpret_cast<void*>(entry);
#endif
  context.stack_pointer = top;
#endif
}

inline void change_registers(Context& from, Context& to) {
#ifdef SIMT_UCONTEXT
  swapcontext(&from.registers, &to.registers);
#else
  bellwether_fibre_change(&from.stack_pointer, to.stack_pointer);
#endif
}

#ifdef __SANITIZE_ADDRESS__
// The context from which this thread entered its fibres and whose stack is not known yet.
inline __thread Context* entered;
#endif

// First thing to do where a flow goes on.
inline void arrived([[maybe_unused]] Context& here) {
#ifdef __SANITIZE_ADDRESS__
  const void* bottom;
  size_t size;
  __sanitizer_finish_switch_fiber(here.fake_stack, &bottom, &size);
  if (entered != nullptr) {
    entered->bottom = bottom;
    entered->size = size;
    entered = nullptr;
  }
#endif
}

// Leaves a flow for that of a fibre.
inline void change(Context& from, Context& to, [[maybe_unused]] const Stack& stack) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.fake_stack, stack.bottom, stack.size);
#endif
  change_registers(from, to);
  arrived(from);
}

// Leaves a thread's first flow for that of a fibre.
inline void enter(Context& main, Context& to, const Stack& stack) {
#ifdef __SANITIZE_ADDRESS__
  entered = &main;
#endif
  change(main, to, stack);
}

// Leaves a fibre for the flow that entered.
inline void leave(Context& from, Context& main) {
  change(from, main, {const_cast<char*>(static_cast<const char*>(main.bottom)), main.size});
}

// The same, never to come back.
[[noreturn]] inline void abandon(Context& main) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(nullptr, main.bottom, main.size);
#endif
  static thread_local Context nobody;
  change_registers(nobody, main);
  __builtin_unreachable();
}

}  // namespace fibre
