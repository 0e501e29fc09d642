// Memory that kernels have from malloc and new. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <stdlib.h>

struct list {
  float *numbers;
  int count;
  __device__ explicit list(int count) : numbers(new float[count]), count(count) {}
  __device__ ~list() { delete[] numbers; }
};

__global__ void list_kernel(float *out, int more) {
  for (int round = 0; round < 3; round++) {
    list *own = new list(8);
    for (int i = 0; i < own->count; i++) own->numbers[i] = i;
    float sum = 0;
    for (int i = 0; i < own->count + more; i++) sum += own->numbers[i]; // <- list
    out[threadIdx.x] = sum;
    delete own;
  }
}
void heap_past_the_end(bool broken) { list_kernel<<<1, 64>>>(device_floats(64), broken); }

// One thread allocates for its block.
template <bool right>
__global__ void share_kernel(float *out) {
  __shared__ float *row;
  if (threadIdx.x == 0) row = static_cast<float *>(malloc(blockDim.x * sizeof(float)));
  __syncthreads();
  row[threadIdx.x] = 1; // <- share
  if (right) __syncthreads();
  out[threadIdx.x] = row[blockDim.x - 1 - threadIdx.x]; // <- share
  __syncthreads();
  if (threadIdx.x == 0) free(row);
}
void heap_shared_without_barrier(bool broken) {
  if (broken) share_kernel<false><<<1, 64>>>(device_floats(64));
  if (!broken) share_kernel<true><<<1, 64>>>(device_floats(64));
}

// A kernel allocates, a later one uses it and gives it back. Memory of the host has the same functions.
__global__ void allocate_kernel(float **rows, bool zero) {
  rows[threadIdx.x] = new float[4];
  for (int i = 0; i < 4 && zero; i++) rows[threadIdx.x][i] = 0;
}
__global__ void use_kernel(float **rows, float *out) {
  out[threadIdx.x] = rows[threadIdx.x][3]; // <- use
  delete[] rows[threadIdx.x];
}
void heap_unwritten(bool broken) {
  int *host = new int[32]();
  float **rows;
  cudaMalloc(&rows, 32 * sizeof *rows);
  allocate_kernel<<<1, 32>>>(rows, !broken);
  use_kernel<<<1, 32>>>(rows, device_floats(32));
  delete[] host;
  free(malloc(100));
}
