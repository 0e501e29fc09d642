// The memory that graphs allocate. It keeps its address from the moment the node is added, and the program may free it
// as any memory, or in another graph, and launch the graph again, which allocates it again. So it is given back only
// when the graph goes.
#define _GNU_SOURCE
#include "graph_node.h"

#include "errors.h"
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct graph_memory {
  void *pointer;
  size_t bytes;
  bool allocated; // by a launch, and not freed since
  struct graph_memory *next;
} graph_memory;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards these:
static graph_memory *memories;
static size_t bytes_now, bytes_most;

static graph_memory **find(const void *pointer) {
  graph_memory **at = &memories;
  while (*at != NULL && (*at)->pointer != pointer) at = &(*at)->next;
  return at;
}

static bool mark(const void *pointer, bool allocated) {
  pthread_mutex_lock(&mutex);
  graph_memory *found = *find(pointer);
  if (found != NULL) found->allocated = allocated;
  pthread_mutex_unlock(&mutex);
  return found != NULL;
}

bool graph_memory_free(const void *pointer) { return memories != NULL && mark(pointer, false); }

cudaError_t graph_memory_run(const struct CUgraphNode_st *node, cudaStream_t stream) {
  if (mark(node->destination, node->bytes > 0) || node->bytes > 0) return cudaSuccess;
  return cudaFreeAsync(node->destination, stream);
}

void graph_memory_drop(const struct CUgraphNode_st *node) {
  if (node->bytes == 0) return;
  pthread_mutex_lock(&mutex);
  graph_memory **at = find(node->destination), *found = *at;
  if (found != NULL) *at = found->next;
  bytes_now -= node->bytes;
  pthread_mutex_unlock(&mutex);
  // The program still uses memory that a launch has allocated.
  if (found != NULL && !found->allocated) cudaFree(found->pointer);
  free(found);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count,
                                     struct cudaMemAllocNodeParams *parameters) {
  if (parameters == NULL || graph == NULL || parameters->bytesize == 0) {
    return errors_record(cudaErrorInvalidValue);
  }
  graph_memory *made = calloc(1, sizeof *made);
  if (made == NULL) return errors_record(cudaErrorMemoryAllocation);
  made->bytes = parameters->bytesize;
  const cudaError_t error = memory_allocate(&made->pointer, made->bytes, MEMORY_DEVICE);
  if (error != cudaSuccess) {
    free(made);
    return error;
  }
  parameters->dptr = made->pointer;
  pthread_mutex_lock(&mutex);
  made->next = memories;
  memories = made;
  bytes_now += made->bytes;
  if (bytes_now > bytes_most) bytes_most = bytes_now;
  pthread_mutex_unlock(&mutex);
  return graph_add(graph,
                   (struct CUgraphNode_st){
                       .kind = NODE_MEMORY, .destination = made->pointer, .bytes = made->bytes},
                   after, count, node);
}

// A node without bytes is one that frees.
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *after, size_t count, void *pointer) {
  if (graph == NULL || pointer == NULL) return errors_record(cudaErrorInvalidValue);
  return graph_add(graph, (struct CUgraphNode_st){.kind = NODE_MEMORY, .destination = pointer},
                   after, count, node);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
                                           void *value) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || device < 0 || device >= devices ||
      value == NULL) {
    return errors_record(cudaErrorInvalidValue);
  }
  const bool most =
      attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  *(size_t *)value = most ? bytes_most : bytes_now;
  return cudaSuccess;
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  (void)device;
  return cudaSuccess;
}
