// Memory and copies, whose work the runtime API does.
#include "memory.h"
#include "context.h"

#include <stdlib.h>

static void *at(CUdeviceptr pointer) { return (void *)(uintptr_t)pointer; }

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  return IN_CONTEXT(cudaMemGetInfo(free_bytes, total_bytes));
}

// The driver refuses 0 bytes, and the runtime gives NULL for them.
CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return IN_CONTEXT(cudaMalloc((void **)pointer, bytes));
}

CUresult cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                         unsigned int element_bytes) {
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
    return CUDA_ERROR_INVALID_VALUE;
  return IN_CONTEXT(cudaMallocPitch((void **)pointer, pitch, width, height));
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return IN_CONTEXT(cudaMallocManaged((void **)pointer, bytes, flags));
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
  return IN_CONTEXT(cudaMallocAsync((void **)pointer, bytes, stream));
}

CUresult cuMemFree(CUdeviceptr pointer) { return IN_CONTEXT(cudaFree(at(pointer))); }

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return IN_CONTEXT(cudaFreeAsync(at(pointer), stream));
}

CUresult cuMemGetAddressRange(CUdeviceptr *start, size_t *bytes, CUdeviceptr pointer) {
  if (context_ready() != CUDA_SUCCESS) return context_ready();
  memory_allocation found;
  if (!memory_find(at(pointer), &found)) return CUDA_ERROR_NOT_FOUND;
  if (start != NULL) *start = found.start;
  if (bytes != NULL) *bytes = found.bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost(void **pointer, size_t bytes) {
  return IN_CONTEXT(cudaMallocHost(pointer, bytes));
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
  return IN_CONTEXT(cudaHostAlloc(pointer, bytes, flags));
}

CUresult cuMemFreeHost(void *pointer) { return IN_CONTEXT(cudaFreeHost(pointer)); }

CUresult cuMemHostGetDevicePointer(CUdeviceptr *device, void *host, unsigned int flags) {
  return IN_CONTEXT(cudaHostGetDevicePointer((void **)device, host, flags));
}

CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned int flags) {
  return IN_CONTEXT(cudaHostRegister(pointer, bytes, flags));
}

CUresult cuMemHostUnregister(void *pointer) { return IN_CONTEXT(cudaHostUnregister(pointer)); }

// ---- Copies -------------------------------------------------------------------------------------

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return IN_CONTEXT(cudaMemcpy(at(to), at(from), bytes, cudaMemcpyDefault));
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return IN_CONTEXT(cudaMemcpy(at(to), from, bytes, cudaMemcpyHostToDevice));
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return IN_CONTEXT(cudaMemcpy(to, at(from), bytes, cudaMemcpyDeviceToHost));
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return IN_CONTEXT(cudaMemcpy(at(to), at(from), bytes, cudaMemcpyDeviceToDevice));
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return IN_CONTEXT(cudaMemcpyAsync(at(to), at(from), bytes, cudaMemcpyDefault, stream));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  return IN_CONTEXT(cudaMemcpyAsync(at(to), from, bytes, cudaMemcpyHostToDevice, stream));
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return IN_CONTEXT(cudaMemcpyAsync(to, at(from), bytes, cudaMemcpyDeviceToHost, stream));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return IN_CONTEXT(cudaMemcpyAsync(at(to), at(from), bytes, cudaMemcpyDeviceToDevice, stream));
}

// Where a copy of rows begins; NULL for an array.
static void *corner(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch, size_t x,
                    size_t y) {
  if (type == CU_MEMORYTYPE_HOST) return (char *)(uintptr_t)host + y * pitch + x;
  if (type == CU_MEMORYTYPE_ARRAY) return NULL;
  return at(device + y * pitch + x);
}

static enum cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (to == CU_MEMORYTYPE_HOST)
    return from == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
  return from == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  if (copy == NULL) return CUDA_ERROR_INVALID_VALUE;
  void *to = corner(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstPitch,
                    copy->dstXInBytes, copy->dstY);
  const void *from = corner(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcPitch,
                            copy->srcXInBytes, copy->srcY);
  if (to == NULL || from == NULL) return CUDA_ERROR_NOT_SUPPORTED; // there are no textures
  return IN_CONTEXT(cudaMemcpy2DAsync(to, copy->dstPitch, from, copy->srcPitch, copy->WidthInBytes,
                                      copy->Height,
                                      kind_of(copy->dstMemoryType, copy->srcMemoryType), stream));
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
  const CUresult result = cuMemcpy2DAsync(copy, NULL);
  return result == CUDA_SUCCESS ? CALL_RUNTIME(cudaStreamSynchronize(NULL)) : result;
}

// ---- Fills --------------------------------------------------------------------------------------

CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream) {
  return IN_CONTEXT(cudaMemsetAsync(at(pointer), value, count, stream));
}

CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count) {
  return IN_CONTEXT(cudaMemset(at(pointer), value, count));
}

// Elements of several bytes are copied from memory that holds as many of them.
static CUresult fill(CUdeviceptr pointer, const void *element, size_t bytes, size_t count,
                     CUstream stream) {
  if (pointer % bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  if (count == 0) return context_ready();
  char *elements = malloc(count * bytes);
  if (elements == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < count * bytes; i++) elements[i] = ((const char *)element)[i % bytes];
  const CUresult result = cuMemcpyHtoDAsync(pointer, elements, count * bytes, stream);
  free(elements);
  return result;
}

CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream) {
  return fill(pointer, &value, sizeof value, count, stream);
}

CUresult cuMemsetD32(CUdeviceptr pointer, unsigned int value, size_t count) {
  return fill(pointer, &value, sizeof value, count, NULL);
}

CUresult cuMemsetD16(CUdeviceptr pointer, unsigned short value, size_t count) {
  return fill(pointer, &value, sizeof value, count, NULL);
}
