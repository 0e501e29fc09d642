// 06_cp_async: the next key blocks arrive while this one is multiplied.
//
// K and V get a ring of STAGES tiles each. A copy into the ring is asynchronous: it goes from global to
// shared memory without passing through registers, and the thread that started it goes on. A block waits
// for the copies of key block n, starts those of key block n + STAGES - 1, and multiplies. So each copy
// has the time of STAGES - 1 key blocks to arrive.
//
//              key block   n       n + 1   n + 2   n + 3       STAGES = 2: while the warps multiply key
//   stage 0  | multiply  | copy  | mult. | copy  | ...         block n in one stage, the copies of key
//   stage 1  | copy      | mult. | copy  | mult. | ...         block n + 1 go into the other one.
//
// Cost for each head: as in step 05, and STAGES times the shared memory for K and V. The time to copy a
// tile is hidden behind the multiplication of another one; the softmax between the products is not.
// Look next at 07_mma_registers, which keeps the scores in registers.
#include "kernel.cuh"
#include "ptx.cuh"
#include "tiles.cuh"
#include "wmma.cuh"
#include "wmma_products.cuh"
#include <cuda_pipeline.h>

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
  static constexpr int LANE_KEYS = BLOCK_N / ROW_LANES;                   // of one lane
  static constexpr int MAX_DIM = ROW_FRAGMENTS == 1 ? 128 : 64; // Q and O fit into registers
  static_assert(BLOCK_M % FRAGMENT == 0 && BLOCK_N % FRAGMENT == 0, "whole fragments");
  static_assert(THREADS >= BLOCK_M && BLOCK_M % WARP_ROWS == 0, "whole warps take the rows");
  static_assert(LANE_KEYS % 4 == 0, "a lane reads 4 scores at a time");
};

// BLOCK_M, BLOCK_N, WARPS, STAGES.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 64, 4, 2)                                                                                 \
  X(128, 64, 8, 2)                                                                                 \
  X(64, 64, 4, 2)                                                                                  \
  X(48, 64, 8, 2)                                                                                  \
  X(32, 64, 4, 1)                                                                                  \
  X(32, 64, 4, 2)                                                                                  \
  X(32, 32, 4, 2)                                                                                  \
  X(16, 64, 4, 2)                                                                                  \
  X(64, 32, 4, 2)

