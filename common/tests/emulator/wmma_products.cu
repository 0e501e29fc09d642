// Tests products of tensor cores, and the use of fragments in kernels between them.
#include "device_array.h"
#include "semantics.h"

#include <mma.h>
#include <type_traits>

namespace wmma = nvcuda::wmma;

template <typename Use, int m, int n, typename T, typename Layout = void>
using fragment = wmma::fragment<Use, m, n, 16, T, Layout>;

// ---- Products -----------------------------------------------------------------------------------

struct memory_layouts {
  bool a_columns, b_columns, c_columns, d_columns; // column-major
};

static constexpr int PAD = 8; // elements between the end of a line and the next one's start

static __host__ __device__ int line_length(int rows, int columns, bool by_columns) {
  return (by_columns ? rows : columns) + PAD;
}
static __device__ wmma::layout_t layout_name(bool by_columns) {
  return by_columns ? wmma::mem_col_major : wmma::mem_row_major;
}

// D = A B + C, with all matrices in global memory.
template <int m, int n, typename T, typename C, typename D, typename A_layout, typename B_layout>
__global__ void product_kernel(const T *A, const T *B, const C *c, D *d, memory_layouts layouts) {
  fragment<wmma::matrix_a, m, n, T, A_layout> A_frag;
  fragment<wmma::matrix_b, m, n, T, B_layout> B_frag;
  fragment<wmma::accumulator, m, n, C> C_frag;
  fragment<wmma::accumulator, m, n, D> D_frag;
  wmma::load_matrix_sync(A_frag, A, line_length(m, 16, layouts.a_columns));
  wmma::load_matrix_sync(B_frag, B, line_length(16, n, layouts.b_columns));
  wmma::load_matrix_sync(C_frag, c, line_length(m, n, layouts.c_columns),
                         layout_name(layouts.c_columns));
  wmma::mma_sync(D_frag, A_frag, B_frag, C_frag);
  wmma::store_matrix_sync(d, D_frag, line_length(m, n, layouts.d_columns),
                          layout_name(layouts.d_columns));
}

struct host_matrix {
  int rows, columns;
  bool by_columns;
  std::vector<double> values; // [rows][columns]

  double at(int row, int column) const { return values[row * columns + column]; }
  int place(int row, int column) const {
    const int line = line_length(rows, columns, by_columns);
    return by_columns ? column * line + row : row * line + column;
  }
  size_t elements() const {
    return static_cast<size_t>(by_columns ? columns : rows) *
           line_length(rows, columns, by_columns);
  }
  // The matrix as it lies in memory; its values become those that T can hold.
  template <typename T>
  std::vector<T> rounded() {
    std::vector<T> memory(elements(), T(0.0f));
    for (int row = 0; row < rows; row++)
      for (int column = 0; column < columns; column++) {
        const T value = T(static_cast<float>(at(row, column)));
        memory[place(row, column)] = value;
        values[row * columns + column] = static_cast<float>(value);
      }
    return memory;
  }
};

// Whole numbers from -8 to 8, whose products every device adds without rounding; or fractions.
static host_matrix random_matrix(int rows, int columns, bool by_columns, bool whole,
                                 unsigned *state) {
  host_matrix matrix = {rows, columns, by_columns, std::vector<double>(rows * columns)};
  for (double &value : matrix.values) {
    *state = *state * 1664525u + 1013904223u;
    value = whole ? static_cast<int>(*state >> 16) % 17 - 8 : (*state >> 8) / 8388608.0 - 1;
  }
  return matrix;
}

