// 05_wmma: both products on the tensor cores.
//
// A warp hands 16 x 16 x 16 products to the tensor cores as fragments: registers of all its 32 lanes
// that together hold a 16 x 16 matrix, in a layout nobody outside the hardware needs to know. Scores go
// through shared memory, where rows are rows again, for the online softmax of step 04; O stays in
// fragments from the first key to the last.
//
//             BLOCK_N or D
//          +---+---+---+---+          Warp (m, n) of WARPS_M x WARPS_N owns, of a score tile and
//          | 16 x 16       |          of the output tile, ROW_FRAGMENTS rows of fragments and
//          | fragments     | BLOCK_M  every WARPS_N-th column of them. For the softmax, each row
//          +---+---+---+---+          belongs to ROW_LANES neighbouring lanes.
//
// Cost for each head: global traffic as in step 04, but tiles stay in 16 bits in shared memory; a
// fragment of K or V serves 16 rows. What a warp waits for now is the copy of the next tile.
// Look next at 06_cp_async, which copies the next tiles while it computes.
#include "kernel.cuh"
#include <mma.h>

namespace wmma = nvcuda::wmma;

static constexpr int BLOCK_M = 64; // query rows of a tile
static constexpr int BLOCK_N = 64; // keys of a block
static constexpr int WARPS = 4;
static constexpr int THREADS = 32 * WARPS;
static constexpr int FRAGMENT = 16;             // rows, columns and depth of one product
static constexpr int WARPS_M = 4;               // warps over the rows of a tile,
static constexpr int WARPS_N = WARPS / WARPS_M; // and over its columns
static constexpr int ROW_FRAGMENTS = BLOCK_M / FRAGMENT / WARPS_M; // of one warp
static constexpr int KEY_FRAGMENTS = BLOCK_N / FRAGMENT / WARPS_N; // of one warp
static constexpr int ROW_LANES = THREADS / BLOCK_M;                // that share a row's softmax
static constexpr int LANE_KEYS = BLOCK_N / ROW_LANES;              // of one lane
static constexpr float LOG2_E = 1.44269504f;
static constexpr float LN_2 = 0.69314718f;

// Blocks that a multiprocessor should hold at once, so that one computes while another waits.
template <int D>
static constexpr int BLOCKS_PER_SM = D <= 64 ? 4 : 2;

// Rows of 16-bit tiles are padded by 8 elements. A fragment is read 16 bytes a lane, 8 rows at once;
// a row of D + 8 elements is (D + 8) / 8 times 16 bytes, an odd number, so 8 rows in turn start in 8
// different groups of 4 banks. A pad of 1 would spread them too, and put every row but the first off
// the 16-byte grid.
static constexpr int PAD = 8;
// Rows of S are read by ROW_LANES lanes, 16 bytes each: 8 / ROW_LANES rows at once, which this pad puts
// next to each other in the banks.
static constexpr int S_PAD = 4 * ROW_LANES;

static_assert(BLOCK_M % (FRAGMENT * WARPS_M) == 0, "each warp owns whole fragments of rows");
static_assert(BLOCK_N % (FRAGMENT * WARPS_N) == 0, "each warp owns whole fragments of keys");
static_assert(32 % WARPS_N == 0, "each warp owns whole fragments of the smallest D, 32");
static_assert(THREADS % BLOCK_M == 0 && 32 % ROW_LANES == 0, "a row's lanes are in one warp");
static_assert(BLOCK_N % (4 * ROW_LANES) == 0, "a lane reads 4 scores at a time");
static_assert(PAD * sizeof(half) % 16 == 0, "every row of a 16-bit tile starts on 16 bytes");

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

// Copies the first `rows` rows of a [rows, head_dim] matrix to a [TILE_ROWS][D] tile and fills the
// rest with zeros, so that no loop over the tile needs to know where the matrix ends.
template <int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(Element (*tile)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  if (head_dim % 8 == 0) { // rows start on 16 bytes: copy 8 elements at a time
    for (int i = threadIdx.x; i < TILE_ROWS * D / 8; i += THREADS) {
      const int row = i / (D / 8);
      const int d = i % (D / 8) * 8;
      const bool inside = row < rows && d < head_dim;
      *(uint4 *)&tile[row][d] =
          inside ? *(const uint4 *)&matrix[(size_t)row * head_dim + d] : make_uint4(0, 0, 0, 0);
    }
  } else {
    for (int i = threadIdx.x; i < TILE_ROWS * D; i += THREADS) {
      const int row = i / D;
      const int d = i % D;
      const bool inside = row < rows && d < head_dim;
      tile[row][d] = inside ? matrix[(size_t)row * head_dim + d] : from_float<Element>(0.0f);
    }
  }
}

