// A step is right for every shape: lengths that no tile divides, other head_dims, grouped heads, masks.
#define _GNU_SOURCE
#include "suite.h"

#include "device/device.h"
#include "tests/tested_as.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const attention_dtype dtypes[] = {ATTENTION_FP16, ATTENTION_BF16};

// Where the documents' kernel went wrong (from two tiles on), and where it was right.
Test(shapes, of_the_documents) {
  static const int lengths[] = {4, 64, 65, 128, 192, 256, 512};
  for (size_t i = 0; i < LENGTH(lengths); i++) {
    const int head_dim = lengths[i] == 4 ? 4 : 64;
    suite_expect_right(suite_shape(ATTENTION_FP16, lengths[i], lengths[i], head_dim, false),
                       INPUTS_NORMAL);
  }
}

Test(shapes, ragged_lengths) {
  static const int lengths[] = {1, 7, 31, 33, 63, 127, 129, 200};
  for (size_t i = 0; i < LENGTH(lengths); i++) {
    for (int causal = 0; causal <= 1; causal++) {
      for (size_t type = 0; type < LENGTH(dtypes); type++) {
        suite_expect_right(suite_shape(dtypes[type], lengths[i], lengths[i], 64, causal),
                           INPUTS_NORMAL);
      }
    }
  }
}

Test(shapes, thousand) {
  for (int causal = 0; causal <= 1; causal++) {
    attention_shape one_head = suite_shape(ATTENTION_FP16, 1000, 1000, 64, causal);
    one_head.heads = one_head.kv_heads = 1;
    suite_expect_right(one_head, INPUTS_NORMAL);
  }
}

// With a causal mask and more queries than keys, the first rows see no key at all.
Test(shapes, lengths_that_differ) {
  static const int lengths[][2] = {{1, 200},   {200, 1},  {7, 129},  {129, 7},  {63, 200},
                                   {200, 130}, {128, 64}, {64, 128}, {3, 1025}, {3, 1026}};
  for (size_t i = 0; i < LENGTH(lengths); i++) {
    for (int causal = 0; causal <= 1; causal++) {
      suite_expect_right(suite_shape(dtypes[i % 2], lengths[i][0], lengths[i][1], 64, causal),
                         INPUTS_NORMAL);
    }
  }
}

// The lengths that FlashAttention tests itself with (tests/test_flash_attn.py and hopper/test_flash_attn.py
// of Dao-AILab/flash-attention). The emulator takes the short ones, and one type and mask for each. On a GPU every length
// comes in all types and masks. Of the longest ones all rows are compared in one of these alone, because their reference
// would take most of the suite's time.
Test(shapes, of_flash_attention) {
  static const int lengths[][2] = {
      {1, 1},     {64, 128},    {128, 192},   {256, 256},   {239, 1},     {799, 3},    {113, 203},
      {113, 128}, {128, 217},   {113, 211},   {108, 256},   {256, 512},   {384, 256},  {640, 128},
      {512, 256}, {1024, 1024}, {1023, 1024}, {1024, 1023}, {4096, 4096}, {4224, 4224}};
  enum { LONG = 2000, ROWS = 256 };
  const bool emulated = suite_emulated();
  for (size_t i = 0; i < LENGTH(lengths); i++) {
    if (emulated && lengths[i][0] * lengths[i][1] > 256 * 256) continue;
    for (int variant = 0; variant < 8; variant++) {
      const bool causal = variant & 1;
      const attention_dtype dtype = dtypes[variant >> 1 & 1];
      const int head_dim = variant & 4 ? 128 : 64;
      if (emulated && (variant & 3) != (int)(i + (variant >> 2)) % 4) continue;
      const attention_shape shape =
          suite_shape(dtype, lengths[i][0], lengths[i][1], head_dim, causal);
      if (lengths[i][0] > LONG && variant != (int)i % 8) {
        suite_expect_some_rows_right(shape, INPUTS_NORMAL, ROWS);
      } else {
        suite_expect_right(shape, INPUTS_NORMAL);
      }
    }
  }
}

