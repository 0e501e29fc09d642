// The capture of streams into a graph (CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture").
#define _GNU_SOURCE
#include "graph_node.h"

#include "errors.h"
#include "queue.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { STREAMS_MAX = 64 };

// The first stream is that of cudaStreamBeginCapture. The operations of each other one must be joined: one of the streams
// waits for an event that was recorded behind them.
typedef struct {
  cudaGraph_t graph;
  unsigned number; // which its events hold
  enum cudaStreamCaptureMode mode;
  bool invalid; // because of a call that is not permitted
  unsigned count;
  struct {
    cudaStream_t stream;
    unsigned operations, joined;
  } streams[STREAMS_MAX];
} stream_capture;

static _Thread_local stream_capture *capture; // of the host thread; NULL when it captures nothing

// Returns the stream's number in the capture, and `count` if it is not captured.
static unsigned find(cudaStream_t stream) {
  unsigned i = 0;
  while (i < capture->count && capture->streams[i].stream != stream) i++;
  return i;
}

static bool captured(cudaStream_t stream) {
  return capture != NULL && find(stream) < capture->count;
}

bool graph_takes(cudaStream_t stream) {
  if (!captured(stream)) return false;
  capture->streams[find(stream)].operations++;
  return true;
}

// ---- Operations ---------------------------------------------------------------------------------

cudaError_t graph_capture_launch(const emulator_launch_request *request) {
  struct CUgraphNode_st node = {.kind = NODE_LAUNCH, .request = *request};
  if (!graph_keep_arguments(&node.request)) return errors_record(cudaErrorMemoryAllocation);
  return graph_add(capture->graph, node, NULL, 0, NULL);
}

cudaError_t graph_capture_copy(void *destination, const void *source, size_t bytes,
                               enum cudaMemcpyKind kind) {
  return cudaGraphAddMemcpyNode1D(NULL, capture->graph, NULL, 0, destination, source, bytes, kind);
}

cudaError_t graph_capture_fill(void *destination, int value, size_t bytes) {
  return graph_add(capture->graph,
                   (struct CUgraphNode_st){.kind = NODE_FILL,
                                           .destination = destination,
                                           .value = (unsigned)value & 255,
                                           .value_bytes = 1,
                                           .bytes = bytes,
                                           .rows = 1},
                   NULL, 0, NULL);
}

cudaError_t graph_capture_malloc(void **pointer, size_t bytes) {
  struct cudaMemAllocNodeParams parameters = {.bytesize = bytes};
  const cudaError_t error = cudaGraphAddMemAllocNode(NULL, capture->graph, NULL, 0, &parameters);
  if (error == cudaSuccess) *pointer = parameters.dptr;
  return error;
}

cudaError_t graph_capture_free(void *pointer) {
  return cudaGraphAddMemFreeNode(NULL, capture->graph, NULL, 0, pointer);
}

cudaError_t graph_capture_host(cudaHostFn_t function, void *data) {
  return graph_add(capture->graph,
                   (struct CUgraphNode_st){.kind = NODE_HOST, .function = function, .data = data},
                   NULL, 0, NULL);
}

// ---- Events -------------------------------------------------------------------------------------

void graph_capture_record(cudaEvent_t event, cudaStream_t stream, bool *done) {
  *done = captured(stream);
  event->capture = *done ? capture->number : 0;
  if (!*done) return;
  event->captured_in = find(stream);
  event->captured_operations = capture->streams[event->captured_in].operations;
}

static cudaError_t invalidate(cudaError_t error) {
  capture->invalid = true;
  return errors_record(error);
}

