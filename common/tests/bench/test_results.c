// A bench keeps the results of an earlier run if they are complete, and of the same code and machine.
#define _GNU_SOURCE
#include "../driver/temporary_folder.h"
#include "bench/results.h"
#include <string.h>

static const results_origin origin = {"NVIDIA H200", "580.1", "13.0", "abc1234"};
static timing_burst bursts[2] = {{.launches = 2, .milliseconds = {2, 2.5}},
                                 {.launches = 1, .milliseconds = {3}}};
static const timing_contender timed = {.bursts = bursts, .rounds = 2};
static record_folder folder = {"."};
static results all;
static error_text error;

static result_row make_row(const char *step, int seq, check_verdict verdict) {
  result_row row = {
      .step = step,
      .device = "NVIDIA H200",
      .shape = {ATTENTION_FP16, 1, 2, 2, seq, seq, 64, false, 0.125f},
      .verdict = verdict,
      .check = {.o_error = 0.001, .o_bound = 0.004, .lse_error = 2.5e-7},
      .conditions = {.before = {"580.1", 1980, 3201, 118.93, 700, 37},
                     .after = {"580.1", 1905, 3201, 650.5, 700, 45},
                     .origin = {"13.0", "abc1234", "2026-11-20T14:26:19Z"}},
  };
  if (verdict == CHECK_PASSED) {
    row.figures.times = (statistics_summary){2, 3, 2.5, 2, 3, 2, 3};
  }
  return row;
}

static void add(result_row row) {
  const bool passed = row.verdict == CHECK_PASSED;
  cr_assert(results_add(&all, &row, passed ? &timed : NULL, &error), "%s", error.text);
}

static bool has(const char *step, int seq) {
  const result_row row = make_row(step, seq, CHECK_PASSED);
  return results_has(&all, &row);
}

static bool skipped(const char *step, int seq) {
  const result_row row = make_row(step, seq, CHECK_PASSED);
  return results_skipped(&all, &row);
}

