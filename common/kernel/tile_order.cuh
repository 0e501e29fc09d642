// The rows and keys of query tiles, and the order in which blocks take the tiles of all heads.
#ifndef TILE_ORDER_CUH
#define TILE_ORDER_CUH

#include "counter.cuh"
#include "divisor.cuh"
#include "kernel.cuh"
#include <limits.h>

// Blocks and tiles are numbered in an int. Blocks that find no tile left have numbers past the last tile's, by up to
// the number of blocks, and 65535 is room enough for that. configurations.cuh refuses problems with more tiles.
#define MOST_TILES (INT_MAX - 65535)

// The rows and keys of a tile.
struct tile_place {
  int batch, head, kv_head;
  int first_query;
  int rows;         // that exist: fewer than BLOCK_M at the end of a sequence
  int first_key;    // that the tile takes: 0, except in the parts of steps 24 and 26
  int blocks;       // of keys from there on that the last row sees, at least 1
  size_t first_row; // number of the tile's first row among all rows of O and lse
};

// Returns how many key blocks the rows before row `end` see, at least 1: if no row sees a key, there is one
// block, which is masked. Shape is attention_shape, or a type of the steps for several GPUs that has the same fields
// and a visible_keys of its own.
template <typename tile, typename Shape>
__device__ __forceinline__ int key_blocks(const Shape &shape, int end) {
  return divide_up(max(1, visible_keys(shape, end - 1)), tile::BLOCK_N);
}

// The divisors by which a tile's number leads to the tile's place.
struct numbered_tiles {
  divisor heads;       // of a batch entry
  divisor query_tiles; // of a head
  divisor group;       // of query heads, which share a key/value head
};
// Returns these divisors for the tiles of a problem.
template <typename tile, typename Shape>
static numbered_tiles number_tiles(const Shape &shape) {
  return {divisor::of(shape.heads), divisor::of(divide_up(shape.seq_q, tile::BLOCK_M)),
          divisor::of(shape.heads / shape.kv_heads)};
}

// Returns the place of a query tile of one head.
template <typename tile, typename Shape>
__device__ __forceinline__ tile_place place_of_tile(const Shape &shape, const numbered_tiles &tiles,
                                                    int batch, int head, int query_tile) {
  tile_place place;
  place.batch = batch;
  place.head = head;
  place.kv_head = head / tiles.group;
  place.first_query = query_tile * tile::BLOCK_M;
  place.rows = min(tile::BLOCK_M, shape.seq_q - place.first_query);
  place.first_key = 0;
  place.blocks = key_blocks<tile>(shape, place.first_query + place.rows);
  place.first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + place.first_query;
  return place;
}

// Returns how many key blocks a warp group needs, whose 64 rows begin at row `first` of the tile. Under a causal
// mask the upper warp groups need fewer than the lowest one, if the tile is tall enough.
template <typename tile, typename Shape>
__device__ __forceinline__ int key_blocks(const Shape &shape, const tile_place &place, int first) {
  if (tile::BLOCK_M - 64 < tile::BLOCK_N) return place.blocks;
  return key_blocks<tile>(shape, place.first_query + min(place.rows, first + 64));
}

// Returns the place of tile `number` in the order of step 09: heads count first, then query tiles from the
// last one to the first, then batch entries.
template <typename tile>
__device__ __forceinline__ tile_place tile_in_order(const attention_shape &shape,
                                                    const numbered_tiles &tiles, int number) {
  const int of_heads = number / tiles.heads;
  const int before = of_heads % tiles.query_tiles;
  return place_of_tile<tile>(shape, tiles, of_heads / tiles.query_tiles, number % tiles.heads,
                             tiles.query_tiles - 1 - before);
}

// Returns the number of tiles of all heads.
template <typename tile>
static int all_tiles(const attention_shape &shape) {
  return divide_up(shape.seq_q, tile::BLOCK_M) * shape.heads * shape.batch;
}

// Returns how many tiles of `rows` query rows there are for each multiprocessor.
static inline double tiles_per_multiprocessor(const attention_shape &shape, int rows) {
  const double heads = (double)shape.batch * shape.heads;
  return heads * divide_up(shape.seq_q, rows) / gpu_attribute(cudaDevAttrMultiProcessorCount);
}

// Returns whether tiles of 64 rows are the fastest although there are many of them: if a head has no more rows than
// that, and at head_dim 128 without a mask also if it has at most 128 rows and keys.
static inline bool fits_small_tiles(const attention_shape &shape) {
  const bool one_block = max(shape.seq_q, shape.seq_kv) <= 128; // of keys
  return shape.seq_q <= 64 || (one_block && shape.head_dim == 128 && !shape.causal);
}

