// What the host build offers to programs, in C.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// In which order the threads of a block run that can go on.
enum bellwether_order { BELLWETHER_FORWARD = 0, BELLWETHER_REVERSE = 1, BELLWETHER_SHUFFLED = 2 };

struct bellwether_options {
  uint32_t threads;  // of the operating system, the caller among them; 0 counts as 1
  uint32_t order;
  uint64_t seed;  // of BELLWETHER_SHUFFLED
};

// An entry point.
struct bellwether_kernel {
  const char* module;
  const char* name;
  uint32_t threads;  // of a block
  uint32_t parameters;
  const uint32_t* sizes;  // of each parameter in bytes
};

// The entry points of all modules are numbered from 0; false if there are not so many.
bool bellwether_kernel_at(size_t number, struct bellwether_kernel* kernel);

// Runs an entry point and returns when all blocks are done. Each argument points to as many bytes as its parameter has.
// Returns false if the launch failed and leaves why, cut to `length` bytes and ended by a zero, in `error`. Blocks may
// have run by then.
bool bellwether_launch(size_t number, uint64_t blocks, uint64_t shared_bytes, void* const* arguments,
                       const struct bellwether_options* options, char* error, size_t length);

#ifdef __cplusplus
}
#endif
