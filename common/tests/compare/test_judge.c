// Verdicts on runs made by hand, and on simulated recordings, for which the right verdict is known.
#include "compare/judge.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { RUNS = 10, MOST_CELLS = 420 };
#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef struct {
  double medians[30];
  measurement measurement;
} run;

// Makes `count` rounds of 100 us, 100.1, ..., slower by the fraction `slower`.
static void fill(run *run, size_t count, double slower) {
  run->measurement = (measurement){.rounds = count, .microseconds = run->medians};
  for (size_t i = 0; i < count; i++) run->medians[i] = (100 + 0.1 * (double)i) * (1 + slower);
}

static judgement judged;

static comparison judge_one(const run *old_run, const run *new_run, bool paired, double threshold) {
  comparison one = {
      .old_run = &old_run->measurement, .new_run = &new_run->measurement, .paired = paired};
  error_text error;
  cr_assert(judge(&one, 1, threshold, true, &judged, &error));
  return one;
}

Test(judge, equal_runs) {
  run a, b;
  for (size_t count = 5; count <= 30; count += 5) {
    fill(&a, count, 0);
    fill(&b, count, 0);
    const comparison got = judge_one(&a, &b, false, 0.01);
    cr_expect_eq(got.verdict, VERDICT_SAME);
    cr_expect(got.ratio.ratio == 1 && got.old_ms == got.new_ms);
    cr_expect(isnan(judged.all.noise) && !judged.all.divided, "one cell tells no noise");
  }
}

// A shift is found from the threshold on, in both directions, and only there.
Test(judge, shifted_runs) {
  static const struct {
    double slower;
    double threshold;
    verdict verdict, swapped;
  } cases[] = {
      {0.02, 0.03, VERDICT_SAME, VERDICT_SAME},       {0.029, 0.03, VERDICT_SAME, VERDICT_SAME},
      {0.0305, 0.03, VERDICT_SLOWER, VERDICT_FASTER}, {0.5, 0.03, VERDICT_SLOWER, VERDICT_FASTER},
      {0.02, 0.01, VERDICT_SLOWER, VERDICT_FASTER},   {0.5, 0.6, VERDICT_SAME, VERDICT_SAME},
  };
  for (size_t i = 0; i < LENGTH(cases); i++) {
    run a, b;
    fill(&a, 12, 0);
    fill(&b, 12, cases[i].slower);
    const comparison got = judge_one(&a, &b, false, cases[i].threshold);
    cr_expect_eq(got.verdict, cases[i].verdict, "case %zu: %s", i, verdict_name(got.verdict));
    cr_expect(fabs(got.ratio.ratio - 1 - cases[i].slower) < 1e-12);
    cr_expect(got.ratio.interval.low <= got.ratio.ratio &&
              got.ratio.ratio <= got.ratio.interval.high);
    cr_expect_eq(judge_one(&b, &a, false, cases[i].threshold).verdict, cases[i].swapped, "case %zu",
                 i);
  }
}

// The medians are farther apart than the threshold, but by chance.
Test(judge, far_apart_but_not_significant) {
  run a = {{100, 120, 101, 119, 102, 118, 103, 117, 104}, {.rounds = 9}};
  run b = {{101.5, 121, 102.5, 119.5, 116, 118.5, 103.5, 117.5, 116.5}, {.rounds = 9}};
  a.measurement.microseconds = a.medians;
  b.measurement.microseconds = b.medians;
  const comparison got = judge_one(&a, &b, false, 0.03);
  cr_expect_gt(got.ratio.ratio, 1.1);
  cr_expect_eq(got.verdict, VERDICT_SAME);
}

// A disturbance in a round affects both: compared in pairs, the same numbers show a difference.
Test(judge, pairs_of_one_round) {
  run a = {{100, 140, 101, 139, 102, 138, 103, 137, 104}, {.rounds = 9}};
  run b = {.measurement = {.rounds = 9}};
  a.measurement.microseconds = a.medians;
  b.measurement.microseconds = b.medians;
  for (size_t i = 0; i < 9; i++) b.medians[i] = a.medians[i] * (1.04 + 0.001 * (double)(i % 3));
  cr_expect_eq(judge_one(&a, &b, false, 0.03).verdict, VERDICT_SAME);
  cr_expect_eq(judge_one(&a, &b, true, 0.03).verdict, VERDICT_SLOWER);
}

