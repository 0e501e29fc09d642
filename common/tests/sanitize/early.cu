// Kernels that may begin before the one before them has ended. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <cuda_runtime.h>

static const unsigned BLOCKS = 3, THREADS = 64;

template <typename... Parameters, typename... Arguments>
static void launch_early(void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = BLOCKS;
  config.blockDim = THREADS;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, arguments...);
}

static __device__ unsigned own_place() { return blockIdx.x * THREADS + threadIdx.x; }

__global__ void fill_kernel(float *x) {
  cudaTriggerProgrammaticLaunchCompletion();
  x[own_place()] = threadIdx.x; // <- fill
}

template <bool right>
__global__ void add_kernel(const float *x, float *out) {
  if (right) cudaGridDependencySynchronize();
  out[own_place()] = x[own_place()] + 1; // <- add
}
void early_without_wait(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  launch_early(broken ? add_kernel<false> : add_kernel<true>, x, out);
}

// A transfer between the two kernels waits for the first one, and the second one for the transfer.
void early_behind_transfer(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  if (!broken) cudaMemsetAsync(out, 0, sizeof(float));
  launch_early(add_kernel<false>, x, out);
}

// The host waits for the first kernel before it launches the second one.
void early_behind_host(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  if (!broken) cudaDeviceSynchronize();
  launch_early(add_kernel<false>, x, out);
}

template <bool right>
__global__ void one_waits_kernel(const float *x, float *out) {
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  if (right) __syncthreads();
  out[own_place()] = x[own_place()]; // <- one waits
}
void early_one_waits(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  launch_early(broken ? one_waits_kernel<false> : one_waits_kernel<true>, x, out);
}

__global__ void copy_kernel(const float *x, float *out) {
  out[own_place()] = x[own_place()]; // <- copy
}
template <bool right>
__global__ void overwrite_kernel(float *x) {
  if (right) cudaGridDependencySynchronize();
  x[own_place()] = 2; // <- overwrite
}
void early_overwrites(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  copy_kernel<<<BLOCKS, THREADS>>>(x, out);
  launch_early(broken ? overwrite_kernel<false> : overwrite_kernel<true>, x);
}

// Only the second launch of the kernel is early, and what its blocks learned in the first one counts no more.
template <bool right>
__global__ void last_block_kernel(const float *x, float *out) {
  if (right || blockIdx.x + 1 < BLOCKS) cudaGridDependencySynchronize();
  out[own_place()] = x[own_place()]; // <- last block
}
void early_last_block(bool broken) {
  float *x = device_floats(BLOCKS * THREADS), *out = device_floats(BLOCKS * THREADS);
  last_block_kernel<true><<<BLOCKS, THREADS>>>(x, out);
  fill_kernel<<<BLOCKS, THREADS>>>(x);
  launch_early(broken ? last_block_kernel<false> : last_block_kernel<true>, x, out);
}
