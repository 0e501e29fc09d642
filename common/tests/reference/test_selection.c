// A reference of selected rows has the right rows, and the same values in them as the whole one.
#include "inputs/inputs.h"
#include "reference/reference.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <stdlib.h>

static attention_shape make_shape(int rows) {
  return (attention_shape){ATTENTION_BF16, 2, 4, 2, rows, rows, 16, true, 0.25f};
}

Test(selection, rows_of_each_head) {
  enum { HEADS = 8 };
  static const int lengths[] = {1, 2, 5, 100, 2048};
  static const size_t wanted[] = {1, 2, 3, 17, 64};
  error_text error;
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 5; j++) {
      const attention_shape shape = make_shape(lengths[i]);
      const size_t rows = (size_t)lengths[i];
      row_selection selection;
      cr_assert(selection_create(&shape, wanted[j], 1, &selection, &error), "%s", error.text);
      const size_t count = selection_count(&selection, &shape);
      cr_assert_eq(count, wanted[j] < rows ? wanted[j] : rows);
      for (size_t head = 0; head < HEADS; head++) {
        cr_expect_eq(selection_row(&selection, head, 0), 0);
        if (count > 1) cr_expect_eq(selection_row(&selection, head, count - 1), rows - 1);
        if (count > 2) cr_expect_eq(selection_row(&selection, head, 1), 1);
        for (size_t n = 1; n < count; n++) {
          cr_expect_lt(selection_row(&selection, head, n - 1), selection_row(&selection, head, n));
        }
      }
      selection_free(&selection);
    }
  }
}

static bool same_rows(const row_selection *a, const row_selection *b, size_t head) {
  for (size_t i = 0; i < a->per_head; i++) {
    if (selection_row(a, head, i) != selection_row(b, 0, i)) return false;
  }
  return true;
}

Test(selection, by_the_seed_and_other_rows_in_every_head) {
  const attention_shape shape = make_shape(4096);
  row_selection first, again, other;
  error_text error;
  cr_assert(selection_create(&shape, 64, 1, &first, &error) &&
            selection_create(&shape, 64, 1, &again, &error) &&
            selection_create(&shape, 64, 2, &other, &error));
  cr_expect(same_rows(&first, &again, 0));
  cr_expect(!same_rows(&first, &other, 0));
  cr_expect(!same_rows(&first, &first, 1));
  size_t edges = 0, begins = 0, eighths[8] = {0};
  for (size_t head = 0; head < 8; head++) {
    for (size_t i = 0; i < 64; i++) {
      const size_t place = selection_row(&first, head, i) % 16;
      edges += place == 0 || place == 15;
      begins += place == 0;
      eighths[selection_row(&first, head, i) / 512]++;
    }
  }
  for (size_t i = 0; i < 8; i++)
    cr_expect(eighths[i] > 30 && eighths[i] < 110, "%zu of 512 rows are in one eighth", eighths[i]);
  cr_expect(edges > 8 * 64 / 2 && edges < 8 * 64 * 7 / 10, "%zu rows at edges", edges);
  cr_expect(begins > edges / 3 && begins < edges * 2 / 3, "%zu of them begin a tile", begins);
  selection_free(&first);
  selection_free(&again);
  selection_free(&other);
}

Test(selection, the_reference_of_some_rows) {
  enum { ROWS = 100, SOME = 20 };
  const attention_shape shape = make_shape(ROWS);
  uint16_t *tensors[3];
  for (int t = 0; t < 3; t++) {
    tensors[t] = malloc(shape_q_count(&shape) * sizeof(uint16_t));
    inputs_fill(&shape, INPUTS_NORMAL, (inputs_tensor)t, 3, tensors[t]);
  }
  reference_result all, some, as_many;
  error_text error;
  cr_assert(
      reference_compute(&shape, tensors[0], tensors[1], tensors[2], &all, &error) &&
      reference_compute_some(&shape, tensors[0], tensors[1], tensors[2], SOME, 1, &some, &error) &&
      reference_compute_some(&shape, tensors[0], tensors[1], tensors[2], ROWS, 1, &as_many,
                             &error));
  const size_t dim = (size_t)shape.head_dim;
  for (size_t head = 0; head < 8; head++) {
    for (size_t i = 0; i < SOME; i++) {
      const size_t whole = head * ROWS + selection_row(&some.selection, head, i);
      cr_expect_eq(some.lse[head * SOME + i], all.lse[whole]);
      for (size_t d = 0; d < dim; d++) {
        cr_expect_eq(some.o[(head * SOME + i) * dim + d], all.o[whole * dim + d]);
      }
    }
  }
  cr_expect_gt(some.o_bound, 0.3 * all.o_bound);
  cr_expect_leq(some.o_bound, all.o_bound);
  cr_expect_eq(as_many.o_bound, all.o_bound);
  cr_expect_null(as_many.selection.rows);
  reference_free(&all);
  reference_free(&some);
  reference_free(&as_many);
  for (int t = 0; t < 3; t++) free(tensors[t]);
}

// There are 2^26 pairs of rows of Q and K in all, so that longer sequences have fewer rows, but eight are left of a head,
// or as many as it has, up to 2^29 pairs.
Test(selection, rows_that_take_seconds) {
  static const struct {
    int batch, heads, seq_q, seq_kv;
    size_t rows;
  } cases[] = {{128, 32, 128, 128, 128},   {64, 32, 256, 256, 128},
               {1, 32, 16384, 16384, 128}, {1, 16, 16384, 16384, 256},
               {4, 8, 512, 512, 512},      {16, 64, 4, 65536, 4},
               {16, 64, 1, 65536, 1},      {16, 64, 65536, 65536, 8},
               {32, 64, 65536, 65536, 4},  {1000, 100, 1 << 20, 1 << 20, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const attention_shape long_shape = {
        ATTENTION_FP16, cases[i].batch, cases[i].heads, 1, cases[i].seq_q, cases[i].seq_kv, 64,
        false,          0.125f};
    cr_expect_eq(selection_quick_rows(&long_shape), cases[i].rows, "%s",
                 shape_describe(&long_shape).text);
  }
}
