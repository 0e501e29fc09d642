// Tests clusters: blocks that wait for each other and reach each other's shared memory.
#include "device_array.h"
#include "semantics.h"

#include <cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;

// GPUs without clusters compile empty kernels, and do not run them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define KERNEL_WITH_CLUSTERS(...)                                                                  \
  {}
#else
#define KERNEL_WITH_CLUSTERS(...) __VA_ARGS__
#endif

namespace {

template <typename... Parameters, typename... Arguments>
cudaError_t launch_clusters(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t bytes,
                            dim3 cluster, Arguments... arguments) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

bool device_has_clusters() {
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  return major >= 9;
}

template <typename Kernel>
void allow_large_clusters(Kernel kernel) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

} // namespace

// ---- Places -------------------------------------------------------------------------------------

struct cluster_place {
  unsigned block_rank, num_blocks, thread_rank, num_threads, own_rank, next_rank;
  dim3 block_index, dim_blocks;
};

__global__ void places_kernel(cluster_place *places) KERNEL_WITH_CLUSTERS({
  __shared__ int own;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  if (threadIdx.x == 0) own = 0;
  places[block * blockDim.x + threadIdx.x] = {
      cluster.block_rank(),
      cluster.num_blocks(),
      cluster.thread_rank(),
      cluster.num_threads(),
      cluster.query_shared_rank(&own),
      cluster.query_shared_rank(cluster.map_shared_rank(&own, int(next))),
      cluster.block_index(),
      cluster.dim_blocks()};
})

    static bool places_of(error_text *error, dim3 grid, dim3 cluster, bool plain) {
  const unsigned threads = 40, blocks = cluster.x * cluster.y * cluster.z;
  device_array<cluster_place> places(grid.x * grid.y * grid.z * threads);
  if (plain) {
    places_kernel<<<grid, threads>>>(places.data());
  } else {
    launch_clusters(places_kernel, grid, threads, 0, cluster, places.data());
  }
  if (!device_finished(error, "places_kernel")) return false;
  const std::vector<cluster_place> got = places.host();
  for (unsigned i = 0; i < got.size(); i++) {
    const unsigned block = i / threads, x = block % grid.x, y = block / grid.x % grid.y,
                   z = block / (grid.x * grid.y);
    const unsigned in_x = x % cluster.x, in_y = y % cluster.y, in_z = z % cluster.z;
    const unsigned rank = in_x + cluster.x * (in_y + cluster.y * in_z);
    const cluster_place &p = got[i];
    if (p.block_rank != rank || p.num_blocks != blocks || p.num_threads != blocks * threads ||
        p.thread_rank != rank * threads + i % threads || p.own_rank != rank ||
        p.next_rank != (rank + 1) % blocks || p.block_index.x != in_x || p.block_index.y != in_y ||
        p.block_index.z != in_z || p.dim_blocks.x != cluster.x || p.dim_blocks.y != cluster.y ||
        p.dim_blocks.z != cluster.z)
      return fail(error, "block (%u,%u,%u) sees itself as block %u of %u, thread %u of %u", x, y, z,
                  p.block_rank, p.num_blocks, p.thread_rank, p.num_threads);
  }
  return true;
}

bool clusters_places(error_text *error) {
  if (!device_has_clusters()) return true;
  return places_of(error, dim3(6, 4, 2), dim3(3, 2, 1), false) &&
         places_of(error, dim3(4, 4, 4), dim3(1, 2, 2), false) &&
         places_of(error, dim3(5, 2, 1), dim3(1, 1, 1), false) &&
         places_of(error, dim3(5, 2, 1), dim3(1, 1, 1), true);
}

// ---- Sums over a cluster ------------------------------------------------------------------------

// Each block adds its numbers in static or dynamic shared memory; the first block of the cluster adds these sums.
__global__ void cluster_sum_kernel(const int *numbers, int *sums, bool is_static)
    KERNEL_WITH_CLUSTERS({
      extern __shared__ int dynamic_sum[];
      __shared__ int static_sum;
      cg::cluster_group cluster = cg::this_cluster();
      int *sum = is_static ? &static_sum : dynamic_sum;
      if (threadIdx.x == 0) *sum = 0;
      __syncthreads();
      atomicAdd(sum, numbers[blockIdx.x * blockDim.x + threadIdx.x]);
      cluster.sync();
      if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        int total = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
          total += *cluster.map_shared_rank(sum, int(rank));
        sums[blockIdx.x / cluster.num_blocks()] = total;
      }
      cluster.sync();
    })

        bool clusters_sums(error_text *error) {
  if (!device_has_clusters()) return true;
  const unsigned threads = 96;
  allow_large_clusters(cluster_sum_kernel);
  for (unsigned size : {1, 2, 3, 4, 8, 12, 16}) {
    for (int is_static = 0; is_static < 2; is_static++) {
      const unsigned clusters = 5, count = clusters * size * threads;
      std::vector<int> numbers(count), right(clusters);
      for (unsigned i = 0; i < count; i++) {
        numbers[i] = int(i * 7919 % 1000);
        right[i / (size * threads)] += numbers[i];
      }
      device_array<int> in(numbers), out(clusters);
      launch_clusters(cluster_sum_kernel, clusters * size, threads, is_static ? 0 : sizeof(int),
                      size, in.data(), out.data(), is_static != 0);
      if (!device_finished(error, "cluster_sum_kernel")) return false;
      const std::vector<int> got = out.host();
      for (unsigned i = 0; i < clusters; i++)
        if (got[i] != right[i])
          return fail(error, "clusters of %u blocks: sum %u is %d, not %d", size, i, got[i],
                      right[i]);
    }
  }
  return true;
}

