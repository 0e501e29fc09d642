// 06_cp_async: the next key blocks arrive while this one is multiplied.
//
// K and V get a ring of STAGES tiles each. A copy into the ring is asynchronous: it goes from global to
// shared memory without passing through registers, and the thread that started it goes on. So a block
// starts the copies of key block n + STAGES - 1, waits for those of key block n, which had STAGES - 1
// blocks of time to arrive, and multiplies. The sizes are those of one of several configurations.
//
//              BLOCK_N or D
//           +---+---+---+---+
//           | 16 x 16       |         Warp (m, n) of WARPS_M x WARPS_N owns ROW_FRAGMENTS rows of
//           | fragments     | BLOCK_M fragments and every WARPS_N-th column of them. Where a tile has
//           |               |         fewer rows than the warps could share, WARPS_N is above 1.
//           +---+---+---+---+
//
// Cost for each head: as in step 05, and STAGES times the shared memory for K and V. The time to copy a
// tile is hidden behind the multiplication of another; what is left is the softmax between them.
#include "kernel.cuh"
#include <cuda_pipeline.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

static constexpr int FRAGMENT = 16; // rows, columns and depth of one tensor-core product

template <int M, int N, int W, int S>
struct configuration {
  static constexpr int BLOCK_M = M; // query rows of a tile
  static constexpr int BLOCK_N = N; // keys of a block
  static constexpr int WARPS = W;
  static constexpr int STAGES = S; // key blocks in shared memory at once
  static constexpr int THREADS = 32 * WARPS;
  static constexpr int WARPS_M = common_divisor(BLOCK_M / FRAGMENT, WARPS);
  static constexpr int WARPS_N = WARPS / WARPS_M;
  static constexpr int ROW_FRAGMENTS = BLOCK_M / FRAGMENT / WARPS_M;      // of one warp
  static constexpr int ROW_LANES = power_of_two_up_to(THREADS / BLOCK_M); // that share a row,
  static constexpr int WARP_ROWS = 32 / ROW_LANES;                        // for the softmax
  static constexpr int LANE_KEYS = BLOCK_N / ROW_LANES;                   // of one of them
  static constexpr int BLOCKS_PER_SM = 8 / WARPS;                         // leaves 255 registers

  static_assert(BLOCK_M % FRAGMENT == 0 && BLOCK_N % FRAGMENT == 0, "whole fragments");
  static_assert(BLOCK_M % WARP_ROWS == 0 && LANE_KEYS % 4 == 0, "a lane reads 4 scores at a time");
  static_assert(THREADS >= BLOCK_M && WARPS <= 8 && STAGES >= 1, "every row has a lane");
};

// BLOCK_M, BLOCK_N, WARPS, STAGES, and the largest head_dim whose O leaves registers for the rest.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 64, 4, 2, 64)                                                                             \
  X(128, 64, 8, 2, 128)                                                                            \
  X(128, 32, 4, 2, 64)                                                                             \
  X(64, 64, 4, 2, 128)                                                                             \
  X(48, 64, 8, 2, 64)                                                                              \
  X(32, 64, 4, 2, 128)                                                                             \
  X(32, 64, 4, 1, 128)                                                                             \
  X(32, 32, 4, 2, 128)                                                                             \
  X(16, 64, 4, 2, 128)

// The best measured on an H200, and small enough for every GPU from L4 on.
static const char *best_configuration(const attention_shape *shape) {
  return shape->head_dim <= 64 ? "128x64x4x2" : "64x64x4x2";
}

static constexpr int SMALLEST_DIM = 32; // what smaller ones are padded to

static const char *refused(const attention_shape *shape) {
  return shape->head_dim > 128 ? "head_dim is at most 128, in this step and in all others" : NULL;
}

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

// Starts to copy the first `rows` rows of a [rows, head_dim] matrix to a [TILE_ROWS][D] tile, a Vector at
// a time, and to fill the rest with zeros. The smallest asynchronous copy is 4 bytes.
template <typename tile, int TILE_ROWS, int D, typename Vector, typename Element>
__device__ __forceinline__ void copy_tile(Element (*smem)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  constexpr int WIDTH = sizeof(Vector) / sizeof(Element);
  for (int i = threadIdx.x; i < TILE_ROWS * D / WIDTH; i += tile::THREADS) {
    const int row = i / (D / WIDTH);
    const int d = i % (D / WIDTH) * WIDTH;
    const bool inside = row < rows && d < head_dim;
    const Element *from = &matrix[inside ? (size_t)row * head_dim + d : 0];
    // exercise: start the copy, or the filling with zeros; what is too short is copied as before
    if constexpr (sizeof(Vector) >= 4) {
      __pipeline_memcpy_async(&smem[row][d], from, sizeof(Vector), inside ? 0 : sizeof(Vector));
    } else {
      *(Vector *)&smem[row][d] = inside ? *(const Vector *)from : Vector{};
    }
    // end of exercise
  }
}

