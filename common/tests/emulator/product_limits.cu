#include "product_limits.h"

#include "hopper.cuh"

static const emulator_site SITE = {"wgmma.mma_async", "product_limits", 1};

__device__ static unsigned char *aligned(unsigned char *memory) {
  return memory + (-shared_address(memory) & 1023);
}

// The place of an element in a tile whose rows have 64 halves, with the 128-byte swizzle.
__device__ static half *element(unsigned char *tile, unsigned row, unsigned column) {
  const unsigned piece = (column / 8) ^ (row % 8);
  return (half *)(tile + row * 128 + piece * 16) + column % 8;
}

// ---- Right products -----------------------------------------------------------------------------

__global__ void product_kernel(unsigned columns, bool transposed, unsigned offset, const float *A,
                               const float *B, float *D) {
  extern __shared__ unsigned char memory[];
  unsigned char *a_tile = aligned(memory) + offset, *b_tile = a_tile + 8192;
  const unsigned panel = 16 * 128; // bytes of 64 columns of B as it is
  if (threadIdx.x == 0) {
    for (unsigned k = 0; k < LIMITS_K; k++) {
      for (unsigned m = 0; m < LIMITS_ROWS; m++)
        *element(a_tile, m, k) = __float2half(A[m * LIMITS_K + k]);
      for (unsigned n = 0; n < columns; n++) {
        const half value = __float2half(B[k * columns + n]);
        if (transposed) *element(b_tile + n / 64 * panel, k, n % 64) = value;
        if (!transposed) *element(b_tile, n, k) = value;
      }
    }
  }
  __syncthreads();
  const unsigned row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  unsigned a[4];
  for (unsigned i = 0; i < 4; i++)
    a[i] = *(const unsigned *)element(a_tile, row + i % 2 * 8, column + i / 2 * 8);
  float d[LIMITS_COLUMNS_MAX / 2];
  const emulator_warpgroup_product product = {emulator::fragment_element<half>,
                                              columns,
                                              d,
                                              transposed ? a : nullptr,
                                              transposed ? 0 : matrix_descriptor(a_tile, 0),
                                              matrix_descriptor(b_tile, transposed ? panel : 0),
                                              transposed,
                                              true,
                                              nullptr};
  wgmma_fence();
  emulator_warpgroup_multiply(&product, &SITE);
  wgmma_commit();
  wgmma_wait<0>(d);
  for (unsigned i = 0; i < columns / 2; i++)
    D[(row + i / 2 % 2 * 8) * columns + column + i % 2 + i / 4 * 8] = d[i];
}

__global__ void turns_kernel() {
  const int group = threadIdx.x / 128;
  float d[4] = {};
  if (group == 1) named_barrier_arrive(1, 256); // so that the first group can begin
  wgmma_commit();
  named_barrier_wait(1 + group, 256);
  for (int i = 0; i <= group; i++) wgmma_commit();
  named_barrier_arrive(2 - group, 256);
  wgmma_commit();
  wgmma_wait<0>(d);
}

void groups_in_turns(void) { turns_kernel<<<1, 256>>>(); }

