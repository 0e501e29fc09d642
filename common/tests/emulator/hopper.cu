// Tests Hopper's instructions: mbarriers, box copies, products of a warpgroup, named barriers,
// and registers that are redistributed. On a GPU without them there is nothing to test.
#include "device_array.h"
#include "semantics.h"

#include "hopper.cuh"

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define KERNEL_FOR_HOPPER(...)                                                                     \
  {}
#else
#define KERNEL_FOR_HOPPER(...) __VA_ARGS__
#endif

static bool device_is_hopper() {
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  return major == 9;
}

static unsigned random_state = 1;
static int random_below(int count) {
  random_state = random_state * 1664525u + 1013904223u;
  return (int)((random_state >> 8) % (unsigned)count);
}

// ---- Barriers in shared memory ------------------------------------------------------------------

enum { RING = 3, READERS = 64 };

// Thread 64 writes numbers into a ring; the other threads read each of them.
__global__ void ring_kernel(int *sums, int numbers) KERNEL_FOR_HOPPER({
  __shared__ barrier full[RING], empty[RING];
  __shared__ int slot[RING];
  if (threadIdx.x == 0) {
    for (int i = 0; i < RING; i++) {
      barrier_create(&full[i], 1);
      barrier_create(&empty[i], READERS);
    }
    barriers_created();
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < numbers; i++) {
    const unsigned parity = i / RING % 2;
    if (threadIdx.x == READERS) {
      barrier_wait(&empty[i % RING], parity ^ 1);
      slot[i % RING] = i * i;
      barrier_arrive(&full[i % RING]);
    } else if (threadIdx.x < READERS) {
      barrier_wait(&full[i % RING], parity);
      sum = 3 * sum + slot[i % RING];
      barrier_arrive(&empty[i % RING]);
    }
  }
  if (threadIdx.x < READERS) sums[threadIdx.x] = sum;
})

    bool hopper_barriers(error_text *error) {
  if (!device_is_hopper()) return true;
  for (const int numbers : {0, 1, 2, 3, 4, 7, 20}) {
    device_array<int> sums(READERS);
    ring_kernel<<<1, 96>>>(sums.data(), numbers);
    if (!device_finished(error, "ring_kernel")) return false;
    unsigned expected = 0;
    for (int i = 0; i < numbers; i++) expected = 3 * expected + (unsigned)(i * i);
    for (const int sum : sums.host()) {
      if ((unsigned)sum != expected)
        return fail(error, "%d numbers: %u, not %u", numbers, (unsigned)sum, expected);
    }
  }
  return true;
}

// ---- Box copies ---------------------------------------------------------------------------------

static constexpr int BOX_ROWS = 8;

// Copies one box and writes it out with the swizzle undone, as a [BOX_ROWS, PANEL] matrix.
__global__ void box_kernel(const __grid_constant__ CUtensorMap map, int column, int row, int head,
                           int batch, unsigned short *out) KERNEL_FOR_HOPPER({
  __shared__ unsigned short memory[BOX_ROWS * PANEL + 512];
  __shared__ barrier full;
  unsigned short *tile = memory + (-shared_address(memory) & 1023) / 2;
  if (threadIdx.x == 0) {
    barrier_create(&full, 1);
    barriers_created();
    barrier_arrive_expecting(&full, BOX_ROWS * PANEL * 2);
    copy_box(tile, &map, &full, column, row, head, batch);
  }
  __syncthreads();
  barrier_wait(&full, 0);
  for (int i = threadIdx.x; i < BOX_ROWS * PANEL; i += blockDim.x) {
    const int r = i / PANEL, c = i % PANEL;
    out[i] = tile[r * PANEL + ((c / 8 ^ r % 8) * 8 + c % 8)];
  }
})

    bool hopper_box_copies(error_text *error) {
  if (!device_is_hopper()) return true;
  constexpr int B = 2, H = 3, S = 20, D = 128, ROWS = BOX_ROWS;
  std::vector<unsigned short> values(B * H * S * D);
  for (size_t i = 0; i < values.size(); i++) values[i] = 1 + i % 60000;
  device_array<unsigned short> in(values), out(ROWS * PANEL);
  CUtensorMap map;
  if (describe_tensor(&map, ATTENTION_FP16, in.data(), B, H, S, D, ROWS) != cudaSuccess)
    return fail(error, "the tensor map was refused");
  const int places[][4] = {{0, 0, 0, 0},  {64, 8, 2, 1},   {64, 16, 1, 0}, {32, 3, 0, 1},
                           {96, 5, 1, 1}, {-16, -3, 0, 0}, {0, 40, 1, 1},  {0, 0, 3, 0},
                           {0, 0, 0, -1}, {120, 19, 2, 1}};
  for (const auto &at : places) {
    box_kernel<<<1, 64>>>(map, at[0], at[1], at[2], at[3], out.data());
    if (!device_finished(error, "box_kernel")) return false;
    const std::vector<unsigned short> got = out.host();
    for (int r = 0; r < ROWS; r++)
      for (int c = 0; c < PANEL; c++) {
        const int column = at[0] + c, row = at[1] + r, head = at[2], batch = at[3];
        const bool inside = column >= 0 && column < D && row >= 0 && row < S && head >= 0 &&
                            head < H && batch >= 0 && batch < B;
        const int expected = inside ? values[((batch * H + head) * S + row) * D + column] : 0;
        if (got[r * PANEL + c] != expected) {
          return fail(error, "box at (%d, %d, %d, %d): element (%d, %d) is %d, not %d", at[0],
                      at[1], at[2], at[3], r, c, got[r * PANEL + c], expected);
        }
      }
  }
  return true;
}

