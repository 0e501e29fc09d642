// Tests the functions of common/kernel/ptx.cuh: the elements that each
// lane receives, products, exponentials. Needs compute capability 8.0.
#include "ptx.cuh"

#include "device_array.h"
#include "semantics.h"

#include <cmath>

// ---- ldmatrix -----------------------------------------------------------------------------------

// Lane l gives row 5 l + 3 of the tile: the lane alone decides to which matrix a row belongs.
static __host__ __device__ int row_of_lane(int lane) { return (5 * lane + 3) % 32; }

template <bool transposed>
__global__ void load_kernel(unsigned *out) {
  __shared__ __align__(16) unsigned short tile[32][24];
  for (int i = 0; i < 24; i++) tile[threadIdx.x][i] = 24 * threadIdx.x + i;
  __syncwarp();
  unsigned fragments[4];
  const void *row = &tile[row_of_lane(threadIdx.x)][8];
  if (transposed) {
    load_matrices_transposed(fragments, row);
  } else {
    load_matrices(fragments, row);
  }
  for (int i = 0; i < 4; i++) out[4 * threadIdx.x + i] = fragments[i];
}

static unsigned element(int matrix, int row, int column) {
  return 24 * row_of_lane(8 * matrix + row) + 8 + column;
}

static bool rows_are_right(error_text *error, bool transposed) {
  device_array<unsigned> out(32 * 4);
  if (transposed) {
    load_kernel<true><<<1, 32>>>(out.data());
  } else {
    load_kernel<false><<<1, 32>>>(out.data());
  }
  if (!device_finished(error, "load_kernel")) return false;
  const std::vector<unsigned> got = out.host();
  for (int lane = 0; lane < 32; lane++)
    for (int matrix = 0; matrix < 4; matrix++) {
      const int line = lane / 4, pair = lane % 4 * 2;
      const unsigned low = transposed ? element(matrix, pair, line) : element(matrix, line, pair);
      const unsigned high =
          transposed ? element(matrix, pair + 1, line) : element(matrix, line, pair + 1);
      if (got[4 * lane + matrix] != (high << 16 | low)) {
        return fail(error, "%s: lane %d has 0x%x of matrix %d, not 0x%x",
                    transposed ? "transposed" : "plain", lane, got[4 * lane + matrix], matrix,
                    high << 16 | low);
      }
    }
  return true;
}

bool ptx_matrices(error_text *error) {
  return rows_are_right(error, false) && rows_are_right(error, true);
}

// ---- mma.sync -----------------------------------------------------------------------------------

static constexpr int M = 16, N = 8, K = 16;

template <typename Element>
__device__ unsigned pair(const Element *first, const Element *second) {
  return (unsigned)*(const unsigned short *)second << 16 | *(const unsigned short *)first;
}

// The registers are filled element by element, as the PTX ISA shows them.
template <typename Element>
__global__ void product_kernel(const Element *A, const Element *B, const float *C, float *D) {
  const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
  unsigned a[4], b[2];
  float d[4];
  for (int i = 0; i < 4; i++) {
    const Element *at = &A[(row + i % 2 * 8) * K + column + i / 2 * 8];
    a[i] = pair(at, at + 1);
    d[i] = C[(row + i / 2 * 8) * N + column + i % 2];
  }
  for (int i = 0; i < 2; i++) {
    const Element *at = &B[(column + i * 8) * N + row];
    b[i] = pair(at, at + N);
  }
  multiply_fragments<Element>(d, a, b);
  for (int i = 0; i < 4; i++) D[(row + i / 2 * 8) * N + column + i % 2] = d[i];
}

// The same product of tiles in shared memory, with B stored as [K, N]. C is 0.
template <typename Element>
__global__ void tile_kernel(const Element *A, const Element *B, float *D) {
  __shared__ __align__(16) Element A_smem[M][K], B_smem[K][2 * N];
  for (int i = threadIdx.x; i < M * K; i += 32) A_smem[i / K][i % K] = A[i];
  for (int i = threadIdx.x; i < K * N; i += 32) {
    B_smem[i / N][i % N] = B[i];
    B_smem[i / N][i % N + N] = B[i]; // twice: four matrices are loaded
  }
  __syncwarp();
  const int lane = threadIdx.x;
  unsigned a[4], b[4];
  load_matrices(a, &A_smem[lane % 16][lane / 16 * 8]);
  load_matrices_transposed(b, &B_smem[lane % 16][lane / 16 * 8]);
  float d[4] = {};
  multiply_fragments<Element>(d, a, &b[2]);
  for (int i = 0; i < 4; i++) D[(lane / 4 + i / 2 * 8) * N + lane % 4 * 2 + i % 2] = d[i];
}

