// Kernels and a launch in a header, as teaching code has them.
#pragma once

template <typename T, int TIMES = 2>
__global__ void scale(T *x, int n, T offset = T(1)) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * TIMES + offset;
}

template <typename T>
void scale_all(T *x, int n) {
  dim3 gridDim((n + 31) / 32), blockDim(32); // names of the device, on the host
  scale<<<gridDim, blockDim>>>(x, n);
}

template <typename T, typename... Ts>
__global__ void add_each(T *x, Ts... terms) {
  x[threadIdx.x] += (T(0) + ... + terms);
}
