// Blocks of a cooperative launch that wait for each other. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_runtime.h>
#include <stdio.h>

namespace cg = cooperative_groups;

static const unsigned THREADS = 64;

template <typename... Parameters, typename... Arguments>
static void launch(void (*kernel)(Parameters...), dim3 grid, Arguments... arguments) {
  void *pointers[] = {&arguments...};
  cudaLaunchCooperativeKernel(kernel, grid, dim3(THREADS), pointers, 0, cudaStream_t(0));
}
#define RUN(kernel, grid, ...)                                                                     \
  if (broken) launch(kernel<false>, grid, __VA_ARGS__);                                            \
  if (!broken) launch(kernel<true>, grid, __VA_ARGS__);

// A word holds the round that its value is of as well, so that one atomic operation passes on both.
static __device__ unsigned long long word(unsigned round, unsigned value) {
  return (unsigned long long)(round) << 32 | value;
}
static __device__ unsigned poll(unsigned long long *words, unsigned round) {
  unsigned long long seen;
  do {
    seen = atomicAdd(words, 0);
  } while (seen >> 32 != round);
  return unsigned(seen);
}

// Each block gives the next one a value in each round. Shared memory is each block's own, at the same address in all.
template <bool right>
__global__ void words_kernel(unsigned long long *words, float *out) {
  __shared__ unsigned value[THREADS];
  const unsigned blocks = gridDim.x * gridDim.y, block = blockIdx.x + gridDim.x * blockIdx.y;
  const unsigned before = (block + blocks - 1) % blocks;
  value[threadIdx.x] = block;
  for (unsigned round = 1; round <= 3; round++) {
    unsigned long long *row = words + round * blocks * THREADS;
    atomicExch(&row[block * THREADS + threadIdx.x], word(round, value[threadIdx.x]));
    value[threadIdx.x] = poll(&row[before * THREADS + threadIdx.x], round);
    __syncthreads();
  }
  if (!right) out[threadIdx.x] = 1; // <- words write
  if (right) out[block * THREADS + threadIdx.x] = value[threadIdx.x];
}
void cooperative_words(bool broken) {
  const unsigned blocks = 8;
  RUN(words_kernel, dim3(blocks / 2, 2),
      reinterpret_cast<unsigned long long *>(device_floats(8 * blocks * THREADS)),
      device_floats(blocks * THREADS))
}

// The flag is an atomic operation's, and what it stands for lacks the fence.
template <bool right>
__global__ void flag_kernel(float *data, unsigned *flag, float *out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x; // <- flag write
    if (right) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else {
    if (threadIdx.x == 0)
      while (atomicAdd(flag, 0) == 0) {
      }
    __threadfence();
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = data[threadIdx.x]; // <- flag read
  }
}
void cooperative_flag(bool broken) {
  RUN(flag_kernel, dim3(3), device_floats(THREADS), reinterpret_cast<unsigned *>(device_floats(1)),
      device_floats(3 * THREADS))
}

// The flag puts nothing in order, as it lacks the fence, and of what it stands for one access alone is atomic.
template <bool right>
__global__ void plain_word_kernel(unsigned *word, unsigned *flag) {
  if (threadIdx.x > 0) return;
  if (blockIdx.x == 0) {
    if (right) atomicExch(word, 1);
    if (!right) *word = 1; // <- plain write
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    atomicAdd(word, 1); // <- plain add
  }
}
void cooperative_plain_word(bool broken) {
  RUN(plain_word_kernel, dim3(2), reinterpret_cast<unsigned *>(device_floats(1)),
      reinterpret_cast<unsigned *>(device_floats(1)))
}

template <bool right>
__global__ void grid_kernel(float *data, float *out) {
  cg::grid_group grid = cg::this_grid();
  const unsigned other = (grid.thread_rank() + 3 * THREADS) % grid.size();
  for (int round = 0; round < 3; round++) {
    data[grid.thread_rank()] = round; // <- grid write
    if (right || round < 2) grid.sync();
    const float value = data[other]; // <- grid read
    grid.sync();
    out[grid.thread_rank()] = value;
  }
}
void cooperative_grid(bool broken) {
  RUN(grid_kernel, dim3(16), device_floats(16 * THREADS), device_floats(16 * THREADS))
}

