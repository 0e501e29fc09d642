// 25_marked_words: every word of a partial result carries a mark, and all blocks of a tile merge the result.
// Needs: sm_80
// After: 20_one_kernel
//
// In step 20 a block stores its part of a tile, waits until the whole GPU can see it, and its warps are counted. The
// warps that are counted last load all parts. So the way to the L2 cache and back is taken three times, and mostly one
// multiprocessor loads the parts that many have stored. Here a part consists of words of 16 bytes, and each word has
// three floats and a mark. A reader loads the word again until it has the mark, so nothing is counted, and no thread
// waits for a store. When a block has stored its parts, it merges the places of their tiles that are its own. For that
// it needs the parts of all other blocks of the tiles. So all blocks must run at the same time, which a cooperative
// launch guarantees.
//
//       time     step 20, the last block             here, all blocks of the tile
//        |       store the part                      store the part, as marked words
//        |       wait until it can be seen           load the words of all parts that belong to the block's places,
//        |       count, and wait for the count       until all of them have the mark
//        |       load all parts, merge               merge, and erase the marks for the next launch
//        v       store O                             store O
//
// NCCL, too, puts a flag into the data, in its protocol "LL", for low latency.
// Cost for each key/value head: as in step 20, but a part is twice as many bytes, which stay in the L2 cache.
#include "fragments.cuh"
#include "kernel.cuh"
#include "online_softmax.cuh"
#include "ptx.cuh"
#include "shares.cuh"
#include "split_kv.cuh"
#include "splits.cuh"
#include "swizzle.cuh"
#include "words.cuh"
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
// there are enough of them, each block takes one. --splits N makes N times as many shares as tiles, but where tiles are
// divided, no more than run at once.
template <typename tile, int D>
static equal_shares shares_of(const attention_shape &shape) {
  const double at_once = blocks_at_once(BLOCKS_PER_SM<tile, D>, SHARED_BYTES<tile, D>);
  const double tiles = tiles_of<tile>(shape);
  const int fewest_keys = max(tile::BLOCK_N, 2 * min(tile::BLOCK_M, packed_rows(shape)));
  double blocks = fmin(at_once, tiles * divide_up(shape.seq_kv, fewest_keys));
  if (tile::KEY_WARPS == 1 && blocks < tiles) blocks = tiles;
  if (chosen_splits > 0)
    return share_out<tile>(shape, tiles, divide_up(shape.seq_kv, tile::BLOCK_N),
                           fmin(tiles * chosen_splits, fmax(tiles, at_once)));
  return share_out_evenly<tile>(shape, tiles, blocks);
}

// Computes O and lse of tile `number`, if first_block to end_block - 1 are all of its key blocks. Otherwise stores the
// part of share `share`, and `part` receives what the block must know to merge its places of the tile.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void
attention_tile(const Element *Q, const Element *K, const Element *V, Element *O, float *lse,
               const partial_words &partials, part_of_tile &part, const attention_shape &shape,
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
  // The divisions take their time while the first copies are under way.
  part = part_of(shares, share, number, first, first_head, (end - first) * (D / 4));
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

  // The block's part of the tile, if it shares it with others.
  const bool whole = part.owners == 1;
  marked_word *const words = partials.at<TILE_PLACES<tile, D>>(part.number(share), 0, 0);
  if (tile::KEY_WARPS > 1) __syncthreads(); // all warps have read the rings
#pragma unroll
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    const int packed = first + lane_row + 8 * r;
    const size_t row = row_of(packed);
    const float sum = sum_over_lanes<1, 4>(row_sum[r]);
    if (tile::KEY_WARPS > 1) {
      const int to = key_warp * tile::BLOCK_M + lane_row + 8 * r;
      store_partial_row<D, PITCH>(O_smem, to, O_frag[r / 2], r % 2, packed < end);
      if (packed < end && threadIdx.x % 4 == 0) max_sum_smem[to] = make_float2(row_max[r], sum);
      continue;
    }
    if (!whole) {
      if (packed < end)
        store_marked_row<D>(words + (lane_row + 8 * r) * (D / 4), TILE_PLACES<tile, D>,
                            O_frag[r / 2], r % 2, make_float2(row_max[r], sum));
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
      store_word(words + i, {sums.O.x, sums.O.y, sums.max_sum.x, MARK});
      store_word(words + TILE_PLACES<tile, D> + i, {sums.O.z, sums.O.w, sums.max_sum.y, MARK});
    }
  }
  __syncthreads(); // all threads have read the sums, and the rings may be filled again
}