Test(judge, too_few_runs) {
  static const struct {
    size_t old_count, new_count;
    verdict verdict;
  } cases[] = {{1, 1, VERDICT_TOO_FEW},
               {1, 30, VERDICT_TOO_FEW},
               {30, 4, VERDICT_TOO_FEW},
               {4, 4, VERDICT_TOO_FEW},
               {5, 5, VERDICT_SLOWER}};
  for (size_t i = 0; i < LENGTH(cases); i++) {
    run a, b;
    fill(&a, cases[i].old_count, 0);
    fill(&b, cases[i].new_count, 0.5);
    const comparison got = judge_one(&a, &b, false, 0.03);
    cr_expect_eq(got.verdict, cases[i].verdict, "%zu against %zu: %s", cases[i].old_count,
                 cases[i].new_count, verdict_name(got.verdict));
  }
}

// --- recordings of a grid, simulated

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state) {
  const double pi = 3.14159265358979323846;
  return sqrt(-2 * log(uniform(state))) * cos(2 * pi * uniform(state));
}

typedef struct {
  double machine;     // what this machine does to all cells
  double cell;        // deviation of a cell from recording to recording
  double short_cell;  // the same of those below 20 us
  double round;       // of the rounds of one cell
  double slower;      // in this recording, of every so many cells
  size_t each, cells; // 0: of none
  double of_short;    // what this machine does besides to cells below 20 us, if it is not 0
  double launch_us;   // by which each launch takes longer, the empty kernel's too
} recorder;

static bool is_changed(const recorder *recorder, size_t cell) {
  return recorder->each > 0 && cell % recorder->each == 0;
}

static run recordings[2][MOST_CELLS];
static comparison comparisons[MOST_CELLS];

// Cells take from 5 us to 50 ms. The rounds of one recording share their cell's deviation.
static void record(const recorder *recorder, run *runs, uint64_t *state) {
  for (size_t i = 0; i < recorder->cells; i++) {
    const double true_us = 5 * pow(10, 4 * (double)i / (double)recorder->cells);
    const double scatter = true_us < 20 ? recorder->short_cell : recorder->cell;
    const double own = recorder->machine * exp(scatter * normal(state)) *
                       (true_us < 20 && recorder->of_short != 0 ? recorder->of_short : 1) *
                       (is_changed(recorder, i) ? 1 + recorder->slower : 1);
    runs[i].measurement = (measurement){
        .rounds = RUNS, .microseconds = runs[i].medians, .floor_us = 2.9 + recorder->launch_us};
    for (size_t k = 0; k < RUNS; k++) {
      runs[i].medians[k] =
          true_us * own * exp(recorder->round * normal(state)) + recorder->launch_us;
    }
  }
}

typedef struct {
  size_t slower, faster; // cells called so
  size_t found;          // slower ones of those that are
  bool divided;
} outcome;

static outcome compare(const recorder *before, const recorder *after, double threshold,
                       uint64_t seed) {
  uint64_t state = seed;
  error_text error;
  record(before, recordings[0], &state);
  record(after, recordings[1], &state);
  for (size_t i = 0; i < before->cells; i++) {
    comparisons[i] = (comparison){.old_run = &recordings[0][i].measurement,
                                  .new_run = &recordings[1][i].measurement};
  }
  cr_assert(judge(comparisons, before->cells, threshold, true, &judged, &error));
  outcome outcome = {.divided = judged.all.divided};
  for (size_t i = 0; i < before->cells; i++) {
    outcome.slower += comparisons[i].verdict == VERDICT_SLOWER;
    outcome.faster += comparisons[i].verdict == VERDICT_FASTER;
    outcome.found += comparisons[i].verdict == VERDICT_SLOWER && is_changed(after, i);
  }
  return outcome;
}