template <typename Element>
using matrix_a =
    wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, FRAGMENT, Element, wmma::row_major>;
template <typename Element, typename Layout>
using matrix_b = wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, FRAGMENT, Element, Layout>;
using accumulator = wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, FRAGMENT, float>;

// S_smem [BLOCK_M, BLOCK_N] = Q [BLOCK_M, D] K_smem^T [D, BLOCK_N], the warp's part. K^T in row-major
// order is K in column-major order, so K is read as it lies.
template <typename Element, int D>
__device__ __forceinline__ void
multiply_scores(float (*S_smem)[BLOCK_N + S_PAD],
                const matrix_a<Element> (&Q_frag)[ROW_FRAGMENTS][D / FRAGMENT],
                const Element (*K_smem)[D + PAD]) {
  const int warp_m = threadIdx.x / 32 / WARPS_N;
  const int warp_n = threadIdx.x / 32 % WARPS_N;
  for (int j = 0; j < KEY_FRAGMENTS; j++) {
    const int key = (warp_n + WARPS_N * j) * FRAGMENT;
    accumulator S_frag[ROW_FRAGMENTS];
    for (int i = 0; i < ROW_FRAGMENTS; i++) wmma::fill_fragment(S_frag[i], 0.0f);
    for (int k = 0; k < D / FRAGMENT; k++) {
      matrix_b<Element, wmma::col_major> K_frag;
      wmma::load_matrix_sync(K_frag, &K_smem[key][k * FRAGMENT], D + PAD);
      for (int i = 0; i < ROW_FRAGMENTS; i++)
        wmma::mma_sync(S_frag[i], Q_frag[i][k], K_frag, S_frag[i]);
    }
    for (int i = 0; i < ROW_FRAGMENTS; i++) {
      const int row = (warp_m * ROW_FRAGMENTS + i) * FRAGMENT;
      wmma::store_matrix_sync(&S_smem[row][key], S_frag[i], BLOCK_N + S_PAD, wmma::mem_row_major);
    }
  }
}

// Multiplies row r of O by factor_smem[r]. Nobody knows which element of O a lane holds; but a fragment
// of the same type that is loaded with the factors holds the right one in the same place. Read by
// columns with a stride of 0, every column is the same 16 factors.
template <int D>
__device__ __forceinline__ void
scale_output(accumulator (&O_frag)[ROW_FRAGMENTS][D / FRAGMENT / WARPS_N],
             const float *factor_smem) {
  const int warp_m = threadIdx.x / 32 / WARPS_N;
  for (int i = 0; i < ROW_FRAGMENTS; i++) {
    accumulator factor;
    const int row = (warp_m * ROW_FRAGMENTS + i) * FRAGMENT;
    wmma::load_matrix_sync(factor, &factor_smem[row], 0, wmma::mem_col_major);
    for (int j = 0; j < D / FRAGMENT / WARPS_N; j++)
      for (int e = 0; e < factor.num_elements; e++) O_frag[i][j].x[e] *= factor.x[e];
  }
}

// O [BLOCK_M, D] += P_smem [BLOCK_M, BLOCK_N] V_smem [BLOCK_N, D], the warp's part.
template <typename Element, int D>
__device__ __forceinline__ void
accumulate_output(accumulator (&O_frag)[ROW_FRAGMENTS][D / FRAGMENT / WARPS_N],
                  const Element (*P_smem)[BLOCK_N + PAD], const Element (*V_smem)[D + PAD]) {
  const int warp_m = threadIdx.x / 32 / WARPS_N;
  const int warp_n = threadIdx.x / 32 % WARPS_N;
  for (int k = 0; k < BLOCK_N / FRAGMENT; k++) {
    matrix_a<Element> P_frag[ROW_FRAGMENTS];
    for (int i = 0; i < ROW_FRAGMENTS; i++) {
      const int row = (warp_m * ROW_FRAGMENTS + i) * FRAGMENT;
      wmma::load_matrix_sync(P_frag[i], &P_smem[row][k * FRAGMENT], BLOCK_N + PAD);
    }
    for (int j = 0; j < D / FRAGMENT / WARPS_N; j++) {
      const int column = (warp_n + WARPS_N * j) * FRAGMENT;
      matrix_b<Element, wmma::row_major> V_frag;
      wmma::load_matrix_sync(V_frag, &V_smem[k * FRAGMENT][column], D + PAD);
      for (int i = 0; i < ROW_FRAGMENTS; i++)
        wmma::mma_sync(O_frag[i][j], P_frag[i], V_frag, O_frag[i][j]);
    }
  }
}

