// A checker must reject wrong results. A fake step computes attention on the host, right except for
// one planted fault; the clean step must pass and every fault must be refused in the right words.
#include "inputs/inputs.h"
#include "numeric/float16.h"
#include "numeric/poison.h"
#include "shape/shape.h"
#include "trial/trial.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
  CLEAN,
  ONE_NAN,
  ONE_WRONG_ELEMENT,
  TRANSPOSED,
  UNWRITTEN_TAIL,
  UNWRITTEN_LSE,
  PAST_THE_END,
  BEFORE_THE_START,
  PAST_THE_WORKSPACE,
  CHANGED_INPUT,
  FP16_ACCUMULATOR,
  WRONG_WITHOUT_LSE,
  IDLE_AFTER_TWO_LAUNCHES,
  LSE_WITHOUT_MAX,
  LSE_ROUNDED,      // to 17 bits
  LSE_WITHOUT_KEYS, // of a row that sees no key
  EIGHTH_COLUMN,
  SECOND_TILE,
  HALVES_OF_TILES, // the second rows of the fragments of mma.sync
  NAN_BETWEEN,     // in a row that the reference of some rows has not
  INFINITY_BETWEEN,
  UNWRITTEN_BETWEEN,
  LSE_NAN_BETWEEN,
  NAN_FROM_SHARED, // a sum with what the emulator leaves in shared memory
  NAN_FROM_WORKSPACE,
  PAST_THE_KEYS, // a read whose value gets the weight 0
  LSE_NAN_FROM_COPY,
  FAULTS
} fault;

static fault planted;
static const trial *problem;   // where the fake step finds its inputs on the host
static reference_result whole; // and the answers

// P V with the running sum rounded to fp16 after every addition, as an fp16 accumulator does.
static void accumulate_in_fp16(const attention_shape *shape, float *o) {
  const size_t dim = (size_t)shape->head_dim;
  const size_t keys = (size_t)shape->seq_kv;
  for (size_t row = 0; row < shape_lse_count(shape); row++) {
    const size_t head = row / (size_t)shape->seq_q;
    for (size_t d = 0; d < dim; d++) {
      float sum = 0;
      for (size_t key = 0; key < keys; key++) {
        double score = 0;
        for (size_t e = 0; e < dim; e++) {
          score += (double)fp16_to_float(problem->q[row * dim + e]) *
                   (double)fp16_to_float(problem->k[(head * keys + key) * dim + e]);
        }
        const float p = (float)exp((double)shape->scale * score - whole.lse[row]);
        const float v = fp16_to_float(problem->v[(head * keys + key) * dim + d]);
        sum = fp16_to_float(fp16_from_float(sum + p * v));
      }
      o[row * dim + d] = sum;
    }
  }
}

// What float32 memory holds that was poisoned.
static float poisoned(poison kind) {
  float value;
  poison_fill(&value, sizeof value, kind);
  return value;
}

// A row of head 1 that the trial's reference has not.
static size_t row_between(void) {
  const row_selection *selection = &problem->reference.selection;
  size_t row = 0;
  while (selection_row(selection, 1, row) == row) row++;
  return row;
}

