// Asynchronous copies that are used too early or forgotten, and barriers that
// some threads never reach. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include "ptx.cuh"
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#define RUN(kernel, grid, block, ...)                                                              \
  if (broken) kernel<false><<<grid, block>>>(__VA_ARGS__);                                         \
  if (!broken) kernel<true><<<grid, block>>>(__VA_ARGS__);

// ---- Waits --------------------------------------------------------------------------------------

template <bool right>
__global__ void early_kernel(const float *in, float *out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- early copy
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  const float own = tile[threadIdx.x]; // <- early read
  __pipeline_wait_prior(0);
  out[threadIdx.x] = own;
}
void copy_read_early(bool broken) { RUN(early_kernel, 1, 64, device_floats(64), device_floats(64)) }

template <bool right>
__global__ void others_kernel(const float *in, float *out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- others copy
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (right) __syncthreads();
  if (threadIdx.x >= 32) out[threadIdx.x] = tile[threadIdx.x - 32]; // <- others read
}
void copy_read_by_others(bool broken) {
  RUN(others_kernel, 1, 64, device_floats(64), device_floats(64))
}

// The barrier comes before the wait: the other threads' copies may still
// be under way. In ldmatrix a lane reads the row whose address it gives.
template <bool right>
__global__ void rows_kernel(const float *in, float *out) {
  __shared__ __align__(16) float tile[32][4];
  __pipeline_memcpy_async(tile[threadIdx.x], &in[4 * threadIdx.x], 16); // <- rows copy
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  unsigned fragments[4];
  load_matrices(fragments, tile[threadIdx.x]); // <- rows read
  __pipeline_wait_prior(0);
  out[threadIdx.x] = __uint_as_float(fragments[0]);
}
void rows_read_early(bool broken) { RUN(rows_kernel, 1, 32, device_floats(128), device_floats(32)) }

template <bool right>
__global__ void other_row_kernel(float *out) {
  __shared__ __align__(16) float4 tile[32];
  tile[threadIdx.x] = make_float4(1, 2, 3, 4); // <- other row write
  if (right) __syncwarp();
  unsigned fragments[4];
  load_matrices(fragments, &tile[31 - threadIdx.x]); // <- other row read
  out[threadIdx.x] = __uint_as_float(fragments[0]);
}
void rows_of_other_lane(bool broken) { RUN(other_row_kernel, 1, 32, device_floats(32)) }

template <bool right>
__global__ void behind_kernel(const float *in, float *out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- behind copy
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  __syncthreads();
  if (!right) __pipeline_wait_prior(0);
  if (threadIdx.x >= 32) out[threadIdx.x] = tile[63 - threadIdx.x]; // <- behind read
}
void copy_waited_behind_barrier(bool broken) {
  RUN(behind_kernel, 1, 64, device_floats(64), device_floats(64))
}

// The copy of the next round may begin while slower threads still read.
template <bool right>
__global__ void stage_kernel(const float *in, float *out) {
  __shared__ float tile[64];
  float sum = 0;
  for (int round = 0; round < 2; round++) {
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- stage copy
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += tile[63 - threadIdx.x]; // <- stage read
    if (right) __syncthreads();
  }
  out[threadIdx.x] = sum;
}
void copy_overwrites_stage(bool broken) {
  RUN(stage_kernel, 1, 64, device_floats(64), device_floats(64))
}

template <bool right>
__global__ void over_kernel(const float *in, float *out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- over copy
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  tile[threadIdx.x] = 1; // <- over write
  __pipeline_wait_prior(0);
  out[threadIdx.x] = threadIdx.x;
}
void copy_written_over(bool broken) {
  RUN(over_kernel, 1, 64, device_floats(64), device_floats(64))
}

template <bool right>
__global__ void twice_kernel(const float *in, float *out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- twice first
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- twice second
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x];
}
void copy_twice(bool broken) { RUN(twice_kernel, 1, 64, device_floats(64), device_floats(64)) }

template <bool right>
__global__ void forgotten_kernel(const float *in) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- forgotten
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
}
void copy_not_waited(bool broken) { RUN(forgotten_kernel, 1, 64, device_floats(64)) }

template <bool right>
__global__ void uncommitted_kernel(const float *in) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- uncommitted
  if (right) __pipeline_commit();
  __pipeline_wait_prior(0);
}
void copy_not_committed(bool broken) { RUN(uncommitted_kernel, 1, 64, device_floats(64)) }

// A wait is for groups, and without a commit the copy is in none.
template <bool right>
__global__ void read_in_no_group_kernel(const float *in, float *out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4); // <- copy in no group
  if (right) __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x]; // <- read behind a wait for nothing
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
void copy_read_in_no_group(bool broken){
    RUN(read_in_no_group_kernel, 1, 64, device_floats(64), device_floats(64))}

