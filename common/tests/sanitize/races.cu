// Accesses without an order between them. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

template <bool needed>
__device__ void block_barrier() {
  if (needed) __syncthreads();
}

template <bool needed>
__device__ void warp_barrier() {
  if (needed) __syncwarp();
}

#define RUN(kernel, grid, block, ...)                                                              \
  if (broken) kernel<false><<<grid, block>>>(__VA_ARGS__);                                         \
  if (!broken) kernel<true><<<grid, block>>>(__VA_ARGS__);

// ---- Shared memory, between warps ---------------------------------------------------------------

template <bool right>
__global__ void reverse_kernel(float *out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = threadIdx.x; // <- reverse write
  block_barrier<right>();
  if (threadIdx.x >= 32) out[threadIdx.x] = tile[63 - threadIdx.x]; // <- reverse read
}
void read_before_barrier(bool broken) { RUN(reverse_kernel, 1, 64, device_floats(64)) }

template <bool right>
__global__ void rounds_kernel(float *out) {
  __shared__ float tile[64];
  float sum = 0;
  for (int round = 0; round < 3; round++) {
    tile[threadIdx.x] = round; // <- rounds write
    __syncthreads();
    sum += tile[(threadIdx.x + 32) % 64]; // <- rounds read
    block_barrier<right>();
  }
  out[threadIdx.x] = sum;
}
void write_before_barrier(bool broken) { RUN(rounds_kernel, 1, 64, device_floats(64)) }

template <bool right>
__global__ void same_kernel(float *out) {
  __shared__ float total;
  if (!right || threadIdx.x == 0) total = 1; // <- same
  __syncthreads();
  out[threadIdx.x] = total;
}
void write_by_two_warps(bool broken) { RUN(same_kernel, 1, 64, device_floats(64)) }

// Halves and bytes that are neighbours are not the same memory.
template <bool right>
__global__ void neighbours_kernel(float *out) {
  __shared__ half halves[64];
  __shared__ unsigned char bytes[64];
  halves[threadIdx.x] = __float2half(1);
  bytes[right ? threadIdx.x : threadIdx.x / 2] = 1; // <- neighbours
  __syncthreads();
  out[threadIdx.x] = __half2float(halves[threadIdx.x]) + bytes[right ? threadIdx.x : 0];
}
void neighbours_in_shared(bool broken) { RUN(neighbours_kernel, 1, 64, device_floats(64)) }

// A thread reads a value and later writes it, after a thread of another warp or its own has read it.
template <bool right>
__global__ void readers_kernel(float *out, unsigned other) {
  __shared__ float value;
  if (threadIdx.x == 0) value = 1;
  __syncthreads();
  if (threadIdx.x == other || threadIdx.x == 95) out[threadIdx.x] = value; // <- readers read
  block_barrier<right>();
  if (threadIdx.x == 95) value = 2; // <- readers write
}
void read_by_other_warp(bool broken) { RUN(readers_kernel, 1, 96, device_floats(96), 0u) }
void read_by_own_warp(bool broken) { RUN(readers_kernel, 1, 96, device_floats(96), 64u) }

template <bool right>
__global__ void bytes_kernel(float *out) {
  __shared__ unsigned char bytes[2];
  if (threadIdx.x == 0) {
    bytes[0] = 1; // <- bytes write
    bytes[1] = 2; // <- bytes write
  }
  block_barrier<right>();
  if (threadIdx.x == 32) out[0] = bytes[0]; // <- bytes read
}
void read_of_first_byte(bool broken) { RUN(bytes_kernel, 1, 64, device_floats(1)) }

// The same where the thread that is late writes, and the other one has read both bytes.
template <bool right>
__global__ void bytes_read_kernel(float *out) {
  __shared__ unsigned char bytes[2];
  if (threadIdx.x == 32) bytes[0] = bytes[1] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = bytes[0]; // <- second byte read
    out[1] = bytes[1]; // <- second byte read
  }
  block_barrier<right>();
  if (threadIdx.x == 32) bytes[1] = 2; // <- second byte write
}
void read_of_second_byte(bool broken) { RUN(bytes_read_kernel, 1, 64, device_floats(2)) }

// ---- Shared memory, within a warp ---------------------------------------------------------------

template <bool right>
__global__ void lanes_kernel(float *out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = threadIdx.x; // <- lanes write
  warp_barrier<right>();
  out[threadIdx.x] = tile[31 - threadIdx.x]; // <- lanes read
}
void read_by_other_lane(bool broken) { RUN(lanes_kernel, 1, 32, device_floats(32)) }

template <bool right>
__global__ void shuffle_kernel(float *out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = threadIdx.x; // <- shuffle write
  const float own = __shfl_xor_sync(0xffffffff, 1.0f, 1);
  warp_barrier<right>();
  out[threadIdx.x] = own + tile[31 - threadIdx.x]; // <- shuffle read
}
void shuffle_is_no_barrier(bool broken) { RUN(shuffle_kernel, 1, 32, device_floats(32)) }

// Two half warps use a mask each: the writes of the other half's lanes
// are not ordered, though the shuffle makes sure that they have happened.
template <bool right>
__global__ void halves_kernel(float *out) {
  __shared__ float tile[32];
  const unsigned mask = threadIdx.x < 16 ? 0x0000ffff : 0xffff0000;
  tile[threadIdx.x] = threadIdx.x; // <- halves write
  const float own = __shfl_xor_sync(0xffffffff, 1.0f, 16);
  __syncwarp(mask);
  out[threadIdx.x] = own + tile[threadIdx.x ^ (right ? 15 : 16)]; // <- halves read
}
void half_warp_barrier(bool broken) { RUN(halves_kernel, 1, 32, device_floats(32)) }

