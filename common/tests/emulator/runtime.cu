#include "runtime.h"

#include "hopper.cuh"
#include "numeric/poison.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

static const unsigned FULL = 0xffffffff;

__global__ void healthy_kernel(int *out) {
  out[threadIdx.x] = __syncthreads_count(threadIdx.x % 2) + __shfl_sync(FULL, threadIdx.x, 3);
}
bool healthy_launch(void) {
  int *out, got[64] = {0};
  cudaMalloc(&out, sizeof got);
  healthy_kernel<<<1, 64>>>(out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  const bool right = cudaGetLastError() == cudaSuccess && got[0] == 32 + 3 && got[63] == 32 + 35;
  cudaFree(out);
  return right;
}

__global__ void exited_lanes_kernel(int *got, unsigned *active) {
  const int lane = threadIdx.x;
  __syncwarp();
  if (lane < 16) active[lane] = __activemask();
  if (lane >= 20) return;
  got[lane] = __shfl_sync(FULL, 100 + lane, lane + 1);
  if (lane >= 10) return;
  __syncwarp();
  got[lane] += 1000 * __popc(__ballot_sync(FULL, 1));
}
void read_from_exited_lanes(int *got, unsigned *active) {
  int *device_got;
  unsigned *device_active;
  cudaMalloc(&device_got, 32 * sizeof(int));
  cudaMalloc(&device_active, 32 * sizeof(int));
  exited_lanes_kernel<<<1, 32>>>(device_got, device_active);
  cudaMemcpy(got, device_got, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(active, device_active, 32 * sizeof(int), cudaMemcpyDeviceToHost);
}

__global__ void elect_kernel(unsigned *elected) {
  if (elect_lane()) atomicOr(elected, 1u << threadIdx.x);
}
unsigned elected_lanes(void) {
  unsigned *elected, got = 0;
  cudaMalloc(&elected, sizeof got);
  cudaMemset(elected, 0, sizeof got);
  elect_kernel<<<1, 32>>>(elected);
  cudaMemcpy(&got, elected, sizeof got, cudaMemcpyDeviceToHost);
  return got;
}

__global__ void polling_kernel(int *flag) {
  if (threadIdx.x == 0) {
    atomicExch(flag, static_cast<int>(__activemask()));
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
  }
}
bool active_mask_while_polling(void) {
  int *flag, got = -1;
  cudaMalloc(&flag, sizeof got);
  cudaMemset(flag, 0, sizeof got);
  polling_kernel<<<1, 32>>>(flag);
  cudaMemcpy(&got, flag, sizeof got, cudaMemcpyDeviceToHost);
  return got == 1;
}

__global__ void block_order_kernel(int *order, int *next) {
  order[atomicAdd(next, 1)] = blockIdx.x;
}
void record_order_of_blocks(int *order) {
  int *device_order, *next;
  cudaMalloc(&device_order, 5 * sizeof(int));
  cudaMalloc(&next, sizeof(int));
  cudaMemset(next, 0, sizeof(int));
  block_order_kernel<<<5, 1>>>(device_order, next);
  cudaMemcpy(order, device_order, 5 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device_order);
  cudaFree(next);
}

__global__ void order_kernel(int *order, int *next) {
  for (int round = 0; round < 3; round++) __syncthreads();
  order[blockIdx.x * blockDim.x + atomicAdd(&next[blockIdx.x], 1)] = threadIdx.x;
}
void record_order(int *order) {
  int *device_order, *next;
  cudaMalloc(&device_order, 120 * sizeof(int));
  cudaMalloc(&next, 3 * sizeof(int));
  cudaMemset(next, 0, 3 * sizeof(int));
  order_kernel<<<3, 40>>>(device_order, next);
  cudaMemcpy(order, device_order, 120 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device_order);
  cudaFree(next);
}

// Counts what does not say, after some arithmetic, where it comes from.
__global__ void garbage_kernel(const float *unwritten, int *readable) {
  extern __shared__ float dynamic[];
  __shared__ float fixed[64];
  __shared__ float copied[64];
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> unfilled;
  const int i = threadIdx.x;
  const auto expect = [=](float value, poison kind) {
    if (poison_of_float(value * 3 - 1) != kind) atomicAdd(readable, 1);
    if (poison_of_fp16(__half_as_ushort(__float2half(value))) != kind) atomicAdd(readable, 1);
    if (poison_of_bf16(__bfloat16_as_ushort(__float2bfloat16(value))) != kind) {
      atomicAdd(readable, 1);
    }
  };
  expect(fixed[i], POISON_SHARED);
  expect(dynamic[i], POISON_SHARED);
  expect(unwritten[i], POISON_DEVICE);
  expect(unfilled.x[0], POISON_FRAGMENT);
  copied[i] = 1;
  __pipeline_memcpy_async(&copied[i], &unwritten[i], sizeof(float));
  expect(copied[i], POISON_COPY);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  expect(copied[i], POISON_DEVICE);
  __syncthreads();
  fixed[i] = i; // for the next block to find
  dynamic[i] = i;
}
int readable_garbage(void) {
  int *readable, got = -1;
  float *unwritten;
  cudaMalloc(&unwritten, 64 * sizeof(float));
  cudaMalloc(&readable, sizeof got);
  cudaMemset(readable, 0, sizeof got);
  garbage_kernel<<<4, 64, 64 * sizeof(float)>>>(unwritten, readable);
  cudaMemcpy(&got, readable, sizeof got, cudaMemcpyDeviceToHost);
  return got;
}
