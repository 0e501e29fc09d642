// The launch that the workers run.
#ifndef LAUNCH_H
#define LAUNCH_H

#include "emulator.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct {
  const emulator_launch_request *request;
  int device;
  bool queued; // on several devices: transfers may be under way
  uint64_t block_count;
  bool whole_grid;         // all blocks take turns, though they are no cluster; see cluster.h
  dim3 cluster_dim;        // of the blocks that take turns: those of a cluster, or the whole grid
  unsigned cluster_blocks; // how many they are; 1 in an ordinary launch
  bool cluster_specified;  // by the kernel or the launch
  bool blocks_wait;        // there are more of them than multiprocessors
  uint64_t number;         // since the seed was set
  uint64_t seed;
  bool blocks_shuffled;        // by the seed
  size_t static_shared_module; // of the kernel's module, see shared_memory.h; 0 when it has none
  size_t static_shared_bytes;
  size_t dynamic_shared_alignment; // bytes, and no multiple of twice as many
  size_t dynamic_shared_gap;       // bytes between its end and the guard
  // The section of memory that holds the kernel's code, which limit.c finds first. It
  // is smaller than the module: the stubs between kernel and library have no lines.
  _Atomic uintptr_t code_low, code_high;
  atomic_bool overdue; // all blocks of a cooperative launch together
  _Atomic uint64_t next_block;
  atomic_bool abandoned; // a thread faulted; leave every block as it is
  emulator_counts counts;
} launch;

// Says on stderr why a launch is refused. Returns `error`.
__attribute__((format(printf, 3, 4))) cudaError_t
launch_refuse(const char *kernel, cudaError_t error, const char *format, ...);

// The seed of the order in which threads run, and queued operations; 0 for the plain order.
uint64_t launch_seed(void);

#endif
