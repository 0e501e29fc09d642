// Shared variables. nvcc compiles this file without -rdc, with which extern would mean another file.
#include "feature.h"

#include <cstdint>

template <typename T>
struct two_halves {
  T first[32];
  alignas(64) T second[32];
};
template <typename T>
__global__ void swap_halves(T *x) {
  extern __shared__ two_halves<T> halves;
  halves.first[threadIdx.x] = x[threadIdx.x];
  halves.second[threadIdx.x] = x[32 + threadIdx.x];
  __syncwarp();
  x[threadIdx.x] = halves.second[threadIdx.x];
  x[32 + threadIdx.x] = halves.first[threadIdx.x];
}

FEATURE(extern_shared_variables,
        "extern __shared__ variables with a size, which are ordinary ones, as nvcc warns", "") {
  float *x;
  CHECK(cudaMallocManaged(&x, 64 * sizeof *x));
  for (int i = 0; i < 64; i++) x[i] = i;
  swap_halves<<<1, 32>>>(x);
  CHECK(cudaDeviceSynchronize());
  return x[0] == 32 && x[31] == 63 && x[32] == 0 && x[63] == 31;
}

struct alignas(512) aligned_numbers {
  int number[32];
};
__global__ void find_alignment(int *offset) {
  static __shared__ char one;
  __shared__ aligned_numbers first, second[2];
  __shared__ union storage {
    int number;
    float real;
  } third;
  one = 1;
  third.number = one;
  second[1].number[0] = first.number[0] = third.number;
  offset[0] = reinterpret_cast<uintptr_t>(&first) % 512 + reinterpret_cast<uintptr_t>(second) % 512;
}

FEATURE(alignment_of_shared_variables,
        "__shared__ variables whose type asks for up to 1024 bytes of alignment", "") {
  int *offset;
  CHECK(cudaMallocManaged(&offset, sizeof *offset));
  find_alignment<<<1, 1>>>(offset);
  CHECK(cudaDeviceSynchronize());
  return *offset == 0;
}
