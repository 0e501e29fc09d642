// Stand-in for CUDA's <cuda_runtime_api.h>: the host functions that the lab and its
// readers use, with CUDA 13's signatures (CUDA Runtime API reference). C17 and C++17.
//
// Every function returns cudaSuccess or CUDA's error code; a fault inside a kernel makes all of
// them fail for its device until cudaDeviceReset. On one device a launch has finished when it returns, so that the
// functions with a stream do their work at once and streams keep their order. On several devices (EMU_GPUS) the
// work is queued, and done as late as streams and events allow.
#ifndef CUDA_RUNTIME_API_H
#define CUDA_RUNTIME_API_H

// The macros by which other headers, such as helper_cuda.h, know CUDA's.
#define __CUDA_RUNTIME_API_H__

#include "driver_types.h"
#include "vector_types.h"

#define CUDART_VERSION 13000

#define EMULATOR_API __attribute__((visibility("default")))

#ifdef __cplusplus
#define EMULATOR_DEFAULT(value) = value
extern "C" {
#else
#define EMULATOR_DEFAULT(value)
#endif

// Errors.
EMULATOR_API cudaError_t cudaGetLastError(void);
EMULATOR_API cudaError_t cudaPeekAtLastError(void);
EMULATOR_API const char *cudaGetErrorName(cudaError_t error);
EMULATOR_API const char *cudaGetErrorString(cudaError_t error);

// The devices: EMU_GPUS of them, which have the limits of the GPU that EMU_GPU names.
EMULATOR_API cudaError_t cudaGetDeviceCount(int *count);
EMULATOR_API cudaError_t cudaGetDevice(int *device);
EMULATOR_API cudaError_t cudaSetDevice(int device);
EMULATOR_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
EMULATOR_API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute,
                                                int device);
EMULATOR_API cudaError_t cudaDeviceSynchronize(void);
EMULATOR_API cudaError_t cudaDeviceReset(void);
EMULATOR_API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
EMULATOR_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
EMULATOR_API cudaError_t cudaDeviceDisablePeerAccess(int peer);
EMULATOR_API cudaError_t cudaDriverGetVersion(int *version);
EMULATOR_API cudaError_t cudaRuntimeGetVersion(int *version);

// Finds the driver's function of that name, for programs that do not link with the
// driver. The emulator has cuTensorMapEncodeTiled, of version 12000, see <cuda.h>.
EMULATOR_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char *symbol, void **function, unsigned int version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *result EMULATOR_DEFAULT(NULL));
// The form of CUDA 12, which CUDA 13 has no more.
static inline cudaError_t
cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                        enum cudaDriverEntryPointQueryResult *result EMULATOR_DEFAULT(NULL)) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 12000, flags, result);
}

// Memory.
EMULATOR_API cudaError_t cudaMalloc(void **pointer, size_t bytes);
EMULATOR_API cudaError_t cudaFree(void *pointer);
EMULATOR_API cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
EMULATOR_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
EMULATOR_API cudaError_t cudaMallocManaged(void **pointer, size_t bytes,
                                           unsigned int flags EMULATOR_DEFAULT(0x01));
EMULATOR_API cudaError_t cudaMallocHost(void **pointer, size_t bytes);
EMULATOR_API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags);
EMULATOR_API cudaError_t cudaFreeHost(void *pointer);
EMULATOR_API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
EMULATOR_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                                  const void *pointer);
EMULATOR_API cudaError_t cudaMemcpy(void *destination, const void *source, size_t bytes,
                                    enum cudaMemcpyKind kind);
EMULATOR_API cudaError_t cudaMemcpyAsync(void *destination, const void *source, size_t bytes,
                                         enum cudaMemcpyKind kind,
                                         cudaStream_t stream EMULATOR_DEFAULT(0));
EMULATOR_API cudaError_t cudaMemcpyPeer(void *destination, int to, const void *source, int from,
                                        size_t bytes);
EMULATOR_API cudaError_t cudaMemcpyPeerAsync(void *destination, int to, const void *source,
                                             int from, size_t bytes,
                                             cudaStream_t stream EMULATOR_DEFAULT(0));
EMULATOR_API cudaError_t cudaMemset(void *destination, int value, size_t bytes);
EMULATOR_API cudaError_t cudaMemsetAsync(void *destination, int value, size_t bytes,
                                         cudaStream_t stream EMULATOR_DEFAULT(0));
// `symbol` is the variable's address; C++ has overloads that take the variable (cuda_runtime.h).
EMULATOR_API cudaError_t cudaMemcpyToSymbol(
    const void *symbol, const void *source, size_t bytes, size_t offset EMULATOR_DEFAULT(0),
    enum cudaMemcpyKind kind EMULATOR_DEFAULT(cudaMemcpyHostToDevice));
EMULATOR_API cudaError_t cudaMemcpyFromSymbol(
    void *destination, const void *symbol, size_t bytes, size_t offset EMULATOR_DEFAULT(0),
    enum cudaMemcpyKind kind EMULATOR_DEFAULT(cudaMemcpyDeviceToHost));

// Streams.
EMULATOR_API cudaError_t cudaStreamCreate(cudaStream_t *stream);
EMULATOR_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
EMULATOR_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags,
                                                      int priority);
EMULATOR_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
EMULATOR_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
EMULATOR_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
EMULATOR_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
EMULATOR_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
EMULATOR_API cudaError_t cudaStreamQuery(cudaStream_t stream);
EMULATOR_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                             unsigned int flags EMULATOR_DEFAULT(0));

// Events. The time between two events is host time and says nothing about a GPU.
EMULATOR_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
EMULATOR_API cudaError_t cudaEventCreate(cudaEvent_t *event);
EMULATOR_API cudaError_t cudaEventDestroy(cudaEvent_t event);
EMULATOR_API cudaError_t cudaEventRecord(cudaEvent_t event,
                                         cudaStream_t stream EMULATOR_DEFAULT(0));
EMULATOR_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
EMULATOR_API cudaError_t cudaEventQuery(cudaEvent_t event);
EMULATOR_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                              cudaEvent_t end);

// Kernels. `kernel` is the kernel's address.
EMULATOR_API cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute,
                                              int value);
EMULATOR_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                               const void *kernel);
EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                       const void *kernel,
                                                                       int block_threads,
                                                                       size_t dynamic_shared_bytes);

#include "detail/host_functions.h"

#ifdef __cplusplus
}
#endif
#undef EMULATOR_DEFAULT

#endif
