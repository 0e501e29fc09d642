// 09_tile_order: the order in which the GPU takes the tiles.
// Needs: sm_80
//
// A GPU starts its blocks in the order of their numbers, in which x changes fastest, then y. Steps 03 to 08 number them
// by head, batch and query tile, so the first tiles of all batch entries come first. Here a block's number
// counts heads first, then query tiles from the last one to the first, then batch entries. That changes two
// things. Blocks that run at the same time belong to fewer batch entries, so the K and V that they read fit
// into the L2 cache. And with a causal mask the long tiles, which see the most keys, start first, so that
// short ones are left to fill the gaps at the end (longest processing time first).
//
//       causal, 4 tiles of one head       tile 0  #             last:  short tiles fill the gaps
//       # is one key block                tile 1  ##
//                                         tile 2  ###
//                                         tile 3  ####          first: the longest
//
// Cost for each head: as in step 08. Only the order differs.
// Look next at 10_tma, which leaves the copies to one thread.
#include "fragments.cuh"
#include "kernel.cuh"
#include "ptx.cuh"
#include <cuda_pipeline.h>

template <int M, int N, int W, int S>
struct configuration {
  static constexpr int BLOCK_M = M; // query rows of a tile
  static constexpr int BLOCK_N = N; // keys of a block
  static constexpr int WARPS = W;
  static constexpr int STAGES = S; // key blocks in shared memory at once
  static constexpr int THREADS = 32 * WARPS;
  static constexpr int WARP_ROWS = BLOCK_M / WARPS;
  static constexpr int ROW_FRAGMENTS = WARP_ROWS / 16; // of one warp
  static constexpr int LANE_ROWS = WARP_ROWS / 8;      // that a lane has a part of
  static constexpr int LANE_KEYS = BLOCK_N / 4;        // of one lane, in each of its rows
  static constexpr int MAX_DIM = 128;

  static_assert(WARP_ROWS % 16 == 0 && BLOCK_N % 16 == 0, "whole fragments");
};

// BLOCK_M, BLOCK_N, WARPS, STAGES.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 64, 4, 2)                                                                                 \
  X(128, 64, 8, 2)                                                                                 \
  X(64, 64, 4, 1)                                                                                  \
  X(64, 64, 4, 2)                                                                                  \
  X(64, 32, 4, 2)

// The best measured on an H200.
static const char *best_configuration(const attention_shape *) { return "128x64x4x2"; }

static constexpr int SMALLEST_DIM = 64;

// Blocks that a multiprocessor should hold at once. They leave a thread 255 registers.
template <typename tile, int D>
static constexpr int BLOCKS_PER_SM = 8 / tile::WARPS;

static constexpr int PIECE = 8; // elements, 16 bytes: the swizzle's unit, a row of an 8 x 8 matrix

// Where column d of row `row` lies in a [rows][D] tile, for d a multiple of PIECE. To move by k, a multiple
// of 16 columns, is an XOR as well: swizzled(row, d + k) == (swizzled(row, d) ^ k) for d below 16.
template <int D>
__device__ __forceinline__ int swizzled(int row, int d) {
  return row * D + (d / PIECE ^ row % 8) * PIECE;
}

// Starts to copy the first `rows` rows of a [rows, D] matrix to a [TILE_ROWS][D] tile. The rest of the tile
// repeats the last row, which is cheaper than zeros. It changes no result, because the mask makes the
// probabilities past the last key 0, and rows past the last query are not stored.
template <typename tile, int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(Element *smem, const Element *matrix, int rows) {
  constexpr int COPIED = tile::THREADS / (D / PIECE); // rows at once
  static_assert(TILE_ROWS % COPIED == 0 && COPIED % 8 == 0, "all copies of a thread swizzle alike");
  const int row = threadIdx.x / (D / PIECE);
  const int d = threadIdx.x % (D / PIECE) * PIECE;
  smem += swizzled<D>(row, d);
  if (rows >= TILE_ROWS) { // nearly always: the addresses of the copies differ by constants
    matrix += row * D + d;
#pragma unroll
    for (int i = 0; i < TILE_ROWS; i += COPIED)
      __pipeline_memcpy_async(&smem[i * D], &matrix[i * D], sizeof(uint4));
  } else {
#pragma unroll 1
    for (int i = 0; i < TILE_ROWS; i += COPIED)
      __pipeline_memcpy_async(&smem[i * D], &matrix[min(i + row, rows - 1) * D + d], sizeof(uint4));
  }
}

