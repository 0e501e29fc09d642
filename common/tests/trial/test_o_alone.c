// The run for O alone has a part in the verdict: what is worse in it than in the run with lse is told, and what is better
// hides nothing.
#include "numeric/float16.h"
#include "trial/trial.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

typedef enum { EXACT, MEAN_OF_TIED_KEYS, ONE_NAN, ONE_UNIT_OFF, NO_LAUNCH } answer;

static answer with_lse, without_lse;
static const trial *problem; // where the fake step finds the answers on the host

// Row 0 has two keys whose scores, 2^28 and 2^28 + 3, are one number in float32. The second one has all the weight.
static cudaError_t fake_forward(const attention_args *args, cudaStream_t stream) {
  const answer answer = args->lse ? with_lse : without_lse;
  if (answer == NO_LAUNCH) return cudaErrorInvalidConfiguration;
  const size_t dim = (size_t)args->shape.head_dim;
  uint16_t o[2 * 64];
  float lse[2];
  for (size_t i = 0; i < 2 * dim; i++) o[i] = fp16_from_float((float)problem->reference.o[i]);
  for (size_t i = 0; i < 2; i++) lse[i] = (float)problem->reference.lse[i];
  for (size_t d = 0; d < dim && answer == MEAN_OF_TIED_KEYS; d++)
    o[d] = fp16_from_float((fp16_to_float(problem->v[d]) + fp16_to_float(problem->v[dim + d])) / 2);
  if (answer == ONE_NAN) o[dim] = 0x7e00;
  if (answer == ONE_UNIT_OFF) o[dim] ^= 1;
  cudaMemcpy(args->o, o, sizeof o, cudaMemcpyHostToDevice);
  if (args->lse) cudaMemcpy(args->lse, lse, sizeof lse, cudaMemcpyHostToDevice);
  (void)stream;
  return cudaGetLastError();
}

static size_t fake_workspace_bytes(const attention_shape *shape) {
  (void)shape;
  return 0;
}

static bool check(answer first, answer second, check_result *result) {
  const attention_step fake = {.name = "fake",
                               .summary = "",
                               .forward = fake_forward,
                               .workspace_bytes = fake_workspace_bytes};
  const attention_shape shape = {ATTENTION_FP16, 1, 1, 1, 2, 2, 64, false, 1.0f};
  trial trial;
  error_text error;
  cr_assert(trial_create(&trial, &shape, &error), "%s", error.text);
  memset(trial.q, 0, sizeof(uint16_t) * 2 * 64);
  memset(trial.k, 0, sizeof(uint16_t) * 2 * 64);
  for (size_t i = 0; i < 2 * 64; i++) trial.v[i] = fp16_from_float((float)i / 100);
  trial.q[0] = trial.k[0] = trial.k[64] = fp16_from_float(16384);
  trial.q[1] = fp16_from_float(1), trial.k[65] = fp16_from_float(3);
  cr_assert(trial_upload(&trial, &error) && trial_reference(&trial, &error), "%s", error.text);
  problem = &trial;
  with_lse = first, without_lse = second;
  cr_assert(trial_run(&trial, &fake, NULL, &error), "%s", error.text);
  cr_assert(trial_check(&trial, result), "%s", result->message.text);
  const bool right = trial_check_o_alone(&trial, &fake, result);
  trial_free(&trial);
  return right;
}

Test(o_alone, ill_conditioned_rows_are_told) {
  check_result result;
  cr_assert(check(EXACT, MEAN_OF_TIED_KEYS, &result), "%s", result.message.text);
  cr_expect_eq(check_verdict_of(true, &result), CHECK_ILL_CONDITIONED);
  cr_expect(
      strstr(result.message.text, "where lse is not asked for: the input is ill-conditioned "),
      "%s", result.message.text);
  cr_assert(check(MEAN_OF_TIED_KEYS, EXACT, &result), "%s", result.message.text);
  cr_expect_eq(check_verdict_of(true, &result), CHECK_ILL_CONDITIONED);
  cr_expect_eq(strncmp(result.message.text, "the input is ill-conditioned ", 29), 0, "%s",
               result.message.text);
}

Test(o_alone, the_larger_error_is_kept) {
  check_result before, result;
  cr_assert(check(EXACT, EXACT, &before), "%s", before.message.text);
  cr_assert(check(EXACT, ONE_UNIT_OFF, &result), "%s", result.message.text);
  cr_expect_gt(result.o_used, before.o_used);
  cr_assert(check(ONE_UNIT_OFF, EXACT, &result), "%s", result.message.text);
  cr_expect_gt(result.o_used, before.o_used);
  cr_expect_str_empty(result.message.text);
}

Test(o_alone, a_failure_is_told_whatever_came_before) {
  check_result result;
  cr_expect(!check(MEAN_OF_TIED_KEYS, ONE_NAN, &result));
  cr_expect(isnan(result.o_error) && isnan(result.o_used) && result.o_bad == 1);
  cr_expect_eq(strncmp(result.message.text, "where lse is not asked for: O is wrong ", 39), 0, "%s",
               result.message.text);
  cr_expect(!check(MEAN_OF_TIED_KEYS, NO_LAUNCH, &result));
  cr_expect_eq(strncmp(result.message.text, "where lse is not asked for: launching ", 38), 0, "%s",
               result.message.text);
}
