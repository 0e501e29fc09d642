// Tests the shapes of the bench.
#include "bench/grid.h"
#include "shape/shape.h"
#include "tests/kept.h"
#include "tests/needs.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { WHOLE = 44 }; // shapes of the grid

static attention_shape shapes[GRID_MOST];

static size_t count(grid_filter filter) { return grid_make(&filter, shapes); }

static bool same(const attention_shape *a, const attention_shape *b) {
  return strcmp(shape_describe(a).text, shape_describe(b).text) == 0;
}

Test(grid, whole) {
  cr_assert_eq(count(GRID_WHOLE), WHOLE);
  size_t small = 0;
  for (size_t i = 0; i < WHOLE; i++) {
    const attention_shape *shape = &shapes[i];
    error_text error;
    cr_expect(shape_valid(shape, &error), "%s", error.text);
    cr_expect(shape->seq_q == shape->seq_kv && shape->heads == shape->kv_heads);
    cr_expect_float_eq(shape->scale * shape->scale * (float)shape->head_dim, 1, 1e-6);
    const bool large = shape->batch * shape->seq_q == 16384 &&
                       shape->heads * shape->head_dim == 2048 && shape->seq_q >= 128;
    const bool is_small =
        shape->batch == 4 && shape->heads == 8 && shape->seq_q == 512 && shape->head_dim == 64;
    cr_expect(large != is_small, "%s", shape_describe(shape).text);
    small += is_small;
    for (size_t j = 0; j < i; j++) {
      cr_expect(!same(shape, &shapes[j]), "%s twice", shape_describe(shape).text);
    }
  }
  cr_expect_eq(small, 4);
}

Test(grid, parts) {
  grid_filter filter = GRID_WHOLE;
  filter.seq = 16384; // in fp16 alone
  cr_expect_eq(count(filter), 4);
  filter.seq = 4096;
  cr_expect_eq(count(filter), 8);
  filter.head_dim = 128;
  cr_expect_eq(count(filter), 4);
  filter.causal = 1;
  cr_expect_eq(count(filter), 2);
  filter.dtype = ATTENTION_BF16;
  cr_expect_eq(count(filter), 1);
  cr_expect_str_eq(kept(shape_describe(&shapes[0]).text), "4x16x4096x128 bf16 causal");
  filter.seq = 300;
  cr_expect_eq(count(filter), 0);

  filter = GRID_WHOLE;
  filter.quick = true;
  const size_t quick = count(filter);
  cr_expect_eq(quick, 14); // 3 lengths, 2 head_dims, causal or not; and the small shape
  for (size_t i = 0; i < quick; i++) {
    cr_expect_eq(shapes[i].dtype, ATTENTION_FP16);
    cr_expect_leq(shapes[i].seq_q, 2048);
  }
}

// Writes the shapes of decode as text, a line for each.
static void describe_decode(bool quick, char *text, size_t size) {
  grid_filter filter = GRID_WHOLE;
  filter.decode = true;
  filter.quick = quick;
  const size_t shapes_of = count(filter);
  size_t length = 0;
  for (size_t i = 0; i < shapes_of; i++) {
    error_text error;
    cr_expect(shape_valid(&shapes[i], &error), "%s", error.text);
    cr_expect_float_eq(shapes[i].scale * shapes[i].scale * 128, 1, 1e-6);
    length +=
        (size_t)snprintf(text + length, size - length, "%s\n", shape_describe(&shapes[i]).text);
    cr_assert_lt(length, size);
  }
}

// make bench DECODE=1 and make decode measure the same shapes, so their times can be compared.
Test(grid, decode_has_the_shapes_of_the_peers) {
  needs_tool("python3");
  for (int quick = 0; quick <= 1; quick++) {
    char command[256];
    snprintf(
        command, sizeof command,
        "PYTHONPATH=common/tools PYTHONDONTWRITEBYTECODE=1 python3 -c 'from peers import grid\n"
        "for shape in grid.decode(%s): print(shape)' 2>&1",
        quick ? "True" : "False");
    FILE *peers = popen(command, "r");
    cr_assert_not_null(peers);
    char theirs[GRID_MOST * 64];
    theirs[fread(theirs, 1, sizeof theirs - 1, peers)] = '\0';
    cr_assert_eq(pclose(peers), 0, "%s", theirs);
    char ours[sizeof theirs];
    describe_decode(quick, ours, sizeof ours);
    cr_expect_str_eq(ours, theirs, "bench:\n%s\npeers:\n%s", ours, theirs);
  }
}

Test(grid, parts_of_decode) {
  grid_filter filter = GRID_WHOLE;
  filter.decode = true;
  filter.seq = 1024; // of K and V
  cr_expect_eq(count(filter), 2 * 4 * 4);
  filter.causal = 0;
  cr_expect_eq(count(filter), 4 * 4);
  cr_expect_str_eq(kept(shape_describe(&shapes[0]).text), "1x32x1x128 bf16, kv 1x32x1024x128");
  filter.quick = true;
  cr_expect_eq(count(filter), 2);
  filter.dtype = ATTENTION_FP16;
  cr_expect_eq(count(filter), 0);
}
