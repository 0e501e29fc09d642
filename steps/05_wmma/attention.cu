// 05_wmma: both products on the tensor cores.
//
// A tensor core multiplies 16 x 16 matrices. A warp holds them as fragments, in registers of all its 32 lanes, and
// wmma does not tell which lane holds which element. So the scores go through shared memory, where rows are rows
// again, for the online softmax of step 04. O stays in fragments from the first key to the last. The step is
// compiled for several sizes of tiles, its configurations.
//
//    128x64x4     32x64x4         The number is the warp that owns a 16 x 16 fragment of S. Warp (m, n) of
//   | 0 0 0 0 |  | 0 1 0 1 |      WARPS_M x WARPS_N owns ROW_FRAGMENTS rows of fragments, and every WARPS_N-th
//   | 0 0 0 0 |  | 2 3 2 3 |      column of them. WARPS_N is above 1 where a tile has fewer rows of fragments
//   | 1 1 1 1 |                   than warps.
//       ...
//
// Cost for each head: as in step 04, Q is read once, and K and V once for every query tile. Tiles stay in 16 bits in
// shared memory, and a fragment of K or V serves all rows of a warp. The warps now wait for the next tiles.
// Look next at 06_cp_async, which copies the next tiles while it computes.
#include "kernel.cuh"
#include "ptx.cuh"
#include "tiles.cuh"
#include "wmma.cuh"

template <int M, int N, int W>
struct configuration {
  static constexpr int BLOCK_M = M; // query rows of a tile
  static constexpr int BLOCK_N = N; // keys of a block
  static constexpr int WARPS = W;
  static constexpr int THREADS = 32 * WARPS;
  static constexpr int WARPS_M = common_divisor(BLOCK_M / FRAGMENT, WARPS);
  static constexpr int WARPS_N = WARPS / WARPS_M;
  static constexpr int ROW_FRAGMENTS = BLOCK_M / FRAGMENT / WARPS_M;      // of one warp
  static constexpr int ROW_LANES = power_of_two_up_to(THREADS / BLOCK_M); // that share a row,
  static constexpr int WARP_ROWS = 32 / ROW_LANES;                        // for the softmax
  static constexpr int LANE_KEYS = BLOCK_N / ROW_LANES;                   // of one lane
  static constexpr int MAX_DIM = ROW_FRAGMENTS == 1 ? 128 : 64; // Q and O fit into registers
  static_assert(BLOCK_M % FRAGMENT == 0 && BLOCK_N % FRAGMENT == 0, "whole fragments");
  static_assert(THREADS >= BLOCK_M && BLOCK_M % WARP_ROWS == 0, "whole warps take the rows");
  static_assert(LANE_KEYS % 4 == 0, "a lane reads 4 scores at a time");
};

// BLOCK_M, BLOCK_N, WARPS.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 64, 4)                                                                                    \
  X(128, 64, 8)                                                                                    \
  X(64, 64, 4)                                                                                     \
  X(48, 64, 8)                                                                                     \
  X(32, 64, 4)                                                                                     \
  X(32, 32, 4)                                                                                     \
  X(16, 64, 4)                                                                                     \
  X(64, 32, 4)

// The best measured on an H200.
static const char *best_configuration(const attention_shape *shape) {
  return shape->head_dim <= 64 ? "128x64x4" : "128x64x8";
}

static constexpr int SMALLEST_DIM = 32; // a smaller head_dim is padded to 32

// Blocks that a multiprocessor should hold at once. They leave a thread 255 registers.
template <typename tile, int D>
static constexpr int BLOCKS_PER_SM = 8 / tile::WARPS;

// Fragments are read 16 bytes a lane, 8 rows at once. With 16 bytes of padding a row is an odd multiple
// of 16 bytes long, so 8 rows in turn start in 8 different groups of 4 banks: no conflict. A pad of one
// element would move a row by half a bank only, and most rows would not begin at a multiple of 16 bytes.
static constexpr int PAD = 8;   // elements of 2 bytes
static constexpr int S_PAD = 4; // floats
static_assert(PAD * sizeof(half) % 16 == 0 && S_PAD * sizeof(float) % 16 == 0, "rows stay aligned");
static_assert((32 + PAD) * sizeof(half) / 16 % 2 == 1, "rows start in different banks");

