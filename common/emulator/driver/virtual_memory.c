// Memory is a file without a name (memfd_create), and addresses are mappings that nothing may access until memory is
// mapped there and access is allowed. All devices of the process may access it then, as managed memory.
#define _GNU_SOURCE
#include "context.h"
#include "memory.h"
#include "numeric/poison.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRANULARITY = 2 * 1024 * 1024 };

typedef struct {
  int file;
  size_t bytes;
  CUmemAllocationProp prop;
} allocation;

static void *at(CUdeviceptr pointer) { return (void *)(uintptr_t)pointer; }

static bool is_whole(size_t bytes) { return bytes > 0 && bytes % GRANULARITY == 0; }

static CUresult check(const CUmemAllocationProp *prop) {
  if (prop == NULL || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  return prop->location.id >= 0 && prop->location.id < devices_count() ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
  (void)option;
  if (bytes == NULL) return CUDA_ERROR_INVALID_VALUE;
  *bytes = GRANULARITY;
  return context_driver_ready() == CUDA_SUCCESS ? check(prop) : context_driver_ready();
}

static CUresult give(CUmemGenericAllocationHandle *handle, allocation own) {
  allocation *made = malloc(sizeof *made);
  if (made == NULL) {
    close(own.file);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *made = own;
  *handle = (CUmemGenericAllocationHandle)(uintptr_t)made;
  return CUDA_SUCCESS;
}

static const allocation *of(CUmemGenericAllocationHandle handle) {
  return (const allocation *)(uintptr_t)handle;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (handle == NULL || flags != 0 || !is_whole(bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (check(prop) != CUDA_SUCCESS) return check(prop);
  const int file = memfd_create("cuda memory", MFD_CLOEXEC);
  void *all = MAP_FAILED;
  if (file >= 0 && ftruncate(file, (off_t)bytes) == 0)
    all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (all == MAP_FAILED) {
    if (file >= 0) close(file);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (!memory_begins_at_zero()) poison_fill(all, bytes, POISON_DEVICE);
  munmap(all, bytes);
  return give(handle, (allocation){file, bytes, *prop});
}

// Mapped memory stays until it is unmapped.
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  if (handle == 0) return CUDA_ERROR_INVALID_VALUE;
  close(of(handle)->file);
  free((void *)(uintptr_t)handle);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle) {
  if (prop == NULL || handle == 0) return CUDA_ERROR_INVALID_VALUE;
  *prop = of(handle)->prop;
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  if (shareable == NULL || handle == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  if ((of(handle)->prop.requestedHandleTypes & type) == 0) return CUDA_ERROR_INVALID_VALUE;
  const int file = dup(of(handle)->file);
  if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  memcpy(shareable, &file, sizeof file);
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                        CUmemAllocationHandleType type) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (handle == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  struct stat status;
  const int file = dup((int)(intptr_t)shareable);
  if (file < 0 || fstat(file, &status) != 0 || !is_whole((size_t)status.st_size)) {
    if (file >= 0) close(file);
    return CUDA_ERROR_INVALID_VALUE;
  }
  const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .requestedHandleTypes = type,
                                    .location = {CU_MEM_LOCATION_TYPE_DEVICE, devices_current()}};
  return give(handle, (allocation){file, (size_t)status.st_size, prop});
}

// ---- Addresses ----------------------------------------------------------------------------------

// Ranges of addresses that the program has reserved: nothing else may be mapped, unmapped or opened.
typedef struct range {
  struct range *next;
  uintptr_t start;
  size_t bytes;
} range;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static range *reserved;

static bool is_reserved(CUdeviceptr start, size_t bytes) {
  pthread_mutex_lock(&mutex);
  const range *found = reserved;
  while (found != NULL &&
         (start < found->start || bytes > found->bytes - (size_t)(start - found->start) ||
          start - found->start >= found->bytes))
    found = found->next;
  pthread_mutex_unlock(&mutex);
  return found != NULL;
}

CUresult cuMemAddressReserve(CUdeviceptr *start, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
  (void)wanted; // a hint
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (alignment < GRANULARITY) alignment = GRANULARITY;
  if (start == NULL || flags != 0 || !is_whole(bytes) || (alignment & (alignment - 1)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  range *made = malloc(sizeof *made);
  char *low =
      mmap(NULL, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == NULL || low == MAP_FAILED) {
    free(made);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const size_t before = (alignment - (uintptr_t)low % alignment) % alignment;
  if (before > 0) munmap(low, before);
  if (before < alignment) munmap(low + before + bytes, alignment - before);
  pthread_mutex_lock(&mutex);
  *made = (range){reserved, (uintptr_t)low + before, bytes};
  reserved = made;
  pthread_mutex_unlock(&mutex);
  *start = made->start;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr start, size_t bytes) {
  pthread_mutex_lock(&mutex);
  range **link = &reserved;
  while (*link != NULL && ((*link)->start != start || (*link)->bytes != bytes))
    link = &(*link)->next;
  range *gone = *link;
  if (gone != NULL) *link = gone->next;
  pthread_mutex_unlock(&mutex);
  if (gone == NULL) return CUDA_ERROR_INVALID_VALUE;
  munmap(at(start), bytes);
  free(gone);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr start, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (handle == 0 || flags != 0 || start % GRANULARITY != 0 || !is_whole(bytes) ||
      offset % GRANULARITY != 0 || offset > of(handle)->bytes ||
      bytes > of(handle)->bytes - offset || !is_reserved(start, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  void *mapped =
      mmap(at(start), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, of(handle)->file, (off_t)offset);
  return mapped != MAP_FAILED ? CUDA_SUCCESS : CUDA_ERROR_MAP_FAILED;
}

CUresult cuMemUnmap(CUdeviceptr start, size_t bytes) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (start % GRANULARITY != 0 || !is_whole(bytes) || !is_reserved(start, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = CALL_RUNTIME(cudaDeviceSynchronize());
  memory_allocation found;
  for (CUdeviceptr part = start; part < start + bytes; part += GRANULARITY)
    if (memory_find(at(part), &found)) memory_remove_mapped(at(found.start));
  mmap(at(start), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  return result;
}

CUresult cuMemSetAccess(CUdeviceptr start, size_t bytes, const CUmemAccessDesc *access,
                        size_t count) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (access == NULL || count == 0 || start % GRANULARITY != 0 || !is_whole(bytes) ||
      !is_reserved(start, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  unsigned flags = 0;
  for (size_t i = 0; i < count; i++) flags |= access[i].flags;
  const int protection = flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE
                         : flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? PROT_READ
                                                                     : PROT_NONE;
  memory_remove_mapped(at(start));
  if (mprotect(at(start), bytes, protection) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (protection == PROT_NONE) return CUDA_SUCCESS;
  return memory_add_mapped(at(start), bytes) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
