// A GPU neither counts operations here nor lets the program choose the order of threads.
#include "device/device.h"

#include <stdlib.h>

device_counts device_counts_read(void) { return (device_counts){0}; }

void device_counts_reset(void) {}

uint64_t device_link_bytes(int from, int to) {
  (void)from, (void)to;
  return 0;
}

uint64_t device_findings(void) { return 0; }

bool device_visit_kernels(const void *function,
                          void (*visit)(const char *name, bool launched, void *context),
                          void *context) {
  (void)function, (void)visit, (void)context;
  return false;
}

bool device_set_schedule(uint64_t seed) {
  (void)seed;
  return false;
}

void device_shuffle_blocks(void) {}

bool device_bus_id(int device, char *text, size_t size) {
  return cudaDeviceGetPCIBusId(text, (int)size, device) == cudaSuccess;
}

bool device_runs_behind(void) { return true; }

struct device_graph {
  cudaStream_t own; // recorded on, where the caller gave none
  cudaGraph_t recorded;
  cudaGraphExec_t ready; // to be replayed
};

// Ends the recording in any case, because a stream that is still recording can be used for nothing
// else.
static cudaError_t record(cudaError_t (*enqueue)(void *context, cudaStream_t stream), void *context,
                          cudaStream_t stream, cudaGraph_t *recorded) {
  cudaError_t status = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  if (status != cudaSuccess) return status;
  status = enqueue(context, stream);
  const cudaError_t ended = cudaStreamEndCapture(stream, recorded);
  return status != cudaSuccess ? status : ended;
}

cudaError_t device_graph_record(cudaError_t (*enqueue)(void *context, cudaStream_t stream),
                                void *context, cudaStream_t stream, device_graph **graph) {
  *graph = calloc(1, sizeof **graph);
  if (!*graph) return cudaErrorMemoryAllocation;
  cudaError_t status = cudaSuccess;
  if (!stream) {
    status = cudaStreamCreateWithFlags(&(*graph)->own, cudaStreamNonBlocking);
    stream = (*graph)->own;
  }
  if (status == cudaSuccess) status = record(enqueue, context, stream, &(*graph)->recorded);
  if (status == cudaSuccess) {
    status = cudaGraphInstantiate(&(*graph)->ready, (*graph)->recorded, 0);
  }
  if (status == cudaSuccess) return status;
  cudaGetLastError(); // a launch that cannot be recorded may still work, so the error is cleared
  device_graph_free(*graph);
  *graph = NULL;
  return status;
}

cudaError_t device_graph_replay(const device_graph *graph, cudaStream_t stream) {
  return cudaGraphLaunch(graph->ready, stream);
}

void device_graph_free(device_graph *graph) {
  if (!graph) return;
  if (graph->ready) cudaGraphExecDestroy(graph->ready);
  if (graph->recorded) cudaGraphDestroy(graph->recorded);
  if (graph->own) cudaStreamDestroy(graph->own);
  free(graph);
}
