// The rounds of steps for several GPUs and what is computed from them, with times that the test tells and no GPU.
#define _GNU_SOURCE
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

static size_t no_workspace(const attention_shape *shape, int ranks) {
  (void)shape;
  return 1000 * (size_t)ranks;
}

// A row of launches takes 0.4 ms beside the launches themselves.
static bool choosing;
static int tries;
static bool choose_time(char name, int launches, double *milliseconds) {
  tries++;
  *milliseconds = (name == 'l' ? 30 : name == 'm' ? 0.007 : 1) + 0.4 / launches;
  return true;
}

// The times of one round are longer than those of the round before, by as much for each step.
static bool tell_time(gpu_group *group, const attention_step *step, int launches, int rounds,
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
static monitor_reading tell_state(int gpus) {
  cr_expect_eq(gpus, last == 'o' || last == 0 ? 1 : 2, "%c was on %d GPUs", last, gpus);
  return (monitor_reading){1980, 300 + gpus, last == 's'};
}

static void tell_rest(void *context, double seconds) {
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

static void add(const char *name, const char *variant, int gpus, groups_part part) {
  s.contenders[s.count++] =
      (contender){.step = {.name = name, .group_workspace_bytes = no_workspace},
                  .variant = variant,
                  .gpus = gpus,
                  .part = part};
}

static bool run(error_text *error) {
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

Test(times, each_round_has_all_contenders_in_another_order) {
  error_text error;
  cr_assert(run(&error), "%s", error.text);
  cr_assert_eq(runs, (ROUNDS + 1) * CONTENDERS, "%zu runs", runs); // a round to warm up
  int others = 0;
  for (size_t round = 0; round < ROUNDS; round++) {
    const char *now = order + (round + 1) * CONTENDERS;
    for (int i = 0; i < CONTENDERS; i++) {
      const contender *c = &s.contenders[i];
      const char *found = memchr(now, c->step.name[0], CONTENDERS);
      cr_assert(found, "round %zu lacks %s", round, c->step.name);
      cr_expect_eq(c->bursts[round].place, (size_t)(found - now));
      cr_expect_eq(c->bursts[round].launches, 1);
    }
    others += round > 0 && memcmp(now, now - CONTENDERS, CONTENDERS) != 0;
  }
  cr_expect_gt(others, ROUNDS / 2, "%d orders differ from the one before: %s", others, order);
}

// The times drift by a tenth, and the pairs of a round do not.
Test(times, ratios_come_from_pairs_of_a_round) {
  error_text error;
  cr_assert(run(&error), "%s", error.text);
  const groups_result one = groups_result_of(&s, &s.contenders[0], &shape);
  cr_expect_float_eq(one.efficiency.ratio, 1, 1e-6);
  cr_expect(isnan(one.link_share) && isnan(one.gb_per_s) && one.arriving_bytes == 0);
  const groups_result several = groups_result_of(&s, &s.contenders[1], &shape);
  const statistics_summary *times = &several.figures.times;
  cr_expect(times->runs == ROUNDS && times->high > 1.03 * times->low, "%g", times->high);
  cr_expect_float_eq(several.efficiency.ratio, 0.8, 1e-6);
  cr_expect_float_eq(several.efficiency.interval.low, 0.8, 1e-6);
  cr_expect_float_eq(several.efficiency.interval.high, 0.8, 1e-6);
  cr_expect_float_eq(several.link_share, 0.2, 1e-6);
  cr_expect_eq(several.arriving_bytes, bytes);
  const groups_result exchange = groups_result_of(&s, &s.contenders[3], &shape);
  const double middle = 1 + 0.01 * (ROUNDS + 1) / 2.0; // of the rounds, times 1 ms for the copies
  cr_expect_float_eq(exchange.link_gb_per_s, bytes / middle * 1e-6, 1e-3);
  cr_expect_float_eq(exchange.gb_per_s, bytes / middle / 2 * 1e-6, 1e-3);
  cr_expect_float_eq(exchange.link_share, 0.5, 1e-6);
  cr_expect(isnan(exchange.efficiency.ratio));
  // The products alone have an efficiency and no bytes that arrive.
  const groups_result products = groups_result_of(&s, &s.contenders[5], &shape);
  cr_expect_float_eq(products.efficiency.ratio, 8 / 4.4 / 2, 1e-6);
  cr_expect(products.arriving_bytes == 0 && isnan(products.gb_per_s) && isnan(products.link_share));
  // A meeting has neither.
  const groups_result meeting = groups_result_of(&s, &s.contenders[6], &shape);
  cr_expect(meeting.arriving_bytes == 0 && isnan(meeting.gb_per_s) && isnan(meeting.link_share) &&
            isnan(meeting.efficiency.ratio));
  // A variant may move other bytes.
  const groups_result variant = groups_result_of(&s, &s.contenders[2], &shape);
  cr_expect(isnan(variant.arriving_bytes) && isnan(variant.link_share));
  cr_expect_float_eq(variant.efficiency.ratio, 1, 1e-6);
}

// A short contender has its time from enough launches, and a long one has few.
Test(times, a_row_of_launches_takes_about_40_ms) {
  error_text error;
  choosing = true;
  s.gauge = (groups_gauge){tell_time, tell_state, tell_rest};
  add("short", NULL, 2, GROUPS_WHOLE);
  add("long", NULL, 2, GROUPS_WHOLE);
  add("meeting", NULL, 2, GROUPS_MEETING);
  cr_assert(groups_choose_launches(&s, &shape, &error), "%s", error.text);
  cr_expect(s.contenders[0].launches > 37 && s.contenders[0].launches <= 40, "%d",
            s.contenders[0].launches);
  cr_expect_eq(s.contenders[1].launches, 3);
  cr_expect_eq(s.contenders[2].launches, 4000);
  cr_expect_leq(tries, 9);
  s.device.emulated = true;
  cr_assert(groups_choose_launches(&s, &shape, &error), "%s", error.text);
  cr_expect_eq(s.contenders[2].launches, 1);
}

Test(times, a_gpu_that_is_held_back_marks_its_rounds) {
  error_text error;
  cr_assert(run(&error), "%s", error.text);
  for (int i = 0; i < CONTENDERS; i++) {
    const timing_figures figures = timing_figure(&s.timed[i]);
    cr_expect_eq(figures.throttled_rounds, i == 1 ? ROUNDS : 0, "%s", s.contenders[i].step.name);
    cr_expect(figures.sm_clock_mhz == 1980 && figures.power_w == (i == 0 ? 301 : 302));
  }
  cr_expect_gt(rested, 0.01 * (ROUNDS - 1), "%g s", rested);
}

Test(times, a_failure_ends_the_run_with_the_sentence_of_the_group) {
  error_text error;
  failing = 'e';
  cr_expect(!run(&error));
  cr_expect_str_eq(error.text, "exchange on 2 GPUs, 16384 rows, timed: told to fail");
}

// --- the record

// Returns the text of the column of that name in line `number` of a file, where line 0 has the names.
static const char *value(const char *file, const char *name, int number) {
  static char found[64];
  char names[4096], line[4096];
  const char *start = file;
  for (int i = 0; i < number; i++) start = strchr(start, '\n') + 1;
  snprintf(names, sizeof names, "%.*s", (int)strcspn(file, "\n"), file);
  snprintf(line, sizeof line, "%.*s", (int)strcspn(start, "\n"), start);
  char *rest_of_names = names, *rest = line;
  const char *column = NULL;
  while ((column = strsep(&rest_of_names, ","))) {
    const char *text = strsep(&rest, ",");
    cr_assert(text, "line %d is too short: %s", number, start);
    if (strcmp(column, name) == 0) return strcpy(found, text);
  }
  cr_assert_fail("there is no column %s in %s", name, file);
  return found;
}

static size_t lines_of(const char *file) {
  size_t lines = 0;
  for (; *file; file++) lines += *file == '\n';
  return lines;
}

static char *file; // what a test has written, which it frees
static size_t length;
static const record_conditions conditions = {.origin = {.commit = "abc", .date = "today"}};

// Takes the times, and opens a text to write them to.
static FILE *timed_file(void) {
  error_text error;
  cr_assert(run(&error), "%s", error.text);
  FILE *out = open_memstream(&file, &length);
  cr_assert(out);
  return out;
}

#define EXPECT_VALUE(file, name, number, expected)                                                 \
  cr_expect_str_eq(value(file, name, number), expected, name " is %s", value(file, name, number))

Test(times, the_record_has_what_was_found) {
  FILE *out = timed_file();
  groups_write_row(out, true, &s, &s.contenders[0], &shape, &conditions);
  for (int i = 0; i < CONTENDERS; i++)
    groups_write_row(out, false, &s, &s.contenders[i], &shape, &conditions);
  fclose(out);
  cr_expect_eq(lines_of(file), 1 + CONTENDERS);
  EXPECT_VALUE(file, "step", 2, "several");
  EXPECT_VALUE(file, "check", 2, "ok");
  EXPECT_VALUE(file, "workspace_bytes", 2, "2000");
  EXPECT_VALUE(file, "launches_in_a_row", 2, "3");
  EXPECT_VALUE(file, "rounds", 2, "12");
  EXPECT_VALUE(file, "throttled_rounds", 2, "12");
  EXPECT_VALUE(file, "throttled", 2, "1");
  EXPECT_VALUE(file, "throttled", 1, "0");
  EXPECT_VALUE(file, "run_clock_mhz", 2, "1980");
  EXPECT_VALUE(file, "efficiency", 2, "0.8");
  EXPECT_VALUE(file, "efficiency_low", 2, "0.8");
  EXPECT_VALUE(file, "efficiency_high", 2, "0.8");
  EXPECT_VALUE(file, "arriving_bytes", 2, "67108864");
  EXPECT_VALUE(file, "link_share", 2, "0.2");
  EXPECT_VALUE(file, "link_share", 1, "");
  EXPECT_VALUE(file, "variant", 3, "other");
  EXPECT_VALUE(file, "arriving_bytes", 3, "");
  EXPECT_VALUE(file, "check", 4, "skipped");
  EXPECT_VALUE(file, "efficiency", 4, "");
  EXPECT_VALUE(file, "link_share", 5, "1");
  EXPECT_VALUE(file, "commit", 5, "abc");
  free(file);
}

Test(times, the_samples_have_a_line_for_each_round) {
  FILE *out = timed_file();
  groups_write_samples(out, true, &s, &s.contenders[1], &shape, &conditions);
  groups_write_samples(out, false, &s, &s.contenders[1], &shape, &conditions);
  fclose(out);
  cr_assert_eq(lines_of(file), 1 + ROUNDS);
  for (int round = 0; round < ROUNDS; round++) {
    char expected[64];
    EXPECT_VALUE(file, "step", 1 + round, "several");
    EXPECT_VALUE(file, "gpus", 1 + round, "2");
    EXPECT_VALUE(file, "throttled", 1 + round, "1");
    snprintf(expected, sizeof expected, "%d", round);
    EXPECT_VALUE(file, "round", 1 + round, expected);
    snprintf(expected, sizeof expected, "%zu", s.contenders[1].bursts[round].place);
    EXPECT_VALUE(file, "place", 1 + round, expected);
    snprintf(expected, sizeof expected, "%.3f", 5000 * (1 + 0.01 * (round + 1)));
    EXPECT_VALUE(file, "microseconds", 1 + round, expected);
  }
  free(file);
}
