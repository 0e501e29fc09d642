// 18_split_kv: the keys are split among blocks, which leave partial results, and a second kernel merges them.
// Needs: sm_80
// After: 09_tile_order
//
// A language model that writes asks one query, or a few, of each head against thousands of keys. Step 09 has a
// block for each query tile, which is one for each head here, so most multiprocessors have nothing to do. Now the keys
// are divided in the grid as well. Each block takes one split of the keys of its tile, and stores for each row
// the sum of P V, the row max and the row sum, all in float32. The online softmax scales such a sum to a new row max
// from one key block to the next. The same formula merges the sums of the splits, in any order, so a second kernel
// does it.
//
//                keys   0 ........ 1023 ........ 2047 ........ 3071 ........ 4095
//       step 09         | one block                                            | -> O, lse
//       splits = 4      | block 0    | block 1     | block 2     | block 3     |
//                         O max sum    O max sum     O max sum     O max sum
//                               merge_kernel: one block for each row             -> O, lse
//
// Cost for each head: K and V are read once for each query tile, as in step 09. A split adds 4 (head_dim + 2) bytes for
// each row, which are written and read again, and all splits together add the launch of a second kernel.
// Look next at 19_packed_heads, which reads K and V once for all heads that share them.
#include "fragments.cuh"
#include "kernel.cuh"
#include "ptx.cuh"
#include "splits.cuh"
#include "swizzle.cuh"
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
  // Groups of 16 columns of Q and K that are multiplied at once; in tiles of 128 rows more would make registers spill.
  static constexpr int UNROLLED = BLOCK_M > 64 ? 4 : 8;

  static_assert(WARP_ROWS % 16 == 0 && BLOCK_N % 16 == 0, "whole fragments");
};

// BLOCK_M, BLOCK_N, WARPS, STAGES.
#define CONFIGURATIONS(X)                                                                          \
  X(128, 64, 4, 2)                                                                                 \
  X(128, 64, 8, 2)                                                                                 \
  X(64, 64, 4, 1)                                                                                  \
  X(64, 64, 4, 2)                                                                                  \
  X(64, 32, 4, 2)

// A tile of 64 rows wastes fewer of them where there are few queries. Other problems take the tile of step 09.
static const char *best_configuration(const attention_shape *shape) {
  return shape->seq_q <= 64 ? "64x64x4x2" : "128x64x4x2";
}

static constexpr int SMALLEST_DIM = 64;

// Blocks that a multiprocessor should hold at once. They leave a thread 255 registers.
template <typename tile, int D>
static constexpr int BLOCKS_PER_SM = 8 / tile::WARPS;

