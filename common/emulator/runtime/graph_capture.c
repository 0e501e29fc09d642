#define _GNU_SOURCE
#include "graph_node.h"

#include "errors.h"

static _Thread_local cudaGraph_t captured;

bool graph_capturing(void) { return captured != NULL; }

cudaError_t graph_capture_launch(const emulator_launch_request *request) {
  struct CUgraphNode_st node = {.kind = NODE_LAUNCH, .request = *request};
  if (!graph_keep_arguments(&node.request)) return errors_record(cudaErrorMemoryAllocation);
  return graph_add(captured, node, NULL);
}

cudaError_t graph_capture_copy(void *destination, const void *source, size_t bytes,
                               enum cudaMemcpyKind kind) {
  return cudaGraphAddMemcpyNode1D(NULL, captured, NULL, 0, destination, source, bytes, kind);
}

cudaError_t graph_capture_fill(void *destination, int value, size_t bytes) {
  return graph_add(captured,
                   (struct CUgraphNode_st){.kind = NODE_FILL,
                                           .destination = destination,
                                           .value = (unsigned)value & 255,
                                           .value_bytes = 1,
                                           .bytes = bytes,
                                           .rows = 1},
                   NULL);
}

cudaError_t graph_capture_malloc(void **pointer, size_t bytes) {
  struct cudaMemAllocNodeParams parameters = {.bytesize = bytes};
  const cudaError_t error = cudaGraphAddMemAllocNode(NULL, captured, NULL, 0, &parameters);
  if (error == cudaSuccess) *pointer = parameters.dptr;
  return error;
}

cudaError_t graph_capture_free(void *pointer) {
  return cudaGraphAddMemFreeNode(NULL, captured, NULL, 0, pointer);
}

cudaError_t graph_capture_host(cudaHostFn_t function, void *data) {
  return graph_add(captured,
                   (struct CUgraphNode_st){.kind = NODE_HOST, .function = function, .data = data},
                   NULL);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  (void)mode;
  RETURN_IF_STICKY();
  if (captured != NULL) return errors_record(cudaErrorIllegalState);
  if (stream == NULL || stream == cudaStreamLegacy) { // the default stream cannot be captured
    return errors_record(cudaErrorStreamCaptureUnsupported);
  }
  return cudaGraphCreate(&captured, 0);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  (void)stream;
  RETURN_IF_STICKY();
  if (captured == NULL || graph == NULL) return errors_record(cudaErrorIllegalState);
  *graph = captured;
  captured = NULL;
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  if (status == NULL) return errors_record(cudaErrorInvalidValue);
  *status = captured != NULL && stream != NULL ? cudaStreamCaptureStatusActive
                                               : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
