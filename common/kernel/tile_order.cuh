// The order in which persistent blocks take the query tiles of all heads (a tile scheduler).
//
// Without a mask all tiles cost the same, and the order is head by head. With a causal mask the last tile of
// a head sees the most keys. Two aims are in conflict. The short tiles should be left for the end, so that
// all blocks end at about the same time, and few heads should be under way at once, so that their K and V
// stay in the L2 cache. So the heads come in sections of about one tile for each multiprocessor. Within a
// section the last query tile of each head goes first, then the last but one of each head, and so on. The
// last section has four times as many heads, so that there are short tiles to fill every gap at the end.
#ifndef TILE_ORDER_CUH
#define TILE_ORDER_CUH

#include "kernel.cuh"
#include <limits.h>

// Blocks and tiles are numbered in an int. configurations.cuh refuses what has more tiles.
#define MOST_TILES INT_MAX

// The rows and keys of a tile.
struct tile_place {
  int batch, head, kv_head;
  int first_query;
  int rows;         // that exist
  int blocks;       // of keys that the last row sees, at least 1
  size_t first_row; // of all rows of O and lse
};

// Returns the place of a query tile of one head.
template <typename tile>
__device__ __forceinline__ tile_place place_of_tile(const attention_shape &shape, int batch,
                                                    int head, int query_tile) {
  tile_place place;
  place.batch = batch;
  place.head = head;
  place.kv_head = head / (shape.heads / shape.kv_heads);
  place.first_query = query_tile * tile::BLOCK_M;
  place.rows = min(tile::BLOCK_M, shape.seq_q - place.first_query);
  const int keys = visible_keys(shape, place.first_query + place.rows - 1);
  place.blocks = divide_up(max(keys, 1), tile::BLOCK_N); // if no row sees a key, one masked block
  place.first_row = ((size_t)batch * shape.heads + head) * shape.seq_q + place.first_query;
  return place;
}

// Returns the place of tile `number` in the order of step 09: heads count first, then query tiles from the
// last one to the first, then batch entries.
template <typename tile>
__device__ __forceinline__ tile_place tile_in_order(const attention_shape &shape, int number) {
  const int query_tiles = divide_up(shape.seq_q, tile::BLOCK_M);
  const int before = number / shape.heads % query_tiles;
  return place_of_tile<tile>(shape, number / shape.heads / query_tiles, number % shape.heads,
                             query_tiles - 1 - before);
}

// Returns the number of tiles of all heads.
template <typename tile>
static int all_tiles(const attention_shape &shape) {
  return divide_up(shape.seq_q, tile::BLOCK_M) * shape.heads * shape.batch;
}

struct schedule {
  int query_tiles;   // of a head
  int tiles;         // of all heads
  int heads;         // of all batch entries
  int section_heads; // of all sections but the last
  int last_heads;    // of the last section
};

// Makes the schedule for query tiles of `rows` rows. Query heads that read the same K and V stay in one
// section.
static schedule make_schedule(const attention_shape &shape, int rows, int multiprocessors) {
  schedule order;
  order.query_tiles = divide_up(shape.seq_q, rows);
  order.heads = shape.batch * shape.heads;
  order.tiles = order.query_tiles * order.heads;
  const int group = shape.heads / shape.kv_heads;
  const auto whole_groups = [&](int heads) {
    return min(order.heads, divide_up(max(1, heads), group) * group);
  };
  order.section_heads = whole_groups(multiprocessors / order.query_tiles);
  order.last_heads = whole_groups(divide_up(4 * multiprocessors, order.query_tiles));
  return order;
}

// The rows and the head of a tile.
struct tile_place {
  int batch, head, kv_head;
  int first_query;
  int rows;         // that exist
  size_t first_row; // of all rows of O
};

// Returns the place of tile `number`, 0 to order.tiles - 1, of ROWS rows.
template <int ROWS>
__device__ __forceinline__ tile_place tile_in_order(const attention_shape &shape,
                                                    const schedule &order, int number) {
  int batch_head = number / order.query_tiles;
  int query_tile = number % order.query_tiles;
  if (shape.causal) {
    const int last_section = order.heads - order.last_heads;
    int section_heads = order.last_heads;
    int first_head = last_section;
    if (number < last_section * order.query_tiles) {
      first_head = number / (order.section_heads * order.query_tiles) * order.section_heads;
      section_heads = min(order.section_heads, last_section - first_head);
    }
    number -= first_head * order.query_tiles;
    batch_head = first_head + number % section_heads;
    query_tile = order.query_tiles - 1 - number / section_heads;
  }
  const int first_query = query_tile * ROWS;
  const int head = batch_head % shape.heads;
  return {batch_head / shape.heads,
          head,
          head / (shape.heads / shape.kv_heads),
          first_query,
          min(ROWS, shape.seq_q - first_query),
          (size_t)batch_head * shape.seq_q + first_query};
}

#endif
