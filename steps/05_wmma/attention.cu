// 05_wmma: both products on the tensor cores.
//
// A warp hands 16 x 16 x 16 products to the tensor cores as fragments: registers of all its 32 lanes
// that together hold a 16 x 16 matrix, in a layout nobody outside the hardware needs to know. Scores go
// through shared memory, where rows are rows again, for the online softmax of step 04; O stays in
// fragments from the first key to the last.
//
//              BLOCK_N or D
//           +---+---+---+---+
//   warp 0  | 16 x 16       |         A warp owns WARP_ROWS rows of the score tile and of the
//   warp 1  | fragments     | BLOCK_M output tile, as rows of fragments. For the softmax each
//   ...     |               |         of its rows belongs to ROW_LANES of its lanes.
//           +---+---+---+---+
//
// Cost for each head: global traffic as in step 04, but tiles stay in 16 bits in shared memory, and a
// fragment of K or V serves 16 rows. What a warp waits for now is the copy of the next tile.
// Look next at 06_cp_async, which copies the next tiles while it computes.
#include "kernel.cuh"
#include <mma.h>

namespace wmma = nvcuda::wmma;

static constexpr int FRAGMENT = 16; // rows, columns and depth of one tensor-core product

struct tile {
  static constexpr int BLOCK_M = 64; // query rows of a tile
  static constexpr int BLOCK_N = 64; // keys of a block
  static constexpr int WARPS = 4;
  static constexpr int THREADS = 32 * WARPS;
  static constexpr int WARP_ROWS = BLOCK_M / WARPS;          // of one warp
  static constexpr int ROW_FRAGMENTS = WARP_ROWS / FRAGMENT; // of one warp
  static constexpr int ROW_LANES = 32 / WARP_ROWS;           // that share a row's softmax,
  static constexpr int LANE_KEYS = BLOCK_N / ROW_LANES;      // keys of one of them
  static constexpr int BLOCKS_PER_SM = 8 / WARPS;            // leaves a thread 255 registers

  static_assert(BLOCK_M % (FRAGMENT * WARPS) == 0 && BLOCK_N % FRAGMENT == 0, "whole fragments");
  static_assert(WARP_ROWS * ROW_LANES == 32 && LANE_KEYS % 4 == 0,
                "a lane reads 4 scores at a time");
};

// Fragments are read 16 bytes a lane, 8 rows at once. With 16 bytes of padding a row is an odd multiple
// of 16 bytes long, so 8 rows in turn start in 8 different groups of 4 banks: no conflict. A pad of one
// element would spread them too, but put every row after the first off the 16-byte grid.
static constexpr int PAD = 8;   // elements of 2 bytes
static constexpr int S_PAD = 4; // floats
static_assert(PAD * sizeof(half) % 16 == 0 && S_PAD * sizeof(float) % 16 == 0, "rows stay aligned");
static_assert((32 + PAD) * sizeof(half) / 16 % 2 == 1, "and start in different banks");

// How many keys row `query` sees: all of them, or those up to the diagonal that ends in the bottom
// right corner. They are always the first ones.
__device__ int visible_keys(const attention_shape &shape, int query) {
  if (!shape.causal) return shape.seq_kv;
  return max(0, min(shape.seq_kv, query + 1 + shape.seq_kv - shape.seq_q));
}

// Which of the batch * kv_heads key/value heads a query head reads: `heads / kv_heads` share one.
__device__ size_t key_value_head(const attention_shape &shape, int batch, int head) {
  return (size_t)batch * shape.kv_heads + head / (shape.heads / shape.kv_heads);
}

// Copies the first `rows` rows of a [rows, head_dim] matrix to a [TILE_ROWS][D] tile, a Vector at a time,
// and fills the rest with zeros, so that no loop over the tile needs to know where the matrix ends.
template <int TILE_ROWS, int D, typename Vector, typename Element>
__device__ __forceinline__ void copy_tile(Element (*smem)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  constexpr int WIDTH = sizeof(Vector) / sizeof(Element);
  for (int i = threadIdx.x; i < TILE_ROWS * D / WIDTH; i += tile::THREADS) {
    const int row = i / (D / WIDTH);
    const int d = i % (D / WIDTH) * WIDTH;
    const bool inside = row < rows && d < head_dim;
    const Element *from = &matrix[inside ? (size_t)row * head_dim + d : 0];
    *(Vector *)&smem[row][d] = inside ? *(const Vector *)from : Vector{};
  }
}

