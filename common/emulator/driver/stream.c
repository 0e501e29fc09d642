// Streams and events, which are those of the runtime API.
#include "context.h"

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
  return IN_CONTEXT(cudaStreamCreateWithFlags(stream, flags));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
  return IN_CONTEXT(cudaStreamCreateWithPriority(stream, flags, priority));
}

CUresult cuStreamDestroy(CUstream stream) { return IN_CONTEXT(cudaStreamDestroy(stream)); }

CUresult cuStreamSynchronize(CUstream stream) { return IN_CONTEXT(cudaStreamSynchronize(stream)); }

CUresult cuStreamQuery(CUstream stream) { return IN_CONTEXT(cudaStreamQuery(stream)); }

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return IN_CONTEXT(cudaStreamWaitEvent(stream, event, flags));
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  return IN_CONTEXT(cudaLaunchHostFunc(stream, function, data));
}

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
  return IN_CONTEXT(cudaEventCreateWithFlags(event, flags));
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return IN_CONTEXT(cudaEventRecord(event, stream));
}

CUresult cuEventSynchronize(CUevent event) { return IN_CONTEXT(cudaEventSynchronize(event)); }

CUresult cuEventQuery(CUevent event) { return IN_CONTEXT(cudaEventQuery(event)); }

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  return IN_CONTEXT(cudaEventElapsedTime(milliseconds, start, end));
}

CUresult cuEventDestroy(CUevent event) { return IN_CONTEXT(cudaEventDestroy(event)); }
