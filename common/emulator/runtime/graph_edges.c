// The edges between a graph's nodes.
#define _GNU_SOURCE
#include "graph_node.h"

#include "errors.h"

#include <stdlib.h>
#include <string.h>

size_t graph_index(const struct CUgraph_st *graph, const struct CUgraphNode_st *node) {
  size_t i = 0;
  while (i < graph->count && graph->nodes[i] != node) i++;
  return i;
}

bool graph_join(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  if (graph->edge_count == graph->edge_room) {
    const size_t room = graph->edge_room > 0 ? 2 * graph->edge_room : 16;
    graph_edge *larger = realloc(graph->edges, room * sizeof *larger);
    if (larger == NULL) return false;
    graph->edges = larger;
    graph->edge_room = room;
  }
  graph->edges[graph->edge_count++] = (graph_edge){from, to};
  return true;
}

static bool may_follow(const struct CUgraph_st *graph, const struct CUgraphNode_st *node) {
  for (size_t i = 0; i < graph->edge_count; i++) {
    if (graph->edges[i].to == node && !graph->edges[i].from->placed) return false;
  }
  return true;
}

// Puts the nodes into an order that the edges allow: again and again the first of those that are left and wait for none of
// them. If there is none, the edges make a circle, and the order stays as it was.
static cudaError_t sort(cudaGraph_t graph) {
  cudaGraphNode_t *sorted = malloc(graph->count * sizeof *sorted);
  if (sorted == NULL) return errors_record(cudaErrorMemoryAllocation);
  for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->placed = false;
  size_t done = 0, next = 0;
  while (next < graph->count) {
    const cudaGraphNode_t node = graph->nodes[next++];
    if (node->placed || !may_follow(graph, node)) continue;
    node->placed = true;
    sorted[done++] = node;
    next = 0;
  }
  const bool whole = done == graph->count;
  if (whole) memcpy(graph->nodes, sorted, graph->count * sizeof *sorted);
  free(sorted);
  return whole ? cudaSuccess
               : errors_record_because(cudaErrorInvalidValue, "the edges would make a circle");
}

static cudaError_t add(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  const size_t first = graph_index(graph, from), second = graph_index(graph, to);
  if (first == graph->count || second == graph->count) return errors_record(cudaErrorInvalidValue);
  if (first > second && graph->captured) {
    return errors_record_because(
        cudaErrorNotSupported,
        "the edge points back in a graph that was captured, and the emulator keeps the order of "
        "the capture: add the nodes one by one instead, or capture them in the order of the edges");
  }
  if (!graph_join(graph, from, to)) return errors_record(cudaErrorMemoryAllocation);
  if (first < second) return cudaSuccess;
  const cudaError_t error = sort(graph);
  if (error != cudaSuccess) graph->edge_count--;
  return error;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, size_t count) {
  if (graph == NULL || (count > 0 && (from == NULL || to == NULL))) {
    return errors_record(cudaErrorInvalidValue);
  }
  cudaError_t error = cudaSuccess;
  for (size_t i = 0; i < count && error == cudaSuccess; i++) error = add(graph, from[i], to[i]);
  return error;
}