// Takes the widest vector that every row of the matrix is aligned for.
template <int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(Element (*smem)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  if (head_dim % 8 == 0) {
    copy_tile<TILE_ROWS, D, uint4>(smem, matrix, rows, head_dim);
  } else if (head_dim % 2 == 0) {
    copy_tile<TILE_ROWS, D, unsigned>(smem, matrix, rows, head_dim);
  } else {
    copy_tile<TILE_ROWS, D, unsigned short>(smem, matrix, rows, head_dim);
  }
}

template <typename Element>
using matrix_a = wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, wmma::row_major>;
template <typename Element, typename Layout>
using matrix_b = wmma::fragment<wmma::matrix_b, 16, 16, 16, Element, Layout>;
using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// The first row of the warp's row of fragments number i.
__device__ __forceinline__ int fragment_row(int i) {
  return threadIdx.x / 32 * tile::WARP_ROWS + i * FRAGMENT;
}

// S_smem [BLOCK_M, BLOCK_N] = Q [BLOCK_M, D] K_smem^T [D, BLOCK_N], the warp's part. K^T in row-major
// order is K in column-major order, so K is read as it lies.
template <typename Element, int D>
__device__ __forceinline__ void
multiply_scores(float (*S_smem)[tile::BLOCK_N + S_PAD],
                const matrix_a<Element> (&Q_frag)[tile::ROW_FRAGMENTS][D / FRAGMENT],
                const Element (*K_smem)[D + PAD]) {
  for (int key = 0; key < tile::BLOCK_N; key += FRAGMENT) {
    accumulator S_frag[tile::ROW_FRAGMENTS];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++) wmma::fill_fragment(S_frag[i], 0.0f);
    // exercise: a column of fragments of S: each fragment of K is loaded once, for all of Q
    for (int k = 0; k < D / FRAGMENT; k++) {
      matrix_b<Element, wmma::col_major> K_frag;
      wmma::load_matrix_sync(K_frag, &K_smem[key][k * FRAGMENT], D + PAD);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        wmma::mma_sync(S_frag[i], Q_frag[i][k], K_frag, S_frag[i]);
    }
    // end of exercise
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      wmma::store_matrix_sync(&S_smem[fragment_row(i)][key], S_frag[i], tile::BLOCK_N + S_PAD,
                              wmma::mem_row_major);
  }
}

// The online softmax of one row: its scores become probabilities in place, in 16 bits. A lane has every
// ROW_LANES-th group of 4 keys; the first `limit` keys are visible. Returns the factor that brings what
// was summed before to the new row max.
template <typename Element>
__device__ __forceinline__ float softmax_row(float *S_row, Element *P_row, int limit,
                                             float scale_log2, float &row_max, float &row_sum) {
  const int row_lane = threadIdx.x % 32 / tile::WARP_ROWS;
  float s[tile::LANE_KEYS];
  float new_max = row_max;
  for (int j = 0; j < tile::LANE_KEYS; j += 4) {
    const int key = tile::ROW_LANES * j + 4 * row_lane;
    *(float4 *)&s[j] = *(const float4 *)&S_row[key];
    for (int n = 0; n < 4; n++) {
      s[j + n] = key + n < limit ? s[j + n] * scale_log2 : -INFINITY;
      new_max = fmaxf(new_max, s[j + n]);
    }
  }
  for (int offset = 16; offset >= tile::WARP_ROWS; offset /= 2)
    new_max = fmaxf(new_max, __shfl_xor_sync(0xffffffff, new_max, offset));
  // A row that has seen no key yet keeps 0 in place of -infinity: -inf - -inf is not a number.
  const float subtracted = new_max == -INFINITY ? 0.0f : new_max;
  const float correction = exp2f(row_max - subtracted);
  row_max = new_max;
  row_sum *= correction;
  __syncwarp(); // all lanes of the row have read S, which P overwrites
  for (int j = 0; j < tile::LANE_KEYS; j += 4) {
    for (int n = 0; n < 4; n++) {
      s[j + n] = exp2f(s[j + n] - subtracted);
      row_sum += s[j + n];
    }
    *(uint2 *)&P_row[tile::ROW_LANES * j + 4 * row_lane] =
        make_uint2(pack_pair<Element>(s[j], s[j + 1]), pack_pair<Element>(s[j + 2], s[j + 3]));
  }
  return correction;
}

// Multiplies row r of O by factor_smem[r]. Nobody knows which element of O a lane holds; but a fragment
// of the same type that is loaded with the factors holds the right one in the same place. Read by
// columns with a stride of 0, every column is the same 16 factors.
template <int COLUMNS>
__device__ __forceinline__ void scale_output(accumulator (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS],
                                             const float *factor_smem) {
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
    // exercise: the fragment of factors, and every element of O times the one in its place
    accumulator factor;
    wmma::load_matrix_sync(factor, &factor_smem[fragment_row(i)], 0, wmma::mem_col_major);
    for (int j = 0; j < COLUMNS; j++)
      for (int e = 0; e < factor.num_elements; e++) O_frag[i][j].x[e] *= factor.x[e];
    // end of exercise
  }
}

