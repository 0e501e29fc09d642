#include "clusters.h"

#include "../emulator/device_array.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each block has two warps.
static __device__ void exchange(float *out) {
  __shared__ float tile[64];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = threadIdx.x;
  cluster.sync();
  const float *other = cluster.map_shared_rank(tile, int(1 - cluster.block_rank()));
  out[blockIdx.x * 64 + threadIdx.x] = other[threadIdx.x] + tile[threadIdx.x];
  cluster.sync();
}
static __global__ void exchange_kernel(float *out) { exchange(out); }

bool clusters_run(void) {
  device_array<float> out(256);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 4;
  config.blockDim = 64;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, exchange_kernel, out.data()) == cudaSuccess &&
         cudaDeviceSynchronize() == cudaSuccess && out.host()[255] == 126;
}

static __global__ void __cluster_dims__(2) declared_kernel(float *out) { exchange(out); }

bool clusters_run_declared(void) {
  device_array<float> out(256);
  declared_kernel<<<4, 64>>>(out.data());
  return cudaDeviceSynchronize() == cudaSuccess && out.host()[255] == 126;
}

static __global__ void __cluster_dims__(2) left_kernel(float *out) {
  if (threadIdx.x == 0) return;
  cg::this_cluster().sync();
  out[blockIdx.x * 64 + threadIdx.x] = 1;
}

bool clusters_run_without_first(void) {
  device_array<float> out(256);
  left_kernel<<<4, 64>>>(out.data());
  return cudaDeviceSynchronize() == cudaSuccess && out.host()[255] == 1;
}
