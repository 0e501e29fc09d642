// Tests what measure_steps finds out about launches that were timed, once they have been.
#include "measured_trial.h"
#include "numeric/float16.h"
#include "tests/kept.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(after, .init = create_trial, .fini = free_trial);

static size_t workspace_bytes(const attention_shape *shape) { return shape ? 1000 : 0; }

static cudaError_t forward_outside(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  cudaMemset((char *)arguments->workspace + 1000, 0, 1);
  return cudaDeviceSynchronize();
}

static cudaError_t forward_nothing(const attention_args *arguments, cudaStream_t stream) {
  return (void)arguments, (void)stream, cudaSuccess;
}

// A write outside of the copies, of which O is the last.
static cudaError_t forward_behind(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  if (arguments->o != tested.device_o.data) cudaMemset((char *)arguments->o + 2304, 0, 1);
  return cudaDeviceSynchronize();
}

// The trial's own O is none of the copies.
static cudaError_t forward_behind_its_own(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  if (arguments->o == tested.device_o.data) cudaMemset((char *)arguments->o + 2100, 0, 1);
  return cudaDeviceSynchronize();
}

Test(after, what_the_timed_launches_write_outside_is_found) {
  static const struct {
    attention_step step;
    const char *sentence;
  } cases[] = {
      {{.name = "outside", .forward = forward_outside, .workspace_bytes = workspace_bytes},
       "while the step was timed, something was written outside the workspace: 1 byte past its "
       "end"},
      {{.name = "behind", .forward = forward_behind, .workspace_bytes = workspace_bytes},
       "while the step was timed, something was written outside the copies of the tensors for "
       "timing: 1 byte past its end"},
      {{.name = "its own", .forward = forward_behind_its_own, .workspace_bytes = workspace_bytes},
       "while the step was timed, something was written outside O: 1 byte past its end"},
  };
  const measure_plan plan = small_plan(SET_BYTES);
  for (size_t i = 0; i < 3; i++) {
    check_result found = {0};
    error_text error;
    cr_assert(measure_steps(&tested, &cases[i].step, 1, &plan, &measured, &error), "%s",
              error.text);
    cr_expect(!measured_steps_check(&measured, 0, &found));
    cr_expect_str_eq(found.message.text, cases[i].sentence, "%s", found.message.text);
    measured_steps_free(&measured);
    guard_free(&tested.workspace); // it is damaged
  }
}

// The steps share the workspace, so that either may have written there.
Test(after, each_of_several_steps_is_blamed) {
  static const attention_step both[] = {
      {.name = "outside", .forward = forward_outside, .workspace_bytes = workspace_bytes},
      {.name = "nothing", .forward = forward_nothing, .workspace_bytes = workspace_bytes}};
  const measure_plan plan = small_plan(SET_BYTES);
  error_text error;
  cr_assert(measure_steps(&tested, both, 2, &plan, &measured, &error), "%s", error.text);
  for (size_t i = 0; i < 2; i++) {
    check_result found = {0};
    cr_expect(!measured_steps_check(&measured, i, &found));
    cr_expect(strstr(found.message.text,
                     "while this step and others were timed, something was written outside "),
              "%s", found.message.text);
  }
  measured_steps_free(&measured);
}

// --- steps that do less than they should in launches that are timed

static enum {
  RIGHT,
  OTHER_BITS, // in every other launch, and still right
  FIRST_O_ALONE,
  ALL_BUT_LAST_O,
  IDLE_ONCE,
  WRONG_ONCE,     // in the last element alone
  UNWRITTEN_ONCE, // likewise
  OUTSIDE_ONCE,
  BEHIND_O_ONCE,
  BEHIND_COPIES_ONCE,
  FAILS_ONCE
} kind;
static size_t launches, idle; // `idle`: the launch that does nothing, or what it should not
static size_t all_sets;
static const char *first_o, *first_copy; // the trial's own O, and the next one
static size_t other_workspaces;          // launches with another workspace than the trial has
static uint16_t
    *right_o[2]; // with the bits of the reference, and with others that are right as well

