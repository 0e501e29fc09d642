// The plan of a timing run: who is launched when, on which buffers, until when. Launches only take
// notes, and the clock is a fake one, on which each launch takes as long as its contender says.
#include "timing/timing.h"
#include <criterion/criterion.h>
#include <string.h>

enum { MOST = 256 };

typedef struct {
  char name;
  size_t fail_at;      // the launch that fails; 0 for none
  float milliseconds;  // of the first launch
  float growth;        // added to each launch after it
  size_t own_launches; // so far
} contender;

static char order[MOST + 1]; // of the launches, by name
static size_t rotations[MOST];
static size_t launches;

// --- the fake clock

static float now; // milliseconds
static float started;
static size_t starts, stops;
static size_t fail_start_at, fail_stop_at; // 0 for never

static cudaError_t fake_start(void *context, cudaStream_t stream) {
  cr_assert_eq(*(char *)context, 'c');
  cr_assert(stream == (cudaStream_t)&launches, "another stream");
  cr_assert_eq(starts, stops, "started twice");
  cr_assert_eq(launches, starts);
  started = now;
  return ++starts == fail_start_at ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t fake_stop(void *context, cudaStream_t stream, float *milliseconds) {
  cr_assert_eq(*(char *)context, 'c');
  cr_assert(stream == (cudaStream_t)&launches, "another stream");
  cr_assert_eq(launches, starts, "the launch is not between start and stop");
  *milliseconds = now - started;
  now += 1000; // what is not between start and stop must not count
  return ++stops == fail_stop_at ? cudaErrorInvalidValue : cudaSuccess;
}

static const timing_clock fake_clock = {fake_start, fake_stop, "clock"};

static cudaError_t take_note(void *context, size_t rotation, cudaStream_t stream) {
  contender *who = context;
  cr_assert(stream == (cudaStream_t)&launches, "another stream");
  cr_assert_lt(launches, (size_t)MOST);
  order[launches] = who->name;
  rotations[launches] = rotation;
  launches++;
  now += who->milliseconds + who->growth * (float)who->own_launches++;
  return who->fail_at == launches ? cudaErrorInvalidValue : cudaSuccess;
}

static bool run(const timing_plan *plan, timing_contender *contenders, size_t count,
                error_text *error) {
  return timing_run(plan, contenders, count, (cudaStream_t)&launches, error);
}

// --- tests

Test(timing, contenders_take_turns_on_rotating_buffers) {
  contender a = {'A', 0, 1, 1, 0};
  contender b = {'B', 0, 100, 1, 0};
  double a_times[5] = {-1, -1, -1, -1, -1};
  double b_times[5] = {-1, -1, -1, -1, -1};
  timing_contender contenders[2] = {{"a", take_note, &a, a_times, 99},
                                    {"b", take_note, &b, b_times, 99}};
  const timing_plan plan = {.samples = 4, .warm_up = 2, .rotations = 3, .clock = &fake_clock};
  error_text error;
  cr_assert(run(&plan, contenders, 2, &error), "%s", error.text);
  cr_assert_str_eq(order, "ABABABABABAB");
  const size_t expected[12] = {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2};
  cr_assert(memcmp(rotations, expected, sizeof expected) == 0);
  cr_assert_eq(contenders[0].taken, 4);
  cr_assert_eq(contenders[1].taken, 4);
  for (int i = 0; i < 4; i++) { // the first two launches of each are the warm-up
    cr_expect_eq(a_times[i], 3 + i, "sample %d is %g", i, a_times[i]);
    cr_expect_eq(b_times[i], 102 + i, "sample %d is %g", i, b_times[i]);
  }
  cr_expect(a_times[4] < 0 && b_times[4] < 0, "a sample too many");
}

// Launches of 1, 100 and 400 ms, one second each: the slow ones drop out, the fast one goes on.
Test(timing, a_budget_of_seconds) {
  contender all[3] = {{'A', 0, 1, 0, 0}, {'B', 0, 100, 0, 0}, {'C', 0, 400, 0, 0}};
  double times[3][20];
  timing_contender contenders[3];
  for (int i = 0; i < 3; i++) {
    contenders[i] = (timing_contender){"x", take_note, &all[i], times[i], 0};
  }
  timing_plan plan = {.samples = 20,
                      .warm_up = 4,
                      .rotations = 1,
                      .seconds = 1,
                      .least_samples = 2,
                      .clock = &fake_clock};
  error_text error;
  cr_assert(run(&plan, contenders, 3, &error), "%s", error.text);
  // The warm-up may take a tenth of a second: one launch of B and of C uses that up.
  const char *const expected = "ABCAAA"
                               "ABCABCABC" // C has used 1.2 seconds
                               "ABABABABABABAB"
                               "AAAAAAAAAA";
  cr_expect_str_eq(order, expected, "%s\n%s", order, expected);
  cr_expect_eq(contenders[0].taken, 20);
  cr_expect_eq(contenders[1].taken, 10);
  cr_expect_eq(contenders[2].taken, 3);

  plan.least_samples = 7;
  cr_assert(run(&plan, contenders, 3, &error), "%s", error.text);
  cr_expect_eq(contenders[1].taken, 10);
  cr_expect_eq(contenders[2].taken, 7);
  for (size_t i = 0; i < 7; i++) cr_expect_eq(times[2][i], 400);

  plan.seconds = 0; // no limit
  cr_assert(run(&plan, contenders, 3, &error), "%s", error.text);
  for (int i = 0; i < 3; i++) cr_expect_eq(contenders[i].taken, 20);
}

Test(timing, a_failure_ends_the_run_by_name) {
  for (int place = 0; place < 3; place++) { // start, launch, stop
    contender a = {'A', place == 1 ? 3 : 0, 1, 0, 0};
    double times[4];
    timing_contender contenders[1] = {{"step 07", take_note, &a, times, 0}};
    const timing_plan plan = {.samples = 4, .rotations = 1, .clock = &fake_clock};
    error_text error;
    launches = starts = stops = 0;
    fail_start_at = place == 0 ? 3 : 0;
    fail_stop_at = place == 2 ? 3 : 0;
    cr_expect(!run(&plan, contenders, 1, &error));
    cr_expect_eq(launches, place == 0 ? 2 : 3);
    cr_expect_eq(stops, place == 2 ? 3 : 2);
    cr_expect_eq(contenders[0].taken, 2, "the failed launch gave a sample");
    cr_expect_str_eq(error.text, "step 07 failed: invalid argument (cudaErrorInvalidValue)", "%s",
                     error.text);
  }
}

Test(timing, nobody_to_time) {
  const timing_plan plan = timing_default_plan();
  error_text error;
  cr_expect(timing_run(&plan, NULL, 0, NULL, &error));
  cr_expect(plan.samples == 100 && plan.warm_up == 10 && plan.rotations == 1);
}

static cudaError_t launch_nothing(void *context, size_t rotation, cudaStream_t stream) {
  (void)rotation, (void)stream;
  ++*(size_t *)context;
  return cudaSuccess;
}

Test(timing, events_are_the_clock_by_default) {
  size_t count = 0;
  double times[4] = {-1, -1, -1, -1};
  timing_contender contenders[1] = {{"a", launch_nothing, &count, times, 0}};
  const timing_plan plan = {.samples = 4, .warm_up = 1, .rotations = 1};
  error_text error;
  cr_assert(timing_run(&plan, contenders, 1, NULL, &error), "%s", error.text);
  cr_expect_eq(count, 5);
  for (int i = 0; i < 4; i++) cr_expect(times[i] >= 0 && times[i] < 1000, "%g ms", times[i]);
}

Test(timing, buffers_outgrow_the_cache_twice) {
  cr_assert_eq(timing_rotations(100, 1000), 20);
  cr_assert_eq(timing_rotations(3000, 1000), 1);
  cr_assert_eq(timing_rotations(1, 1 << 30), 64);
  cr_assert_eq(timing_rotations(0, 1000), 1);
  cr_assert_eq(timing_rotations(100, 0), 1);
}
