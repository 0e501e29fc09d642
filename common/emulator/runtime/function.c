// Attributes of kernels, and how many of their blocks a multiprocessor can hold.
#include "function.h"

#include "devices.h"
#include "errors.h"
#include "gpu.h"
#include "kernel_cluster.h"
#include "static_shared.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct function {
  struct function *next;
  const void *kernel;
  int device; // attributes are set for each device, as on a GPU
  int static_shared;
  int dynamic_shared_limit;
  int carveout;
  bool large_clusters;
  dim3 cluster;
  bool cluster_declared; // by the kernel itself, so that the host cannot set it
} function;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static function *functions; // those that were asked about

static function fresh(const void *kernel) {
  const size_t static_shared = static_shared_bytes(kernel);
  const size_t most = (size_t)gpu_selected()->shared_per_block;
  const dim3 cluster = kernel_cluster(kernel);
  return (function){.kernel = kernel,
                    .device = devices_current(),
                    .static_shared = (int)static_shared,
                    .dynamic_shared_limit = static_shared < most ? (int)(most - static_shared) : 0,
                    .carveout = cudaSharedmemCarveoutDefault,
                    .cluster = cluster,
                    .cluster_declared = cluster.x > 0};
}

// The kernel's entry, made if there is none. NULL when memory has run out. Call with the mutex held.
static function *entry_of(const void *kernel) {
  function *entry = functions;
  while (entry != NULL && (entry->kernel != kernel || entry->device != devices_current())) {
    entry = entry->next;
  }
  if (entry != NULL || (entry = malloc(sizeof *entry)) == NULL) return entry;
  *entry = fresh(kernel);
  entry->next = functions;
  functions = entry;
  return entry;
}

static function current(const void *kernel) {
  pthread_mutex_lock(&mutex);
  const function *entry = entry_of(kernel);
  const function found = entry != NULL ? *entry : fresh(kernel);
  pthread_mutex_unlock(&mutex);
  return found;
}

size_t function_dynamic_shared_limit(const void *kernel) {
  return (size_t)current(kernel).dynamic_shared_limit;
}

bool function_large_clusters(const void *kernel) { return current(kernel).large_clusters; }

dim3 function_cluster(const void *kernel) { return current(kernel).cluster; }

// A launch checks that the three go together. A kernel that says the size itself keeps it, and the error is the one that
// an H100 gives with CUDA 13.0, where CUDA's documentation names cudaErrorNotPermitted.
static cudaError_t set_cluster(function *entry, unsigned *side, int value) {
  if (entry->cluster_declared || value < 0) return cudaErrorInvalidValue;
  *side = (unsigned)value;
  return cudaSuccess;
}

static cudaError_t set(function *entry, enum cudaFuncAttribute attribute, int value) {
  switch (attribute) {
  case cudaFuncAttributeMaxDynamicSharedMemorySize:
    if (value < 0 || value > gpu_selected()->shared_per_block_opt_in - entry->static_shared) {
      return cudaErrorInvalidValue;
    }
    entry->dynamic_shared_limit = value;
    return cudaSuccess;
  case cudaFuncAttributePreferredSharedMemoryCarveout:
    if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared) {
      return cudaErrorInvalidValue;
    }
    entry->carveout = value;
    return cudaSuccess;
  case cudaFuncAttributeNonPortableClusterSizeAllowed:
    entry->large_clusters = value != 0;
    return cudaSuccess;
  case cudaFuncAttributeRequiredClusterWidth: return set_cluster(entry, &entry->cluster.x, value);
  case cudaFuncAttributeRequiredClusterHeight: return set_cluster(entry, &entry->cluster.y, value);
  case cudaFuncAttributeRequiredClusterDepth: return set_cluster(entry, &entry->cluster.z, value);
  }
  return cudaErrorInvalidValue;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value) {
  RETURN_IF_STICKY();
  if (kernel == NULL) return errors_record(cudaErrorInvalidDeviceFunction);
  pthread_mutex_lock(&mutex);
  function *entry = entry_of(kernel);
  const cudaError_t error =
      entry != NULL ? set(entry, attribute, value) : cudaErrorMemoryAllocation;
  pthread_mutex_unlock(&mutex);
  return errors_record(error);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel) {
  RETURN_IF_STICKY();
  if (attributes == NULL) return errors_record(cudaErrorInvalidValue);
  if (kernel == NULL) return errors_record(cudaErrorInvalidDeviceFunction);
  const gpu *gpu = gpu_selected();
  const function function = current(kernel);
  *attributes =
      (struct cudaFuncAttributes){.sharedSizeBytes = (size_t)function.static_shared,
                                  .maxThreadsPerBlock = GPU_THREADS_PER_BLOCK,
                                  .ptxVersion = 10 * gpu->major + gpu->minor,
                                  .binaryVersion = 10 * gpu->major + gpu->minor,
                                  .maxDynamicSharedSizeBytes = function.dynamic_shared_limit,
                                  .preferredShmemCarveout = function.carveout,
                                  .requiredClusterWidth = (int)function.cluster.x,
                                  .requiredClusterHeight = (int)function.cluster.y,
                                  .requiredClusterDepth = (int)function.cluster.z,
                                  .nonPortableClusterSizeAllowed = function.large_clusters};
  return cudaSuccess;
}