// One commit is recorded on two machines: at most one cell in twenty is called
// different, whatever the machines do to all cells, and however their cells scatter.
Test(judge, two_recordings_of_one_commit) {
  static const recorder machines[] = {
      {1, 0, 0, 0.002, 0, 0, 420, 0, 0},
      {1.02, 0.001, 0.001, 0.002, 0, 0, 420, 0, 0},
      {0.98, 0.004, 0.004, 0.002, 0, 0, 420, 0, 0},
      {1.015, 0.004, 0.02, 0.005, 0, 0, 420, 0, 0},
      {1.01, 0.012, 0.03, 0.003, 0, 0, 420, 0, 0},
      {1, 0.004, 0.004, 0.02, 0, 0, 420, 0, 0},
      {1.01, 0.004, 0.02, 0.002, 0, 0, 60, 0, 0},
      {1, 0.002, 0.002, 0.002, 0, 0, 420, 1.028, 0},
      {1.005, 0.004, 0.01, 0.002, 0, 0, 420, 0, 1.5},
      {0.99, 0.004, 0.004, 0.002, 0, 0, 420, 1.02, 0.8},
  };
  for (size_t i = 0; i < LENGTH(machines); i++) {
    recorder first = machines[i];
    first.machine = 1;
    first.of_short = first.launch_us = 0;
    size_t called = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
      const outcome got = compare(&first, &machines[i], 0.01, 100 * i + seed);
      const size_t own = got.slower + got.faster;
      called += own;
      cr_expect_leq(own * 20, first.cells, "machines %zu: %zu of %zu", i, own, first.cells);
    }
    cr_expect_leq((double)called, 0.02 * 20 * (double)first.cells, "machines %zu: %zu in all", i,
                  called);
  }
}

// The same, but a few cells are slower by 3 %: they are found, in spite of the other machine.
Test(judge, a_real_slowdown_of_a_few_cells_is_found) {
  const recorder before = {1, 0.002, 0.004, 0.003, 0, 0, 420, 0, 0};
  const recorder after = {1.015, 0.002, 0.004, 0.003, 0.03, 35, 420, 0, 0};
  for (uint64_t seed = 1; seed <= 10; seed++) {
    const outcome got = compare(&before, &after, 0.01, seed);
    cr_expect(got.divided);
    cr_expect_geq(got.found, 11, "%zu of 12", got.found);
    cr_expect_leq(got.slower + got.faster - got.found, 8, "%zu others", got.slower - got.found);
  }
}

// The launches of the new machine take 1.5 us longer, and the code of a few cells 3 %: the first is no difference.
Test(judge, the_floor_of_a_machine_is_no_slowdown) {
  const recorder before = {1, 0.002, 0.004, 0.003, 0, 0, 420, 0, 0};
  const recorder after = {1, 0.002, 0.004, 0.003, 0.03, 35, 420, 0, 1.5};
  const outcome got = compare(&before, &after, 0.01, 1);
  cr_expect(fabs(judged.floor_us - 1.5) < 1e-9, "%g", judged.floor_us);
  cr_expect_geq(got.found, 11, "%zu of 12", got.found);
  cr_expect_leq(got.slower + got.faster - got.found, 8);
  run a, b; // of one cell: 100 us with a floor of 2.9 us, and 102 us with one of 3.9 us
  fill(&a, 12, 0);
  fill(&b, 12, 0.02);
  a.measurement.floor_us = 2.9;
  b.measurement.floor_us = 3.9;
  cr_expect_eq(judge_one(&a, &b, false, 0.015).verdict, VERDICT_SAME);
  cr_expect_eq(judge_one(&a, &b, true, 0.015).verdict, VERDICT_SLOWER, "timed together");
  a.measurement.floor_us = NAN; // not recorded
  cr_expect_eq(judge_one(&a, &b, false, 0.015).verdict, VERDICT_SLOWER);
}

