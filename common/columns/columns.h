// The columns of counts.csv and of listings. They hold counts of kernels, made by the emulator or by a GPU's
// counters.
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A request is one memory instruction of one warp. Sectors and wavefronts are those of
// emulator/requests/memory_request.h. An asynchronous copy counts as a load from global memory and as a
// store to shared memory. Atomic functions are not counted.
typedef enum {
  COUNT_GLOBAL_LOAD_REQUESTS,
  COUNT_GLOBAL_LOAD_SECTORS,
  COUNT_GLOBAL_STORE_REQUESTS,
  COUNT_GLOBAL_STORE_SECTORS,
  COUNT_SHARED_LOAD_REQUESTS,
  COUNT_SHARED_LOAD_WAVEFRONTS,
  COUNT_SHARED_STORE_REQUESTS,
  COUNT_SHARED_STORE_WAVEFRONTS,
  COUNT_TENSOR_CORE_OPERATIONS, // products of 2048 multiply-adds: m16n8k16
  COUNT_ASYNC_COPY_BYTES,       // that asynchronous copies read from global memory
  COUNT_BLOCK_BARRIERS,         // one for each time a block passed one
  COUNT_DIVERGENT_BRANCHES, // one for each time the lanes of a warp left a branch for two places
  COUNT_COLUMNS
} count_column;

typedef struct {
  uint64_t value[COUNT_COLUMNS];
} count_values;

typedef struct {
  const char *name;  // in CSV files
  const char *title; // above a listing
} column_name;

extern const column_name column_names[COUNT_COLUMNS];

// Tells whether the column holds sectors or wavefronts. The column before it then holds the requests they
// belong to.
static inline bool column_is_per_request(int column) {
  return column <= COUNT_SHARED_STORE_WAVEFRONTS && column % 2 == 1;
}

#ifdef __cplusplus
}
#endif
#endif