// ---- Atomic operations --------------------------------------------------------------------------

// A histogram of which each block of the cluster holds a part.
__global__ void cluster_histogram_kernel(const unsigned *values, unsigned count, unsigned *counts)
    KERNEL_WITH_CLUSTERS({
      const unsigned PART = 8;
      extern __shared__ unsigned part[];
      cg::cluster_group cluster = cg::this_cluster();
      if (threadIdx.x < PART) part[threadIdx.x] = 0;
      cluster.sync(); // all blocks have begun, and their parts are 0
      for (unsigned i = cluster.thread_rank(); i < count; i += cluster.num_threads()) {
        const unsigned value = values[i];
        unsigned *other = cluster.map_shared_rank(part, int(value / PART));
        atomicAdd(other + value % PART, 1u);
      }
      cluster.sync();
      if (threadIdx.x < PART) counts[cluster.block_rank() * PART + threadIdx.x] = part[threadIdx.x];
    })

        bool clusters_histogram(error_text *error) {
  if (!device_has_clusters()) return true;
  const unsigned size = 4, bins = 8 * size, count = 5000;
  std::vector<unsigned> values(count), right(bins);
  for (unsigned i = 0; i < count; i++) {
    values[i] = i * i * 31 % bins;
    right[values[i]]++;
  }
  device_array<unsigned> in(values), out(bins);
  launch_clusters(cluster_histogram_kernel, size, 128, 8 * sizeof(unsigned), size, in.data(), count,
                  out.data());
  if (!device_finished(error, "cluster_histogram_kernel")) return false;
  const std::vector<unsigned> got = out.host();
  for (unsigned i = 0; i < bins; i++)
    if (got[i] != right[i])
      return fail(error, "bin %u holds %u values, not %u", i, got[i], right[i]);
  return true;
}

// ---- The barrier in two parts -------------------------------------------------------------------

// In each round a block writes to the next one, arrives, does something of its own, waits, and reads what the block
// before it has written. Two buffers alternate, so that one barrier for each round is enough.
__global__ void cluster_ring_kernel(int *out, int rounds) KERNEL_WITH_CLUSTERS({
  __shared__ int inbox[2][64];
  __shared__ int own[64];
  cg::cluster_group cluster = cg::this_cluster();
  const int next = int((cluster.block_rank() + 1) % cluster.num_blocks());
  int value = int(cluster.thread_rank());
  cluster.sync();
  for (int round = 0; round < rounds; round++) {
    int *other = cluster.map_shared_rank(&inbox[round % 2][0], next);
    other[threadIdx.x] = value;
    auto arrived = cluster.barrier_arrive();
    own[threadIdx.x] = round;
    __syncthreads();
    const int neighbour = own[(threadIdx.x + 1) % blockDim.x];
    if (round % 2 == 0) {
      cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(arrived));
    } else {
      cluster.barrier_wait();
    }
    value = inbox[round % 2][threadIdx.x] + 1000 * (neighbour - round + 1);
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
  cluster.sync();
})

    bool clusters_ring(error_text *error) {
  if (!device_has_clusters()) return true;
  const unsigned size = 6, threads = 64;
  const int rounds = 7;
  device_array<int> out(2 * size * threads);
  launch_clusters(cluster_ring_kernel, 2 * size, threads, 0, size, out.data(), rounds);
  if (!device_finished(error, "cluster_ring_kernel")) return false;
  const std::vector<int> got = out.host();
  for (unsigned i = 0; i < got.size(); i++) {
    const unsigned rank = i / threads % size, from = (rank + size * 2 - rounds) % size;
    const int right = int(from * threads + i % threads) + 1000 * rounds;
    if (got[i] != right)
      return fail(error, "thread %u of block %u got %d, not %d", i % threads, i / threads, got[i],
                  right);
  }
  return true;
}

// ---- Threads and blocks that end ----------------------------------------------------------------

// The barrier does not wait for threads that have exited, nor for a block of which all have.
__global__ void cluster_exits_kernel(int *out) KERNEL_WITH_CLUSTERS({
  cg::cluster_group cluster = cg::this_cluster();
  if (cluster.block_rank() == 1 || threadIdx.x >= 40) return;
  cluster.sync();
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = int(cluster.num_blocks());
})

    bool clusters_exits(error_text *error) {
  if (!device_has_clusters()) return true;
  device_array<int> out(4);
  launch_clusters(cluster_exits_kernel, 4, 64, 0, 4, out.data());
  if (!device_finished(error, "cluster_exits_kernel")) return false;
  const std::vector<int> got = out.host();
  for (int i = 0; i < 4; i++)
    if (got[size_t(i)] != (i == 1 ? 0 : 4))
      return fail(error, "block %d wrote %d", i, got[size_t(i)]);
  return true;
}

