// Kernels that may begin before the one before them has ended. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

static const unsigned BLOCKS = 3, THREADS = 64;

template <typename... Parameters, typename... Arguments>
static void launch_early_with(unsigned cluster_blocks, cudaStream_t stream,
                              void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = cluster_blocks;
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = BLOCKS;
  config.blockDim = THREADS;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 2;
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <typename... Parameters, typename... Arguments>
static void launch_early(void (*kernel)(Parameters...), Arguments... arguments) {
  launch_early_with(1, NULL, kernel, arguments...);
}

static __device__ unsigned own_place() { return blockIdx.x * THREADS + threadIdx.x; }

__global__ void fill_kernel(float *x) {
  cudaTriggerProgrammaticLaunchCompletion();
  x[own_place()] = threadIdx.x; // <- fill
}

template <bool right>
__global__ void add_kernel(const float *x, float *out) {
  if (right) cudaGridDependencySynchronize();
  out[own_place()] = x[own_place()] + 1; // <- add
}
void early_without_wait(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  launch_early(broken ? add_kernel<false> : add_kernel<true>, x, out);
}

// A transfer between the two kernels waits for the first one, and the second one for the transfer.
void early_behind_transfer(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  if (!broken) cudaMemsetAsync(out, 0, sizeof(float));
  launch_early(add_kernel<false>, x, out);
}

// The host waits for the first kernel before it launches the second one.
void early_behind_host(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  if (!broken) cudaDeviceSynchronize();
  launch_early(add_kernel<false>, x, out);
}

// The host has seen that the stream is done.
void early_behind_query(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  while (!broken && cudaStreamQuery(0) == cudaErrorNotReady) {
  }
  launch_early(add_kernel<false>, x, out);
}

// The stream waits for an event of its own, which is behind the first kernel.
void early_behind_event(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  cudaEvent_t event;
  cudaEventCreate(&event);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  if (!broken) cudaEventRecord(event);
  if (!broken) cudaStreamWaitEvent(0, event, 0);
  launch_early(add_kernel<false>, x, out);
  cudaEventDestroy(event);
}

// The default stream and an ordinary one wait for each other, so a kernel is never early behind one of another stream.
void early_in_other_stream(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  launch_early_with(1, broken ? NULL : stream, add_kernel<false>, x, out);
  cudaStreamDestroy(stream);
}

// Both kernels are in one graph, or the first one is the last of a graph.
void early_behind_graph(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t made;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  fill_kernel<<<BLOCKS, THREADS, 0, stream>>>(x);
  if (broken) launch_early_with(1, stream, add_kernel<false>, x, out);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&made, graph, 0);
  cudaGraphLaunch(made, stream);
  if (!broken) launch_early_with(1, stream, add_kernel<false>, x, out);
  cudaGraphExecDestroy(made);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

template <bool right>
__global__ void one_waits_kernel(const float *x, float *out) {
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  if (right) __syncthreads();
  out[own_place()] = x[own_place()]; // <- one waits
}
void early_one_waits(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  launch_early(broken ? one_waits_kernel<false> : one_waits_kernel<true>, x, out);
}

// The barrier of the cluster tells the other blocks that the first one has waited.
template <bool right>
__global__ void first_block_waits_kernel(const float *x, float *out) {
  if (right && blockIdx.x == 0) cudaGridDependencySynchronize();
  cg::this_cluster().sync();
  if (!right && blockIdx.x == 0) cudaGridDependencySynchronize();
  out[own_place()] = x[own_place()]; // <- first block
}
void early_cluster_waits(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  launch_early_with(BLOCKS, NULL,
                    broken ? first_block_waits_kernel<false> : first_block_waits_kernel<true>, x,
                    out);
}

__global__ void copy_kernel(const float *x, float *out) {
  cudaTriggerProgrammaticLaunchCompletion();
  out[own_place()] = x[own_place()]; // <- copy
}
template <bool right>
__global__ void overwrite_kernel(float *x) {
  if (right) cudaGridDependencySynchronize();
  x[own_place()] = 2; // <- overwrite
}
void early_overwrites(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  copy_kernel<<<BLOCKS, THREADS>>>(x, out);
  launch_early(broken ? overwrite_kernel<false> : overwrite_kernel<true>, x);
}

// Only the second launch of the kernel is early, and what its blocks learned in the first one counts no more.
template <bool right>
__global__ void last_block_kernel(const float *x, float *out) {
  if (right || blockIdx.x + 1 < BLOCKS) cudaGridDependencySynchronize();
  out[own_place()] = x[own_place()]; // <- last block
}
void early_last_block(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  last_block_kernel<true><<<BLOCKS, THREADS>>>(x, out);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  launch_early(broken ? last_block_kernel<false> : last_block_kernel<true>, x, out);
}
