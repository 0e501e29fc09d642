// The instructions of Hopper in inline PTX, and what libcu++ has of them.
#include "hopper.cuh"

#include <cuda/barrier>
#include <utility>

template <typename Element>
struct tiles {
  alignas(1024) Element A[ROWS * DEPTH];
  alignas(1024) Element B[COLUMNS * DEPTH];
};

__device__ static void load(void *tile, const CUtensorMap *map, uint64_t *barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%3, %4}], [%2];" ::"r"(shared(tile)),
      "l"(map), "r"(shared(barrier)), "n"(0), "r"(0)
      : "memory");
}

__device__ static uint64_t descriptor(const void *tile) {
  return (shared(tile) & 0x3ffff) >> 4 | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

// 16 registers of D, %0 to %15.
#define D_OPERANDS(d)                                                                              \
  "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[0][4]), "+f"(d[0][5]),        \
      "+f"(d[0][6]), "+f"(d[0][7]), "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3]),    \
      "+f"(d[1][4]), "+f"(d[1][5]), "+f"(d[1][6]), "+f"(d[1][7])
#define MULTIPLY(type, operands)                                                                   \
  "wgmma.mma_async.sync.aligned.m64n32k16.f32." type "." type                                      \
  " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, " operands ";\n"

// The first product of four replaces D.
template <typename Element>
__device__ static void multiply_16(float (&d)[2][8], uint64_t a, uint64_t b, int adds) {
#define MULTIPLY_SHARED(type)                                                                      \
  "{\n"                                                                                            \
  ".reg .pred p;\n"                                                                                \
  "setp.ne.b32 p, %18, 0;\n" MULTIPLY(type, "%16, %17, p, %19, 1, 0, 0") "}"
  if constexpr (std::is_same_v<Element, half>) {
    asm volatile(MULTIPLY_SHARED("f16") : D_OPERANDS(d) : "l"(a), "l"(b), "r"(adds), "n"(1));
  } else {
    asm volatile(MULTIPLY_SHARED("bf16") : D_OPERANDS(d) : "l"(a), "l"(b), "r"(adds), "n"(1));
  }
}

// The same with A in registers.
template <typename Element>
__device__ static void multiply_16_registers(float (&d)[2][8], const uint32_t (&a)[4], uint64_t b) {
#define MULTIPLY_REGISTERS(type) MULTIPLY(type, "{%16, %17, %18, %19}, %20, 1, 1, 1, 0")
  if constexpr (std::is_same_v<Element, half>) {
    asm volatile(MULTIPLY_REGISTERS("f16")
                 : D_OPERANDS(d)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
  } else {
    asm volatile(MULTIPLY_REGISTERS("bf16")
                 : D_OPERANDS(d)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
  }
}

// The row and the column of C in register i of the thread.
__device__ static int place_of(int i) {
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  const int row = 16 * warp + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
  return row * COLUMNS + column;
}

// The first warp group multiplies, and a thread of the second loads; the others give their registers away. The last 16
// columns of A come from registers.
template <typename Element>
__global__ void __launch_bounds__(384, 1)
    multiply_tiles(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
                   float *C) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL // so that nvcc compiles the file for other architectures as well
  __shared__ tiles<Element> smem;
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(&full)), "r"(1));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(24));
    unsigned elected;
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}"
                 : "=r"(elected));
    if (threadIdx.x / 32 == 4 && elected) {
      asm volatile(
          "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full)),
          "r"(static_cast<int>(sizeof smem.A + sizeof smem.B))
          : "memory");
      load(smem.A, &A, &full);
      load(smem.B, &B, &full);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(240));
  wait_for(&full, 0);
  float d[2][8];
  uint32_t a[4];
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (int i = 0; i < 4; i++) { // in the 128-byte swizzle
    const int r = row + i % 2 * 8, piece = (6 + i / 2) ^ (r % 8);
    memcpy(&a[i], &smem.A[r * DEPTH + piece * 8 + lane % 4 * 2], 4);
  }
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 3; k++)
    multiply_16<Element>(d, descriptor(smem.A + 16 * k), descriptor(smem.B + 16 * k), k > 0);
  multiply_16_registers<Element>(d, a, descriptor(smem.B + 48));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(0) : "memory");
  for (int i = 0; i < 16; i++) C[place_of(i)] = d[i / 8][i % 8];
#endif
}

template <typename Element>
static bool multiplies() {
  product<Element> it;
  if (!prepare(it)) return false;
  multiply_tiles<Element><<<1, 384>>>(it.A_map, it.B_map, it.C);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    float sum = 0;
    for (int k = 0; k < DEPTH; k++)
      sum += float(it.A[i / COLUMNS * DEPTH + k]) * float(it.B[i % COLUMNS * DEPTH + k]);
    if (sum != it.C[i]) return false;
  }
  return true;
}

