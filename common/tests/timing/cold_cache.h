// For tests: a kernel whose time tells whether its buffer is in the L2 cache.
#ifndef COLD_CACHE_H
#define COLD_CACHE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// One thread follows `steps` places in the buffer, each of which holds the number
// of the next, so that its time is the latency of the memory that answers.
cudaError_t follow(const unsigned *places, unsigned steps, unsigned *end, cudaStream_t stream);

// Reads all of a buffer, as a kernel that works on it does. Writes to *end only what it never finds.
cudaError_t read_all(const unsigned *memory, size_t bytes, unsigned *end, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
