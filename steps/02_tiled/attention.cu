// 02_tiled: fetch once, use many times.
//
// The same three kernels, but a block now works on a whole query tile: it copies a tile of Q and a
// block of keys to shared memory, where every value serves 32 keys or 64 rows, and each thread keeps
// a small tile of results in registers, where every value from shared memory serves 4 results.
// One block serves one (head, batch) and walks over all its query tiles.
//
//              8 column threads             thread (r, c) of 16 x 8 owns, of a score tile,
//            +----------------+             the rows r, r + 16, r + 32, r + 48
//   16 row   |  BLOCK_M x     |             and the keys c, c + 8, c + 16, c + 24;
//   threads  |  BLOCK_N or D  |             of an output tile the same rows and
//            +----------------+             the columns 4c .. 4c + 3 of every 32.
//
// Cost for each head: Q is fetched from global memory once, and K and V once for every query tile, which is
// 64 times less often than in step 01. S still travels through global memory: it is written, read three times
// and written twice by the softmax, and read again.
// With few heads most of the GPU has nothing to do, which 03_3dgrid changes.
#include "kernel.cuh"
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

  static_assert(BLOCK_M % ROW_THREADS == 0 && BLOCK_N % 32 == 0, "tiles divide evenly");
};

static constexpr int SOFTMAX_THREADS = 1024;

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
        // exercise: copy the elements of one vector to the tile; beyond the matrix store 0
        const auto vector = *from;
        for (int e = 0; e < (int)(sizeof(vector) / sizeof(Element)); e++)
          smem[row][d + e] = inside ? to_float(((const Element *)&vector)[e]) : 0.0f;
        // end of exercise
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
    // exercise: load 16 bytes of each of the thread's rows and keys; add the product of each row and each key to S_rmem
    float4 q[tile::ROWS], k[tile::LANE_KEYS];
    for (int i = 0; i < tile::ROWS; i++)
      q[i] = *(const float4 *)&Q_smem[row_thread + tile::ROW_THREADS * i][d];
    for (int j = 0; j < tile::LANE_KEYS; j++)
      k[j] = *(const float4 *)&K_smem[column_thread + COLUMN_THREADS * j][d];
    for (int i = 0; i < tile::ROWS; i++)
      for (int j = 0; j < tile::LANE_KEYS; j++) S_rmem[i][j] = dot(q[i], k[j], S_rmem[i][j]);
    // end of exercise
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

// S [query tile, seq_kv] = scale * Q [query tile, head_dim] K^T, one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void scores_tile(const Element *Q, const Element *K, float *S,
                                            const attention_shape &shape, int batch, int head,
                                            int query_tile) {
  extern __shared__ float4 shared_memory[];
  auto Q_smem = (float(*)[D + PAD]) shared_memory; // [BLOCK_M][..]
  auto K_smem = Q_smem + tile::BLOCK_M;            // [BLOCK_N][..]

  const int first_query = query_tile * tile::BLOCK_M;
  const int rows = min(tile::BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  Q += first_row * shape.head_dim;
  K += key_value_head(shape, batch, head) * shape.seq_kv * shape.head_dim;
  S += first_row * shape.seq_kv;

  // exercise: copy Q's tile; for each block of keys copy, multiply, store visible scores times scale; add two barriers
  load_tile<tile, tile::BLOCK_M, D>(Q_smem, Q, rows, shape.head_dim);
  for (int first_key = 0; first_key < keys; first_key += tile::BLOCK_N) {
    load_tile<tile, tile::BLOCK_N, D>(K_smem, K + (size_t)first_key * shape.head_dim,
                                      keys - first_key, shape.head_dim);
    __syncthreads(); // the tiles are complete

    float S_rmem[tile::ROWS][tile::LANE_KEYS] = {};
    multiply_scores<tile, D>(S_rmem, Q_smem, K_smem);
    for (int i = 0; i < tile::ROWS; i++) {
      const int row = threadIdx.x / COLUMN_THREADS + tile::ROW_THREADS * i;
      const int limit = row < rows ? visible_keys(shape, first_query + row) : 0;
      for (int j = 0; j < tile::LANE_KEYS; j++) {
        const int key = first_key + threadIdx.x % COLUMN_THREADS + COLUMN_THREADS * j;
        if (key < limit) S[(size_t)row * shape.seq_kv + key] = shape.scale * S_rmem[i][j];
      }
    }
    __syncthreads(); // all threads have read the tiles, so the next ones may overwrite them
  }
  // end of exercise
}

// Turns each row of the tile's scores into probabilities, in place, and keeps its log-sum-exp. A
// warp takes a row, so that its 32 lanes read neighbouring scores.
template <typename tile>
__device__ __forceinline__ void softmax_tile(float *S, float *lse, const attention_shape &shape,
                                             int batch, int head, int query_tile) {
  const int lane = threadIdx.x % 32;
  const int first_query = query_tile * tile::BLOCK_M;
  const int rows = min(tile::BLOCK_M, shape.seq_q - first_query);
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;

  for (int row = threadIdx.x / 32; row < rows; row += SOFTMAX_THREADS / 32) {
    float *s = S + (first_row + row) * shape.seq_kv;
    const int keys = visible_keys(shape, first_query + row);

    float row_max = -INFINITY;
    for (int key = lane; key < keys; key += 32) row_max = fmaxf(row_max, s[key]);
    for (int offset = 16; offset > 0; offset /= 2)
      row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffff, row_max, offset));

    float row_sum = 0.0f;
    for (int key = lane; key < keys; key += 32) {
      s[key] = expf(s[key] - row_max);
      row_sum += s[key];
    }
    for (int offset = 16; offset > 0; offset /= 2)
      row_sum += __shfl_xor_sync(0xffffffff, row_sum, offset);
    for (int key = lane; key < keys; key += 32) s[key] /= row_sum;

    if (lse && lane == 0) lse[first_row + row] = row_max + logf(row_sum);
  }
}

