// The plan of a timing run: who is launched when, on which buffers. How long a launch takes is the
// device's matter, so these tests run with launches that only take notes.
#include "timing/timing.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 64 };

typedef struct {
  char name;
  size_t fail_at; // the launch that fails; 0 for none
} contender;

static char order[MOST];
static size_t rotations[MOST];
static size_t launches;

static cudaError_t take_note(void *context, size_t rotation, cudaStream_t stream) {
  const contender *who = context;
  (void)stream;
  order[launches] = who->name;
  rotations[launches] = rotation;
  launches++;
  return who->fail_at == launches ? cudaErrorInvalidValue : cudaSuccess;
}

Test(timing, contenders_take_turns_on_rotating_buffers) {
  contender a = {'A', 0}, b = {'B', 0};
  double a_times[4], b_times[4];
  for (int i = 0; i < 4; i++) a_times[i] = b_times[i] = -1;
  timing_contender contenders[2] = {{"a", take_note, &a, a_times}, {"b", take_note, &b, b_times}};
  const timing_plan plan = {.samples = 4, .warm_up = 2, .rotations = 3};
  error_text error;
  cr_assert(timing_run(&plan, contenders, 2, NULL, &error), "%s", error.text);
  cr_assert_eq(launches, 12);
  cr_assert(memcmp(order, "ABABABABABAB", 12) == 0, "%.12s", order);
  const size_t expected[12] = {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2};
  cr_assert(memcmp(rotations, expected, sizeof expected) == 0);
  for (int i = 0; i < 4; i++) {
    cr_assert(a_times[i] >= 0 && isfinite(a_times[i]), "sample %d was not taken", i);
    cr_assert(b_times[i] >= 0 && isfinite(b_times[i]), "sample %d was not taken", i);
  }
}

Test(timing, a_failed_launch_ends_the_run_by_name) {
  contender a = {'A', 3};
  double times[4];
  timing_contender contenders[1] = {{"step 07", take_note, &a, times}};
  const timing_plan plan = {.samples = 4, .warm_up = 0, .rotations = 1};
  error_text error;
  cr_assert(!timing_run(&plan, contenders, 1, NULL, &error));
  cr_assert_eq(launches, 3);
  cr_assert_not_null(strstr(error.text, "step 07"), "\"%s\" does not name the step", error.text);
}

Test(timing, buffers_outgrow_the_cache_twice) {
  cr_assert_eq(timing_rotations(100, 1000), 20);
  cr_assert_eq(timing_rotations(3000, 1000), 1);
  cr_assert_eq(timing_rotations(1, 1 << 30), 64);
  cr_assert_eq(timing_rotations(0, 1000), 1);
  cr_assert_eq(timing_rotations(100, 0), 1);
}