// O [BLOCK_M, D] += P_smem [BLOCK_M, BLOCK_N] V_smem [BLOCK_N, D], the warp's part.
template <typename Element, int D, int COLUMNS>
__device__ __forceinline__ void
accumulate_output(accumulator (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS],
                  const Element (*P_smem)[2 * (tile::BLOCK_N + S_PAD)],
                  const Element (*V_smem)[D + PAD]) {
#pragma unroll 1 // as in step 06, whose larger tiles have no registers to spare
  for (int k = 0; k < tile::BLOCK_N; k += FRAGMENT) {
    // exercise: 16 keys: the fragments of P once, each fragment of V once for all of them
    matrix_a<Element> P_frag[tile::ROW_FRAGMENTS];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      wmma::load_matrix_sync(P_frag[i], &P_smem[fragment_row(i)][k], 2 * (tile::BLOCK_N + S_PAD));
    for (int j = 0; j < COLUMNS; j++) {
      matrix_b<Element, wmma::row_major> V_frag;
      wmma::load_matrix_sync(V_frag, &V_smem[k][j * FRAGMENT], D + PAD);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        wmma::mma_sync(O_frag[i][j], P_frag[i], V_frag, O_frag[i][j]);
    }
    // end of exercise
  }
}

// Bytes of shared memory: the row factors, and then either K, V, and Q or S, which takes the place of Q
// once that is in fragments; or, at the end, O.
template <int D>
static constexpr size_t
    SHARED_BYTES = sizeof(float) * tile::BLOCK_M +
                   larger(2 * sizeof(half) * tile::BLOCK_N * (D + PAD) +
                              tile::BLOCK_M * larger(sizeof(half) * (D + PAD),
                                                     sizeof(float) * (tile::BLOCK_N + S_PAD)),
                          sizeof(float) * tile::BLOCK_M * (D + S_PAD));