// Copies the first `rows` rows of a [rows, head_dim] matrix to a [TILE_ROWS][D] tile and fills the
// rest with zeros, so that no loop over the tile needs to know where the matrix ends.
template <typename tile, int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(Element (*smem)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  for_each_vector<TILE_ROWS, D, tile::THREADS, 4>(
      matrix, rows, head_dim, [&](const auto *from, int row, int d, bool inside) {
        using Vector = std::decay_t<decltype(*from)>;
        *(Vector *)&smem[row][d] = inside ? *from : Vector{};
      });
}

// If each warp owns whole rows, __syncwarp() is enough; otherwise warps share rows and the whole block must wait.
template <typename tile>
__device__ __forceinline__ void row_barrier() {
  tile::WARPS_N == 1 ? __syncwarp() : __syncthreads();
}

// S_smem [BLOCK_M, BLOCK_N] = Q [BLOCK_M, D] K_smem^T [D, BLOCK_N], the warp's part. A row of K is a column of
// K^T, so K^T in column-major order is K as it lies. The widths are those of a row, with its pad.
template <typename tile, int D, typename Element, int S_WIDTH, int K_WIDTH>
__device__ __forceinline__ void
multiply_scores(float (*S_smem)[S_WIDTH],
                const matrix_a<Element> (&Q_frag)[tile::ROW_FRAGMENTS][D / FRAGMENT],
                const Element (*K_smem)[K_WIDTH]) {
  for (int key = fragment_column<tile>(0); key < tile::BLOCK_N; key += tile::WARPS_N * FRAGMENT) {
    accumulator S_frag[tile::ROW_FRAGMENTS];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++) wmma::fill_fragment(S_frag[i], 0.0f);
    // exercise: compute a column of fragments of S; load each fragment of K once, for all of Q
    for (int k = 0; k < D / FRAGMENT; k++) {
      matrix_b<Element, wmma::col_major> K_frag;
      wmma::load_matrix_sync(K_frag, &K_smem[key][k * FRAGMENT], K_WIDTH);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        wmma::mma_sync(S_frag[i], Q_frag[i][k], K_frag, S_frag[i]);
    }
    // end of exercise
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      wmma::store_matrix_sync(&S_smem[fragment_row<tile>(i)][key], S_frag[i], S_WIDTH,
                              wmma::mem_row_major);
  }
}

// O [BLOCK_M, D] += P_smem [BLOCK_M, BLOCK_N] V_smem [BLOCK_N, D], the warp's part.
template <typename tile, int D, typename Element, int COLUMNS, int P_WIDTH, int V_WIDTH>
__device__ __forceinline__ void
accumulate_output(accumulator (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS],
                  const Element (*P_smem)[P_WIDTH], const Element (*V_smem)[V_WIDTH]) {
#pragma unroll 1 // all at once would need more registers than a thread can have
  for (int k = 0; k < tile::BLOCK_N; k += FRAGMENT) {
    // exercise: multiply 16 keys: load the fragments of P once, and each fragment of V below column D once for all of P
    matrix_a<Element> P_frag[tile::ROW_FRAGMENTS];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      wmma::load_matrix_sync(P_frag[i], &P_smem[fragment_row<tile>(i)][k], P_WIDTH);
    for (int j = 0; j < COLUMNS; j++) {
      if (fragment_column<tile>(j) >= D) break; // more warps than columns of fragments
      matrix_b<Element, wmma::row_major> V_frag;
      wmma::load_matrix_sync(V_frag, &V_smem[k][fragment_column<tile>(j)], V_WIDTH);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        wmma::mma_sync(O_frag[i][j], P_frag[i], V_frag, O_frag[i][j]);
    }
    // end of exercise
  }
}

// Returns the key of the block that the lane's score number n of a row belongs to: a lane has every ROW_LANES-th
// group of 4 keys.
template <typename tile>
__device__ __forceinline__ int lane_key(int n) {
  return (n / 4 * tile::ROW_LANES + threadIdx.x % 32 / tile::WARP_ROWS) * 4 + n % 4;
}

// Sets the lane's scores of one row to -infinity, from key number `limit` of the key block on.
template <typename tile>
__device__ __forceinline__ void mask_row(float (&S_row)[tile::LANE_KEYS], int limit) {
  for (int n = 0; n < tile::LANE_KEYS; n++)
    if (lane_key<tile>(n) >= limit) S_row[n] = -INFINITY;
}

