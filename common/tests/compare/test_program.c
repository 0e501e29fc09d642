// Tests the whole program on small recordings: its output and its exit status.
#define _GNU_SOURCE
#include "tests/driver/program.h"
#include <sys/stat.h>

static void enter(void) { program_find("LAB_COMPARE"); }
TestSuite(compare, .init = enter, .fini = temporary_folder_leave);

#define HEADER                                                                                     \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,o_"     \
  "error,o_bound,lse_error,workspace_bytes,samples,median_ms,ci_low_ms,ci_high_ms,p5_ms,p95_ms,"   \
  "tflops,rounds,throttled,run_clock_mhz,driver,cuda,memory_clock_mhz,power_before_w,"             \
  "power_after_w,power_limit_w,temperature_before_c,temperature_after_c,commit,date\n"
#define SAMPLES_HEADER                                                                             \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,commit,date," \
  "round,microseconds\n"

typedef struct {
  FILE *rows, *samples;
  const char *device, *driver, *commit, *limit;
  int sm_clock, throttled;
} writer;

static writer begin(const char *name) {
  char path[64];
  writer writer = {.device = "NVIDIA H200",
                   .driver = "580.1",
                   .commit = "abc",
                   .limit = "700",
                   .sm_clock = 1980};
  snprintf(path, sizeof path, "%s.csv", name);
  writer.rows = fopen(path, "w");
  snprintf(path, sizeof path, "%s-samples.csv", name);
  writer.samples = fopen(path, "w");
  cr_assert(writer.rows && writer.samples);
  fputs("# a comment\n" HEADER, writer.rows);
  fputs(SAMPLES_HEADER, writer.samples);
  return writer;
}

static void end(const writer *writer) {
  fclose(writer->rows);
  fclose(writer->samples);
}

// A row of `count` rounds of two launches: their median is `microseconds`, and a thousandth more each time.
// 0 rounds: skipped. `key` is what stands in front of `check`, and the second that of the samples.
static void add_keys(const writer *writer, const char *key, const char *samples_key, size_t count,
                     double microseconds) {
  fputs(key, writer->rows);
  if (count == 0) {
    fputs(",skipped,,,,,,,,,,,,,,", writer->rows);
  } else {
    fprintf(writer->rows, ",ok,1e-4,1e-3,1e-6,0,%zu,1,1,1,1,1,1,%zu,%d,%d", 2 * count, count,
            writer->throttled, writer->sm_clock);
    for (size_t i = 0; i < count; i++) {
      const double median = microseconds * (1 + (double)i / 1000);
      fprintf(writer->samples, "%s,%s,2026-11-20T14:38:37Z,%zu,%.3f %.3f\n", samples_key,
              writer->commit, i, median - 1, median + 1);
    }
  }
  fprintf(writer->rows, ",%s,13.0,3201,120,300,%s,40,50,%s,2026-11-20T14:38:37Z\n", writer->driver,
          writer->limit, writer->commit);
}

static void add_key(const writer *writer, const char *key, size_t count, double microseconds) {
  add_keys(writer, key, key, count, microseconds);
}

static void add(const writer *writer, const char *step, int seq, size_t count,
                double microseconds) {
  char key[160];
  snprintf(key, sizeof key, "%s,,%s,fp16,1,32,32,%d,%d,64,1", step, writer->device, seq, seq);
  add_key(writer, key, count, microseconds);
}

// A recording of two steps and two shapes, of which one row may be slower.
static void record(const char *name, double factor) {
  const writer writer = begin(name);
  add(&writer, "05_wmma", 512, 20, 100);
  add(&writer, "05_wmma", 1024, 20, 400);
  add(&writer, "06_cp_async", 512, 20, 70);
  add(&writer, "06_cp_async", 1024, 20, 300 * factor);
  end(&writer);
}

static void expect_words(const program_result *result, int status, const char *const words[]) {
  cr_expect_eq(result->status, status, "it ended with %d: %s%s", result->status, result->out,
               result->err);
  for (size_t i = 0; words[i]; i++) {
    cr_expect(strstr(result->out, words[i]), "\"%s\" is missing:\n%s", words[i], result->out);
  }
}
#define EXPECT(result, status, ...)                                                                \
  expect_words(&(result), status, (const char *const[]){__VA_ARGS__, NULL})

static void expect_warning(const program_result *result, const char *warning) {
  cr_expect(strstr(result->err, warning), "\"%s\" is missing:\n%s", warning, result->err);
}

// Both have one date: they were timed together and are compared round by round. `b` has another date.
static void record_apart(const char *name, double factor) {
  record(name, factor);
  char command[256];
  snprintf(command, sizeof command, "sed -i s/T14:38:37Z/T15:00:00Z/ %s.csv %s-samples.csv", name,
           name);
  cr_assert_eq(system(command), 0);
}

