// Tests which launches measure_steps makes, with steps that only record their arguments.
#include "measure/sets.h"
#include "measured_trial.h"
#include "tests/kept.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAUNCHES = 4096 };

typedef struct {
  char step; // 'a' or 'b'
  attention_args arguments;
  bool inputs_right; // the set's Q, K and V are copies of the trial's
} launch_record;

static launch_record launches[MOST_LAUNCHES];
static size_t launch_count;

static bool same_bytes(const void *device, const guarded_buffer *original) {
  unsigned char *copy = malloc(2 * original->bytes);
  cudaMemcpy(copy, device, original->bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(copy + original->bytes, original->data, original->bytes, cudaMemcpyDeviceToHost);
  const bool same = memcmp(copy, copy + original->bytes, original->bytes) == 0;
  free(copy);
  return same;
}

static cudaError_t record(char step, const attention_args *arguments) {
  cr_assert_lt(launch_count, (size_t)MOST_LAUNCHES);
  launches[launch_count++] = (launch_record){step, *arguments,
                                             same_bytes(arguments->q, &tested.device_q) &&
                                                 same_bytes(arguments->k, &tested.device_k) &&
                                                 same_bytes(arguments->v, &tested.device_v)};
  // Outputs that overlap inputs, or each other, would spoil the next launch that takes the set.
  cudaMemset(arguments->o, 0x55, tested.device_o.bytes);
  cr_expect_null(arguments->lse, "O alone is timed");
  cudaMemset(arguments->workspace, 0x77, step == 'a' ? 1000 : 5000);
  return cudaDeviceSynchronize();
}

static cudaError_t forward_a(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  return record('a', arguments);
}

static cudaError_t forward_b(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  return record('b', arguments);
}

static cudaError_t forward_fails(const attention_args *arguments, cudaStream_t stream) {
  (void)arguments;
  (void)stream;
  return cudaErrorInvalidValue;
}

static size_t workspace_a(const attention_shape *shape) { return shape ? 1000 : 0; }
static size_t workspace_b(const attention_shape *shape) { return shape ? 5000 : 0; }

static const attention_step steps[] = {
    {.name = "a", .forward = forward_a, .workspace_bytes = workspace_a},
    {.name = "b", .forward = forward_b, .workspace_bytes = workspace_b},
    {.name = "fails", .forward = forward_fails, .workspace_bytes = workspace_a},
};

TestSuite(measure, .init = create_trial, .fini = free_trial);

// Returns which launch before number `i` last took the same Q; `i` itself when there is none.
static size_t previous_use(size_t i) {
  for (size_t j = i; j-- > 0;) {
    if (launches[j].arguments.q == launches[i].arguments.q) return j;
  }
  return i;
}

static size_t count_sets(void) {
  size_t sets = 0;
  for (size_t i = 0; i < launch_count; i++) sets += previous_use(i) == i;
  return sets;
}

static void measure(const attention_step *which, size_t count, const measure_plan *plan) {
  error_text error;
  launch_count = 0;
  cr_assert(measure_steps(&tested, which, count, plan, &measured, &error), "%s", error.text);
}

Test(measure, every_launch_takes_the_next_tensors) {
  for (size_t sets = 2; sets <= 6; sets++) {
    for (size_t count = 1; count <= 2; count++) {
      const measure_plan plan = small_plan((sets - 1) * SET_BYTES / 2);
      error_text error;
      measure(steps, count, &plan);
      cr_assert_eq(launch_count, 3 * count); // one to warm up, two rounds
      cr_expect_eq(measured.count, count);
      for (size_t i = 0; i < count; i++) {
        cr_expect_str_eq(measured.contenders[i].name, steps[i].name);
        cr_expect(measured.contenders[i].rounds == 2 &&
                  measured.contenders[i].bursts[1].median == 1);
      }
      for (size_t i = 0; i < launch_count; i++) {
        cr_expect(launches[i].inputs_right, "launch %zu has other inputs", i);
        cr_expect_eq(launches[i].arguments.workspace, tested.workspace.data, "launch %zu", i);
        cr_expect_str_eq(kept(shape_describe(&launches[i].arguments.shape).text),
                         "1x10x15x7 fp16, kv 1x5x18x7");
      }
      cr_expect(guard_intact(&tested.workspace, &error), "%s", error.text);
      cr_expect(guard_intact(&tested.device_o, &error), "%s", error.text);
      measured_steps_free(&measured);
    }
  }
}

// Launches of the first step take one millisecond, and those of the second one two.
static cudaError_t stop_by_step(void *context, cudaStream_t stream, float *milliseconds,
                                bool *in_time) {
  (void)context, (void)stream;
  *milliseconds = launches[launch_count - 1].step == 'a' ? 1 : 2;
  *in_time = true;
  return cudaSuccess;
}

Test(measure, each_step_has_its_own_times) {
  static const timing_clock clock = {.start = start, .stop = stop_by_step};
  measure_plan plan = small_plan(SET_BYTES);
  plan.timing.clock = &clock;
  measure(steps, 2, &plan);
  for (size_t i = 0; i < 2; i++)
    for (size_t round = 0; round < 2; round++)
      cr_expect_eq(measured.contenders[i].bursts[round].median, i + 1, "step %zu, round %zu", i,
                   round);
  measured_steps_free(&measured);
}

// Between two launches on the same tensors, other launches of the steps move twice the cache's
// size through the cache. A contender that reads no tensors must not take a turn of theirs.
Test(measure, tensors_leave_the_cache_before_they_come_again) {
  static const size_t caches[] = {SET_BYTES / 8, SET_BYTES, 7 * SET_BYTES, 60 * SET_BYTES};
  for (size_t c = 0; c < sizeof caches / sizeof *caches; c++) {
    measure_plan plan = small_plan(caches[c]);
    plan.timing.burst_ms = 1e9; // as many launches as a burst can have
    plan.timing.rounds_least = plan.timing.rounds_most = 10;
    measure(steps, 2, &plan);
    size_t repeated = 0;
    for (size_t i = 0; i < launch_count; i++) {
      const size_t previous = previous_use(i);
      if (previous == i) continue;
      repeated++;
      cr_expect_geq((i - previous - 1) * SET_BYTES, 2 * caches[c],
                    "launch %zu after launch %zu, cache of %zu", i, previous, caches[c]);
    }
    cr_expect_gt(repeated, 10);
    cr_expect_eq(count_sets(), timing_rotations(SET_BYTES, caches[c]), "%zu sets", count_sets());
    cr_expect_eq(measure_copies_bytes(&tested, caches[c]), (count_sets() - 1) * SET_BYTES);
    measured_steps_free(&measured);
  }
}

Test(measure, what_every_time_holds_is_timed_beside) {
  measure_plan plan = small_plan(SET_BYTES);
  plan.timing.clock = NULL; // the device's own
  measure(steps, 1, &plan);
  const timing_contender *floors = measured.contenders + 1;
  cr_expect_str_eq(floors[MEASURE_NOTHING].name, TIMING_NOTHING);
  cr_expect_str_eq(floors[MEASURE_EMPTY_KERNEL].name, TIMING_EMPTY_KERNEL);
  cr_expect(floors[MEASURE_NOTHING].rounds == 2 && floors[MEASURE_EMPTY_KERNEL].rounds == 2);
  const timing_floor floor = measured_steps_floor(&measured);
  cr_expect(floor.nothing >= 0 && floor.empty_kernel >= 0);
  cr_expect_eq(floor.nothing, timing_figure(&floors[MEASURE_NOTHING]).times.median);
  cr_expect_eq(floor.empty_kernel, timing_figure(&floors[MEASURE_EMPTY_KERNEL]).times.median);
  measured_steps_free(&measured);
}

// The copies of a trial without red zones take what measure_copies_bytes says, and no more: there may be no room.
Test(measure, copies_are_as_bare_as_the_trial) {
  buffer_sets sets;
  error_text error;
  for (int bare = 0; bare < 2; bare++) {
    tested.bare = bare;
    cr_assert(buffer_sets_create(&tested, SET_BYTES, &sets, &error), "%s", error.text);
    cr_expect_eq(sets.copies.bytes, measure_copies_bytes(&tested, SET_BYTES));
    cr_expect_eq(sets.copies.zone_bytes == 0, bare);
    buffer_sets_free(&sets);
    const measure_plan plan = small_plan(SET_BYTES);
    guard_free(&tested.workspace);
    measure(steps, 1, &plan);
    cr_expect_eq(tested.workspace.zone_bytes == 0, bare);
    measured_steps_free(&measured);
  }
}

Test(measure, warm_cache_takes_the_trials_own_tensors) {
  const measure_plan plan = small_plan(0);
  const attention_args own = trial_arguments(&tested);
  measure(steps, 1, &plan);
  cr_assert_eq(launch_count, 3);
  for (size_t i = 0; i < 3; i++) {
    const attention_args *arguments = &launches[i].arguments;
    cr_expect(arguments->q == own.q && arguments->k == own.k && arguments->v == own.v &&
                  arguments->o == own.o,
              "launch %zu", i);
  }
  measured_steps_free(&measured);
}

Test(measure, the_plan) {
  const measure_plan usual = measure_plan_make(0, 10, 5);
  const timing_plan plan = timing_default_plan();
  cr_expect(usual.l2_bytes == 5 && usual.timing.rounds_least == plan.rounds_least &&
            usual.timing.rounds_most == plan.rounds_most && usual.timing.warm_up == 10);
  const measure_plan seven = measure_plan_make(7, 0, 5);
  cr_expect(seven.timing.rounds_least == 7 && seven.timing.rounds_most == 7 &&
            seven.timing.warm_up == 0);
}

Test(measure, frees_what_it_took) {
  const measure_plan plan = small_plan(100 * SET_BYTES);
  size_t before = 0;
  size_t after = 0;
  size_t total = 0;
  measure(steps, 1, &plan);
  measured_steps_free(&measured);
  cudaMemGetInfo(&before, &total);
  for (int i = 0; i < 3; i++) {
    for (size_t count = 1; count <= 2; count++) { // the second step needs a larger workspace
      measure(steps, count, &plan);
      measured_steps_free(&measured);
    }
    guard_free(&tested.workspace);
  }
  measure(steps, 1, &plan);
  measured_steps_free(&measured);
  cudaMemGetInfo(&after, &total);
  // On a GPU other programs take and free memory meanwhile; what is lost there is lost here as well.
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  if (!device.emulated) return;
  cr_expect_eq(before, after, "%zu bytes were free, and now %zu", before, after);
}

// Two configurations of one library, which answers for the one that was chosen last.
static size_t configured = 16;        // bytes of workspace
static size_t configured_launches[2]; // of the small one and of the large one

static bool configure(const char *name) {
  configured = name ? 5000 : 16;
  return true;
}

static size_t workspace_configured(const attention_shape *shape) { return shape ? configured : 0; }

static cudaError_t forward_configured(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  configured_launches[configured == 5000]++;
  cudaMemset(arguments->workspace, 0x77, configured);
  return cudaDeviceSynchronize();
}

// Each contender is launched in its own one.
Test(measure, the_workspace_is_that_of_the_largest_configuration) {
  const attention_step small = {.name = "small",
                                .configure = configure,
                                .workspace_bytes = workspace_configured,
                                .forward = forward_configured};
  attention_step sweep[2] = {small, small};
  sweep[0].configuration = "large";
  const measure_plan plan = small_plan(SET_BYTES);
  check_result found = {0};
  measure(sweep, 2, &plan);
  cr_expect_eq(tested.workspace.bytes, 5000, "%zu bytes", tested.workspace.bytes);
  cr_expect(configured_launches[0] == 3 && configured_launches[1] == 3, "%zu and %zu launches",
            configured_launches[0], configured_launches[1]);
  for (size_t i = 0; i < 2; i++)
    cr_expect(measured_steps_check(&measured, i, &found), "%s", found.message.text);
  measured_steps_free(&measured);
}

Test(measure, failures) {
  const measure_plan plan = small_plan(SET_BYTES);
  error_text error;
  cr_expect(!measure_steps(&tested, &steps[2], 1, &plan, &measured, &error));
  cr_expect_str_eq(error.text, "fails failed: invalid argument (cudaErrorInvalidValue)", "%s",
                   error.text);
  cr_expect(measured.launch_failed, "the step is at fault");
  measured_steps_free(&measured);
}
