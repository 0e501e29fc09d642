// 04_online_softmax: one kernel, no score matrix.
//
// A block walks once over the keys of its query tile and keeps, for every row, the largest score so
// far and the sum of exp(score - row max) so far. When a key block raises the row max, what has been
// summed is scaled down to the new one; so the softmax is exact at the end though no row of scores
// was ever complete. Scores and probabilities live in registers and shared memory only.
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
// Memory beyond the tensors: none. The arithmetic now waits for nothing but itself.
// Look next at 05_wmma, which gives the two products to the tensor cores.
#include "kernel.cuh"

static constexpr int BLOCK_M = 64;       // query rows of a tile
static constexpr int BLOCK_N = 32;       // keys of a block
static constexpr int ROW_THREADS = 16;   // a thread owns BLOCK_M / ROW_THREADS rows
static constexpr int COLUMN_THREADS = 8; // and BLOCK_N / COLUMN_THREADS keys
static constexpr int THREADS = ROW_THREADS * COLUMN_THREADS;
static constexpr int ROWS = BLOCK_M / ROW_THREADS;    // of one thread
static constexpr int KEYS = BLOCK_N / COLUMN_THREADS; // of one thread
// Blocks that a multiprocessor should hold at once, so that one computes while another waits. Its
// 65,536 registers then leave a thread 65536 / (4 * 128) = 128, or 255 where D asks for more.
template <int D>
static constexpr int BLOCKS_PER_SM = D <= 64 ? 4 : 2;

// Rows of shared memory are read 16 bytes at a time, 8 rows at once. With 4 floats (16 bytes) of
// padding, row r starts at bank 4 * (r * (D + 4) / 4 mod 8), and as (D + 4) / 4 is odd, 8 rows in
// turn start in 8 different groups of 4 banks: no conflict. And 16 bytes keep every row aligned.
static constexpr int PAD = 4;

static_assert(BLOCK_M % ROW_THREADS == 0 && BLOCK_N % COLUMN_THREADS == 0, "tiles divide evenly");
static_assert(BLOCK_N % 4 == 0, "probabilities are read 4 keys at a time");
static_assert(THREADS % 32 == 0, "a block is made of whole warps");
static_assert(32 % COLUMN_THREADS == 0, "the threads of a row are lanes of one warp");
static_assert((BLOCK_N + PAD) / 4 % 2 == 1, "rows of P spread over the banks");

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
__device__ __forceinline__ void load_tile(float (*tile)[D + PAD], const Element *matrix, int rows,
                                          int head_dim) {
  static_assert(TILE_ROWS * D % THREADS == 0, "every thread copies the same number of elements");
  for (int i = threadIdx.x; i < TILE_ROWS * D; i += THREADS) {
    const int row = i / D;
    const int d = i % D;
    const bool inside = row < rows && d < head_dim;
    tile[row][d] = inside ? to_float(matrix[(size_t)row * head_dim + d]) : 0.0f;
  }
}

__device__ __forceinline__ float dot(float4 a, float4 b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

// S_rmem[ROWS][KEYS] = Q_smem [BLOCK_M, D] K_smem^T [D, BLOCK_N], the thread's part.
template <int D>
__device__ __forceinline__ void multiply_scores(float (&S_rmem)[ROWS][KEYS],
                                                const float (*Q_smem)[D + PAD],
                                                const float (*K_smem)[D + PAD]) {
  const int row_thread = threadIdx.x / COLUMN_THREADS;
  const int column_thread = threadIdx.x % COLUMN_THREADS;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < KEYS; j++) S_rmem[i][j] = 0.0f;

#pragma unroll 4
  for (int d = 0; d < D; d += 4) {
    float4 q[ROWS], k[KEYS];
    for (int i = 0; i < ROWS; i++) q[i] = *(const float4 *)&Q_smem[row_thread + ROW_THREADS * i][d];
    for (int j = 0; j < KEYS; j++)
      k[j] = *(const float4 *)&K_smem[column_thread + COLUMN_THREADS * j][d];
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < KEYS; j++) S_rmem[i][j] = dot(q[i], k[j], S_rmem[i][j]);
  }
}

