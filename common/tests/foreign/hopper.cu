// The instructions of Hopper in inline PTX, and what libcu++ has of them.
#include "feature.h"

#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <utility>

static constexpr int ROWS = 64, COLUMNS = 32,
                     DEPTH = 64; // C [64, 32] = A [64, 64] B, and B^T is [32, 64]

__device__ static uint32_t shared(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

struct tiles {
  alignas(1024) __nv_bfloat16 A[ROWS * DEPTH];
  alignas(1024) __nv_bfloat16 B[COLUMNS * DEPTH];
};

__device__ static void wait_for(uint64_t *barrier, uint32_t parity) {
  asm volatile("{\n"
               ".reg .pred over;\n"
               "AGAIN:\n"
               "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 over, [%0], %1;\n"
               "@over bra.uni DONE;\n"
               "bra.uni AGAIN;\n"
               "DONE:\n"
               "}" ::"r"(shared(barrier)),
               "r"(parity)
               : "memory");
}

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

// The first product of four replaces D.
__device__ static void multiply_16(float (&d)[2][8], uint64_t a, uint64_t b, int adds) {
  asm volatile("{\n"
               ".reg .pred p;\n"
               "setp.ne.b32 p, %18, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
               "%16, %17, p, %19, 1, 0, 0;\n"
               "}"
               : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[0][4]),
                 "+f"(d[0][5]), "+f"(d[0][6]), "+f"(d[0][7]), "+f"(d[1][0]), "+f"(d[1][1]),
                 "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[1][4]), "+f"(d[1][5]), "+f"(d[1][6]),
                 "+f"(d[1][7])
               : "l"(a), "l"(b), "r"(adds), "n"(1));
}

// The same with A in registers.
__device__ static void multiply_16_registers(float (&d)[2][8], const uint32_t (&a)[4], uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
               "{%16, %17, %18, %19}, %20, 1, 1, 1, 0;\n"
               : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[0][4]),
                 "+f"(d[0][5]), "+f"(d[0][6]), "+f"(d[0][7]), "+f"(d[1][0]), "+f"(d[1][1]),
                 "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[1][4]), "+f"(d[1][5]), "+f"(d[1][6]),
                 "+f"(d[1][7])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// The row and the column of C in register i of the thread.
__device__ static int place_of(int i) {
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  const int row = 16 * warp + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
  return row * COLUMNS + column;
}

// The first warp group multiplies, and a thread of the second loads; the others give their registers away. The last 16
// columns of A come from registers.
__global__ void __launch_bounds__(384)
    multiply_tiles(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
                   float *C) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL // so that nvcc compiles the file for other architectures as well
  __shared__ tiles smem;
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
    multiply_16(d, descriptor(smem.A + 16 * k), descriptor(smem.B + 16 * k), k > 0);
  multiply_16_registers(d, a, descriptor(smem.B + 48));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(0) : "memory");
  for (int i = 0; i < 16; i++) C[place_of(i)] = d[i / 8][i % 8];
#endif
}

// A tensor of `rows` rows of 64 elements, in boxes of `box_rows`.
static bool describe(CUtensorMap *map, void *tensor, unsigned rows, unsigned box_rows) {
  const cuuint64_t sizes[2] = {DEPTH, rows}, strides[1] = {DEPTH * 2};
  const cuuint32_t box[2] = {DEPTH, box_rows}, every_element[2] = {1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, tensor, sizes, strides,
                                box, every_element, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

struct product {
  __nv_bfloat16 *A, *B;
  float *C;
  CUtensorMap A_map, B_map;
};

static bool prepare(product &it) {
  CHECK(cudaMallocManaged(&it.A, ROWS * DEPTH * sizeof *it.A));
  CHECK(cudaMallocManaged(&it.B, COLUMNS * DEPTH * sizeof *it.B));
  CHECK(cudaMallocManaged(&it.C, ROWS * COLUMNS * sizeof *it.C));
  for (int i = 0; i < ROWS * DEPTH; i++) it.A[i] = __float2bfloat16(i % 7 - 3.0f);
  for (int i = 0; i < COLUMNS * DEPTH; i++) it.B[i] = __float2bfloat16(i % 5 - 2.0f);
  return describe(&it.A_map, it.A, ROWS, ROWS) && describe(&it.B_map, it.B, COLUMNS, COLUMNS);
}

static bool is_right(const product &it) {
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    float sum = 0;
    for (int k = 0; k < DEPTH; k++)
      sum += __bfloat162float(it.A[i / COLUMNS * DEPTH + k]) *
             __bfloat162float(it.B[i % COLUMNS * DEPTH + k]);
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
  product it;
  if (!prepare(it)) return false;
  multiply_tiles<<<1, 384>>>(it.A_map, it.B_map, it.C);
  CHECK(cudaDeviceSynchronize());
  return is_right(it);
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
  product it;
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

// ---- Clusters and stmatrix ----------------------------------------------------------------------

// Each block adds its rank to a number in the other one's shared memory.
__global__ void __cluster_dims__(2, 1, 1) add_ranks(unsigned *out) {
  __shared__ unsigned number;
  unsigned rank, remote;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) number = 10 * rank;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared(&number)), "r"(rank ^ 1));
  if (threadIdx.x == 0)
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(remote), "r"(rank + 1) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  if (threadIdx.x == 0) out[blockIdx.x] = number;
}

