// Measures a cell, from the inputs to the samples, with steps
// that compute on the host and a clock that the test sets.
#include "bench/cell.h"
#include "host_attention.h"
#include "tests/timing/plain_clock.h"
#include <math.h>
#include <string.h>

enum { STEPS = 5 };

static size_t launches[STEPS];

// Only launches that are checked compute, which find poison in O; all launches advance the clock.
static cudaError_t run(size_t step, const attention_args *args, float milliseconds, float error) {
  uint16_t first;
  now += milliseconds;
  launches[step]++;
  cudaMemcpy(&first, args->o, sizeof first, cudaMemcpyDeviceToHost);
  return first == 0xffff ? compute(args, error) : cudaSuccess;
}

static cudaError_t forward_fast(const attention_args *args, cudaStream_t stream) {
  (void)stream;
  return run(0, args, 1, 0);
}
static cudaError_t forward_wrong(const attention_args *args, cudaStream_t stream) {
  (void)stream;
  return run(1, args, 1, 0.5f);
}
static cudaError_t forward_slow(const attention_args *args, cudaStream_t stream) {
  (void)stream;
  return run(2, args, 250, 0);
}
// It is right when it is checked first, and does nothing later.
static cudaError_t forward_idle(const attention_args *args, cudaStream_t stream) {
  static int count;
  (void)stream;
  now += 1;
  return count++ < 2 ? compute(args, 0) : cudaSuccess;
}
static cudaError_t forward_never(const attention_args *args, cudaStream_t stream) {
  (void)args, (void)stream;
  cr_expect(false, "a step was run that cannot take the shape");
  return cudaErrorInvalidValue;
}
static cudaError_t forward_fails(const attention_args *args, cudaStream_t stream) {
  (void)args, (void)stream;
  return cudaErrorInvalidValue;
}

static size_t no_workspace(const attention_shape *shape) {
  (void)shape;
  return 0;
}
static size_t some_workspace(const attention_shape *shape) {
  (void)shape;
  return 1000;
}
static size_t huge_workspace(const attention_shape *shape) {
  (void)shape;
  return (size_t)1 << 50;
}
static const char *takes_all(const attention_shape *shape) {
  (void)shape;
  return NULL;
}
static const char *takes_nothing(const attention_shape *shape) {
  (void)shape;
  return "it takes nothing";
}

static const attention_step steps[STEPS] = {
    {.name = "01_fast",
     .forward = forward_fast,
     .workspace_bytes = no_workspace,
     .unsupported = takes_all},
    {.name = "02_wrong",
     .forward = forward_wrong,
     .workspace_bytes = no_workspace,
     .unsupported = takes_all},
    {.name = "03_slow",
     .forward = forward_slow,
     .workspace_bytes = some_workspace,
     .unsupported = takes_all},
    {.name = "04_never",
     .forward = forward_never,
     .workspace_bytes = no_workspace,
     .unsupported = takes_nothing},
    {.name = "05_huge",
     .forward = forward_never,
     .workspace_bytes = huge_workspace,
     .unsupported = takes_all},
};
static const attention_step fails = {.name = "06_fails",
                                     .forward = forward_fails,
                                     .workspace_bytes = no_workspace,
                                     .unsupported = takes_all};

static const attention_shape shape = {ATTENTION_FP16, 2, 2, 2, 50, 50, 16, true, 0.25f};
static measure_plan plan; // five rounds, and a second at most for each step
static device_info device;
static error_text error;
static cell tested;

static void open_device(void) {
  cr_assert(device_open(&device, &error), "%s", error.text);
  plan = measure_plan_make(5, 3, 1 << 16);
  plan.timing.seconds_most = 1;
  plan.timing.clock = &plain_clock;
}
static void free_cell(void) { cell_free(&tested); }

TestSuite(cell, .init = open_device, .fini = free_cell);

Test(cell, checks_and_times) {
  cr_assert(cell_measure(&device, &shape, steps, STEPS, &plan, &tested, &error), "%s", error.text);
  cr_assert_eq(tested.count, STEPS);
  cr_expect_eq(tested.checked_rows, 50);
  static const check_verdict verdicts[STEPS] = {CHECK_PASSED, CHECK_FAILED, CHECK_PASSED,
                                                CHECK_SKIPPED, CHECK_SKIPPED};
  static const size_t rounds[STEPS] = {5, 0, 4, 0, 0}; // 250 ms: four in a second
  static const double medians[STEPS] = {1, 0, 250, 0, 0};
  static const char *const notes[STEPS] = {"", "O is wrong at batch 0, head 0, row 0", "",
                                           "it takes nothing",
                                           "its workspace and the tensors' copies take"};
  for (size_t i = 0; i < STEPS; i++) {
    const cell_row *row = &tested.rows[i];
    cr_expect_eq(row->result.verdict, verdicts[i], "step %zu", i + 1);
    cr_expect_eq(row->result.figures.times.runs, rounds[i], "step %zu", i + 1);
    cr_expect_eq(row->result.figures.times.median, medians[i], "step %zu", i + 1);
    cr_expect_eq(row->bursts != NULL, rounds[i] > 0, "step %zu", i + 1);
    for (size_t n = 0; n < rounds[i]; n++)
      cr_expect_eq(row->bursts[0].bursts[n].median, medians[i]);
    cr_expect(strncmp(row->note.text, notes[i], strlen(notes[i])) == 0, "%s", row->note.text);
    cr_expect_str_eq(row->result.step, steps[i].name);
    cr_expect_str_eq(row->result.device, device.name);
    cr_expect_str_not_empty(row->result.conditions.origin.date);
  }
  const result_row *fast = &tested.rows[0].result;
  const result_row *slow = &tested.rows[2].result;
  cr_expect_eq(slow->workspace_bytes, 1000);
  cr_expect(isfinite(fast->figures.times.low) && isnan(slow->figures.times.low));
  cr_expect(fast->floor.empty_kernel == 0 && fast->floor.nothing == 0,
            "the fake clock stood still");
  cr_expect_str_eq(slow->first.to, "01_fast");
  cr_expect_str_eq(slow->before.to, "01_fast"); // the wrong one was not timed
  cr_expect_eq(slow->before.speedup.ratio, 1 / 250.0);
  cr_expect_null(fast->before.to);
  cr_expect_eq(fast->first.speedup.ratio, 1);
  // Checked in both forms, warmed up, 5 bursts, and checked again, alone and on three sets of tensors: 15 launches of 1 ms
  // and one before them in a burst.
  cr_expect_eq(launches[0], 2 + 3 + 5 * 16 + 1 + 3, "%zu", launches[0]);
  cr_expect_eq(launches[1], 1, "a wrong step was timed");
  cr_expect_eq(launches[2], 2 + 1 + 4 + 1 + 3, "%zu", launches[2]);
}