// O [query tile, head_dim] = P [query tile, seq_kv] V, one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void output_tile(const float *P, const Element *V, Element *O,
                                            const attention_shape &shape, int batch, int head,
                                            int query_tile) {
  extern __shared__ float4 shared_memory[];
  auto V_smem = (float(*)[D + PAD]) shared_memory;                       // [BLOCK_N][..]
  auto P_smem = (float(*)[tile::BLOCK_N + PAD])(V_smem + tile::BLOCK_N); // [BLOCK_M][..]

  const int first_query = query_tile * tile::BLOCK_M;
  const int rows = min(tile::BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1);
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  P += first_row * shape.seq_kv;
  V += key_value_head(shape, batch, head) * shape.seq_kv * shape.head_dim;
  O += first_row * shape.head_dim;

  float O_rmem[tile::ROWS][D / COLUMN_THREADS] = {};
  for (int first_key = 0; first_key < keys; first_key += tile::BLOCK_N) {
    load_tile<tile, tile::BLOCK_N, D>(V_smem, V + (size_t)first_key * shape.head_dim,
                                      keys - first_key, shape.head_dim);
    for (int i = threadIdx.x; i < tile::BLOCK_M * tile::BLOCK_N; i += tile::THREADS) {
      const int row = i / tile::BLOCK_N;
      const int key = first_key + i % tile::BLOCK_N;
      const int limit = row < rows ? visible_keys(shape, first_query + row) : 0;
      P_smem[row][i % tile::BLOCK_N] = key < limit ? P[(size_t)row * shape.seq_kv + key] : 0.0f;
    }
    __syncthreads(); // the tiles are complete

    accumulate_output<tile, D>(O_rmem, P_smem, V_smem);
    __syncthreads(); // all threads have read the tiles, so the next ones may overwrite them
  }

#pragma unroll // O_rmem stays in registers only if all its indices are constants
  for (int i = 0; i < tile::ROWS; i++) {
    const int row = threadIdx.x / COLUMN_THREADS + tile::ROW_THREADS * i;
    for (int j = 0; j < D / COLUMN_THREADS; j++) {
      const int d = j / 4 * 32 + threadIdx.x % COLUMN_THREADS * 4 + j % 4;
      if (row < rows && d < shape.head_dim)
        O[(size_t)row * shape.head_dim + d] = from_float<Element>(O_rmem[i][j]);
    }
  }
}

// One block for each (head, batch), which walks over all query tiles. Where the batch is longer
// than the grid may be in y, a block takes several entries.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void scores_kernel(const Element *Q, const Element *K, float *S, attention_shape shape) {
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  for (int batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    for (int query_tile = 0; query_tile < query_tiles; query_tile++)
      scores_tile<tile, Element, D>(Q, K, S, shape, batch, blockIdx.x, query_tile);
}

template <typename tile>
__launch_bounds__(SOFTMAX_THREADS, 1) __global__
    void softmax_kernel(float *S, float *lse, attention_shape shape) {
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  for (int batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    for (int query_tile = 0; query_tile < query_tiles; query_tile++)
      softmax_tile<tile>(S, lse, shape, batch, blockIdx.x, query_tile);
}

template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void output_kernel(const float *P, const Element *V, Element *O, attention_shape shape) {
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  for (int batch = blockIdx.y; batch < shape.batch; batch += gridDim.y)
    for (int query_tile = 0; query_tile < query_tiles; query_tile++)
      output_tile<tile, Element, D>(P, V, O, shape, batch, blockIdx.x, query_tile);
}

template <typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  using tile = configuration<64, 32, 4>;
  const attention_shape shape = args->shape;
  const dim3 grid(shape.heads, min(shape.batch, MAX_GRID_YZ));
  const size_t scores_smem = sizeof(float) * (tile::BLOCK_M + tile::BLOCK_N) * (D + PAD);
  const size_t output_smem =
      sizeof(float) * (tile::BLOCK_N * (D + PAD) + tile::BLOCK_M * (tile::BLOCK_N + PAD));
  float *S = (float *)args->workspace;

  cudaError_t error = allow_shared_memory(scores_kernel<tile, Element, D>, scores_smem);
  if (error != cudaSuccess) return error;
  scores_kernel<tile, Element, D><<<grid, tile::THREADS, scores_smem, stream>>>(
      (const Element *)args->q, (const Element *)args->k, S, shape);
  error = cudaGetLastError();
  if (error != cudaSuccess) return error;

  softmax_kernel<tile><<<grid, SOFTMAX_THREADS, 0, stream>>>(S, args->lse, shape);
  error = cudaGetLastError();
  if (error != cudaSuccess) return error;

  error = allow_shared_memory(output_kernel<tile, Element, D>, output_smem);
  if (error != cudaSuccess) return error;
  output_kernel<tile, Element, D><<<grid, tile::THREADS, output_smem, stream>>>(
      S, (const Element *)args->v, (Element *)args->o, shape);
  return cudaGetLastError();
}

const char *attention_name(void) { return "02_tiled"; }

const char *attention_summary(void) { return "tiles in shared memory and registers"; }

const char *attention_unsupported(const attention_shape *shape) {
  return shape->head_dim > 128 ? "head_dim is at most 128, in this step and in all others" : NULL;
}

size_t attention_workspace_bytes(const attention_shape *shape) { return score_matrix_bytes(shape); }

cudaError_t attention_forward(const attention_args *args, cudaStream_t stream) {
  return LAUNCH_FOR_SHAPE(launch, args, stream);
}
