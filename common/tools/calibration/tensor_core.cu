// Fragments of the tensor cores, loaded and stored by one warp.
#include "case.cuh"
#include "ptx.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

using bf16 = __nv_bfloat16;

// Computes C = A B, each 16 x 16, side by side in a tile whose rows are COLUMNS elements apart. Each lane
// fills the tile 4 bytes at a time, which takes COLUMNS / 4 requests without conflict for 16 rows.
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

// Two lanes fill a row of 16 equal floats, and an accumulator is loaded from these rows, as in steps 05 and 06.
static __global__ void repeated_factors(const float *in, float *out) {
  __shared__ __align__(128) float factor[16][20];
  __shared__ __align__(128) float matrix[16][16];
  const int row = threadIdx.x % 16;
  const float value = in[row];
  for (int column = threadIdx.x / 16 * 4; column < 16; column += 8)
    *(float4 *)&factor[row][column] = make_float4(value, value, value, value);
  __syncwarp();
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(c, &factor[0][0], 20, wmma::mem_row_major);
  wmma::store_matrix_sync(&matrix[0][0], c, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) out[i] = ((const float *)matrix)[i];
}

// Computes C = A B, 16 x 8, with ldmatrix and mma. Row r of A has 128 bytes, which cover all banks once.
// `swizzled` moves its 16-byte pieces by r % 8, so that the pieces of a column are in different banks.
template <bool swizzled>
static __global__ void instruction(const float *in, float *out) {
  __shared__ __align__(128) half tile[16][64];
  for (int i = threadIdx.x; i < 16 * 32; i += 32) ((float *)tile)[i] = in[i];
  __syncwarp();
  const int row = threadIdx.x % 16, piece = threadIdx.x / 16;
  unsigned a[4], b[4];
  load_matrices(a, &tile[row][8 * (swizzled ? piece ^ row % 8 : piece)]);
  load_matrices_transposed(b, &tile[row][8 * (swizzled ? (piece + 2) ^ row % 8 : piece + 2)]);
  float c[4] = {};
  multiply_fragments<half>(c, a, b);
  for (int i = 0; i < 4; i++) out[32 * i + threadIdx.x] = c[i];
}

const kernel_case tensor_cases[] = {
    // Two fragments are loaded: in half by one ldmatrix each, in bf16 by four loads each, of 8x8 matrices
    // with 16 bytes a row. Rows of 64 elements are in the same banks: 8 wavefronts for each 8x8 matrix.
    // The sum is stored by 4 requests of 8 bytes: in each half warp 4 rows, of 64 bytes, of which 2 are in
    // the same banks; and read back by 8 loads.
    {"wmma half 64", product<half, 64>, 1, 32, {16, 64}, {8, 32}, {10, 72}, {20, 32}, 0, 2},
    {"wmma half 72", product<half, 72>, 1, 32, {18, 72}, {8, 32}, {10, 16}, {22, 34}, 0, 2},
    {"wmma bf16 64", product<bf16, 64>, 1, 32, {16, 64}, {8, 32}, {16, 72}, {20, 32}, 0, 2},
    {"wmma bf16 72", product<bf16, 72>, 1, 32, {18, 72}, {8, 32}, {16, 16}, {22, 34}, 0, 2},
    // Rows of 20 floats. 2 stores of 16 bytes, of which 8 lanes cover all banks; 4 loads of 8 bytes: in each half
    // warp 4 rows, of which the first and the last have 4 banks in common. The matrix is stored as the sum above.
    {"wmma factors", repeated_factors, 1, 32, {1, 2}, {8, 32}, {12, 24}, {6, 24}},
    // Two ldmatrix, each of four 8x8 matrices: a wavefront for each, or with all rows of a matrix in the
    // same banks 8. The tile is filled by 16 stores; the product is half of a 16 x 16 one.
    {"ldmatrix 64", instruction<false>, 1, 32, {16, 64}, {4, 16}, {2, 64}, {16, 16}, 0, 1},
    {"ldmatrix swizzled", instruction<true>, 1, 32, {16, 64}, {4, 16}, {2, 8}, {16, 16}, 0, 1},
    {},
};