Test(compare, two_runs_of_the_same_code) {
  record("a", 1);
  record_apart("b", 1.005);
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 0, "on NVIDIA H200", "larger than 1.0 %: 4 comparisons do not tell",
         "0 slower, 0 faster, 4 no difference, 0 too few runs; 0.0 % called different; 0 timed on "
         "one side only\n");
  cr_expect_str_empty(result.err);
}

Test(compare, a_row_is_slower) {
  record("a", 1);
  record_apart("b", 1.1);
  program_result result = program_run("a.csv b.csv");
  EXPECT(result, 1, "06_cp_async  1x32x1024x64 fp16 causal      0.3029      0.3331    1.100",
         "   1.0 %  slower\n", "1 slower, 0 faster, 3 no difference", "25.0 % called different");
  result = program_run("b.csv a.csv");
  EXPECT(result, 0, "   1.0 %  faster\n", "0 slower, 1 faster, 3 no difference");
  result = program_run("a.csv b.csv --threshold 11");
  EXPECT(result, 0, "larger than 11.0 %", "0 slower, 0 faster, 4 no difference");
  record_apart("b", 1.02);
  result = program_run("--threshold 0.5 a.csv b.csv");
  EXPECT(result, 1, "1 slower, 0 faster, 3 no difference");
}

// A grid in two recordings: the program says how much the cells scatter, and their common difference.
Test(compare, many_rows) {
  const writer a = begin("a");
  for (int i = 0; i < 20; i++) add(&a, "05_wmma", 512 + i, 20, 100 + i);
  end(&a);
  writer b = begin("b");
  for (int i = 0; i < 20; i++) {
    add(&b, "05_wmma", 512 + i, 20, (100 + i) * (i == 7 ? 1.06 : 1.012 + 0.0005 * (i % 3)));
  }
  end(&b);
  cr_assert_eq(system("sed -i s/T14:38:37Z/T15:00:00Z/ b.csv b-samples.csv"), 0);
  program_result result = program_run("a.csv b.csv");
  EXPECT(result, 1, "the cells of the two recordings scatter by 0.0",
         "the median of new/old is 1.0125, which is taken for the machine's and divided out\n",
         "1 slower, 0 faster, 19 no difference", "5.0 % called different");
  cr_expect_str_empty(result.err, "%s", result.err);
  b = begin("b");
  for (int i = 0; i < 20; i++) add(&b, "05_wmma", 512 + i, 20, (100 + i) * 1.2);
  end(&b);
  cr_assert_eq(system("sed -i s/T14:38:37Z/T15:00:00Z/ b.csv b-samples.csv"), 0);
  result = program_run("a.csv b.csv");
  EXPECT(result, 1, "20 slower, 0 faster");
  expect_warning(&result, "warning: half of all rows are slower by 20.0 % or more");
}

Test(compare, numbers_are_compared_as_numbers) {
  const writer a = begin("a");
  add_keys(&a, "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1",
           "05_wmma,,NVIDIA H200,fp16,2.0,8,8,512,512,64.00,1", 20, 100);
  end(&a);
  writer b = begin("b");
  b.limit = "700.00";
  add_key(&b, "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1", 20, 100);
  end(&b);
  const program_result result = program_expect_good("a.csv b.csv");
  EXPECT(result, 0, "1 no difference");
  cr_expect_str_empty(result.err, "%s", result.err); // a power limit of 700 W is one of 700.00 W
}

Test(compare, two_steps) {
  record("a", 1);
  const char *const names[][2] = {{"05", "06"}, {"05_wmma", "step06"}};
  for (size_t i = 0; i < 2; i++) {
    char line[128];
    snprintf(line, sizeof line, "a.csv a.csv --a %s --b %s", names[i][0], names[i][1]);
    program_result result = program_run(line);
    EXPECT(result, 0, "old: a.csv, 05_wmma", "new: a.csv, 06_cp_async", "  0.700", "  0.750",
           "0 slower, 2 faster, 0 no difference");
    snprintf(line, sizeof line, "a.csv a.csv --a %s --b %s", names[i][1], names[i][0]);
    result = program_run(line);
    EXPECT(result, 1, "2 slower, 0 faster");
  }
}

Test(compare, rows_of_one_side) {
  const writer a = begin("a");
  add(&a, "05_wmma", 512, 20, 100);
  add(&a, "05_wmma", 1024, 20, 100);
  add(&a, "06_cp_async", 512, 20, 100);
  add(&a, "06_cp_async", 1024, 0, 0);
  end(&a);
  const writer b = begin("b");
  add(&b, "05_wmma", 512, 20, 100);
  add(&b, "06_cp_async", 512, 0, 0);
  add(&b, "06_cp_async", 1024, 0, 0);
  add(&b, "07_later", 512, 20, 100);
  end(&b);
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 0, "timed in a.csv only: 05_wmma, 1x32x1024x64 fp16 causal\n",
         "timed in a.csv only: 06_cp_async, 1x32x512x64 fp16 causal (skipped in b.csv)\n",
         "timed in b.csv only: 07_later, 1x32x512x64 fp16 causal\n",
         "1 no difference, 0 too few runs; 0.0 % called different; 3 timed on one side only\n");
}