// The driver calls these arguments an invalid value.
bool hopper_tensor_maps(error_text *error) {
  if (!device_is_hopper()) return true;
  device_array<unsigned short> in(4096);
  const auto encode = tensor_map_encoder();
  if (!encode) return fail(error, "there is no cuTensorMapEncodeTiled");
  struct {
    const char *what;
    size_t address_offset;
    unsigned rank;
    cuuint64_t size, stride;
    cuuint32_t box_columns, box_rows, element_stride;
    CUresult expected;
  } cases[] = {{"nothing", 0, 2, 64, 128, 64, 8, 1, CUDA_SUCCESS},
               {"an address of 8", 8, 2, 64, 128, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"rank 0", 0, 0, 64, 128, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"rank 6", 0, 6, 64, 128, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"size 0", 0, 2, 0, 128, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"a stride of 120", 0, 2, 60, 120, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"a box of 72 columns", 0, 2, 64, 128, 72, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"a box of no row", 0, 2, 64, 128, 64, 0, 1, CUDA_ERROR_INVALID_VALUE},
               {"a box of 256 rows", 0, 2, 64, 128, 64, 256, 1, CUDA_SUCCESS},
               {"a box of 257 rows", 0, 2, 64, 128, 64, 257, 1, CUDA_ERROR_INVALID_VALUE},
               {"an element stride of 0", 0, 2, 64, 128, 64, 8, 0, CUDA_ERROR_INVALID_VALUE},
               {"an element stride of 9", 0, 2, 64, 128, 64, 8, 9, CUDA_ERROR_INVALID_VALUE}};
  for (const auto &it : cases) {
    CUtensorMap map;
    const cuuint64_t sizes[6] = {it.size, 32, 1, 1, 1, 1};
    const cuuint64_t strides[5] = {it.stride, 4096, 4096, 4096, 4096};
    const cuuint32_t box[6] = {it.box_columns, it.box_rows, 1, 1, 1, 1};
    const cuuint32_t steps[6] = {it.element_stride, 1, 1, 1, 1, 1};
    const CUresult got = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, it.rank,
                                (char *)in.data() + it.address_offset, sizes, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (got != it.expected)
      return fail(error, "with %s the result is %d, not %d", it.what, (int)got, (int)it.expected);
  }
  return true;
}

// ---- Products -----------------------------------------------------------------------------------

static constexpr int M = 64, N = 128, D = 128;

template <typename Element>
struct product_tiles {
  Element A[D / PANEL][M][PANEL];
  Element B[D / PANEL][N][PANEL]; // of S = A B^T; of O = S' B
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
         products_are_right<__nv_bfloat16>(error, ATTENTION_BF16);
}

// ---- Roles --------------------------------------------------------------------------------------

// Three warpgroups: the first releases registers. The others take turns to append to a list.
__global__ void __launch_bounds__(384, 1) turns_kernel(int *list, int rounds) KERNEL_FOR_HOPPER({
  __shared__ int length;
  if (threadIdx.x == 0) length = 0;
  __syncthreads();
  const int warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    give_registers<40>();
    return;
  }
  take_registers<232>();
  const int consumer = warpgroup - 1;
  if (consumer == 1) named_barrier_arrive(1, 256);
  for (int round = 0; round < rounds; round++) {
    named_barrier_wait(1 + consumer, 256);
    if (threadIdx.x % 128 == 0) list[length++] = consumer;
    named_barrier_arrive(1 + (consumer + 1) % 2, 256);
  }
  if (consumer == 0) named_barrier_wait(1, 256);
})

    bool hopper_roles(error_text *error) {
  if (!device_is_hopper()) return true;
  constexpr int ROUNDS = 9;
  device_array<int> list(2 * ROUNDS);
  turns_kernel<<<1, 384>>>(list.data(), ROUNDS);
  if (!device_finished(error, "turns_kernel")) return false;
  const std::vector<int> got = list.host();
  for (int i = 0; i < 2 * ROUNDS; i++) {
    if (got[i] != i % 2) return fail(error, "turn %d was consumer %d's", i, got[i]);
  }
  return true;
}

// Adds 100 and the number of the lane that each warp elects, twice.
__global__ void election_kernel(int *elected) KERNEL_FOR_HOPPER({
  for (int round = 0; round < 2; round++)
    if (elect_lane()) atomicAdd(&elected[threadIdx.x / 32], 100 + threadIdx.x % 32);
})

    bool hopper_election(error_text *error) {
  if (!device_is_hopper()) return true;
  constexpr int WARPS = 3;
  device_array<int> elected(WARPS);
  election_kernel<<<1, 32 * WARPS>>>(elected.data());
  if (!device_finished(error, "election_kernel")) return false;
  for (const int sum : elected.host()) {
    if (sum < 200 || sum > 2 * 131 || sum % 2 != 0)
      return fail(error, "a warp has added %d, not 100 and the same lane's number twice", sum);
  }
  return true;
}