// A barrier of clusters, which are of one block each, says nothing of other blocks.
template <bool right>
__global__ void cluster_kernel(float *data, float *out) {
  __shared__ float tile[THREADS];
  cg::grid_group grid = cg::this_grid();
  cg::cluster_group cluster = cg::this_cluster();
  if (cluster.num_blocks() != 1 || cluster.block_rank() != 0 || __clusterDimIsSpecified()) return;
  data[grid.thread_rank()] = 1; // <- cluster write
  tile[threadIdx.x] = threadIdx.x;
  if (!right) cluster.sync();
  if (right) grid.sync();
  const float other = cluster.map_shared_rank(tile, 0)[THREADS - 1 - threadIdx.x];
  out[grid.thread_rank()] =
      other + data[(grid.thread_rank() + THREADS) % grid.size()]; // <- cluster read
}
void cooperative_cluster(bool broken) {
  RUN(cluster_kernel, dim3(2), device_floats(2 * THREADS), device_floats(2 * THREADS))
}

// One block writes and the other one reads, in whichever order they come to their barriers.
template <bool right>
__global__ void cluster_of_one_kernel(float *data, float *out) {
  if (blockIdx.x == 0) data[threadIdx.x] = 1; // <- of one write
  if (right) cg::this_grid().sync();
  if (!right) cg::this_cluster().sync();
  if (blockIdx.x == 1) out[threadIdx.x] = data[threadIdx.x]; // <- of one read
}
void cooperative_cluster_of_one(bool broken) {
  RUN(cluster_of_one_kernel, dim3(2), device_floats(THREADS), device_floats(THREADS))
}

// ---- What cannot go on, or begin ----------------------------------------------------------------

template <bool right>
__global__ void missing_kernel(unsigned *count) {
  if (!right && blockIdx.x == 2) return;
  cg::this_grid().sync(); // <- missing
  atomicAdd(count, 1);
}
void cooperative_missing(bool broken) {
  RUN(missing_kernel, dim3(4), reinterpret_cast<unsigned *>(device_floats(1)))
}

template <bool right>
__global__ void stuck_kernel(unsigned *count) {
  if (!right && blockIdx.x == 1 && threadIdx.x == 7) __syncwarp(0xC0); // <- stuck
  cg::this_grid().sync();
  atomicAdd(count, 1);
}
void cooperative_stuck(bool broken) {
  RUN(stuck_kernel, dim3(4), reinterpret_cast<unsigned *>(device_floats(1)))
}

template <bool right>
__global__ void many_kernel(unsigned *count) {
  atomicAdd(count, 1);
  cg::this_grid().sync();
}
void cooperative_too_many(bool broken) {
  int has = 0;
  cudaDeviceGetAttribute(&has, cudaDevAttrCooperativeLaunch, 0);
  RUN(many_kernel, dim3(17), reinterpret_cast<unsigned *>(device_floats(1)))
  fprintf(stderr, "%s, attribute %d\n", cudaGetErrorName(cudaGetLastError()), has);
}

// A pipeline of the block's threads: a thread that is ahead copies into a stage as soon as all have released it.
template <bool right>
__global__ void pipeline_kernel(const float *in, float *out) {
  const cg::thread_block block = cg::this_thread_block();
  __shared__ float tiles[2][THREADS];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0;
  for (unsigned fetch = 0, i = 0; i < 4; i++) {
    for (; fetch < 4 && fetch < i + 2; fetch++) {
      pipe.producer_acquire();
      const float *from = in + fetch * THREADS;
      cuda::memcpy_async(block, tiles[fetch % 2], from, sizeof tiles[0], pipe); // <- stage copy
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    if (!right) pipe.consumer_release();
    sum += tiles[i % 2][THREADS - 1 - threadIdx.x]; // <- stage read
    if (right) pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
void stage_released_early(bool broken) {
  launch(broken ? pipeline_kernel<false> : pipeline_kernel<true>, dim3(1),
         (const float *)device_floats(4 * THREADS), device_floats(THREADS));
}

// The last copies wait for stages that no thread releases.
__global__ void unreleased_kernel(const float *in) {
  const cg::thread_block block = cg::this_thread_block();
  __shared__ float tiles[2][THREADS];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  for (unsigned i = 0; i < 3; i++) {
    pipe.producer_acquire(); // <- acquire
    cuda::memcpy_async(block, tiles[i % 2], in, sizeof tiles[0], pipe);
    pipe.producer_commit();
  }
}
void stage_never_released(bool) {
  launch(unreleased_kernel, dim3(1), (const float *)device_floats(THREADS));
}
