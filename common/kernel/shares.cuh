// Parts of step 20 that are not attention: the shares of key blocks, how warps of different blocks find out which of
// them is the last one, and how it merges what they have left.
#ifndef SHARES_CUH
#define SHARES_CUH

#include "counter.cuh"
#include "divisor.cuh"
#include "fragments.cuh"
#include "splits.cuh"
#include "swizzle.cuh"

// Returns how many blocks the GPU runs at once: at most `most` on a multiprocessor, and no more than its shared memory
// has room for. Each block takes 1 KB more than it asks for, which the system uses.
static inline int blocks_at_once(int most, size_t shared_bytes) {
  const int memory = gpu_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int room = memory / (int)(shared_bytes + 1024);
  return gpu_attribute(cudaDevAttrMultiProcessorCount) * (room < 1 ? 1 : room < most ? room : most);
}

// Which rows a tile has.
struct tile_place {
  int batch;
  int kv_head;
  int query_tile; // of the key/value head
};

// The key blocks of all tiles stand in one line, tile after tile. The line is cut into equal shares, one for each block
// of the grid. A share has `length` key blocks, and each of the first `rest` shares has one more.
struct equal_shares {
  int tiles;
  long_divisor group;                 // query heads that share a key/value head
  long_divisor kv_heads, query_tiles; // tiles of a key/value head
  long_divisor key_blocks;            // of a tile
  int blocks;                         // of the grid
  long long length;
  int rest;
  long_divisor turns; // blocks of a batch element, if its tiles take turns in the grid; otherwise 1

  // Returns the number of the share that block b takes. Where the tiles of a key/value head take turns, neighbours in
  // the grid read the same keys at the same time.
  __device__ __forceinline__ int share_of(int b) const {
    if (turns.number == 1) return b;
    const int place = b % turns;
    return b - place + place % query_tiles * (turns.number / query_tiles) + place / query_tiles;
  }

  // Returns the place of a tile. The tiles come in the order of step 09.
  __device__ __forceinline__ tile_place place(int tile) const {
    const int of_heads = tile / kv_heads;
    return {of_heads / query_tiles, tile % kv_heads, query_tiles - 1 - of_heads % query_tiles};
  }

  // Returns the first key block of share b.
  __host__ __device__ long long begin(int b) const { return b * length + (b < rest ? b : rest); }

  // Returns the number of the share that holds a key block.
  __host__ __device__ int owner(long long key_block) const {
    const long long longer = rest * (length + 1); // in the longer shares together
    return (int)(key_block < longer ? key_block / (length + 1)
                                    : rest + (key_block - longer) / length);
  }

  // Tells whether there are tiles that no block takes alone. A tile of one key block is never divided.
  bool divide_tiles() const {
    return key_blocks.number > 1 && (rest > 0 || length % key_blocks.number > 0);
  }
};

// Returns how many query heads share a key/value head, as a number that rows are divided by. In tiles of 128 rows it
// comes without an inverse, for which there are no registers left (on sm_120 they would spill).
template <typename tile>
__device__ __forceinline__ auto group_in(const equal_shares &shares, const attention_shape &shape) {
  if constexpr (tile::BLOCK_M > 64)
    return group_of(shape);
  else
    return shares.group;
}

// Cuts the line into shares for `blocks` blocks, at least 1 and at most as many as there are key blocks.
template <typename tile>
static equal_shares share_out(const attention_shape &shape, double tiles, int key_blocks,
                              double blocks) {
  equal_shares shares;
  const double all = tiles * key_blocks;
  shares.tiles = (int)tiles;
  shares.group = long_divisor::of(group_of(shape));
  shares.kv_heads = long_divisor::of(shape.kv_heads);
  shares.query_tiles = long_divisor::of(divide_up(packed_rows(shape), tile::BLOCK_M));
  shares.key_blocks = long_divisor::of(key_blocks);
  shares.blocks = (int)fmax(1, fmin(blocks, fmin(all, INT_MAX)));
  shares.length = (long long)all / shares.blocks;
  shares.rest = (int)((long long)all % shares.blocks);
  const bool side_by_side =
      tile::BLOCK_M == 16 && shares.query_tiles > 1 && shares.blocks % shares.tiles == 0;
  shares.turns = long_divisor::of(side_by_side ? shares.blocks / shape.batch : 1);
  return shares;
}

