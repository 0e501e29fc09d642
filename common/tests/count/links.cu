// Kernels that access memory of another device: one that adds one to it, and two that copy it to shared memory.
#include "hopper.cuh"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void far_kernel(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

extern "C" void add_far(const float *in, float *out) { far_kernel<<<1, 64>>>(in, out); }

__global__ void async_kernel(const float *in) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

extern "C" void copy_far(const float *in) { async_kernel<<<1, 64>>>(in); }

// The tensor has 2 rows of PANEL halves.
__global__ void box_kernel(const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(1024) half tile[8][PANEL];
  __shared__ barrier full;
  barrier_create(&full, 1);
  barriers_created();
  barrier_arrive_expecting(&full, sizeof tile);
  copy_box(tile, &map, &full, 0, 0, 0, 0);
  barrier_wait(&full, 0);
}

extern "C" bool copy_box_far(const float *in) {
  CUtensorMap map;
  if (describe_tensor(&map, ATTENTION_FP16, (void *)in, 1, 1, 2, PANEL, 8) != cudaSuccess)
    return false;
  box_kernel<<<1, 1>>>(map);
  return true;
}
