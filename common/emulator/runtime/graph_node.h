// The nodes of graphs, for graph.c, graph_nodes.c and graph_capture.c.
#ifndef GRAPH_NODE_H
#define GRAPH_NODE_H

#include "graph.h"

typedef enum {
  NODE_LAUNCH,
  NODE_COPY,
  NODE_FILL,
  NODE_HOST,
  NODE_CHILD,
  NODE_MEMORY,
  NODE_EMPTY
} node_kind;

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
  cudaGraph_t child; // the node's own copy
  bool placed;       // while the nodes are put into order
};

typedef struct {
  cudaGraphNode_t from, to;
} graph_edge;

// The nodes stand in an order that the edges allow: a node is added behind those that it comes after, and an edge that
// points back moves nodes (graph_edges.c).
struct CUgraph_st {
  cudaGraphNode_t *nodes;
  size_t count, room;
  graph_edge *edges;
  size_t edge_count, edge_room;
  bool captured; // the order of the nodes has no edges
  unsigned references;
};

// Adds a node to the graph, behind the nodes `after`. `out`, where it is not NULL, is given it.
cudaError_t graph_add(cudaGraph_t graph, struct CUgraphNode_st node, const cudaGraphNode_t *after,
                      size_t count, cudaGraphNode_t *out);

// The node's place in the graph, and the graph's count of nodes if it is not one of them.
size_t graph_index(const struct CUgraph_st *graph, const struct CUgraphNode_st *node);

// Adds an edge that the order of the nodes allows. False when memory has run out.
bool graph_join(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to);

// Makes the node's own copy of a launch's arguments. False when there is no memory.
bool graph_keep_arguments(emulator_launch_request *request);

// A node that allocates or frees memory: a launch comes to it; its graph goes.
cudaError_t graph_memory_run(const struct CUgraphNode_st *node, cudaStream_t stream);
void graph_memory_drop(const struct CUgraphNode_st *node);

#endif