// Takes the widest vector that every row of the matrix is aligned for.
template <typename tile, int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(Element (*smem)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  if (head_dim % 8 == 0) {
    copy_tile<tile, TILE_ROWS, D, uint4>(smem, matrix, rows, head_dim);
  } else if (head_dim % 4 == 0) {
    copy_tile<tile, TILE_ROWS, D, uint2>(smem, matrix, rows, head_dim);
  } else if (head_dim % 2 == 0) {
    copy_tile<tile, TILE_ROWS, D, unsigned>(smem, matrix, rows, head_dim);
  } else {
    copy_tile<tile, TILE_ROWS, D, unsigned short>(smem, matrix, rows, head_dim);
  }
}

template <typename Element>
using matrix_a = wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, wmma::row_major>;
template <typename Element, typename Layout>
using matrix_b = wmma::fragment<wmma::matrix_b, 16, 16, 16, Element, Layout>;
using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// The first row of the warp's row of fragments number i, and the first column of its column number j.
template <typename tile>
__device__ __forceinline__ int fragment_row(int i) {
  return (threadIdx.x / 32 / tile::WARPS_N * tile::ROW_FRAGMENTS + i) * FRAGMENT;
}

template <typename tile>
__device__ __forceinline__ int fragment_column(int j) {
  return (threadIdx.x / 32 % tile::WARPS_N + tile::WARPS_N * j) * FRAGMENT;
}

// Waits for the warps that share rows: none but the own one where a warp spans the whole tile.
template <typename tile>
__device__ __forceinline__ void row_barrier() {
  if (tile::WARPS_N == 1) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

// S_smem [BLOCK_M, BLOCK_N] = Q [BLOCK_M, D] K_smem^T [D, BLOCK_N], the warp's part. K^T in row-major
// order is K in column-major order, so K is read as it lies.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void
multiply_scores(float (*S_smem)[tile::BLOCK_N + S_PAD],
                const matrix_a<Element> (&Q_frag)[tile::ROW_FRAGMENTS][D / FRAGMENT],
                const Element (*K_smem)[D + PAD]) {
  for (int key = fragment_column<tile>(0); key < tile::BLOCK_N; key += tile::WARPS_N * FRAGMENT) {
    accumulator S_frag[tile::ROW_FRAGMENTS];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++) wmma::fill_fragment(S_frag[i], 0.0f);
    for (int k = 0; k < D / FRAGMENT; k++) {
      matrix_b<Element, wmma::col_major> K_frag;
      wmma::load_matrix_sync(K_frag, &K_smem[key][k * FRAGMENT], D + PAD);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        wmma::mma_sync(S_frag[i], Q_frag[i][k], K_frag, S_frag[i]);
    }
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      wmma::store_matrix_sync(&S_smem[fragment_row<tile>(i)][key], S_frag[i], tile::BLOCK_N + S_PAD,
                              wmma::mem_row_major);
  }
}

// The online softmax of one row: its scores become probabilities in place, in 16 bits. A lane has every
// ROW_LANES-th group of 4 keys; the first `limit` keys are visible. Returns the factor that brings what
// was summed before to the new row max.
template <typename tile, typename Element>
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
template <typename tile, int COLUMNS>
__device__ __forceinline__ void scale_output(accumulator (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS],
                                             const float *factor_smem) {
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
    accumulator factor;
    wmma::load_matrix_sync(factor, &factor_smem[fragment_row<tile>(i)], 0, wmma::mem_col_major);
    for (int j = 0; j < COLUMNS; j++)
      for (int e = 0; e < factor.num_elements; e++) O_frag[i][j].x[e] *= factor.x[e];
  }
}

