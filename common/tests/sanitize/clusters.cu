// Blocks of a cluster that use each other's shared memory. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

static const unsigned THREADS = 64;

// Launches clusters of 2 blocks.
template <typename Kernel, typename... Arguments>
static void launch(Kernel kernel, unsigned blocks, size_t bytes, Arguments... arguments) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = THREADS;
  config.dynamicSmemBytes = bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, arguments...);
}
#define RUN(kernel, blocks, bytes, ...)                                                            \
  if (broken) launch(kernel<false>, blocks, bytes, __VA_ARGS__);                                   \
  if (!broken) launch(kernel<true>, blocks, bytes, __VA_ARGS__);

template <bool needed>
__device__ void cluster_barrier() {
  if (needed) cg::this_cluster().sync();
}
static __device__ int other_rank() { return int(1 - cg::this_cluster().block_rank()); }

// ---- Races --------------------------------------------------------------------------------------

template <bool right>
__global__ void neighbour_kernel(float *out) {
  __shared__ float tile[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  tile[threadIdx.x] = threadIdx.x; // <- neighbour write
  cluster_barrier<right>();
  float *other = cluster.map_shared_rank(tile, other_rank());
  out[blockIdx.x * THREADS + threadIdx.x] = other[threadIdx.x]; // <- neighbour read
  cluster.sync();
}
void cluster_read_before_barrier(bool broken) {
  RUN(neighbour_kernel, 4, 0, device_floats(4 * THREADS))
}

template <bool right>
__global__ void inbox_kernel(float *out, int rounds) {
  extern __shared__ float inbox[];
  cg::cluster_group cluster = cg::this_cluster();
  float *other = cluster.map_shared_rank(inbox, other_rank()), sum = 0;
  cluster.sync();
  for (int round = 0; round < rounds; round++) {
    other[threadIdx.x] = round; // <- inbox write
    cluster.sync();
    sum += inbox[threadIdx.x]; // <- inbox read
    cluster_barrier<right>();
  }
  out[blockIdx.x * THREADS + threadIdx.x] = sum;
  cluster.sync();
}
void cluster_write_before_barrier(bool broken) {
  RUN(inbox_kernel, 2, THREADS * sizeof(float), device_floats(2 * THREADS), 3)
}

// Only what comes before the arrival is ordered before what comes behind the wait.
template <bool right>
__global__ void arrival_kernel(float *out) {
  __shared__ float tile[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  if (right) tile[threadIdx.x] = 1;
  auto arrived = cluster.barrier_arrive();
  if (!right) tile[threadIdx.x] = 1; // <- late write
  cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(arrived));
  out[blockIdx.x * THREADS + threadIdx.x] =
      cluster.map_shared_rank(tile, other_rank())[threadIdx.x]; // <- late read
  cluster.sync();
}
void cluster_write_behind_arrival(bool broken) {
  RUN(arrival_kernel, 2, 0, device_floats(2 * THREADS))
}

template <bool right>
__global__ void sum_kernel(int *out) {
  __shared__ int sum;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) sum = 0;
  cluster.sync();
  if (cluster.block_rank() == 1) atomicAdd(cluster.map_shared_rank(&sum, 0), 1); // <- sum add
  cluster_barrier<right>();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x / 2] = sum; // <- sum read
  cluster.sync();
}
void cluster_sum_before_barrier(bool broken) {
  RUN(sum_kernel, 4, 0, reinterpret_cast<int *>(device_floats(2)))
}