// S_frag [WARP_ROWS, BLOCK_N] += Q_smem [WARP_ROWS, D] K_smem^T [D, BLOCK_N].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
multiply_scores(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], const Element *Q_smem,
                const Element *K_smem) {
  const int lane = threadIdx.x % 32;
  const int Q_lane = swizzled<D>(lane % 16, lane / 16 * PIECE);
  const int K_lane = swizzled<D>(lane / 16 * 8 + lane % 8, lane / 8 % 2 * PIECE);
#pragma unroll(UNROLLED)
  for (int k = 0; k < D; k += 16) {
    unsigned Q_frag[tile::ROW_FRAGMENTS][4];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      load_matrices(Q_frag[i], &Q_smem[16 * i * D + (Q_lane ^ k)]);
    for (int n = 0; n < tile::BLOCK_N / 8; n += 2) {
      unsigned K_frag[4]; // two fragments of 8 keys
      load_matrices(K_frag, &K_smem[8 * n * D + (K_lane ^ k)]);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(&S_frag[i][4 * (n + m)], Q_frag[i], &K_frag[2 * m]);
    }
  }
}

// O_frag [WARP_ROWS, D] += P_frag [WARP_ROWS, BLOCK_N] V_smem [BLOCK_N, D].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 2],
                  const unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
                  const Element *V_smem) {
  const int lane = threadIdx.x % 32;
  const int V_lane = swizzled<D>(lane % 16, lane / 16 * PIECE);
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16) {
    for (int n = 0; n < D / 8; n += 2) {
      unsigned V_frag[4]; // two fragments of 8 columns
      load_matrices_transposed(V_frag, &V_smem[k * D + (V_lane ^ 8 * n)]);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(&O_frag[i][4 * (n + m)], &P_frag[i][k / 4], &V_frag[2 * m]);
    }
  }
}

// Returns the key of the block that the lane's score number n of a row belongs to: a lane has 2 of every 8 keys.
__device__ __forceinline__ int lane_key(int n) { return n / 2 * 8 + threadIdx.x % 4 * 2 + n % 2; }

// Sets the lane's scores of its row r to -infinity, from key number `limit` of the key block on.
template <typename tile>
__device__ __forceinline__ void mask_row(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                                         int r, int limit) {
  for (int n = 0; n < tile::LANE_KEYS; n++)
    if (lane_key(n) >= limit) of_row(S_frag, r, n) = -INFINITY;
}

// The online softmax of the lane's rows: its scores become probabilities in place. `correction` receives the
// factors that scale the sums of the blocks before to the new row max.
template <typename tile>
__device__ __forceinline__ void
softmax_rows(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
             float (&row_max)[tile::LANE_ROWS], float (&row_sum)[tile::LANE_ROWS],
             float (&correction)[tile::LANE_ROWS]) {
  float new_max[tile::LANE_ROWS];
  float subtracted[tile::LANE_ROWS]; // from the scores times scale_log2
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    new_max[r] = row_max[r];
    for (int n = 0; n < tile::LANE_KEYS; n++) new_max[r] = fmaxf(new_max[r], of_row(S_frag, r, n));
    new_max[r] = max_over_lanes<1, 4>(new_max[r]);
    subtracted[r] = __fmul_rn(new_max[r], scale_log2);
    // Both products are rounded, so that the factor is exactly 1 as long as the max stays.
    correction[r] = exp2_approximate(__fmul_rn(row_max[r], scale_log2) - subtracted[r]);
  }
  subtract_large_max(S_frag, scale_log2, row_max, new_max, subtracted, correction); // rare
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    row_max[r] = new_max[r];
    row_sum[r] *= correction[r];
    for (int n = 0; n < tile::LANE_KEYS; n++) {
      float &s = of_row(S_frag, r, n);
      s = exp2_approximate(fmaf(s, scale_log2, -subtracted[r])); // one multiply-add
      row_sum[r] += s;
    }
  }
}