// A ring of two tiles: one is read while the next is being copied.
__global__ void ring_kernel(const float4 *in, float4 *out, int tiles, int prior) {
  __shared__ float4 tile[2][64];
  __pipeline_memcpy_async(&tile[0][threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  for (int t = 0; t < tiles; t++) {
    const float4 *next = &in[64 * (t + 1) + threadIdx.x];
    if (t + 1 < tiles)
      __pipeline_memcpy_async(&tile[(t + 1) % 2][threadIdx.x], next, 16); // <- ring copy
    __pipeline_commit();
    __pipeline_wait_prior(prior);
    __syncthreads();
    out[64 * t + threadIdx.x] = tile[t % 2][63 - threadIdx.x]; // <- ring read
    __syncthreads();
  }
  __pipeline_wait_prior(0);
}
void copy_prior_off_by_one(bool broken) {
  auto in = reinterpret_cast<float4 *>(device_floats(4 * 256));
  auto out = reinterpret_cast<float4 *>(device_floats(4 * 256));
  ring_kernel<<<1, 64>>>(in, out, 4, broken ? 2 : 1);
}

template <bool right>
__global__ void tail_kernel(const float *in, float *out, unsigned count) {
  __shared__ float tile[64];
  const int zeros = right && threadIdx.x >= count ? 4 : 0;
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4, zeros); // <- tail
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x];
}
void copy_past_the_end(bool broken) {
  RUN(tail_kernel, 1, 64, device_floats(33), device_floats(64), 33)
}

template <bool right>
__global__ void grid_kernel(const float *in, float *out) {
  __shared__ float tile[4][right ? 20 : 17];
  if (threadIdx.x < 16) {
    const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 4;
    __pipeline_memcpy_async(&tile[row][column], &in[16 * row + column], 16); // <- grid
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x / 16][threadIdx.x % 16];
}
void copy_misaligned(bool broken) { RUN(grid_kernel, 1, 64, device_floats(64), device_floats(64)) }

// ---- Barriers -----------------------------------------------------------------------------------

// Threads may end before a barrier, but it does not order what they have written.
template <bool right>
__global__ void leave_kernel(float *out, unsigned count) {
  __shared__ float tile[64];
  if (right && threadIdx.x >= count) return;
  tile[threadIdx.x] = 1; // <- leave write
  if (threadIdx.x >= count) return;
  __syncthreads();                                                         // <- leave
  out[threadIdx.x] = tile[(right ? count : blockDim.x) - 1 - threadIdx.x]; // <- leave read
}
void barrier_after_exit(bool broken) { RUN(leave_kernel, 1, 64, device_floats(64), 50) }

template <bool right>
__global__ void branches_kernel(float *out) {
  if (right || threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    __syncthreads(); // <- branches first
  } else {
    out[threadIdx.x] = 2;
    __syncthreads(); // <- branches second
  }
}
void barrier_elsewhere(bool broken) { RUN(branches_kernel, 1, 64, device_floats(64)) }

template <bool right>
__global__ void some_kernel(float *out) {
  __shared__ float tile[96];
  tile[threadIdx.x] = 1;
  if (right || threadIdx.x < 32) __syncthreads(); // <- some
  const float other = tile[95 - threadIdx.x];     // <- some read
  if (right || threadIdx.x < 64) __syncthreads(); // <- some later
  tile[threadIdx.x] = other;
  __syncthreads(); // <- some last
  out[threadIdx.x] = tile[threadIdx.x];
}
void barrier_of_some(bool broken) { RUN(some_kernel, 1, 96, device_floats(96)) }

// In the loop of some the last threads leave one after the other, each behind a barrier. They have a part in no race.
template <bool right>
__global__ void halves_kernel(float *out) {
  __shared__ float tile[128];
  tile[threadIdx.x] = 1;
  __syncthreads();
  for (unsigned half = 64; half > 0; half /= 2) {
    if (threadIdx.x >= half) return;
    tile[threadIdx.x] += tile[threadIdx.x + half]; // <- halves
    if (right) __syncthreads();
  }
  out[0] = tile[0];
}
void barrier_of_fewer(bool broken) {
  halves_kernel<true><<<1, 128>>>(device_floats(1)); // says nothing of the next launch
  RUN(halves_kernel, 1, 128, device_floats(1))
}

// Threads that read the flag too early come to a barrier before which the one that writes it ends. That barrier does not
// come between the two.
template <bool right>
__global__ void flag_kernel(float *out) {
  __shared__ int last;
  if (threadIdx.x == 32) last = blockIdx.x == gridDim.x - 1; // <- flag write
  if (right) __syncthreads();
  if (last == 0) return; // <- flag read
  __syncthreads();
  out[33 * blockIdx.x + threadIdx.x] = 1;
}
void barrier_of_flag(bool broken) { RUN(flag_kernel, 2, 33, device_floats(66)) }

// The first warp leaves the loop after one round, and the last one after three.
template <bool right>
__global__ void rounds_kernel(float *out) {
  __shared__ float tile[96];
  tile[threadIdx.x] = 1;
  float sum = 0;
  for (unsigned i = 0; i < (right ? 3 : 1 + threadIdx.x / 32); i++) {
    __syncthreads(); // <- rounds
    sum += tile[95 - threadIdx.x];
  }
  if (right) __syncthreads();
  tile[threadIdx.x] = sum;
  out[threadIdx.x] = sum;
}
void barrier_in_rounds(bool broken) { RUN(rounds_kernel, 1, 96, device_floats(96)) }

template <bool right>
__global__ void condition_kernel(float *out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 1;
  if (right || threadIdx.x < 48) __syncthreads(); // <- condition
  if (!right && threadIdx.x >= 32) __syncwarp();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
void barrier_in_condition(bool broken) { RUN(condition_kernel, 1, 64, device_floats(64)) }

// Nothing is kept of the barriers at which the block before was out of step.
void barrier_elsewhere_again(bool broken) {
  barrier_elsewhere(broken);
  barrier_in_rounds(broken);
}
