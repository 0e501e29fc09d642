// Tests the record of steps for several GPUs, and the lines that a reader sees meanwhile.
#define _GNU_SOURCE
#include "told_times.h"
#include <unistd.h>

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

Test(row, the_record_has_what_was_found) {
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

Test(row, the_samples_have_a_line_for_each_round) {
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

// Writes a number as the record does, with so many digits.
static const char *text_of(double number, int digits) {
  static char text[64];
  snprintf(text, sizeof text, "%.*g", digits, number);
  return text;
}

// Rounds that scatter have an interval, whose ends stay apart from the percentiles and from each other.
Test(row, the_record_has_the_ends_of_the_intervals) {
  FILE *out = timed_file();
  for (int round = 0; round < ROUNDS; round++) {
    timing_burst *burst = &s.contenders[1].bursts[round];
    burst->median = burst->milliseconds[0] *= 1 + 0.02 * (double)(round % 5);
  }
  groups_write_row(out, true, &s, &s.contenders[0], &shape, &conditions);
  groups_write_row(out, false, &s, &s.contenders[1], &shape, &conditions);
  fclose(out);
  const groups_result result = groups_result_of(&s, &s.contenders[1], &shape);
  const statistics_summary *times = &result.figures.times;
  const statistics_ratio *efficiency = &result.efficiency;
  cr_assert(times->p5 < times->low && times->low < times->median && times->median < times->high &&
            times->high < times->p95);
  cr_assert(efficiency->interval.low < efficiency->ratio &&
            efficiency->ratio < efficiency->interval.high);
  EXPECT_VALUE(file, "median_ms", 1, text_of(times->median, 9));
  EXPECT_VALUE(file, "ci_low_ms", 1, text_of(times->low, 9));
  EXPECT_VALUE(file, "ci_high_ms", 1, text_of(times->high, 9));
  EXPECT_VALUE(file, "efficiency", 1, text_of(efficiency->ratio, 5));
  EXPECT_VALUE(file, "efficiency_low", 1, text_of(efficiency->interval.low, 5));
  EXPECT_VALUE(file, "efficiency_high", 1, text_of(efficiency->interval.high, 5));
  free(file);
}

// The exchange alone computes nothing, so it has a bandwidth and no speed. That of the link is that of the copies.
Test(row, the_record_has_speeds_and_bandwidths) {
  FILE *out = timed_file();
  groups_write_row(out, true, &s, &s.contenders[0], &shape, &conditions);
  groups_write_row(out, false, &s, &s.contenders[1], &shape, &conditions);
  groups_write_row(out, false, &s, &s.contenders[3], &shape, &conditions);
  fclose(out);
  const double middle = 1 + 0.01 * (ROUNDS + 1) / 2.0; // of the rounds
  const double operations = 4.0 * 16 * 16384 * 16384 * 128;
  cr_expect_float_eq(atof(value(file, "tflops", 1)), operations / (5 * middle) * 1e-9, 1e-3);
  EXPECT_VALUE(file, "gb_per_s", 1, "");
  EXPECT_VALUE(file, "link_gb_per_s", 1, text_of(bytes / middle * 1e-6, 5));
  EXPECT_VALUE(file, "tflops", 2, "");
  EXPECT_VALUE(file, "gb_per_s", 2, text_of(bytes / (2 * middle) * 1e-6, 5));
  EXPECT_VALUE(file, "link_gb_per_s", 2, text_of(bytes / middle * 1e-6, 5));
  free(file);
}

// Returns what is printed for the contender.
static const char *printed(const contender *c) {
  static char text[512];
  FILE *out = tmpfile();
  const int kept = dup(STDOUT_FILENO);
  cr_assert(out && kept >= 0 && fflush(stdout) == 0 && dup2(fileno(out), STDOUT_FILENO) >= 0);
  groups_print_row(&s, c, &shape);
  cr_assert(dup2(kept, STDOUT_FILENO) >= 0 && close(kept) == 0);
  rewind(out);
  text[fread(text, 1, sizeof text - 1, out)] = '\0';
  fclose(out);
  return text;
}

Test(row, the_reader_sees_what_counts) {
  fclose(timed_file());
  const char *text = printed(&s.contenders[1]);
  cr_expect_str_eq(text,
                   "   16384  full    several                2     5.3250 ms    80.0 % [80.0, "
                   "80.0], throttled\n");
  text = printed(&s.contenders[3]);
  cr_expect_str_eq(text, "   16384  full    exchange               2     2.1300 ms    31.5 GB/s\n");
  text = printed(&s.contenders[2]);
  cr_expect(strstr(text, "  full    other  "), "it does not name the variant: %s", text);
  free(file);
}
