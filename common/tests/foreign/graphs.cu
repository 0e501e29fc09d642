// Graphs that contain graphs, change, and have edges.
#include "feature.h"

__global__ void double_each(int *x) { x[threadIdx.x] *= 2; }

FEATURE(graphs_that_change,
        "graphs in graphs, memory nodes and cudaMallocAsync in a capture, cudaGraphExecUpdate",
        "conditional nodes: the compiler does not find their functions") {
  int *times, *own;
  CHECK(cudaMallocManaged(&times, 8 * sizeof(int)));
  for (int i = 0; i < 8; i++) times[i] = 1;
  cudaStream_t stream;
  cudaGraph_t inner, outer, again;
  cudaGraphNode_t node, last;
  cudaGraphExec_t ready;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  double_each<<<1, 8, 0, stream>>>(times);
  CHECK(cudaStreamEndCapture(stream, &inner));
  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, inner));
  CHECK(cudaGraphAddChildGraphNode(&last, outer, nullptr, 0, inner));
#if CUDART_VERSION >= 13000
  CHECK(cudaGraphAddDependencies(outer, &node, &last, nullptr, 1));
#else
  CHECK(cudaGraphAddDependencies(outer, &node, &last, 1));
#endif
  CHECK(cudaGraphInstantiate(&ready, outer, 0));
  CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  if (times[7] != 4) return false;
  cudaGraphExecUpdateResultInfo info;
  if (cudaGraphExecUpdate(ready, inner, &info) != cudaErrorGraphExecUpdateFailure) return false;
  if (info.result != cudaGraphExecUpdateErrorTopologyChanged) return false;
  cudaGetLastError();

  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&own, 8 * sizeof(int), stream));
  CHECK(cudaMemcpyAsync(own, times, 8 * sizeof(int), cudaMemcpyDefault, stream));
  double_each<<<1, 8, 0, stream>>>(own);
  CHECK(cudaMemcpyAsync(times, own, 8 * sizeof(int), cudaMemcpyDefault, stream));
  CHECK(cudaFreeAsync(own, stream));
  CHECK(cudaStreamEndCapture(stream, &again));
  CHECK(cudaGraphInstantiate(&ready, again, 0));
  for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  return times[0] == 16;
}

__global__ void append(int *x, int digit) { *x = 10 * *x + digit; }

static cudaGraphNode_t add_append(cudaGraph_t graph, int *x, int digit) {
  void *arguments[] = {&x, &digit};
  cudaKernelNodeParams launch = {};
  launch.func = (void *)append;
  launch.gridDim = launch.blockDim = dim3(1);
  launch.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &launch);
  return node;
}

static cudaError_t add_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddDependencies(graph, &from, &to, nullptr, 1);
#else
  return cudaGraphAddDependencies(graph, &from, &to, 1);
#endif
}

FEATURE(edges_of_graphs,
        "cudaGraphAddDependencies between nodes in any order, also from one that was added later",
        "an edge that points back in a graph that was captured: cudaErrorNotSupported") {
  int *x;
  CHECK(cudaMallocManaged(&x, sizeof *x));
  *x = 0;
  cudaGraph_t graph, copy;
  CHECK(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t third = add_append(graph, x, 3), first = add_append(graph, x, 1),
                        fourth = add_append(graph, x, 4), second = add_append(graph, x, 2);
  CHECK(add_edge(graph, third, fourth));
  CHECK(add_edge(graph, first, second));
  CHECK(add_edge(graph, second, third));
  CHECK(cudaGraphClone(&copy, graph));
  for (cudaGraph_t each : {graph, copy}) {
    cudaGraphExec_t ready;
    CHECK(cudaGraphInstantiate(&ready, each, 0));
    CHECK(cudaGraphLaunch(ready, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(ready));
  }
  return *x == 12341234;
}
