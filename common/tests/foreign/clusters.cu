// Clusters of blocks, which came with sm_90.
#include "feature.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <typename T>
__global__ void sum_over_cluster(const T *x, T *sums) {
  __shared__ T part;
  extern __shared__ int passed[];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  atomicAdd(&part, x[blockIdx.x * blockDim.x + threadIdx.x]);
  cluster.sync();
  if (cluster.thread_rank() == 0) *passed = 0;
  cg::cluster_group::arrival_token arrived = cluster.barrier_arrive();
  cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(arrived));
  if (threadIdx.x == 0) atomicAdd(cluster.map_shared_rank(passed, 0), 1);
  if (cluster.thread_rank() == 0) {
    T sum = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
      sum += *cluster.map_shared_rank(&part, rank);
    sums[blockIdx.x / cluster.num_blocks()] = sum;
  }
  cluster.sync();
  if (cluster.thread_rank() == 0) sums[blockIdx.x / cluster.num_blocks()] += *passed;
}

FEATURE(
    clusters,
    "cudaLaunchKernelEx with cudaLaunchAttributeClusterDimension, this_cluster(), its barrier in "
    "one part or two, distributed shared memory",
    "__cluster_dims__: one sentence; copies and barriers of mbarrier between blocks") {
  const unsigned size = 4, clusters = 2, threads = 64;
  int *x;
  CHECK(cudaMallocManaged(&x, (size * clusters * threads + clusters) * sizeof(int)));
  int *sums = x + size * clusters * threads;
  for (unsigned i = 0; i < size * clusters * threads; i++) x[i] = 1;
  cudaLaunchAttribute attribute[2];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = size;
  attribute[0].val.clusterDim.y = 1;
  attribute[0].val.clusterDim.z = 1;
  attribute[1].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
  attribute[1].val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
  cudaLaunchConfig_t config = {0};
  config.gridDim = size * clusters;
  config.blockDim = threads;
  config.dynamicSmemBytes = sizeof(int);
  config.attrs = attribute;
  config.numAttrs = 2;
  int active = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&active, sum_over_cluster<int>, &config));
  CHECK(cudaLaunchKernelEx(&config, sum_over_cluster<int>, x, sums));
  CHECK(cudaDeviceSynchronize());
  return active > 0 && sums[0] == int(size * threads + size) && sums[1] == sums[0];
}
