// Finds calls of CUDA that a launch may not make on the host. By its interface (attention.h) a step enqueues its work on the stream that it is
// given, and returns without waiting. So it neither waits nor allocates, and does nothing on another stream. On the
// emulator with one GPU, where each call does its work at once, a wrong stream changes no result.
#ifndef WATCHED_CALLS_H
#define WATCHED_CALLS_H

#include <cuda_runtime_api.h>

// Watches the calls of CUDA that the program makes from here on, until the end is called. That returns the name of the
// first one that waited, allocated, or enqueued something on another stream than this one; NULL: there was none.
void watched_calls_begin(cudaStream_t stream);
const char *watched_calls_end(void);

// Notes a call that enqueues something. A function that stands in for one of CUDA's says this.
void watched_call(const char *name, cudaStream_t stream);

#endif