FEATURE(inline_ptx_of_clusters,
        "barrier.cluster, mapa, ld, st, red and atom of shared::cluster, the special registers of "
        "clusters",
        "") {
  unsigned *out;
  CHECK(cudaMallocManaged(&out, 2 * sizeof *out));
  add_ranks<<<2, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  return out[0] == 2 && out[1] == 11;
}

// The first block loads a tile for both. Neither ends before the other one has said that it has read the tile.
__global__ void __cluster_dims__(2, 1, 1)
    share_tile(const __grid_constant__ CUtensorMap map, __nv_bfloat16 *out) {
  __shared__ alignas(1024) __nv_bfloat16 tile[ROWS * DEPTH];
  __shared__ uint64_t full, read;
  unsigned rank, remote;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full)));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(shared(&read)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  if (threadIdx.x == 0)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full)),
                 "n"(sizeof tile)
                 : "memory");
  if (threadIdx.x == 0 && rank == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
                 "multicast::cluster [%0], [%1, {%3, %3}], [%2], %4;" ::"r"(shared(tile)),
                 "l"(&map), "r"(shared(&full)), "r"(0), "h"(static_cast<unsigned short>(3))
                 : "memory");
  wait_for(&full, 0);
  for (int i = threadIdx.x; i < ROWS * DEPTH; i += blockDim.x) // in the 128-byte swizzle
    out[rank * ROWS * DEPTH + i] =
        tile[i / DEPTH * DEPTH + ((i % DEPTH / 8) ^ (i / DEPTH % 8)) * 8 + i % 8];
  __syncthreads();
  if (threadIdx.x < 2) {
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(remote)
        : "r"(shared(&read)), "r"(threadIdx.x));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote)
                 : "memory");
  }
  wait_for(&read, 0);
}

FEATURE(barriers_of_clusters,
        "mbarrier.arrive in another block, cp.async.bulk.tensor with multicast::cluster",
        "sanitize and count: one sentence") {
  product it;
  if (!prepare(it)) return false;
  __nv_bfloat16 *out;
  CHECK(cudaMallocManaged(&out, 2 * ROWS * DEPTH * sizeof *out));
  share_tile<<<2, 128>>>(it.A_map, out);
  CHECK(cudaDeviceSynchronize());
  return memcmp(out, it.A, ROWS * DEPTH * sizeof *out) == 0 &&
         memcmp(out + ROWS * DEPTH, it.A, ROWS * DEPTH * sizeof *out) == 0;
}

// Four 8x8 matrices, whose elements tell where they should be, transposed or not.
__global__ void store_matrices(unsigned short *out) {
  __shared__ alignas(16) unsigned short plain[4][8][8], transposed[4][8][8];
  const unsigned lane = threadIdx.x, row = lane / 4, column = lane % 4 * 2;
  unsigned r[4];
  for (unsigned m = 0; m < 4; m++) r[m] = (m * 64 + row * 8 + column) * 0x10001 + 0x10000;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared(plain[lane / 8][lane % 8])),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  asm volatile("stmatrix.sync.aligned.x4.trans.m8n8.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared(transposed[lane / 8][lane % 8])),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  __syncwarp();
  for (unsigned i = lane; i < 256; i += 32) {
    out[i] = plain[i / 64][i / 8 % 8][i % 8];
    out[256 + i] = transposed[i / 64][i % 8][i / 8 % 8];
  }
}

FEATURE(stmatrix, "stmatrix x1, x2, x4 and trans", "") {
  unsigned short *out;
  CHECK(cudaMallocManaged(&out, 512 * sizeof *out));
  store_matrices<<<1, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 512; i++)
    if (out[i] != i % 256) return false;
  return true;
}
