// 20_one_kernel: equal shares of the keys for as many blocks as run at once, and the last warps of a tile merge it.
// Needs: sm_80
// After: 19_packed_heads
//
// In step 19 the number of blocks is a multiple of the number of tiles, which seldom fills the GPU, and a second kernel
// must be launched to merge. Here the key blocks of all tiles stand in one line, which is cut into equal shares, one
// for each block that can run at once. A share may cross the end of a tile. A block that has only a part of a tile
// stores a partial result, and each of its warps counts itself. When the last warp is counted, all parts are stored. So
// this warp merges its places of all parts. A place is four columns of a row.
//
//       tile         |      0      |      1      |      2      |      3      |
//       key block    | 0 1 2 3 4 5 | 0 1 2 3 4 5 | 0 1 2 3 4 5 | 0 1 2 3 4 5 |
//       share of     | 0 0 0 0 0 1 | 1 1 1 1 2 2 | 2 2 2 3 3 3 | 3 3 4 4 4 4 |   the last warps of 0 and 1 merge tile 0
//
// Where tiles have few rows, a multiprocessor mostly has one block of eight warps. So a tile has half as many parts as
// with two blocks, and twice as many threads merge them. The ring has three stages, of 64 KB at head_dim 128. While
// warps multiply one, 128 KB are under way. In 1 us, the estimated latency, a multiprocessor gets 34 KB from memory.
//
// Cost for each key/value head: as in step 19, without the second launch.
#include "fragments.cuh"
#include "kernel.cuh"
#include "ptx.cuh"
#include "shares.cuh"
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
  X(16, 128, 8, 3)                                                                                 \
  X(32, 64, 4, 2)                                                                                  \
  X(32, 128, 8, 3)                                                                                 \
  X(64, 64, 4, 2)                                                                                  \
  X(128, 64, 4, 2)

// The smallest tile that holds all rows of a group, with exceptions. 17 to 32 rows are two tiles of 16 rows, if that
// gives no more tiles than multiprocessors. Each has half as many rows to merge, the two run side by side, and one
// finds K and V in the L2 cache. More than 64 rows are tiles of 128, as in step 09, if all multiprocessors get one, or
// else tiles of 64, which are divided and have fewer rows to merge. If there are more tiles of up to 32 rows than
// multiprocessors, two blocks share a multiprocessor: one copies while the other changes tiles. Tiles of 16 rows need
// that only if they have at most 1024 keys. Where few tiles of up to 4 rows have few keys, key blocks of 64 keys let
// twice as many multiprocessors take part.
static const char *best_configuration(const attention_shape *shape) {
  const int rows = packed_rows(*shape);
  const double tiles = (double)divide_up(rows, 128) * shape->kv_heads * shape->batch;
  const double per_sm = tiles / gpu_attribute(cudaDevAttrMultiProcessorCount);
  if (rows <= 4 && per_sm * divide_up(shape->seq_kv, 64) <= 1) return "16x64x4x2";
  if (rows <= 16) return per_sm > 1 && shape->seq_kv <= 1024 ? "16x64x4x2" : "16x128x8x3";
  if (rows <= 32) return per_sm > 1 ? "32x64x4x2" : per_sm > 0.5 ? "32x128x8x3" : "16x128x8x3";
  return rows <= 64 || per_sm < 1 ? "64x64x4x2" : "128x64x4x2";
}

static constexpr int SMALLEST_DIM = 64;

// Blocks that a multiprocessor should hold at once, if its shared memory has room. They leave a thread 255 registers.
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
// place, D + 10 floats for each row. The sums are more bytes only in tile 32x64x4x2, at head_dim 64.
template <typename tile, int D>
static constexpr size_t
    SHARED_BYTES = larger(sizeof(half) * (tile::BLOCK_M + 2 * tile::STAGES * tile::BLOCK_N) * D,
                          sizeof(float) * tile::KEY_WARPS * tile::BLOCK_M * (D + 8 + 2));

