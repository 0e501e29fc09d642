// Kernels for the order that the barrier of a cluster gives, beyond the plain cases of clusters.cu: threads that have
// ended, phases that are over and not waited for, relaxed arrivals, fences for the copy engine. Lines that a report must
// name have the mark "<-".
#include "faults.h"
#include "tiles.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

static const unsigned THREADS = 64;

// Launches one cluster of 2 blocks.
#define RUN(kernel)                                                                                \
  float *out = device_floats(2 * THREADS);                                                         \
  const CUtensorMap map = map_of_zeros();                                                          \
  if (broken) kernel<false><<<2, THREADS, TWO_TILES>>>(map, out);                                  \
  if (!broken) kernel<true><<<2, THREADS, TWO_TILES>>>(map, out);

static __device__ float *of_other(float *shared) {
  cg::cluster_group cluster = cg::this_cluster();
  return cluster.map_shared_rank(shared, int(1 - cluster.block_rank()));
}

// ---- Threads that have ended --------------------------------------------------------------------

// A barrier of the block orders nothing of a thread that has ended before, and so the cluster's barrier behind it does not.
template <bool right>
__global__ void __cluster_dims__(2) gone_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ float tile[THREADS];
  cg::this_cluster().sync();
  tile[threadIdx.x] = 1; // <- gone write
  if (!right && threadIdx.x >= 32) return;
  __syncthreads();
  cg::this_cluster().sync();
  if (threadIdx.x < 32)
    out[blockIdx.x * 32 + threadIdx.x] = of_other(tile)[threadIdx.x + 32]; // <- gone read
  cg::this_cluster().sync();
}
void cluster_gone_before_barrier(bool broken) { RUN(gone_kernel) }

// Lane 0 arrives for the others, which have ended. Their reads before they met in a shuffle are over by then.
template <bool right>
__global__ void __cluster_dims__(2) met_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ float inbox[THREADS];
  inbox[threadIdx.x] = 0;
  cg::this_cluster().sync();
  float own = inbox[threadIdx.x]; // <- met read
  if (right) own = __shfl_sync(0xffffffff, own, 0);
  out[blockIdx.x * THREADS + threadIdx.x] = own;
  if (threadIdx.x % 32 != 0) return;
  cg::this_cluster().sync();
  of_other(inbox)[threadIdx.x + 1] = 1; // <- met write
  cg::this_cluster().sync();
}
void cluster_met_before_end(bool broken) { RUN(met_kernel) }

// The second block reads from the first one, which has to wait for that.
template <bool right>
__global__ void __cluster_dims__(2)
    second_reads_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ float tile[THREADS];
  tile[threadIdx.x] = 1;
  cg::this_cluster().sync();
  if (blockIdx.x == 1) out[threadIdx.x] = of_other(tile)[threadIdx.x]; // <- second reads
  if (right) cg::this_cluster().sync();
}
void cluster_ended_before_second(bool broken) { RUN(second_reads_kernel) }

// It is enough that one thread waits, here for a flag.
template <bool right>
__global__ void __cluster_dims__(2)
    one_waits_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ float value;
  __shared__ int flag;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) flag = value = 0;
  cluster.sync();
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    out[0] = *of_other(&value);                       // <- before the flag
    atomicExch(cluster.map_shared_rank(&flag, 0), 1); // <- before the flag
  } else if (right && blockIdx.x == 0 && threadIdx.x == 40) {
    while (atomicAdd(&flag, 0) == 0) {
    }
  }
}
void cluster_ended_behind_flag(bool broken) { RUN(one_waits_kernel) }

// ---- Phases -------------------------------------------------------------------------------------

// A thread that has arrived for the second phase, and has not waited for it, knows of the first one alone. It is slow, so
// that the second phase is over in the meantime.
template <bool right>
__global__ void __cluster_dims__(2) phases_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ float first[THREADS], second[THREADS];
  cg::cluster_group cluster = cg::this_cluster();
  first[threadIdx.x] = 1;
  cluster.sync();
  second[threadIdx.x] = 2; // <- phases write
  cluster.barrier_arrive();
  if (threadIdx.x == 5) {
    for (int i = 0; i < 300; i++) __nanosleep(1000);
    out[blockIdx.x] = of_other(right ? first : second)[7]; // <- phases read
  }
  cluster.barrier_wait();
  cluster.sync();
}
void cluster_read_before_wait(bool broken) { RUN(phases_kernel) }