static cudaError_t forward_right(const attention_args *arguments, cudaStream_t stream) {
  launches++;
  char *const target = arguments->o;
  if (!first_o) first_o = target;
  if (!first_copy && target != first_o) first_copy = target;
  other_workspaces += arguments->workspace != tested.workspace.data;
  if (kind == FIRST_O_ALONE && target != first_o) return cudaSuccess;
  if (kind == ALL_BUT_LAST_O && target == first_copy + (all_sets - 2) * SET_BYTES)
    return cudaSuccess;
  if (launches == idle) {
    if (kind == IDLE_ONCE) return cudaSuccess;
    if (kind == FAILS_ONCE) return cudaErrorInvalidValue;
    if (kind == OUTSIDE_ONCE) cudaMemset((char *)arguments->workspace + 1000, 0, 1);
    if (kind == BEHIND_O_ONCE) cudaMemset(target + 2100, 0, 1);
    if (kind == BEHIND_COPIES_ONCE) cudaMemset(target + 2304, 0, 1);
  }
  const bool other = kind == OTHER_BITS ? launches % 2 : kind == WRONG_ONCE && launches == idle;
  const uint16_t *o = right_o[other];
  const size_t unwritten = kind == UNWRITTEN_ONCE && launches == idle;
  return cudaMemcpyAsync(arguments->o, o, (shape_q_count(&tested.shape) - unwritten) * sizeof *o,
                         cudaMemcpyHostToDevice, stream);
}

static void fill_right_o(void) {
  const size_t count = shape_q_count(&tested.shape);
  for (size_t k = 0; k < 2; k++) {
    right_o[k] = realloc(right_o[k], count * sizeof *right_o[k]);
    for (size_t i = 0; i < count; i++)
      right_o[k][i] = fp16_from_float((float)tested.reference.o[i]);
  }
  if (kind == WRONG_ONCE)
    right_o[1][count - 1] ^= 0x8000; // the sign
  else
    right_o[1][0]++;
}

static const attention_step computing = {
    .name = "computing", .forward = forward_right, .workspace_bytes = workspace_bytes};

// Times the step on so many sets of tensors, in a graph as well where there is one.
static check_result find(size_t sets, bool graph) {
  measure_plan plan = small_plan((sets - 1) * SET_BYTES / 2);
  plan.timing.graph_below_ms = graph ? 2 : 0;
  check_result found = {0};
  error_text error;
  launches = 0;
  all_sets = sets;
  first_o = first_copy = NULL;
  if (!tested.reference.o) cr_assert(trial_reference(&tested, &error), "%s", error.text);
  fill_right_o();
  cr_assert(measure_steps(&tested, &computing, 1, &plan, &measured, &error), "%s", error.text);
  cr_expect_eq(measured_steps_check(&measured, 0, &found), !*found.message.text);
  measured_steps_free(&measured);
  return found;
}

Test(after, a_right_step_is_accepted) {
  for (size_t sets = 1; sets <= 5; sets++) {
    for (int graph = 0; graph < 2; graph++) {
      kind = RIGHT;
      const check_result found = find(sets, graph);
      cr_expect_str_empty(found.message.text);
      cr_expect(found.o_error > 0, "the error of O is kept");
      kind = OTHER_BITS;
      cr_expect_str_empty(kept(find(sets, graph).message.text));
    }
  }
}

Test(after, a_step_that_writes_the_first_o_alone_is_found) {
  kind = FIRST_O_ALONE;
  for (size_t sets = 2; sets <= 5; sets++) {
    char sentence[128];
    snprintf(sentence, sizeof sentence,
             "after it was timed, launched on %zu sets of tensors in a row: O is wrong at ",
             sets < 3 ? sets : 3);
    const check_result found = find(sets, false);
    cr_expect(strstr(found.message.text, sentence) == found.message.text &&
                  strstr(found.message.text, "were never written"),
              "%s", found.message.text);
  }
}

// Two rounds do not come to the last one of five sets.
Test(after, a_step_that_leaves_out_the_last_o_is_found) {
  kind = ALL_BUT_LAST_O;
  for (size_t sets = 3; sets <= 5; sets++) {
    const check_result found = find(sets, false);
    cr_expect(strstr(found.message.text, "on 3 sets of tensors in a row: O is wrong at "), "%s",
              found.message.text);
  }
}

// Of four launches after the timing the first is checked by itself, and the other ones are on three sets of tensors.
Test(after, a_step_that_does_nothing_any_more_is_found) {
  kind = RIGHT;
  cr_expect_str_empty(kept(find(4, false).message.text));
  kind = IDLE_ONCE;
  idle = launches - 3;
  const check_result found = find(4, false);
  cr_expect(
      strstr(found.message.text, "after it was timed, where lse is not asked for: O is wrong"),
      "%s", found.message.text);
}