// Rounds probabilities to 16 bits: two neighbouring columns of S, rounded, are one register of P.
template <typename Element, int COUNT>
__device__ __forceinline__ void round_probabilities(unsigned *P_frag,
                                                    const float (&S_frag)[COUNT]) {
  for (int i = 0; i < COUNT / 2; i++)
    P_frag[i] = pack_pair<Element>(S_frag[2 * i], S_frag[2 * i + 1]);
}

// Multiplies the lane's two rows of O by their factors.
template <int COUNT>
__device__ __forceinline__ void scale_output(float (&O_frag)[COUNT], const float *factor) {
  for (int i = 0; i < COUNT; i++) O_frag[i] *= factor[i / 2 % 2];
}

// Bytes of shared memory: Q, and the rings of K and V.
template <typename tile, int D>
static constexpr size_t SHARED_BYTES = sizeof(half) *
                                       (tile::BLOCK_M + 2 * tile::STAGES * tile::BLOCK_N) * D;

// Computes O [query tile, head_dim] and lse [query tile], one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void attention_tile(const Element *Q, const Element *K, const Element *V,
                                               Element *O, float *lse, const attention_shape &shape,
                                               int batch, int head, int query_tile) {
  extern __shared__ __align__(32) float4 shared_memory[];
  auto K_smem = (Element *)shared_memory;                  // [STAGES * BLOCK_N][D]
  auto V_smem = K_smem + tile::STAGES * tile::BLOCK_N * D; // [STAGES * BLOCK_N][D]
  auto Q_smem = V_smem + tile::STAGES * tile::BLOCK_N * D; // [BLOCK_M][D]

  const int first_query = query_tile * tile::BLOCK_M;
  const int rows = min(tile::BLOCK_M, shape.seq_q - first_query);
  const int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  const size_t first_kv_row = key_value_head(shape, batch, head) * shape.seq_kv;
  Q += first_row * shape.head_dim;
  K += first_kv_row * shape.head_dim;
  V += first_kv_row * shape.head_dim;
  O += first_row * shape.head_dim;

  // The lane has a part of rows lane_row + 8 r of the tile: half r % 2 of row fragment r / 2.
  const int warp_row = threadIdx.x / 32 * tile::WARP_ROWS;
  const int lane_row = warp_row + threadIdx.x % 32 / 4;
  const float scale_log2 =
      shape.scale * LOG2_E;       // exp(x) = exp2(x * log2(e)) saves a multiplication
  float row_max[tile::LANE_ROWS]; // before scaling, the same in all lanes of the row
  for (int r = 0; r < tile::LANE_ROWS; r++) row_max[r] = -INFINITY;
  float row_sum[tile::LANE_ROWS] = {}; // over the lane's own keys
  float O_frag[tile::ROW_FRAGMENTS][D / 2] = {};

  // Starts the copies of a key block into its stage, as one group. Past the last block the group is empty, so
  // that the number of groups still tells which block has arrived.
  const auto load_block = [&](int block) {
    const int first_key = block * tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N;
    const size_t offset = (size_t)first_key * shape.head_dim;
    if (first_key < keys) {
      load_tile<tile, tile::BLOCK_N, D>(K_smem + first_smem * D, K + offset, keys - first_key);
      load_tile<tile, tile::BLOCK_N, D>(V_smem + first_smem * D, V + offset, keys - first_key);
    }
    __pipeline_commit();
  };
  load_tile<tile, tile::BLOCK_M, D>(Q_smem, Q, rows);
  __pipeline_commit();
  for (int block = 0; block < tile::STAGES - 1; block++) load_block(block);
  __pipeline_wait_prior(tile::STAGES - 1); // this thread's copies of Q, the oldest group, are there
  __syncthreads();                         // and those of all other threads as well

  for (int first_key = 0; first_key < keys; first_key += tile::BLOCK_N) {
    const int block = first_key / tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N;
    if (tile::STAGES > 1) __pipeline_wait_prior(max(tile::STAGES - 2, 0)); // own copies are there
    __syncthreads(); // all threads see the block, and have read the stage that is filled next
    load_block(block + tile::STAGES - 1);
    if (tile::STAGES == 1) __pipeline_wait_prior(0);
    if (tile::STAGES == 1) __syncthreads(); // with one stage, the block arrives only here

    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const bool masked = visible_keys(shape, first_query) < first_key + tile::BLOCK_N;
    float S_frag[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS] = {};
    unsigned P_frag[tile::ROW_FRAGMENTS][tile::LANE_KEYS];
    multiply_scores<tile, D>(S_frag, Q_smem + warp_row * D, K_smem + first_smem * D);
    if (masked)
      for (int r = 0; r < tile::LANE_ROWS; r++)
        mask_row<tile>(S_frag, r, visible_keys(shape, first_query + lane_row + 8 * r) - first_key);
    float correction[tile::LANE_ROWS];
    softmax_rows<tile>(S_frag, scale_log2, row_max, row_sum, correction);
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
      // If all factors of these 16 rows are 1, their O stays. To ask costs a branch, and pays where O is large.
      const bool corrected = correction[2 * i] != 1.0f || correction[2 * i + 1] != 1.0f;
      if (D < 128 || __any_sync(0xffffffff, corrected)) scale_output(O_frag[i], &correction[2 * i]);
      round_probabilities<Element>(P_frag[i], S_frag[i]);
    }
    accumulate_output<tile, D>(O_frag, P_frag, V_smem + first_smem * D);
  }

