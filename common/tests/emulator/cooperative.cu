// Tests cooperative launches: blocks that run at the same time and wait for each other.
#include "device_array.h"
#include "semantics.h"

#include <algorithm>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <vector>

namespace cg = cooperative_groups;

static const unsigned THREADS = 64;

// As many blocks as these, or as the GPU can run at the same time.
static unsigned blocks_of(unsigned wanted) {
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  return device.cooperativeLaunch ? std::min(wanted, unsigned(device.multiProcessorCount)) : 1;
}

// ---- Words that blocks poll for -----------------------------------------------------------------

// Each block hands its number on to the next block in each round. A word holds the round as well, so that one atomic
// operation says both.
__global__ void ring_kernel(unsigned long long *words, unsigned rounds, unsigned *out) {
  const unsigned blocks = gridDim.x, block = blockIdx.x, before = (block + blocks - 1) % blocks;
  unsigned value = block * THREADS + threadIdx.x;
  for (unsigned round = 1; round <= rounds; round++) {
    unsigned long long *row = words + round * blocks * THREADS, seen;
    atomicExch(&row[block * THREADS + threadIdx.x], (unsigned long long)(round) << 32 | value);
    do {
      seen = atomicAdd(&row[before * THREADS + threadIdx.x], 0);
    } while (seen >> 32 != round);
    value = unsigned(seen);
  }
  out[block * THREADS + threadIdx.x] = value;
}

// There are many more blocks than cores.
bool cooperative_ring(error_text *error) {
  unsigned blocks = blocks_of(130), rounds = 5;
  device_array<unsigned long long> words((rounds + 1) * blocks * THREADS);
  device_array<unsigned> out(blocks * THREADS);
  unsigned long long *of_words = words.data();
  unsigned *of_out = out.data();
  void *arguments[] = {&of_words, &rounds, &of_out};
  cudaLaunchCooperativeKernel(ring_kernel, dim3(blocks), dim3(THREADS), arguments, 0, 0);
  if (!device_finished(error, "ring_kernel")) return false;
  const std::vector<unsigned> got = out.host();
  for (unsigned i = 0; i < got.size(); i++) {
    const unsigned first = (i / THREADS + rounds * (blocks - 1)) % blocks;
    if (got[i] != first * THREADS + i % THREADS)
      return fail(error, "thread %u of block %u has %u, not block %u's", i % THREADS, i / THREADS,
                  got[i], first);
  }
  return true;
}

// ---- The grid's barrier -------------------------------------------------------------------------

__global__ void reverse_kernel(unsigned *numbers, unsigned *out, unsigned rounds) {
  cg::grid_group grid = cg::this_grid();
  const unsigned rank = unsigned(grid.thread_rank()), last = unsigned(grid.size()) - 1;
  for (unsigned round = 0; round < rounds; round++) {
    numbers[rank] = rank + round;
    grid.sync();
    out[rank] += numbers[last - rank];
    grid.sync();
  }
}

bool cooperative_barrier(error_text *error) {
  unsigned blocks = blocks_of(9), rounds = 4;
  device_array<unsigned> numbers(blocks * THREADS), out(blocks * THREADS);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = THREADS;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, reverse_kernel, numbers.data(), out.data(), rounds);
  if (!device_finished(error, "reverse_kernel")) return false;
  const std::vector<unsigned> got = out.host();
  for (unsigned i = 0; i < got.size(); i++) {
    const unsigned expected = rounds * unsigned(got.size() - 1 - i) + rounds * (rounds - 1) / 2;
    if (got[i] != expected) return fail(error, "thread %u has %u, not %u", i, got[i], expected);
  }
  return true;
}

// ---- How many blocks fit ------------------------------------------------------------------------

__global__ void gather_kernel(unsigned *arrived, unsigned *wrong) {
  cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) atomicAdd(arrived, 1);
  grid.sync();
  if (threadIdx.x == 0 && *arrived != gridDim.x) atomicAdd(wrong, 1);
}

// As many blocks as the GPU holds at once find each other, and one more is refused.
bool cooperative_room(error_text *error) {
  const unsigned threads = 1024;
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  int held; // by a multiprocessor
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, gather_kernel, threads, 0);
  const unsigned most = unsigned(held * device.multiProcessorCount);
  device_array<unsigned> counts(2);
  unsigned *arrived = counts.data(), *wrong = arrived + 1;
  void *arguments[] = {&arrived, &wrong};
  const cudaError_t refused =
      cudaLaunchCooperativeKernel(gather_kernel, dim3(most + 1), dim3(threads), arguments, 0, 0);
  if (refused != cudaErrorCooperativeLaunchTooLarge || cudaGetLastError() != refused)
    return fail(error, "%u blocks, of which %u fit: %s", most + 1, most, cudaGetErrorName(refused));
  cudaLaunchCooperativeKernel(gather_kernel, dim3(most), dim3(threads), arguments, 0, 0);
  if (!device_finished(error, "gather_kernel")) return false;
  const std::vector<unsigned> got = counts.host();
  if (got[0] == most && got[1] == 0) return true;
  return fail(error, "%u of %u blocks have arrived, and %u have missed some", got[0], most, got[1]);
}

// ---- The barrier of CUDA's library --------------------------------------------------------------

// nvcc warns that nothing constructs the barrier in shared memory: init() does it, below.
#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void mirror_kernel(unsigned *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  __shared__ unsigned values[THREADS];
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  values[threadIdx.x] = 3 * threadIdx.x;
  all.arrive_and_wait();
  out[threadIdx.x] = values[THREADS - 1 - threadIdx.x];
}

bool library_barrier(error_text *error) {
  device_array<unsigned> out(THREADS);
  mirror_kernel<<<1, THREADS>>>(out.data());
  if (!device_finished(error, "mirror_kernel")) return false;
  const std::vector<unsigned> got = out.host();
  for (unsigned i = 0; i < THREADS; i++)
    if (got[i] != 3 * (THREADS - 1 - i)) return fail(error, "thread %u has %u", i, got[i]);
  return true;
}
