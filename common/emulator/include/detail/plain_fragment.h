// wmma's fragments of double, tf32 and 8-bit integers. Which lane holds which element of a matrix is the emulator's
// own here: the elements lie in the lanes in the order of rows, and not as on a GPU.
#ifndef EMULATOR_DETAIL_PLAIN_FRAGMENT_H
#define EMULATOR_DETAIL_PLAIN_FRAGMENT_H

#include "fragment.h"

namespace nvcuda {
namespace wmma {
namespace precision {
struct tf32;
} // namespace precision

// To 10 bits behind the point; a tie goes away from zero.
inline float __float_to_tf32(float x) {
  unsigned bits;
  (__builtin_memcpy)(&bits, &x, sizeof bits);
  bits = (bits + 0x1000) & ~0x1FFFu;
  (__builtin_memcpy)(&x, &bits, sizeof bits);
  return x;
}
} // namespace wmma
} // namespace nvcuda

namespace emulator {

template <>
struct exactly_is<nvcuda::wmma::precision::tf32> {
  using type = float;
};

template <int rows_, int columns_, typename T>
class plain_fragment {
public:
  using element_type = T;
  using storage_element_type = exactly<T>;
  enum {
    rows = rows_,
    columns = columns_,
    num_elements = rows * columns / 32,
    num_storage_elements = num_elements
  };
  plain_fragment() { poison_fill(x, sizeof x, POISON_FRAGMENT); }
  alignas(8) storage_element_type x[num_elements];
};

// Is the fragment one of this header's?
template <typename Fragment, typename = void>
inline constexpr bool is_plain = false;
template <typename Fragment>
inline constexpr bool
    is_plain<Fragment, std::void_t<decltype(Fragment::rows), decltype(Fragment::columns)>> = true;

inline void plain_rendezvous(void *[32], unsigned) {}

// Element i of lane l is element l * count + i of the matrix, by rows.
template <typename Fragment, typename Each>
void plain_each(Fragment &fragment, size_t ldm, bool by_columns, const emulator_site &site,
                Each each) {
  emulator_warp_collective(~0u, plain_rendezvous, nullptr, &site);
  for (int i = 0; i < Fragment::num_elements; i++) {
    const size_t at = emulator_current->lane * static_cast<size_t>(Fragment::num_elements) +
                      static_cast<size_t>(i);
    const size_t row = at / Fragment::columns, column = at % Fragment::columns;
    each(fragment.x[i], by_columns ? row + column * ldm : row * ldm + column);
  }
}

template <typename A, typename B, typename C, typename D>
struct plain_product {
  const A *a;
  const B *b;
  const C *c;
  D *d;

  // The last lane to arrive computes the product of all.
  static void multiply(void *operand[32], unsigned) {
    using sum_type = typename D::storage_element_type;
    auto lane = [&](size_t at, size_t count) {
      return static_cast<const plain_product *>(operand[at / count]);
    };
    sum_type sums[D::rows][D::columns];
    for (size_t i = 0; i < D::rows; i++) {
      for (size_t j = 0; j < D::columns; j++) {
        const size_t c_at = i * C::columns + j;
        sum_type sum = lane(c_at, C::num_elements)->c->x[c_at % C::num_elements];
        for (size_t k = 0; k < A::columns; k++) {
          const size_t a_at = i * A::columns + k, b_at = k * B::columns + j;
          sum += static_cast<sum_type>(lane(a_at, A::num_elements)->a->x[a_at % A::num_elements]) *
                 static_cast<sum_type>(lane(b_at, B::num_elements)->b->x[b_at % B::num_elements]);
        }
        sums[i][j] = sum;
      }
    }
    for (size_t at = 0; at < D::rows * D::columns; at++)
      static_cast<plain_product *>(operand[at / D::num_elements])->d->x[at % D::num_elements] =
          sums[at / D::columns][at % D::columns];
  }
};

template <typename D, typename A, typename B, typename C>
void plain_multiply(D &d, const A &a, const B &b, const C &c, const char *file, int line) {
  const emulator_site site = {"wmma::mma_sync()", file, line};
  plain_product<A, B, C, D> own = {&a, &b, &c, &d};
  emulator_warp_collective(~0u, plain_product<A, B, C, D>::multiply, &own, &site);
}

template <typename T, typename C, typename D>
inline constexpr bool accumulates_plain =
    (std::is_same_v<T, double> && std::is_same_v<C, double> && std::is_same_v<D, double>) ||
    ((std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>)&&std::is_same_v<C, int> &&
     std::is_same_v<D, int>);

} // namespace emulator

namespace nvcuda {
namespace wmma {

#define EMULATOR_PLAIN(m, n, k, T, Sum)                                                            \
  template <typename Layout>                                                                       \
  class fragment<matrix_a, m, n, k, T, Layout> : public ::emulator::plain_fragment<m, k, T> {};    \
  template <typename Layout>                                                                       \
  class fragment<matrix_b, m, n, k, T, Layout> : public ::emulator::plain_fragment<k, n, T> {};
#define EMULATOR_PLAIN_SUM(m, n, k, Sum)                                                           \
  template <>                                                                                      \
  class fragment<accumulator, m, n, k, Sum> : public ::emulator::plain_fragment<m, n, Sum> {};
EMULATOR_PLAIN(8, 8, 4, double, double)
EMULATOR_PLAIN_SUM(8, 8, 4, double)
EMULATOR_PLAIN(16, 16, 8, precision::tf32, float)
EMULATOR_PLAIN_SUM(16, 16, 8, float)
#define EMULATOR_PLAIN_INTEGERS(m, n)                                                              \
  EMULATOR_PLAIN(m, n, 16, signed char, int)                                                       \
  EMULATOR_PLAIN(m, n, 16, unsigned char, int)                                                     \
  EMULATOR_PLAIN_SUM(m, n, 16, int)
EMULATOR_PLAIN_INTEGERS(16, 16)
EMULATOR_PLAIN_INTEGERS(32, 8)
EMULATOR_PLAIN_INTEGERS(8, 32)
#undef EMULATOR_PLAIN_INTEGERS
#undef EMULATOR_PLAIN_SUM
#undef EMULATOR_PLAIN

} // namespace wmma
} // namespace nvcuda

#endif