Test(compare, too_few_runs) {
  const writer a = begin("a");
  add(&a, "05_wmma", 512, 4, 100);
  end(&a);
  const writer b = begin("b");
  add(&b, "05_wmma", 512, 4, 200);
  end(&b);
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 0, "1 too few runs", "  2.000  -  ");
  expect_warning(&result, "warning: 1 rows are apart by more than their limit");
}

Test(compare, another_state_of_the_machine) {
  record("a", 1);
  writer b = begin("b");
  b.driver = "590.2";
  b.sm_clock = 1755;
  b.throttled = 1;
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  program_result result = program_run("a.csv b.csv");
  cr_expect_eq(result.status, 0);
  expect_warning(&result, "warning: the driver differs in 1 of 1 rows, first 580.1 against 590.2");
  expect_warning(&result, "warning: the SM clock at the end of the runs (MHz) differs in 1 of 1 "
                          "rows, first 1980 against 1755");
  expect_warning(&result,
                 "warning: whether power or heat held the GPU back (1: yes) differs in 1 of "
                 "1 rows, first 0 against 1");
  b = begin("b"); // within 2 %
  b.sm_clock = 1950;
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  result = program_run("a.csv b.csv");
  cr_expect_str_empty(result.err, "%s", result.err);
}

Test(compare, refuses_another_gpu) {
  record("a", 1);
  writer b = begin("b");
  b.device = "NVIDIA A100";
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  program_expect_refused("a.csv b.csv", "error: a.csv is of an NVIDIA H200 and b.csv of an NVIDIA "
                                        "A100: times of different GPUs say nothing about the code");
}

Test(compare, refuses_what_it_cannot_pair) {
  record("a", 1);
  writer other = begin("other");
  add(&other, "05_wmma", 256, 20, 100);
  end(&other);
  writer twice = begin("twice");
  add(&twice, "05_wmma", 512, 20, 100);
  add(&twice, "05_wmma", 512, 20, 100);
  end(&twice);
  program_expect_refused("a.csv other.csv", "error: no row was timed in both a.csv and other.csv");
  program_expect_refused("a.csv twice.csv",
                         "error: lines 3 and 4 of twice.csv are of the same step and shape "
                         "(05_wmma, 1x32x512x64 fp16 causal)");
  program_expect_refused("a.csv a.csv --a 05 --b 07",
                         "error: a.csv has no step \"07\": it has 05_wmma, 06_cp_async");
  program_expect_refused("a.csv a.csv --a 0 --b 06", "error: a.csv has no step \"0\"");
  program_expect_refused("a.csv a.csv --a 5_ --b 06", "error: a.csv has no step \"5_\"");
  program_expect_refused("a.csv none.csv", "error: cannot open none.csv: No such file");
  program_expect_refused("a.csv none", "error: none is no record");
}

// A row that differs in a single column is another row.
Test(compare, every_part_of_the_shape_counts) {
  static const char *const keys[] = {
      "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1",
      "06_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1",
      "05_wmma,c,NVIDIA H200,fp16,2,8,8,512,512,64,1",
      "05_wmma,,NVIDIA H200,bf16,2,8,8,512,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,3,8,8,512,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,9,8,512,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,9,512,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,8,513,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,8,512,513,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,65,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,0",
  };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *const names[] = {"a", "b"};
    for (size_t k = 0; k < 2; k++) {
      const writer writer = begin(names[k]);
      add_key(&writer, keys[k ? i : 0], 20, 100);
      end(&writer);
    }
    if (i == 0) {
      program_expect_good("a.csv b.csv");
    } else {
      program_expect_refused("a.csv b.csv", "error: no row was timed in both a.csv and b.csv");
    }
  }
}

Test(compare, refuses_several_configurations) {
  const writer a = begin("a");
  add_key(&a, "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1", 20, 100);
  add_key(&a, "06_cp_async,64x64,NVIDIA H200,fp16,2,8,8,512,512,64,1", 20, 100);
  add_key(&a, "06_cp_async,32x64,NVIDIA H200,fp16,2,8,8,512,512,64,1", 20, 110);
  end(&a);
  const program_result result = program_expect_good("a.csv a.csv");
  EXPECT(result, 0, "06_cp_async 64x64", "06_cp_async 32x64", "3 no difference");
  program_expect_refused("a.csv a.csv --a 05 --b 06",
                         "error: a.csv has several configurations of 06_cp_async (lines 4 and 5)");
}

