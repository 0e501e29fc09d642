#define _GNU_SOURCE
#include "graph_node.h"

#include "errors.h"
#include "observer.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphExec_st {
  cudaGraph_t graph;
};

cudaError_t graph_add(cudaGraph_t graph, struct CUgraphNode_st node, const cudaGraphNode_t *after,
                      size_t count, cudaGraphNode_t *out) {
  if (graph == NULL || (after == NULL && count > 0)) return errors_record(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) {
    if (graph_index(graph, after[i]) == graph->count) return errors_record(cudaErrorInvalidValue);
  }
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
  for (size_t i = 0; i < count; i++) {
    if (!graph_join(graph, after[i], made)) return errors_record(cudaErrorMemoryAllocation);
  }
  if (out != NULL) *out = made;
  return cudaSuccess;
}

bool graph_keep_arguments(emulator_launch_request *request) {
  void *copy = NULL;
  if (posix_memalign(&copy, 64, request->arguments_bytes + 64) != 0) return false;
  memcpy(copy, request->arguments, request->arguments_bytes);
  request->arguments = copy;
  return true;
}

static cudaError_t run_all(cudaGraph_t graph, cudaStream_t stream);

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
  case NODE_CHILD: return run_all(node->child, stream);
  case NODE_MEMORY: return graph_memory_run(node, stream);
  case NODE_EMPTY: break;
  }
  return cudaSuccess;
}

static cudaError_t run_all(cudaGraph_t graph, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  for (size_t i = 0; i < graph->count && error == cudaSuccess; i++) {
    error = run(graph->nodes[i], stream);
  }
  return error;
}

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
    const cudaGraphNode_t node = graph->nodes[i];
    if (node->kind == NODE_LAUNCH) free(node->request.arguments);
    if (node->kind == NODE_CHILD) drop(node->child);
    if (node->kind == NODE_MEMORY) graph_memory_drop(node);
    free(node);
  }
  free(graph->nodes);
  free(graph->edges);
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
    if (node.kind == NODE_LAUNCH && !graph_keep_arguments(&node.request)) {
      return errors_record(cudaErrorMemoryAllocation);
    }
    if (node.kind == NODE_MEMORY) return errors_record(cudaErrorNotSupported); // as in CUDA
    if (node.kind == NODE_CHILD) error = cudaGraphClone(&node.child, graph->nodes[i]->child);
    if (error == cudaSuccess) error = graph_add(*copy, node, NULL, 0, NULL);
  }
  for (size_t i = 0; i < graph->edge_count && error == cudaSuccess; i++) {
    const cudaGraphNode_t from = (*copy)->nodes[graph_index(graph, graph->edges[i].from)];
    const cudaGraphNode_t to = (*copy)->nodes[graph_index(graph, graph->edges[i].to)];
    if (!graph_join(*copy, from, to)) error = errors_record(cudaErrorMemoryAllocation);
  }
  if (error == cudaSuccess) (*copy)->captured = graph->captured;
  return error;
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

// The graph takes the place of the one that the program was made of, if its nodes are of the same kinds.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info) {
  if (made == NULL || graph == NULL || info == NULL) return errors_record(cudaErrorInvalidValue);
  *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateSuccess};
  if (graph->count != made->graph->count) info->result = cudaGraphExecUpdateErrorTopologyChanged;
  for (size_t i = 0; i < graph->count && info->result == cudaGraphExecUpdateSuccess; i++) {
    if (graph->nodes[i]->kind == made->graph->nodes[i]->kind) continue;
    info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
    info->errorNode = graph->nodes[i];
  }
  if (info->result != cudaGraphExecUpdateSuccess) {
    return errors_record(cudaErrorGraphExecUpdateFailure);
  }
  graph->references++;
  drop(made->graph);
  made->graph = graph;
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t made, cudaStream_t stream) {
  (void)stream;
  return made != NULL ? cudaSuccess : errors_record(cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream) {
  RETURN_IF_STICKY();
  if (made == NULL) return errors_record(cudaErrorInvalidValue);
  observer_launches_apart();
  const cudaError_t error = run_all(made->graph, stream);
  observer_launches_apart();
  return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) {
  if (made == NULL) return errors_record(cudaErrorInvalidValue);
  drop(made->graph);
  free(made);
  return cudaSuccess;
}
