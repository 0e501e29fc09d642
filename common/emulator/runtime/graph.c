#define _GNU_SOURCE
#include "graph.h"

#include "errors.h"
#include "kernel_form.h"

#include <stdlib.h>
#include <string.h>

typedef enum { NODE_LAUNCH, NODE_COPY, NODE_FILL, NODE_HOST, NODE_EMPTY } node_kind;

struct CUgraphNode_st {
  node_kind kind;
  emulator_launch_request request; // of a launch; its arguments belong to the node
  void *destination;               // of a copy or a fill
  const void *source;
  size_t bytes, rows, pitch, source_pitch;
  enum cudaMemcpyKind direction;
  unsigned value, value_bytes;
  cudaHostFn_t function;
  void *data;
};

// The nodes stand in an order that the edges allow: a node is added behind those that it comes after.
struct CUgraph_st {
  cudaGraphNode_t *nodes;
  size_t count, room;
  unsigned references;
};

struct CUgraphExec_st {
  cudaGraph_t graph;
};

static _Thread_local cudaGraph_t captured;

static cudaError_t add(cudaGraph_t graph, struct CUgraphNode_st node, cudaGraphNode_t *out) {
  if (graph == NULL) return errors_record(cudaErrorInvalidValue);
  if (graph->count == graph->room) {
    const size_t room = graph->room > 0 ? 2 * graph->room : 16;
    cudaGraphNode_t *larger = realloc(graph->nodes, room * sizeof *larger);
    if (larger == NULL) return errors_record(cudaErrorMemoryAllocation);
    graph->nodes = larger;
    graph->room = room;
  }
  cudaGraphNode_t made = malloc(sizeof *made);
  if (made == NULL) return errors_record(cudaErrorMemoryAllocation);
  *made = node;
  graph->nodes[graph->count++] = made;
  if (out != NULL) *out = made;
  return cudaSuccess;
}

static bool keep_arguments(emulator_launch_request *request) {
  void *copy = NULL;
  if (posix_memalign(&copy, 64, request->arguments_bytes + 64) != 0) return false;
  memcpy(copy, request->arguments, request->arguments_bytes);
  request->arguments = copy;
  return true;
}

static cudaError_t run(const struct CUgraphNode_st *node, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  switch (node->kind) {
  case NODE_LAUNCH: {
    emulator_launch_request request = node->request;
    request.stream = stream;
    return emulator_launch(&request);
  }
  case NODE_COPY:
    for (size_t row = 0; row < node->rows && error == cudaSuccess; row++) {
      error = cudaMemcpyAsync((char *)node->destination + row * node->pitch,
                              (const char *)node->source + row * node->source_pitch, node->bytes,
                              node->direction, stream);
    }
    return error;
  case NODE_FILL:
    for (size_t row = 0; row < node->rows && error == cudaSuccess; row++) {
      char *first = (char *)node->destination + row * node->pitch;
      if (node->value_bytes == 1 || node->value == 0) {
        error = cudaMemsetAsync(first, (int)node->value, node->bytes, stream);
        continue;
      }
      for (size_t at = 0; at < node->bytes && error == cudaSuccess; at += node->value_bytes) {
        error = cudaMemcpyAsync(first + at, &node->value, node->value_bytes, cudaMemcpyHostToDevice,
                                stream);
      }
    }
    return error;
  case NODE_HOST: return cudaLaunchHostFunc(stream, node->function, node->data);
  case NODE_EMPTY: break;
  }
  return cudaSuccess;
}

// ---- Capture ------------------------------------------------------------------------------------

bool graph_capturing(void) { return captured != NULL; }

cudaError_t graph_capture_launch(const emulator_launch_request *request) {
  struct CUgraphNode_st node = {.kind = NODE_LAUNCH, .request = *request};
  if (!keep_arguments(&node.request)) return errors_record(cudaErrorMemoryAllocation);
  return add(captured, node, NULL);
}

cudaError_t graph_capture_copy(void *destination, const void *source, size_t bytes,
                               enum cudaMemcpyKind kind) {
  return add(captured,
             (struct CUgraphNode_st){.kind = NODE_COPY,
                                     .destination = destination,
                                     .source = source,
                                     .bytes = bytes,
                                     .rows = 1,
                                     .direction = kind},
             NULL);
}

cudaError_t graph_capture_fill(void *destination, int value, size_t bytes) {
  return add(captured,
             (struct CUgraphNode_st){.kind = NODE_FILL,
                                     .destination = destination,
                                     .value = (unsigned)value & 255,
                                     .value_bytes = 1,
                                     .bytes = bytes,
                                     .rows = 1},
             NULL);
}

cudaError_t graph_capture_host(cudaHostFn_t function, void *data) {
  return add(captured,
             (struct CUgraphNode_st){.kind = NODE_HOST, .function = function, .data = data}, NULL);
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

// ---- Graphs -------------------------------------------------------------------------------------

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags) {
  if (graph == NULL || flags != 0) return errors_record(cudaErrorInvalidValue);
  *graph = calloc(1, sizeof **graph);
  if (*graph == NULL) return errors_record(cudaErrorMemoryAllocation);
  (*graph)->references = 1;
  return cudaSuccess;
}