Test(cell, no_step_can_take_the_shape) {
  cr_assert(cell_measure(&device, &shape, &steps[3], 1, &plan, &tested, &error), "%s", error.text);
  cr_expect_eq(tested.rows[0].result.verdict, CHECK_SKIPPED);
  cr_expect_eq(tested.checked_rows, 0);
  cr_expect_str_not_empty(tested.rows[0].result.conditions.origin.date);
}

// Whatever another process holds of the memory.
Test(cell, what_is_possible_on_the_device) {
  device.memory_bytes = (size_t)1 << 28;
  for (size_t i = 0; i < STEPS; i++)
    cr_expect_eq(cell_is_possible(&device, &steps[i], &shape), i < 3, "step %zu", i + 1);
  attention_shape large = shape;
  large.seq_q = large.seq_kv = 1000000;
  cr_expect(!cell_is_possible(&device, &steps[0], &large));
  device.memory_bytes = (size_t)1 << 49; // less than the workspace of step 05
  cr_expect(cell_is_possible(&device, &steps[0], &large));
  cr_expect(!cell_is_possible(&device, &steps[4], &shape));
}

Test(cell, a_step_that_is_idle_when_it_is_timed) {
  const attention_step idle = {.name = "07_idle",
                               .forward = forward_idle,
                               .workspace_bytes = no_workspace,
                               .unsupported = takes_all};
  cr_assert(cell_measure(&device, &shape, &idle, 1, &plan, &tested, &error), "%s", error.text);
  const cell_row *row = &tested.rows[0];
  cr_expect_eq(row->result.verdict, CHECK_FAILED);
  cr_expect_eq(row->result.figures.times.runs, 0);
  cr_expect(strstr(row->note.text, "after it was timed, ") == row->note.text, "%s", row->note.text);
}

// Nothing is compared with a step that turns out to be wrong.
Test(cell, the_first_step_is_idle_when_it_is_timed) {
  const attention_step three[3] = {{.name = "07_idle",
                                    .forward = forward_idle,
                                    .workspace_bytes = no_workspace,
                                    .unsupported = takes_all},
                                   steps[0],
                                   steps[2]};
  cr_assert(cell_measure(&device, &shape, three, 3, &plan, &tested, &error), "%s", error.text);
  cr_expect_eq(tested.rows[0].result.verdict, CHECK_FAILED);
  cr_expect_null(tested.rows[0].result.first.to);
  cr_expect_null(tested.rows[1].result.before.to);
  cr_expect_str_eq(tested.rows[1].result.first.to, "01_fast");
  cr_expect_str_eq(tested.rows[2].result.first.to, "01_fast");
  cr_expect_str_eq(tested.rows[2].result.before.to, "01_fast");
}

Test(cell, no_step_is_right) {
  cr_assert(cell_measure(&device, &shape, &steps[1], 1, &plan, &tested, &error), "%s", error.text);
  cr_expect_eq(tested.rows[0].result.verdict, CHECK_FAILED);
}

// A launch that fails is a wrong step, and the other steps are measured.
Test(cell, a_launch_that_fails) {
  const attention_step both[2] = {fails, steps[0]};
  cr_assert(cell_measure(&device, &shape, both, 2, &plan, &tested, &error), "%s", error.text);
  cr_expect_eq(tested.rows[0].result.verdict, CHECK_FAILED);
  cr_expect(strstr(tested.rows[0].note.text, "launching the step failed: invalid argument"), "%s",
            tested.rows[0].note.text);
  cr_expect_null(tested.rows[0].bursts);
  cr_expect_eq(tested.rows[1].result.verdict, CHECK_PASSED);
  cr_expect_eq(tested.rows[1].result.figures.times.runs, 5);
  cr_expect_not(tested.launch_failed);
}

// It is right in the two launches that are checked.
static cudaError_t forward_fails_later(const attention_args *args, cudaStream_t stream) {
  static int count;
  (void)stream;
  now += 1;
  return count++ < 2 ? compute(args, 0) : cudaErrorInvalidValue;
}

Test(cell, a_launch_that_fails_when_it_is_timed) {
  attention_step later = fails;
  later.forward = forward_fails_later;
  cr_expect(!cell_measure(&device, &shape, &later, 1, &plan, &tested, &error));
  cr_expect(strstr(error.text, "06_fails failed: invalid argument"), "%s", error.text);
  cr_expect(tested.launch_failed);
}
