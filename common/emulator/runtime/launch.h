// A launch that is being run.
#ifndef LAUNCH_H
#define LAUNCH_H

#include "emulator.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct {
  const emulator_launch_request *request;
  uint64_t block_count;
  uint64_t number; // since the seed was set
  uint64_t seed;
  size_t static_shared_module; // of the kernel, see shared_memory.h; 0 when it has none
  size_t static_shared_bytes;
  size_t dynamic_shared_alignment; // bytes, and no multiple of twice as many
  size_t dynamic_shared_gap;       // bytes between its end and the guard
  // The section of the kernel's code in memory, for limit.c, which finds it first. Less than its module: between
  // kernel and library there are stubs, without lines.
  _Atomic uintptr_t code_low, code_high;
  _Atomic uint64_t next_block;
  atomic_bool abandoned; // a thread faulted: leave every block as it is
  emulator_counts counts;
} launch;

#endif