template <int m, int n, typename T, typename C, typename D, typename A_layout, typename B_layout>
bool product_is_right(error_text *error, bool whole) {
  const bool a_columns = std::is_same_v<A_layout, wmma::col_major>;
  const bool b_columns = std::is_same_v<B_layout, wmma::col_major>;
  const memory_layouts layouts = {a_columns, b_columns, b_columns, a_columns};
  unsigned state = m + 2 * sizeof(C) + sizeof(D) + whole;
  host_matrix A = random_matrix(m, 16, layouts.a_columns, whole, &state);
  host_matrix B = random_matrix(16, n, layouts.b_columns, whole, &state);
  host_matrix c = random_matrix(m, n, layouts.c_columns, whole, &state);
  const host_matrix d = {m, n, layouts.d_columns, {}};
  device_array<T> device_A(A.rounded<T>()), device_B(B.rounded<T>());
  device_array<C> device_c(c.rounded<C>());
  device_array<D> device_d(d.elements());
  product_kernel<m, n, T, C, D, A_layout, B_layout>
      <<<1, 32>>>(device_A.data(), device_B.data(), device_c.data(), device_d.data(), layouts);
  if (!device_finished(error, "product_kernel")) return false;
  const std::vector<D> got = device_d.host();
  for (int row = 0; row < m; row++)
    for (int column = 0; column < n; column++) {
      double expected = c.at(row, column), magnitude = fabs(expected);
      for (int k = 0; k < 16; k++) {
        expected += A.at(row, k) * B.at(k, column);
        magnitude += fabs(A.at(row, k) * B.at(k, column));
      }
      // A tensor core cuts off what is below 2^-23 or so of the largest term, for each term.
      const double bound = whole ? 0 : magnitude * (sizeof(D) == 2 ? 0x1p-9 : 0x1p-19);
      const double seen = static_cast<float>(got[d.place(row, column)]);
      if (!(fabs(seen - expected) <= bound)) {
        return fail(error,
                    "%dx%dx16, C of %zu and D of %zu bytes, A by %s, B by %s: element (%d, %d) is "
                    "%.9g, not %.9g",
                    m, n, sizeof(C), sizeof(D), a_columns ? "columns" : "rows",
                    b_columns ? "columns" : "rows", row, column, seen, expected);
      }
    }
  return true;
}

template <int m, int n, typename T, typename C, typename D>
bool layouts_are_right(error_text *error) {
  using row = wmma::row_major;
  using column = wmma::col_major;
  for (const bool whole : {true, false}) {
    if (!product_is_right<m, n, T, C, D, row, row>(error, whole) ||
        !product_is_right<m, n, T, C, D, row, column>(error, whole) ||
        !product_is_right<m, n, T, C, D, column, row>(error, whole) ||
        !product_is_right<m, n, T, C, D, column, column>(error, whole)) {
      return false;
    }
  }
  return true;
}

template <int m, int n>
bool products_are_right(error_text *error) {
  return layouts_are_right<m, n, half, float, float>(error) &&
         layouts_are_right<m, n, half, half, half>(error) &&
         layouts_are_right<m, n, half, half, float>(error) &&
         layouts_are_right<m, n, half, float, half>(error) &&
         layouts_are_right<m, n, __nv_bfloat16, float, float>(error);
}

// Sums in half between two numbers go to the nearest one, and from the middle to the even one: C + 1, where element i of C
// is 2048 + 2 i. A sum has one product that is not 0, since a GPU may round between the products of a sum.
__global__ void rounded_kernel(const half *first_column, half *sums) {
  fragment<wmma::matrix_a, 16, 16, half, wmma::row_major> A;
  fragment<wmma::matrix_b, 16, 16, half, wmma::col_major> B;
  fragment<wmma::accumulator, 16, 16, half> C;
  wmma::load_matrix_sync(A, first_column, 16);
  wmma::fill_fragment(B, half(1.0f));
  wmma::load_matrix_sync(C, sums, 16, wmma::mem_row_major);
  wmma::mma_sync(C, A, B, C);
  wmma::store_matrix_sync(sums, C, 16, wmma::mem_row_major);
}
static bool sums_are_rounded(error_text *error) {
  std::vector<half> ones, values;
  for (int i = 0; i < 256; i++) ones.push_back(half(i % 16 == 0 ? 1.0f : 0.0f));
  for (int i = 0; i < 256; i++) values.push_back(half(2048.0f + 2 * i));
  device_array<half> first_column(ones), sums(values);
  rounded_kernel<<<1, 32>>>(first_column.data(), sums.data());
  if (!device_finished(error, "rounded_kernel")) return false;
  const std::vector<half> got = sums.host();
  for (int i = 0; i < 256; i++) {
    const float expected = 2048 + (i + 1) / 2 * 4;
    if (static_cast<float>(got[i]) != expected)
      return fail(error, "%d + 1 is %g, not %g", 2048 + 2 * i, static_cast<float>(got[i]),
                  expected);
  }
  return true;
}

