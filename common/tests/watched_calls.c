// Functions that stand in for those of CUDA, as in failing_calls.c.
#define _GNU_SOURCE
#include "tests/watched_calls.h"

#include "tests/failing_calls.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static bool watching;
static cudaStream_t given;
static const char *first;

void watched_calls_begin(cudaStream_t stream) {
  watching = true;
  given = stream;
  first = NULL;
}

const char *watched_calls_end(void) {
  watching = false;
  return first;
}

static void note(const char *name) {
  if (watching && !first) first = name;
}

void watched_call(const char *name, cudaStream_t stream) {
  if (stream != given) note(name);
}

// A function that a launch may not call.
#define FORBIDDEN_CALL(NAME, PARAMETERS, ARGUMENTS)                                                \
  cudaError_t NAME PARAMETERS {                                                                    \
    static void *found;                                                                            \
    cudaError_t(*real) PARAMETERS;                                                                 \
    if (!found) found = dlsym(RTLD_NEXT, #NAME);                                                   \
    memcpy(&real, &found, sizeof real);                                                            \
    note(#NAME);                                                                                   \
    return real ARGUMENTS;                                                                         \
  }

FORBIDDEN_CALL(cudaDeviceSynchronize, (void), ())
FORBIDDEN_CALL(cudaStreamSynchronize, (cudaStream_t stream), (stream))
FORBIDDEN_CALL(cudaEventSynchronize, (cudaEvent_t event), (event))
FORBIDDEN_CALL(cudaMalloc, (void **pointer, size_t bytes), (pointer, bytes))
FORBIDDEN_CALL(cudaFree, (void *pointer), (pointer))
FORBIDDEN_CALL(cudaMemset, (void *to, int value, size_t bytes), (to, value, bytes))
FORBIDDEN_CALL(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
               (to, from, bytes, kind))
// A variable of the device is shared by the launches of all streams.
FORBIDDEN_CALL(cudaMemcpyToSymbol,
               (const void *symbol, const void *from, size_t bytes, size_t offset,
                enum cudaMemcpyKind kind),
               (symbol, from, bytes, offset, kind))

// A launch of a kernel fails, when it is to, with an error that CUDA remembers, as it does that of any launch, because a
// step may ask for it later: there is no device -1.
#define KERNEL_LAUNCH "the launch of a kernel"

#ifdef EMULATOR_API
#include "emulator.h"

cudaError_t emulator_launch(const emulator_launch_request *request) {
  static void *found;
  cudaError_t (*real)(const emulator_launch_request *);
  if (!found) found = dlsym(RTLD_NEXT, "emulator_launch");
  memcpy(&real, &found, sizeof real);
  watched_call(KERNEL_LAUNCH, request->stream);
  if (failing_call(KERNEL_LAUNCH)) return cudaSetDevice(-1);
  return real(request);
}
#else
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  static void *found;
  cudaError_t (*real)(const void *, dim3, dim3, void **, size_t, cudaStream_t);
  if (!found) found = dlsym(RTLD_NEXT, "cudaLaunchKernel");
  memcpy(&real, &found, sizeof real);
  watched_call(KERNEL_LAUNCH, stream);
  if (failing_call(KERNEL_LAUNCH)) return cudaSetDevice(-1);
  return real(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                void **arguments) {
  static void *found;
  cudaError_t (*real)(const cudaLaunchConfig_t *, const void *, void **);
  if (!found) found = dlsym(RTLD_NEXT, "cudaLaunchKernelExC");
  memcpy(&real, &found, sizeof real);
  watched_call(KERNEL_LAUNCH, config->stream);
  return failing_call(KERNEL_LAUNCH) ? cudaSetDevice(-1) : real(config, kernel, arguments);
}
#endif
