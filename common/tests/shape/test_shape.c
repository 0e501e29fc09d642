#include "shape/shape.h"
#include "tests/kept.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const attention_shape good = {.batch = 2,
                                     .heads = 6,
                                     .kv_heads = 3,
                                     .seq_q = 5,
                                     .seq_kv = 7,
                                     .head_dim = 4,
                                     .causal = true,
                                     .scale = 0.5f};

Test(shape, counts) {
  error_text error;
  cr_assert(shape_valid(&good, &error), "%s", error.text);
  cr_assert_eq(shape_q_count(&good), 2 * 6 * 5 * 4);
  cr_assert_eq(shape_kv_count(&good), 2 * 3 * 7 * 4);
  cr_assert_eq(shape_lse_count(&good), 2 * 6 * 5);
  cr_assert_eq(shape_bytes(&good), 2 * 2 * (240 + 168) + 4 * 60);
  // Rows 0 to 4 see 3 to 7 keys: 25 pairs for each of 12 heads, 4 operations for each of 4 columns.
  cr_assert_eq(shape_operations(&good), 4.0 * 12 * 25 * 4);
  cr_assert_str_eq(kept(shape_describe(&good).text), "2x6x5x4 fp16 causal, kv 2x3x7x4");
}

Test(shape, refuses_in_words) {
  struct {
    attention_shape shape;
    const char *words;
  } cases[] = {{good, "batch is 0"},
               {good, "seq_kv is -3"},
               {good, "heads is 6 and kv_heads is 4"},
               {good, "scale is nan"},
               {good, "cannot be counted"},
               {good, "cannot be counted"},
               {good, "cannot be counted"},
               {good, "scale is -inf"},
               {good, "seq_q is 1073741825"},
               {good, "cannot be counted"}};
  cases[0].shape.batch = 0;
  cases[1].shape.seq_kv = -3;
  cases[2].shape.kv_heads = 4;
  cases[3].shape.scale = NAN;
  cases[4].shape = (attention_shape){.batch = 1 << 30,
                                     .heads = 1 << 20,
                                     .kv_heads = 1,
                                     .seq_q = 1 << 20,
                                     .seq_kv = 1,
                                     .head_dim = 128,
                                     .scale = 1};
  cases[5].shape = cases[4].shape; // K and V as large as Q
  cases[5].shape.seq_q = 1;
  cases[5].shape.seq_kv = 1 << 20;
  cases[6].shape = (attention_shape){
      .batch = 1 << 30, // fp16 would be 2^61 bytes, and float64 with red zones is not
      .heads = 1 << 30,
      .kv_heads = 1,
      .seq_q = 1,
      .seq_kv = 1,
      .head_dim = 1,
      .scale = 1};
  cases[7].shape.scale = -INFINITY;
  cases[8].shape.seq_q = (1 << 30) + 1;
  cases[9].shape =
      cases[6].shape; // float64 with red zones is 2^63 bytes, one more than a ptrdiff_t holds
  cases[9].shape.batch = 1 << 29;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    error_text error;
    cr_assert(!shape_valid(&cases[i].shape, &error), "case %zu was accepted", i);
    cr_assert_not_null(strstr(error.text, cases[i].words), "\"%s\" does not say \"%s\"", error.text,
                       cases[i].words);
  }
}

Test(shape, the_largest_size_is_accepted) {
  attention_shape shape = good;
  error_text error;
  shape.seq_q = 1 << 30;
  cr_expect(shape_valid(&shape, &error), "%s", error.text);
}

// The last row sees all keys. A row before the first key's diagonal sees none.
Test(shape, keys_that_a_row_sees) {
  static const struct {
    int seq_q, seq_kv, query, keys;
  } cases[] = {{5, 7, 0, 3}, {5, 7, 4, 7}, {5, 5, 0, 1}, {5, 5, 4, 5}, {7, 5, 1, 0}, {7, 5, 2, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    attention_shape shape = good;
    shape.seq_q = cases[i].seq_q;
    shape.seq_kv = cases[i].seq_kv;
    cr_expect_eq(shape_visible_keys(&shape, cases[i].query), cases[i].keys, "case %zu", i);
    shape.causal = false;
    cr_expect_eq(shape_visible_keys(&shape, cases[i].query), cases[i].seq_kv, "case %zu", i);
  }
}

// Two shapes that differ have different descriptions.
Test(shape, describes_k_where_it_differs_from_q) {
  attention_shape shape = good;
  shape.seq_kv = shape.seq_q;
  cr_expect_str_eq(kept(shape_describe(&shape).text), "2x6x5x4 fp16 causal, kv 2x3x5x4");
  shape.kv_heads = shape.heads;
  cr_expect_str_eq(kept(shape_describe(&shape).text), "2x6x5x4 fp16 causal");
  shape.seq_kv = 7;
  shape.causal = false;
  shape.dtype = ATTENTION_BF16;
  cr_expect_str_eq(kept(shape_describe(&shape).text), "2x6x5x4 bf16, kv 2x6x7x4");
}
