// The host functions that allocate, free and describe memory.
#define _GNU_SOURCE
#include "devices.h"
#include "errors.h"
#include "graph.h"
#include "memory.h"
#include "observer.h"
#include "queue.h"

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
  const cudaError_t refused = graph_refuses_unsafe_call();
  if (refused != cudaSuccess) return refused;
  return memory_allocate(pointer, bytes, MEMORY_DEVICE);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
  if (pointer != NULL && graph_takes(stream)) return graph_capture_malloc(pointer, bytes);
  return memory_allocate(pointer, bytes, MEMORY_DEVICE);
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
    return errors_record(cudaErrorInvalidValue);
  }
  return memory_allocate(pointer, bytes, MEMORY_MANAGED);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
  (void)flags;
  return memory_allocate(pointer, bytes, MEMORY_HOST);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
  return memory_allocate(pointer, bytes, MEMORY_HOST);
}

// As on a GPU, work that may use the memory is done first.
cudaError_t cudaFree(void *pointer) {
  if (devices_several() && pointer != NULL) queue_wait_device(devices_current());
  if (pointer != NULL) observer_launches_apart();
  return memory_deallocate(pointer, false);
}

// Memory that several devices share in queues is freed when its stream's work is done, at once and not later.
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
  if (pointer != NULL && graph_takes(stream)) return graph_capture_free(pointer);
  if (devices_several() && pointer != NULL) queue_wait(queue_end(stream));
  return memory_deallocate(pointer, false);
}

cudaError_t cudaFreeHost(void *pointer) {
  if (devices_several() && pointer != NULL) queue_wait_device(devices_current());
  return memory_deallocate(pointer, true);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  RETURN_IF_STICKY();
  if (free_bytes == NULL || total_bytes == NULL) return errors_record(cudaErrorInvalidValue);
  memory_count(free_bytes, total_bytes);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                     const void *pointer) {
  RETURN_IF_STICKY();
  if (attributes == NULL) return errors_record(cudaErrorInvalidValue);
  memory_allocation entry;
  if (!memory_find(pointer, &entry)) { // CUDA does not know this memory
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered,
                                                 .device = -2,
                                                 .hostPointer = (void *)(uintptr_t)pointer};
    return cudaSuccess;
  }
  const bool host = entry.kind == MEMORY_HOST || entry.kind == MEMORY_MANAGED;
  *attributes =
      (struct cudaPointerAttributes){.type = entry.kind == MEMORY_HOST      ? cudaMemoryTypeHost
                                             : entry.kind == MEMORY_MANAGED ? cudaMemoryTypeManaged
                                                                            : cudaMemoryTypeDevice,
                                     .device = entry.device,
                                     .devicePointer = (void *)(uintptr_t)pointer,
                                     .hostPointer = host ? (void *)(uintptr_t)pointer : NULL};
  return cudaSuccess;
}
