// Groups of threads, and what they do together.
#include "feature.h"

#define BLOCK 256 // as many programs have it, before the header
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__global__ void sum_tiles(const int *x, int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto quarter = cg::tiled_partition<8>(warp);
  int value = x[block.thread_rank()];
  int all = cg::reduce(warp, value, cg::plus<int>());
  int some = cg::reduce(quarter, value, cg::greater<int>());
  int before = cg::exclusive_scan(warp, value, cg::plus<int>());
  if (warp.thread_rank() == 0) out[warp.meta_group_rank()] = all;
  block.sync();
  if (block.thread_rank() == 37) out[2] = some, out[3] = before;
  if (block.thread_rank() == 45)
    out[68] = quarter.meta_group_rank(), out[69] = quarter.meta_group_size();
  out[4 + block.thread_rank()] = warp.shfl_down(value, 1);
}

FEATURE(cooperative_groups_tiles,
        "thread_block, tiled_partition, shuffles and votes of tiles, reduce, inclusive_scan, "
        "exclusive_scan",
        "") {
  int *x, *out;
  CHECK(cudaMallocManaged(&x, 64 * sizeof(int)));
  CHECK(cudaMallocManaged(&out, 70 * sizeof(int)));
  for (int i = 0; i < 64; i++) x[i] = i;
  sum_tiles<<<1, 64>>>(x, out);
  CHECK(cudaDeviceSynchronize());
  return out[0] == 496 && out[1] == 1520 && out[2] == 39 && out[3] == 32 + 33 + 34 + 35 + 36 &&
         out[4] == 1 && out[67] == 63 && out[68] == 1 && out[69] == 4;
}

__device__ int add_together(int *counter) {
  auto active = cg::coalesced_threads();
  int start = 0;
  if (active.thread_rank() == 0) start = atomicAdd(counter, (int)active.size());
  return active.shfl(start, 0) + active.thread_rank();
}

__global__ void filter(const int *x, int *out, int *counter) {
  int value = x[threadIdx.x];
  if (value % 3 == 0) out[add_together(counter)] = value;
}

FEATURE(cooperative_groups_coalesced, "coalesced_threads, binary_partition, labeled_partition",
        "") {
  int *x;
  CHECK(cudaMallocManaged(&x, 200 * sizeof(int)));
  for (int i = 0; i < 200; i++) x[i] = i < 96 ? i : 0;
  filter<<<1, 96>>>(x, x + 100, x + 199);
  CHECK(cudaDeviceSynchronize());
  int sum = 0;
  for (int i = 0; i < 32; i++) sum += x[100 + i];
  return x[199] == 32 && sum == 3 * 31 * 32 / 2;
}

__global__ void sum_grid(int *x, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int step = n / 2; step > 0; step /= 2) {
    int i = grid.thread_rank();
    if (i < step) x[i] += x[i + step];
    grid.sync();
  }
}

FEATURE(grid_sync, "cudaLaunchCooperativeKernel and this_grid().sync()",
        "under sanitize for up to 16 blocks: a launch of more fails and says so") {
  int *x, n = 256;
  CHECK(cudaMallocManaged(&x, n * sizeof(int)));
  for (int i = 0; i < n; i++) x[i] = i;
  void *arguments[] = {&x, &n};
  int cooperative = 0, multiprocessors = 0;
  CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  if (!cooperative) return false;
  const dim3 grid(4), block(32); // without the last two arguments, as in CUDA's guide
  CHECK(cudaLaunchCooperativeKernel((void *)sum_grid, grid, block, arguments));
  CHECK(cudaDeviceSynchronize());
  if (x[0] != 255 * 256 / 2) return false;
  // More threads than the operating system has mappings for stacks with a guard page each.
  for (int i = 0; i < n; i++) x[i] = i;
  const int blocks = multiprocessors < 34 ? multiprocessors : 34;
  CHECK(cudaLaunchCooperativeKernel((void *)sum_grid, blocks, 1024, arguments, 0, 0));
  CHECK(cudaDeviceSynchronize());
  return x[0] == 255 * 256 / 2;
}

template <unsigned Size>
__global__ void sum_tiles(const int *x, int *sums) {
  __shared__ cg::block_tile_memory<256> scratch;
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block(scratch));
  const int sum = cg::reduce(tile, x[threadIdx.x], cg::plus<int>());
  const int last = tile.shfl(x[threadIdx.x], Size - 1);
  if (tile.thread_rank() == 1) sums[tile.meta_group_rank()] = sum + last;
}

FEATURE(large_tiles, "tiles of 64 to 1024 threads: sync, shfl, any, all, reduce, block_tile_memory",
        "scans of them: an unknown name") {
  int *x;
  CHECK(cudaMallocManaged(&x, 264 * sizeof(int)));
  for (int i = 0; i < 256; i++) x[i] = i;
  sum_tiles<64><<<1, 256>>>(x, x + 256);
  sum_tiles<256><<<1, 256>>>(x, x + 260);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; i++)
    if (x[256 + i] != (64 * i) * 64 + 63 * 32 + 64 * i + 63) return false;
  return x[260] == 255 * 128 + 255;
}