// The tiles of all key/value heads, as a double: an int may be too small.
template <typename tile>
static double tiles_of(const attention_shape &shape) {
  return (double)divide_up(packed_rows(shape), tile::BLOCK_M) * shape.kv_heads * shape.batch;
}

// Cuts the key blocks of all tiles into as many shares as blocks run at once, or into fewer if none of these crosses
// the end of a tile and they are hardly longer (share_out_evenly). A share should have at least one key block, and
// two or more keys for each row of its tile: a partial row, written and read, is as many bytes as two keys have.
// Tiles whose warps have rows of their own (KEY_WARPS == 1) have other work than copies: where
// there are enough of them, each block takes one. --splits N makes N times as many shares as tiles.
template <typename tile, int D>
static equal_shares shares_of(const attention_shape &shape) {
  const double at_once = blocks_at_once(BLOCKS_PER_SM<tile, D>, SHARED_BYTES<tile, D>);
  const double tiles = tiles_of<tile>(shape);
  const int fewest_keys = max(tile::BLOCK_N, 2 * min(tile::BLOCK_M, packed_rows(shape)));
  double blocks = fmin(at_once, tiles * divide_up(shape.seq_kv, fewest_keys));
  if (tile::KEY_WARPS == 1 && blocks < tiles) blocks = tiles;
  return share_out_evenly<tile>(shape, tiles, blocks);
}

