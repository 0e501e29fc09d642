// The order of the tiles from step 15 on: each tile comes once, with its own rows, and with a mask section by section, the
// last query tiles of a section first.
#include "step/step.h"

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

cudaError_t places(const attention_args *args, int most, int *found, int heads_of_sections[3]);

enum { MOST = 1 << 16, TILE_ROWS = 64 };

typedef struct {
  int batch, head, kv_head, first_query, first_row;
} place;

static attention_shape shape_of(int batch, int heads, int kv_heads, int seq_q, int seq_kv,
                                bool causal) {
  return (attention_shape){.batch = batch,
                           .heads = heads,
                           .kv_heads = kv_heads,
                           .seq_q = seq_q,
                           .seq_kv = seq_kv,
                           .head_dim = 64,
                           .causal = causal,
                           .scale = 1.0f};
}

// Fills `found` with the places of all tiles, and `sections` as places does.
static void find(const attention_shape *shape, place *found, int sections[3]) {
  void *workspace = NULL;
  int *device = NULL;
  cr_assert_eq(cudaMalloc(&workspace, 64), cudaSuccess);
  cr_assert_eq(cudaMalloc((void **)&device, MOST * sizeof *found), cudaSuccess);
  const attention_args args = {.shape = *shape, .workspace = workspace};
  cr_assert_eq(places(&args, MOST, device, sections), cudaSuccess);
  cr_assert_eq(cudaMemcpy(found, device, MOST * sizeof *found, cudaMemcpyDeviceToHost),
               cudaSuccess);
  cudaFree(workspace);
  cudaFree(device);
}

static void expect_each_tile_once(const attention_shape *shape) {
  static place found[MOST];
  static unsigned char seen[MOST];
  int sections[3];
  find(shape, found, sections);
  const int query_tiles = (shape->seq_q + TILE_ROWS - 1) / TILE_ROWS;
  const int heads = shape->batch * shape->heads, tiles = heads * query_tiles;
  memset(seen, 0, sizeof seen);
  for (int i = 0; i < tiles; i++) {
    const place it = found[i];
    const int head = it.batch * shape->heads + it.head, tile = it.first_query / TILE_ROWS;
    cr_assert(it.batch >= 0 && it.batch < shape->batch && it.head >= 0 && it.head < shape->heads &&
                  tile >= 0 && tile < query_tiles && it.first_query % TILE_ROWS == 0,
              "tile %d: batch %d, head %d, first query %d", i, it.batch, it.head, it.first_query);
    cr_expect_eq(seen[head * query_tiles + tile]++, 0, "tile %d has come before", i);
    cr_expect_eq(it.kv_head, it.head / (shape->heads / shape->kv_heads), "tile %d", i);
    cr_expect_eq(it.first_row, head * shape->seq_q + it.first_query, "tile %d", i);
  }
  if (!shape->causal) return;
  // Sections: the last query tiles first, and all heads of one before those of the next.
  cr_expect(sections[0] > 0 && sections[2] > 0 && sections[1] % sections[0] == 0, "%d, %d, %d",
            sections[0], sections[1], sections[2]);
  cr_expect_eq(sections[1] + sections[2], heads);
  for (int i = 0; i < tiles; i++) {
    const int head = found[i].batch * shape->heads + found[i].head;
    const bool last = i >= sections[1] * query_tiles;
    const int size = last ? sections[2] : sections[0];
    const int first = last ? sections[1] : i / query_tiles / size * size;
    const int row = (i - first * query_tiles) / size;
    cr_expect(head >= first && head < first + size, "tile %d is of head %d", i, head);
    cr_expect_eq(found[i].first_query, (query_tiles - 1 - row) * TILE_ROWS, "tile %d", i);
  }
}

Test(tile_order, each_tile_comes_once) {
  static const int kinds[][5] = {
      {1, 1, 1, 1, 1},       {1, 1, 1, 4096, 4096}, {4, 32, 32, 512, 512},
      {4, 32, 8, 500, 500},  {2, 300, 3, 200, 130}, {7, 33, 11, 640, 64},
      {128, 32, 32, 64, 64}, {5, 64, 4, 1000, 1},   {3, 100, 50, 77, 4096}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const int *it = kinds[i];
    for (int causal = 0; causal < 2; causal++) {
      const attention_shape shape = shape_of(it[0], it[1], it[2], it[3], it[4], causal);
      expect_each_tile_once(&shape);
    }
  }
}

// Heads that share K and V stay in one section. A section has no more tiles than multiprocessors, if a group of heads has
// not. K and V of the last section have room in the L2 cache, unless a section of about one tile for each multiprocessor
// has none, and it has four tiles for each if there are so many.
static void expect_good_sections(const attention_shape *shape, int multiprocessors, int cache) {
  static place found[MOST];
  int sections[3];
  find(shape, found, sections);
  const int group = shape->heads / shape->kv_heads, last = sections[2];
  const double head_bytes = 4.0 * shape->seq_kv * shape->head_dim / group; // of K and V
  const double tiles = last * ceil(shape->seq_q / (double)TILE_ROWS) / multiprocessors;
  const double even =
      multiprocessors / ceil(shape->seq_q / (double)TILE_ROWS); // heads of a section
  cr_expect(sections[0] % group == 0 && sections[1] % group == 0 && last % group == 0 &&
                sections[0] < fmax(1, floor(even)) + group &&
                (last * head_bytes <= cache || last <= sections[0]) &&
                (last == shape->heads || tiles >= 4 || (last + sections[0]) * head_bytes > cache) &&
                (last == shape->heads || tiles < 7 || last <= 2 * sections[0]),
            "%d heads in groups of %d, %d queries, %d keys: sections of %d heads, %d in all, and "
            "one of %d",
            shape->heads, group, shape->seq_q, shape->seq_kv, sections[0], sections[1], last);
}

Test(tile_order, the_last_section_has_room_in_the_cache) {
  int cache = 0, multiprocessors = 0;
  cr_assert_eq(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0), cudaSuccess);
  cr_assert_eq(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
               cudaSuccess);
  for (int group = 1; group <= 4; group++)
    for (int heads = 8 * group; heads <= 264; heads += 12 * group)
      for (int seq_q = 256; seq_q <= 8192; seq_q *= 2)
        for (int seq_kv = seq_q; seq_kv <= 64 * seq_q; seq_kv *= 8) {
          const attention_shape shape = shape_of(1, heads, heads / group, seq_q, seq_kv, true);
          expect_good_sections(&shape, multiprocessors, cache);
        }
}