// Merges the block's own places of a tile. LANES lanes share the parts of a place, each of them takes up to PLACES
// places at once, and then they add up their sums. Repeated launches give the same bits, because the order of the
// additions depends on nothing but the shape and the GPU.
template <int LANES, int PLACES, typename tile, typename Element, int D>
__device__ __forceinline__ void merge_tile(Element *O, float *lse, const partial_words &partials,
                                           const attention_shape &shape, const equal_shares &shares,
                                           const part_of_tile &part) {
  constexpr int AT_ONCE = tile::THREADS / LANES; // places of the block, one for each LANES lanes
  const auto group = group_in<tile>(shares, shape);
  const float scale_log2 = shape.scale * LOG2_E;
  const int lane = threadIdx.x % LANES;
  for (int next = part.begin; next < part.end; next += PLACES * AT_ONCE) {
    const int first_place = next + threadIdx.x / LANES; // of the lane
    partial_row sums[PLACES];
    for (int k = 0; k < part.owners; k += LANES) {
      // Words 2 n and 2 n + 1 are the left and the right word of the lane's place number n, in part k + lane of the
      // tile. A lane without such a part or place stays with its warp, which votes and shuffles.
      const int number = part.number(part.first_owner + k + lane);
      const auto has = [&](int n) {
        return k + lane < part.owners && first_place + n * AT_ONCE < part.end;
      };
      const auto at = [&](int i) {
        return partials.at<TILE_PLACES<tile, D>>(number, first_place + i / 2 * AT_ONCE, i % 2);
      };
      // No lane waits for a word that does not exist. The floats given here are never read: they only make the compiler's
      // code faster, by 4 % of the time of the step for one head (a trial on an H200, which is not recorded).
      marked_word words[2 * PLACES];
#pragma unroll
      for (int i = 0; i < 2 * PLACES; i++)
        words[i] = {0.0f, 0.0f, -INFINITY, has(i / 2) ? 0 : MARK};
      // exercise: load the words that have no mark yet, until those of all lanes of the warp have it
      // A word is loaded and stored as a whole. So a word with the mark has its floats, too, and no fence is needed. All
      // lanes leave the loop together, because the shuffles of a warp that has diverged are slow.
      bool there;
      do {
#pragma unroll
        for (int i = 0; i < 2 * PLACES && next + i / 2 * AT_ONCE < part.end; i++)
          if (words[i].mark != MARK) words[i] = load_word(at(i));
        there = true;
#pragma unroll
        for (int i = 0; i < 2 * PLACES; i++) there = there && words[i].mark == MARK;
      } while (!__all_sync(0xffffffff, there));
      // end of exercise
#pragma unroll
      for (int n = 0; n < PLACES && next + n * AT_ONCE < part.end; n++) {
        if (!has(n)) continue;
        // exercise: erase both words for the next launch, and merge them into the lane's sums
        // No other lane reads these two words. Their writer has stored them, because the mark was there, and the next
        // launch stores its own only when this one has ended. So nothing is lost.
        store_word(at(2 * n), {});
        store_word(at(2 * n + 1), {});
        const marked_word &left = words[2 * n], &right = words[2 * n + 1];
        merge(sums[n], make_float2(left.z, right.z), make_float4(left.x, left.y, right.x, right.y),
              scale_log2);
        // end of exercise
      }
    }
#pragma unroll
    for (int n = 0; n < PLACES && next + n * AT_ONCE < part.end; n++) {
      const int place = first_place + n * AT_ONCE;
      const partial_row all = sum_over_lanes<LANES>(sums[n], scale_log2);
      const size_t row = part.row_of(place / (D / 4), group, shape);
      if (lane == 0 && place < part.end)
        store_merged<D>(all, O, lse, row, place % (D / 4) * 4, scale_log2);
    }
  }
}

