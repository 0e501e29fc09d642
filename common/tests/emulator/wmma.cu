// Tests tensor cores through nvcuda::wmma: which fragments exist, where they hold which element,
// products. Needs compute capability 8.0, because the layout checked here holds from there on.
#include "device_array.h"
#include "semantics.h"

#include <mma.h>
#include <type_traits>

namespace wmma = nvcuda::wmma;

// ---- Types --------------------------------------------------------------------------------------

template <typename Use, int m, int n, typename T, typename Layout = void>
using fragment = wmma::fragment<Use, m, n, 16, T, Layout>;

template <typename Use, int m, int n, typename T, typename Layout, int count>
constexpr bool holds() {
  using F = fragment<Use, m, n, T, Layout>;
  return F::num_elements == count && F::num_storage_elements == count &&
         sizeof(F) == count * sizeof(T) && std::is_same_v<typename F::element_type, T> &&
         std::is_same_v<std::remove_extent_t<decltype(F::x)>, T>;
}

template <int m, int n, int a_count, int b_count, typename T>
constexpr bool operands_hold() {
  return holds<wmma::matrix_a, m, n, T, wmma::row_major, a_count>() &&
         holds<wmma::matrix_a, m, n, T, wmma::col_major, a_count>() &&
         holds<wmma::matrix_b, m, n, T, wmma::row_major, b_count>() &&
         holds<wmma::matrix_b, m, n, T, wmma::col_major, b_count>();
}

template <int m, int n>
constexpr bool accumulators_hold() {
  return holds<wmma::accumulator, m, n, float, void, 8>() &&
         holds<wmma::accumulator, m, n, half, void, 8>();
}

static_assert(operands_hold<16, 16, 16, 16, half>() && operands_hold<32, 8, 16, 16, half>() &&
              operands_hold<8, 32, 16, 16, half>());
static_assert(operands_hold<16, 16, 8, 8, __nv_bfloat16>() &&
              operands_hold<32, 8, 16, 4, __nv_bfloat16>() &&
              operands_hold<8, 32, 4, 16, __nv_bfloat16>());
static_assert(accumulators_hold<16, 16>() && accumulators_hold<32, 8>() &&
              accumulators_hold<8, 32>());

template <typename T, typename = void>
constexpr bool exists = false;
template <typename T>
constexpr bool exists<T, std::void_t<decltype(sizeof(T))>> = true;

static_assert(exists<fragment<wmma::matrix_a, 16, 16, half, wmma::row_major>>);
static_assert(!exists<fragment<wmma::matrix_a, 16, 16, half>>, "operands have a layout");
static_assert(!exists<fragment<wmma::accumulator, 16, 16, float, wmma::row_major>>, "others none");
static_assert(!exists<fragment<wmma::matrix_a, 16, 16, float, wmma::row_major>>);
static_assert(!exists<fragment<wmma::accumulator, 16, 16, __nv_bfloat16>>);
static_assert(!exists<fragment<wmma::accumulator, 32, 32, float>>);
static_assert(!exists<fragment<wmma::matrix_b, 16, 8, half, wmma::col_major>>);

template <typename D, typename A, typename B, typename C, typename = void>
constexpr bool multiplies = false;
template <typename D, typename A, typename B, typename C>
constexpr bool multiplies<
    D, A, B, C,
    std::void_t<decltype(wmma::mma_sync(std::declval<D &>(), std::declval<const A &>(),
                                        std::declval<const B &>(), std::declval<const C &>()))>> =
    true;

template <typename T>
using square_a = fragment<wmma::matrix_a, 16, 16, T, wmma::row_major>;
template <typename T>
using square_b = fragment<wmma::matrix_b, 16, 16, T, wmma::col_major>;
template <typename T>
using square_c = fragment<wmma::accumulator, 16, 16, T>;

static_assert(multiplies<square_c<half>, square_a<half>, square_b<half>, square_c<float>>);
static_assert(multiplies<square_c<float>, square_a<half>, square_b<half>, square_c<half>>);
static_assert(
    multiplies<square_c<float>, square_a<__nv_bfloat16>, square_b<__nv_bfloat16>, square_c<float>>);
static_assert(
    !multiplies<square_c<half>, square_a<__nv_bfloat16>, square_b<__nv_bfloat16>, square_c<half>>);
static_assert(
    !multiplies<square_c<float>, square_a<half>, square_b<__nv_bfloat16>, square_c<float>>);
static_assert(!multiplies<square_c<float>, square_b<half>, square_a<half>, square_c<float>>);
static_assert(!multiplies<square_c<float>, square_a<half>,
                          fragment<wmma::matrix_b, 32, 8, half, wmma::col_major>, square_c<float>>);

// ---- Which element is where ---------------------------------------------------------------------

template <typename F>
__device__ void load(F &fragment, const typename F::element_type *matrix, int ldm, bool) {
  wmma::load_matrix_sync(fragment, matrix, ldm);
}
template <int m, int n, typename T>
__device__ void load(fragment<wmma::accumulator, m, n, T> &fragment, const T *matrix, int ldm,
                     bool column_major) {
  wmma::load_matrix_sync(fragment, matrix, ldm,
                         column_major ? wmma::mem_col_major : wmma::mem_row_major);
}

