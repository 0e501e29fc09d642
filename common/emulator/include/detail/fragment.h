// wmma's fragments: which types exist, and how many elements of each a lane holds.
#ifndef EMULATOR_DETAIL_FRAGMENT_H
#define EMULATOR_DETAIL_FRAGMENT_H

#include "numeric/poison.h"
#include "synchronization.h"

#include "tensor_core.h"

#include <type_traits>

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;

// The fragment of a product of [m, k] by [k, n]. Without a definition, other combinations do not exist.
template <typename Use, int m, int n, int k, typename T, typename Layout = void>
class fragment;

} // namespace wmma
} // namespace nvcuda

namespace emulator {

// T in a context that is not deduced: arguments are converted to it, as in a call of a plain function.
template <typename T>
struct exactly_is {
  using type = T;
};
template <typename T>
using exactly = typename exactly_is<T>::type;

template <typename T>
inline constexpr emulator_fragment_element fragment_element =
    std::is_same_v<T, float>    ? EMULATOR_FP32
    : std::is_same_v<T, __half> ? EMULATOR_FP16
                                : EMULATOR_BF16;

// It is void if an mma_sync exists for inputs T; otherwise there is no such type.
template <typename T, typename C, typename D>
using accumulates = std::enable_if_t<std::is_same_v<T, __half> ||
                                     (std::is_same_v<C, float> && std::is_same_v<D, float>)>;

template <emulator_fragment_use use, int m, int n, typename T, int count>
class fragment_registers {
public:
  using element_type = T;
  using storage_element_type = T;
  enum { num_elements = count, num_storage_elements = count };

  // An unfilled fragment holds old register contents on a GPU; here it holds NaN, so that it shows.
  fragment_registers() { poison_fill(x, sizeof x, POISON_FRAGMENT); }

  static constexpr emulator_fragment_type emulator_type = {use, fragment_element<T>, m, n, count};

  alignas(8) T x[count];
};

template <typename Use, int m, int n, int k, typename T, typename Layout>
void load_operand(nvcuda::wmma::fragment<Use, m, n, k, T, Layout> &operand, const T *memory,
                  unsigned leading_dimension, const char *file, int line) {
  const emulator_site site = {"wmma::load_matrix_sync()", file, line};
  emulator_load_matrix(&operand.emulator_type, operand.x, memory, leading_dimension,
                       std::is_same_v<Layout, nvcuda::wmma::col_major>, &site);
}

} // namespace emulator

namespace nvcuda {
namespace wmma {

#define EMULATOR_OPERAND(Use, use, m, n, T, count)                                                 \
  template <>                                                                                      \
  class fragment<Use, m, n, 16, T, row_major>                                                      \
      : public ::emulator::fragment_registers<use, m, n, T, count> {};                             \
  template <>                                                                                      \
  class fragment<Use, m, n, 16, T, col_major>                                                      \
      : public ::emulator::fragment_registers<use, m, n, T, count> {};
#define EMULATOR_ACCUMULATOR_OF(m, n, T)                                                           \
  template <>                                                                                      \
  class fragment<accumulator, m, n, 16, T>                                                         \
      : public ::emulator::fragment_registers<EMULATOR_ACCUMULATOR, m, n, T, m * n / 32> {};
// Fragments of half are 8 registers long in every shape, those of bfloat16 as long as they must be.
#define EMULATOR_SHAPE(m, n)                                                                       \
  EMULATOR_OPERAND(matrix_a, EMULATOR_MATRIX_A, m, n, __half, 16)                                  \
  EMULATOR_OPERAND(matrix_b, EMULATOR_MATRIX_B, m, n, __half, 16)                                  \
  EMULATOR_OPERAND(matrix_a, EMULATOR_MATRIX_A, m, n, __nv_bfloat16, m / 2)                        \
  EMULATOR_OPERAND(matrix_b, EMULATOR_MATRIX_B, m, n, __nv_bfloat16, n / 2)                        \
  EMULATOR_ACCUMULATOR_OF(m, n, __half)                                                            \
  EMULATOR_ACCUMULATOR_OF(m, n, float)
EMULATOR_SHAPE(16, 16)
EMULATOR_SHAPE(32, 8)
EMULATOR_SHAPE(8, 32)
#undef EMULATOR_SHAPE
#undef EMULATOR_ACCUMULATOR_OF
#undef EMULATOR_OPERAND

} // namespace wmma
} // namespace nvcuda

#endif
