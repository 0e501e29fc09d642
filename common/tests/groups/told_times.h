// A machine of two GPUs and the contenders on it, whose times the test tells.
#ifndef TOLD_TIMES_H
#define TOLD_TIMES_H

#include "groups/session.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, CONTENDERS = 7 };

static session s;
static char order[1000]; // of the runs, by the first letter of the step's name
static size_t runs;
static size_t runs_of[256];
static char failing; // the step whose run fails
static char last;
static double rested;

static inline size_t no_workspace(const attention_shape *shape, int ranks) {
  (void)shape;
  return 1000 * (size_t)ranks;
}

// A row of launches takes 0.4 ms beside the launches themselves.
static bool choosing;
static int tries;
static inline bool choose_time(char name, int launches, double *milliseconds) {
  tries++;
  *milliseconds = (name == 'l' ? 30 : name == 'm' ? 0.007 : 1) + 0.4 / launches;
  return true;
}

// The times of one round are longer than those of the round before, by as much for each step.
static inline bool tell_time(gpu_group *group, const attention_step *step, int launches, int rounds,
                             double *milliseconds, error_text *error) {
  static const struct {
    char name;
    double milliseconds;
  } times[] = {{'o', 8}, {'s', 5}, {'v', 4}, {'e', 2}, {'c', 1}, {'p', 4.4}, {'m', 0.01}};
  cr_assert(rounds == 1 && launches >= 1 && runs < sizeof order - 1);
  if (choosing) return choose_time(step->name[0], launches, milliseconds);
  cr_expect(strstr(group->doing.text, step->name) == group->doing.text, "%s", group->doing.text);
  last = order[runs++] = step->name[0];
  const double slower = 1 + 0.01 * (double)runs_of[(unsigned char)last]++;
  if (last == failing) return fail(error, "%s: told to fail", group->doing.text);
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (times[i].name == last) *milliseconds = times[i].milliseconds * slower;
  return true;
}

// The second GPU is held back in the step.
static inline monitor_reading tell_state(int gpus) {
  cr_expect_eq(gpus, last == 'o' || last == 0 ? 1 : 2, "%c was on %d GPUs", last, gpus);
  return (monitor_reading){1980, 300 + gpus, last == 's'};
}

static inline void tell_rest(void *context, double seconds) {
  (void)context;
  rested += seconds;
}

static const attention_shape shape = {
    .dtype = ATTENTION_BF16,
    .batch = 1,
    .heads = 16,
    .kv_heads = 16,
    .seq_q = 16384,
    .seq_kv = 16384,
    .head_dim = 128,
    .scale = 1,
};
static const double bytes =
    67108864; // that reach each of two GPUs: 2 tensors * 16384 / 2 rows * 4 KiB

static inline void add(const char *name, const char *variant, int gpus, groups_part part) {
  s.contenders[s.count++] =
      (contender){.step = {.name = name, .group_workspace_bytes = no_workspace},
                  .variant = variant,
                  .gpus = gpus,
                  .part = part};
}

static inline bool run(error_text *error) {
  timing_plan plan = groups_plan(false);
  plan.rounds_least = plan.rounds_most = ROUNDS;
  plan.seed = 7;
  s.gauge = (groups_gauge){tell_time, tell_state, tell_rest};
  snprintf(s.device.name, sizeof s.device.name, "Test GPU");
  add("one", NULL, 1, GROUPS_WHOLE);
  add("several", NULL, 2, GROUPS_WHOLE);
  add("variant", "other", 2, GROUPS_WHOLE);
  add("exchange", NULL, 2, GROUPS_EXCHANGE);
  add("copies", NULL, 2, GROUPS_COPIES);
  add("products", NULL, 2, GROUPS_PRODUCTS);
  add("meeting", NULL, 2, GROUPS_MEETING);
  for (int i = 0; i < s.count; i++) s.contenders[i].launches = 3;
  return groups_time(&s, &shape, &plan, error);
}

#endif
