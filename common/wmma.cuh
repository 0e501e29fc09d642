// The fragments of nvcuda::wmma that steps 05 and 06 use: 16 x 16 matrices, which a warp holds in registers.
// WARPS_M x WARPS_N warps share a tile; a warp has ROW_FRAGMENTS rows of fragments and every WARPS_N-th column.
#ifndef WMMA_CUH
#define WMMA_CUH

#include <mma.h>

namespace wmma = nvcuda::wmma;

static constexpr int FRAGMENT = 16; // rows, columns and depth of one tensor-core product

template <typename Element>
using matrix_a = wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, wmma::row_major>;
template <typename Element, typename Layout>
using matrix_b = wmma::fragment<wmma::matrix_b, 16, 16, 16, Element, Layout>;
using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// The first row of the warp's row of fragments number i, and the first column of its column number j.
template <typename tile>
__device__ __forceinline__ int fragment_row(int i) {
  return (threadIdx.x / 32 / tile::WARPS_N * tile::ROW_FRAGMENTS + i) * FRAGMENT;
}

template <typename tile>
__device__ __forceinline__ int fragment_column(int j) {
  return (threadIdx.x / 32 % tile::WARPS_N + tile::WARPS_N * j) * FRAGMENT;
}

#endif
