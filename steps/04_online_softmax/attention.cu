// 04_online_softmax: one kernel, no score matrix.
//
// A block walks once over the keys of its query tile and keeps, for every row, the largest score so
// far and the sum of exp(score - row max) so far. When a key block raises the row max, everything that
// was summed before is scaled down to the new row max; so the softmax is exact at the end although no row
// of scores was ever complete. Scores and probabilities live in registers and shared memory only.
// Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, section 3;
// in attention: Dao et al., "FlashAttention", 2022, section 3.1.
//
//              8 column threads             thread (r, c) of 16 x 8 owns, of a score tile,
//            +----------------+             the rows r, r + 16, r + 32, r + 48
//   16 row   |  BLOCK_M x     |             and the keys c, c + 8, c + 16, c + 24;
//   threads  |  BLOCK_N or D  |             of an output tile the same rows and
//            +----------------+             the columns 4c .. 4c + 3 of every 32.
//
// Cost for each head: Q is read once, K and V once for every query tile, O and lse are written once.
// The kernel needs no memory beyond the tensors. Shared memory is now the bottleneck.
// Look next at 05_wmma, which gives the two products to the tensor cores.
#include "kernel.cuh"
#include "ptx.cuh"
#include "tiles.cuh"

static constexpr int COLUMN_THREADS = 8; // neighbouring lanes, which share a row

template <int M, int N, int W>
struct configuration {
  static constexpr int BLOCK_M = M; // query rows of a tile
  static constexpr int BLOCK_N = N; // keys of a block
  static constexpr int WARPS = W;
  static constexpr int THREADS = 32 * WARPS;
  static constexpr int ROW_THREADS = THREADS / COLUMN_THREADS;
  static constexpr int ROWS = BLOCK_M / ROW_THREADS;         // of one thread
  static constexpr int LANE_KEYS = BLOCK_N / COLUMN_THREADS; // of one thread
  static constexpr int MAX_DIM = 128;

  static_assert(BLOCK_M % ROW_THREADS == 0 && BLOCK_N % 32 == 0, "tiles divide evenly");
};

// BLOCK_M, BLOCK_N, WARPS. At head_dim 128 the first needs 75 KB of shared memory, and the second 54 KB.
#define CONFIGURATIONS(X)                                                                          \
  X(64, 32, 4)                                                                                     \
  X(32, 32, 4)

static const char *best_configuration(const attention_shape *) { return "64x32x4"; }

static constexpr int SMALLEST_DIM = 32; // a smaller head_dim is padded to 32

// Blocks that a multiprocessor should hold at once, so that one computes while another waits. Its
// 65,536 registers then leave a thread 65536 / (4 * 128) = 128, or 255 with two blocks.
template <typename tile, int D>
static constexpr int BLOCKS_PER_SM = D <= 64 ? 4 : 2;

// Rows of shared memory are read 16 bytes at a time, 8 rows at once. With 4 floats (16 bytes) of
// padding, row r starts at bank 4 * (r * (D + 4) / 4 mod 8), and as (D + 4) / 4 is odd, 8 rows in
// turn start in 8 different groups of 4 banks: no conflict. And 16 bytes keep every row aligned.
static constexpr int PAD = 4;

// Copies the first `rows` rows of a [rows, head_dim] matrix to a [TILE_ROWS][D] tile and fills the
// rest with zeros, so that no loop over the tile needs to know where the matrix ends.
template <typename tile, int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(float (*smem)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  for_each_vector<TILE_ROWS, D, tile::THREADS, 1>(
      matrix, rows, head_dim, [&](const auto *from, int row, int d, bool inside) {
        const auto vector = *from;
        for (int e = 0; e < (int)(sizeof(vector) / sizeof(Element)); e++)
          smem[row][d + e] = inside ? to_float(((const Element *)&vector)[e]) : 0.0f;
      });
}