__global__ void rotate(const float *x, float *y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  __shared__ alignas(16) float part[64];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&ready, block.size());
  block.sync();
  cuda::memcpy_async(&part[threadIdx.x], &x[threadIdx.x], sizeof(float), ready);
  ready.arrive_and_wait();
  y[threadIdx.x] = part[(threadIdx.x + 1) % 64];
  auto token = ready.arrive();
  ready.wait(std::move(token));
  cg::memcpy_async(block, part, x, sizeof part);
  cg::wait(block);
  y[threadIdx.x] += part[63 - threadIdx.x];
}

FEATURE(cuda_barrier, "cuda::barrier, memcpy_async of a thread and of a group",
        "arrive_and_drop and completion functions: an unknown name") {
  float *x;
  CHECK(cudaMallocManaged(&x, 128 * sizeof(float)));
  for (int i = 0; i < 64; i++) x[i] = i;
  rotate<<<1, 64>>>(x, x + 64);
  CHECK(cudaDeviceSynchronize());
  return x[64] == 1 + 63 && x[127] == 0 + 0;
}

__global__ void sum_pieces(const int *x, int pieces, int *out) {
  __shared__ int piece[2][32];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  int sum = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(&piece[0][threadIdx.x], &x[threadIdx.x], sizeof(int), pipe);
  pipe.producer_commit();
  for (int i = 1; i <= pieces; i++) {
    pipe.producer_acquire();
    if (i < pieces)
      cuda::memcpy_async(&piece[i % 2][threadIdx.x], &x[32 * i + threadIdx.x], sizeof(int), pipe);
    pipe.producer_commit();
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    sum += piece[(i - 1) % 2][threadIdx.x];
    pipe.consumer_release();
  }
  atomicAdd(out, sum);
}

// The last warp copies, and the others add up what it has copied.
__global__ void produce_and_consume(const int *x, int *sum, int n) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int stage[2][64];
  auto block = cg::this_thread_block();
  const bool produces = threadIdx.x >= 64;
  auto pipe = cuda::make_pipeline(
      block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int at = 0; at < n; at += 64) {
    int *part = stage[at / 64 % 2];
    if (produces) {
      pipe.producer_acquire();
      for (int i = threadIdx.x - 64; i < 64; i += 32)
        cuda::memcpy_async(&part[i], &x[at + i], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum[threadIdx.x] += part[63 - threadIdx.x];
      pipe.consumer_release();
    }
  }
}

FEATURE(pipeline_with_roles, "cuda::pipeline of a block whose threads produce or consume",
        "a group that is not the block") {
  const int n = 5 * 64;
  int *x;
  CHECK(cudaMallocManaged(&x, (n + 64) * sizeof(int)));
  for (int i = 0; i < n + 64; i++) x[i] = i < n ? i : 0;
  produce_and_consume<<<1, 96>>>(x, x + n, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++)
    if (x[n + i] != (0 + 64 + 128 + 192 + 256) + 5 * (63 - i)) return false;
  return true;
}

FEATURE(cuda_pipeline,
        "cuda::pipeline of a thread, and of a block whose threads all produce and consume", "") {
  int *x;
  CHECK(cudaMallocManaged(&x, 129 * sizeof(int)));
  for (int i = 0; i < 128; i++) x[i] = i;
  x[128] = 0;
  sum_pieces<<<1, 32>>>(x, 4, x + 128);
  CHECK(cudaDeviceSynchronize());
  return x[128] == 127 * 128 / 2;
}

__device__ cuda::atomic<int, cuda::thread_scope_device> total;
__device__ volatile cuda::std::atomic<int>
    blocks; // <cuda/atomic> has the names of cuda::std as well
__global__ void count_up(float *sum) {
  if (threadIdx.x == 0) blocks += 1;
  total.fetch_add(2, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_device> all(*sum);
  all.fetch_add(0.5f);
  if (threadIdx.x == 0) __threadfence();
  if (total.load() == 256) atomicExch(&sum[1], 256.0f); // the last threads see the whole sum
}

FEATURE(cuda_atomic, "cuda::atomic and cuda::atomic_ref",
        "every order of memory is the strictest one") {
  float *sum;
  CHECK(cudaMallocManaged(&sum, 2 * sizeof(float)));
  sum[0] = sum[1] = 0;
  count_up<<<2, 64>>>(sum);
  CHECK(cudaDeviceSynchronize());
  int seen = 0;
  CHECK(cudaMemcpyFromSymbol(&seen, blocks, sizeof seen));
  return sum[0] == 64 && sum[1] == 256 && seen == 2;
}
