// The order of work on two streams, for the steps for several GPUs and for the program that times them, in C.
#ifndef STREAMS_H
#define STREAMS_H

#include <cuda_runtime.h>

// Lets what will be enqueued on `stream` wait for what has been enqueued on `other`.
static inline cudaError_t wait_for(cudaStream_t stream, cudaStream_t other) {
  cudaEvent_t event;
  cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (error != cudaSuccess) return error;
  error = cudaEventRecord(event, other);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, event, 0);
  const cudaError_t destroyed = cudaEventDestroy(event); // as soon as it is no longer needed
  return error == cudaSuccess ? destroyed : error;
}

#endif
