#include "shape/shape.h"
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
  cr_assert_str_eq(shape_describe(&good).text, "2x6x5x4 fp16 causal, kv 2x3x7x4");
}

Test(shape, refuses_in_words) {
  struct {
    attention_shape shape;
    const char *words;
  } cases[] = {{good, "batch is 0"},
               {good, "seq_kv is -3"},
               {good, "heads is 6 and kv_heads is 4"},
               {good, "scale is nan"},
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
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    error_text error;
    cr_assert(!shape_valid(&cases[i].shape, &error), "case %zu was accepted", i);
    cr_assert_not_null(strstr(error.text, cases[i].words), "\"%s\" does not say \"%s\"", error.text,
                       cases[i].words);
  }
}