// --- the tile scheduler from step 15 on ----------------------------------------------------------
//
// Without a mask all tiles have as many keys, and the order is head by head: tiles that run at the same time then
// read the same K and V, at about the same time. With a causal mask the last tile of a head sees the most
// keys. Two aims are in conflict. The short tiles should be left for the end, so that all blocks end at about
// the same time (longest processing time first), and few heads should be under way at once, so that their K
// and V come from the L2 cache. So the heads come in sections of about one tile for each multiprocessor.
// Within a section the last query tile of each head goes first, then the last but one of each head, and so
// on. The last section has four to six tiles for each multiprocessor, so that there are short tiles to fill every
// gap at the end, but not more heads than have room in the L2 cache with their K and V. FlashAttention-3 deals out causal
// tiles in sections, too. A section has as many heads as fit into 32 MB with K and V, rounded down to a power of two.
struct schedule : numbered_tiles {
  int blocks; // thread blocks of the launch, one for each multiprocessor unless there are fewer tiles
  // Counts the tiles that blocks have taken. It is NULL if block b takes the tiles b, b + blocks, b + 2 blocks, and so
  // on. That is so where there is a block for each tile, and where there is no mask and tiles are so short that to wait
  // for the counter does not pay.
  unsigned long long *counter;
  // A block takes its next tile this many key blocks before the end of its tile, or at the beginning of a tile that has
  // fewer. It is 1 if there are few tiles for each block, so that a tile goes to a block that is about to be free.
  // Otherwise it is INT_MAX: a block asks as early as it can, which hides the wait for the counter.
  int ahead;
  int tiles;             // of all heads of all batch entries
  divisor section_heads; // of each section but the last
  divisor section_tiles; // of these heads
  int earlier_heads;     // of all sections but the last
  divisor last_heads;    // of the last section
};

// Makes the schedule for the current GPU. The counter is the step's workspace. Query heads that read the same K and V
// stay in one section.
template <typename tile, typename Args>
static cudaError_t make_schedule(schedule *order, const Args *args, cudaStream_t stream) {
  const attention_shape &shape = args->shape;
  const int multiprocessors = gpu_attribute(cudaDevAttrMultiProcessorCount);
  const double cache_bytes = gpu_attribute(cudaDevAttrL2CacheSize);
  *(numbered_tiles *)order = number_tiles<tile>(shape);
  const int query_tiles = order->query_tiles.number;
  const int heads = shape.batch * shape.heads;
  order->tiles = query_tiles * heads;
  order->blocks = min(multiprocessors, order->tiles);
  const int group = order->group.number;
  const auto whole_groups = [&](int wanted) {
    return min(heads, divide_up(max(1, wanted), group) * group);
  };
  const double group_bytes = 2.0 * sizeof(half) * shape.seq_kv * shape.head_dim; // of K and V
  const double groups = (double)heads / group;
  const int cached_heads = (int)min(cache_bytes / group_bytes, groups) * group;
  const int section_heads = whole_groups(multiprocessors / query_tiles);
  const int in_last = min(whole_groups(divide_up(4 * multiprocessors, query_tiles)), cached_heads);
  const int at_least = max(section_heads, in_last);
  // Whole sections come before the last one, which gets all heads that are left, if they have room in the cache.
  int earlier_heads = (heads - at_least) / section_heads * section_heads;
  if (heads - earlier_heads > max(at_least, cached_heads)) earlier_heads += section_heads;
  order->section_heads = divisor::of(section_heads);
  order->section_tiles = divisor::of(section_heads * query_tiles);
  order->earlier_heads = earlier_heads;
  order->last_heads = divisor::of(heads - earlier_heads);
  const bool short_tiles = !shape.causal && divide_up(shape.seq_kv, tile::BLOCK_N) < 4;
  order->counter = NULL;
  if (order->tiles > order->blocks && !short_tiles)
    order->counter = (unsigned long long *)args->workspace;
  order->ahead = order->counter && order->tiles < 4 * order->blocks ? 1 : INT_MAX;
  if (!order->counter) return cudaSuccess;
  return clear_new_memory(order->counter, sizeof *order->counter, stream);
}

// Replaces the number of the block's tile by that of its next one, and returns it. With a counter each block takes a
// tile when it asks, and goes on to a number past the last tile's, so there are as many calls as tiles. One thread of
// the block calls it.
__device__ __forceinline__ int take_next(const schedule &order, int &number) {
  number = order.counter ? order.blocks + (int)count_call(order.counter, order.tiles)
                         : number + order.blocks;
  return number;
}

// Returns the place of tile `number` in the order of the schedule. A block also calls it with the number that stands for
// the end, which is order.tiles or more. Then the place is that of no tile. The function reads no memory, so this is
// safe, and the callers test the number before they use the place.
template <typename tile, typename Shape>
__device__ __forceinline__ tile_place tile_in_order(const Shape &shape, const schedule &order,
                                                    int number) {
  int head = 0, query_tile = 0; // the head counts from the first one of all batch entries
  if (shape.causal) {
    const bool last = number >= order.earlier_heads * order.query_tiles;
    const divisor heads = last ? order.last_heads : order.section_heads; // of the tile's section
    const int first_head =
        last ? order.earlier_heads : number / order.section_tiles * order.section_heads;
    number -= first_head * order.query_tiles; // from here on in the section
    head = first_head + number % heads;
    query_tile = order.query_tiles - 1 - number / heads;
  } else {
    head = number / order.query_tiles;
    query_tile = number % order.query_tiles;
  }
  return place_of_tile<tile>(shape, order, head / order.heads, head % order.heads, query_tile);
}

#endif