// O_rmem[ROWS][D / 8] += P_smem [BLOCK_M, BLOCK_N] V_smem [BLOCK_N, D], the thread's part.
template <int D>
__device__ __forceinline__ void accumulate_output(float (&O_rmem)[ROWS][D / COLUMN_THREADS],
                                                  const float (*P_smem)[BLOCK_N + PAD],
                                                  const float (*V_smem)[D + PAD]) {
  const int row_thread = threadIdx.x / COLUMN_THREADS;
  const int column_thread = threadIdx.x % COLUMN_THREADS;

#pragma unroll 2
  for (int key = 0; key < BLOCK_N; key += 4) {
    float4 p[ROWS];
    for (int i = 0; i < ROWS; i++)
      p[i] = *(const float4 *)&P_smem[row_thread + ROW_THREADS * i][key];
    for (int j = 0; j < D / 32; j++) {
      const int column = 32 * j + 4 * column_thread;
      float4 v[4];
      for (int n = 0; n < 4; n++) v[n] = *(const float4 *)&V_smem[key + n][column];
      for (int i = 0; i < ROWS; i++) {
        float *o = &O_rmem[i][4 * j];
        o[0] = dot(p[i], make_float4(v[0].x, v[1].x, v[2].x, v[3].x), o[0]);
        o[1] = dot(p[i], make_float4(v[0].y, v[1].y, v[2].y, v[3].y), o[1]);
        o[2] = dot(p[i], make_float4(v[0].z, v[1].z, v[2].z, v[3].z), o[2]);
        o[3] = dot(p[i], make_float4(v[0].w, v[1].w, v[2].w, v[3].w), o[3]);
      }
    }
  }
}