// Half of the threads end before the barrier, which does not wait for them.
template <bool right>
__global__ void left_kernel(float *out) {
  __shared__ float tile[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  tile[threadIdx.x] = 1; // <- left write
  if (!right && threadIdx.x >= 32) return;
  cluster.sync();
  const float *other = cluster.map_shared_rank(tile, other_rank());
  if (threadIdx.x < 32)
    out[blockIdx.x * 32 + threadIdx.x] =
        other[threadIdx.x] + other[threadIdx.x + 32]; // <- left read
  cluster.sync();
}
void cluster_threads_left(bool broken) { RUN(left_kernel, 2, 0, device_floats(64)) }

// Both threads are of one block.
template <bool right>
__global__ void bins_kernel(int *out) {
  __shared__ int bins[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  bins[threadIdx.x] = 0; // <- bins write
  cluster_barrier<right>();
  int *own = cluster.map_shared_rank(bins, int(cluster.block_rank()));
  atomicAdd(&own[(threadIdx.x + 32) % THREADS], 1); // <- bins add
  cluster.sync();
  out[cluster.thread_rank()] = bins[threadIdx.x];
}
void cluster_add_before_barrier(bool broken) {
  RUN(bins_kernel, 2, 0, reinterpret_cast<int *>(device_floats(2 * THREADS)))
}

// In device memory.
template <bool right>
__global__ void pass_on_kernel(float *out) {
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned first = blockIdx.x / 2 * 2 * THREADS;
  out[first + cluster.thread_rank()] = 1; // <- pass on write
  cluster_barrier<right>();
  const unsigned other = (cluster.thread_rank() + THREADS) % (2 * THREADS);
  const float value = out[first + other]; // <- pass on read
  cluster.sync();
  out[first + cluster.thread_rank()] = value;
}
void cluster_global_before_barrier(bool broken) {
  RUN(pass_on_kernel, 4, 0, device_floats(4 * THREADS))
}

// A thread that has waited tells the others of its block by their own barrier.
template <bool right>
__global__ void one_waits_kernel(float *out) {
  __shared__ float tile[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  tile[threadIdx.x] = 1; // <- told write
  cluster.barrier_arrive();
  if (threadIdx.x < 32) cluster.barrier_wait();
  if (right) __syncthreads();
  const float *other = cluster.map_shared_rank(tile, other_rank());
  out[blockIdx.x * THREADS + threadIdx.x] = other[threadIdx.x]; // <- told read
  if (threadIdx.x >= 32) cluster.barrier_wait();
  cluster.sync();
}
void cluster_some_wait(bool broken) { RUN(one_waits_kernel, 2, 0, device_floats(2 * THREADS)) }

// A relaxed arrival tells that the thread has come, and nothing of what it has done.
template <bool right>
__global__ void __cluster_dims__(2) relaxed_kernel(float *out) {
  __shared__ float inbox[THREADS];
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  void *other = __cluster_map_shared_rank(inbox, 1 - __clusterRelativeBlockRank());
  static_cast<float *>(other)[threadIdx.x] = 1; // <- relaxed write
  if (right) __threadfence_cluster();
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  out[blockIdx.x * THREADS + threadIdx.x] = inbox[threadIdx.x]; // <- relaxed read
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}
void cluster_relaxed_arrival(bool broken) {
  float *out = device_floats(4 * THREADS);
  if (broken) relaxed_kernel<false><<<4, THREADS>>>(out);
  if (!broken) relaxed_kernel<true><<<4, THREADS>>>(out);
}

// ---- Before a block begins, and behind its end --------------------------------------------------

template <bool right>
__global__ void early_kernel(float *out) {
  __shared__ float inbox[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  cluster_barrier<right>();
  cluster.map_shared_rank(inbox, other_rank())[threadIdx.x] = 1; // <- early write
  cluster.sync();
  out[blockIdx.x * THREADS + threadIdx.x] = inbox[threadIdx.x];
}
void cluster_not_begun(bool broken) { RUN(early_kernel, 2, 0, device_floats(2 * THREADS)) }

template <bool right>
__global__ void last_read_kernel(float *out) {
  extern __shared__ float tile[];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = 1;
  cluster.sync();
  out[blockIdx.x * THREADS + threadIdx.x] =
      cluster.map_shared_rank(tile, other_rank())[threadIdx.x]; // <- last read
  cluster_barrier<right>();
}
void cluster_ended(bool broken) {
  RUN(last_read_kernel, 4, THREADS * sizeof(float), device_floats(4 * THREADS))
}

// The first block reads from the second, which has nothing to read, nor has the second cluster.
template <bool right>
__global__ void first_reads_kernel(float *out) {
  __shared__ float tile[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = 1;
  cluster.sync();
  if (blockIdx.x == 0)
    out[threadIdx.x] = cluster.map_shared_rank(tile, 1)[threadIdx.x]; // <- first reads
  cluster_barrier<right>();
}
void cluster_ended_of_second(bool broken) { RUN(first_reads_kernel, 4, 0, device_floats(THREADS)) }

// The second block adds to the first one's sum, which is gone by then in every order.
template <bool right>
__global__ void late_add_kernel(int *out) {
  __shared__ int sum;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) sum = 0;
  cluster.sync();
  if (!right && cluster.block_rank() == 0) return;
  cluster.sync();
  if (cluster.block_rank() == 1) atomicAdd(cluster.map_shared_rank(&sum, 0), 1); // <- late add
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) *out = sum;
}
void cluster_add_after_end(bool broken) {
  RUN(late_add_kernel, 2, 0, reinterpret_cast<int *>(device_floats(1)))
}

// ---- What is there ------------------------------------------------------------------------------

template <bool right>
__global__ void unwritten_kernel(float *out) {
  __shared__ float tile[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  if (right || threadIdx.x != 5 || cluster.block_rank() != 1) tile[threadIdx.x] = 1;
  cluster.sync();
  const float *other = cluster.map_shared_rank(tile, other_rank());
  out[blockIdx.x * THREADS + threadIdx.x] = other[threadIdx.x]; // <- unwritten remote
  cluster.sync();
}
void cluster_unwritten(bool broken) { RUN(unwritten_kernel, 2, 0, device_floats(2 * THREADS)) }

template <bool right>
__global__ void past_dynamic_kernel(float *out) {
  extern __shared__ float tile[];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = 1;
  cluster.sync();
  const float *other = cluster.map_shared_rank(tile, other_rank());
  if (cluster.block_rank() == 0) out[threadIdx.x] = other[threadIdx.x + !right]; // <- past dynamic
  cluster.sync();
}
void cluster_past_dynamic(bool broken) {
  RUN(past_dynamic_kernel, 2, THREADS * sizeof(float), device_floats(THREADS))
}
// The same where half of the number is there.
void cluster_straddles_dynamic(bool broken) {
  RUN(past_dynamic_kernel, 2, THREADS * sizeof(float) + 2, device_floats(THREADS))
}

template <bool right>
__global__ void past_static_kernel(float *out) {
  __shared__ float tile[THREADS - 1];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < THREADS - 1) tile[threadIdx.x] = 1;
  cluster.sync();
  const float *other = cluster.map_shared_rank(&tile[0], other_rank());
  if (cluster.block_rank() == 0 && (!right || threadIdx.x < THREADS - 1))
    out[threadIdx.x] = other[threadIdx.x]; // <- past static
  cluster.sync();
}
void cluster_past_static(bool broken) { RUN(past_static_kernel, 2, 0, device_floats(THREADS)) }
