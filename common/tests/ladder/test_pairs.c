// Tests in which configurations the ladder compares a step with the step before, and that it times them there.
#include "ladder/session.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const attention_shape shape = {ATTENTION_FP16, 1, 1, 1, 16, 16, 64, false, 1.0f};

// Every step of the test refuses the configuration "32x32x4".
#define FAKE_STEP(step, choice, ...)                                                               \
  static const char *step##_chosen;                                                                \
  static const char *const *step##_names(void) {                                                   \
    static const char *const names[] = {__VA_ARGS__, NULL};                                        \
    return names;                                                                                  \
  }                                                                                                \
  static bool step##_configure(const char *name) {                                                 \
    step##_chosen = NULL;                                                                          \
    for (const char *const *known = step##_names(); name && *known; known++) {                     \
      if (strcmp(*known, name) == 0) step##_chosen = *known;                                       \
    }                                                                                              \
    return !name || step##_chosen;                                                                 \
  }                                                                                                \
  static const char *step##_choice(const attention_shape *asked) {                                 \
    return asked && step##_chosen ? step##_chosen : choice;                                        \
  }                                                                                                \
  static const char *step##_refuses(const attention_shape *asked) {                                \
    return asked && step##_chosen && strcmp(step##_chosen, "32x32x4") == 0 ? "too small" : NULL;   \
  }                                                                                                \
  static cudaError_t step##_forward(const attention_args *args, cudaStream_t stream) {             \
    (void)stream;                                                                                  \
    return pretend(args, step##_choice(&args->shape));                                             \
  }                                                                                                \
  static const attention_step step = {.name = #step,                                               \
                                      .forward = step##_forward,                                   \
                                      .workspace_bytes = no_workspace,                             \
                                      .unsupported = step##_refuses,                               \
                                      .configurations = step##_names,                              \
                                      .configure = step##_configure,                               \
                                      .configuration_for = step##_choice}

static size_t no_workspace(const attention_shape *asked) { return asked ? 0 : 1; }

// Takes so many microseconds as the configuration's name begins with, times ten.
static cudaError_t pretend(const attention_args *args, const char *configuration) {
  const struct timespec duration = {0, 10000 * strtol(configuration, NULL, 10)};
  nanosleep(&duration, NULL);
  return cudaMemset(args->o, 0, 16);
}

FAKE_STEP(narrow, "64x32x4", "64x32x4", "32x32x4");
FAKE_STEP(wide, "128x64x4", "128x64x4", "64x32x4", "32x32x4");
FAKE_STEP(slow, "512x64x4", "512x64x4", "64x32x4");
FAKE_STEP(ring, "128x64x4x2", "128x64x4x1", "128x64x4x2", "64x32x48");
FAKE_STEP(deep, "192x64x4x3", "192x64x4x3", "128x64x4x2", "128x64x4x1");
FAKE_STEP(deeper, "256x64x4x3", "256x64x4x3", "192x64x4x3", "128x64x4x1");
FAKE_STEP(other, "16x16x1", "16x16x1", "256x64x4");
FAKE_STEP(small, "32x32x4", "32x32x4");

static void expect_pair(const attention_step *own, const attention_step *before,
                        const char *own_name, const char *before_name) {
  const ladder_pair pair = ladder_find_pair(own, before, &shape);
  cr_expect(own_name ? pair.own && strcmp(pair.own, own_name) == 0 : !pair.own,
            "%s after %s: own configuration %s", own->name, before->name,
            pair.own ? pair.own : "none");
  if (!own_name || !pair.own) return;
  cr_expect(strcmp(pair.before, before_name) == 0, "%s after %s: configuration before %s",
            own->name, before->name, pair.before);
}

// The choice of the step before comes first, then that of the step itself, then any configuration that both have.
Test(pairs, which_configuration) {
  expect_pair(&wide, &narrow, "64x32x4", "64x32x4");
  expect_pair(&ring, &wide, "128x64x4x2", "128x64x4"); // its own choice, and not that of one stage
  expect_pair(&wide, &ring, "128x64x4", "128x64x4x2");
  expect_pair(&deep, &ring, "128x64x4x2", "128x64x4x2");
  expect_pair(&ring, &deep, "128x64x4x2", "128x64x4x2");   // the choice of the later one
  expect_pair(&ring, &deeper, "128x64x4x1", "128x64x4x1"); // of neither
  expect_pair(&other, &deeper, "256x64x4", "256x64x4x3");
  expect_pair(&ring, &narrow, NULL, NULL); // 48 warps are not 4
  expect_pair(&small, &wide, NULL, NULL);  // the other refuses it
  const attention_step without = {.name = "without", .unsupported = narrow_refuses};
  expect_pair(&wide, &without, NULL, NULL);
  expect_pair(&without, &wide, NULL, NULL);
}

static ladder_session session;

static void load(const attention_step *const *steps, size_t count) {
  error_text error;
  session = (ladder_session){.count = count,
                             .options = {.rounds = 5},
                             .steps = calloc(LADDER_MOST_ROWS, sizeof(attention_step)),
                             .rows = calloc(LADDER_MOST_ROWS, sizeof(ladder_row))};
  cr_assert(session.steps && session.rows && device_open(&session.device, &error));
  for (size_t i = 0; i < count; i++) {
    session.steps[i] = *steps[i];
    session.rows[i].step = &session.steps[i];
  }
  cr_assert(trial_create(&session.trial, &shape, &error) && trial_upload(&session.trial, &error) &&
                ladder_add_pairs(&session, &error),
            "%s", error.text);
}

// Of six steps three are timed once more: wide, deep and deeper in the configuration of the step before.
Test(pairs, rows_beside_the_table) {
  const attention_step *const steps[] = {&narrow, &wide, &ring, &deep, &deeper, &small};
  load(steps, 6);
  static const struct {
    const char *name, *configuration;
  } beside[] = {{"wide", "64x32x4"}, {"deep", "128x64x4x2"}, {"deeper", "192x64x4x3"}};
  cr_assert_eq(session.beside, sizeof beside / sizeof *beside, "%zu", session.beside);
  for (size_t i = 0; i < session.beside; i++) {
    const attention_step *step = session.rows[session.count + i].step;
    cr_expect_str_eq(step->name, beside[i].name);
    cr_expect_str_eq(step->configuration, beside[i].configuration);
  }
  static const char *const same[] = {"64x32x4", "128x64x4x2", "128x64x4x2", "192x64x4x3"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    cr_expect_str_eq(session.rows[1 + i].same_configuration, same[i]);
  cr_expect_null(session.rows[0].same, "nothing is before it");
  cr_expect_eq(session.rows[2].same, &session.rows[2], "the tile of both is the same");
  cr_expect_eq(session.rows[2].before_in_same, &session.rows[1]);
  cr_expect_eq(session.rows[3].same, &session.rows[session.count + 1]);
  cr_expect_eq(session.rows[3].before_in_same, &session.rows[2]);
  cr_expect_null(session.rows[5].same, "they have none in common");
}

// A step that takes eight times as long in its own tile as the step before, and as long in the same tile. The limits leave
// room for a busy machine.
Test(pairs, times_in_one_configuration) {
  const attention_step *const steps[] = {&narrow, &slow};
  load(steps, 2);
  if (!session.device.emulated) cr_skip_test("the steps of this test wait on the host");
  for (size_t i = 0; i < session.count + session.beside; i++) {
    session.rows[i].result =
        (result_row){.step = session.rows[i].step->name, .shape = shape, .verdict = CHECK_PASSED};
  }
  error_text error;
  cr_assert(ladder_time_steps(&session, &error), "%s", error.text);
  const result_row *result = &session.rows[1].result;
  cr_assert_str_eq(result->before.to, "narrow");
  cr_assert_str_eq(result->same.to, "64x32x4");
  cr_expect_lt(result->before.speedup.ratio, 0.4, "%g", result->before.speedup.ratio);
  cr_expect_gt(result->same.speedup.ratio, 0.6, "%g", result->same.speedup.ratio);
  cr_expect_null(session.rows[0].result.same.to);
  session.rows[2].result.verdict = CHECK_FAILED; // so it is not timed
  session.rows[1].result.same.to = NULL;
  session.rows[2].bursts = NULL;
  cr_assert(ladder_time_steps(&session, &error), "%s", error.text);
  cr_expect_null(session.rows[1].result.same.to);
}