// Cuts the line into shares for at most `blocks` blocks, so that no share crosses the end of a tile. A share is then
// either several whole tiles, or a part of one tile, and the last part of a tile may be shorter. But if the longest
// share would become more than a twentieth longer than by share_out, share_out cuts the line, and shares may cross
// ends. In trials on an H200, which are not recorded, a block needed more than two microseconds to end a tile and begin
// another one, and 19 of 20 multiprocessors kept memory as busy as all of them. With tiles of 16 rows, which are little
// work for each key, half of the multiprocessors kept it nearly as busy. So such a tile gets more than 16 parts only if
// otherwise fewer than half of the blocks would take part.
template <typename tile>
static equal_shares share_out_evenly(const attention_shape &shape, double tiles, double blocks) {
  const int key_blocks = divide_up(shape.seq_kv, tile::BLOCK_N);
  if (chosen_splits > 0) return share_out<tile>(shape, tiles, key_blocks, tiles * chosen_splits);
  if (tile::BLOCK_M == 16) blocks = fmin(blocks, fmax(16 * tiles, blocks / 2));
  const double whole_tiles = ceil(tiles / blocks); // of a share; 1 where blocks divide tiles
  const int length = divide_up(key_blocks, (int)fmax(1, blocks / tiles));
  const int parts = divide_up(key_blocks, length); // of a tile
  const double even = tiles * parts / whole_tiles; // blocks
  if (even < ceil(even) || whole_tiles * length > 1.05 * ceil(tiles * key_blocks / blocks))
    return share_out<tile>(shape, tiles, key_blocks, blocks);
  return share_out<tile>(shape, tiles, parts * length, even);
}

// Starts to copy the first `rows` keys of a block, or their values, to a [BLOCK_N][D] tile, as load_tile does. But a
// warp copies its own keys where no other one reads them. Then it need not wait for the others' copies.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void load_keys(Element *smem, const Element *matrix, int rows) {
  if (tile::KEY_WARPS < tile::WARPS) return load_tile<tile, tile::BLOCK_N, D>(smem, matrix, rows);
  constexpr int COPIED = 32 / (D / PIECE); // rows at once
  const int row = threadIdx.x / 32 * tile::WARP_KEYS + threadIdx.x % 32 / (D / PIECE);
  const int d = threadIdx.x % (D / PIECE) * PIECE;
  const int to = swizzled<D>(row, d);
#pragma unroll
  for (int i = 0; i < tile::WARP_KEYS; i += COPIED)
    __pipeline_memcpy_async(&smem[i * D + (to ^ i % 8 * PIECE)],
                            &matrix[min(row + i, rows - 1) * D + d], sizeof(uint4));
}

// Waits until all threads that read the same keys have come here.
template <typename tile>
__device__ __forceinline__ void sync_readers() {
  if (tile::KEY_WARPS < tile::WARPS)
    __syncthreads();
  else
    __syncwarp();
}

// Partial results in the workspace. A share b has room for two parts of tiles: part 2 b + 1 of a tile whose first key
// block is in the share, and part 2 b of a tile that begins in another share.
struct partial_tiles {
  float *O; // [2 blocks][BLOCK_M][D], not divided by the sum
  float2
      *max_sum; // [2 blocks][BLOCK_M]; the max is -infinity in a row that sees no key of the part
  unsigned long long *counter; // [blocks][warps]: for the tile whose first key block is the share's
};

static inline size_t partial_tiles_bytes(const equal_shares &shares, int block_m, int warps,
                                         int head_dim) {
  if (!shares.divide_tiles()) return 0;
  return partial_bytes(2.0 * shares.blocks, block_m, head_dim) +
         (size_t)shares.blocks * warps * sizeof(unsigned long long);
}

// Returns where the parts lie in the workspace.
static inline partial_tiles partial_tiles_at(void *workspace, const equal_shares &shares,
                                             int block_m, int head_dim) {
  if (!shares.divide_tiles()) return {}; // there are no parts, and no workspace
  const size_t rows = 2 * (size_t)shares.blocks * block_m;
  float *const O = (float *)workspace;
  float2 *const max_sum = (float2 *)(O + rows * head_dim);
  return {O, max_sum, (unsigned long long *)(max_sum + rows)};
}