// The online softmax of one row: the lane's scores become probabilities in place. Returns the factor that
// scales the sums of the key blocks before to the new row max.
template <typename tile>
__device__ __forceinline__ float softmax_row(float (&S_row)[tile::LANE_KEYS], float scale_log2,
                                             float &row_max, float &row_sum) {
  float new_max = row_max;
  for (int n = 0; n < tile::LANE_KEYS; n++) new_max = fmaxf(new_max, S_row[n]);
  new_max = max_over_lanes<tile::WARP_ROWS, 32>(new_max);
  // For a row that has seen no key yet, shift is 0 and not -infinity, as -inf - -inf is not a number.
  const float shift = new_max == -INFINITY ? 0.0f : new_max;
  const float correction = exp2_approximate((row_max - shift) * scale_log2);
  row_max = new_max;
  row_sum *= correction;
  for (int n = 0; n < tile::LANE_KEYS; n++) {
    S_row[n] = exp2_approximate((S_row[n] - shift) * scale_log2);
    row_sum += S_row[n];
  }
  return correction;
}

// Fills row `row` of factor_smem, a [BLOCK_M, 16] matrix, with the row's factor. The lanes that share the row write
// 4 columns at a time, in turn.
template <typename tile, int WIDTH>
__device__ __forceinline__ void store_factor(float (*factor_smem)[WIDTH], int row, float factor) {
  for (int column = threadIdx.x % 32 / tile::WARP_ROWS * 4; column < FRAGMENT;
       column += tile::ROW_LANES * 4)
    *(float4 *)&factor_smem[row][column] = make_float4(factor, factor, factor, factor);
}

// Multiplies row r of O by the factor that fills row r of factor_smem. wmma does not tell which element of O a lane
// holds. But in a fragment of the same type, element e is in the same place. So element e of the fragment of factors
// is the factor for element e of O.
template <typename tile, int COLUMNS, int WIDTH>
__device__ __forceinline__ void scale_output(accumulator (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS],
                                             const float (*factor_smem)[WIDTH]) {
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
    // exercise: load the fragment of factors, and multiply every element of O by the factor in its place
    accumulator factor;
    wmma::load_matrix_sync(factor, factor_smem[fragment_row<tile>(i)], WIDTH, wmma::mem_row_major);
    for (int j = 0; j < COLUMNS; j++)
      for (int e = 0; e < factor.num_elements; e++) O_frag[i][j].x[e] *= factor.x[e];
    // end of exercise
  }
}

// Bytes of shared memory: the row factors, and behind them K, V and Q. S takes the place of Q once Q is in
// fragments, and O takes the place of K, V and S at the end.
template <typename tile, int D>
static constexpr size_t
    SHARED_BYTES = sizeof(float) * (FRAGMENT + S_PAD) * tile::BLOCK_M +
                   larger(2 * sizeof(half) * tile::BLOCK_N * (D + PAD) +
                              tile::BLOCK_M * larger(sizeof(half) * (D + PAD),
                                                     sizeof(float) * (tile::BLOCK_N + S_PAD)),
                          sizeof(float) * tile::BLOCK_M * (D + S_PAD));