static cudaError_t fake_forward(const attention_args *args, cudaStream_t stream) {
  static int launches;
  if (++launches > 2 && planted == IDLE_AFTER_TWO_LAUNCHES) return cudaSuccess;
  const attention_shape *shape = &args->shape;
  const size_t dim = (size_t)shape->head_dim;
  const size_t rows = (size_t)shape->seq_q;
  size_t count = shape_q_count(shape);
  const size_t lse_count = shape_lse_count(shape);
  float *o = malloc(count * sizeof *o);
  float *lse = malloc(lse_count * sizeof *lse);
  uint16_t *bits = malloc(count * sizeof *bits);
  cr_assert(o && lse && bits);
  for (size_t i = 0; i < count; i++) o[i] = (float)whole.o[i];
  for (size_t i = 0; i < lse_count; i++) lse[i] = (float)whole.lse[i];

  if (planted == FP16_ACCUMULATOR) accumulate_in_fp16(shape, o);
  if (planted == ONE_NAN) o[count / 2] = NAN;
  if (planted == NAN_FROM_SHARED) {
    for (size_t column = 0; column < dim; column++) o[column] += poisoned(POISON_SHARED);
  }
  if (planted == NAN_FROM_WORKSPACE) {
    float left = 0;
    cudaMemcpy(&left, args->workspace, sizeof left, cudaMemcpyDeviceToHost);
    o[count / 2] -= left;
  }
  if (planted == PAST_THE_KEYS) {
    uint16_t past;
    cudaMemcpy(&past, (const uint16_t *)args->v + shape_kv_count(shape), 2, cudaMemcpyDeviceToHost);
    o[count - 1] += 0 * fp16_to_float(past);
  }
  if (planted == LSE_NAN_FROM_COPY) lse[5] += poisoned(POISON_COPY);
  if (planted == ONE_WRONG_ELEMENT) o[count / 3] += 0.05f;
  if (planted == WRONG_WITHOUT_LSE && !args->lse) o[count / 3] += 0.05f;
  if (planted == LSE_WITHOUT_MAX) lse[5] -= 0.5f;
  if (planted == LSE_ROUNDED) lse[5] += 1.5e-5f * (1 + fabsf(lse[5]));
  if (planted == LSE_WITHOUT_KEYS) lse[0] = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t row = i / dim % rows;
    if (planted == EIGHTH_COLUMN && i % dim % 8 == 3) o[i] += 1.0f;
    if (planted == HALVES_OF_TILES && row % 16 >= 8 && i % dim % 8 == 3) o[i] += 1.0f;
    if (planted == SECOND_TILE && row >= 64 && row < 128) o[i] += 1.0f;
  }
  for (size_t i = 0; i < count; i++) {
    const size_t head = i / dim / rows, row = i / dim % rows, column = i % dim;
    const size_t from = planted == TRANSPOSED ? (head * dim + column) * rows + row : i;
    bits[i] = fp16_from_float(o[from]);
  }

  if (planted >= NAN_BETWEEN && planted <= LSE_NAN_BETWEEN) {
    const size_t row = rows + row_between();
    uint16_t *element = &bits[row * dim + 5];
    if (planted == NAN_BETWEEN) *element = 0x7e00;
    if (planted == INFINITY_BETWEEN) *element = 0xfc00;
    if (planted == UNWRITTEN_BETWEEN) memset(element, CHECK_POISON, sizeof *element);
    if (planted == LSE_NAN_BETWEEN) lse[row] = NAN;
  }
  if (planted == UNWRITTEN_TAIL) count -= dim;
  cudaError_t status = cudaMemcpy(args->o, bits, count * sizeof *bits, cudaMemcpyHostToDevice);
  cudaMemcpy(args->lse, lse, (lse_count - (planted == UNWRITTEN_LSE)) * sizeof *lse,
             cudaMemcpyHostToDevice);
  if (planted == PAST_THE_END) cudaMemset((uint16_t *)args->o + count + 1, 0, 2);
  if (planted == BEFORE_THE_START) cudaMemset((uint16_t *)args->o - 3, 0, 2);
  if (planted == PAST_THE_WORKSPACE) cudaMemset((char *)args->workspace + 64, 0, 1);
  if (planted == CHANGED_INPUT) cudaMemset((void *)(uintptr_t)args->k, 0, 2);
  free(o);
  free(lse);
  free(bits);
  (void)stream;
  return status;
}

static size_t fake_workspace_bytes(const attention_shape *shape) {
  (void)shape;
  return 64;
}

// `per_head` rows of each head are compared; 0 stands for all.
static void expect_of(size_t per_head, fault fault, bool accepted, const char *words) {
  const attention_step fake = {.name = "fake",
                               .summary = "",
                               .forward = fake_forward,
                               .workspace_bytes = fake_workspace_bytes};
  const attention_shape shape = {.dtype = ATTENTION_FP16,
                                 .batch = 1,
                                 .heads = 2,
                                 .kv_heads = 2,
                                 .seq_q = 192,
                                 .seq_kv = fault == LSE_WITHOUT_KEYS ? 100 : 192,
                                 .causal = fault == LSE_WITHOUT_KEYS,
                                 .head_dim = 24,
                                 .scale = 0.2f};
  // Scores near 0 spread a row's weight over all keys, which a 16-bit sum cannot bear.
  const inputs_kind kind = fault == FP16_ACCUMULATOR ? INPUTS_RAMP : INPUTS_NORMAL;
  trial trial;
  error_text error;
  check_result result;
  cr_assert(trial_create(&trial, &shape, &error), "%s", error.text);
  for (int i = 0; i < 3; i++) {
    inputs_fill(&shape, kind, (inputs_tensor)i, 7, i == 0 ? trial.q : i == 1 ? trial.k : trial.v);
  }
  cr_assert(trial_upload(&trial, &error), "%s", error.text);
  cr_assert(reference_compute(&shape, trial.q, trial.k, trial.v, &whole, &error), "%s", error.text);
  cr_assert(per_head ? trial_reference_some(&trial, per_head, 1, &error)
                     : trial_reference(&trial, &error),
            "%s", error.text);
  planted = fault;
  problem = &trial;
  cr_assert(trial_run(&trial, &fake, NULL, &error), "%s", error.text);
  const bool passed = trial_check(&trial, &result) && trial_check_o_alone(&trial, &fake, &result) &&
                      trial_check_timed(&trial, &fake, &result);
  cr_assert_eq(passed, accepted, "fault %d: %s", fault,
               passed ? "was not noticed" : result.message.text);
  if (!accepted) {
    cr_assert_not_null(strstr(result.message.text, words), "fault %d: \"%s\" does not say \"%s\"",
                       fault, result.message.text, words);
  }
  trial_free(&trial);
  reference_free(&whole);
}

static void expect(fault fault, bool accepted, const char *words) {
  expect_of(0, fault, accepted, words);
}

Test(rejects, nothing_when_all_is_right) { expect(CLEAN, true, ""); }

