// Attributes of kernels, and how many of their blocks a multiprocessor can hold.
#include "function.h"

#include "errors.h"
#include "gpu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct function {
  struct function *next;
  const void *kernel;
  int dynamic_shared_limit;
  int carveout;
} function;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static function *functions; // those for which something was set

// Call with the mutex held. NULL when nothing was set for the kernel.
static function *find(const void *kernel) {
  function *entry = functions;
  while (entry != NULL && entry->kernel != kernel) entry = entry->next;
  return entry;
}

static function current(const void *kernel) {
  function found = {.kernel = kernel,
                    .dynamic_shared_limit = gpu_selected()->shared_per_block,
                    .carveout = cudaSharedmemCarveoutDefault};
  pthread_mutex_lock(&mutex);
  const function *entry = find(kernel);
  if (entry != NULL) found = *entry;
  pthread_mutex_unlock(&mutex);
  return found;
}

static bool set(const function *wanted) {
  pthread_mutex_lock(&mutex);
  function *entry = find(wanted->kernel);
  function *next = functions;
  if (entry != NULL) {
    next = entry->next;
  } else if ((entry = malloc(sizeof *entry)) != NULL) {
    functions = entry;
  }
  if (entry != NULL) {
    *entry = *wanted;
    entry->next = next;
  }
  pthread_mutex_unlock(&mutex);
  return entry != NULL;
}

size_t function_dynamic_shared_limit(const void *kernel) {
  return (size_t)current(kernel).dynamic_shared_limit;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value) {
  RETURN_IF_STICKY();
  if (kernel == NULL) return errors_record(cudaErrorInvalidDeviceFunction);
  function wanted = current(kernel);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > gpu_selected()->shared_per_block_opt_in) {
      return errors_record(cudaErrorInvalidValue);
    }
    wanted.dynamic_shared_limit = value;
  } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
    if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared) {
      return errors_record(cudaErrorInvalidValue);
    }
    wanted.carveout = value;
  } else {
    return errors_record(cudaErrorInvalidValue);
  }
  return set(&wanted) ? cudaSuccess : errors_record(cudaErrorMemoryAllocation);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel) {
  RETURN_IF_STICKY();
  if (attributes == NULL) return errors_record(cudaErrorInvalidValue);
  if (kernel == NULL) return errors_record(cudaErrorInvalidDeviceFunction);
  const gpu *gpu = gpu_selected();
  const function function = current(kernel);
  *attributes =
      (struct cudaFuncAttributes){.maxThreadsPerBlock = GPU_THREADS_PER_BLOCK,
                                  .ptxVersion = 10 * gpu->major + gpu->minor,
                                  .binaryVersion = 10 * gpu->major + gpu->minor,
                                  .maxDynamicSharedSizeBytes = function.dynamic_shared_limit,
                                  .preferredShmemCarveout = function.carveout};
  return cudaSuccess;
}

// Threads and shared memory alone decide: only nvcc knows how many registers a kernel needs, so
// that a GPU may hold fewer blocks than this says.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block_threads,
                                                          size_t dynamic_shared_bytes) {
  RETURN_IF_STICKY();
  if (blocks == NULL || block_threads <= 0) return errors_record(cudaErrorInvalidValue);
  if (kernel == NULL) return errors_record(cudaErrorInvalidDeviceFunction);
  const gpu *gpu = gpu_selected();
  *blocks = 0;
  if (block_threads > GPU_THREADS_PER_BLOCK ||
      dynamic_shared_bytes > function_dynamic_shared_limit(kernel)) {
    return cudaSuccess;
  }
  const int warps = (block_threads + GPU_WARP_LANES - 1) / GPU_WARP_LANES;
  const int by_threads = gpu->threads_per_multiprocessor / (warps * GPU_WARP_LANES);
  const size_t granules =
      (dynamic_shared_bytes + GPU_SHARED_RESERVED + GPU_SHARED_GRANULARITY - 1) /
      GPU_SHARED_GRANULARITY;
  const int by_shared =
      (int)((size_t)gpu->shared_per_multiprocessor / (granules * GPU_SHARED_GRANULARITY));
  *blocks = gpu->blocks_per_multiprocessor;
  if (by_threads < *blocks) *blocks = by_threads;
  if (by_shared < *blocks) *blocks = by_shared;
  return cudaSuccess;
}