// The best measured on an H200, or within 1 % of it.
static const char *best_configuration(const attention_shape *shape) {
  return shape->head_dim <= 64 ? "128x64x4x2" : "128x64x8x2";
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

// Starts to copy the first `rows` rows of a [rows, head_dim] matrix to a [TILE_ROWS][D] tile and to fill the
// rest with zeros, so that no loop over the tile needs to know where the matrix ends.
template <typename tile, int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(Element (*smem)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  for_each_vector<TILE_ROWS, D, tile::THREADS, 1>(
      matrix, rows, head_dim, [&](const auto *from, int row, int d, bool inside) {
        using Vector = std::decay_t<decltype(*from)>;
        // exercise: start the copy, or the filling with zeros; assign a Vector that is too short for cp.async
        if constexpr (sizeof(Vector) >= 4) // the smallest asynchronous copy
          __pipeline_memcpy_async(&smem[row][d], from, sizeof(Vector), inside ? 0 : sizeof(Vector));
        else
          *(Vector *)&smem[row][d] = inside ? *from : Vector{};
        // end of exercise
      });
}

// If each warp owns whole rows, __syncwarp() is enough; otherwise warps share rows and the whole block must wait.
template <typename tile>
__device__ __forceinline__ void row_barrier() {
  tile::WARPS_N == 1 ? __syncwarp() : __syncthreads();
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

// Bytes of shared memory: the row factors, and behind them K, V and Q. S takes the place of Q once Q is in
// fragments, and O takes the place of K, V and S at the end.
template <typename tile, int D>
static constexpr size_t
    SHARED_BYTES = sizeof(float) * (FRAGMENT + S_PAD) * tile::BLOCK_M +
                   larger(2 * tile::STAGES * sizeof(half) * tile::BLOCK_N * (D + PAD) +
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
  auto K_smem = (Element(*)[D + PAD])(factor_smem + tile::BLOCK_M); // [STAGES * BLOCK_N][..]
  auto V_smem = K_smem + tile::STAGES * tile::BLOCK_N;              // [STAGES * BLOCK_N][..]
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

  // The row whose softmax this lane takes part in.
  const int row = threadIdx.x / 32 * tile::WARP_ROWS + threadIdx.x % tile::WARP_ROWS;
  const bool has_row = row < tile::BLOCK_M; // false in the last two warps of 48x64x8
  const float scale_log2 =
      shape.scale * LOG2_E;  // exp(x) = exp2(x * log2(e)) saves a multiplication
  float row_max = -INFINITY; // before scaling, the same in all lanes of the row
  float row_sum = 0.0f;      // over the lane's own keys

  // Starts the copies of a key block into its stage, as one group. Past the last block the group is empty, so
  // that the number of groups still tells which block has arrived.
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
  // exercise: start the copies of Q, close their group; start the first STAGES - 1 key blocks; wait for all threads' Q
  load_tile<tile, tile::BLOCK_M, D>(Q_smem, Q, rows, shape.head_dim);
  __pipeline_commit();
  for (int block = 0; block < tile::STAGES - 1; block++) load_block(block);
  __pipeline_wait_prior(tile::STAGES - 1); // this thread's copies of Q, the oldest group, are there
  __syncthreads();                         // and those of all other threads as well
  // end of exercise
  matrix_a<Element> Q_frag[tile::ROW_FRAGMENTS][D / FRAGMENT];
  accumulator O_frag[tile::ROW_FRAGMENTS][COLUMNS];
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
    for (int k = 0; k < D / FRAGMENT; k++)
      wmma::load_matrix_sync(Q_frag[i][k], &Q_smem[fragment_row<tile>(i)][k * FRAGMENT], D + PAD);
    for (int j = 0; j < COLUMNS; j++) wmma::fill_fragment(O_frag[i][j], 0.0f);
  }

  for (int first_key = 0; first_key < keys; first_key += tile::BLOCK_N) {
    const int block = first_key / tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N;
    // exercise: wait until all threads have this block; start the one the ring has room for (if STAGES is 1, first)
    if (tile::STAGES > 1) __pipeline_wait_prior(max(tile::STAGES - 2, 0)); // own copies are there
    __syncthreads(); // all threads see the block, and have read the stage that is filled next
    load_block(block + tile::STAGES - 1);
    if (tile::STAGES == 1) __pipeline_wait_prior(0);
    if (tile::STAGES == 1) __syncthreads(); // with one stage, the block arrives only here
    // end of exercise

    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const bool masked = visible_keys(shape, first_query) < first_key + tile::BLOCK_N;
    multiply_scores<tile, D>(S_smem, Q_frag, K_smem + first_smem);
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
    accumulate_output<tile, D>(O_frag, P_smem, V_smem + first_smem);
  }

  row_barrier<tile>(); // all lanes have read the last factors, which the next ones overwrite
  const float sum = sum_over_lanes<tile::WARP_ROWS, 32>(row_sum);
  if (has_row) {
    // A row that sees no key gives 0.
    store_factor<tile>(factor_smem, row, sum > 0.0f ? 1.0f / sum : 0.0f);
    if (lse && row < rows && threadIdx.x % 32 < tile::WARP_ROWS)
      lse[first_row + row] = (row_max * scale_log2 + log2f(sum)) * LN_2;
  }
  __syncthreads(); // the factors are complete, and no thread reads K or V, whose memory O takes
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

const char *attention_name(void) { return "06_cp_async"; }

const char *attention_summary(void) { return "cp.async: copies hidden behind the products"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
