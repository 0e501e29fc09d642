#include "operations.h"

#include "../emulator/device_array.h"
#include "hopper.cuh"
#include "wgmma.cuh"

#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <mma.h>
#include <string.h>

using namespace nvcuda;

static bool finished() {
  error_text error;
  return device_finished(&error, "kernel");
}

static __global__ void zeros_kernel(const int4 *in) {
  __shared__ int4 tile[32];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[i], &in[i], 16, i % 2 == 0 ? 0 : 12);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
bool operations_run_zeros(void) {
  device_array<int4> in(32);
  zeros_kernel<<<1, 32>>>(in.data());
  return finished();
}

static __global__ void box_kernel(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(1024) half tile[64][PANEL];
  __shared__ barrier full;
  barrier_create(&full, 1);
  barriers_created();
  barrier_arrive_expecting(&full, sizeof tile);
  copy_box(tile, &map, &full, 0, 0, 0, 0);
  barrier_wait(&full, 0);
}
bool operations_run_box(void) {
  device_array<half> tensor(20 * PANEL);
  CUtensorMap map;
  if (describe_tensor(&map, ATTENTION_FP16, tensor.data(), 1, 1, 20, PANEL, 64) != cudaSuccess)
    return false;
  box_kernel<<<1, 1>>>(map);
  return finished();
}

static __global__ void atomics_kernel(unsigned *counters) {
  unsigned *counter = &counters[threadIdx.x];
  atomicAdd(counter, 1u);
  atomicCAS(counter, 1u, 2u);
  atomicExch(counter, 3u);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> reference(*counter);
  reference.store(4u, cuda::memory_order_relaxed);
}
bool operations_run_atomics(void) {
  device_array<unsigned> counters(32);
  atomics_kernel<<<1, 32>>>(counters.data());
  return finished() && counters.host()[31] == 4;
}

static __global__ void others_kernel(const float *in, float *out) {
  out[threadIdx.x] = in[threadIdx.x];
}
bool operations_run_others(void) {
  float *in, *out;
  if (cudaMallocManaged(&in, 128) != cudaSuccess || cudaMallocHost(&out, 128) != cudaSuccess)
    return false;
  others_kernel<<<1, 32>>>(in, out);
  const bool done = finished();
  cudaFree(in);
  cudaFreeHost(out);
  return done;
}

static __global__ void product_kernel() {
  __shared__ __align__(1024) half tile[64][PANEL];
  const uint64_t matrix = matrix_descriptor(tile, 0);
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true);
  wgmma_commit();
  wgmma_wait<0>(d);
}
bool operations_run_product(void) {
  product_kernel<<<1, 128>>>();
  return finished();
}

static __global__ void pieces_kernel(const double *in, double *out) {
  memcpy(&out[threadIdx.x], &in[threadIdx.x], threadIdx.x < 16 ? 4 : 8);
}
bool operations_run_pieces(void) {
  device_array<double> in(32), out(32);
  pieces_kernel<<<1, 32>>>(in.data(), out.data());
  return finished();
}

// The lanes in a call run first, wherever it lies, and so all of them join behind it.
static __device__ __attribute__((noinline, noclone)) float behind(const float *in, int i);
static __global__ void call_kernel(const float *in, float *out) {
  const int i = threadIdx.x;
  float x = 1;
  if (i < 16) x = behind(in, i);
  out[i] = x;
}
static __device__ __attribute__((section(".text.unlikely_behind"))) float behind(const float *in,
                                                                                 int i) {
  const float x = in[i];
  if (i % 2 == 0) return x * 2.0f;
  return x;
}
bool operations_run_call(void) {
  device_array<float> in(32), out(32);
  call_kernel<<<1, 32>>>(in.data(), out.data());
  return finished();
}

static __global__ void wide_kernel(float *out, bool column_major) {
  wmma::fragment<wmma::accumulator, 8, 32, 16, float> sums;
  wmma::fill_fragment(sums, 1);
  if (column_major) {
    wmma::store_matrix_sync(out, sums, 8, wmma::mem_col_major);
  } else {
    wmma::store_matrix_sync(out, sums, 32, wmma::mem_row_major);
  }
}
bool operations_run_wide(bool column_major) {
  device_array<float> out(8 * 32);
  wide_kernel<<<1, 32>>>(out.data(), column_major);
  return finished();
}
