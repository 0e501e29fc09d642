// Tests the shapes of the bench.
#include "bench/grid.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <string.h>

static attention_shape shapes[GRID_MOST];

static size_t count(grid_filter filter) { return grid_make(&filter, shapes); }

static bool same(const attention_shape *a, const attention_shape *b) {
  return strcmp(shape_describe(a).text, shape_describe(b).text) == 0;
}

Test(grid, whole) {
  cr_assert_eq(count(GRID_WHOLE), GRID_MOST);
  size_t small = 0;
  for (size_t i = 0; i < GRID_MOST; i++) {
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
  cr_expect_str_eq(shape_describe(&shapes[0]).text, "4x16x4096x128 bf16 causal");
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