// ---- Polling ------------------------------------------------------------------------------------

// A block polls for a flag that another one sets.
__global__ void cluster_flag_kernel(int *out) KERNEL_WITH_CLUSTERS({
  __shared__ int flag, message;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) flag = 0;
  cluster.sync();
  const int other = int(1 - cluster.block_rank());
  if (threadIdx.x == 0 && cluster.block_rank() == 1) {
    *cluster.map_shared_rank(&message, other) = 42;
    __threadfence();
    atomicExch(cluster.map_shared_rank(&flag, other), 1);
  }
  if (threadIdx.x == 0 && cluster.block_rank() == 0) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    __threadfence();
    out[0] = message;
  }
  cluster.sync();
})

    bool clusters_flag(error_text *error) {
  if (!device_has_clusters()) return true;
  device_array<int> out(1);
  launch_clusters(cluster_flag_kernel, 2, 32, 0, 2, out.data());
  if (!device_finished(error, "cluster_flag_kernel")) return false;
  return out.host()[0] == 42 || fail(error, "the message is %d", out.host()[0]);
}

// ---- What the host asks -------------------------------------------------------------------------

__global__ void one_int_kernel(int *out) KERNEL_WITH_CLUSTERS({
  if (out != nullptr && threadIdx.x == 0) out[blockIdx.x] = int(cg::this_cluster().num_blocks());
})

    static bool expect_error(error_text *error, const char *what, cudaError_t got,
                             cudaError_t right) {
  const cudaError_t last = cudaGetLastError();
  if (got == right && last == right) return true;
  return fail(error, "%s gives %s and then %s, not %s", what, cudaGetErrorName(got),
              cudaGetErrorName(last), cudaGetErrorName(right));
}

bool clusters_refused(error_text *error) {
  if (!device_has_clusters()) return true;
  int *none = nullptr;
  const cudaError_t size = cudaErrorInvalidClusterSize;
  const auto launch = [=](dim3 grid, dim3 cluster) {
    return launch_clusters(one_int_kernel, grid, 32, 0, cluster, none);
  };
  cudaFuncSetAttribute(one_int_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 0);
  if (!expect_error(error, "a cluster of 9 blocks", launch(18, 9), size) ||
      !expect_error(error, "a cluster of 16 blocks", launch(16, 16), size) ||
      !expect_error(error, "3 blocks in clusters of 2", launch(3, 2), size) ||
      !expect_error(error, "4 x 4 blocks in clusters of 2 x 3", launch(dim3(4, 4), dim3(2, 3)),
                    size) ||
      !expect_error(error, "a cluster of 2 x 0 x 1 blocks", launch(2, dim3(2, 0, 1)), size) ||
      !expect_error(error, "a cluster of 8 blocks", launch(16, 8), cudaSuccess) ||
      !expect_error(error, "a cluster that is not said", launch(3, dim3(0, 0, 0)), cudaSuccess))
    return false;
  allow_large_clusters(one_int_kernel);
  if (!expect_error(error, "an allowed cluster of 16 blocks", launch(16, 16), cudaSuccess) ||
      !expect_error(error, "a cluster of 17 blocks", launch(17, 17), size) ||
      !expect_error(error, "a cluster of 32 blocks", launch(32, 32), size))
    return false;
  cudaLaunchAttribute attribute = {};
  attribute.id = static_cast<cudaLaunchAttributeID>(77);
  cudaLaunchConfig_t config = {};
  config.gridDim = 2;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return expect_error(error, "an unknown attribute",
                      cudaLaunchKernelEx(&config, one_int_kernel, none), cudaErrorInvalidValue);
}

bool clusters_occupancy(error_text *error) {
  if (!device_has_clusters()) return true;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.blockDim = 1024;
  config.attrs = &attribute;
  config.numAttrs = 1;
  for (int allowed = 0; allowed < 2; allowed++) {
    cudaFuncSetAttribute(one_int_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, allowed);
    for (unsigned size : {2, 8, 16, 32}) {
      attribute.val.clusterDim.x = size;
      config.gridDim = 3 * size;
      int clusters = -1;
      const cudaError_t got = cudaOccupancyMaxActiveClusters(&clusters, one_int_kernel, &config);
      cudaGetLastError();
      const bool refused = size > 8 && allowed == 0;
      if (got != (refused ? cudaErrorInvalidClusterSize : cudaSuccess) ||
          (!refused && (clusters > 0) != (size <= 16)))
        return fail(error, "clusters of %u blocks: %s, %d clusters", size, cudaGetErrorName(got),
                    clusters);
    }
  }
  return true;
}