Test(compare, refuses_samples_of_another_run) {
  record("a", 1);
  writer b = begin("b");
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  cr_assert(rename("b-samples.csv", "kept") == 0);
  program_expect_refused("a.csv b.csv",
                         "error: there is no b-samples.csv with the raw samples of b.csv");
  b = begin("b"); // the rows of one run, the samples of another
  b.commit = "def";
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  cr_assert(rename("kept", "b-samples.csv") == 0);
  program_expect_refused("a.csv b.csv", "error: b-samples.csv has no samples for line 3 of b.csv "
                                        "(05_wmma, 1x32x512x64 fp16 causal, commit def");
}

Test(compare, refuses_samples_that_are_no_times) {
  record("a", 1);
  static const struct {
    const char *samples;
    const char *sentence;
  } cases[] = {
      {"0,1.0 x", "error: sample 2 in line 2 of b-samples.csv is no time: \"x\""},
      {"0,1.0 -2.0", "error: sample 2 in line 2 of b-samples.csv is no time: \"-2.0\""},
      {"0,1.0;2.0", "error: sample 1 in line 2 of b-samples.csv is no time: \"1.0;2.0\""},
      {"0,1.0 2.0 3.0", "error: b-samples.csv has 3 samples in 1 rounds for line 3 of b.csv, which "
                        "says 2 in 1"},
      {"0,1.0", "error: b-samples.csv has 1 samples in 1 rounds for line 3 of b.csv"},
      {"0,", "error: line 2 of b-samples.csv has no samples"},
      {"1,1.0 2.0", "error: line 2 of b-samples.csv is of round 1, and should be of round 0 of 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    writer b = begin("b");
    add(&b, "05_wmma", 512, 1, 100);
    end(&b);
    FILE *samples = fopen("b-samples.csv", "w");
    fprintf(samples,
            SAMPLES_HEADER "05_wmma,,NVIDIA H200,fp16,1,32,32,512,512,64,1,abc,"
                           "2026-11-20T14:38:37Z,%s\n",
            cases[i].samples);
    fclose(samples);
    program_expect_refused("a.csv b.csv", cases[i].sentence);
  }
}

// A terminal obeys the escape codes that it receives, so cells, names and options must pass none on.
Test(compare, shows_no_escape_codes) {
  record("a", 1);
  writer red = begin("red");
  add(&red, "05_\033[31mwmma", 512, 20, 100);
  end(&red);
  program_expect_refused("a.csv red.csv", "error: line 3 of red.csv holds the byte 0x1b where a");
  record("\033[31mred", 1);
  const program_result result = program_expect_good("a.csv \033[31mred.csv");
  cr_expect(strstr(result.out, "new: \\x1b[31mred.csv, commit"), "%s", result.out);
  program_expect_refused("a.csv \033[2Jnone.csv", "error: cannot open \\x1b[2Jnone.csv: No such");
  program_expect_refused("a.csv --\033[2J 1", "error: there is no option --\\x1b[2J");
  program_expect_refused("a.csv a.csv --threshold \a",
                         "error: the threshold in percent is \"\\x07\"");
}

Test(compare, refuses_a_pipe) {
  record("a", 1);
  cr_assert(mkfifo("pipe.csv", 0600) == 0 && mkfifo("pipe-samples.csv", 0600) == 0);
  program_expect_refused("a.csv pipe.csv", "error: pipe.csv is a pipe or a device");
  cr_assert(unlink("pipe.csv") == 0 && link("a.csv", "pipe.csv") == 0);
  program_expect_refused("a.csv pipe.csv", "error: pipe-samples.csv is a pipe or a device");
}

Test(compare, refuses_bad_usage) {
  record("a", 1);
  program_expect_refused("a.csv", "error: give the two recordings, such as make compare OLD=");
  program_expect_refused("a.csv a.csv a.csv", "error: a.csv is one file too many");
  program_expect_refused("a.csv a.csv --a 05", "error: give both steps, such as A=05 B=06");
  program_expect_refused("a.csv a.csv --b 05", "error: give both steps, such as A=05 B=06");
  program_expect_refused("a.csv a.csv --a", "error: --a is the last word");
  program_expect_refused("a.csv a.csv --threshold -1", "error: the threshold is -1");
  program_expect_refused("a.csv a.csv --threshold 3x", "error: the threshold in percent is \"3x\"");
  program_expect_refused("a.csv a.csv --fast 1", "error: there is no option --fast");
  const program_result help = program_expect_good("--help");
  cr_expect(program_begins(help.out, "usage: compare OLD.csv NEW.csv"));
}