// O [query tile, head_dim] and lse [query tile], one key block after the other.
template <typename Element, int D>
__device__ __forceinline__ void attention_tile(const Element *Q, const Element *K, const Element *V,
                                               Element *O, float *lse, const attention_shape &shape,
                                               int batch, int head, int query_tile) {
  extern __shared__ __align__(32) float4 shared_memory[];
  constexpr int COLUMNS = D / FRAGMENT;                             // fragments of O, of one warp
  auto factor_smem = (float *)shared_memory;                        // [BLOCK_M]
  auto K_smem = (Element(*)[D + PAD])(factor_smem + tile::BLOCK_M); // [BLOCK_N][..]
  auto V_smem = K_smem + tile::BLOCK_N;                             // [BLOCK_N][..]
  auto Q_smem = V_smem + tile::BLOCK_N;                             // [BLOCK_M][..]
  auto S_smem = (float(*)[tile::BLOCK_N + S_PAD]) Q_smem;           // [BLOCK_M][..]
  auto P_smem = (Element(*)[2 * (tile::BLOCK_N + S_PAD)]) S_smem;   // [BLOCK_M][..]
  auto O_smem = (float(*)[D + S_PAD]) K_smem;                       // [BLOCK_M][..]
  static_assert(sizeof(float) * tile::BLOCK_M * (D + S_PAD) <=
                    2 * sizeof(half) * tile::BLOCK_N * (D + PAD),
                "O ends before Q begins");

  const int first_query = query_tile * tile::BLOCK_M;
  const int rows = min(tile::BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  const size_t first_kv_row = key_value_head(shape, batch, head) * shape.seq_kv;
  Q += first_row * shape.head_dim;
  K += first_kv_row * shape.head_dim;
  V += first_kv_row * shape.head_dim;
  O += first_row * shape.head_dim;

  // Whose softmax this lane takes part in.
  const int row = threadIdx.x / 32 * tile::WARP_ROWS + threadIdx.x % tile::WARP_ROWS;
  const bool first_lane = threadIdx.x % 32 < tile::WARP_ROWS;
  const int visible = row < rows ? visible_keys(shape, first_query + row) : 0;
  const float scale_log2 = shape.scale * LOG2_E; // exp(x) = exp2(x * log2(e)): one multiply less
  float row_max = -INFINITY; // in units of log2, the same in all lanes of the row
  float row_sum = 0.0f;      // over the lane's own keys

  load_tile<tile::BLOCK_M, D>(Q_smem, Q, rows, shape.head_dim);
  __syncthreads(); // Q is complete
  matrix_a<Element> Q_frag[tile::ROW_FRAGMENTS][D / FRAGMENT];
  accumulator O_frag[tile::ROW_FRAGMENTS][COLUMNS];
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
    for (int k = 0; k < D / FRAGMENT; k++)
      wmma::load_matrix_sync(Q_frag[i][k], &Q_smem[fragment_row(i)][k * FRAGMENT], D + PAD);
    for (int j = 0; j < COLUMNS; j++) wmma::fill_fragment(O_frag[i][j], 0.0f);
  }

  for (int first_key = 0; first_key < keys; first_key += tile::BLOCK_N) {
    const size_t offset = (size_t)first_key * shape.head_dim;
    load_tile<tile::BLOCK_N, D>(K_smem, K + offset, keys - first_key, shape.head_dim);
    load_tile<tile::BLOCK_N, D>(V_smem, V + offset, keys - first_key, shape.head_dim);
    __syncthreads(); // the tiles are complete, and everybody has Q in fragments

    multiply_scores<Element, D>(S_smem, Q_frag, K_smem);
    __syncwarp(); // the scores of the warp's rows are complete
    const float correction =
        softmax_row(S_smem[row], P_smem[row], visible - first_key, scale_log2, row_max, row_sum);
    if (first_lane) factor_smem[row] = correction;
    __syncwarp(); // the probabilities and factors of the warp's rows are complete
    scale_output(O_frag, factor_smem);
    accumulate_output<Element, D>(O_frag, P_smem, V_smem);
    __syncthreads(); // nobody reads the tiles any more: the next may overwrite them
  }

  for (int offset = 16; offset >= tile::WARP_ROWS; offset /= 2)
    row_sum += __shfl_xor_sync(0xffffffff, row_sum, offset);
  if (first_lane) {
    factor_smem[row] = row_sum > 0.0f ? 1.0f / row_sum : 0.0f; // a row that saw no key gives 0
    if (lse && row < rows) lse[first_row + row] = (row_max + log2f(row_sum)) * LN_2;
  }
  __syncthreads(); // the factors are complete
  scale_output(O_frag, factor_smem);
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
    for (int j = 0; j < COLUMNS; j++)
      wmma::store_matrix_sync(&O_smem[fragment_row(i)][j * FRAGMENT], O_frag[i][j], D + S_PAD,
                              wmma::mem_row_major);
  __syncthreads(); // O is complete
  for (int i = threadIdx.x; i < tile::BLOCK_M * D; i += tile::THREADS) {
    if (i / D < rows && i % D < shape.head_dim)
      O[(size_t)(i / D) * shape.head_dim + i % D] = from_float<Element>(O_smem[i / D][i % D]);
  }
  // No barrier: O lies where K and V do, and the next tile's come behind the barrier that follows its Q.
}

// One block for each (head, batch, query tile). Where there are more batch entries or tiles than the
// grid may have in y or z, a block takes several.
template <typename Element, int D>
__launch_bounds__(tile::THREADS, tile::BLOCKS_PER_SM) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, attention_shape shape) {
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  for (int batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    for (int query_tile = blockIdx.z; query_tile < query_tiles; query_tile += gridDim.z)
      attention_tile<Element, D>(Q, K, V, O, lse, shape, batch, blockIdx.x, query_tile);
}

template <typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const dim3 grid(shape.heads, min(shape.batch, MAX_GRID_YZ),
                  min(divide_up(shape.seq_q, tile::BLOCK_M), MAX_GRID_YZ));
  cudaError_t error = allow_shared_memory(attention_kernel<Element, D>, SHARED_BYTES<D>);
  if (error != cudaSuccess) return error;
  attention_kernel<Element, D><<<grid, tile::THREADS, SHARED_BYTES<D>, stream>>>(
      (const Element *)args->q, (const Element *)args->k, (const Element *)args->v,
      (Element *)args->o, args->lse, shape);
  return cudaGetLastError();
}

const char *attention_name(void) { return "05_wmma"; }

const char *attention_summary(void) { return "both products on the tensor cores"; }

const char *attention_unsupported(const attention_shape *shape) {
  return shape->head_dim > 128 ? "head_dim is at most 128, in this step and in all others" : NULL;
}

size_t attention_workspace_bytes(const attention_shape *) { return 0; }

cudaError_t attention_forward(const attention_args *args, cudaStream_t stream) {
  return LAUNCH_FOR_SHAPE(launch, args, stream);
}