// O [BLOCK_M, D] += P_smem [BLOCK_M, BLOCK_N] V_smem [BLOCK_N, D], the warp's part.
template <typename tile, typename Element, int D, int COLUMNS>
__device__ __forceinline__ void
accumulate_output(accumulator (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS],
                  const Element (*P_smem)[2 * (tile::BLOCK_N + S_PAD)],
                  const Element (*V_smem)[D + PAD]) {
#pragma unroll 1 // all at once would need more registers than a thread can have
  for (int k = 0; k < tile::BLOCK_N; k += FRAGMENT) {
    matrix_a<Element> P_frag[tile::ROW_FRAGMENTS];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      wmma::load_matrix_sync(P_frag[i], &P_smem[fragment_row<tile>(i)][k],
                             2 * (tile::BLOCK_N + S_PAD));
    for (int j = 0; j < COLUMNS; j++) {
      if (fragment_column<tile>(j) >= D) break; // more warps than columns of fragments
      matrix_b<Element, wmma::row_major> V_frag;
      wmma::load_matrix_sync(V_frag, &V_smem[k][fragment_column<tile>(j)], D + PAD);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        wmma::mma_sync(O_frag[i][j], P_frag[i], V_frag, O_frag[i][j]);
    }
  }
}

// Bytes of shared memory: the row factors, and then either K, V, and Q or S, which takes the place of Q
// once that is in fragments; or, at the end, O.
template <typename tile, int D>
static constexpr size_t
    SHARED_BYTES = sizeof(float) * tile::BLOCK_M +
                   larger(2 * tile::STAGES * sizeof(half) * tile::BLOCK_N * (D + PAD) +
                              tile::BLOCK_M * larger(sizeof(half) * (D + PAD),
                                                     sizeof(float) * (tile::BLOCK_N + S_PAD)),
                          sizeof(float) * tile::BLOCK_M * (D + S_PAD));