// Computes O and lse of tile `number`, if first_block to end_block - 1 are all of its key blocks. Otherwise stores the
// part of share `share`, and the warps that are counted last merge the parts of the tile.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void
attention_tile(const Element *Q, const Element *K, const Element *V, Element *O, float *lse,
               const partial_tiles &partials, const attention_shape &shape,
               const equal_shares &shares, int share, int number, int first_block, int end_block) {
  extern __shared__ __align__(32) float4 shared_memory[];
  auto K_smem = (Element *)shared_memory;                  // [STAGES * BLOCK_N][D]
  auto V_smem = K_smem + tile::STAGES * tile::BLOCK_N * D; // [STAGES * BLOCK_N][D]
  auto Q_smem = V_smem + tile::STAGES * tile::BLOCK_N * D; // [BLOCK_M][D]
  // After the products, in the place of the rings: the sums of warps that share the keys.
  constexpr int PITCH = tile::KEY_WARPS > 1 ? D + 8 : D; // so that rows start in different banks
  auto O_smem = (float *)shared_memory;                  // [KEY_WARPS][BLOCK_M][PITCH]
  auto max_sum_smem = (float2 *)(O_smem + tile::KEY_WARPS * tile::BLOCK_M * PITCH);

  const auto [batch, kv_head, query_tile] = shares.place(number);
  const auto group = group_in<tile>(shares, shape);
  const int first = query_tile * tile::BLOCK_M; // of the rows of the group
  const int end = min(first + tile::BLOCK_M, shape.seq_q * group);
  int keys = visible_keys(shape, (end - 1) / group); // the last row sees the most
  keys = (int)min((long long)keys, (long long)end_block * tile::BLOCK_N);
  // Where a row of the group lies among all rows of Q, O and lse.
  const int first_head = batch * shape.heads + kv_head * group;
  const auto row_of = [&](int packed) {
    return (size_t)(first_head + packed % group) * shape.seq_q + packed / group;
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
      load_keys<tile, D>(K_smem + first_smem * D, K + offset, keys - first_key);
      load_keys<tile, D>(V_smem + first_smem * D, V + offset, keys - first_key);
    }
    __pipeline_commit();
  };
  load_queries<tile, D>(Q_smem, Q, first, end, row_of);
  __pipeline_commit();
  for (int block = 0; block < tile::STAGES - 1; block++) load_block(first_block + block);
  // The shares that have a part of the tile. The divisions take their time while the first copies are under way.
  const int first_owner = shares.owner((long long)number * shares.key_blocks);
  const int owners = shares.owner((number + 1LL) * shares.key_blocks - 1) - first_owner + 1;
  __pipeline_wait_prior(tile::STAGES - 1); // this thread's copies of Q, the oldest group, are there
  __syncthreads();                         // and those of all other threads as well

  for (int first_key = first_block * tile::BLOCK_N; first_key < keys; first_key += tile::BLOCK_N) {
    const int block = first_key / tile::BLOCK_N;
    const int first_smem = block % tile::STAGES * tile::BLOCK_N;
    __pipeline_wait_prior(tile::STAGES - 2); // own copies are there
    sync_readers<tile>(); // they see the block, and have read the stage that is filled next
    load_block(block + tile::STAGES - 1);

    // The tile's first row sees the fewest keys: if it sees the whole block, no row needs a mask.
    const bool masked = visible_keys(shape, first / group) < first_key + tile::BLOCK_N;
    float S_frag[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS] = {};
    unsigned P_frag[tile::ROW_FRAGMENTS][tile::LANE_KEYS];
    multiply_scores<tile, D>(S_frag, Q_smem + warp_row * D, K_smem + (first_smem + warp_key) * D);
    if (masked)
      for (int r = 0; r < tile::LANE_ROWS; r++)
        mask_row<tile>(S_frag, r,
                       visible_keys(shape, (first + lane_row + 8 * r) / group) - first_key -
                           warp_key);
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

  // If other blocks share the tile, this block stores part 2 share or 2 share + 1 (partial_tiles). `part` is the first of
  // the BLOCK_M rows of this part in the workspace.
  const bool whole = owners == 1;
  const size_t part = (2 * (size_t)share + (share == first_owner)) * tile::BLOCK_M;
  if (tile::KEY_WARPS > 1) __syncthreads(); // all warps have read the rings
#pragma unroll
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    const int packed = first + lane_row + 8 * r;
    const size_t row = row_of(packed);
    const float sum = sum_over_lanes<1, 4>(row_sum[r]);
    if (tile::KEY_WARPS > 1 || !whole) {
      float *sums = tile::KEY_WARPS > 1 ? O_smem : partials.O;
      float2 *max_sum = tile::KEY_WARPS > 1 ? max_sum_smem : partials.max_sum;
      const size_t to = (tile::KEY_WARPS > 1 ? key_warp * tile::BLOCK_M : part) + lane_row + 8 * r;
      store_partial_row<D, PITCH>(sums, to, O_frag[r / 2], r % 2, packed < end);
      if (packed < end && threadIdx.x % 4 == 0) max_sum[to] = make_float2(row_max[r], sum);
      continue;
    }
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key gives 0
    if (lse && packed < end && threadIdx.x % 4 == 0)
      lse[row] = (row_max[r] * scale_log2 + log2f(sum)) * LN_2;
    store_row<D>(O, row, O_frag[r / 2], r % 2, factor, packed < end);
  }
  __syncthreads(); // the sums of all warps are there, and all have read the tiles
  // Each thread merges 4 columns of a row at a time.
  for (int i = threadIdx.x; i < (end - first) * (D / 4); i += tile::THREADS) {
    if (tile::KEY_WARPS == 1) break; // each row has been stored by one warp
    const int d = i % (D / 4) * 4;
    partial_row loaded[tile::KEY_WARPS];
    for (int k = 0, from = i / (D / 4); k < tile::KEY_WARPS; k++, from += tile::BLOCK_M)
      loaded[k] = {max_sum_smem[from], *(float4 *)&O_smem[from * PITCH + d]};
    const partial_row sums = merge_loaded(loaded, scale_log2);
    if (whole) {
      const size_t row = row_of(first + i / (D / 4));
      store_merged<D>(sums, O, lse, row, d, scale_log2);
    } else {
      const size_t to = part + i / (D / 4);
      *(float4 *)&partials.O[to * D + d] = sums.O;
      if (d == 0) partials.max_sum[to] = sums.max_sum;
    }
  }
  __syncthreads(); // all threads have stored their part, and the rings may be filled again
  if (whole) return;
  // exercise: count the warp; the last one of the tile merges its places of all parts, in the order of the shares
  bool last = false;
  if (threadIdx.x % 32 == 0) {
    // Through the barrier above lane 0 knows what all threads of the block have stored. So its fence makes all of that
    // visible before the count. is_last_of acquires: the loads behind it see what the others stored before they counted.
    __threadfence();
    last = is_last_of(&partials.counter[first_owner * tile::WARPS + threadIdx.x / 32], owners);
  }
  // The vote tells the answer to all lanes. It does not order memory: the __syncwarp() in merge_parts does.
  if (!__any_sync(0xffffffff, last)) return;
  // load(i, k) loads the i-th float4 of the part of owner number k. That of the first owner is part 2 first_owner + 1,
  // and that of owner k behind it is part 2 (first_owner + k), which is 2 k - 1 parts further on. The parts are read from
  // the L2 cache, where those of other multiprocessors are.
  const size_t first_part = (2 * (size_t)first_owner + 1) * tile::BLOCK_M;
  const auto load = [&](int i, int k) {
    const int from = (k == 0 ? 0 : 2 * k - 1) * tile::BLOCK_M;
    return partial_row{__ldcg(&partials.max_sum[first_part + from + i / (D / 4)]),
                       __ldcg((const float4 *)&partials.O[(first_part + from) * D] + i)};
  };
  const auto store = [&](int i, const partial_row &sums) {
    store_merged<D>(sums, O, lse, row_of(first + i / (D / 4)), i % (D / 4) * 4, scale_log2);
  };
  merge_parts<tile>((end - first) * (D / 4), owners, scale_log2, load, store);
  // end of exercise
}

