// ldmatrix, stmatrix and mma.sync (PTX ISA 9.0, 9.7.14.5). The runtime multiplies m16n8k16; the smaller m16n8k8 is the same
// with the upper half of k zero.
#ifndef EMULATOR_DETAIL_PTX_MATRIX_H
#define EMULATOR_DETAIL_PTX_MATRIX_H

#include "memory.h"
#include "tensor_core.h"

namespace emulator {
namespace ptx {

// Matrices 0 to count - 1: the rows of the others are not read, so their lanes may pass any address.
EMULATOR_PTX void load_matrices(unsigned fragments[4], u64 row, int count, bool transposed,
                                const char *file, int line) {
  const emulator_site site = {"ldmatrix", file, line};
  const char *own = nullptr;
  // The lanes beyond 8 * count take the address of a lane that counts.
  const unsigned long long mine = row;
  unsigned long long used = mine;
  if (count < 4) {
    const unsigned source = emulator_current->lane % (8 * static_cast<unsigned>(count));
    emulator_shuffle(~0u, &mine, &used, sizeof used, source, &site);
  }
  own = shared(used);
  emulator_load_matrices(fragments, own, transposed, &site);
}
#define EMULATOR_PTX_LDMATRIX(suffix, transposed)                                                  \
  template <typename T, typename D0>                                                               \
  EMULATOR_PTX void ldmatrix_x1_##suffix##shared_(                                                 \
      D0 &d0, u64 row, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {         \
    unsigned fragments[4];                                                                         \
    load_matrices(fragments, row, 1, transposed, file, line);                                      \
    set(d0, fragments[0]);                                                                         \
  }                                                                                                \
  template <typename T, typename D0, typename D1>                                                  \
  EMULATOR_PTX void ldmatrix_x2_##suffix##shared_(                                                 \
      D0 &d0, D1 &d1, u64 row, const char *file = __builtin_FILE(), int line = __builtin_LINE()) { \
    unsigned fragments[4];                                                                         \
    load_matrices(fragments, row, 2, transposed, file, line);                                      \
    set(d0, fragments[0]);                                                                         \
    set(d1, fragments[1]);                                                                         \
  }                                                                                                \
  template <typename T, typename D0, typename D1, typename D2, typename D3>                        \
  EMULATOR_PTX void ldmatrix_x4_##suffix##shared_(D0 &d0, D1 &d1, D2 &d2, D3 &d3, u64 row,         \
                                                  const char *file = __builtin_FILE(),             \
                                                  int line = __builtin_LINE()) {                   \
    unsigned fragments[4];                                                                         \
    load_matrices(fragments, row, 4, transposed, file, line);                                      \
    set(d0, fragments[0]);                                                                         \
    set(d1, fragments[1]);                                                                         \
    set(d2, fragments[2]);                                                                         \
    set(d3, fragments[3]);                                                                         \
  }
EMULATOR_PTX_LDMATRIX(, false)
EMULATOR_PTX_LDMATRIX(trans_, true)
#undef EMULATOR_PTX_LDMATRIX

// Lane i gives the address of row i % 8 of matrix i / 8. Each lane stores what it holds of each matrix: two elements of
// row lane / 4 or, if transposed, of column lane / 4.
EMULATOR_PTX void store_matrix(u64 row, unsigned matrix, unsigned pair, bool transposed,
                               const char *file, int line) {
  const emulator_site site = {"stmatrix", file, line};
  const unsigned lane = emulator_current->lane;
  const unsigned long long own = row;
  const auto row_of = [&](unsigned index) {
    unsigned long long address;
    emulator_shuffle(~0u, &own, &address, sizeof address, 8 * matrix + index, &site);
    return shared(address);
  };
  if (!transposed) {
    store<b32>(row_of(lane / 4) + lane % 4 * 4, pair);
    return;
  }
  store<b16>(row_of(lane % 4 * 2) + lane / 4 * 2, pair);
  store<b16>(row_of(lane % 4 * 2 + 1) + lane / 4 * 2, pair >> 16);
}
#define EMULATOR_PTX_STMATRIX(suffix, transposed)                                                  \
  template <typename T, typename A0>                                                               \
  EMULATOR_PTX void stmatrix_x1_##suffix##shared_(u64 row, const A0 &a0, EMULATOR_CALL_SITE) {     \
    store_matrix(row, 0, as<u32>(a0), transposed, file, line);                                     \
  }                                                                                                \
  template <typename T, typename A0, typename A1>                                                  \
  EMULATOR_PTX void stmatrix_x2_##suffix##shared_(u64 row, const A0 &a0, const A1 &a1,             \
                                                  EMULATOR_CALL_SITE) {                            \
    store_matrix(row, 0, as<u32>(a0), transposed, file, line);                                     \
    store_matrix(row, 1, as<u32>(a1), transposed, file, line);                                     \
  }                                                                                                \
  template <typename T, typename A0, typename A1, typename A2, typename A3>                        \
  EMULATOR_PTX void stmatrix_x4_##suffix##shared_(                                                 \
      u64 row, const A0 &a0, const A1 &a1, const A2 &a2, const A3 &a3, EMULATOR_CALL_SITE) {       \
    store_matrix(row, 0, as<u32>(a0), transposed, file, line);                                     \
    store_matrix(row, 1, as<u32>(a1), transposed, file, line);                                     \
    store_matrix(row, 2, as<u32>(a2), transposed, file, line);                                     \
    store_matrix(row, 3, as<u32>(a3), transposed, file, line);                                     \
  }