// O [query tile, head_dim] and lse [query tile], one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void attention_tile(const Element *Q, const Element *K, const Element *V,
                                               Element *O, float *lse, const attention_shape &shape,
                                               int batch, int head, int query_tile) {
  extern __shared__ __align__(32) float4 shared_memory[];
  constexpr int COLUMNS = divide_up(D / FRAGMENT, tile::WARPS_N);   // fragments of O, of one warp
  auto factor_smem = (float *)shared_memory;                        // [BLOCK_M]
  auto K_smem = (Element(*)[D + PAD])(factor_smem + tile::BLOCK_M); // [BLOCK_N][..]
  auto V_smem = K_smem + tile::STAGES * tile::BLOCK_N;              // [BLOCK_N][..]
  auto Q_smem = V_smem + tile::STAGES * tile::BLOCK_N;              // [BLOCK_M][..]
  auto S_smem = (float(*)[tile::BLOCK_N + S_PAD]) Q_smem;           // [BLOCK_M][..]
  auto P_smem = (Element(*)[2 * (tile::BLOCK_N + S_PAD)]) S_smem;   // [BLOCK_M][..]
  auto O_smem = (float(*)[D + S_PAD]) K_smem;                       // [BLOCK_M][..]

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
  const bool has_row = row < tile::BLOCK_M; // the same in all lanes of a warp
  const bool first_lane = has_row && threadIdx.x % 32 < tile::WARP_ROWS;
  const int visible = row < rows ? visible_keys(shape, first_query + row) : 0;
  const float scale_log2 = shape.scale * LOG2_E; // exp(x) = exp2(x * log2(e)): one multiply less
  float row_max = -INFINITY; // in units of log2, the same in all lanes of the row
  float row_sum = 0.0f;      // over the lane's own keys

  // Starts the copies of a key block into its stage, as one group; an empty one past the last block, so
  // that groups can be counted.
  const auto load_block = [&](int block) {
    // exercise: start to copy the block's K and V, if there are any, to its stage; close the group
    const int first_key = block * tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N;
    const size_t offset = (size_t)first_key * shape.head_dim;
    if (first_key < keys) {
      load_tile<tile, tile::BLOCK_N, D>(K_smem + first_smem, K + offset, keys - first_key,
                                        shape.head_dim);
      load_tile<tile, tile::BLOCK_N, D>(V_smem + first_smem, V + offset, keys - first_key,
                                        shape.head_dim);
    }
    __pipeline_commit();
    // end of exercise
  };
  // exercise: start Q, a group of its own, and all blocks but one that the ring holds; wait for Q
  load_tile<tile, tile::BLOCK_M, D>(Q_smem, Q, rows, shape.head_dim);
  __pipeline_commit();
  for (int block = 0; block < tile::STAGES - 1; block++) load_block(block);
  __pipeline_wait_prior(tile::STAGES -
                        1); // the oldest group, Q, has arrived: the thread's own part,
  __syncthreads();          // and everybody else's
  // end of exercise
  matrix_a<Element> Q_frag[tile::ROW_FRAGMENTS][D / FRAGMENT];
  accumulator O_frag[tile::ROW_FRAGMENTS][COLUMNS];
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
    for (int k = 0; k < D / FRAGMENT; k++)
      wmma::load_matrix_sync(Q_frag[i][k], &Q_smem[fragment_row<tile>(i)][k * FRAGMENT], D + PAD);
    for (int j = 0; j < COLUMNS; j++) wmma::fill_fragment(O_frag[i][j], 0.0f);
  }

  for (int block = 0; block * tile::BLOCK_N < keys; block++) {
    // exercise: start the block that the ring has room for; wait till this one is there for all
    load_block(block + tile::STAGES - 1); // its stage was read in the round before
    __pipeline_wait_prior(tile::STAGES -
                          1); // all but the newest groups: this block has arrived, the
    __syncthreads();          // thread's own part and, past the barrier, everybody's
    // end of exercise
    const int first_key = block * tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N;

    multiply_scores<tile, Element, D>(S_smem, Q_frag, K_smem + first_smem);
    row_barrier<tile>(); // the scores of the warp's rows are complete
    if (has_row) {
      const float correction = softmax_row<tile>(S_smem[row], P_smem[row], visible - first_key,
                                                 scale_log2, row_max, row_sum);
      if (first_lane) factor_smem[row] = correction;
    }
    row_barrier<tile>(); // the probabilities and factors of the warp's rows are complete
    scale_output<tile>(O_frag, factor_smem);
    accumulate_output<tile, Element, D>(O_frag, P_smem, V_smem + first_smem);
    __syncthreads(); // nobody reads the tiles any more: the next may overwrite them
  }

  for (int offset = 16; offset >= tile::WARP_ROWS; offset /= 2)
    row_sum += __shfl_xor_sync(0xffffffff, row_sum, offset);
  if (first_lane) {
    factor_smem[row] = row_sum > 0.0f ? 1.0f / row_sum : 0.0f; // a row that saw no key gives 0
    if (lse && row < rows) lse[first_row + row] = (row_max + log2f(row_sum)) * LN_2;
  }
  __syncthreads(); // the factors are complete
  scale_output<tile>(O_frag, factor_smem);
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
    for (int j = 0; j < COLUMNS && fragment_column<tile>(j) < D; j++)
      wmma::store_matrix_sync(&O_smem[fragment_row<tile>(i)][fragment_column<tile>(j)],
                              O_frag[i][j], D + S_PAD, wmma::mem_row_major);
  __syncthreads(); // O is complete
  for (int i = threadIdx.x; i < tile::BLOCK_M * D; i += tile::THREADS) {
    if (i / D < rows && i % D < shape.head_dim)
      O[(size_t)(i / D) * shape.head_dim + i % D] = from_float<Element>(O_smem[i / D][i % D]);
  }
  __syncthreads(); // nobody reads O any more: the next query tile may overwrite it
}

// One block for each (head, batch, query tile). Where there are more batch entries or tiles than the
// grid may have in y or z, a block takes several.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, tile::BLOCKS_PER_SM) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, attention_shape shape) {
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  for (int batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    for (int query_tile = blockIdx.z; query_tile < query_tiles; query_tile += gridDim.z)
      attention_tile<tile, Element, D>(Q, K, V, O, lse, shape, batch, blockIdx.x, query_tile);
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const dim3 grid(shape.heads, min(shape.batch, MAX_GRID_YZ),
                  min(divide_up(shape.seq_q, tile::BLOCK_M), MAX_GRID_YZ));
  cudaError_t error =
      allow_shared_memory(attention_kernel<tile, Element, D>, SHARED_BYTES<tile, D>);
  if (error != cudaSuccess) return error;
  attention_kernel<tile, Element, D><<<grid, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(
      (const Element *)args->q, (const Element *)args->k, (const Element *)args->v,
      (Element *)args->o, args->lse, shape);
  return cudaGetLastError();
}

const char *attention_name(void) { return "06_cp_async"; }

const char *attention_summary(void) { return "cp.async: the next tiles arrive during the maths"; }

size_t attention_workspace_bytes(const attention_shape *) { return 0; }

// attention_forward and the rest of the interface: launch<tile, Element, D> in the chosen configuration.
#include "configurations.cuh"