// S_rmem[ROWS][LANE_KEYS] += Q_smem [BLOCK_M, D] K_smem^T [D, BLOCK_N], the thread's part.
template <typename tile, int D>
__device__ __forceinline__ void multiply_scores(float (&S_rmem)[tile::ROWS][tile::LANE_KEYS],
                                                const float (*Q_smem)[D + PAD],
                                                const float (*K_smem)[D + PAD]) {
  const int row_thread = threadIdx.x / COLUMN_THREADS;
  const int column_thread = threadIdx.x % COLUMN_THREADS;
#pragma unroll 4
  for (int d = 0; d < D; d += 4) {
    float4 q[tile::ROWS], k[tile::LANE_KEYS];
    for (int i = 0; i < tile::ROWS; i++)
      q[i] = *(const float4 *)&Q_smem[row_thread + tile::ROW_THREADS * i][d];
    for (int j = 0; j < tile::LANE_KEYS; j++)
      k[j] = *(const float4 *)&K_smem[column_thread + COLUMN_THREADS * j][d];
    for (int i = 0; i < tile::ROWS; i++)
      for (int j = 0; j < tile::LANE_KEYS; j++) S_rmem[i][j] = dot(q[i], k[j], S_rmem[i][j]);
  }
}

// O_rmem[ROWS][D / 8] += P_smem [BLOCK_M, BLOCK_N] V_smem [BLOCK_N, D], the thread's part.
template <typename tile, int D>
__device__ __forceinline__ void accumulate_output(float (&O_rmem)[tile::ROWS][D / COLUMN_THREADS],
                                                  const float (*P_smem)[tile::BLOCK_N + PAD],
                                                  const float (*V_smem)[D + PAD]) {
  const int row_thread = threadIdx.x / COLUMN_THREADS;
  const int column_thread = threadIdx.x % COLUMN_THREADS;
#pragma unroll 1
  for (int key = 0; key < tile::BLOCK_N; key += 4) {
    float4 p[tile::ROWS];
    for (int i = 0; i < tile::ROWS; i++)
      p[i] = *(const float4 *)&P_smem[row_thread + tile::ROW_THREADS * i][key];
    for (int j = 0; j < D / 32; j++) {
      float4 v[4];
      for (int n = 0; n < 4; n++)
        v[n] = *(const float4 *)&V_smem[key + n][32 * j + 4 * column_thread];
      for (int i = 0; i < tile::ROWS; i++) {
        float *o = &O_rmem[i][4 * j];
        o[0] = dot(p[i], make_float4(v[0].x, v[1].x, v[2].x, v[3].x), o[0]);
        o[1] = dot(p[i], make_float4(v[0].y, v[1].y, v[2].y, v[3].y), o[1]);
        o[2] = dot(p[i], make_float4(v[0].z, v[1].z, v[2].z, v[3].z), o[2]);
        o[3] = dot(p[i], make_float4(v[0].w, v[1].w, v[2].w, v[3].w), o[3]);
      }
    }
  }
}

// Returns the key of the block that the thread's score number n of a row belongs to.
template <typename tile>
__device__ __forceinline__ int lane_key(int n) {
  return (int)threadIdx.x % COLUMN_THREADS + COLUMN_THREADS * n;
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
  // exercise: compute new_max, the row's largest score, in the key blocks before (row_max) and in this one (all lanes)
  // until then: const float new_max = row_max;
  float new_max = row_max;
  for (int n = 0; n < tile::LANE_KEYS; n++) new_max = fmaxf(new_max, S_row[n]);
  new_max = max_over_lanes<1, COLUMN_THREADS>(new_max);
  // end of exercise
  // For a row that has seen no key yet, shift is 0 and not -infinity, as -inf - -inf is not a number.
  const float shift = new_max == -INFINITY ? 0.0f : new_max;
  // exercise: compute the correction from the old row max to the new one; then update row_max and row_sum
  // until then: const float correction = 1.0f;
  const float correction = exp2_approximate((row_max - shift) * scale_log2);
  row_max = new_max;
  row_sum *= correction;
  // end of exercise
  // exercise: replace each score of the lane by its probability, and add it to row_sum
  for (int n = 0; n < tile::LANE_KEYS; n++) {
    S_row[n] = exp2_approximate((S_row[n] - shift) * scale_log2);
    row_sum += S_row[n];
  }
  // end of exercise
  return correction;
}

// Bytes of shared memory: Q, K, V and P.
template <typename tile, int D>
static constexpr size_t SHARED_BYTES = sizeof(float) *
                                       ((tile::BLOCK_M + 2 * tile::BLOCK_N) * (D + PAD) +
                                        tile::BLOCK_M * (tile::BLOCK_N + PAD));