// Computes O [query tile, head_dim] and lse [query tile], one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void attention_tile(const Element *Q, const Element *K, const Element *V,
                                               Element *O, float *lse, const attention_shape &shape,
                                               int batch, int head, int query_tile) {
  extern __shared__ __align__(32) float4 shared_memory[];
  constexpr int COLUMNS = divide_up(D / FRAGMENT, tile::WARPS_N);   // fragments of O, of one warp
  auto factor_smem = (float(*)[FRAGMENT + S_PAD]) shared_memory;    // [BLOCK_M][..]
  auto K_smem = (Element(*)[D + PAD])(factor_smem + tile::BLOCK_M); // [BLOCK_N][..]
  auto V_smem = K_smem + tile::BLOCK_N;                             // [BLOCK_N][..]
  auto Q_smem = V_smem + tile::BLOCK_N;                             // [BLOCK_M][..]
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

  // The row whose softmax this lane takes part in.
  const int row = threadIdx.x / 32 * tile::WARP_ROWS + threadIdx.x % tile::WARP_ROWS;
  const bool has_row = row < tile::BLOCK_M; // false in the last two warps of 48x64x8
  const float scale_log2 =
      shape.scale * LOG2_E;  // exp(x) = exp2(x * log2(e)) saves a multiplication
  float row_max = -INFINITY; // before scaling, the same in all lanes of the row
  float row_sum = 0.0f;      // over the lane's own keys

  load_tile<tile, tile::BLOCK_M, D>(Q_smem, Q, rows, shape.head_dim);
  __syncthreads(); // Q is complete
  matrix_a<Element> Q_frag[tile::ROW_FRAGMENTS][D / FRAGMENT];
  accumulator O_frag[tile::ROW_FRAGMENTS][COLUMNS];
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
    for (int k = 0; k < D / FRAGMENT; k++)
      wmma::load_matrix_sync(Q_frag[i][k], &Q_smem[fragment_row<tile>(i)][k * FRAGMENT], D + PAD);
    for (int j = 0; j < COLUMNS; j++) wmma::fill_fragment(O_frag[i][j], 0.0f);
  }

  for (int first_key = 0; first_key < keys; first_key += tile::BLOCK_N) {
    load_tile<tile, tile::BLOCK_N, D>(K_smem, K, keys - first_key, shape.head_dim);
    load_tile<tile, tile::BLOCK_N, D>(V_smem, V, keys - first_key, shape.head_dim);
    __syncthreads(); // the tiles are complete, and all warps have Q in fragments

    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const bool masked = visible_keys(shape, first_query) < first_key + tile::BLOCK_N;
    multiply_scores<tile, D>(S_smem, Q_frag, K_smem);
    row_barrier<tile>(); // the scores of the warp's rows are complete
    if (has_row) {
      float S_row[tile::LANE_KEYS];
      for (int n = 0; n < tile::LANE_KEYS; n += 4)
        *(float4 *)&S_row[n] = *(const float4 *)&S_smem[row][lane_key<tile>(n)];
      if (masked) mask_row<tile>(S_row, visible_keys(shape, first_query + row) - first_key);
      const float correction = softmax_row<tile>(S_row, scale_log2, row_max, row_sum);
      store_factor<tile>(factor_smem, row, correction);
      __syncwarp(); // all lanes of the row have read S, which P overwrites
      for (int n = 0; n < tile::LANE_KEYS; n += 4)
        *(uint2 *)&P_smem[row][lane_key<tile>(n)] =
            make_uint2(pack_pair<Element>(S_row[n], S_row[n + 1]),
                       pack_pair<Element>(S_row[n + 2], S_row[n + 3]));
    }
    row_barrier<tile>(); // the probabilities and factors of the warp's rows are complete
    scale_output<tile>(O_frag, factor_smem);
    accumulate_output<tile, D>(O_frag, P_smem, V_smem);
    K += tile::BLOCK_N * shape.head_dim; // the next key block
    V += tile::BLOCK_N * shape.head_dim;
    __syncthreads(); // all threads have read the tiles, so the next ones may overwrite them
  }

  const float sum = sum_over_lanes<tile::WARP_ROWS, 32>(row_sum);
  if (has_row) {
    // A row that sees no key gives 0.
    store_factor<tile>(factor_smem, row, sum > 0.0f ? 1.0f / sum : 0.0f);
    if (lse && row < rows && threadIdx.x % 32 < tile::WARP_ROWS)
      lse[first_row + row] = (row_max * scale_log2 + log2f(sum)) * LN_2;
  }
  __syncthreads(); // the factors are complete
  scale_output<tile>(O_frag, factor_smem);
  store_fragments<tile, D>(O_smem, O_frag);
  __syncthreads(); // O is complete
  store_rows<tile, D>(O, O_smem, rows, shape.head_dim);
  __syncthreads(); // all threads have read O, so the next query tile may overwrite it
}

// One block for each (head, batch, query tile). Where there are more batch entries or tiles than the
// grid may have in y or z, a block takes several.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, attention_shape shape) {
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  for (int batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    for (int query_tile = blockIdx.z; query_tile < query_tiles; query_tile += gridDim.z)
      if constexpr (HAS_FRAGMENTS<Element>)
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

const char *attention_name(void) { return "05_wmma"; }

const char *attention_summary(void) { return "both products on the tensor cores"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