// Largest value, and sum, over the ROW_LANES neighbouring lanes that share a row.
__device__ __forceinline__ float row_reduce_max(float value) {
  for (int offset = ROW_LANES / 2; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
  return value;
}

__device__ __forceinline__ float row_reduce_sum(float value) {
  for (int offset = ROW_LANES / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffff, value, offset);
  return value;
}

// The online softmax of one row of scores, of which the lane holds every ROW_LANES-th group of 4 keys:
// S_smem becomes P_smem, `limit` keys of it. Returns the factor that brings what was summed before to
// the new row max.
template <typename Element>
__device__ __forceinline__ float softmax_row(const float *S_smem, Element *P_smem, int limit,
                                             float scale_log2, float &row_max, float &row_sum) {
  const int row_lane = threadIdx.x % ROW_LANES;
  float s[LANE_KEYS];
  float new_max = row_max;
  for (int j = 0; j < LANE_KEYS; j += 4) {
    const int key = ROW_LANES * j + 4 * row_lane;
    const float4 four = *(const float4 *)&S_smem[key];
    s[j + 0] = key + 0 < limit ? four.x * scale_log2 : -INFINITY;
    s[j + 1] = key + 1 < limit ? four.y * scale_log2 : -INFINITY;
    s[j + 2] = key + 2 < limit ? four.z * scale_log2 : -INFINITY;
    s[j + 3] = key + 3 < limit ? four.w * scale_log2 : -INFINITY;
    for (int n = 0; n < 4; n++) new_max = fmaxf(new_max, s[j + n]);
  }
  new_max = row_reduce_max(new_max);
  // A row that has seen no key yet keeps 0 in place of -infinity: -inf - -inf is not a number.
  const float subtracted = new_max == -INFINITY ? 0.0f : new_max;
  const float correction = exp2f(row_max - subtracted);
  row_max = new_max;
  row_sum *= correction;
  for (int j = 0; j < LANE_KEYS; j++) {
    const float p = exp2f(s[j] - subtracted);
    row_sum += p;
    P_smem[ROW_LANES * (j / 4 * 4) + 4 * row_lane + j % 4] = from_float<Element>(p);
  }
  return correction;
}

// O [query tile, head_dim] and lse [query tile], one key block after the other.
template <typename Element, int D>
__device__ __forceinline__ void attention_tile(const Element *Q, const Element *K, const Element *V,
                                               Element *O, float *lse, const attention_shape &shape,
                                               int batch, int head, int query_tile) {
  extern __shared__ float4 shared_memory[];
  auto Q_smem = (Element(*)[D + PAD]) shared_memory;           // [BLOCK_M][D + PAD]
  auto K_smem = Q_smem + BLOCK_M;                              // [BLOCK_N][D + PAD]
  auto V_smem = K_smem + BLOCK_N;                              // [BLOCK_N][D + PAD]
  auto P_smem = (Element(*)[BLOCK_N + PAD])(V_smem + BLOCK_N); // [BLOCK_M][BLOCK_N + PAD]
  auto S_smem = (float(*)[BLOCK_N + S_PAD])(P_smem + BLOCK_M); // [BLOCK_M][BLOCK_N + S_PAD]
  auto factor_smem = (float *)(S_smem + BLOCK_M);              // [BLOCK_M]
  auto O_smem = (float(*)[D + PAD]) shared_memory;             // [BLOCK_M][D + PAD], at the end

  const int first_query = query_tile * BLOCK_M;
  const int rows = min(BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  const size_t first_kv_row = key_value_head(shape, batch, head) * shape.seq_kv;
  Q += first_row * shape.head_dim;
  K += first_kv_row * shape.head_dim;
  V += first_kv_row * shape.head_dim;
  O += first_row * shape.head_dim;

  const int row = threadIdx.x / ROW_LANES; // whose softmax this lane takes part in
  const int visible = row < rows ? visible_keys(shape, first_query + row) : 0;
  const float scale_log2 = shape.scale * LOG2_E; // exp(x) = exp2(x * log2(e)): one multiply less
  float row_max = -INFINITY; // in units of log2, the same in all lanes of the row
  float row_sum = 0.0f;      // over the lane's own keys

  matrix_a<Element> Q_frag[ROW_FRAGMENTS][D / FRAGMENT];
  accumulator O_frag[ROW_FRAGMENTS][D / FRAGMENT / WARPS_N];
  load_tile<BLOCK_M, D>(Q_smem, Q, rows, shape.head_dim);
  __syncthreads(); // Q is complete
  for (int i = 0; i < ROW_FRAGMENTS; i++) {
    const int warp_row = (threadIdx.x / 32 / WARPS_N * ROW_FRAGMENTS + i) * FRAGMENT;
    for (int k = 0; k < D / FRAGMENT; k++)
      wmma::load_matrix_sync(Q_frag[i][k], &Q_smem[warp_row][k * FRAGMENT], D + PAD);
    for (int j = 0; j < D / FRAGMENT / WARPS_N; j++) wmma::fill_fragment(O_frag[i][j], 0.0f);
  }

  for (int first_key = 0; first_key < keys; first_key += BLOCK_N) {
    const size_t offset = (size_t)first_key * shape.head_dim;
    load_tile<BLOCK_N, D>(K_smem, K + offset, keys - first_key, shape.head_dim);
    load_tile<BLOCK_N, D>(V_smem, V + offset, keys - first_key, shape.head_dim);
    __syncthreads(); // the tiles are complete

    multiply_scores<Element, D>(S_smem, Q_frag, K_smem);
    __syncthreads(); // S is complete

    const float correction =
        softmax_row(S_smem[row], P_smem[row], visible - first_key, scale_log2, row_max, row_sum);
    if (threadIdx.x % ROW_LANES == 0) factor_smem[row] = correction;
    __syncthreads(); // P and the factors are complete

    scale_output<D>(O_frag, factor_smem);
    accumulate_output<Element, D>(O_frag, P_smem, V_smem);
    __syncthreads(); // nobody reads the tiles any more: the next may overwrite them
  }

  const float sum = row_reduce_sum(row_sum);
  if (threadIdx.x % ROW_LANES == 0) {
    factor_smem[row] = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that saw no key gives 0
    if (lse && row < rows) lse[first_row + row] = (row_max + log2f(sum)) * LN_2;
  }
  __syncthreads(); // the factors are complete
  scale_output<D>(O_frag, factor_smem);
  for (int i = 0; i < ROW_FRAGMENTS; i++) {
    const int warp_row = (threadIdx.x / 32 / WARPS_N * ROW_FRAGMENTS + i) * FRAGMENT;
    for (int j = 0; j < D / FRAGMENT / WARPS_N; j++) {
      const int column = (threadIdx.x / 32 % WARPS_N + WARPS_N * j) * FRAGMENT;
      wmma::store_matrix_sync(&O_smem[warp_row][column], O_frag[i][j], D + PAD,
                              wmma::mem_row_major);
    }
  }
  __syncthreads(); // O_smem, which lies over the tiles, is complete
  for (int i = threadIdx.x; i < BLOCK_M * D; i += THREADS) {
    if (i / D < rows && i % D < shape.head_dim)
      O[(size_t)(i / D) * shape.head_dim + i % D] = from_float<Element>(O_smem[i / D][i % D]);
  }
  __syncthreads(); // nobody reads O_smem any more: the next query tile may overwrite it
}

// One block for each (head, batch, query tile). Where there are more batch entries or tiles than the
// grid may have in y or z, a block takes several.
template <typename Element, int D>
__launch_bounds__(THREADS, BLOCKS_PER_SM<D>) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, attention_shape shape) {
  const int query_tiles = divide_up(shape.seq_q, BLOCK_M);
  for (int batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    for (int query_tile = blockIdx.z; query_tile < query_tiles; query_tile += gridDim.z)
      attention_tile<Element, D>(Q, K, V, O, lse, shape, batch, blockIdx.x, query_tile);
}

template <typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const dim3 grid(shape.heads, min(shape.batch, MAX_GRID_YZ),
                  min(divide_up(shape.seq_q, BLOCK_M), MAX_GRID_YZ));
  const size_t smem =
      sizeof(Element) * ((BLOCK_M + 2 * BLOCK_N) * (D + PAD) + BLOCK_M * (BLOCK_N + PAD)) +
      sizeof(float) * (BLOCK_M * (BLOCK_N + S_PAD) + BLOCK_M);
  static_assert(sizeof(float) * BLOCK_M <= sizeof(Element) * (BLOCK_M + 2 * BLOCK_N),
                "O fits over the tiles of Q, K and V");

  cudaError_t error = allow_shared_memory(attention_kernel<Element, D>, smem);
  if (error != cudaSuccess) return error;
  attention_kernel<Element, D><<<grid, THREADS, smem, stream>>>(
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
