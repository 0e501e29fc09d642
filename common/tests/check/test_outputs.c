// What check_outputs accepts, and what it says, at the edge of each rule. The reference is made by hand: its O is 0, so
// that each element of O is its own error, and its lse is 3, so that an error of 4e-5 is the largest of a right row.
#include "check/check.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { HEADS = 2, ROWS = 16, DIM = 70, ALL_ROWS = HEADS * ROWS, COUNT = ALL_ROWS * DIM };

// These are fp16.
enum { ONE = 0x3c00, MORE_THAN_ONE = 0x3c10, TWO = 0x4000, FOUR = 0x4400, MINUS = 0x8000 };

static attention_shape shape;
static reference_result reference;
static uint16_t o[COUNT];
static float lse[ALL_ROWS];

static void make_reference(void) {
  static double o_expected[COUNT], lse_expected[ALL_ROWS];
  static float allowed[COUNT], mean[COUNT], low[COUNT], high[COUNT];
  static float score_error[ALL_ROWS], lse_error[ALL_ROWS];
  shape = (attention_shape){ATTENTION_FP16, 1, HEADS, 1, ROWS, ROWS, DIM, false, 0.125f};
  for (size_t i = 0; i < COUNT; i++) allowed[i] = mean[i] = 1;
  for (size_t i = 0; i < ALL_ROWS; i++) lse_expected[i] = 3, lse[i] = 3;
  reference = (reference_result){.o = o_expected,
                                 .lse = lse_expected,
                                 .o_bound = 8,
                                 .o_allowed = allowed,
                                 .o_mean = mean,
                                 .score_error = score_error,
                                 .lse_error = lse_error,
                                 .o_low = low,
                                 .o_high = high};
}

TestSuite(outputs, .init = make_reference);

// Expects that the outputs are right, where `words` is NULL, or wrong with these words.
static check_result expect(const char *words) {
  check_result result;
  const bool right = check_outputs(&shape, o, lse, &reference, &result);
  cr_expect_eq(right, !words, "%s", result.message.text);
  if (words) cr_expect(strstr(result.message.text, words), "%s", result.message.text);
  return result;
}

// Float32 does not determine the weights of this row, so that O may lie between -1 and 2.
static void make_ill_conditioned(size_t row) {
  reference.score_error[row] = 0.5f;
  for (size_t i = row * DIM; i < (row + 1) * DIM; i++) {
    reference.o_allowed[i] = 0.5f;
    reference.o_low[i] = -1;
    reference.o_high[i] = 2;
  }
}

// A NaN is no smaller than what is allowed, and no larger either.
Test(outputs, a_nan_is_wrong) {
  o[(ROWS + 6) * DIM + 1] = 0x7e00;
  cr_expect(isnan(expect("O is wrong at batch 0, head 1, row 6, column 1: ").o_error));
  o[(ROWS + 6) * DIM + 1] = 0;
  lse[7] = NAN;
  cr_expect(isnan(expect("lse is wrong at batch 0, head 0, row 7: expected 3, got nan").lse_error));
}