// A block takes its share of the key blocks of all tiles, tile by tile, in the order of step 09. It merges only when it
// has stored all its parts: if it waited for others between two of them, it would hold up those that wait for it.
template <typename tile, typename Element, int D>
__launch_bounds__(tile::THREADS, BLOCKS_PER_SM<tile, D>) __global__
    void attention_kernel(const Element *Q, const Element *K, const Element *V, Element *O,
                          float *lse, partial_words partials, attention_shape shape,
                          equal_shares shares) {
  shape.head_dim = D; // this step takes no other: now the compiler knows it, too
  const int share = shares.share_of(blockIdx.x);
  long long next = shares.begin(share);
  const long long end = shares.begin(share + 1);
  // Only the first and the last tile of a share can belong to other shares as well: those between them are whole. So the
  // block remembers two. part.owners is 0 before the first tile.
  part_of_tile first_part = {}; // that of the first tile, if it is not the last one
  part_of_tile part = {};       // that of the last tile so far
  while (next < end) {
    const int first_block = (int)(next % shares.key_blocks);
    const int end_block = (int)min((long long)shares.key_blocks, first_block + end - next);
    if (first_part.owners == 0) first_part = part;
    attention_tile<tile, Element, D>(Q, K, V, O, lse, partials, part, shape, shares, share,
                                     (int)(next / shares.key_blocks), first_block, end_block);
    next += end_block - first_block;
  }
  // A tile with one owner is whole, and its O is stored. If a tile has few parts, few lanes share a place. If a block
  // has many places, as in tall tiles, a lane takes several of them at once.
  constexpr bool TALL = tile::BLOCK_M > 32;
  const auto merge_part = [&](const part_of_tile &it) {
    if (it.owners > 1 && (TALL || it.owners <= 4))
      merge_tile<4, TALL ? 8 : 4, tile, Element, D>(O, lse, partials, shape, shares, it);
    else if (it.owners > 1 && it.end - it.begin > tile::THREADS / 16)
      merge_tile<8, 4, tile, Element, D>(O, lse, partials, shape, shares, it);
    else if (it.owners > 1)
      merge_tile<16, 1, tile, Element, D>(O, lse, partials, shape, shares, it);
  };
  merge_part(first_part);
  merge_part(part);
}

template <typename tile, typename Element, int D>
static cudaError_t launch(const attention_args *args, cudaStream_t stream) {
  const attention_shape shape = args->shape;
  const equal_shares shares = shares_of<tile, D>(shape);
  const partial_words partials = {(marked_word *)args->workspace};
  cudaError_t error =
      allow_shared_memory(attention_kernel<tile, Element, D>, SHARED_BYTES<tile, D>);
  if (error == cudaSuccess) error = clear_new_words(partials, shares, tile::BLOCK_M, D, stream);
  if (error != cudaSuccess) return error;
  // Blocks that wait for each other must run at the same time.
  return launch_together(shares.divide_tiles(), attention_kernel<tile, Element, D>, shares.blocks,
                         tile::THREADS, SHARED_BYTES<tile, D>, stream, (const Element *)args->q,
                         (const Element *)args->k, (const Element *)args->v, (Element *)args->o,
                         args->lse, partials, shape, shares);
}

template <typename tile, int D>
static size_t workspace_bytes(const attention_shape &shape) {
  return partial_words_bytes(shares_of<tile, D>(shape), tile::BLOCK_M, D);
}

const char *attention_name(void) { return "25_marked_words"; }

const char *attention_summary(void) { return "parts that carry marks, merged by all blocks"; }

// attention_forward and the rest of the interface, which calls launch<tile, Element, D>.
#include "configurations.cuh"
