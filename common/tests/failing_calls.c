// The functions of CUDA that steps call on the host to launch something. A program's own function comes before that of
// a library, so the steps that are linked into a test program call these.
#define _GNU_SOURCE
#include "tests/failing_calls.h"
#include "tests/watched_calls.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <string.h>

static int left; // calls until one fails; 0: none does
static const char *failed;

void failing_calls_begin(int number) {
  left = number;
  failed = NULL;
}

const char *failing_calls_end(void) {
  left = 0;
  return failed;
}

bool failing_call(const char *name) {
  if (left == 0 || --left > 0) return false;
  failed = name;
  return true;
}

#define FAILING_CALL(NAME, PARAMETERS, ARGUMENTS)                                                  \
  FAILING_FUNCTION(cudaError_t, cudaErrorUnknown, NAME, PARAMETERS, ARGUMENTS)
// The same for a function that enqueues something on a stream.
#define FAILING_CALL_ON(STREAM, NAME, PARAMETERS, ARGUMENTS)                                       \
  FAILING_FUNCTION_THAT(watched_call(#NAME, STREAM);                                               \
                        , cudaError_t, cudaErrorUnknown, NAME, PARAMETERS, ARGUMENTS)

FAILING_CALL(cudaGetLastError, (void), ())
FAILING_CALL(cudaFuncSetAttribute,
             (const void *kernel, enum cudaFuncAttribute attribute, int value),
             (kernel, attribute, value))
FAILING_CALL(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
             (stream, status))
FAILING_CALL_ON(stream, cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream),
                (to, value, bytes, stream))
FAILING_CALL_ON(stream, cudaMemcpyAsync,
                (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                 cudaStream_t stream),
                (to, from, bytes, kind, stream))
FAILING_CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags))
FAILING_CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
FAILING_CALL(cudaEventDestroy, (cudaEvent_t event), (event))
FAILING_CALL(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
             (stream, event, flags))