// Each of these numbers differs little from the one before it, and comes from somewhere else.
Test(outputs, what_is_not_finite_is_called_by_its_origin) {
  static const struct {
    attention_dtype dtype;
    uint16_t bits;
    const char *words;
  } cases[] = {
      {ATTENTION_FP16, 0xffff, "; 1 were never written"},
      {ATTENTION_FP16, 0x7dff, "; 1 are NaN or infinite"}, // its first byte is that of the poison
      {ATTENTION_FP16, 0x7c00, "; 1 are NaN or infinite"},
      {ATTENTION_FP16, 0xffca, "; 1 are NaN or infinite"},
      {ATTENTION_FP16, 0xffc8, "; 1 are NaN, computed from device memory"}, // from bf16
      {ATTENTION_BF16, 0xffc8, "; 1 are NaN or infinite"},
      {ATTENTION_BF16, 0xfff9, "; 1 are NaN, computed from device memory"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    shape.dtype = cases[i].dtype;
    o[5] = cases[i].bits;
    expect(cases[i].words);
  }
  o[5] = 0;
  lse[7] = INFINITY;
  expect("; 1 are NaN or infinite");
}

Test(outputs, no_error_uses_nothing_of_what_is_allowed) {
  for (size_t i = 0; i < COUNT; i++) reference.o_allowed[i] = 0;
  cr_expect_eq(expect(NULL).o_used, 0);
}

Test(outputs, an_error_in_the_mean_is_as_large_as_is_allowed_and_no_larger) {
  for (size_t i = 0; i < COUNT; i++) o[i] = ONE, reference.o_allowed[i] = 2;
  cr_expect_eq(expect(NULL).o_mean, 1);
  for (size_t i = 0; i < COUNT; i++) o[i] = MORE_THAN_ONE;
  expect("O is wrong in many elements");
}

// Sixteen rows are enough to tell, and fifteen are not.
Test(outputs, the_mean_is_that_of_rows_that_float32_determines) {
  for (size_t row = 0; row < 16; row++) make_ill_conditioned(row);
  for (size_t i = 0; i < COUNT; i++) {
    o[i] = MORE_THAN_ONE;
    if (i >= 16 * DIM) reference.o_allowed[i] = 2;
  }
  expect("O is wrong in many elements: each error of 1120 ");
  make_ill_conditioned(16);
  cr_expect_eq(expect(NULL).o_mean, 0);
}

Test(outputs, an_ill_conditioned_row_has_two_ends) {
  make_ill_conditioned(2);
  make_ill_conditioned(5);
  reference.score_error[5] = 0.75f;
  reference.o_low[2 * DIM] = -4;
  o[2 * DIM] = MINUS | FOUR;
  o[5 * DIM + 1] = o[5 * DIM + 2] = TWO;
  const check_result result = expect(NULL);
  cr_expect(result.ill_conditioned == 2 && result.o_bound == 8);
  cr_expect(strstr(result.message.text, "in 2 of 32 rows, such as batch 0, head 0, row 2: "), "%s",
            result.message.text);
  cr_expect(strstr(result.message.text, "(an error of up to 0.75 in the exponent)"), "%s",
            result.message.text);
  // A row that is right all the same does not count.
  make_ill_conditioned(9);
  reference.score_error[9] = 4;
  cr_expect(strstr(expect(NULL).message.text, "in 2 of 32 rows"));
  cr_expect(strstr(expect(NULL).message.text, "(an error of up to 0.75 in the exponent)"));
  o[2 * DIM] = MINUS | (FOUR + 1);
  expect("row 2, column 0: expected 0, got -4.00391 (allowed error 4)");
  o[2 * DIM] = 0;
  o[5 * DIM + 1] = o[5 * DIM + 2] = TWO + 1;
  cr_expect_eq(expect("row 5, column 1: ").o_bad, 2);
}

Test(outputs, lse_may_be_off_by_a_part_of_its_size) {
  lse[7] = 3 + 3.9e-5f;
  cr_expect_float_eq(expect(NULL).lse_error, 3.9e-5 / 4, 1e-7);
  lse[20] = 3 - 4.1e-5f;
  lse[30] = 9;
  expect("lse is wrong at batch 0, head 1, row 4: expected 3, got 2.99996 (allowed error 4e-05)");
}

// Errors of the scores widen what is allowed only where they are larger.
Test(outputs, lse_may_be_off_by_the_errors_of_its_scores) {
  lse[7] = 3 + 4.1e-5f;
  reference.lse_error[7] = 3.9e-5f;
  expect("lse is wrong at batch 0, head 0, row 7");
  reference.lse_error[7] = 1e-3f;
  cr_expect_eq(expect(NULL).lse_error, 0);
  lse[7] = 3 + 1.03e-3f;
  expect(NULL);
  lse[7] = 3 - 1.05e-3f;
  expect("lse is wrong at batch 0, head 0, row 7");
}

Test(outputs, lse_without_keys_is_minus_infinity_and_nothing_else) {
  static const float wrong[] = {NAN, INFINITY, -1e30f, 0};
  reference.lse[9] = -INFINITY;
  lse[9] = -INFINITY;
  expect(NULL);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    lse[9] = wrong[i];
    expect("lse is wrong at batch 0, head 0, row 9: expected -inf, got ");
  }
}