// The barrier of a cluster orders nothing of the clusters that have run before, or run beside it.
template <bool right>
__global__ void __cluster_dims__(2) next_kernel(float *x, float *out) {
  x[blockIdx.x * THREADS + threadIdx.x] = 1; // <- next write
  cg::this_cluster().sync();
  const unsigned other = right ? blockIdx.x ^ 1 : blockIdx.x % 2;
  out[blockIdx.x * THREADS + threadIdx.x] = x[other * THREADS + threadIdx.x]; // <- next read
}
void cluster_reads_of_first(bool broken) {
  float *x = device_floats(4 * THREADS), *out = device_floats(4 * THREADS);
  if (broken) next_kernel<false><<<4, THREADS>>>(x, out);
  if (!broken) next_kernel<true><<<4, THREADS>>>(x, out);
}

// ---- Atomic operations --------------------------------------------------------------------------

// A thread that looks at the flag in its shared memory comes behind the one of the other block that has raised it.
template <bool right>
__global__ void __cluster_dims__(2) flag_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ int flag;
  __shared__ float value;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) flag = 0;
  cluster.sync();
  if (cluster.block_rank() == 1 && threadIdx.x == 0) {
    *cluster.map_shared_rank(&value, 0) = 1; // <- flag write
    __threadfence();
    atomicExch(cluster.map_shared_rank(&flag, 0), 1);
  } else if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    while (right && atomicAdd(&flag, 0) == 0) {
    }
    __threadfence();
    out[0] = value; // <- flag read
  }
  cluster.sync();
}
void cluster_flag_not_read(bool broken) { RUN(flag_kernel) }

// ---- Relaxed arrivals ---------------------------------------------------------------------------

// A relaxed arrival before the access has nothing to do with the race.
template <bool right>
__global__ void __cluster_dims__(2)
    relaxed_before_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ float tile[THREADS];
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  tile[threadIdx.x] = 1; // <- relaxed before write
  if (right) cg::this_cluster().sync();
  out[blockIdx.x * THREADS + threadIdx.x] = of_other(tile)[threadIdx.x]; // <- relaxed before read
  cg::this_cluster().sync();
}
void cluster_relaxed_before(bool broken) { RUN(relaxed_before_kernel) }

// A relaxed arrival takes nothing away from that of the other warp.
template <bool right>
__global__ void __cluster_dims__(2) mixed_kernel(const __grid_constant__ CUtensorMap, float *out) {
  __shared__ float inbox[THREADS];
  cg::this_cluster().sync();
  if (threadIdx.x < 32) of_other(inbox)[threadIdx.x] = 1; // <- mixed write
  if (right && threadIdx.x < 32) {
    __cluster_barrier_arrive();
  } else {
    __cluster_barrier_arrive_relaxed();
  }
  __cluster_barrier_wait();
  if (threadIdx.x < 32)
    out[blockIdx.x * THREADS + threadIdx.x] = inbox[threadIdx.x]; // <- mixed read
  cg::this_cluster().sync();
}
void cluster_relaxed_beside(bool broken) { RUN(mixed_kernel) }

// ---- Box copies ---------------------------------------------------------------------------------

