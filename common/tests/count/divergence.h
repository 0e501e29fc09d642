// Kernels in which the lanes of a warp diverge and join, with their expected requests of global memory.
#ifndef DIVERGENCE_H
#define DIVERGENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *name;
  uint64_t load_requests, load_sectors, store_requests, store_sectors, divergent_branches;
} divergence_case;

size_t divergence_count(void);
divergence_case divergence_at(size_t number);

// Launches the case's kernel once and waits. False when that fails.
bool divergence_run(size_t number);

// Runs a kernel in which each lane waits in a loop for another of its warp. False when it fails.
bool divergence_run_turn_by_turn(void);

// Runs a kernel whose loads are in one known line of divergence.cu. Returns the line.
int divergence_run_one_line(void);

#ifdef __cplusplus
}
#endif
#endif