// Whole numbers from -8 to 8, whose products every device adds without rounding; or fractions.
static std::vector<double> random_values(int count, bool whole, unsigned *state) {
  std::vector<double> values(count);
  for (double &value : values) {
    *state = *state * 1664525u + 1013904223u;
    value = whole ? static_cast<int>(*state >> 16) % 17 - 8
                  : static_cast<int>(*state >> 24) / 128.0 - 1; // exact in both types
  }
  return values;
}

template <typename T>
static std::vector<T> as(const std::vector<double> &values) {
  std::vector<T> result;
  for (const double value : values) result.push_back(T(static_cast<float>(value)));
  return result;
}

enum product_kind { OF_REGISTERS, OF_TILES };

template <typename Element>
static bool product_is_right(error_text *error, product_kind kind, bool whole) {
  unsigned state = sizeof(Element) + kind;
  const std::vector<double> A = random_values(M * K, whole, &state);
  const std::vector<double> B = random_values(K * N, whole, &state);
  std::vector<double> C = random_values(M * N, whole, &state);
  if (kind == OF_TILES) C.assign(M * N, 0.0);
  device_array<Element> device_A(as<Element>(A)), device_B(as<Element>(B));
  device_array<float> device_C(as<float>(C)), device_D(M * N);
  if (kind == OF_TILES) {
    tile_kernel<Element><<<1, 32>>>(device_A.data(), device_B.data(), device_D.data());
  } else {
    product_kernel<Element>
        <<<1, 32>>>(device_A.data(), device_B.data(), device_C.data(), device_D.data());
  }
  if (!device_finished(error, "product")) return false;
  const std::vector<float> got = device_D.host();
  for (int row = 0; row < M; row++)
    for (int column = 0; column < N; column++) {
      double expected = C[row * N + column], magnitude = fabs(expected);
      for (int k = 0; k < K; k++) {
        expected += A[row * K + k] * B[k * N + column];
        magnitude += fabs(A[row * K + k] * B[k * N + column]);
      }
      // A tensor core cuts off what is below 2^-23 or so of the largest term, for each term.
      const double bound = whole ? 0 : magnitude * 0x1p-19;
      if (!(fabs(got[row * N + column] - expected) <= bound)) {
        return fail(error, "product %d: element (%d, %d) is %.9g, not %.9g", (int)kind, row, column,
                    (double)got[row * N + column], expected);
      }
    }
  return true;
}

bool ptx_products(error_text *error) {
  for (const product_kind kind : {OF_REGISTERS, OF_TILES})
    for (const bool whole : {true, false}) {
      if (!product_is_right<half>(error, kind, whole) ||
          !product_is_right<__nv_bfloat16>(error, kind, whole)) {
        return false;
      }
    }
  return true;
}

// ---- ex2 ----------------------------------------------------------------------------------------

__global__ void exponential_kernel(const float *x, float *y) {
  y[threadIdx.x] = exp2_approximate(x[threadIdx.x]);
}

bool ptx_exponential(error_text *error) {
  const std::vector<float> x = {0.0f,    1.0f,    -1.0f,   0.5f,   -3.25f,    127.5f,
                                -126.0f, -126.5f, -140.0f, -1e30f, -INFINITY, INFINITY};
  device_array<float> in(x), out(x.size());
  exponential_kernel<<<1, (unsigned)x.size()>>>(in.data(), out.data());
  if (!device_finished(error, "exponential_kernel")) return false;
  const std::vector<float> got = out.host();
  for (size_t i = 0; i < x.size(); i++) {
    const double expected = x[i] < -126.0f ? 0.0 : exp2((double)x[i]);
    const bool right =
        std::isinf(expected) ? got[i] == INFINITY : fabs(got[i] - expected) <= expected * 0x1p-22;
    if (!right) return fail(error, "2^%g is %g, not %g", (double)x[i], (double)got[i], expected);
  }
  return true;
}