// Each block writes into the other one's tile, and fetches a tile over what the other one has written. The fence stands
// before the barrier of the cluster, where its thread may end before that, or behind it, or nowhere. That of the copying
// thread says nothing before the barrier. Where it is early, only the first block has a fence, and fetches.
enum fence_place { BY_WRITERS, BY_COPIER, BY_COPIER_EARLY, BY_ENDED };
template <fence_place place, bool right>
__device__ void refill_remote(const CUtensorMap *map) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full[1];
  create(full, 1);
  cg::this_cluster().sync();
  of_other(reinterpret_cast<float *>(tiles(memory)))[threadIdx.x] = 1; // <- remote write
  if (right && place == BY_WRITERS) writes_for_wgmma();
  if (!right && place == BY_COPIER && threadIdx.x == 0) reads_before_copies();
  if (place == BY_ENDED) __syncthreads();
  if (right && place == BY_ENDED && threadIdx.x == 40) reads_before_copies();
  if (place == BY_ENDED) __syncthreads();
  if (place == BY_ENDED && threadIdx.x >= 32) return;
  cg::this_cluster().sync();
  if (place == BY_COPIER && right && threadIdx.x == 0) reads_before_copies();
  const bool copies = place != BY_COPIER_EARLY || cg::this_cluster().block_rank() == 0;
  if (place == BY_COPIER_EARLY && right && copies && threadIdx.x == 0) reads_before_copies();
  for (int i = 0; place == BY_COPIER_EARLY && i < 3; i++) cg::this_cluster().sync();
  if (copies && threadIdx.x == 0) fetch(tiles(memory), map, &full[0]);
  if (copies) barrier_wait(&full[0], 0);
  cg::this_cluster().sync();
}
#define REFILL(name, place)                                                                        \
  template <bool right>                                                                            \
  __global__ void __cluster_dims__(2)                                                              \
      name##_kernel(const __grid_constant__ CUtensorMap map, float *) {                            \
    refill_remote<place, right>(&map);                                                             \
  }                                                                                                \
  void cluster_refill_##name(bool broken) { RUN(name##_kernel) }
REFILL(by_writers, BY_WRITERS)
REFILL(by_copier, BY_COPIER)
REFILL(by_copier_early, BY_COPIER_EARLY)
REFILL(by_ended, BY_ENDED)

// One block reads a tile of the other one, which reads it as well and fetches the next one over it. Each executes the fence
// behind its reads, or the one that is not the owner before them. Which block reads first depends on which one owns the tile.
template <bool right>
__global__ void __cluster_dims__(2)
    readers_kernel(const __grid_constant__ CUtensorMap map, float *out, unsigned owner) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  const bool owns = cg::this_cluster().block_rank() == owner;
  float *const place = reinterpret_cast<float *>(stage.place) + threadIdx.x;
  cg::this_cluster().sync();
  if (!owns && !right) reads_before_copies();
  out[blockIdx.x * THREADS + threadIdx.x] = owns ? *place : *of_other(place); // <- remote read
  if (owns || right) reads_before_copies();
  cg::this_cluster().sync();
  if (owns && threadIdx.x == 0) fetch(stage.place, &map, stage.full);
  if (owns) barrier_wait(stage.full, 1);
  cg::this_cluster().sync();
}
static void run_readers(bool broken, unsigned owner) {
  const auto kernel = broken ? readers_kernel<false> : readers_kernel<true>;
  kernel<<<2, THREADS, TWO_TILES>>>(map_of_zeros(), device_floats(2 * THREADS), owner);
}
void cluster_refill_by_first(bool broken) { run_readers(broken, 0); }
void cluster_refill_by_second(bool broken) { run_readers(broken, 1); }

// The block that has read the other one's tile says so by an atomic operation on device memory.
template <bool right>
__global__ void __cluster_dims__(2)
    told_kernel(const __grid_constant__ CUtensorMap map, float *out, unsigned *done) {
  extern __shared__ unsigned char memory[];
  const fetched_tile stage = arrived_tile(memory, &map);
  const unsigned rank = cg::this_cluster().block_rank();
  cg::this_cluster().sync();
  if (rank == 1 && threadIdx.x == 0) {
    out[0] = *of_other(reinterpret_cast<float *>(stage.place)); // <- told read
    if (right) reads_before_copies();
    __threadfence();
    atomicExch(done, 1);
  } else if (rank == 0 && threadIdx.x == 0) {
    while (atomicAdd(done, 0) == 0) {
    }
    __threadfence();
    fetch(stage.place, &map, stage.full);
    barrier_wait(stage.full, 1);
  }
  cg::this_cluster().sync();
}
void cluster_refill_by_flag(bool broken) {
  const auto kernel = broken ? told_kernel<false> : told_kernel<true>;
  kernel<<<2, THREADS, TWO_TILES>>>(map_of_zeros(), device_floats(1),
                                    reinterpret_cast<unsigned *>(device_floats(1)));
}
