// 19_packed_heads: the rows of a tile are the query heads that share K and V, so these are read once for all of them.
// Needs: sm_80
// After: 18_split_kv
//
// With grouped-query attention `heads / kv_heads` query heads, a group, read the same K and V. Step 18 has a block for
// each of them, and a tile of 64 rows, of which one is a query. Here a tile belongs to a key/value head, and its rows
// are all queries of all heads of the group. The heads of one query come first, so with a causal mask the rows of a
// tile see nearly the same keys:
//
//       tile of key/value head 0, group 4, 3 queries      row 0  head 0, query 0
//                                                         row 1  head 1, query 0
//       row = 4 query + head                              row 2  head 2, query 0
//       query = row / 4                                   row 3  head 3, query 0
//       head = row % 4                                    row 4  head 0, query 1 ...
//
// Now a tile need not be taller than its rows. One of 16 rows has work for one warp, so the warps of a block share its
// keys, and each multiplies all rows with its own 16 keys of a key block. They merge their sums in shared memory by the
// formula of the splits.
//
// Cost for each key/value head: as in step 18 for one head that has the queries of all heads of the group.
// Look next at 20_one_kernel, which keeps all multiprocessors reading until the end.
#include "fragments.cuh"
#include "kernel.cuh"
#include "ptx.cuh"
#include "split_kv.cuh"
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
  static constexpr int WARP_ROWS = BLOCK_M > 32 ? BLOCK_M / WARPS : BLOCK_M;
  static constexpr int KEY_WARPS = WARPS / (BLOCK_M / WARP_ROWS); // that share the keys of a block
  static constexpr int WARP_KEYS = BLOCK_N / KEY_WARPS;
  static constexpr int ROW_FRAGMENTS = WARP_ROWS / 16; // of one warp
  static constexpr int LANE_ROWS = WARP_ROWS / 8;      // that a lane has a part of
  static constexpr int LANE_KEYS = WARP_KEYS / 4;      // of one lane, in each of its rows
  static constexpr int MAX_DIM = 128;
  // Groups of 16 columns of Q and K that are multiplied at once; in tiles of 128 rows more would make registers spill.
  static constexpr int UNROLLED = BLOCK_M > 64 ? 4 : 8;

  static_assert(WARP_ROWS % 16 == 0 && WARP_KEYS % 16 == 0, "whole fragments");
  static_assert(STAGES > 1, "one stage is read while another one is filled");
};

// BLOCK_M, BLOCK_N, WARPS, STAGES.
#define CONFIGURATIONS(X)                                                                          \
  X(16, 64, 4, 2)                                                                                  \
  X(16, 64, 4, 3)                                                                                  \
  X(64, 64, 4, 2)                                                                                  \
  X(128, 64, 4, 2)

// The smallest tile that holds all rows of a group, else the tile of step 09.
static const char *best_configuration(const attention_shape *shape) {
  const int rows = packed_rows(*shape);
  return rows <= 16 ? "16x64x4x2" : rows <= 64 ? "64x64x4x2" : "128x64x4x2";
}

static constexpr int SMALLEST_DIM = 64;

// Blocks that a multiprocessor should hold at once. They leave a thread 255 registers.
template <typename tile, int D>
static constexpr int BLOCKS_PER_SM = 8 / tile::WARPS;