// places[lane][i] = 64 * row + column of x[i]: the matrices hold each element's row and column.
template <typename F>
__global__ void places_kernel(const typename F::element_type *rows,
                              const typename F::element_type *columns, int ldm, bool column_major,
                              int *places) {
  F row, column;
  load(row, rows, ldm, column_major);
  load(column, columns, ldm, column_major);
  for (int i = 0; i < F::num_elements; i++) {
    places[threadIdx.x * F::num_elements + i] =
        64 * static_cast<int>(static_cast<float>(row.x[i])) +
        static_cast<int>(static_cast<float>(column.x[i]));
  }
}

struct place {
  int row, column;
};

// PTX ISA, "Matrix Fragments for mma.m16n8k16", as wmma puts them together; `i` without the copies.
static place a_place(int m, int lane, int i) {
  const int group = lane / 4, pair = lane % 4 * 2 + i % 2;
  if (m == 8) return {group, pair + (i >= 2 ? 8 : 0)};
  return {group + (i % 4 >= 2 ? 8 : 0) + i / 8 * 16, pair + (i % 8 >= 4 ? 8 : 0)};
}
static place b_place(int n, int lane, int i) {
  const int group = lane / 4, pair = lane % 4 * 2 + i % 2;
  if (n <= 16) return {pair + (i % 4 >= 2 ? 8 : 0), group + (i >= 4 ? 8 : 0)};
  const place transposed = a_place(n, lane, i);
  return {transposed.column, transposed.row};
}
static place accumulator_place(int m, int lane, int i) {
  const int group = lane / 4, pair = lane % 4 * 2 + i % 2;
  if (m == 16) return {group + (i % 4 >= 2 ? 8 : 0), pair + (i >= 4 ? 8 : 0)};
  return m == 32 ? place{group + i / 2 * 8, pair} : place{pair, group + i / 2 * 8};
}

template <typename Use, int m, int n, typename T, typename Layout = void>
bool places_are_right(error_text *error, bool column_major) {
  using F = fragment<Use, m, n, T, Layout>;
  constexpr bool is_a = std::is_same_v<Use, wmma::matrix_a>,
                 is_b = std::is_same_v<Use, wmma::matrix_b>;
  const int rows = is_b ? 16 : m, columns = is_a ? 16 : n;
  const int ldm = (column_major ? rows : columns) + 16, lines = column_major ? columns : rows;
  std::vector<T> row_matrix(lines * ldm, T(63.0f)), column_matrix(lines * ldm, T(63.0f));
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) {
      const int at = column_major ? c * ldm + r : r * ldm + c;
      row_matrix[at] = T(static_cast<float>(r));
      column_matrix[at] = T(static_cast<float>(c));
    }
  device_array<T> device_rows(row_matrix), device_columns(column_matrix);
  device_array<int> places(32 * F::num_elements);
  places_kernel<F>
      <<<1, 32>>>(device_rows.data(), device_columns.data(), ldm, column_major, places.data());
  if (!device_finished(error, "places_kernel")) return false;
  const std::vector<int> got = places.host();
  const int distinct = rows * columns / 32;
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < F::num_elements; i++) {
      const place expected = is_a   ? a_place(m, lane, i % distinct)
                             : is_b ? b_place(n, lane, i % distinct)
                                    : accumulator_place(m, lane, i);
      const int seen = got[lane * F::num_elements + i];
      if (seen != 64 * expected.row + expected.column) {
        return fail(error,
                    "%s of %dx%dx16, %zu-byte elements, %s: x[%d] of lane %d is row %d, column %d, "
                    "not row %d, column %d",
                    is_a   ? "matrix_a"
                    : is_b ? "matrix_b"
                           : "accumulator",
                    m, n, sizeof(T), column_major ? "by columns" : "by rows", i, lane, seen / 64,
                    seen % 64, expected.row, expected.column);
      }
    }
  return true;
}

template <int m, int n, typename T>
bool operand_places(error_text *error) {
  return places_are_right<wmma::matrix_a, m, n, T, wmma::row_major>(error, false) &&
         places_are_right<wmma::matrix_a, m, n, T, wmma::col_major>(error, true) &&
         places_are_right<wmma::matrix_b, m, n, T, wmma::row_major>(error, false) &&
         places_are_right<wmma::matrix_b, m, n, T, wmma::col_major>(error, true);
}

template <int m, int n>
bool all_places(error_text *error) {
  return operand_places<m, n, half>(error) && operand_places<m, n, __nv_bfloat16>(error) &&
         places_are_right<wmma::accumulator, m, n, float>(error, false) &&
         places_are_right<wmma::accumulator, m, n, float>(error, true) &&
         places_are_right<wmma::accumulator, m, n, half>(error, false) &&
         places_are_right<wmma::accumulator, m, n, half>(error, true);
}

bool wmma_places(error_text *error) {
  return all_places<16, 16>(error) && all_places<32, 8>(error) && all_places<8, 32>(error);
}