// The last launch is that on the last set of tensors.
Test(after, each_set_and_the_graph_are_looked_at) {
  for (int graph = 0; graph < 2; graph++) {
    kind = RIGHT;
    cr_expect_str_empty(kept(find(4, graph).message.text));
    kind = IDLE_ONCE;
    idle = launches;
    const check_result found = find(4, graph);
    cr_expect(strstr(found.message.text, graph ? "in a graph: O is wrong" : "in a row: O is wrong"),
              "%s", found.message.text);
  }
}

Test(after, what_one_launch_does_is_found) {
  static const struct {
    int kind;
    size_t before; // the last launch
    const char *words;
  } cases[] = {
      {WRONG_ONCE, 0, "in a row: O is wrong at batch 0, head 9, row 14, column 6: "},
      {UNWRITTEN_ONCE, 2, "in a row: O is wrong at batch 0, head 9, row 14, column 6: "},
      {OUTSIDE_ONCE, 0, "in a row: something was written outside the workspace: 1 byte past its"},
      {OUTSIDE_ONCE, 5, "while the step was timed, something was written outside the workspace"},
      {BEHIND_O_ONCE, 2, "in a row: something was written outside O: 1 byte past its end"},
      {BEHIND_COPIES_ONCE, 0, "in a row: something was written outside the copies of the tensors "},
      {FAILS_ONCE, 2, "in a row: launching the step failed: invalid argument"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    free_trial(); // what is around its tensors may be damaged
    create_trial();
    kind = RIGHT;
    cr_expect_str_empty(kept(find(4, false).message.text));
    kind = cases[i].kind;
    idle = launches - cases[i].before;
    const check_result found = find(4, false);
    cr_expect(strstr(found.message.text, cases[i].words), "case %zu: %s", i, found.message.text);
  }
}

// The exact scores of the only row, 2^28 and 2^28 + 3, differ by less than float32 tells apart. So a kernel may find that the
// two keys have equal weights.
Test(after, a_right_step_with_an_ill_conditioned_row_is_accepted) {
  enum { DIM = 64 };
  const attention_shape shape = {ATTENTION_FP16, 1, 1, 1, 1, 2, DIM, false, 1.0f};
  free_trial();
  error_text error;
  cr_assert(trial_create(&tested, &shape, &error), "%s", error.text);
  memset(tested.q, 0, DIM * sizeof *tested.q);
  memset(tested.k, 0, 2 * DIM * sizeof *tested.k);
  tested.q[0] = tested.k[0] = tested.k[DIM] = fp16_from_float(16384);
  tested.q[1] = fp16_from_float(1);
  tested.k[DIM + 1] = fp16_from_float(3);
  for (size_t i = 0; i < DIM; i++) {
    tested.v[i] = fp16_from_float(1);
    tested.v[DIM + i] = fp16_from_float(2);
  }
  cr_assert(trial_upload(&tested, &error) && trial_reference(&tested, &error), "%s", error.text);
  for (size_t i = 0; i < DIM; i++) tested.reference.o[i] = 1.5; // for forward_right
  kind = RIGHT;
  fill_right_o();
  for (size_t i = 0; i < DIM; i++) tested.reference.o[i] = (1 + 2 * exp(3)) / (1 + exp(3));
  const measure_plan plan = small_plan(1);
  check_result found = {0};
  cr_assert(measure_steps(&tested, &computing, 1, &plan, &measured, &error), "%s", error.text);
  cr_expect(measured_steps_check(&measured, 0, &found), "%s", found.message.text);
  measured_steps_free(&measured);
}

static size_t large_workspace(const attention_shape *shape) { return shape ? 50000 : 0; }

// Each step is looked at by itself, in a workspace of the size that it asks for.
Test(after, one_wrong_step_of_several_is_found) {
  const attention_step steps[] = {
      computing, {.name = "idle", .forward = forward_nothing, .workspace_bytes = large_workspace}};
  const measure_plan plan = small_plan(SET_BYTES);
  error_text error;
  check_result found = {0};
  kind = RIGHT;
  cr_assert(trial_reference(&tested, &error), "%s", error.text);
  fill_right_o();
  cr_assert(measure_steps(&tested, steps, 2, &plan, &measured, &error), "%s", error.text);
  cr_expect(measured_steps_check(&measured, 0, &found), "%s", found.message.text);
  cr_expect(!measured_steps_check(&measured, 1, &found));
  cr_expect(
      strstr(found.message.text, "after it was timed, where lse is not asked for: O is wrong"),
      "%s", found.message.text);
  cr_expect_eq(other_workspaces, 0, "%zu launches took another one", other_workspaces);
  measured_steps_free(&measured);
}