// S_frag [WARP_ROWS, BLOCK_N] += Q_smem [WARP_ROWS, D] K_smem^T [D, BLOCK_N].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
multiply_scores(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], const Element *Q_smem,
                const Element *K_smem) {
  const int lane = threadIdx.x % 32;
  const int Q_lane = swizzled<D>(lane % 16, lane / 16 * PIECE);
  const int K_lane = swizzled<D>(lane / 16 * 8 + lane % 8, lane / 8 % 2 * PIECE);
#pragma unroll(tile::UNROLLED)
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

// The query tiles of all heads, as a double: an int may be too small.
template <typename tile>
static double tiles_of(const attention_shape &shape) {
  return (double)divide_up(shape.seq_q, tile::BLOCK_M) * shape.heads * shape.batch;
}

// Returns into how many splits the keys are divided: as many as --splits says. Else all tiles together have at most as
// many splits as blocks can run at once, or one each. A partial row, written once and read once, has as many bytes as
// two keys. So a split should have a key block, and two keys for each query of its tile. The last division rounds up.
template <typename tile, int D>
static int splits_of(const attention_shape &shape) {
  if (chosen_splits > 0) return chosen_splits;
  // exercise: return the number of splits, which follows from the number of tiles, of multiprocessors and of keys
  // until then: return 1;
  const int at_once = BLOCKS_PER_SM<tile, D> * gpu_attribute(cudaDevAttrMultiProcessorCount);
  const int fewest_keys = max(tile::BLOCK_N, 2 * min(tile::BLOCK_M, shape.seq_q));
  return max(1, min((int)(at_once / tiles_of<tile>(shape)), divide_up(shape.seq_kv, fewest_keys)));
  // end of exercise
}

// Adds the sums over other keys to those in `a`, both scaled to the larger row max, as the online softmax does.
__device__ __forceinline__ void merge(partial_row &a, float2 max_sum, float4 O, float scale_log2) {
  // exercise: find the new row max, scale both sums to it and add them up; rescaling_factor is in fragments.cuh
  const float new_max = fmaxf(a.max_sum.x, max_sum.x);
  const float a_factor = rescaling_factor(a.max_sum.x, new_max, scale_log2);
  const float factor = rescaling_factor(max_sum.x, new_max, scale_log2);
  a.max_sum = make_float2(new_max, a.max_sum.y * a_factor + max_sum.y * factor);
  a.O = make_float4(a.O.x * a_factor + O.x * factor, a.O.y * a_factor + O.y * factor,
                    a.O.z * a_factor + O.z * factor, a.O.w * a_factor + O.w * factor);
  // end of exercise
}

// Computes O and lse of a query tile, or the partial results of one split of its keys, one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void
attention_tile(const Element *Q, const Element *K, const Element *V, Element *O, float *lse,
               const partial_results &partials, const attention_shape &shape, int batch, int head,
               int query_tile, int split) {
  extern __shared__ __align__(32) float4 shared_memory[];
  auto K_smem = (Element *)shared_memory;                  // [STAGES * BLOCK_N][D]
  auto V_smem = K_smem + tile::STAGES * tile::BLOCK_N * D; // [STAGES * BLOCK_N][D]
  auto Q_smem = V_smem + tile::STAGES * tile::BLOCK_N * D; // [BLOCK_M][D]

  const int first_query = query_tile * tile::BLOCK_M;
  const int rows = min(tile::BLOCK_M, shape.seq_q - first_query);
  int keys = visible_keys(shape, first_query + rows - 1); // the last row sees the most
  // exercise: find the first of the split's key blocks; let `keys` end where its last one ends, if that is earlier
  // until then: const int first_block = 0;
  const long long blocks = (keys + tile::BLOCK_N - 1) / tile::BLOCK_N;
  const int first_block = (int)(blocks * split / partials.splits);
  keys = min(keys, (int)(blocks * (split + 1) / partials.splits) * tile::BLOCK_N);
  // end of exercise
  const size_t first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + first_query;
  const size_t first_kv_row = key_value_head(shape, batch, head) * shape.seq_kv;
  Q += first_row * shape.head_dim;
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
    const size_t offset = (first_kv_row + first_key) * shape.head_dim;
    if (first_key < keys) {
      load_tile<tile, tile::BLOCK_N, D>(K_smem + first_smem * D, K + offset, keys - first_key);
      load_tile<tile, tile::BLOCK_N, D>(V_smem + first_smem * D, V + offset, keys - first_key);
    }
    __pipeline_commit();
  };
  load_tile<tile, tile::BLOCK_M, D>(Q_smem, Q, rows);
  __pipeline_commit();
  for (int block = 0; block < tile::STAGES - 1; block++) load_block(first_block + block);
  __pipeline_wait_prior(tile::STAGES - 1); // this thread's copies of Q, the oldest group, are there
  __syncthreads();                         // and those of all other threads as well

  for (int first_key = first_block * tile::BLOCK_N; first_key < keys; first_key += tile::BLOCK_N) {
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
    // exercise: if there are several splits, store the partial row of O, its max and its sum, and no more
    if (partials.splits > 1) {
      const size_t to = split * partials.rows + first_row + row;
      store_partial_row<D>(partials.O, to, O_frag[r / 2], r % 2, row < rows);
      if (row < rows && threadIdx.x % 4 == 0) partials.max_sum[to] = make_float2(row_max[r], sum);
      continue;
    }
    // end of exercise
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key gives 0
    if (lse && row < rows && threadIdx.x % 4 == 0)
      lse[first_row + row] = (row_max[r] * scale_log2 + log2f(sum)) * LN_2;
    store_row<D>(O, row, O_frag[r / 2], r % 2, factor, row < rows);
  }
}