FEATURE(inline_ptx_of_hopper,
        "mbarrier, cp.async.bulk.tensor into shared memory and back, wgmma of fp16 and bf16 with "
        "sums in "
        "float32, setmaxnreg, elect.sync, fence.proxy.async",
        "the swizzles of 32 and 64 bytes in wgmma, its other types, and registers of D that are "
        "not one array: one sentence; other forms: one sentence with the line") {
  return multiplies<half>() && multiplies<__nv_bfloat16>();
}

// ---- libcu++ ------------------------------------------------------------------------------------

using block_barrier = cuda::barrier<cuda::thread_scope_block>;
namespace experimental = cuda::device::experimental;

// Doubles a tile of a tensor on its way to another tensor.
template <bool inline_ptx>
__global__ void double_tile(const __grid_constant__ CUtensorMap from,
                            const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(1024) __nv_bfloat16 tile[ROWS * DEPTH];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ block_barrier full;
  if (threadIdx.x == 0) {
    init(&full, blockDim.x);
    experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  block_barrier::arrival_token token;
  if (threadIdx.x == 0) {
    experimental::cp_async_bulk_tensor_2d_global_to_shared(tile, &from, 0, 0, full);
    token = cuda::device::barrier_arrive_tx(full, 1, sizeof tile);
  } else {
    token = full.arrive();
  }
  full.wait(std::move(token));
  for (int i = threadIdx.x; i < ROWS * DEPTH; i += blockDim.x)
    tile[i] = __float2bfloat16(2 * __bfloat162float(tile[i]));
  experimental::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x > 0) return;
  if (inline_ptx) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
            &to),
        "r"(shared(tile)), "r"(0), "r"(0)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
  } else {
    experimental::cp_async_bulk_tensor_2d_shared_to_global(&to, 0, 0, tile);
    experimental::cp_async_bulk_commit_group();
    experimental::cp_async_bulk_wait_group_read<0>();
  }
}

// The tensor to which is stored has `rows` rows, fewer than the box.
template <bool inline_ptx>
static bool doubles_tile(int rows) {
  product<__nv_bfloat16> it;
  if (!prepare(it)) return false;
  __nv_bfloat16 *out;
  CHECK(cudaMallocManaged(&out, ROWS * DEPTH * sizeof *out));
  CHECK(cudaMemset(out, 0, ROWS * DEPTH * sizeof *out));
  CUtensorMap map;
  if (!describe(&map, out, rows, ROWS)) return false;
  double_tile<inline_ptx><<<1, 128>>>(it.A_map, map);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < ROWS * DEPTH; i++) {
    const float expected = i < rows * DEPTH ? 2 * __bfloat162float(it.A[i]) : 0;
    if (__bfloat162float(out[i]) != expected) return false;
  }
  return true;
}

FEATURE(barriers_that_count_bytes,
        "cuda::device::barrier_arrive_tx, cuda::device::experimental with box copies into shared "
        "memory and back, their groups and their fence",
        "cuda::ptx: one sentence") {
  return doubles_tile<false>(ROWS) && doubles_tile<true>(ROWS - 3);
}

// Reverses the order of the numbers, without tensor maps.
template <bool inline_ptx>
__global__ void reverse_numbers(const int *in, int *out) {
  __shared__ alignas(16) int numbers[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ block_barrier full;
  if (threadIdx.x == 0) {
    init(&full, blockDim.x);
    experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  block_barrier::arrival_token token;
  if (threadIdx.x == 0) {
    if (inline_ptx)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                   "%2, [%3];" ::"r"(shared(numbers)),
                   "l"(in), "n"(sizeof numbers),
                   "r"(shared(cuda::device::barrier_native_handle(full)))
                   : "memory");
    else
      experimental::cp_async_bulk_global_to_shared(numbers, in, sizeof numbers, full);
    token = cuda::device::barrier_arrive_tx(full, 1, sizeof numbers);
  } else {
    token = full.arrive();
  }
  full.wait(std::move(token));
  const int other = numbers[255 - threadIdx.x];
  __syncthreads();
  numbers[threadIdx.x] = other;
  experimental::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x > 0) return;
  if (inline_ptx)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
                 "r"(shared(numbers)), "n"(sizeof numbers)
                 : "memory");
  else
    experimental::cp_async_bulk_shared_to_global(out, numbers, sizeof numbers);
  experimental::cp_async_bulk_commit_group();
  experimental::cp_async_bulk_wait_group_read<0>();
}

template <bool inline_ptx>
static bool reverses_numbers() {
  int *in, *out;
  CHECK(cudaMallocManaged(&in, 256 * sizeof *in));
  CHECK(cudaMallocManaged(&out, 256 * sizeof *out));
  for (int i = 0; i < 256; i++) in[i] = i;
  reverse_numbers<inline_ptx><<<1, 256>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; i++)
    if (out[i] != 255 - i) return false;
  return true;
}

FEATURE(bulk_copies,
        "cp.async.bulk without a tensor map, into shared memory and back, in inline PTX and "
        "cuda::device::experimental",
        "prefetches and reductions: one sentence, or an unknown name") {
  return reverses_numbers<false>() && reverses_numbers<true>();
}
