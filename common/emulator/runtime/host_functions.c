// Host functions that need nothing of their own: memory of the host, pitched rows, callbacks, and hints, which change
// nothing on a CPU.
#define _GNU_SOURCE
#include "devices.h"
#include "emulator.h"
#include "errors.h"
#include "graph.h"
#include "memory.h"

// ---- Memory of the host -------------------------------------------------------------------------

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags) {
  (void)flags;
  RETURN_IF_STICKY();
  if (pointer == NULL || bytes == 0) return errors_record(cudaErrorInvalidValue);
  memory_allocation known;
  if (memory_find(pointer, &known)) return errors_record(cudaErrorHostMemoryAlreadyRegistered);
  return memory_register_host(pointer, bytes) ? cudaSuccess
                                              : errors_record(cudaErrorMemoryAllocation);
}

cudaError_t cudaHostUnregister(void *pointer) {
  RETURN_IF_STICKY();
  return memory_unregister_host(pointer) ? cudaSuccess
                                         : errors_record(cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags) {
  (void)flags;
  RETURN_IF_STICKY();
  memory_allocation found;
  if (device == NULL || !memory_find(host, &found)) return errors_record(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host) {
  RETURN_IF_STICKY();
  memory_allocation found;
  if (flags == NULL || !memory_find(host, &found) || found.kind != MEMORY_HOST) {
    return errors_record(cudaErrorInvalidValue);
  }
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}

// ---- Rows at a pitch ----------------------------------------------------------------------------

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  enum { PITCH = 512 }; // what an H200 gives
  if (pitch == NULL) return errors_record(cudaErrorInvalidValue);
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  return cudaMalloc(pointer, *pitch * height);
}

cudaError_t cudaMemcpy2DAsync(void *destination, size_t destination_pitch, const void *source,
                              size_t source_pitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream) {
  RETURN_IF_STICKY();
  if (width > destination_pitch || width > source_pitch) {
    return errors_record(cudaErrorInvalidPitchValue);
  }
  cudaError_t error = cudaSuccess;
  for (size_t row = 0; row < height && error == cudaSuccess; row++) {
    error = cudaMemcpyAsync((char *)destination + row * destination_pitch,
                            (const char *)source + row * source_pitch, width, kind, stream);
  }
  return error;
}

cudaError_t cudaMemcpy2D(void *destination, size_t destination_pitch, const void *source,
                         size_t source_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpy2DAsync(destination, destination_pitch, source, source_pitch,
                                              width, height, kind, NULL);
  return error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
}

cudaError_t cudaMemset2DAsync(void *destination, size_t pitch, int value, size_t width,
                              size_t height, cudaStream_t stream) {
  RETURN_IF_STICKY();
  if (width > pitch) return errors_record(cudaErrorInvalidPitchValue);
  cudaError_t error = cudaSuccess;
  for (size_t row = 0; row < height && error == cudaSuccess; row++) {
    error = cudaMemsetAsync((char *)destination + row * pitch, value, width, stream);
  }
  return error;
}

cudaError_t cudaMemset2D(void *destination, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(destination, pitch, value, width, height, NULL);
}

// ---- Callbacks ----------------------------------------------------------------------------------

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
  RETURN_IF_STICKY();
  if (function == NULL) return errors_record(cudaErrorInvalidValue);
  if (graph_takes(stream)) return graph_capture_host(function, data);
  const cudaError_t error = cudaStreamSynchronize(stream);
  if (error == cudaSuccess) function(data);
  return error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data,
                                  unsigned int flags) {
  (void)flags;
  if (function == NULL) return errors_record(cudaErrorInvalidValue);
  function(stream, cudaStreamSynchronize(stream), data);
  return cudaSuccess;
}

// ---- Hints --------------------------------------------------------------------------------------

static size_t limits[8] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0};

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  if ((unsigned)limit >= sizeof limits / sizeof *limits) {
    return errors_record(cudaErrorUnsupportedLimit);
  }
  limits[limit] = value;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
  if (value == NULL || (unsigned)limit >= sizeof limits / sizeof *limits) {
    return errors_record(cudaErrorUnsupportedLimit);
  }
  *value = limits[limit];
  return cudaSuccess;
}

static enum cudaFuncCache cache_config = cudaFuncCachePreferNone;
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
  if ((unsigned)config > cudaFuncCachePreferEqual) return errors_record(cudaErrorInvalidValue);
  cache_config = config;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config) {
  if (config == NULL) return errors_record(cudaErrorInvalidValue);
  *config = cache_config;
  return cudaSuccess;
}
// All GPUs since compute capability 5 have banks of four bytes, whatever a program asks for.
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config) {
  if (config == NULL) return errors_record(cudaErrorInvalidValue);
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
  (void)config;
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config) {
  (void)config;
  return kernel != NULL ? cudaSuccess : errors_record(cudaErrorInvalidDeviceFunction);
}
cudaError_t cudaFuncSetSharedMemConfig(const void *kernel, enum cudaSharedMemConfig config) {
  (void)config;
  return kernel != NULL ? cudaSuccess : errors_record(cudaErrorInvalidDeviceFunction);
}
static unsigned device_flags;
cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  device_flags = flags;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned int *flags) {
  if (flags == NULL) return errors_record(cudaErrorInvalidValue);
  *flags = device_flags;
  return cudaSuccess;
}
cudaError_t cudaInitDevice(int device, unsigned int flags, unsigned int which) {
  if (device < 0 || device >= devices_count()) return errors_record(cudaErrorInvalidDevice);
  return (which & cudaInitDeviceFlagsAreValid) != 0 ? cudaSetDeviceFlags(flags) : cudaSuccess;
}
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted) {
  (void)wanted;
  if (device == NULL) return errors_record(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaSuccess; }
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue *value) {
  (void)stream;
  (void)attribute;
  return value != NULL ? cudaSuccess : errors_record(cudaErrorInvalidValue);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned int flags) {
  (void)stream;
  (void)bytes;
  (void)flags;
  memory_allocation found;
  return memory_find(pointer, &found) ? cudaSuccess : errors_record(cudaErrorInvalidValue);
}
