#include "calibration/calibration.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <mma.h>

using namespace nvcuda;

typedef void kernel(const float *in, float *out);

// ---- Global memory: 8 blocks of 256 threads, 64 warps --------------------------------------------

static __device__ int global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <int STRIDE, int OFFSET>
static __global__ void load_strided(const float *in, float *out) {
  out[global_index()] = in[global_index() * STRIDE + OFFSET];
}

template <int STRIDE>
static __global__ void store_strided(const float *in, float *out) {
  out[global_index() * STRIDE] = in[global_index()];
}

template <typename Element>
static __global__ void copy(const float *in, float *out) {
  ((Element *)out)[global_index()] = ((const Element *)in)[global_index()];
}

// Every lane of a warp reads the same float.
static __global__ void load_broadcast(const float *in, float *out) {
  out[global_index()] = in[global_index() / 32];
}

// ---- Shared memory: one block -------------------------------------------------------------------

// 32 x 32 threads. Written by rows, read by columns of a tile whose rows are COLUMNS floats apart.
template <int COLUMNS>
static __global__ void transpose(const float *in, float *out) {
  __shared__ float tile[32][COLUMNS];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// 256 threads. Lane i of a warp reads element i * STRIDE of the warp's part.
template <typename Element, int STRIDE>
static __global__ void shared_strided(const float *in, float *out) {
  __shared__ Element tile[8][32 * STRIDE];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < STRIDE; i++) {
    tile[warp][i * 32 + lane] = ((const Element *)in)[(warp * STRIDE + i) * 32 + lane];
  }
  __syncthreads();
  ((Element *)out)[threadIdx.x] = tile[warp][lane * STRIDE];
}