template <bool right>
__global__ void fragment_kernel(float *out) {
  using namespace nvcuda;
  __shared__ float tile[16][16];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::store_matrix_sync(&tile[0][0], sum, 16, wmma::mem_row_major); // <- fragment write
  warp_barrier<right>();
  out[threadIdx.x] = tile[threadIdx.x % 16][threadIdx.x / 16]; // <- fragment read
}
void fragment_without_barrier(bool broken) { RUN(fragment_kernel, 1, 32, device_floats(32)) }

template <bool right>
__global__ void warps_kernel(float *out) {
  using namespace nvcuda;
  __shared__ float tile[2][16][16];
  const int warp = threadIdx.x / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::store_matrix_sync(&tile[warp][0][0], sum, 16, wmma::mem_row_major); // <- warps write
  block_barrier<right>();
  wmma::load_matrix_sync(sum, &tile[1 - warp][0][0], 16, wmma::mem_row_major); // <- warps read
  wmma::store_matrix_sync(&out[256 * warp], sum, 16, wmma::mem_row_major);
}
void fragment_of_other_warp(bool broken) { RUN(warps_kernel, 1, 64, device_floats(512)) }

// ---- Global memory ------------------------------------------------------------------------------

template <bool right>
__global__ void blocks_kernel(float *out) {
  out[right ? blockIdx.x * 32 + threadIdx.x : threadIdx.x] = 1; // <- blocks
}
void blocks_write_same(bool broken) { RUN(blocks_kernel, 4, 32, device_floats(128)) }

// Two instances of one kernel have one line in common: this gives one report.
template <typename T>
__global__ void instance_kernel(T *out, unsigned stride) {
  out[stride * blockIdx.x + threadIdx.x] = 1; // <- instance
}
void two_instances(bool broken) {
  float *data = device_floats(256);
  instance_kernel<float><<<2, 32>>>(data, broken ? 0 : 32u);
  instance_kernel<double><<<2, 32>>>(reinterpret_cast<double *>(data), broken ? 0 : 32u);
}

template <bool right>
__global__ void next_kernel(const float *in, float *out) {
  const int block = blockIdx.x, other = (block + 1) % gridDim.x;
  const float value = in[32 * other + threadIdx.x]; // <- next read
  out[32 * block + threadIdx.x] = value + 1;        // <- next write
}
void block_reads_other(bool broken) {
  float *in = device_floats(128), *out = broken ? in : device_floats(128);
  next_kernel<true><<<4, 32>>>(in, out);
  if (!broken) next_kernel<true><<<4, 32>>>(out, in); // a launch comes after the one before
}

// Every block reads the value that the last one writes.
template <bool right>
__global__ void scale_kernel(float *data, float *out) {
  out[32 * blockIdx.x + threadIdx.x] = data[0]; // <- scale read
  __syncthreads();
  if (!right && blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) data[0] = 2; // <- scale write
}
void block_writes_what_others_read(bool broken) {
  RUN(scale_kernel, 4, 32, device_floats(1), device_floats(128))
}

template <bool right>
__global__ void exchange_kernel(float *data) {
  data[threadIdx.x] = threadIdx.x; // <- exchange write
  block_barrier<right>();
  const float other = data[63 - threadIdx.x]; // <- exchange read
  __syncthreads();
  data[threadIdx.x] = other;
}
void global_within_block(bool broken) { RUN(exchange_kernel, 1, 64, device_floats(64)) }

// The same line races between lanes, then between warps, twice, and then between blocks.
template <bool right>
__global__ void apart_kernel(float *out) {
  out[right ? blockIdx.x * blockDim.x + threadIdx.x : 0] = threadIdx.x; // <- apart
}
void race_further_apart(bool broken) {
  float *out = device_floats(64);
  RUN(apart_kernel, 1, 32, out)
  RUN(apart_kernel, 1, 64, out)
  RUN(apart_kernel, 1, 64, out)
  RUN(apart_kernel, 2, 32, out)
}

__device__ int blocks_done;
template <bool right>
__global__ void variable_kernel() {
  if (threadIdx.x != 0) return;
  if (right) {
    atomicAdd(&blocks_done, 1);
  } else {
    blocks_done++; // <- variable
  }
}
void variable_of_program(bool broken) { RUN(variable_kernel, 4, 32) }

// ---- Atomic operations --------------------------------------------------------------------------

template <bool right>
__global__ void histogram_kernel(int *bins, int *out) {
  atomicAdd(&bins[threadIdx.x % 4], 1); // <- histogram atomic
  block_barrier<right>();
  out[threadIdx.x] = bins[threadIdx.x % 4]; // <- histogram read
}
void atomic_and_plain(bool broken) {
  auto data = reinterpret_cast<int *>(device_floats(128));
  RUN(histogram_kernel, 1, 64, data, data + 64)
}

template <bool right>
__global__ void lock_kernel(float *sum) {
  __shared__ int taken;
  if (threadIdx.x == 0) taken = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (!right || atomicCAS(&taken, 0, 1) == 0) {
      *sum = *sum + 1; // <- lock
      __threadfence();
      if (right) atomicExch(&taken, 0);
      done = true;
    }
  }
}
void lock(bool broken) { RUN(lock_kernel, 1, 64, device_floats(1)) }

// Only a thread that looks at the flag comes behind the one that has raised it.
template <bool right>
__global__ void flag_kernel(float *out) {
  __shared__ int flag;
  __shared__ float value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = 1; // <- flagged write
    atomicExch(&flag, 1);
  } else if (threadIdx.x == 32) {
    while (right && atomicAdd(&flag, 0) == 0) {
    }
    out[0] = value; // <- flagged read
  }
}
void flag_not_read(bool broken) { RUN(flag_kernel, 1, 64, device_floats(1)) }
