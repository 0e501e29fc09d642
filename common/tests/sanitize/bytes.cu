// memcpy, memmove and memset in kernels. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <algorithm>
#include <string.h>

// Each thread copies a row, and reads that of another one.
template <bool right>
__global__ void row_kernel(const float *in, float *out, size_t bytes) {
  __shared__ float tile[64][16];
  memcpy(tile[threadIdx.x], &in[threadIdx.x * 16], bytes); // <- row copy
  if (right) __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x][3]; // <- row read
}
void bytes_read_before_barrier(bool broken) {
  float *in = device_floats(1024), *out = device_floats(64);
  if (broken) row_kernel<false><<<1, 64>>>(in, out, 64);
  if (!broken) row_kernel<true><<<1, 64>>>(in, out, 64);
}

// std::copy and std::fill call the compiler's own functions.
template <bool right>
__global__ void standard_kernel(const float *in, unsigned char *out) {
  __shared__ float tile[64][16];
  __shared__ unsigned char marks[64][32];
  std::copy(in, in + 16, tile[threadIdx.x]); // <- standard copy
  const unsigned char mark = threadIdx.x;
  std::fill(marks[threadIdx.x], marks[threadIdx.x] + 32, mark); // <- standard fill
  if (right) __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x][3] == marks[63 - threadIdx.x][5]; // <- standard read
}
void bytes_of_the_standard_library(bool broken) {
  float *in = device_floats(16);
  unsigned char *out = (unsigned char *)device_floats(16);
  if (broken) standard_kernel<false><<<1, 64>>>(in, out);
  if (!broken) standard_kernel<true><<<1, 64>>>(in, out);
}

// A part of the row stays as it was: there is nothing.
__global__ void part_kernel(float *out, size_t bytes) {
  __shared__ float from[8], to[8];
  if (threadIdx.x < 7) from[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) memmove(to, from, bytes); // <- part
  __syncthreads();
  if (threadIdx.x < 7) out[threadIdx.x] = to[threadIdx.x];
}
void bytes_unwritten(bool broken) { part_kernel<<<1, 32>>>(device_floats(7), broken ? 32 : 28); }

template <bool right>
__global__ void clear_kernel(float *out) {
  __shared__ float tile[64];
  if (threadIdx.x == 0) memset(tile, 0, sizeof tile); // <- clear
  if (right) __syncthreads();
  if (threadIdx.x < 32) __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x]; // <- clear read
}
void bytes_set_by_one(bool broken) {
  if (broken) clear_kernel<false><<<1, 64>>>(device_floats(64));
  if (!broken) clear_kernel<true><<<1, 64>>>(device_floats(64));
}

// The length is a constant. The address need not be a multiple of anything.
__global__ void end_kernel(const unsigned char *in, float *out, int first) {
  float row[8];
  memcpy(row, &in[first], sizeof row); // <- end
  memcpy(&row[1], &in[first], 4);
  for (int i = 0; i < 8; i++) out[i] = row[i];
}
void bytes_past_the_end(bool broken) {
  end_kernel<<<1, 1>>>((const unsigned char *)device_floats(10), device_floats(8), 7 + 2 * broken);
}
