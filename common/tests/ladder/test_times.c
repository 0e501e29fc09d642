// Tests how the ladder ranks and compares what it has timed, and that it drops the time of a step which turns out to be
// wrong. The steps wait on the host, and those that are right write O = 0, which is right where V is 0.
#include "ladder/session.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 3 };

static const attention_shape shape = {ATTENTION_FP16, 1, 1, 1, 16, 16, 64, false, 1.0f};
static const size_t o_bytes = (size_t)16 * 64 * sizeof(uint16_t);

// Launches take 0.2 ms, or 8 ms in the slow configuration and in the slow step. The factor leaves room for a busy machine.
static bool slow;

static cudaError_t wait(bool long_time) {
  const struct timespec duration = {0, long_time ? 8000000 : 200000};
  nanosleep(&duration, NULL);
  return cudaSuccess;
}
static cudaError_t forward(const attention_args *args, cudaStream_t stream) {
  wait(slow);
  return cudaMemsetAsync(args->o, 0, o_bytes, stream);
}
static cudaError_t forward_slow(const attention_args *args, cudaStream_t stream) {
  wait(true);
  return cudaMemsetAsync(args->o, 0, o_bytes, stream);
}
static cudaError_t forward_idle(const attention_args *args, cudaStream_t stream) {
  (void)args, (void)stream;
  return wait(false);
}
static size_t no_workspace(const attention_shape *asked) { return asked ? 0 : 1; }
static const char *takes_all(const attention_shape *asked) { return asked ? NULL : "no shape"; }
static bool configure(const char *name) {
  slow = name && strcmp(name, "slow") == 0;
  return true;
}

#define FAKE_STEP(step_name, function)                                                             \
  {                                                                                                \
    .name = step_name, .forward = function, .workspace_bytes = no_workspace,                       \
    .unsupported = takes_all                                                                       \
  }

static ladder_session session;

static void load(const attention_step steps[ROWS]) {
  error_text error;
  session = (ladder_session){.count = ROWS,
                             .options = {.rounds = 3},
                             .steps = calloc(ROWS, sizeof(attention_step)),
                             .rows = calloc(ROWS, sizeof(ladder_row))};
  session.options.given[OPTION_WARM_L2] =
      true; // else there are thousands of sets of these small tensors
  cr_assert(session.steps && session.rows && device_open(&session.device, &error));
  cr_assert(trial_create(&session.trial, &shape, &error), "%s", error.text);
  memset(session.trial.q, 0, o_bytes);
  memset(session.trial.k, 0, o_bytes);
  memset(session.trial.v, 0, o_bytes);
  cr_assert(trial_upload(&session.trial, &error) && trial_reference(&session.trial, &error), "%s",
            error.text);
  for (size_t i = 0; i < ROWS; i++) {
    session.steps[i] = steps[i];
    session.rows[i].step = &session.steps[i];
    session.rows[i].result = (result_row){.step = steps[i].name,
                                          .configuration = steps[i].configuration,
                                          .shape = shape,
                                          .verdict = CHECK_PASSED};
  }
}

static void time_steps(void) {
  error_text error;
  cr_assert(ladder_time_steps(&session, &error), "%s", error.text);
}

static void leave(void) {
  measured_steps_free(&session.measured);
  trial_free(&session.trial);
  free(session.steps);
  free(session.rows);
}

TestSuite(ladder_times, .fini = leave);

// The fastest comes first and is what the others are compared with; a wrong one is not timed, and comes last.
Test(ladder_times, a_sweep_is_ranked) {
  attention_step steps[ROWS] = {FAKE_STEP("one", forward), FAKE_STEP("one", forward),
                                FAKE_STEP("one", forward)};
  static const char *const names[ROWS] = {"wrong", "slow", "fast"};
  for (size_t i = 0; i < ROWS; i++) {
    steps[i].configure = configure;
    steps[i].configuration = names[i];
  }
  load(steps);
  session.rows[0].result.verdict = CHECK_FAILED;
  time_steps();
  for (size_t i = 0; i < ROWS; i++) {
    const result_row *result = &session.rows[i].result;
    cr_expect_str_eq(result->configuration, names[ROWS - 1 - i]);
    cr_expect_str_eq(session.rows[i].step->configuration, names[ROWS - 1 - i]);
    cr_expect_null(result->before.to, "configurations do not come one after the other");
    if (i < 2) cr_expect_str_eq(result->first.to, "fast");
  }
  cr_expect_eq(session.rows[0].result.first.speedup.ratio, 1);
  cr_expect_lt(session.rows[1].result.first.speedup.ratio, 0.5);
  cr_expect(!session.rows[2].bursts && !session.rows[2].result.first.to);
  cr_expect_eq(session.rows[2].result.figures.times.samples, 0, "a wrong step was timed");
}

// All are copies of one step, which is the first.
Test(ladder_times, variants_are_compared_with_the_step_alone) {
  const attention_step steps[ROWS] = {FAKE_STEP("one", forward), FAKE_STEP("one", forward_slow),
                                      FAKE_STEP("one", forward)};
  static const char *const names[ROWS] = {"", "long", "short"};
  load(steps);
  for (size_t i = 0; i < ROWS; i++) session.rows[i].result.variant = names[i];
  time_steps();
  for (size_t i = 0; i < ROWS; i++) {
    const result_row *result = &session.rows[i].result;
    cr_expect_str_eq(result->variant, names[i], "variants stay in their order");
    cr_expect_str_eq(result->first.to, "one");
    cr_expect_null(result->before.to);
  }
  cr_expect_lt(session.rows[1].result.first.speedup.ratio, 0.5);
}

// Nothing is said of its time, and no other step is compared with it.
Test(ladder_times, a_step_that_is_idle_when_it_is_timed) {
  const attention_step steps[ROWS] = {FAKE_STEP("idle", forward_idle), FAKE_STEP("fast", forward),
                                      FAKE_STEP("slow", forward_slow)};
  load(steps);
  time_steps();
  const ladder_row *idle = &session.rows[0];
  cr_expect_eq(idle->result.verdict, CHECK_FAILED);
  cr_expect(strstr(idle->result.check.message.text, "after it was timed"), "%s",
            idle->result.check.message.text);
  cr_expect_null(idle->bursts);
  cr_expect_eq(idle->result.figures.times.samples, 0);
  cr_expect_null(idle->result.first.to);
  const result_row *fast = &session.rows[1].result, *slow_one = &session.rows[2].result;
  cr_expect(fast->verdict == CHECK_PASSED && fast->figures.times.samples > 0);
  cr_expect_str_eq(fast->first.to, "fast");
  cr_expect_null(fast->before.to);
  cr_expect_str_eq(slow_one->first.to, "fast");
  cr_expect_str_eq(slow_one->before.to, "fast");
  cr_expect_lt(slow_one->before.speedup.ratio, 0.5);
}
