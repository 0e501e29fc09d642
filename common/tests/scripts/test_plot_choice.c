// scripts/plot.sh: a reader's choices for a chart, and files that cannot be drawn. An error leaves no file.
#define _GNU_SOURCE
#include "recorded.h"
#include "tests/kept.h"
#include "tests/needs.h"

static void enter(void) {
  needs_tool("gnuplot");
  toolkit_enter();
  recorded_write_all();
}

TestSuite(plot_choice, .init = enter, .fini = toolkit_leave);

// A file that is empty or wrong: the script names it and the column in a sentence, and writes nothing.
Test(plot_choice, wrong_files) {
  const struct {
    const char *change; // of the file, by the shell
    const char *sentence;
  } cases[] = {
      {": >",
       "bench.csv cannot be drawn: it is empty, and its columns, such as step, are not named"},
      {"sed -i 2,\\$d",
       "bench.csv cannot be drawn: it has no row below the names of its columns, of "
       "which the first is step: record it again (make bench)"},
      {"sed -i s/median_ms/median/",
       "bench.csv cannot be drawn: it has no column median_ms: record"},
      {"sed -i s/,10,abc/,ten,abc/",
       "error: line 4 of " FOLDER "/bench.csv is no record: tflops is no"},
      {"sed -i '3s/,ok.*//'",
       "bench.csv cannot be drawn: its line 3 has 11 fields, and its first one "
       "names 25 columns"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[256];
    recorded_write_all();
    snprintf(command, sizeof command,
             "%s " FOLDER
             "/bench.csv && scripts/plot.sh 'speedup scaling' test-gpu 2>&1; status=$?; "
             "ls plots/test-gpu 2>/dev/null; exit $status",
             cases[i].change);
    const script_result result = toolkit_run(command);
    cr_expect_eq(result.status, 2, "%s: it ended with %d: %s", cases[i].change, result.status,
                 result.out);
    EXPECT(result, cases[i].sentence);
    cr_expect_null(strstr(result.out, ".svg"), "%s: %s", cases[i].change, result.out);
  }
}

#define CHOOSE "scripts/plot.sh --steps 05,30 --base sdpa_cudnn --with results/mine --axis linear "
#define OWN                                                                                        \
  ROW_HEADER TIMED("30_mine", LARGE, "0", "1", "1", "1", "40")                                     \
      TIMED("06_copied", LARGE, "0", "1", "1", "1", "40")

// A reader's own step beside the record is drawn in the reader's folder; published charts stay unchanged.
Test(plot_choice, what_a_reader_chooses) {
  cr_assert_eq(toolkit_run("mkdir -p results/mine").status, 0);
  toolkit_write("results/mine/bench.csv", OWN);
  const script_result result = toolkit_run(CHOOSE "speedup-by-length test-gpu 2>&1");
  cr_expect_str_eq(result.out,
                   "written: results/test-gpu/speedup-by-length-dim64-fp16-chosen.svg\n", "%s",
                   result.out);
  const script_result words = toolkit_run("grep -A 1 '<title id' results/test-gpu/*.svg; ls plots");
  EXPECT(words, "Speed-up over SDPA cuDNN by sequence length", "05 fused", "30 mine (own) 1.6");
  cr_expect_null(strstr(words.out, "06 copied"), "%s", words.out);
  cr_expect_null(strstr(words.out, "test-gpu\n"), "%s", words.out);
  const script_result absent =
      toolkit_run("scripts/plot.sh --steps 05,44 speedup-by-length test-gpu 2>&1");
  EXPECT(absent, "note: Nothing usable is recorded for step 44\nwritten: results/");
}

// A GPU whose record lacks the chart's file has no chart, and does not stop that of another one.
Test(plot_choice, a_record_that_lacks_the_file) {
  cr_assert_eq(
      toolkit_run("mkdir -p plots/data/a-gpu && cp " FOLDER "/ladder.csv plots/data/a-gpu").status,
      0);
  script_result result = toolkit_run("scripts/plot.sh --steps 05 scaling 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "written: results/test-gpu/scaling-dim64-fp16-chosen.svg\n");
  result = toolkit_run("scripts/plot.sh --steps 99 scaling 2>&1");
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "error: nothing is drawn of what was chosen: no step of '99' has a usable row in");
}

Test(plot_choice, what_cannot_be_chosen) {
  const struct {
    const char *options;
    const char *sentence;
  } cases[] = {
      {"--base 04 saves", "error: the chart saves takes no BASE: it takes none of the settings"},
      {"--base 04 scaling", "error: the chart scaling takes no BASE: it takes STEPS WITH AXIS"},
      {"--axis round scaling", "error: AXIS is round: give it linear or logarithmic"},
      {"--with results/none scaling", "error: there is no results/none to draw beside the record"},
      {"--with results/mine scaling", "error: results/mine holds no file for the chart scaling"},
      {"--with results/wrong.csv scaling", "wrong.csv cannot be drawn: it has no column tflops"},
      {"--with results/other.csv scaling", "error: results/other.csv has none of the shapes that "},
      {"--steps 44 scaling", "error: nothing is drawn of what was chosen: no step of '44' has a"},
      {"--base 44 speedup", "nothing is drawn of what was chosen: The base 44 has no time at the"},
  };
  cr_assert_eq(toolkit_run("mkdir -p results/mine").status, 0);
  toolkit_write("results/wrong.csv", OWN);
  toolkit_write("results/other.csv", OWN);
  cr_assert_eq(
      toolkit_run("cd results; sed -i s/tflops/tf/ wrong.csv; sed -i s/,fp16/,bf16/ other.csv")
          .status,
      0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[256];
    snprintf(command, sizeof command, "scripts/plot.sh %s test-gpu 2>&1", cases[i].options);
    const script_result result = toolkit_run(command);
    cr_expect_eq(result.status, 2, "%s: it ended with %d", cases[i].options, result.status);
    EXPECT(result, cases[i].sentence);
  }
  cr_expect_str_empty(kept(toolkit_run("find . -name '*.svg'").out), "something is written");
}

// A reader's own file of which no row can be drawn: the script names the file and the column that is in the way, and
// draws nothing.
Test(plot_choice, own_files_without_a_usable_row) {
  const struct {
    const char *change; // of the file, by the shell
    const char *chart;
    const char *sentence;
  } cases[] = {
      {"sed -i s/30_mine/mine/", "scaling", "its column step names no step, such as 30_mine"},
      {"sed -i s/,ok,/,FAILED,/", "scaling", "its column check is ok for no step"},
      {"sed -i s/,9,1,1/,9,,1/", "scaling", "its column median_ms holds no time of a step"},
      {"sed -i s/,40,abc/,,abc/", "scaling", "its column tflops holds no speed of a step"},
      {"sed -i s/30_mine/05_fused/", "scaling", "the record has each step of its column step as"},
      {"sed -i s/30_mine/05_fused/", "--steps 06 scaling", "column step names none of STEPS (06)"},
      {"sed -i s/,1024,1024,/,768,768,/", "speedup", "the columns batch, heads, kv_heads, seq_q"},
      {"sed -i s/,1024,1024,/,768,768,/", "speedup-by-length",
       "speedup-by-length: the columns batch"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[256];
    toolkit_write("own.csv", ROW_HEADER TIMED("30_mine", LARGE, "0", "1", "1", "1", "40"));
    snprintf(command, sizeof command,
             "%s own.csv && scripts/plot.sh --with own.csv %s test-gpu 2>&1", cases[i].change,
             cases[i].chart);
    const script_result result = toolkit_run(command);
    cr_expect_eq(result.status, 2, "%s: it ended with %d", cases[i].change, result.status);
    EXPECT(result, "own.csv", "has no usable row", cases[i].sentence);
  }
  cr_expect_str_empty(kept(toolkit_run("find . -name '*.svg'").out), "something is written");
}