static void open_again(const results_origin *same) {
  results_free(&all);
  cr_assert(results_open(&folder, "bench", same, &all, &error), "%s", error.text);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = calloc(1 << 16, 1);
  cr_assert(file && text, "%s", path);
  cr_assert_lt(fread(text, 1, 1 << 16, file), 1 << 16);
  fclose(file);
  return text;
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

// The rows are two good ones, a wrong one and one that was skipped.
static void begin(void) {
  temporary_folder_enter();
  cr_assert(results_comment(&all, "# before: one\n", &error));
  add(make_row("01_naive", 128, CHECK_PASSED));
  add(make_row("02_tiled", 128, CHECK_FAILED));
  add(make_row("03_3dgrid", 128, CHECK_SKIPPED));
  add(make_row("01_naive", 256, CHECK_PASSED));
  cr_assert(results_save(&all, &folder, "bench", &error), "%s", error.text);
}

static void end(void) {
  results_free(&all);
  temporary_folder_leave();
}

TestSuite(results, .init = begin, .fini = end);

Test(results, what_was_written_is_read) {
  char *rows = read_file("bench.csv");
  char *samples = read_file("bench-samples.csv");
  open_again(&origin);
  cr_expect_eq(all.count, 4);
  cr_expect_eq(all.dropped, 0);
  cr_expect(has("01_naive", 128) && has("01_naive", 256));
  cr_expect(!has("02_tiled", 128), "a wrong row is not measured again");
  cr_expect(!has("03_3dgrid", 128), "what was skipped for want of memory is never tried again");
  cr_expect(skipped("03_3dgrid", 128) && !skipped("01_naive", 128) && !skipped("02_tiled", 128));
  cr_expect(!has("01_naive", 512) && !has("01", 128) && !has("01_naive", 12));
  cr_assert(results_save(&all, &folder, "bench", &error), "%s", error.text);
  char *rows_again = read_file("bench.csv");
  char *samples_again = read_file("bench-samples.csv");
  cr_expect_str_eq(rows_again, rows);
  cr_expect_str_eq(samples_again, samples);
  cr_expect(strstr(samples, ",2000.000 2500.000\n"), "%s", samples); // a line for each round
  cr_expect(strstr(samples, ",3000.000\n"), "%s", samples);
  cr_expect_eq(temporary_folder_count(), 2);
  free(rows), free(samples), free(rows_again), free(samples_again);
}

// What every time holds has samples and no row; of another commit it is dropped like the rows.
Test(results, floors_have_samples_alone) {
  const result_row floor = make_row(TIMING_EMPTY_KERNEL, 128, CHECK_PASSED);
  const result_row nothing = make_row(TIMING_NOTHING, 128, CHECK_PASSED);
  cr_assert(results_add_floor(&all, &floor, &timed, &error));
  cr_assert(results_add_floor(&all, &nothing, &timed, &error));
  cr_assert(results_save(&all, &folder, "bench", &error), "%s", error.text);
  open_again(&origin);
  cr_expect_eq(all.count, 6);
  cr_expect_eq(results_rows(&all), 4, "they are counted like rows");
  cr_expect(!has(TIMING_EMPTY_KERNEL, 128));
  char *before = read_file("bench-samples.csv");
  cr_assert(results_save(&all, &folder, "bench", &error), "%s", error.text);
  char *rows = read_file("bench.csv");
  char *samples = read_file("bench-samples.csv");
  cr_expect_str_eq(samples, before);
  cr_expect(!strstr(rows, TIMING_EMPTY_KERNEL) && strstr(samples, TIMING_EMPTY_KERNEL), "%s", rows);
  results_origin other = origin;
  other.commit = "else";
  open_again(&other);
  cr_expect_eq(all.count, 0);
  free(before), free(rows), free(samples);
}

// A quick run comes first, then the whole grid: the lines of a chart need their points in order.
Test(results, rows_stand_in_order_whenever_they_were_measured) {
  static const int lengths[] = {16384, 1024, 64, 2048};
  for (int i = 0; i < 4; i++) add(make_row("01_naive", lengths[i], CHECK_PASSED));
  static const char *const expected[] = {"01_naive,,NVIDIA H200,fp16,1,2,2,64,64,64,0",
                                         "01_naive,,NVIDIA H200,fp16,1,2,2,128,128,64,0",
                                         "01_naive,,NVIDIA H200,fp16,1,2,2,256,256,64,0",
                                         "01_naive,,NVIDIA H200,fp16,1,2,2,1024,1024,64,0",
                                         "01_naive,,NVIDIA H200,fp16,1,2,2,2048,2048,64,0",
                                         "01_naive,,NVIDIA H200,fp16,1,2,2,16384,16384,64,0",
                                         "02_tiled,,NVIDIA H200,fp16,1,2,2,128,128,64,0",
                                         "03_3dgrid,,NVIDIA H200,fp16,1,2,2,128,128,64,0"};
  cr_assert_eq(all.count, 8);
  for (size_t i = 0; i < 8; i++) cr_expect_str_eq(all.entries[i].key, expected[i]);
}

// The type, the mask and the heads tell rows apart as well.
Test(results, other_shapes_are_other_rows) {
  for (int i = 0; i < 4; i++) {
    result_row row = make_row("01_naive", 128, CHECK_PASSED);
    if (i == 0) row.shape.dtype = ATTENTION_BF16;
    if (i == 1) row.shape.causal = true;
    if (i == 2) row.shape.heads = row.shape.kv_heads = 4;
    if (i == 3) row.configuration = "64x64x4x2";
    cr_expect(!results_has(&all, &row), "%d", i);
  }
}

Test(results, a_row_measured_again_takes_the_place) {
  open_again(&origin);
  add(make_row("02_tiled", 128, CHECK_PASSED));
  cr_expect_eq(all.count, 4);
  cr_expect(has("02_tiled", 128));
  cr_assert(results_save(&all, &folder, "bench", &error), "%s", error.text);
  open_again(&origin);
  cr_expect_eq(all.count, 4);
  cr_expect(has("02_tiled", 128));
}

Test(results, what_was_skipped_is_known_in_the_same_run) {
  cr_expect(skipped("03_3dgrid", 128) && !has("03_3dgrid", 128));
  cr_expect(!skipped("02_tiled", 128), "a wrong row is not skipped");
  const result_row untimed = make_row("04_online", 128, CHECK_PASSED);
  cr_assert(results_add(&all, &untimed, NULL, &error));
  cr_expect(!has("04_online", 128), "it has no samples");
  add(make_row("03_3dgrid", 128, CHECK_PASSED));
  cr_expect(has("03_3dgrid", 128) && !skipped("03_3dgrid", 128));
}

Test(results, of_another_code_or_machine_nothing_is_kept) {
  for (int i = 0; i < 4; i++) {
    results_origin other = origin;
    const char **const fields[] = {&other.device, &other.driver, &other.cuda, &other.commit};
    *fields[i] = "else";
    open_again(&other);
    cr_expect_eq(all.count, 0, "%d", i);
    cr_expect_eq(all.dropped, 4, "%d", i);
    cr_expect_null(all.comments, "%d", i);
  }
}

Test(results, commits_that_say_what_the_code_is) {
  cr_expect(results_commit_is_certain("abc1234") && results_commit_is_certain("v1-2-gabc1234"));
  cr_expect(!results_commit_is_certain("abc1234-dirty") && !results_commit_is_certain("unknown"));
}

// An interruption between the two files, or a file that was lost.
Test(results, a_row_without_its_samples_is_not_measured) {
  char *samples = read_file("bench-samples.csv");
  for (int i = 0; i < 2; i++) strrchr(samples, '\n')[0] = '\0';
  strrchr(samples, '\n')[1] = '\0'; // the last row's two rounds are gone
  write_file("bench-samples.csv", samples);
  open_again(&origin);
  cr_expect(has("01_naive", 128));
  cr_expect(!has("01_naive", 256));
  cr_expect_eq(all.count, 4);

  for (char *date = samples; (date = strstr(date, "2026-11-20"));) date[9] = '1'; // another day
  write_file("bench-samples.csv", samples);
  open_again(&origin);
  cr_expect(!has("01_naive", 128));
  free(samples);

  remove("bench-samples.csv");
  open_again(&origin);
  cr_expect_eq(all.count, 0);
}

Test(results, no_file_yet) {
  remove("bench.csv");
  open_again(&origin);
  cr_expect_eq(all.count, 0);
  cr_expect_eq(all.dropped, 0);
}

Test(results, a_file_that_cannot_be_continued) {
  static const struct {
    const char *text;
    const char *sentence;
  } cases[] = {
      {"step,configuration\n", "./bench.csv has other columns than this bench writes"},
      {"nonsense", "./bench.csv has other columns than this bench writes"},
      {"step,step\n", "./bench.csv"},
  };
  char *rows = read_file("bench.csv");
  for (int i = 0; i < 3; i++) {
    write_file("bench.csv", cases[i].text);
    results_free(&all);
    cr_expect(!results_open(&folder, "bench", &origin, &all, &error), "%d", i);
    cr_expect(strstr(error.text, cases[i].sentence), "%s", error.text);
    cr_expect_eq(all.count, 0);
  }
  strrchr(rows, ',')[0] = '\n'; // the last row is cut short
  write_file("bench.csv", rows);
  cr_expect(!results_open(&folder, "bench", &origin, &all, &error));
  cr_expect(strstr(error.text, "bench.csv"), "%s", error.text);
  free(rows);
}
