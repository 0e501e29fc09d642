// The fragments of nvcuda::wmma that steps 05 and 06 use: 16 x 16 matrices, which a warp holds in registers.
// WARPS_M x WARPS_N warps share a tile; a warp has ROW_FRAGMENTS rows of fragments and every WARPS_N-th column.
#ifndef WMMA_CUH
#define WMMA_CUH

#include "kernel.cuh"
#include <mma.h>
#include <type_traits>

namespace wmma = nvcuda::wmma;

// Fragments of bf16 came with compute capability 8.0; those of fp16 are older. For a GPU before 8.0 a kernel
// of bf16 is compiled to nothing, and attention_unsupported in configurations.cuh refuses its problems.
#define BF16_NEEDS 80
template <typename Element>
static constexpr bool HAS_FRAGMENTS =
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 10 * BF16_NEEDS
    std::is_same_v<Element, half>;
#else
    true;
#endif

static constexpr int FRAGMENT = 16; // rows, columns and depth of one tensor-core product

template <typename Element>
using matrix_a = wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, wmma::row_major>;
template <typename Element, typename Layout>
using matrix_b = wmma::fragment<wmma::matrix_b, 16, 16, 16, Element, Layout>;
using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// fragment_row returns where in the tile the warp's row of fragments number i begins, and fragment_column where its
// column of fragments number j begins. For example, in 32x64x4 (WARPS_M = WARPS_N = 2) warp 3 has row 16, and columns
// 16 and 48.
template <typename tile>
__device__ __forceinline__ int fragment_row(int i) {
  return (threadIdx.x / 32 / tile::WARPS_N * tile::ROW_FRAGMENTS + i) * FRAGMENT;
}

template <typename tile>
__device__ __forceinline__ int fragment_column(int j) {
  return (threadIdx.x / 32 % tile::WARPS_N + tile::WARPS_N * j) * FRAGMENT;
}

// Stores the warp's fragments of O to the tile O_smem [BLOCK_M][D], whose rows have WIDTH floats with their pad.
template <typename tile, int D, int COLUMNS, int WIDTH>
__device__ __forceinline__ void
store_fragments(float (*O_smem)[WIDTH], const accumulator (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS]) {
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
    for (int j = 0; j < COLUMNS && fragment_column<tile>(j) < D; j++)
      wmma::store_matrix_sync(&O_smem[fragment_row<tile>(i)][fragment_column<tile>(j)],
                              O_frag[i][j], WIDTH, wmma::mem_row_major);
}

// Stores the first `rows` rows and `head_dim` columns of the tile O_smem [BLOCK_M][D] to O [rows, head_dim], rounded
// to Element. Neighbouring threads take neighbouring columns, so that they fill whole sectors.
template <typename tile, int D, typename Element, int WIDTH>
__device__ __forceinline__ void store_rows(Element *O, const float (*O_smem)[WIDTH], int rows,
                                           int head_dim) {
  for (int i = threadIdx.x; i < tile::BLOCK_M * D; i += tile::THREADS) {
    if (i / D < rows && i % D < head_dim)
      O[(size_t)(i / D) * head_dim + i % D] = from_float<Element>(O_smem[i / D][i % D]);
  }
}

#endif
