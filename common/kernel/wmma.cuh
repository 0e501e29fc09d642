// The fragments of nvcuda::wmma that steps 05 and 06 use: 16 x 16 matrices, which a warp holds in registers.
// WARPS_M x WARPS_N warps share a tile; a warp has ROW_FRAGMENTS rows of fragments and every WARPS_N-th column.
#ifndef WMMA_CUH
#define WMMA_CUH

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

// They return the first row of the warp's row fragment number i, and the first column of its column of
// fragments number j.
template <typename tile>
__device__ __forceinline__ int fragment_row(int i) {
  return (threadIdx.x / 32 / tile::WARPS_N * tile::ROW_FRAGMENTS + i) * FRAGMENT;
}

template <typename tile>
__device__ __forceinline__ int fragment_column(int j) {
  return (threadIdx.x / 32 % tile::WARPS_N + tile::WARPS_N * j) * FRAGMENT;
}

#endif