Test(shapes, head_dims) {
  static const int head_dims[] = {1,  4,  8,  31, 32, 33,  34,  40,  60, 62,
                                  64, 65, 66, 80, 96, 100, 126, 127, 128};
  for (size_t i = 0; i < LENGTH(head_dims); i++) {
    for (int causal = 0; causal <= 1; causal++) {
      for (size_t type = 0; type < LENGTH(dtypes); type++) {
        suite_expect_right(suite_shape(dtypes[type], 70, 70, head_dims[i], causal), INPUTS_NORMAL);
      }
    }
  }
}

// Query heads that share a key/value head: groups of many sizes, and then key/value heads of many numbers.
Test(shapes, grouped_heads) {
  static const int groups[] = {4, 5, 8, 16, 20};
  for (size_t i = 0; i < LENGTH(groups); i++) {
    attention_shape shape = suite_shape(dtypes[i % 2], 3 + (int)i % 2 * 20, 72, 64, i % 2 == 0);
    shape.batch = 2, shape.kv_heads = 2, shape.heads = 2 * groups[i];
    suite_expect_right(shape, INPUTS_NORMAL);
  }
  static const int kv_heads[] = {1, 2, 3, 6};
  for (size_t i = 0; i < LENGTH(kv_heads); i++) {
    for (int head_dim = 32; head_dim <= 64; head_dim *= 2) {
      attention_shape shape = suite_shape(dtypes[i % 2], 40, 72, head_dim, i % 2 == 1);
      shape.batch = 3;
      shape.heads = 6;
      shape.kv_heads = kv_heads[i];
      suite_expect_right(shape, INPUTS_NORMAL);
    }
  }
}

// A few queries of many keys. Steps that split the keys merge more parts than a thread loads at once, which is 16 in
// step 20, and more than there are groups of threads that merge, which are 8 at most in steps 18 and 19. The emulator
// leaves the other steps out.
Test(shapes, many_keys) {
  enum { FIRST_THAT_SPLITS = 18 };
  if (suite_emulated() && tested_number(suite_step().name) < FIRST_THAT_SPLITS) return;
  for (int causal = 0; causal <= 1; causal++) {
    attention_shape shape = suite_shape(dtypes[causal], 3, 4500, 64 << causal, causal);
    shape.kv_heads = 1;
    suite_expect_right(shape, INPUTS_NORMAL);
  }
}

// Persistent blocks, which take one tile after the other, need more tiles than there are multiprocessors: on a GPU 132
// heads of one tile of up to 256 rows, and 8 of 17. The emulator says that it has 4.
Test(shapes, more_tiles_than_multiprocessors) {
  setenv("EMU_MULTIPROCESSORS", "4", 1);
  const bool emulated = suite_emulated();
  for (int head_dim = 64; head_dim <= 128; head_dim *= 2) {
    attention_shape many_heads = suite_shape(dtypes[head_dim / 128], 129, 150, head_dim, true);
    many_heads.batch = 2;
    many_heads.heads = emulated ? 6 : 66;
    many_heads.kv_heads = many_heads.heads / 3;
    suite_expect_right(many_heads, INPUTS_NORMAL);
  }
  attention_shape long_heads = suite_shape(ATTENTION_BF16, 4097, 140, 64, true);
  long_heads.batch = 1;
  long_heads.heads = long_heads.kv_heads = emulated ? 1 : 8;
  suite_expect_right(long_heads, INPUTS_NORMAL);
  // Step 20 divides such tiles among its blocks: each of them ends one tile and begins another one.
  attention_shape one_query = suite_shape(ATTENTION_FP16, 1, 1100, 64, false);
  one_query.batch = 1;
  one_query.heads = one_query.kv_heads = emulated ? 7 : 140;
  suite_expect_right(one_query, INPUTS_NORMAL);
}

