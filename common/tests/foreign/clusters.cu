// Clusters of blocks and early launches, which came with sm_90.
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
    "cp.async to another block: a fault") {
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

// Each block sorts its numbers into the bins of all blocks of its cluster.
template <int BLOCKS, typename T>
__global__ void __cluster_dims__(BLOCKS) __launch_bounds__(128)
    histogram_of_clusters(const T *x, int count, int *bins, int bins_per_block = 16) {
  extern __shared__ int own_bins[];
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) own_bins[i] = 0;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    const int bin = int(x[i]);
    void *there = __cluster_map_shared_rank(own_bins, bin / bins_per_block);
    atomicAdd(static_cast<int *>(there) + bin % bins_per_block, 1);
  }
  cg::this_cluster().sync();
  int *place = bins + __clusterRelativeBlockRank() * bins_per_block;
  for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) atomicAdd(&place[i], own_bins[i]);
}

FEATURE(clusters_of_a_kernel,
        "__cluster_dims__ with an ordinary launch, also of templates; __clusterIdx() and its kin, "
        "__cluster_barrier_arrive(), also relaxed, __cluster_map_shared_rank(), "
        "cudaOccupancyMaxPotentialClusterSize",
        "a grid that is no multiple, or another size in the launch: the error of a GPU, and one "
        "sentence; __cluster_map_shared_multicast: an unknown name") {
  const int count = 5000, bins = 64;
  float *x;
  int *found;
  CHECK(cudaMallocManaged(&x, count * sizeof *x));
  CHECK(cudaMallocManaged(&found, bins * sizeof *found));
  for (int i = 0; i < count; i++) x[i] = i % bins;
  for (int i = 0; i < bins; i++) found[i] = 0;
  histogram_of_clusters<4><<<8, 128, 16 * sizeof(int)>>>(x, count, found);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < bins; i++)
    if (found[i] != (count - i + bins - 1) / bins) return false;
  cudaLaunchConfig_t config = {0};
  config.gridDim = 8;
  config.blockDim = 128;
  int largest = 0;
  CHECK(cudaOccupancyMaxPotentialClusterSize(&largest, histogram_of_clusters<4, float>, &config));
  histogram_of_clusters<4><<<6, 128, 16 * sizeof(int)>>>(x, count, found);
  return cudaGetLastError() == cudaErrorInvalidClusterSize && largest == 8;
}

__global__ void square_numbers(float *x) {
  asm volatile("griddepcontrol.launch_dependents;");
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = float(i) * i;
}

__global__ void add_neighbours(const float *x, float *sums, unsigned count) {
  cudaGridDependencySynchronize();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[i] = x[i] + x[(i + 1) % count];
}

__global__ void add_to_numbers(float *x, const float *sums) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  cudaTriggerProgrammaticLaunchCompletion();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += sums[i];
}

FEATURE(early_launches,
        "cudaLaunchAttributeProgrammaticStreamSerialization, cudaGridDependencySynchronize(), "
        "cudaTriggerProgrammaticLaunchCompletion(), griddepcontrol; the sanitizer finds a missing "
        "wait",
        "cudaLaunchAttributeProgrammaticEvent: an unknown name") {
  const unsigned count = 256, blocks = 4;
  float *x, *sums;
  CHECK(cudaMallocManaged(&x, count * sizeof *x));
  CHECK(cudaMallocManaged(&sums, count * sizeof *sums));
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = count / blocks;
  config.attrs = &attribute;
  config.numAttrs = 1;
  square_numbers<<<blocks, count / blocks>>>(x);
  CHECK(cudaLaunchKernelEx(&config, add_neighbours, (const float *)x, sums, count));
  CHECK(cudaLaunchKernelEx(&config, add_to_numbers, x, (const float *)sums));
  CHECK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < count; i++) {
    const float own = float(i) * i, next = float((i + 1) % count);
    if (sums[i] != own + next * next || x[i] != own + sums[i]) return false;
  }
  return true;
}
