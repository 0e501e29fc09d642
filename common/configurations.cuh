// For a step that is compiled in several configurations: which of them runs. To be included after the
// step's list, CONFIGURATIONS(X), which calls X(BLOCK_M, BLOCK_N, WARPS, STAGES, MAX_DIM) for each:
// MAX_DIM is the largest head_dim that the configuration can hold in a thread's registers.
#ifndef CONFIGURATIONS_CUH
#define CONFIGURATIONS_CUH

#include "attention.h"
#include <string.h>

#define CONFIGURATION_NAME(M, N, W, S) #M "x" #N "x" #W "x" #S

static const char *chosen_configuration; // NULL: the step's own choice for the shape

const char *const *attention_configurations(void) {
#define NAME_OF(M, N, W, S, MAX_DIM) CONFIGURATION_NAME(M, N, W, S),
  static const char *const names[] = {CONFIGURATIONS(NAME_OF) NULL};
#undef NAME_OF
  return names;
}

bool attention_configure(const char *name) {
  chosen_configuration = NULL;
  if (!name) return true;
  for (const char *const *known = attention_configurations(); *known; known++) {
    if (strcmp(*known, name) == 0) chosen_configuration = *known;
  }
  return chosen_configuration != NULL;
}

// Bytes of shared memory that the current GPU gives a block that asks for it; 0 without a GPU.
static size_t largest_shared_memory(void) {
  int device = 0;
  int bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return (size_t)bytes;
}

#endif