EMULATOR_PTX_STMATRIX(, false)
EMULATOR_PTX_STMATRIX(trans_, true)
#undef EMULATOR_PTX_STMATRIX

template <typename A>
EMULATOR_PTX void multiply(float d[4], const unsigned a[4], const unsigned b[2], const float c[4],
                           const char *file, int line) {
  const emulator_site site = {"mma.sync", file, line};
  emulator_fragment_product product = {};
  product.d = d;
  product.a = a;
  product.b[0] = b[0];
  product.b[1] = b[1];
  product.c = c;
  emulator_multiply_fragments(std::is_same_v<A, bf16> ? EMULATOR_BF16 : EMULATOR_FP16, &product,
                              &site);
}

// Sums in float32.
template <typename TD, typename TA, typename TB, typename TC, typename D, typename A, typename B,
          typename C>
EMULATOR_PTX std::enable_if_t<std::is_same_v<TD, float>>
mma_m16n8k16_row_col_(D &d0, D &d1, D &d2, D &d3, const A &a0, const A &a1, const A &a2,
                      const A &a3, const B &b0, const B &b1, const C &c0, const C &c1, const C &c2,
                      const C &c3, const char *file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  const unsigned a[4] = {as<u32>(a0), as<u32>(a1), as<u32>(a2), as<u32>(a3)};
  const unsigned b[2] = {as<u32>(b0), as<u32>(b1)};
  const float c[4] = {as<float>(c0), as<float>(c1), as<float>(c2), as<float>(c3)};
  float d[4];
  multiply<TA>(d, a, b, c, file, line);
  set(d0, d[0]);
  set(d1, d[1]);
  set(d2, d[2]);
  set(d3, d[3]);
}
template <typename TD, typename TA, typename TB, typename TC, typename D, typename A, typename B,
          typename C>
EMULATOR_PTX std::enable_if_t<std::is_same_v<TD, float>>
mma_m16n8k8_row_col_(D &d0, D &d1, D &d2, D &d3, const A &a0, const A &a1, const B &b0, const C &c0,
                     const C &c1, const C &c2, const C &c3, const char *file = __builtin_FILE(),
                     int line = __builtin_LINE()) {
  const u32 none = 0;
  const u32 a0_ = as<u32>(a0), a1_ = as<u32>(a1), b0_ = as<u32>(b0);
  mma_m16n8k16_row_col_<TD, TA, TB, TC>(d0, d1, d2, d3, a0_, a1_, none, none, b0_, none, c0, c1, c2,
                                        c3, file, line);
}

// Sums in fp16: they are rounded once, at the end.
template <typename TD, typename TA, typename TB, typename TC, typename D, typename A, typename B,
          typename C>
EMULATOR_PTX std::enable_if_t<std::is_same_v<TD, f16>>
mma_m16n8k16_row_col_(D &d0, D &d1, const A &a0, const A &a1, const A &a2, const A &a3, const B &b0,
                      const B &b1, const C &c0, const C &c1, const char *file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  const unsigned a[4] = {as<u32>(a0), as<u32>(a1), as<u32>(a2), as<u32>(a3)};
  const unsigned b[2] = {as<u32>(b0), as<u32>(b1)};
  const f16x2 low = as<f16x2>(c0), high = as<f16x2>(c1);
  const float c[4] = {low.x, low.y, high.x, high.y};
  float d[4];
  multiply<TA>(d, a, b, c, file, line);
  set(d0, f16x2(d[0], d[1]));
  set(d1, f16x2(d[2], d[3]));
}
template <typename TD, typename TA, typename TB, typename TC, typename D, typename A, typename B,
          typename C>
EMULATOR_PTX std::enable_if_t<std::is_same_v<TD, f16>>
mma_m16n8k8_row_col_(D &d0, D &d1, const A &a0, const A &a1, const B &b0, const C &c0, const C &c1,
                     const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  const u32 none = 0;
  const u32 a0_ = as<u32>(a0), a1_ = as<u32>(a1), b0_ = as<u32>(b0);
  mma_m16n8k16_row_col_<TD, TA, TB, TC>(d0, d1, a0_, a1_, none, none, b0_, none, c0, c1, file,
                                        line);
}

} // namespace ptx
} // namespace emulator

#endif