// 256 threads. SHARERS lanes in a row read the same element.
template <typename Element, int SHARERS>
static __global__ void shared_broadcast(const float *in, float *out) {
  __shared__ Element tile[8][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  tile[warp][lane] = ((const Element *)in)[threadIdx.x];
  __syncthreads();
  ((Element *)out)[threadIdx.x] = tile[warp][lane / SHARERS];
}

// 256 threads. Copied past the registers, then read back as it was written.
template <typename Element>
static __global__ void async_copy(const float *in, float *out) {
  __shared__ Element tile[256];
  __pipeline_memcpy_async(&tile[threadIdx.x], &((const Element *)in)[threadIdx.x], sizeof(Element));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  ((Element *)out)[threadIdx.x] = tile[threadIdx.x];
}

// The same for half of each warp; the other half gets zeros, and reads nothing.
static __global__ void async_zeros(const float *in, float *out) {
  __shared__ float4 tile[256];
  const size_t zeros = threadIdx.x % 32 < 16 ? 0 : sizeof(float4);
  __pipeline_memcpy_async(&tile[threadIdx.x], &((const float4 *)in)[threadIdx.x], sizeof(float4),
                          zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  ((float4 *)out)[threadIdx.x] = tile[threadIdx.x];
}

// ---- Tensor cores: one warp ---------------------------------------------------------------------

// C = A B, each 16 x 16, side by side in a tile whose rows are COLUMNS elements apart. The tile is filled
// 4 bytes a lane at a time: 16 rows in COLUMNS / 4 requests without conflict.
template <typename Element, int COLUMNS>
static __global__ void product(const float *in, float *out) {
  __shared__ __align__(128) Element tile[16][COLUMNS];
  __shared__ __align__(128) float sum[16][16];
  for (int i = threadIdx.x; i < 16 * COLUMNS / 2; i += 32) ((float *)tile)[i] = in[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, Element, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(a, &tile[0][0], COLUMNS);
  wmma::load_matrix_sync(b, &tile[0][16], COLUMNS);
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(&sum[0][0], c, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) out[i] = ((const float *)sum)[i];
}

// Every column of the matrix is the same 16 floats.
static __global__ void repeated_column(const float *in, float *out) {
  __shared__ __align__(128) float column[32];
  __shared__ __align__(128) float matrix[16][16];
  column[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(c, column, 0, wmma::mem_col_major);
  wmma::store_matrix_sync(&matrix[0][0], c, 16, wmma::mem_col_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) out[i] = ((const float *)matrix)[i];
}

// ---- Divergence: 8 blocks of 256 threads --------------------------------------------------------

// The halves of a warp go different ways, and load and store in each of them.
static __global__ void branch(const float *in, float *out) {
  const int i = global_index();
  if (threadIdx.x % 32 < 16) {
    for (int n = 0; n < 4; n++) out[i + n * 2048] = in[i + n * 2048] * 2.0f;
  } else {
    for (int n = 4; n < 12; n++) out[i + n * 2048] = in[i + n * 2048] - 1.0f;
  }
}

// Lane i goes round i % 4 + 1 times; the compiler cannot know, and does not unroll.
static __global__ void loop(const float *in, float *out) {
  const int i = global_index();
  float sum = 0.0f;
#pragma unroll 1
  for (int n = 0; n <= i % 4; n++) sum += in[i + n * 2048];
  out[i] = sum;
}

// ---- The cases ----------------------------------------------------------------------------------

namespace {
struct requests {
  uint64_t count, transfers; // sectors or wavefronts
};

struct entry {
  const char *name;
  kernel *launched;
  int blocks;
  dim3 threads;
  requests global_loads, global_stores, shared_loads, shared_stores;
  uint64_t tensor_core_operations, async_copy_bytes, block_barriers, divergent_branches;
};
} // namespace

static const requests NONE = {0, 0};
// 64 warps, of which each touches 4 sectors: floats in a row.
static const requests IN_A_ROW = {64, 64 * 4};

static const entry entries[] = {
    // Sectors: 32 lanes, 4 bytes each, STRIDE * 4 bytes apart, in sectors of 32.
    {"load stride 1", load_strided<1, 0>, 8, 256, {64, 64 * 4}, IN_A_ROW, NONE, NONE, 0, 0, 0, 0},
    {"load stride 2", load_strided<2, 0>, 8, 256, {64, 64 * 8}, IN_A_ROW, NONE, NONE, 0, 0, 0, 0},
    {"load stride 4", load_strided<4, 0>, 8, 256, {64, 64 * 16}, IN_A_ROW, NONE, NONE, 0, 0, 0, 0},
    {"load stride 8", load_strided<8, 0>, 8, 256, {64, 64 * 32}, IN_A_ROW, NONE, NONE, 0, 0, 0, 0},
    {"load stride 32", load_strided<32, 0>, 8, 256, {64, 2048}, IN_A_ROW, NONE, NONE, 0, 0, 0, 0},
    {"load offset 1", load_strided<1, 1>, 8, 256, {64, 64 * 5}, IN_A_ROW, NONE, NONE, 0, 0, 0, 0},
    {"load offset 8", load_strided<1, 8>, 8, 256, {64, 64 * 4}, IN_A_ROW, NONE, NONE, 0, 0, 0, 0},
    {"load broadcast", load_broadcast, 8, 256, {64, 64}, IN_A_ROW, NONE, NONE, 0, 0, 0, 0},
    {"store stride 2", store_strided<2>, 8, 256, IN_A_ROW, {64, 64 * 8}, NONE, NONE, 0, 0, 0, 0},
    {"store stride 32", store_strided<32>, 8, 256, IN_A_ROW, {64, 2048}, NONE, NONE, 0, 0, 0, 0},
    {"copy half", copy<half>, 8, 256, {64, 64 * 2}, {64, 64 * 2}, NONE, NONE, 0, 0, 0, 0},
    {"copy half2", copy<half2>, 8, 256, IN_A_ROW, IN_A_ROW, NONE, NONE, 0, 0, 0, 0},
    {"copy float3",
     copy<float3>,
     8,
     256,
     {64 * 3, 64 * 36},
     {64 * 3, 64 * 36},
     NONE,
     NONE,
     0,
     0,
     0,
     0},
    {"copy float4", copy<float4>, 8, 256, {64, 1024}, {64, 1024}, NONE, NONE, 0, 0, 0, 0},

    // Wavefronts: 32 warps read a column, whose floats are all in one bank, or all in different ones.
    {"transpose 32x32",
     transpose<32>,
     1,
     {32, 32},
     {32, 128},
     {32, 128},
     {32, 1024},
     {32, 32},
     0,
     0,
     1,
     0},
    {"transpose 32x33",
     transpose<33>,
     1,
     {32, 32},
     {32, 128},
     {32, 128},
     {32, 32},
     {32, 32},
     0,
     0,
     1,
     0},
    {"shared stride 2",
     shared_strided<float, 2>,
     1,
     256,
     {16, 64},
     {8, 32},
     {8, 16},
     {16, 16},
     0,
     0,
     1,
     0},
    {"shared stride 3",
     shared_strided<float, 3>,
     1,
     256,
     {24, 96},
     {8, 32},
     {8, 8},
     {24, 24},
     0,
     0,
     1,
     0},
    {"shared float2",
     shared_strided<float2, 1>,
     1,
     256,
     {8, 64},
     {8, 64},
     {8, 16},
     {8, 16},
     0,
     0,
     1,
     0},
    {"shared float4",
     shared_strided<float4, 1>,
     1,
     256,
     {8, 128},
     {8, 128},
     {8, 32},
     {8, 32},
     0,
     0,
     1,
     0},
    {"shared float4 stride 2",
     shared_strided<float4, 2>,
     1,
     256,
     {16, 256},
     {8, 128},
     {8, 64},
     {16, 64},
     0,
     0,
     1,
     0},
    {"shared broadcast",
     shared_broadcast<float, 32>,
     1,
     256,
     {8, 32},
     {8, 32},
     {8, 8},
     {8, 8},
     0,
     0,
     1,
     0},
    {"shared float2 pairs",
     shared_broadcast<float2, 2>,
     1,
     256,
     {8, 64},
     {8, 64},
     {8, 8},
     {8, 16},
     0,
     0,
     1,
     0},
    {"shared float4 pairs",
     shared_broadcast<float4, 2>,
     1,
     256,
     {8, 128},
     {8, 128},
     {8, 16},
     {8, 32},
     0,
     0,
     1,
     0},
    {"shared float4 broadcast",
     shared_broadcast<float4, 32>,
     1,
     256,
     {8, 128},
     {8, 128},
     {8, 16},
     {8, 32},
     0,
     0,
     1,
     0},

    {"cp.async 4 bytes",
     async_copy<float>,
     1,
     256,
     {8, 32},
     {8, 32},
     {8, 8},
     {8, 8},
     0,
     1024,
     1,
     0},
    {"cp.async 16 bytes",
     async_copy<float4>,
     1,
     256,
     {8, 128},
     {8, 128},
     {8, 32},
     {8, 32},
     0,
     4096,
     1,
     0},
    {"cp.async zeros", async_zeros, 1, 256, {8, 64}, {8, 128}, {8, 32}, {8, 32}, 0, 2048, 1, 0},

    // Two fragments are loaded: in half by ldmatrix, once each; in bf16 by four loads each, of which the
    // rows of all are 16 bytes. Rows of 64 elements are in the same banks: 8 wavefronts for an 8x8
    // matrix. The sum is stored by 4 requests of 8 bytes: in each half warp 4 rows, of 64 bytes, 2 of
    // which are in the same banks; and read by 8 loads.
    {"wmma half 64",
     product<half, 64>,
     1,
     32,
     {16, 64},
     {8, 32},
     {2 + 8, 64 + 8},
     {16 + 4, 16 + 16},
     1,
     0,
     0,
     0},
    {"wmma half 72",
     product<half, 72>,
     1,
     32,
     {18, 72},
     {8, 32},
     {2 + 8, 8 + 8},
     {18 + 4, 18 + 16},
     1,
     0,
     0,
     0},
    {"wmma bf16 64",
     product<__nv_bfloat16, 64>,
     1,
     32,
     {16, 64},
     {8, 32},
     {8 + 8, 64 + 8},
     {16 + 4, 16 + 16},
     1,
     0,
     0,
     0},
    {"wmma bf16 72",
     product<__nv_bfloat16, 72>,
     1,
     32,
     {18, 72},
     {8, 32},
     {8 + 8, 8 + 8},
     {18 + 4, 18 + 16},
     1,
     0,
     0,
     0},
    // Loaded by 2 requests, for rows 0 to 7 and 8 to 15, since all columns are the same; stored by 8, each
    // for 8 rows of 4 columns, which are 128 bytes apart: in the same banks.
    {"wmma column",
     repeated_column,
     1,
     32,
     {1, 4},
     {8, 32},
     {2 + 8, 2 + 8},
     {1 + 8, 1 + 32},
     0,
     0,
     0,
     0},

    // Half warps: 16 lanes touch 2 sectors. Those of the first load and store 4 times, the others 8.
    {"branch", branch, 8, 256, {64 * 12, 64 * 24}, {64 * 12, 64 * 24}, NONE, NONE, 0, 0, 0, 64},
    // A quarter of the lanes leaves after each round but the last: 3 divergent branches. Each round
    // still touches all 4 sectors.
    {"loop", loop, 8, 256, {64 * 4, 64 * 16}, IN_A_ROW, NONE, NONE, 0, 0, 0, 64 * 3},
};

size_t calibration_count(void) { return sizeof entries / sizeof entries[0]; }

calibration_case calibration_at(size_t number) {
  const entry &from = entries[number];
  return {from.name,
          {{from.global_loads.count, from.global_loads.transfers, from.global_stores.count,
            from.global_stores.transfers, from.shared_loads.count, from.shared_loads.transfers,
            from.shared_stores.count, from.shared_stores.transfers, from.tensor_core_operations,
            from.async_copy_bytes, from.block_barriers, from.divergent_branches}}};
}

cudaError_t calibration_launch(size_t number, const float *in, float *out) {
  const entry &from = entries[number];
  kernel *const launched = from.launched;
  launched<<<from.blocks, from.threads>>>(in, out);
  return cudaGetLastError();
}
