// Stand-in for CUDA's <mma.h>: nvcuda::wmma for half and __nv_bfloat16 (CUDA C++ Programming Guide,
// "Warp Matrix Functions"), with the types and functions that nvcc 13 has, and no others.
//
// runtime/fragment_layout.c says which element of a matrix is in which x[] of
// which lane; it is the layout of the GPUs from compute capability 8.0 on.
#ifndef MMA_H
#define MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#ifdef __cplusplus
#include "detail/fragment.h"

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };

// Sets all elements. Each lane sets its own, so this function is not a warp collective.
template <typename Use, int m, int n, int k, typename T, typename Layout>
void fill_fragment(fragment<Use, m, n, k, T, Layout> &fragment,
                   const ::emulator::exactly<T> &value) {
  for (T &element : fragment.x) element = value;
}

// ldm is the number of elements from one row to the next, or between columns in a col_major matrix.
template <int m, int n, int k, typename T, typename Layout>
void load_matrix_sync(fragment<matrix_a, m, n, k, T, Layout> &a, const ::emulator::exactly<T> *mptr,
                      unsigned ldm, EMULATOR_CALL_SITE) {
  ::emulator::load_operand(a, mptr, ldm, file, line);
}

template <int m, int n, int k, typename T, typename Layout>
void load_matrix_sync(fragment<matrix_b, m, n, k, T, Layout> &b, const ::emulator::exactly<T> *mptr,
                      unsigned ldm, EMULATOR_CALL_SITE) {
  ::emulator::load_operand(b, mptr, ldm, file, line);
}

template <int m, int n, int k, typename T>
void load_matrix_sync(fragment<accumulator, m, n, k, T> &c, const ::emulator::exactly<T> *mptr,
                      unsigned ldm, layout_t layout, EMULATOR_CALL_SITE) {
  const emulator_site site = {"wmma::load_matrix_sync()", file, line};
  emulator_load_matrix(&c.emulator_type, c.x, mptr, ldm, layout == mem_col_major, &site);
}

template <int m, int n, int k, typename T>
void store_matrix_sync(::emulator::exactly<T> *mptr, const fragment<accumulator, m, n, k, T> &d,
                       unsigned ldm, layout_t layout, EMULATOR_CALL_SITE) {
  const emulator_site site = {"wmma::store_matrix_sync()", file, line};
  emulator_store_matrix(&d.emulator_type, d.x, mptr, ldm, layout == mem_col_major, &site);
}

// Computes D = A B + C. C and D are float; with inputs of half, each of them is float or half.
template <int m, int n, int k, typename T, typename D, typename C, typename A_layout,
          typename B_layout, typename = ::emulator::accumulates<T, C, D>>
void mma_sync(fragment<accumulator, m, n, k, D> &d,
              const fragment<matrix_a, m, n, k, T, A_layout> &a,
              const fragment<matrix_b, m, n, k, T, B_layout> &b,
              const fragment<accumulator, m, n, k, C> &c, EMULATOR_CALL_SITE) {
  const emulator_site site = {"wmma::mma_sync()", file, line};
  const emulator_matrix_product product = {
      &a.emulator_type, &b.emulator_type, &c.emulator_type, &d.emulator_type, a.x, b.x, c.x, d.x};
  emulator_multiply_matrices(&product, &site);
}

} // namespace wmma
} // namespace nvcuda
#endif

#endif
