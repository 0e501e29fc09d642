// Tests clusters: blocks that wait for each other and reach each other's shared memory.
#include "clusters.h"

#include <vector>

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
