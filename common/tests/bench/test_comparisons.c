// The bench records more than the times of a cell: the comparisons with other steps, and what every time contains; and
// which steps it does not even try. The steps compute on the host, on a clock that the test sets.
#include "bench/cell.h"
#include "host_attention.h"
#include "tests/timing/plain_clock.h"
#include <math.h>
#include <string.h>

static const attention_shape shape = {ATTENTION_FP16, 1, 2, 2, 20, 20, 16, true, 0.25f};
static measure_plan plan;
static device_info device;
static error_text error;
static cell tested;

cudaError_t lose_the_device(cudaStream_t stream); // comparisons.cu

// Each launch takes that many milliseconds, and each time is a quarter of one longer.
static cudaError_t late_stop(void *context, cudaStream_t stream, float *milliseconds,
                             bool *in_time) {
  const cudaError_t status = plain_stop(context, stream, milliseconds, in_time);
  *milliseconds += 0.25f;
  return status;
}
static const timing_clock late_clock = {plain_start, late_stop, NULL, NULL, NULL};

static void open_device(void) {
  cr_assert(device_open(&device, &error), "%s", error.text);
  plan = measure_plan_make(5, 1, 1 << 16);
  plan.timing.clock = &plain_clock;
  plan.timing.burst_ms = 0;
  plan.timing.graph_below_ms = 0;
}
static void free_cell(void) { cell_free(&tested); }

TestSuite(comparisons, .init = open_device, .fini = free_cell);

static cudaError_t take(double milliseconds, const attention_args *args) {
  now += milliseconds;
  return compute(args, 0);
}
static cudaError_t forward_2(const attention_args *args, cudaStream_t stream) {
  (void)stream;
  return take(2, args);
}
static cudaError_t forward_8(const attention_args *args, cudaStream_t stream) {
  (void)stream;
  return take(8, args);
}
static cudaError_t forward_4(const attention_args *args, cudaStream_t stream) {
  (void)stream;
  return take(4, args);
}
static cudaError_t forward_lost(const attention_args *args, cudaStream_t stream) {
  (void)args;
  return lose_the_device(stream);
}
static cudaError_t forward_never(const attention_args *args, cudaStream_t stream) {
  (void)args, (void)stream;
  cr_expect(false, "this step must not be run");
  return cudaErrorInvalidValue;
}

static size_t no_workspace(const attention_shape *asked) { return asked ? 0 : 1; }
static const char *takes_all(const attention_shape *asked) { return asked ? NULL : "no shape"; }

#define STEP(step_name, function)                                                                  \
  {                                                                                                \
    .name = step_name, .forward = function, .workspace_bytes = no_workspace,                       \
    .unsupported = takes_all                                                                       \
  }

static void measure(const attention_step *steps, size_t count) {
  cr_assert(cell_measure(&device, &shape, steps, count, &plan, &tested, &error), "%s", error.text);
}

// The first step stays the one that all are compared with, and the one before is another one for each row.
Test(comparisons, with_the_first_step_and_the_one_before) {
  const attention_step steps[] = {STEP("01_two", forward_2), STEP("02_eight", forward_8),
                                  STEP("03_four", forward_4)};
  static const double first[] = {1, 1 / 4.0, 1 / 2.0}, before[] = {NAN, 1 / 4.0, 2};
  measure(steps, 3);
  for (size_t i = 0; i < 3; i++) {
    const result_row *result = &tested.rows[i].result;
    cr_expect_eq(result->verdict, CHECK_PASSED, "%s", tested.rows[i].note.text);
    cr_expect_str_eq(result->first.to, "01_two");
    cr_expect_eq(result->first.speedup.ratio, first[i], "step %zu: %g", i + 1,
                 result->first.speedup.ratio);
    if (i == 0) continue;
    cr_expect_str_eq(result->before.to, steps[i - 1].name);
    cr_expect_eq(result->before.speedup.ratio, before[i], "step %zu: %g", i + 1,
                 result->before.speedup.ratio);
  }
}

// The floor belongs to each row, because a short time is to be judged by it.
Test(comparisons, each_row_has_the_floor) {
  const attention_step steps[] = {STEP("01_two", forward_2), STEP("02_eight", forward_8)};
  plan.timing.clock = &late_clock;
  measure(steps, 2);
  for (size_t i = 0; i < 2; i++) {
    const result_row *result = &tested.rows[i].result;
    cr_expect_eq(result->floor.empty_kernel, 0.25);
    cr_expect_eq(result->floor.nothing, 0.25);
    cr_expect_eq(result->figures.times.median, i == 0 ? 2.25 : 8.25);
  }
}

// All that is free but 64 MB, which allocations may need besides, and 64 KB. The copies of the tensors take more. Only a step
// that is run is asked twice, and it gets no such memory.
static size_t nearly_all_memory(const attention_shape *asked) {
  static bool again;
  size_t free_bytes = 0, all_bytes = 0;
  if (!asked || again) return 0;
  again = true;
  cudaMemGetInfo(&free_bytes, &all_bytes);
  return free_bytes - (64 << 20) - (64 << 10);
}

Test(comparisons, the_workspace_must_leave_room_for_the_copies) {
  attention_step step = STEP("01_large", forward_never);
  step.workspace_bytes = nearly_all_memory;
  measure(&step, 1);
  cr_expect_eq(tested.rows[0].result.verdict, CHECK_SKIPPED);
  cr_expect(strstr(tested.rows[0].note.text, "its workspace and the tensors' copies take"), "%s",
            tested.rows[0].note.text);
}

// The launches go round sets of tensors that are together larger than the cache, and all of them must fit.
Test(comparisons, all_sets_of_tensors_must_fit) {
  const attention_step step = STEP("01_two", forward_2);
  const size_t set = shape_bytes(&shape), sets = timing_rotations(set, 1 << 20);
  device.l2_bytes = 1 << 20;
  cr_assert_gt(sets, 10);
  device.memory_bytes = sets * set;
  cr_expect(cell_is_possible(&device, &step, &shape));
  device.memory_bytes = (sets - 1) * set;
  cr_expect_not(cell_is_possible(&device, &step, &shape));
}

// Whatever runs behind such a launch would be called a failure, too. So the cell ends with a sentence on the step.
Test(comparisons, a_step_that_leaves_the_device_unusable) {
  const attention_step steps[] = {STEP("01_lost", forward_lost), STEP("02_never", forward_never)};
  if (!device.emulated) cr_skip_test("a GPU would stay unusable for the tests behind this one");
  cr_expect_not(cell_measure(&device, &shape, steps, 2, &plan, &tested, &error));
  cr_expect(strstr(error.text, "01_lost: ") == error.text, "%s", error.text);
  cr_expect(tested.launch_failed);
}