// A block takes its share of the key blocks of all tiles, tile by tile. The tiles come in the order of step 09.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, partial_tiles partials, attention_shape shape,
                          equal_shares shares) {
  shape.head_dim = D; // this step takes no other: now the compiler knows it, too
  const int share = shares.share_of(blockIdx.x);
  long long next = shares.begin(share);
  const long long end = shares.begin(share + 1);
  // exercise: take the tiles of the share one after the other, each with the key blocks that belong to the share
  while (next < end) {
    const int first_block = (int)(next % shares.key_blocks);
    const int end_block = (int)min((long long)shares.key_blocks, first_block + end - next);
    attention_tile<tile, Element, D>(Q, K, V, O, lse, partials, shape, shares, share,
                                     (int)(next / shares.key_blocks), first_block, end_block);
    next += end_block - first_block;
  }
  // end of exercise
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const equal_shares shares = shares_of<tile, D>(shape);
  const partial_tiles partials = partial_tiles_at(args->workspace, shares, tile::BLOCK_M, D);
  cudaError_t error =
      allow_shared_memory(attention_kernel<tile, Element, D>, SHARED_BYTES<tile, D>);
  if (error == cudaSuccess) error = clear_new_counters(partials, shares, tile::WARPS, stream);
  if (error != cudaSuccess) return error;
  attention_kernel<tile, Element, D>
      <<<shares.blocks, tile::THREADS, SHARED_BYTES<tile, D>, stream>>>(
          (const Element *)args->q, (const Element *)args->k, (const Element *)args->v,
          (Element *)args->o, args->lse, partials, shape, shares);
  return cudaGetLastError();
}

template <typename tile, int D>
static size_t workspace_bytes(const attention_shape &shape) {
  return partial_tiles_bytes(shares_of<tile, D>(shape), tile::BLOCK_M, tile::WARPS, D);
}

const char *attention_name(void) { return "20_one_kernel"; }

const char *attention_summary(void) { return "equal shares of keys, merged by the last warps"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
