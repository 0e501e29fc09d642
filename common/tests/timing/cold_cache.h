// For tests: a kernel whose time tells whether its buffer is in the L2 cache.
#ifndef COLD_CACHE_H
#define COLD_CACHE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// One thread follows `steps` places in the buffer, each of which holds the number of the next: what it takes
// is the latency of the memory that answers.
cudaError_t follow(const unsigned *places, unsigned steps, unsigned *end, cudaStream_t stream);

// Reads and writes so many bytes: what was in the cache is there no longer.
cudaError_t sweep_cache(unsigned *memory, size_t bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