// Largest value, and sum, over the COLUMN_THREADS neighbouring lanes that share a row.
__device__ __forceinline__ float row_reduce_max(float value) {
  for (int offset = COLUMN_THREADS / 2; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
  return value;
}

__device__ __forceinline__ float row_reduce_sum(float value) {
  for (int offset = COLUMN_THREADS / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffff, value, offset);
  return value;
}

// O [query tile, head_dim] and lse [query tile], one key block after the other.
template <typename Element, int D>
__device__ __forceinline__ void attention_tile(const Element *Q, const Element *K, const Element *V,
                                               Element *O, float *lse, const attention_shape &shape,
                                               int batch, int head, int query_tile) {
  extern __shared__ float4 shared_memory[];
  float(*Q_smem)[D + PAD] = (float(*)[D + PAD]) shared_memory;                 // [BLOCK_M][..]
  float(*K_smem)[D + PAD] = Q_smem + BLOCK_M;                                  // [BLOCK_N][..]
  float(*V_smem)[D + PAD] = K_smem + BLOCK_N;                                  // [BLOCK_N][..]
  float(*P_smem)[BLOCK_N + PAD] = (float(*)[BLOCK_N + PAD])(V_smem + BLOCK_N); // [BLOCK_M][..]

  const int first_query = query_tile * BLOCK_M;
  const int rows = min(BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  const size_t first_kv_row = key_value_head(shape, batch, head) * shape.seq_kv;
  Q += first_row * shape.head_dim;
  K += first_kv_row * shape.head_dim;
  V += first_kv_row * shape.head_dim;
  O += first_row * shape.head_dim;

  const int row_thread = threadIdx.x / COLUMN_THREADS;
  const int column_thread = threadIdx.x % COLUMN_THREADS;
  const float scale_log2 = shape.scale * LOG2_E; // exp(x) = exp2(x * log2(e)): one multiply less

  float O_rmem[ROWS][D / COLUMN_THREADS] = {};
  float row_max[ROWS]; // in units of log2, the same in all threads of the row
  float row_sum[ROWS]; // over the thread's own keys
  for (int i = 0; i < ROWS; i++) {
    row_max[i] = -INFINITY;
    row_sum[i] = 0.0f;
  }

  load_tile<BLOCK_M, D>(Q_smem, Q, rows, shape.head_dim);
  for (int first_key = 0; first_key < keys; first_key += BLOCK_N) {
    const size_t offset = (size_t)first_key * shape.head_dim;
    load_tile<BLOCK_N, D>(K_smem, K + offset, keys - first_key, shape.head_dim);
    load_tile<BLOCK_N, D>(V_smem, V + offset, keys - first_key, shape.head_dim);
    __syncthreads(); // the tiles are complete

    float S_rmem[ROWS][KEYS];
    multiply_scores<D>(S_rmem, Q_smem, K_smem);
    for (int i = 0; i < ROWS; i++) {
      const int row = row_thread + ROW_THREADS * i;
      const int limit = row < rows ? visible_keys(shape, first_query + row) - first_key : 0;
      float new_max = row_max[i];
      // exercise: scores in units of log2, -infinity where masked; the whole row's new_max
      for (int j = 0; j < KEYS; j++) {
        const int key = column_thread + COLUMN_THREADS * j;
        S_rmem[i][j] = key < limit ? S_rmem[i][j] * scale_log2 : -INFINITY;
        new_max = fmaxf(new_max, S_rmem[i][j]);
      }
      new_max = row_reduce_max(new_max);
      // end of exercise
      // A row that has seen no key yet keeps 0 in place of -infinity: -inf - -inf is not a number.
      const float subtracted = new_max == -INFINITY ? 0.0f : new_max;

      // exercise: bring what was summed before to the new row max
      const float correction = exp2f(row_max[i] - subtracted);
      row_max[i] = new_max;
      row_sum[i] *= correction;
      for (int j = 0; j < D / COLUMN_THREADS; j++) O_rmem[i][j] *= correction;
      // end of exercise
      // exercise: the thread's probabilities, into row_sum[i] and to P_smem for the warp
      for (int j = 0; j < KEYS; j++) {
        const float p = exp2f(S_rmem[i][j] - subtracted);
        row_sum[i] += p;
        P_smem[row][column_thread + COLUMN_THREADS * j] = p;
      }
      // end of exercise
    }
    __syncwarp(); // a warp reads only the rows of P that its own lanes have written

    accumulate_output<D>(O_rmem, P_smem, V_smem);
    __syncthreads(); // nobody reads the tiles any more: the next may overwrite them
  }

  for (int i = 0; i < ROWS; i++) {
    const int row = row_thread + ROW_THREADS * i;
    const float sum = row_reduce_sum(row_sum[i]);
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that saw no key gives 0
    for (int j = 0; j < D / COLUMN_THREADS; j++) {
      const int d = j / 4 * 32 + column_thread * 4 + j % 4;
      if (row < rows && d < shape.head_dim)
        O[(size_t)row * shape.head_dim + d] = from_float<Element>(O_rmem[i][j] * inverse);
    }
    if (lse && row < rows && column_thread == 0)
      lse[first_row + row] = (row_max[i] + log2f(sum)) * LN_2;
  }
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
      sizeof(float) * ((BLOCK_M + 2 * BLOCK_N) * (D + PAD) + BLOCK_M * (BLOCK_N + PAD));

  cudaError_t error = allow_shared_memory(attention_kernel<Element, D>, smem);
  if (error != cudaSuccess) return error;
  attention_kernel<Element, D><<<grid, THREADS, smem, stream>>>(
      (const Element *)args->q, (const Element *)args->k, (const Element *)args->v,
      (Element *)args->o, args->lse, shape);
  return cudaGetLastError();
}

const char *attention_name(void) { return "04_online_softmax"; }

const char *attention_summary(void) { return "one fused kernel, running row max and sum"; }

const char *attention_unsupported(const attention_shape *shape) {
  return shape->head_dim > 128 ? "head_dim is at most 128, in this step and in all others" : NULL;
}

size_t attention_workspace_bytes(const attention_shape *) { return 0; }

cudaError_t attention_forward(const attention_args *args, cudaStream_t stream) {
  return LAUNCH_FOR_SHAPE(launch, args, stream);
}
