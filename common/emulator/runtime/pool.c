// Pools: their memory is cudaMalloc's, of the pool's device, and their attributes keep what the program sets.
#include "devices.h"
#include "emulator.h"
#include "errors.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct CUmemPoolHandle_st {
  bool begun;
  int device;
  uint64_t values[16]; // of the attributes
};
static struct CUmemPoolHandle_st defaults[DEVICES_MAX];
static cudaMemPool_t chosen[DEVICES_MAX]; // by cudaDeviceSetMemPool; NULL: the default one

// Memory may be used again in each of the three ways until the program says otherwise, as with CUDA.
static void begin(cudaMemPool_t pool, int device) {
  if (pool->begun) return;
  *pool = (struct CUmemPoolHandle_st){.begun = true,
                                      .device = device,
                                      .values = {[cudaMemPoolReuseFollowEventDependencies] = 1,
                                                 [cudaMemPoolReuseAllowOpportunistic] = 1,
                                                 [cudaMemPoolReuseAllowInternalDependencies] = 1}};
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *wanted) {
  RETURN_IF_STICKY();
  if (pool == NULL || wanted == NULL || wanted->allocType != cudaMemAllocationTypePinned ||
      wanted->location.type != cudaMemLocationTypeDevice || wanted->location.id < 0 ||
      wanted->location.id >= devices_count()) {
    return errors_record(cudaErrorInvalidValue);
  }
  if (wanted->handleTypes != cudaMemHandleTypeNone) return errors_record(cudaErrorNotSupported);
  *pool = calloc(1, sizeof **pool);
  if (*pool == NULL) return errors_record(cudaErrorMemoryAllocation);
  begin(*pool, wanted->location.id);
  return cudaSuccess;
}

// Memory that was allocated from the pool stays until it is freed. The device goes back to its default pool.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (pool == NULL || pool == &defaults[pool->device]) return errors_record(cudaErrorInvalidValue);
  if (chosen[pool->device] == pool) chosen[pool->device] = NULL;
  free(pool);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  if (pool == NULL || device < 0 || device >= devices_count()) {
    return errors_record(cudaErrorInvalidValue);
  }
  begin(&defaults[device], device);
  *pool = &defaults[device];
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
  const cudaError_t error = cudaDeviceGetDefaultMemPool(pool, device);
  if (error == cudaSuccess && chosen[device] != NULL) *pool = chosen[device];
  return error;
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (pool == NULL || device < 0 || device >= devices_count() || pool->device != device) {
    return errors_record(cudaErrorInvalidValue);
  }
  chosen[device] = pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                    void *value) {
  if (pool == NULL || value == NULL || (unsigned)attribute >= 16) {
    return errors_record(cudaErrorInvalidValue);
  }
  const bool is_int = attribute <= cudaMemPoolReuseAllowInternalDependencies;
  memcpy(&pool->values[attribute], value, is_int ? sizeof(int) : sizeof(uint64_t));
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                    void *value) {
  if (pool == NULL || value == NULL || (unsigned)attribute >= 16) {
    return errors_record(cudaErrorInvalidValue);
  }
  const bool is_int = attribute <= cudaMemPoolReuseAllowInternalDependencies;
  memcpy(value, &pool->values[attribute], is_int ? sizeof(int) : sizeof(uint64_t));
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *who,
                                 size_t count) {
  if (pool == NULL || (who == NULL && count > 0)) return errors_record(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) {
    const int device = who[i].location.id;
    if (who[i].location.type != cudaMemLocationTypeDevice || device < 0 ||
        device >= devices_count()) {
      return errors_record(cudaErrorInvalidValue);
    }
    const bool may = who[i].flags == cudaMemAccessFlagsProtReadWrite;
    if (device != pool->device && !devices_share(device, pool->device, may)) {
      return errors_record(cudaErrorInvalidDevice);
    }
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
  (void)bytes;
  return pool != NULL ? cudaSuccess : errors_record(cudaErrorInvalidValue);
}
cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  if (pool == NULL) return errors_record(cudaErrorInvalidValue);
  const int current = devices_current();
  cudaSetDevice(pool->device);
  const cudaError_t error = cudaMallocAsync(pointer, bytes, stream);
  cudaSetDevice(current);
  return error;
}