// Nodes live as long as the graph or a program that was made of it.
static void drop(cudaGraph_t graph) {
  if (--graph->references > 0) return;
  for (size_t i = 0; i < graph->count; i++) {
    if (graph->nodes[i]->kind == NODE_LAUNCH) free(graph->nodes[i]->request.arguments);
    free(graph->nodes[i]);
  }
  free(graph->nodes);
  free(graph);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (graph == NULL) return errors_record(cudaErrorInvalidValue);
  drop(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t *copy, cudaGraph_t graph) {
  if (graph == NULL) return errors_record(cudaErrorInvalidValue);
  cudaError_t error = cudaGraphCreate(copy, 0);
  for (size_t i = 0; i < graph->count && error == cudaSuccess; i++) {
    struct CUgraphNode_st node = *graph->nodes[i];
    if (node.kind == NODE_LAUNCH && !keep_arguments(&node.request)) {
      return errors_record(cudaErrorMemoryAllocation);
    }
    error = add(*copy, node, NULL);
  }
  return error;
}

static cudaError_t fill_launch(emulator_launch_request *request,
                               const struct cudaKernelNodeParams *parameters) {
  if (parameters == NULL) return errors_record(cudaErrorInvalidValue);
  const cudaError_t error =
      kernel_form_request(request, parameters->func, parameters->kernelParams);
  if (error != cudaSuccess) return error;
  request->grid = parameters->gridDim;
  request->block = parameters->blockDim;
  request->dynamic_shared_bytes = parameters->sharedMemBytes;
  return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *parameters) {
  (void)after;
  (void)count;
  struct CUgraphNode_st made = {.kind = NODE_LAUNCH};
  const cudaError_t error = fill_launch(&made.request, parameters);
  return error == cudaSuccess ? add(graph, made, node) : error;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t made, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *parameters) {
  if (made == NULL || node == NULL || node->kind != NODE_LAUNCH) {
    return errors_record(cudaErrorInvalidValue);
  }
  emulator_launch_request request = {0};
  const cudaError_t error = fill_launch(&request, parameters);
  if (error != cudaSuccess) return error;
  free(node->request.arguments);
  node->request = request;
  return cudaSuccess;
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, size_t count,
                                 const struct cudaHostNodeParams *parameters) {
  (void)after;
  (void)count;
  if (parameters == NULL || parameters->fn == NULL) return errors_record(cudaErrorInvalidValue);
  return add(graph,
             (struct CUgraphNode_st){
                 .kind = NODE_HOST, .function = parameters->fn, .data = parameters->userData},
             node);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *parameters) {
  (void)after;
  (void)count;
  if (parameters == NULL) return errors_record(cudaErrorInvalidValue);
  return add(graph,
             (struct CUgraphNode_st){.kind = NODE_FILL,
                                     .destination = parameters->dst,
                                     .pitch = parameters->pitch,
                                     .value = parameters->value,
                                     .value_bytes = parameters->elementSize,
                                     .bytes = parameters->width * parameters->elementSize,
                                     .rows = parameters->height},
             node);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count, void *destination,
                                     const void *source, size_t bytes, enum cudaMemcpyKind kind) {
  (void)after;
  (void)count;
  return add(graph,
             (struct CUgraphNode_st){.kind = NODE_COPY,
                                     .destination = destination,
                                     .source = source,
                                     .bytes = bytes,
                                     .rows = 1,
                                     .direction = kind},
             node);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *parameters) {
  (void)after;
  (void)count;
  if (parameters == NULL || parameters->srcArray != NULL || parameters->dstArray != NULL ||
      parameters->extent.depth != 1) {
    return errors_record(cudaErrorNotSupported);
  }
  const struct cudaPos from = parameters->srcPos, to = parameters->dstPos;
  return add(graph,
             (struct CUgraphNode_st){.kind = NODE_COPY,
                                     .destination = (char *)parameters->dstPtr.ptr + to.x +
                                                    to.y * parameters->dstPtr.pitch,
                                     .source = (const char *)parameters->srcPtr.ptr + from.x +
                                               from.y * parameters->srcPtr.pitch,
                                     .bytes = parameters->extent.width,
                                     .rows = parameters->extent.height,
                                     .pitch = parameters->dstPtr.pitch,
                                     .source_pitch = parameters->srcPtr.pitch,
                                     .direction = parameters->kind},
             node);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, size_t count) {
  (void)after;
  (void)count;
  return add(graph, (struct CUgraphNode_st){.kind = NODE_EMPTY}, node);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  if (graph == NULL || count == NULL) return errors_record(cudaErrorInvalidValue);
  for (size_t i = 0; nodes != NULL && i < *count && i < graph->count; i++) {
    nodes[i] = graph->nodes[i];
  }
  *count = graph->count;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t graph,
                                          unsigned long long flags) {
  (void)flags;
  if (made == NULL || graph == NULL) return errors_record(cudaErrorInvalidValue);
  *made = malloc(sizeof **made);
  if (*made == NULL) return errors_record(cudaErrorMemoryAllocation);
  (*made)->graph = graph;
  graph->references++;
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t made, cudaStream_t stream) {
  (void)stream;
  return made != NULL ? cudaSuccess : errors_record(cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) {
  RETURN_IF_STICKY();
  if (made == NULL) return errors_record(cudaErrorInvalidValue);
  cudaError_t error = cudaSuccess;
  for (size_t i = 0; i < made->graph->count && error == cudaSuccess; i++) {
    error = run(made->graph->nodes[i], stream);
  }
  return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) {
  if (made == NULL) return errors_record(cudaErrorInvalidValue);
  drop(made->graph);
  free(made);
  return cudaSuccess;
}