Test(rejects, a_nan) { expect(ONE_NAN, false, "got nan"); }

// The form that is timed is checked as well.
Test(rejects, one_wrong_element_where_lse_is_not_asked_for) {
  expect(WRONG_WITHOUT_LSE, false, "where lse is not asked for: ");
}

// So is what is launched after the checks.
Test(rejects, a_step_that_does_less_after_the_checks) {
  expect(IDLE_AFTER_TWO_LAUNCHES, false,
         "after it was timed, where lse is not asked for: O is wrong at batch 0, head 0, row 0");
}

Test(rejects, one_wrong_element) {
  expect(ONE_WRONG_ELEMENT, false, "head 0, row 128, column 0");
  expect(ONE_WRONG_ELEMENT, false, "1 of 9216 elements are bad: head 0; row 128; column 0");
}

Test(rejects, a_transposed_result) { expect(TRANSPOSED, false, "O is wrong at batch 0, head 0"); }

Test(rejects, an_unwritten_tail) {
  expect(UNWRITTEN_TAIL, false, "head 1; row 191; every column; 24 were never written");
}

Test(rejects, an_unwritten_lse) { expect(UNWRITTEN_LSE, false, "1 were never written"); }

// A NaN that was computed and stored was written, and comes from somewhere.
Test(rejects, a_nan_of_known_origin) {
  expect(NAN_FROM_SHARED, false,
         "row 0; every column; 24 are NaN, computed from shared memory that no thread had written");
  expect(NAN_FROM_WORKSPACE, false,
         "1 are NaN, computed from device memory that was never written");
  expect(PAST_THE_KEYS, false,
         "1 are NaN, computed from memory outside a tensor, before its start or past its end");
  expect(LSE_NAN_FROM_COPY, false, "1 are NaN, computed from a copy that had not arrived");
  expect(ONE_NAN, false, "1 are NaN or infinite");
}

Test(rejects, a_write_past_the_end) {
  expect(PAST_THE_END, false, "outside O: 3 bytes past its end");
}

Test(rejects, a_write_before_the_start) {
  expect(BEFORE_THE_START, false, "outside O: 5 bytes before its start");
}

Test(rejects, a_write_past_the_workspace) {
  expect(PAST_THE_WORKSPACE, false, "outside the workspace: 1 byte past its end");
}

Test(rejects, a_changed_input) { expect(CHANGED_INPUT, false, "changed its input K"); }

Test(rejects, an_fp16_accumulator) { expect(FP16_ACCUMULATOR, false, "O is wrong"); }

Test(rejects, an_lse_without_the_max) { expect(LSE_WITHOUT_MAX, false, "lse is wrong"); }

// Steps and peers are off by 4.1e-6 of 1 + |lse| at most, in all records.
Test(rejects, an_lse_that_is_rounded_once_more) { expect(LSE_ROUNDED, false, "lse is wrong"); }

Test(rejects, an_lse_of_a_row_that_sees_no_key) {
  expect(LSE_WITHOUT_KEYS, false, "row 0: expected -inf, got 0 (allowed error 0)");
}

Test(rejects, and_tells_the_pattern) {
  expect(EIGHTH_COLUMN, false, "every head; every row; one column in 8 (3, 11, ...)");
  expect(SECOND_TILE, false, "every head; rows 64 to 127; every column");
  expect(HALVES_OF_TILES, false,
         "every head; rows 8 to 15 of every 16; one column in 8 (3, 11, ...)");
}

// 24 of 192 rows of each head are compared with the reference: a fault in
// all rows is found, and so is a value that is not a number, in any row.
Test(rejects, by_some_rows) {
  enum { SOME = 24 };
  expect_of(SOME, CLEAN, true, "");
  expect_of(SOME, TRANSPOSED, false, "O is wrong at batch 0, head 0");
  expect_of(SOME, EIGHTH_COLUMN, false, "of 1152 elements are bad: every head; ");
  expect_of(SOME, EIGHTH_COLUMN, false, "; one column in 8 (3, 11, ...)");
  expect_of(SOME, SECOND_TILE, false, "O is wrong at batch 0, head 0, row ");
  expect_of(SOME, UNWRITTEN_TAIL, false, "head 1; row 191; every column; 24 were never written");
  expect_of(SOME, UNWRITTEN_LSE, false, "1 were never written");
  expect_of(SOME, PAST_THE_END, false, "outside O: 3 bytes past its end");
  expect_of(SOME, CHANGED_INPUT, false, "changed its input K");
  expect_of(SOME, NAN_BETWEEN, false, "O is nan at batch 0, head 1, row ");
  expect_of(SOME, NAN_BETWEEN, false, "1 of 9216 elements are not finite");
  expect_of(SOME, INFINITY_BETWEEN, false, "O is -inf at batch 0, head 1, row ");
  expect_of(SOME, UNWRITTEN_BETWEEN, false, ", which was never written. 1 of 9216 elements");
  expect_of(SOME, LSE_NAN_BETWEEN, false, "lse is nan at batch 0, head 1, row ");
}