Test(outputs, an_ill_conditioned_row_is_named_in_its_head) {
  make_ill_conditioned(ROWS + 3);
  o[(ROWS + 3) * DIM] = ONE;
  const check_result result = expect(NULL);
  cr_expect(strstr(result.message.text, "in 1 of 32 rows, such as batch 0, head 1, row 3: "), "%s",
            result.message.text);
}

// The sentence says what is wrong, and not only what may look so.
Test(outputs, a_wrong_lse_is_told_beside_an_ill_conditioned_row) {
  make_ill_conditioned(2);
  o[2 * DIM] = MINUS | ONE;
  lse[7] = 9;
  cr_expect_eq(expect("lse is wrong at batch 0, head 0, row 7").ill_conditioned, 1);
}

// Row 5 of each head is compared. Of the others the first four see no key.
static void select_row_5(void) {
  static int rows[HEADS] = {5, 5};
  reference.selection = (row_selection){.per_head = 1, .rows = rows};
  shape.causal = true;
  shape.seq_kv = ROWS - 4;
  for (size_t i = 0; i < ALL_ROWS; i++) lse[i] = i % ROWS < 4 ? -INFINITY : 7;
  lse[5] = lse[ROWS + 5] = 3;
}

Test(outputs, lse_of_a_row_between_is_finite_where_it_sees_a_key) {
  select_row_5();
  expect(NULL);
  lse[ROWS + 4] = -INFINITY;
  expect("lse is -inf at batch 0, head 1, row 4. 1 of 32 elements are not finite");
  lse[ROWS + 6] = NAN;
  cr_expect_eq(expect("lse is -inf at batch 0, head 1, row 4. 2 of 32 ").lse_bad, 2);
  select_row_5();
  lse[ROWS + 3] = NAN;
  expect("lse is nan at batch 0, head 1, row 3. ");
  lse[ROWS + 3] = 0;
  expect("lse is 0 at batch 0, head 1, row 3. ");
}

Test(outputs, o_of_a_row_between_is_finite_in_its_type) {
  select_row_5();
  o[(ROWS + 6) * DIM + 1] = 0x7c00;
  expect("O is inf at batch 0, head 1, row 6. 1 of 2240 elements are not finite");
  shape.dtype = ATTENTION_BF16; // in which these bits are 2^121
  expect(NULL);
  o[(ROWS + 6) * DIM + 1] = 0x7f80;
  expect("O is inf at batch 0, head 1, row 6. ");
}

Test(outputs, of_two_runs_the_worse_number_is_kept) {
  const check_result good = {0}, bad = {.o_error = 1,
                                        .o_bound = 2,
                                        .o_used = 3,
                                        .o_mean = 4,
                                        .lse_error = NAN,
                                        .o_bad = 6,
                                        .lse_bad = 7,
                                        .ill_conditioned = 8,
                                        .message = {"it is wrong"}};
  for (int first = 0; first < 3; first++) { // the good one, the bad one, or both are bad
    check_result result = first == 0 ? good : bad;
    check_keep_worse(&result, first == 1 ? &good : &bad, "later");
    cr_expect(result.o_error == 1 && result.o_bound == 2 && result.o_used == 3 &&
              result.o_mean == 4 && isnan(result.lse_error) && result.o_bad == 6 &&
              result.lse_bad == 7 && result.ill_conditioned == 8);
    cr_expect_str_eq(result.message.text, first == 0 ? "later: it is wrong" : "it is wrong");
  }
  // A wrong row of lse counts as much as an element of O.
  check_result result = {.o_bad = 1, .message = {"O is wrong"}};
  const check_result more = {.o_bad = 1, .lse_bad = 1, .message = {"both are"}};
  check_keep_worse(&result, &more, "later");
  cr_expect_str_eq(result.message.text, "later: both are");
  // Of two runs that are right, the one with more ill-conditioned rows has more to tell.
  result = (check_result){.ill_conditioned = 1, .message = {"one row"}};
  const check_result ill = {.ill_conditioned = 2, .message = {"two rows"}};
  check_keep_worse(&result, &ill, "later");
  cr_expect_str_eq(result.message.text, "later: two rows");
}