// Clears the counters of a new workspace. No result depends on that, see count_call (counter.cuh), but a kernel
// should not read memory that has never been written.
static inline cudaError_t clear_new_counters(const partial_tiles &partials,
                                             const equal_shares &shares, int warps,
                                             cudaStream_t stream) {
  const size_t counters = shares.divide_tiles() ? (size_t)shares.blocks * warps : 0;
  return clear_new_memory(partials.counter, counters * sizeof *partials.counter, stream);
}

// Counts a call. Returns true in the last of `count` calls, and leaves the counter at 0 for the next launch. One lane
// of each warp calls it. The last one then sees what the others had made visible before their calls.
__device__ __forceinline__ bool is_last_of(unsigned long long *counter, unsigned count) {
  return count_call(counter, count) == count - 1;
}

// Merges parts of a row that the thread has loaded, by the formula of `merge` (merge.cuh). The max of all parts is
// computed first, which saves one of two exponentials for each part.
template <int PARTS>
__device__ __forceinline__ partial_row merge_loaded(const partial_row (&loaded)[PARTS],
                                                    float scale_log2) {
  partial_row sums;
#pragma unroll
  for (int k = 0; k < PARTS; k++) sums.max_sum.x = fmaxf(sums.max_sum.x, loaded[k].max_sum.x);
#pragma unroll
  for (int k = 0; k < PARTS; k++) {
    const float factor = rescaling_factor(loaded[k].max_sum.x, sums.max_sum.x, scale_log2);
    sums.max_sum.y += loaded[k].max_sum.y * factor;
    sums.O.x += loaded[k].O.x * factor;
    sums.O.y += loaded[k].O.y * factor;
    sums.O.z += loaded[k].O.z * factor;
    sums.O.w += loaded[k].O.w * factor;
  }
  return sums;
}

// Merges the parts of places threadIdx.x, threadIdx.x + THREADS and so on below `places`, in the order of the parts. A
// place is four columns of a row. load(i, k) loads part k of place i, and store(i, sums) stores all parts together. A
// thread starts many loads before it needs the first one, because the way to the L2 cache and back is long: it loads 16
// parts of two places at once. In tall tiles, which have many rows and mostly few parts, it loads 6 parts of four.
template <typename tile, typename Load, typename Store>
__device__ __forceinline__ void merge_parts(int places, int parts, float scale_log2,
                                            const Load &load, const Store &store) {
  constexpr bool TALL = tile::BLOCK_M > 32;
  constexpr int PLACES = TALL ? 4 : 2, PARTS = TALL ? 6 : 16; // at once
  constexpr int THREADS = tile::THREADS;
  __syncwarp(); // orders the loads of all lanes behind what lane 0 has seen, which a vote does not do
  for (int i = threadIdx.x; i < places; i += PLACES * THREADS) {
    partial_row sums[PLACES];
#pragma unroll 1
    for (int first = 0; first < parts; first += PARTS) {
      partial_row loaded[PLACES][PARTS + 1];
#pragma unroll
      for (int k = 0; k < PARTS; k++)
#pragma unroll
        for (int n = 0; n < PLACES; n++) {
          // A part that is missing has seen no key. nvcc 13.0 would fill this array with zeros from its second row on,
          // whatever a partial_row begins with, and a row max of 0 can be above that of all scores.
          loaded[n][k] = partial_row{};
          if (first + k < parts && i + n * THREADS < places)
            loaded[n][k] = load(i + n * THREADS, first + k);
        }
#pragma unroll
      for (int n = 0; n < PLACES; n++) {
        if (i + n * THREADS >= places) break; // to merge places that are missing would take as long
        loaded[n][PARTS] = sums[n];
        sums[n] = merge_loaded(loaded[n], scale_log2);
      }
    }
    // A reference to sums[n] would do as well, but of one the sanitizer does not check whether n is below PLACES.
#pragma unroll
    for (int n = 0; n < PLACES; n++)
      if (i + n * THREADS < places) store(i + n * THREADS, partial_row{sums[n].max_sum, sums[n].O});
  }
}

#endif