// Persistent blocks take heads in sections of about one tile for each multiprocessor, the last section having four times
// as many. Here the heads make two such sections and a part of one; then as many as the last section alone
// has, one less, and one more. The emulator says that it has 4 multiprocessors, so that they stay few.
Test(shapes, sections_of_heads) {
  setenv("EMU_MULTIPROCESSORS", "4", 1);
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  const int section = (device.multiprocessors + 1) / 2; // of heads of two tiles of up to 256 rows
  const int last = 4 * section;
  const struct {
    int heads, group;
  } cases[] = {{last + 2 * section + (section + 1) / 2, 1},
               {last, 1},
               {last - 1, 1},
               {last + 1, 1},
               {3 * (last / 3 + 1), 3}};
  for (size_t i = 0; i < LENGTH(cases); i++) {
    attention_shape shape = suite_shape(dtypes[i % 2], 257, 70, 64, true);
    shape.heads = cases[i].heads;
    shape.kv_heads = cases[i].heads / cases[i].group;
    suite_expect_right(shape, INPUTS_NORMAL);
  }
}

// The last section has no more heads than have room in the L2 cache with their K and V, but at least as many as the
// others. Here the emulator's cache has room for none, so all sections are of one size.
Test(shapes, heads_without_room_in_the_cache) {
  setenv("EMU_MULTIPROCESSORS", "4", 1);
  setenv("EMU_L2_BYTES", "1000", 1);
  for (int heads = 2; heads <= 4; heads += 2) {
    attention_shape shape = suite_shape(ATTENTION_FP16, 257, 70, 64, true);
    shape.batch = 1;
    shape.heads = shape.kv_heads = heads;
    suite_expect_right(shape, INPUTS_NORMAL);
  }
}

Test(shapes, scales) {
  static const float scales[] = {0.0f, 1.0f, -0.5f, 1e-4f};
  for (size_t i = 0; i < LENGTH(scales); i++) {
    attention_shape shape = suite_shape(ATTENTION_FP16, 70, 70, 64, true);
    shape.scale = scales[i];
    suite_expect_right(shape, INPUTS_NORMAL);
  }
}

// A grid has at most 65,535 blocks in y and in z, on a GPU. The emulator takes other limits, too, so that some
// hundred tiles show what a step does beyond them; it takes a minute for 132,000 tiles of most steps.
static int set_grid_limit(int limit_of_emulator) {
  if (!suite_emulated()) return 65535;
  char number[16];
  snprintf(number, sizeof number, "%d", limit_of_emulator);
  setenv("EMU_GRID_LIMIT", number, 1);
  return limit_of_emulator;
}

// The smallest head_dim that the step takes, of these.
static int small_head_dim(int smallest) {
  const attention_shape shape = suite_shape(ATTENTION_FP16, 1, 3, smallest, false);
  return suite_step().unsupported(&shape) ? 64 : smallest;
}

static void expect_right_beyond(int limit) {
  const int head_dim = small_head_dim(2);
  attention_shape many_batches = suite_shape(ATTENTION_FP16, 1, 3, head_dim, false);
  many_batches.batch = limit + limit / 150 + 1;
  many_batches.heads = many_batches.kv_heads = 1;
  suite_expect_right(many_batches, INPUTS_NORMAL);

  attention_shape many_heads = suite_shape(ATTENTION_FP16, 1, 3, head_dim, false);
  many_heads.heads = many_heads.kv_heads = many_batches.batch;
  suite_expect_right(many_heads, INPUTS_NORMAL);
}

// LAB_LARGE=1, which `make step06 check` of the lab's own file sets, has the emulator take the limit of a GPU, too.
Test(shapes, more_heads_and_batches_than_a_grid_has_blocks) {
  expect_right_beyond(set_grid_limit(100));
  const char *large = getenv("LAB_LARGE");
  const bool first = strncmp(suite_step().name, "01_", 3) == 0; // which takes seconds
  if (!suite_emulated() || small_head_dim(2) == 64 || !(first || (large && *large))) return;
  expect_right_beyond(set_grid_limit(65535));
}

// Several rounds of a block that takes each so many tiles; on a GPU, where a tile has 64 rows, a second one.
Test(shapes, more_query_tiles_than_a_grid_has_blocks) {
  const int limit = set_grid_limit(3);
  const bool emulated = suite_emulated();
  attention_shape shape = suite_shape(ATTENTION_BF16, emulated ? 3 * 256 + 1 : limit * 64 + 1, 2,
                                      emulated ? small_head_dim(1) : 1, false);
  shape.heads = shape.kv_heads = 1;
  suite_expect_right(shape, INPUTS_NORMAL);
}