cudaError_t graph_capture_wait(cudaStream_t stream, cudaEvent_t event, bool *done) {
  const bool of_capture = capture != NULL && event->capture == capture->number;
  *done = of_capture;
  if (!of_capture) {
    if (event->capture != 0) return errors_record(cudaErrorStreamCaptureIsolation);
    return captured(stream) && event->recorded ? invalidate(cudaErrorStreamCaptureIsolation)
                                               : cudaSuccess;
  }
  const unsigned from = event->captured_in, to = find(stream);
  if (to == STREAMS_MAX) return invalidate(cudaErrorNotSupported);
  if (to == capture->count) {
    capture->streams[capture->count++].stream = stream;
    capture->streams[to].operations = capture->streams[to].joined = 0;
  }
  unsigned *const joined = &capture->streams[from].joined;
  if (event->captured_operations > *joined) {
    *joined = event->captured_operations;
    if (from != 0 && to != 0) capture->streams[to].operations++; // which must be joined in its turn
  }
  return cudaSuccess;
}

// ---- What is not permitted ----------------------------------------------------------------------

// Whether the stream is the legacy one, and one of those that are captured waits for it.
static bool is_waited_for(cudaStream_t stream) {
  if (capture == NULL || (stream != NULL && stream != cudaStreamLegacy)) return false;
  for (unsigned i = 0; i < capture->count; i++) {
    const cudaStream_t it = capture->streams[i].stream;
    if (it == cudaStreamPerThread || it->flags == cudaStreamDefault) return true;
  }
  return false;
}

cudaError_t graph_refuses_implicit(cudaStream_t stream) {
  return is_waited_for(stream) ? invalidate(cudaErrorStreamCaptureImplicit) : cudaSuccess;
}

cudaError_t graph_refuses_wait(cudaStream_t stream) {
  return captured(stream) ? invalidate(cudaErrorStreamCaptureUnsupported)
                          : graph_refuses_implicit(stream);
}

cudaError_t graph_refuses_wait_for_all(void) {
  return capture != NULL ? invalidate(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t graph_refuses_unsafe_call(void) {
  const bool permitted = capture == NULL || capture->mode == cudaStreamCaptureModeRelaxed;
  return permitted ? cudaSuccess : graph_refuses_wait_for_all();
}

cudaError_t graph_refuses_event(cudaEvent_t event) {
  if (event->capture == 0) return cudaSuccess;
  if (capture != NULL && event->capture == capture->number) capture->invalid = true;
  return errors_record(cudaErrorCapturedEvent);
}

// ---- Its beginning and its end ------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  static atomic_uint captures;
  RETURN_IF_STICKY();
  if (capture != NULL) return errors_record(cudaErrorIllegalState);
  if (stream == NULL || stream == cudaStreamLegacy) { // the default stream cannot be captured
    return errors_record(cudaErrorStreamCaptureUnsupported);
  }
  stream_capture *const begun = calloc(1, sizeof *begun);
  if (begun == NULL) return errors_record(cudaErrorMemoryAllocation);
  begun->number = ++captures;
  begun->mode = mode;
  begun->count = 1;
  begun->streams[0].stream = stream;
  const cudaError_t error = cudaGraphCreate(&begun->graph, 0);
  if (error == cudaSuccess) {
    capture = begun;
  } else {
    free(begun);
  }
  return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  RETURN_IF_STICKY();
  if (capture == NULL || graph == NULL) return errors_record(cudaErrorIllegalState);
  if (stream != capture->streams[0].stream) return errors_record(cudaErrorStreamCaptureUnmatched);
  cudaError_t error = capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  for (unsigned i = 1; i < capture->count && error == cudaSuccess; i++)
    if (capture->streams[i].operations > capture->streams[i].joined)
      error = cudaErrorStreamCaptureUnjoined;
  *graph = capture->graph;
  (*graph)->captured = true;
  free(capture);
  capture = NULL;
  if (error == cudaSuccess) return cudaSuccess;
  cudaGraphDestroy(*graph);
  *graph = NULL;
  return errors_record(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  if (status == NULL) return errors_record(cudaErrorInvalidValue);
  if (is_waited_for(stream)) return errors_record(cudaErrorStreamCaptureImplicit);
  *status = !captured(stream)  ? cudaStreamCaptureStatusNone
            : capture->invalid ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