void product_of(unsigned columns, bool transposed, unsigned offset, const float *A, const float *B,
                float *D) {
  const size_t A_bytes = LIMITS_ROWS * LIMITS_K * sizeof(float),
               B_bytes = LIMITS_K * columns * sizeof(float),
               D_bytes = LIMITS_ROWS * columns * sizeof(float);
  float *on_device;
  cudaMalloc(&on_device, A_bytes + B_bytes + D_bytes);
  float *B_on_device = on_device + LIMITS_ROWS * LIMITS_K,
        *D_on_device = B_on_device + LIMITS_K * columns;
  cudaMemcpy(on_device, A, A_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(B_on_device, B, B_bytes, cudaMemcpyHostToDevice);
  const size_t bytes = offset + 8192 + 32768 + 1024;
  cudaFuncSetAttribute(product_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  product_kernel<<<1, 128, bytes>>>(columns, transposed, offset, on_device, B_on_device,
                                    D_on_device);
  cudaMemcpy(D, D_on_device, D_bytes, cudaMemcpyDeviceToHost);
  cudaFree(on_device);
}

__global__ void many_kernel(int *wrong) {
  extern __shared__ unsigned char memory[];
  unsigned char *tile = aligned(memory);
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) ((half *)tile)[i] = __float2half(1);
  __syncthreads();
  const uint64_t matrix = matrix_descriptor(tile, 0);
  float d[20][32];
  for (int i = 0; i < 20; i++) {
    wgmma_fence();
    wgmma<half, 64>::shared(d[i], matrix, matrix, true);
    wgmma_commit();
    wgmma_wait<0>(d[i]);
  }
  for (int i = 0; i < 20; i++) atomicAdd(wrong, d[i][31] != 16);
}
int wrong_of_many_products(void) {
  int *wrong, got = -1;
  cudaMalloc(&wrong, sizeof got);
  cudaMemset(wrong, 0, sizeof got);
  many_kernel<<<3, 128, 8192 + 1024>>>(
      wrong); // three blocks, one after the other if there is one worker
  cudaMemcpy(&got, wrong, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(wrong);
  return got;
}

// ---- Refused ones -------------------------------------------------------------------------------

__global__ void different_kernel(difference of) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = matrix_descriptor(aligned(memory), 8192);
  const bool other = threadIdx.x / 32 == 2;
  float d[32];
  unsigned a[4] = {};
  emulator_warpgroup_product product = {
      emulator::fragment_element<half>, 64, d, nullptr, matrix, matrix, false, true, nullptr};
  emulator_site site = SITE;
  if (other && of == OTHER_A) product.a_descriptor += 2;
  if (other && of == OTHER_CLEAR) product.clear = false;
  if (other && of == OTHER_COLUMNS) product.columns = 32;
  if (other && of == OTHER_ELEMENT) product.element = emulator::fragment_element<__nv_bfloat16>;
  if (other && of == OTHER_TRANSPOSED) product.transposed = true;
  if (other && of == OTHER_REGISTERS) product.a_registers = a;
  if (other && of == OTHER_FILE) site.file = "other_file";
  wgmma_fence();
  emulator_warpgroup_multiply(&product, &site);
  wgmma_commit();
  wgmma_wait<0>(d);
}
void fault_of_difference(difference of) { different_kernel<<<1, 128, 16384 + 1024>>>(of); }

__global__ void odd_kernel(odd_product odd) {
  extern __shared__ unsigned char memory[];
  unsigned char *tile = aligned(memory);
  uint64_t matrix = matrix_descriptor(tile + odd.byte_offset, odd.leading);
  matrix = (matrix & ~(3ull << 62)) | (uint64_t)odd.swizzle << 62 | (uint64_t)odd.base_offset << 49;
  float d[160];
  unsigned a[4] = {};
  const emulator_warpgroup_product product = {emulator::fragment_element<half>,
                                              odd.columns,
                                              d,
                                              a,
                                              0,
                                              matrix,
                                              odd.transposed,
                                              true,
                                              nullptr};
  wgmma_fence();
  emulator_warpgroup_multiply(&product, &SITE);
  wgmma_commit();
  wgmma_wait<0>(d);
}
void fault_of_odd_product(const odd_product *odd) {
  cudaFuncSetAttribute(odd_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  odd_kernel<<<1, 128, 65536>>>(*odd);
}

__global__ void instructions_kernel(bool files) {
  if (threadIdx.x < 64) {
    wgmma_fence("first.cu", 5);
  } else if (files) {
    wgmma_fence("second.cu", 5);
  } else {
    wgmma_commit("first.cu", 5);
  }
}
// The threads stay together, so that each instruction is looked at, or the first one runs ahead of the others.
__global__ void many_instructions_kernel(bool together, bool differ) {
  for (int i = 0; i < 70; i++) {
    wgmma_fence("first.cu", 5);
    if (together) __syncthreads();
  }
  for (int i = 0; i < 70; i++) {
    wgmma_fence("second.cu", 6);
    if (together) __syncthreads();
  }
  if (differ) wgmma_fence(threadIdx.x < 64 ? "third.cu" : "fourth.cu", 7);
}
void fault_instructions_late(void) { many_instructions_kernel<<<1, 128>>>(true, true); }
void right_instructions_ahead(void) { many_instructions_kernel<<<1, 128>>>(false, false); }

void fault_instructions(void) { instructions_kernel<<<1, 128>>>(false); }
void fault_files(void) { instructions_kernel<<<1, 128>>>(true); }