// Only threads and shared memory are considered: nvcc alone knows how many registers
// a kernel needs, so that a GPU may hold fewer blocks than this function says.
int function_blocks_per_multiprocessor(const void *kernel, int block_threads,
                                       size_t dynamic_shared_bytes) {
  const gpu *gpu = gpu_selected();
  const function function = current(kernel);
  if (block_threads > GPU_THREADS_PER_BLOCK ||
      dynamic_shared_bytes > (size_t)function.dynamic_shared_limit) {
    return 0;
  }
  const int warps = (block_threads + GPU_WARP_LANES - 1) / GPU_WARP_LANES;
  const int by_threads = gpu->threads_per_multiprocessor / (warps * GPU_WARP_LANES);
  const size_t granule = (size_t)gpu->shared_granularity;
  const size_t shared =
      (size_t)(function.static_shared + gpu->shared_reserved) + dynamic_shared_bytes;
  const size_t granules = shared > 0 ? (shared + granule - 1) / granule : 1;
  const int by_shared = (int)((size_t)gpu->shared_per_multiprocessor / (granules * granule));
  int blocks = gpu->blocks_per_multiprocessor;
  if (by_threads < blocks) blocks = by_threads;
  if (by_shared < blocks) blocks = by_shared;
  return blocks;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block_threads,
                                                          size_t dynamic_shared_bytes) {
  RETURN_IF_STICKY();
  if (blocks == NULL || block_threads <= 0) return errors_record(cudaErrorInvalidValue);
  if (kernel == NULL) return errors_record(cudaErrorInvalidDeviceFunction);
  *blocks = function_blocks_per_multiprocessor(kernel, block_threads, dynamic_shared_bytes);
  return cudaSuccess;
}

// As an H200 answers with CUDA 13.0: what CUDA takes from each block for itself is not left out, so that the blocks may not
// fit together after all.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *kernel, int blocks,
                                                      int block_threads) {
  RETURN_IF_STICKY();
  if (bytes == NULL || blocks <= 0 || block_threads <= 0)
    return errors_record(cudaErrorInvalidValue);
  if (kernel == NULL) return errors_record(cudaErrorInvalidDeviceFunction);
  if (function_blocks_per_multiprocessor(kernel, block_threads, 0) < blocks)
    return errors_record(cudaErrorInvalidValue);
  const gpu *gpu = gpu_selected();
  const function function = current(kernel);
  const int granules = gpu->shared_per_multiprocessor / blocks / gpu->shared_granularity;
  const int left = granules * gpu->shared_granularity - function.static_shared;
  const int most = function.dynamic_shared_limit;
  *bytes = (size_t)(left < 0 ? 0 : left < most ? left : most);
  return cudaSuccess;
}