// Computes O [query tile, head_dim] and lse [query tile], one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void attention_tile(const Element *Q, const Element *K, const Element *V,
                                               Element *O, float *lse, const attention_shape &shape,
                                               int batch, int head, int query_tile) {
  extern __shared__ float4 shared_memory[];
  auto Q_smem = (float(*)[D + PAD]) shared_memory;                       // [BLOCK_M][..]
  auto K_smem = Q_smem + tile::BLOCK_M;                                  // [BLOCK_N][..]
  auto V_smem = K_smem + tile::BLOCK_N;                                  // [BLOCK_N][..]
  auto P_smem = (float(*)[tile::BLOCK_N + PAD])(V_smem + tile::BLOCK_N); // [BLOCK_M][..]

  const int first_query = query_tile * tile::BLOCK_M;
  const int rows = min(tile::BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  const size_t first_kv_row = key_value_head(shape, batch, head) * shape.seq_kv;
  Q += first_row * shape.head_dim;
  K += first_kv_row * shape.head_dim;
  V += first_kv_row * shape.head_dim;
  O += first_row * shape.head_dim;

  const int row_thread = threadIdx.x / COLUMN_THREADS;
  const int column_thread = threadIdx.x % COLUMN_THREADS;
  const float scale_log2 =
      shape.scale * LOG2_E; // exp(x) = exp2(x * log2(e)) saves a multiplication
  float O_rmem[tile::ROWS][D / COLUMN_THREADS] = {};
  float row_max[tile::ROWS]; // before scaling, the same in all threads of the row
  float row_sum[tile::ROWS]; // over the thread's own keys
  for (int i = 0; i < tile::ROWS; i++) {
    row_max[i] = -INFINITY;
    row_sum[i] = 0.0f;
  }

  load_tile<tile, tile::BLOCK_M, D>(Q_smem, Q, rows, shape.head_dim);
  for (int first_key = 0; first_key < keys; first_key += tile::BLOCK_N) {
    load_tile<tile, tile::BLOCK_N, D>(K_smem, K, keys - first_key, shape.head_dim);
    load_tile<tile, tile::BLOCK_N, D>(V_smem, V, keys - first_key, shape.head_dim);
    __syncthreads(); // the tiles are complete

    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const bool masked = visible_keys(shape, first_query) < first_key + tile::BLOCK_N;
    float S_rmem[tile::ROWS][tile::LANE_KEYS] = {};
    multiply_scores<tile, D>(S_rmem, Q_smem, K_smem);
    for (int i = 0; i < tile::ROWS; i++) {
      const int row = row_thread + tile::ROW_THREADS * i;
      if (masked) mask_row<tile>(S_rmem[i], visible_keys(shape, first_query + row) - first_key);
      const float correction = softmax_row<tile>(S_rmem[i], scale_log2, row_max[i], row_sum[i]);
      for (int j = 0; j < D / COLUMN_THREADS; j++) O_rmem[i][j] *= correction;
      for (int n = 0; n < tile::LANE_KEYS; n++) P_smem[row][lane_key<tile>(n)] = S_rmem[i][n];
    }
    __syncwarp(); // a warp reads only the rows of P that its own lanes have written
    accumulate_output<tile, D>(O_rmem, P_smem, V_smem);
    K += tile::BLOCK_N * shape.head_dim; // the next key block
    V += tile::BLOCK_N * shape.head_dim;
    __syncthreads(); // all threads have read the tiles, so the next ones may overwrite them
  }

#pragma unroll // O_rmem stays in registers only if all its indices are constants
  for (int i = 0; i < tile::ROWS; i++) {
    const int row = row_thread + tile::ROW_THREADS * i;
    const float sum = sum_over_lanes<1, COLUMN_THREADS>(row_sum[i]);
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key gives 0
    if (lse && row < rows && column_thread == 0)
      lse[first_row + row] = (row_max[i] * scale_log2 + log2f(sum)) * LN_2;
    for (int j = 0; j < D / COLUMN_THREADS; j++) {
      const int d = j / 4 * 32 + column_thread * 4 + j % 4;
      if (row < rows && d < shape.head_dim)
        O[(size_t)row * shape.head_dim + d] = from_float<Element>(O_rmem[i][j] * factor);
    }
  }
}

// One block for each (head, batch, query tile). Where there are more batch entries or tiles than the
// grid may have in y or z, a block takes several.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, attention_shape shape) {
  // The condition is in rows, because a number of tiles would need a register, and the loop over the keys leaves none.
  for (int batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    for (int query_tile = blockIdx.z; query_tile * tile::BLOCK_M < shape.seq_q;
         query_tile += gridDim.z)
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

const char *attention_name(void) { return "04_online_softmax"; }

const char *attention_summary(void) { return "one fused kernel, running row max and sum"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
