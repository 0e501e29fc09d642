// Stand-in for CUDA's <mma.h>: nvcuda::wmma (CUDA C++ Programming Guide, "Warp Matrix Functions"), with the types and
// functions that nvcc 13 has, but for 4 bits and single bits.
//
// runtime/fragment_layout.c says which element of a matrix is in which x[] of
// which lane; it is the layout of the GPUs from compute capability 8.0 on.
#ifndef MMA_H
#define MMA_H
#include "detail/own_letters.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#ifdef __cplusplus
#include "detail/fragment.h"
#include "detail/plain_fragment.h"

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };

// Sets all elements. Each lane sets its own, so this function is not a warp collective.
template <typename Use, int m, int n, int k, typename T, typename Layout>
void fill_fragment(fragment<Use, m, n, k, T, Layout> &fragment,
                   const ::emulator::exactly<T> &value) {
  for (auto &element : fragment.x) element = value;
}

// ldm is the number of elements from one row to the next, or between columns in a col_major matrix.
template <int m, int n, int k, typename T, typename Layout>
void load_matrix_sync(fragment<matrix_a, m, n, k, T, Layout> &a, const ::emulator::exactly<T> *mptr,
                      unsigned ldm, EMULATOR_CALL_SITE) {
  if constexpr (::emulator::is_plain<std::remove_reference_t<decltype(a)>>) {
    const emulator_site site = {"wmma::load_matrix_sync()", file, line};
    ::emulator::plain_each(a, ldm, std::is_same_v<Layout, col_major>, site,
                           [=](auto &element, size_t at) { element = mptr[at]; });
  } else {
    ::emulator::load_operand(a, mptr, ldm, file, line);
  }
}

template <int m, int n, int k, typename T, typename Layout>
void load_matrix_sync(fragment<matrix_b, m, n, k, T, Layout> &b, const ::emulator::exactly<T> *mptr,
                      unsigned ldm, EMULATOR_CALL_SITE) {
  if constexpr (::emulator::is_plain<std::remove_reference_t<decltype(b)>>) {
    const emulator_site site = {"wmma::load_matrix_sync()", file, line};
    ::emulator::plain_each(b, ldm, std::is_same_v<Layout, col_major>, site,
                           [=](auto &element, size_t at) { element = mptr[at]; });
  } else {
    ::emulator::load_operand(b, mptr, ldm, file, line);
  }
}

template <int m, int n, int k, typename T>
void load_matrix_sync(fragment<accumulator, m, n, k, T> &c, const ::emulator::exactly<T> *mptr,
                      unsigned ldm, layout_t layout, EMULATOR_CALL_SITE) {
  const emulator_site site = {"wmma::load_matrix_sync()", file, line};
  if constexpr (::emulator::is_plain<std::remove_reference_t<decltype(c)>>)
    ::emulator::plain_each(c, ldm, layout == mem_col_major, site,
                           [=](auto &element, size_t at) { element = mptr[at]; });
  else
    emulator_load_matrix(&c.emulator_type, c.x, mptr, ldm, layout == mem_col_major, &site);
}

template <int m, int n, int k, typename T>
void store_matrix_sync(::emulator::exactly<T> *mptr, const fragment<accumulator, m, n, k, T> &d,
                       unsigned ldm, layout_t layout, EMULATOR_CALL_SITE) {
  const emulator_site site = {"wmma::store_matrix_sync()", file, line};
  if constexpr (::emulator::is_plain<std::remove_cv_t<std::remove_reference_t<decltype(d)>>>)
    ::emulator::plain_each(d, ldm, layout == mem_col_major, site,
                           [=](auto &element, size_t at) { mptr[at] = element; });
  else
    emulator_store_matrix(&d.emulator_type, d.x, mptr, ldm, layout == mem_col_major, &site);
}

// Computes D = A B + C. C and D are float; with inputs of half, each of them is float or half.
template <int m, int n, int k, typename T, typename D, typename C, typename A_layout,
          typename B_layout, typename = ::emulator::accumulates<T, C, D>>
void mma_sync(fragment<accumulator, m, n, k, D> &d,
              const fragment<matrix_a, m, n, k, T, A_layout> &a,
              const fragment<matrix_b, m, n, k, T, B_layout> &b,
              const fragment<accumulator, m, n, k, C> &c, EMULATOR_CALL_SITE) {
  if constexpr (::emulator::is_plain<fragment<accumulator, m, n, k, D>>) {
    ::emulator::plain_multiply(d, a, b, c, file, line);
  } else {
    const emulator_site site = {"wmma::mma_sync()", file, line};
    const emulator_matrix_product product = {
        &a.emulator_type, &b.emulator_type, &c.emulator_type, &d.emulator_type, a.x, b.x, c.x, d.x};
    emulator_multiply_matrices(&product, &site);
  }
}

// The same for double and for 8-bit integers; tf32 comes to the function above.
template <int m, int n, int k, typename T, typename D, typename C, typename A_layout,
          typename B_layout, std::enable_if_t<::emulator::accumulates_plain<T, C, D>, int> = 0>
void mma_sync(fragment<accumulator, m, n, k, D> &d,
              const fragment<matrix_a, m, n, k, T, A_layout> &a,
              const fragment<matrix_b, m, n, k, T, B_layout> &b,
              const fragment<accumulator, m, n, k, C> &c, EMULATOR_CALL_SITE) {
  ::emulator::plain_multiply(d, a, b, c, file, line);
}

} // namespace wmma
} // namespace nvcuda
#endif

#include "detail/own_letters_end.h"

#endif
