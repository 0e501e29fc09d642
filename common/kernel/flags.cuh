// A word of device memory by which a stream tells a kernel under way how far the copies before it have come. The kernel
// polls the word. The work that it waits for must need no multiprocessor, because the kernel may hold all of them, and
// it must have been enqueued before the kernel: CUDA does not know that the kernel waits, and might begin that work
// only when the kernel has ended (CUDA Driver API, "Stream Memory Operations", warning).
#ifndef FLAGS_CUH
#define FLAGS_CUH

#include "kernel.cuh"
#include <cuda.h>

#ifndef __CUDACC__
#include "flag_functions.h" // of the emulator: the same function, without PTX
#else

// Returns the value of a flag as soon as it is at least `least`. The copies that were enqueued before the stream wrote
// this value have then arrived, for the caller and for box copies that it starts: the load acquires, and the fence
// orders the copy engine of the multiprocessor after it (PTX ISA, 9.7.9.8 "ld" and 9.7.13.4 "fence").
__device__ __forceinline__ int wait_for_flag(const int *flag, int least) {
  int value;
  for (;;) {
    asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    if (value >= least) break;
    __nanosleep(100);
  }
  asm volatile("fence.proxy.async.global;" ::: "memory");
  return value;
}

#endif

// Enqueues the write of a flag. The GPU's front end carries it out without a multiprocessor, after a fence for all that
// the stream has written before (CUDA Driver API, "Stream Memory Operations": cuStreamWriteValue32, default flags).
static inline cudaError_t write_flag(int *flag, int value, cudaStream_t stream) {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult found;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &function,
                                                             12000, cudaEnableDefault, &found);
  if (error != cudaSuccess) return error;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const auto write = (decltype(&cuStreamWriteValue32))function;
  const CUresult result = write(stream, (CUdeviceptr)flag, (cuuint32_t)value, 0);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

#endif