// One block for each (head, split, query tile, batch), all in x. The heads of a split have neighbouring numbers, so
// that those which share K and V read them at the same time. Tiles and batch entries come in the order of step 09.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, partial_results partials, attention_shape shape) {
  shape.head_dim = D; // this step takes no other: now the compiler knows it, too
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  const int head = blockIdx.x % shape.heads;
  const int split = blockIdx.x / shape.heads % partials.splits;
  const int number = blockIdx.x / shape.heads / partials.splits; // of the tile in the batch
  attention_tile<tile, Element, D>(Q, K, V, O, lse, partials, shape, number / query_tiles, head,
                                   query_tiles - 1 - number % query_tiles, split);
}

static constexpr int MERGE_THREADS = 128;

// One block for each row of O. D / 4 threads, a group, hold a row, and the groups share the splits. The order of all
// additions is fixed, so the result is the same from launch to launch.
template <typename Element, int D>
__launch_bounds__(MERGE_THREADS) __global__
    void merge_kernel(partial_results partials, Element *O, float *lse, float scale_log2) {
  __shared__ float4 O_smem[MERGE_THREADS];
  __shared__ float2 max_sum_smem[MERGE_THREADS];
  const size_t row = blockIdx.x;
  const int d = threadIdx.x % (D / 4) * 4;
  partial_row sums;
#pragma unroll 4
  for (int split = threadIdx.x / (D / 4); split < partials.splits;
       split += MERGE_THREADS / (D / 4)) {
    const size_t from = split * partials.rows + row;
    merge(sums, partials.max_sum[from], *(float4 *)&partials.O[from * D + d], scale_log2);
  }
  O_smem[threadIdx.x] = sums.O;
  max_sum_smem[threadIdx.x] = sums.max_sum;
  __syncthreads(); // the sums of all groups are there
  if (threadIdx.x >= D / 4) return;
  for (int other = threadIdx.x + D / 4; other < MERGE_THREADS; other += D / 4)
    merge(sums, max_sum_smem[other], O_smem[other], scale_log2);
  store_merged<D>(sums, O, lse, row, d, scale_log2);
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const size_t rows = (size_t)shape.batch * shape.heads * shape.seq_q;
  const partial_results partials = partials_at(args->workspace, rows, splits_of<tile, D>(shape), D);
  const double blocks = tiles_of<tile>(shape) * partials.splits;
  if (blocks > INT_MAX) return cudaErrorInvalidValue; // --splits asks for more than a grid holds
  cudaError_t error =
      allow_shared_memory(attention_kernel<tile, Element, D>, SHARED_BYTES<tile, D>);
  if (error != cudaSuccess) return error;
  attention_kernel<tile, Element, D><<<(int)blocks, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(
      (const Element *)args->q, (const Element *)args->k, (const Element *)args->v,
      (Element *)args->o, args->lse, partials, shape);
  // Both kernels are on one stream. So the second one begins when all blocks of the first one have ended, and sees all
  // partial rows.
  if (partials.splits > 1)
    merge_kernel<Element, D><<<(unsigned)rows, MERGE_THREADS, 0, stream>>>(
        partials, (Element *)args->o, args->lse, shape.scale * LOG2_E);
  return cudaGetLastError();
}

// All rows have a partial result for each split. If there is one split, they need none.
template <typename tile, int D>
static size_t workspace_bytes(const attention_shape &shape) {
  const int splits = splits_of<tile, D>(shape);
  return splits == 1 ? 0
                     : partial_bytes((double)shape.batch * shape.heads * shape.seq_q, splits, D);
}

const char *attention_name(void) { return "18_split_kv"; }

const char *attention_summary(void) { return "keys split among blocks, a second kernel merges"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