bool wmma_products(error_text *error) {
  return sums_are_rounded(error) && products_are_right<16, 16>(error) &&
         products_are_right<32, 8>(error) && products_are_right<8, 32>(error);
}

// ---- In a kernel --------------------------------------------------------------------------------

static constexpr int WARPS = 4, DEPTH = 64, STRIDE = DEPTH + PAD;

// Warp w: rows 16 w to 16 w + 15 of [64, DEPTH] ones and w's, by [DEPTH, 16] twos, in shared memory;
// then row r times r and column c times 2 + c % 2; into global memory.
__global__ void chain_kernel(float *out) {
  extern __shared__ __align__(128) float4 shared_memory[];
  auto A_smem = reinterpret_cast<half(*)[STRIDE]>(shared_memory); // [16 WARPS][STRIDE]
  auto B_smem = A_smem + 16 * WARPS;                              // [16][STRIDE], by columns
  __shared__ __align__(32) float row_factor[16][16 * WARPS];      // by columns
  __shared__ __align__(32) float column_factor[16][16];
  for (int i = threadIdx.x; i < 16 * WARPS * DEPTH; i += blockDim.x)
    A_smem[i / DEPTH][i % DEPTH] = half(static_cast<float>(1 + i / DEPTH / 16));
  for (int i = threadIdx.x; i < 16 * DEPTH; i += blockDim.x)
    B_smem[i / DEPTH][i % DEPTH] = half(2.0f);
  for (int i = threadIdx.x; i < 16 * 16 * WARPS; i += blockDim.x)
    row_factor[i / (16 * WARPS)][i % (16 * WARPS)] = i % (16 * WARPS);
  for (int i = threadIdx.x; i < 16 * 16; i += blockDim.x) column_factor[i / 16][i % 16] = 2 + i % 2;
  __syncthreads();
  const int first_row = threadIdx.x / 32 * 16;
  fragment<wmma::accumulator, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1);
  for (int k = 0; k < DEPTH; k += 16) {
    fragment<wmma::matrix_a, 16, 16, half, wmma::row_major> A_frag;
    fragment<wmma::matrix_b, 16, 16, half, wmma::col_major> B_frag;
    wmma::load_matrix_sync(A_frag, &A_smem[first_row][k], STRIDE);
    wmma::load_matrix_sync(B_frag, &B_smem[0][k], STRIDE);
    for (int i = 0; i < A_frag.num_elements; i++) A_frag.x[i] = A_frag.x[i] * half(0.5f);
    // Copies of the first 8 elements, which the product does not read.
    for (int i = 8; i < B_frag.num_elements; i++) B_frag.x[i] = half(1000.0f);
    wmma::mma_sync(sum, A_frag, B_frag, sum);
  }
  fragment<wmma::accumulator, 16, 16, float> factor;
  wmma::load_matrix_sync(factor, &row_factor[0][first_row], 16 * WARPS, wmma::mem_col_major);
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= factor.x[i];
  wmma::load_matrix_sync(factor, &column_factor[0][0], 16, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= factor.x[i];
  wmma::store_matrix_sync(out + first_row * 16, sum, 16, wmma::mem_row_major);
}

bool wmma_in_a_kernel(error_text *error) {
  device_array<float> out(16 * WARPS * 16);
  chain_kernel<<<1, 32 * WARPS, sizeof(half) * (16 * WARPS + 16) * STRIDE>>>(out.data());
  if (!device_finished(error, "chain_kernel")) return false;
  const std::vector<float> got = out.host();
  for (int i = 0; i < 16 * WARPS * 16; i++) {
    const int row = i / 16, column = i % 16;
    const float expected = (1.0f + DEPTH * (1 + row / 16)) * row * (2 + column % 2);
    if (got[i] != expected) {
      return fail(error, "element (%d, %d) is %g, not %g", row, column, got[i], expected);
    }
  }
  return true;
}