#pragma unroll
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    const int row = lane_row + 8 * r;
    const float sum = sum_over_lanes<1, 4>(row_sum[r]);
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key gives 0
    if (lse && row < rows && threadIdx.x % 4 == 0)
      lse[first_row + row] = (row_max[r] * scale_log2 + log2f(sum)) * LN_2;
    store_row<D>(O, row, O_frag[r / 2], r % 2, factor, row < rows);
  }
  __syncthreads(); // all threads have read the tiles, so the next query tile may overwrite them
}

// One block for each (head, query tile, batch). The tiles of a batch entry come together, so that its K and V
// stay in the L2 cache. The last tiles come first, because they take longest with a causal mask. Where there are more
// tiles or batch entries than the grid may have in y or z, a block takes several.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, attention_shape shape) {
  shape.head_dim = D; // this step takes no other: now the compiler knows it, too
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  // exercise: loop over the block's batch entries and query tiles, in their new dimensions and order
  for (int batch = blockIdx.z; batch < shape.batch; batch += gridDim.z)
    for (int before = blockIdx.y; before < query_tiles; before += gridDim.y)
      attention_tile<tile, Element, D>(Q, K, V, O, lse, shape, batch, blockIdx.x,
                                       query_tiles - 1 - before);
  // end of exercise
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  // exercise: make the grid: as many blocks in x, y and z as the order above asks for, at most MAX_GRID_YZ in y and z
  // until then: const dim3 grid(1, 1, 1);
  const dim3 grid(shape.heads, min(divide_up(shape.seq_q, tile::BLOCK_M), MAX_GRID_YZ),
                  min(shape.batch, MAX_GRID_YZ));
  // end of exercise
  cudaError_t error =
      allow_shared_memory(attention_kernel<tile, Element, D>, SHARED_BYTES<tile, D>);
  if (error != cudaSuccess) return error;
  attention_kernel<tile, Element, D><<<grid, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(
      (const Element *)args->q, (const Element *)args->k, (const Element *)args->v,
      (Element *)args->o, args->lse, shape);
  return cudaGetLastError();
}

const char *attention_name(void) { return "09_tile_order"; }

const char *attention_summary(void) { return "batch by batch, the longest causal tiles first"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
