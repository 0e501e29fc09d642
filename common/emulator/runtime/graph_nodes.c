#define _GNU_SOURCE
#include "graph_node.h"

#include "errors.h"
#include "kernel_form.h"

#include <stdlib.h>

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
  struct CUgraphNode_st made = {.kind = NODE_LAUNCH};
  const cudaError_t error = fill_launch(&made.request, parameters);
  return error == cudaSuccess ? graph_add(graph, made, after, count, node) : error;
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
  if (parameters == NULL || parameters->fn == NULL) return errors_record(cudaErrorInvalidValue);
  return graph_add(graph,
                   (struct CUgraphNode_st){
                       .kind = NODE_HOST, .function = parameters->fn, .data = parameters->userData},
                   after, count, node);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *parameters) {
  if (parameters == NULL) return errors_record(cudaErrorInvalidValue);
  return graph_add(graph,
                   (struct CUgraphNode_st){.kind = NODE_FILL,
                                           .destination = parameters->dst,
                                           .pitch = parameters->pitch,
                                           .value = parameters->value,
                                           .value_bytes = parameters->elementSize,
                                           .bytes = parameters->width * parameters->elementSize,
                                           .rows = parameters->height},
                   after, count, node);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count, void *destination,
                                     const void *source, size_t bytes, enum cudaMemcpyKind kind) {
  return graph_add(graph,
                   (struct CUgraphNode_st){.kind = NODE_COPY,
                                           .destination = destination,
                                           .source = source,
                                           .bytes = bytes,
                                           .rows = 1,
                                           .direction = kind},
                   after, count, node);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *parameters) {
  if (parameters == NULL || parameters->srcArray != NULL || parameters->dstArray != NULL ||
      parameters->extent.depth != 1) {
    return errors_record(cudaErrorNotSupported);
  }
  const struct cudaPos from = parameters->srcPos, to = parameters->dstPos;
  return graph_add(graph,
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
                   after, count, node);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, size_t count) {
  return graph_add(graph, (struct CUgraphNode_st){.kind = NODE_EMPTY}, after, count, node);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *after, size_t count,
                                       cudaGraph_t child) {
  struct CUgraphNode_st made = {.kind = NODE_CHILD};
  const cudaError_t error = cudaGraphClone(&made.child, child);
  return error == cudaSuccess ? graph_add(graph, made, after, count, node) : error;
}
