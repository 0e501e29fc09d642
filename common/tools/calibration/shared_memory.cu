// Requests to shared memory, by one block.
#include "case.cuh"

#include <cuda_pipeline_primitives.h>

// The 32 x 32 threads write a tile by rows and read it by columns. Its rows are COLUMNS floats apart.
template <int COLUMNS>
static __global__ void transpose(const float *in, float *out) {
  __shared__ float tile[32][COLUMNS];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// In a block of 256 threads, lane i of a warp reads element i * STRIDE of the warp's part.
template <typename Element, int STRIDE>
static __global__ void read_strided(const float *in, float *out) {
  __shared__ Element tile[8][32 * STRIDE];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < STRIDE; i++) {
    tile[warp][i * 32 + lane] = ((const Element *)in)[(warp * STRIDE + i) * 32 + lane];
  }
  __syncthreads();
  ((Element *)out)[threadIdx.x] = tile[warp][lane * STRIDE];
}

// In a block of 256 threads, each SHARERS neighbouring lanes read the same element.
template <typename Element, int SHARERS>
static __global__ void read_shared(const float *in, float *out) {
  __shared__ Element tile[8][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  tile[warp][lane] = ((const Element *)in)[threadIdx.x];
  __syncthreads();
  ((Element *)out)[threadIdx.x] = tile[warp][lane / SHARERS];
}

// 256 threads copy data to shared memory without registers (cp.async), then each reads what it has copied.
template <typename Element>
static __global__ void async_copy(const float *in, float *out) {
  __shared__ Element tile[256];
  __pipeline_memcpy_async(&tile[threadIdx.x], &((const Element *)in)[threadIdx.x], sizeof(Element));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  ((Element *)out)[threadIdx.x] = tile[threadIdx.x];
}

// Copies 16 bytes for each thread, of which the last `zeros` bytes are zeros that are not read.
static __device__ void async_with_zeros(const float *in, float *out, size_t zeros) {
  __shared__ float4 tile[256];
  __pipeline_memcpy_async(&tile[threadIdx.x], &((const float4 *)in)[threadIdx.x], sizeof(float4),
                          zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  ((float4 *)out)[threadIdx.x] = tile[threadIdx.x];
}

// Half of each warp copies. The other half gets zeros, and reads nothing from global memory.
static __global__ void async_zeros(const float *in, float *out) {
  async_with_zeros(in, out, threadIdx.x % 32 < 16 ? 0 : sizeof(float4));
}

// All bytes are copied, but the number of zeros is known only at run time, as in step 06. The compiler makes
// two instructions, and a predicate switches one of them off.
static __global__ void async_choice(const float *in, float *out) {
  async_with_zeros(in, out, threadIdx.x < 256 ? 0 : sizeof(float4));
}

// Copies rows of 128 bytes, which are 144 bytes apart in shared memory.
static __global__ void async_padded(const float *in, float *out) {
  __shared__ float4 tile[32][9];
  float4 *const place = &tile[threadIdx.x / 8][threadIdx.x % 8];
  __pipeline_memcpy_async(place, &((const float4 *)in)[threadIdx.x], sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  ((float4 *)out)[threadIdx.x] = *place;
}

const kernel_case shared_cases[] = {
    // 32 warps each read a column, whose floats are all in one bank, or all in different banks.
    {"transpose 32x32", transpose<32>, 1, {32, 32}, {32, 128}, {32, 128}, {32, 1024}, {32, 32}, 1},
    {"transpose 32x33", transpose<33>, 1, {32, 32}, {32, 128}, {32, 128}, {32, 32}, {32, 32}, 1},
    {"shared stride 2", read_strided<float, 2>, 1, 256, {16, 64}, {8, 32}, {8, 16}, {16, 16}, 1},
    {"shared stride 3", read_strided<float, 3>, 1, 256, {24, 96}, {8, 32}, {8, 8}, {24, 24}, 1},
    {"shared float2", read_strided<float2, 1>, 1, 256, {8, 64}, {8, 64}, {8, 16}, {8, 16}, 1},
    {"shared float4", read_strided<float4, 1>, 1, 256, {8, 128}, {8, 128}, {8, 32}, {8, 32}, 1},
    {"float4 stride 2", read_strided<float4, 2>, 1, 256, {16, 256}, {8, 128}, {8, 64}, {16, 64}, 1},
    {"shared broadcast", read_shared<float, 32>, 1, 256, {8, 32}, {8, 32}, {8, 8}, {8, 8}, 1},
    {"float2 pairs", read_shared<float2, 2>, 1, 256, {8, 64}, {8, 64}, {8, 8}, {8, 16}, 1},
    {"float4 pairs", read_shared<float4, 2>, 1, 256, {8, 128}, {8, 128}, {8, 16}, {8, 32}, 1},
    {"float4 broadcast", read_shared<float4, 32>, 1, 256, {8, 128}, {8, 128}, {8, 16}, {8, 32}, 1},

    {"cp.async 4 bytes", async_copy<float>, 1, 256, {8, 32}, {8, 32}, {8, 8}, {8, 8}, 1, 0, 1024},
    {"cp.async 16 bytes",
     async_copy<int4>,
     1,
     256,
     {8, 128},
     {8, 128},
     {8, 32},
     {8, 32},
     1,
     0,
     4096},
    {"cp.async choice", async_choice, 1, 256, {8, 128}, {8, 128}, {8, 32}, {8, 32}, 1, 0, 4096},
    {"cp.async padded", async_padded, 1, 256, {8, 128}, {8, 128}, {8, 32}, {8, 32}, 1, 0, 4096},
    {"cp.async zeros", async_zeros, 1, 256, {8, 64}, {8, 128}, {8, 32}, {8, 32}, 1, 0, 2048},
    {},
};
