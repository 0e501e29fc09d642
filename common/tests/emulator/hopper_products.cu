// Tests products of a warpgroup, of both operands in shared memory and of one in registers.
#include "for_hopper.h"

static unsigned random_state = 1;
static int random_below(int count) {
  random_state = random_state * 1664525u + 1013904223u;
  return (int)((random_state >> 8) % (unsigned)count);
}

static constexpr int M = 64, N = 128, D = 128;

// The groups of 8 rows need not follow each other: those of A and B are 2048 bytes apart. All elements of a row are the same,
// so the swizzle does not matter: 1 in A, the number of the group in B, and 99 between the groups.
__global__ void strided_kernel(float *S) KERNEL_FOR_HOPPER({
  extern __shared__ unsigned char shared_memory[];
  constexpr int GROUP = 8 * PANEL; // elements
  half *A = (half *)(shared_memory + (-shared_address(shared_memory) & 1023)), *B = A + 16 * GROUP;
  for (int i = threadIdx.x; i < 16 * GROUP; i += blockDim.x) {
    const bool between = i / GROUP % 2 == 1;
    A[i] = __float2half(between ? 99 : 1);
    B[i] = __float2half(between ? 99 : i / GROUP / 2);
  }
  writes_for_wgmma();
  __syncthreads();
  const uint64_t strides = (uint64_t)(2048 >> 4) << 32, others = ~((uint64_t)0x3FFF << 32);
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, (matrix_descriptor(A, 0) & others) | strides,
                          (matrix_descriptor(B, 0) & others) | strides, true);
  wgmma_commit();
  wgmma_wait<0>(d);
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 32; i++) S[(row + i / 2 % 2 * 8) * 64 + column + i % 2 + i / 4 * 8] = d[i];
})

    static bool strides_are_right(error_text *error) {
  device_array<float> device_S(M * 64);
  const int bytes = 2 * 16 * 8 * PANEL * 2 + 1024;
  strided_kernel<<<1, 128, bytes>>>(device_S.data());
  if (!device_finished(error, "strided_kernel")) return false;
  const std::vector<float> S = device_S.host();
  for (int i = 0; i < M * 64; i++)
    if (S[i] != 16 * (i % 64 / 8))
      return fail(error, "S (%d, %d) is %g, not %d", i / 64, i % 64, S[i], 16 * (i % 64 / 8));
  return true;
}

template <typename Element>
struct product_tiles {
  Element A[D / PANEL][M][PANEL];
  Element B[D / PANEL][N][PANEL]; // of S = A B^T, and of O = P B
  barrier full;
};

// S [M, N] = A [M, D] B^T and O [M, D] = 0.5 + P [M, N] B, in two groups. The numbers are whole, so that
// every device adds them without rounding.
template <typename Element>
__global__ void product_kernel(const __grid_constant__ CUtensorMap A_map,
                               const __grid_constant__ CUtensorMap B_map, const Element *P,
                               float *S, float *O) KERNEL_FOR_HOPPER({
  extern __shared__ unsigned char shared_memory[];
  auto &smem = *(product_tiles<Element> *)(shared_memory + (-shared_address(shared_memory) & 1023));
  if (threadIdx.x == 0) {
    barrier_create(&smem.full, 1);
    barriers_created();
    barrier_arrive_expecting(&smem.full, sizeof smem.A + sizeof smem.B);
    load_tile<D / PANEL>(smem.A, &A_map, &smem.full, 0, 0, 0);
    load_tile<D / PANEL>(smem.B, &B_map, &smem.full, 0, 0, 0);
  }
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  unsigned P_frag[N / 4];
  for (int i = 0; i < N / 4; i++)
    P_frag[i] = *(const unsigned *)&P[(row + i % 2 * 8) * N + column + i / 2 * 8];
  float S_frag[N / 2], O_frag[D / 2];
  for (int i = 0; i < D / 2; i++) O_frag[i] = 0.5f;
  __syncthreads();
  barrier_wait(&smem.full, 0);
  wgmma_fence();
  for (int k = 0; k < D; k += 16)
    wgmma<Element, N>::shared(S_frag, matrix_descriptor(smem.A[k / PANEL], 0) + k % PANEL / 8,
                              matrix_descriptor(smem.B[k / PANEL], 0) + k % PANEL / 8, k == 0);
  wgmma_commit();
  wgmma_fence();
  for (int k = 0; k < N; k += 16)
    wgmma<Element, D>::registers(O_frag, &P_frag[k / 4],
                                 matrix_descriptor(smem.B[0][k], sizeof(smem.B[0])), false);
  wgmma_commit();
  wgmma_wait<1>(S_frag);
  for (int i = 0; i < N / 2; i++)
    S[(row + i / 2 % 2 * 8) * N + column + i % 2 + i / 4 * 8] = S_frag[i];
  wgmma_wait<0>(O_frag);
  for (int i = 0; i < D / 2; i++)
    O[(row + i / 2 % 2 * 8) * D + column + i % 2 + i / 4 * 8] = O_frag[i];
})

    template <typename Element>
    static std::vector<Element> small_numbers(int count) {
  std::vector<Element> values;
  for (int i = 0; i < count; i++) values.push_back(Element((float)(random_below(17) - 8)));
  return values;
}

template <typename Element>
static bool products_are_right(error_text *error, attention_dtype dtype) {
  const std::vector<Element> A = small_numbers<Element>(M * D), B = small_numbers<Element>(N * D);
  const std::vector<Element> P = small_numbers<Element>(M * N);
  device_array<Element> device_A(A), device_B(B), device_P(P);
  device_array<float> device_S(M * N), device_O(M * D);
  CUtensorMap A_map, B_map;
  if (describe_tensor(&A_map, dtype, device_A.data(), 1, 1, M, D, M) != cudaSuccess ||
      describe_tensor(&B_map, dtype, device_B.data(), 1, 1, N, D, N) != cudaSuccess)
    return fail(error, "a tensor map was refused");
  const size_t bytes = sizeof(product_tiles<Element>) + 1024;
  cudaFuncSetAttribute(product_kernel<Element>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       (int)bytes);
  product_kernel<Element>
      <<<1, 128, bytes>>>(A_map, B_map, device_P.data(), device_S.data(), device_O.data());
  if (!device_finished(error, "product_kernel")) return false;
  const std::vector<float> S = device_S.host(), O = device_O.host();
  for (int i = 0; i < M; i++) {
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < D; k++) sum += (float)A[i * D + k] * (float)B[j * D + k];
      if (S[i * N + j] != sum)
        return fail(error, "S (%d, %d) is %g, not %g", i, j, S[i * N + j], sum);
    }
    for (int j = 0; j < D; j++) {
      float sum = 0.5f;
      for (int k = 0; k < N; k++) sum += (float)P[i * N + k] * (float)B[k * D + j];
      if (O[i * D + j] != sum)
        return fail(error, "O (%d, %d) is %g, not %g", i, j, O[i * D + j], sum);
    }
  }
  return true;
}

bool hopper_products(error_text *error) {
  if (!device_is_hopper()) return true;
  return products_are_right<half>(error, ATTENTION_FP16) &&
         products_are_right<__nv_bfloat16>(error, ATTENTION_BF16) && strides_are_right(error);
}