// Starts to copy the rows `first` to `end` - 1 of a group to a [BLOCK_M][D] tile. row_of(i) tells which row of Q is
// row i of the group. The rest of the tile repeats the last row, as in load_tile.
template <typename tile, int D, typename Element, typename Row>
__device__ __forceinline__ void load_queries(Element *smem, const Element *Q, int first, int end,
                                             const Row &row_of) {
  const int d = threadIdx.x % (D / PIECE) * PIECE;
#pragma unroll 1
  for (int i = threadIdx.x / (D / PIECE); i < tile::BLOCK_M; i += tile::THREADS / (D / PIECE))
    __pipeline_memcpy_async(&smem[swizzled<D>(i, d)], &Q[row_of(min(first + i, end - 1)) * D + d],
                            sizeof(uint4));
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

// Bytes of shared memory: Q and the rings of K and V, or the sums of warps that share the keys, which come in their
// place, D + 10 floats for each row. In these tiles the sums are fewer bytes. In step 20 they are more in one tile.
template <typename tile, int D>
static constexpr size_t
    SHARED_BYTES = larger(sizeof(half) * (tile::BLOCK_M + 2 * tile::STAGES * tile::BLOCK_N) * D,
                          sizeof(float) * tile::KEY_WARPS * tile::BLOCK_M * (D + 8 + 2));

// The tiles of all key/value heads, as a double: an int may be too small.
template <typename tile>
static double tiles_of(const attention_shape &shape) {
  return (double)divide_up(packed_rows(shape), tile::BLOCK_M) * shape.kv_heads * shape.batch;
}

// Returns into how many splits the keys are divided: as many as --splits says. Else all tiles together have at most as
// many splits as blocks can run at once, or one each. A partial row, written once and read once, has as many bytes as
// two keys. So a split should have a key block, and two keys for each query of its tile. The last division rounds up.
template <typename tile, int D>
static int splits_of(const attention_shape &shape) {
  if (chosen_splits > 0) return chosen_splits;
  const int at_once = BLOCKS_PER_SM<tile, D> * gpu_attribute(cudaDevAttrMultiProcessorCount);
  const int fewest_keys = max(tile::BLOCK_N, 2 * min(tile::BLOCK_M, packed_rows(shape)));
  return max(1, min((int)(at_once / tiles_of<tile>(shape)), divide_up(shape.seq_kv, fewest_keys)));
}

// Computes O and lse of a query tile, or the partial results of one split of its keys, one key block after the other.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void
attention_tile(const Element *Q, const Element *K, const Element *V, Element *O, float *lse,
               const partial_results &partials, const attention_shape &shape, int batch,
               int kv_head, int query_tile, int split) {
  extern __shared__ __align__(32) float4 shared_memory[];
  auto K_smem = (Element *)shared_memory;                  // [STAGES * BLOCK_N][D]
  auto V_smem = K_smem + tile::STAGES * tile::BLOCK_N * D; // [STAGES * BLOCK_N][D]
  auto Q_smem = V_smem + tile::STAGES * tile::BLOCK_N * D; // [BLOCK_M][D]
  // After the products, in the place of the rings: the sums of warps that share the keys.
  constexpr int PITCH = tile::KEY_WARPS > 1 ? D + 8 : D; // so that rows start in different banks
  auto O_smem = (float *)shared_memory;                  // [KEY_WARPS][BLOCK_M][PITCH]
  auto max_sum_smem = (float2 *)(O_smem + tile::KEY_WARPS * tile::BLOCK_M * PITCH);

  const int group = group_of(shape);
  const int first = query_tile * tile::BLOCK_M; // of the rows of the group
  const int end = min(first + tile::BLOCK_M, shape.seq_q * group);
  int keys = visible_keys(shape, (end - 1) / group); // the last row sees the most
  const long long blocks = (keys + tile::BLOCK_N - 1) / tile::BLOCK_N;
  const int first_block = (int)(blocks * split / partials.splits);
  keys = min(keys, (int)(blocks * (split + 1) / partials.splits) * tile::BLOCK_N);
  // Where a row of the group lies among all rows of Q, O and lse.
  const int first_head = batch * shape.heads + kv_head * group;
  const auto row_of = [&](int packed) {
    // exercise: return the number of the row, which follows from its head in the group and its query
    // until then: return (size_t)packed;
    return (size_t)(first_head + packed % group) * shape.seq_q + packed / group;
    // end of exercise
  };
  const size_t first_kv_row = ((size_t)batch * shape.kv_heads + kv_head) * shape.seq_kv;

  // The lane has a part of rows lane_row + 8 r of the tile: half r % 2 of row fragment r / 2.
  // Warps that share the keys of a block have the same rows.
  const int warp_row = threadIdx.x / 32 / tile::KEY_WARPS * tile::WARP_ROWS;
  const int key_warp = threadIdx.x / 32 % tile::KEY_WARPS;
  const int warp_key = key_warp * tile::WARP_KEYS;
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
  load_queries<tile, D>(Q_smem, Q, first, end, row_of);
  __pipeline_commit();
  for (int block = 0; block < tile::STAGES - 1; block++) load_block(first_block + block);
  __pipeline_wait_prior(tile::STAGES - 1); // this thread's copies of Q, the oldest group, are there
  __syncthreads();                         // and those of all other threads as well

  for (int first_key = first_block * tile::BLOCK_N; first_key < keys; first_key += tile::BLOCK_N) {
    const int block = first_key / tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N;
    __pipeline_wait_prior(tile::STAGES - 2); // own copies are there
    __syncthreads(); // all threads see the block, and have read the stage that is filled next
    load_block(block + tile::STAGES - 1);

    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const bool masked = visible_keys(shape, first / group) < first_key + tile::BLOCK_N;
    float S_frag[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS] = {};
    unsigned P_frag[tile::ROW_FRAGMENTS][tile::LANE_KEYS];
    multiply_scores<tile, D>(S_frag, Q_smem + warp_row * D, K_smem + (first_smem + warp_key) * D);
    // exercise: if `masked`, mask the rows' scores: how many of the warp's keys of the block does a row's query see?
    if (masked)
      for (int r = 0; r < tile::LANE_ROWS; r++)
        mask_row<tile>(S_frag, r,
                       visible_keys(shape, (first + lane_row + 8 * r) / group) - first_key -
                           warp_key);
    // end of exercise
    float correction[tile::LANE_ROWS];
    softmax_rows<tile>(S_frag, scale_log2, row_max, row_sum, correction);
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
      // If all factors of these 16 rows are 1, their O stays. To ask costs a branch, and pays where O is large.
      const bool corrected = correction[2 * i] != 1.0f || correction[2 * i + 1] != 1.0f;
      if (D < 128 || __any_sync(0xffffffff, corrected)) scale_output(O_frag[i], &correction[2 * i]);
      round_probabilities<Element>(P_frag[i], S_frag[i]);
    }
    accumulate_output<tile, D>(O_frag, P_frag, V_smem + (first_smem + warp_key) * D);
  }

  if (tile::KEY_WARPS > 1) __syncthreads(); // all warps have read the rings
#pragma unroll
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    const int packed = first + lane_row + 8 * r;
    const size_t row = row_of(packed);
    const float sum = sum_over_lanes<1, 4>(row_sum[r]);
    if (tile::KEY_WARPS > 1 || partials.splits > 1) {
      float *sums = tile::KEY_WARPS > 1 ? O_smem : partials.O;
      float2 *max_sum = tile::KEY_WARPS > 1 ? max_sum_smem : partials.max_sum;
      const size_t to = tile::KEY_WARPS > 1 ? key_warp * tile::BLOCK_M + lane_row + 8 * r
                                            : split * partials.rows + row;
      store_partial_row<D, PITCH>(sums, to, O_frag[r / 2], r % 2, packed < end);
      if (packed < end && threadIdx.x % 4 == 0) max_sum[to] = make_float2(row_max[r], sum);
      continue;
    }
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key gives 0
    if (lse && packed < end && threadIdx.x % 4 == 0)
      lse[row] = (row_max[r] * scale_log2 + log2f(sum)) * LN_2;
    store_row<D>(O, row, O_frag[r / 2], r % 2, factor, packed < end);
  }
  if (tile::KEY_WARPS == 1) return;
  __syncthreads(); // the sums of all warps are there
  // Each thread merges 4 columns of a row at a time.
  for (int i = threadIdx.x; i < (end - first) * (D / 4); i += tile::THREADS) {
    const int d = i % (D / 4) * 4;
    const size_t row = row_of(first + i / (D / 4));
    // exercise: merge the sums of the warps that share the keys
    // until then: const partial_row sums = {};
    partial_row sums;
    for (int from = i / (D / 4); from < tile::KEY_WARPS * tile::BLOCK_M; from += tile::BLOCK_M)
      merge(sums, max_sum_smem[from], *(float4 *)&O_smem[from * PITCH + d], scale_log2);
    // end of exercise
    if (partials.splits == 1) {
      store_merged<D>(sums, O, lse, row, d, scale_log2);
    } else {
      const size_t to = split * partials.rows + row;
      *(float4 *)&partials.O[to * D + d] = sums.O;
      if (d == 0) partials.max_sum[to] = sums.max_sum;
    }
  }
}

// One block for each (key/value head, split, tile, batch), all in x. Tiles and batch entries come in the order of step
// 09, as a tile that holds later queries sees more keys here as well.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, partial_results partials, attention_shape shape) {
  shape.head_dim = D; // this step takes no other: now the compiler knows it, too
  const int query_tiles = divide_up(packed_rows(shape), tile::BLOCK_M); // of a key/value head
  const int kv_head = blockIdx.x % shape.kv_heads;
  const int split = blockIdx.x / shape.kv_heads % partials.splits;
  const int number = blockIdx.x / shape.kv_heads / partials.splits; // of the tile in the batch
  attention_tile<tile, Element, D>(Q, K, V, O, lse, partials, shape, number / query_tiles, kv_head,
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

const char *attention_name(void) { return "19_packed_heads"; }

const char *attention_summary(void) { return "heads that share K and V are rows of one tile"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