// A slowdown of a third of all cells is no noise: those beyond 10 % are named, whatever the others do.
Test(judge, large_changes_are_no_noise) {
  const recorder before = {1, 0.002, 0.002, 0.002, 0, 0, 420, 0, 0};
  const recorder after = {1, 0.002, 0.002, 0.002, 0.15, 3, 420, 0, 0};
  const outcome got = compare(&before, &after, 0.01, 1);
  cr_expect_eq(got.found, 140, "%zu of 140", got.found);
}

// Three times what these cells scatter would be 18 % and more. The limit stays at 10 %, and a threshold moves it beyond.
Test(judge, no_noise_hides_more_than_ten_percent) {
  const recorder noisy = {1, 0.06, 0.06, 0.002, 0, 0, 420, 0, 0};
  compare(&noisy, &noisy, 0.01, 1);
  cr_expect_gt(judged.all.limit, 0.15, "%g", judged.all.limit);
  cr_expect(judged.smallest == 0.10 && judged.largest == 0.10, "%g", judged.largest);
  compare(&noisy, &noisy, 0.12, 1);
  cr_expect(judged.smallest == 0.12 && judged.largest == 0.12, "%g", judged.largest);
}

Test(judge, what_all_cells_have_in_common) {
  const recorder before = {1, 0.001, 0.001, 0.002, 0, 0, 100, 0, 0};
  recorder after = before;
  after.machine = 1.08; // no machine of one kind is that slow: the code is
  outcome got = compare(&before, &after, 0.01, 1);
  cr_expect(got.slower == 100 && !got.divided && judged.all.common > 1.07);
  after.machine = 1.02;
  got = compare(&before, &after, 0.01, 1);
  cr_expect(got.slower == 0 && got.divided && judged.all.common > 1.015 &&
            judged.all.common < 1.025);
  recorder few = before;
  few.cells = 5; // too few to tell the machine's part from the code's
  after = few;
  after.machine = 1.02;
  got = compare(&few, &after, 0.01, 1);
  cr_expect(got.slower == 5 && !got.divided && isnan(judged.all.noise));
}

// Two steps are compared: their ratios differ from shape to shape, and that is no noise.
Test(judge, ratios_of_two_steps_are_no_noise) {
  enum { SHAPES = 40 };
  error_text error;
  for (size_t i = 0; i < SHAPES; i++) {
    fill(&recordings[0][i], 10, 0);
    fill(&recordings[1][i], 10, 0.1 + 0.05 * (double)i);
    comparisons[i] = (comparison){.old_run = &recordings[0][i].measurement,
                                  .new_run = &recordings[1][i].measurement,
                                  .paired = true};
  }
  cr_assert(judge(comparisons, SHAPES, 0.01, false, &judged, &error));
  cr_expect(isnan(judged.all.noise) && !judged.all.divided);
  for (size_t i = 0; i < SHAPES; i++) cr_expect_eq(comparisons[i].verdict, VERDICT_SLOWER);
}

// Cells that were timed in one run have one floor and hardly differ. They must not hide what the others tell.
Test(judge, rows_of_one_run_tell_nothing_of_two_recordings) {
  enum { TOGETHER = 12, APART = 9 };
  error_text error;
  for (size_t i = 0; i < TOGETHER + APART; i++) {
    const bool apart = i >= TOGETHER;
    fill(&recordings[0][i], 10, 0);
    fill(&recordings[1][i], 10, apart ? 0.031 + 0.001 * (double)(i % 2) : 0);
    recordings[0][i].measurement.floor_us = 2.9;
    recordings[1][i].measurement.floor_us = apart ? 3.9 : 2.9;
    comparisons[i] = (comparison){.old_run = &recordings[0][i].measurement,
                                  .new_run = &recordings[1][i].measurement,
                                  .paired = !apart};
  }
  cr_assert(judge(comparisons, TOGETHER + APART, 0.01, true, &judged, &error));
  cr_expect_eq(judged.all.cells, APART);
  cr_expect_float_eq(judged.floor_us, 1, 1e-9);
  cr_expect_float_eq(judged.all.common, 1.0215, 0.002);
  for (size_t i = 0; i < TOGETHER; i++)
    cr_expect_eq(comparisons[i].ratio.ratio, 1, "a floor was subtracted within one run");
}
