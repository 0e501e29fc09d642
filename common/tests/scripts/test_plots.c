// scripts/plot.sh: every chart is drawn from little data and from none, and gnuplot prints nothing.
#define _GNU_SOURCE
#include "recorded.h"
#include "tests/needs.h"

static void enter(void) {
  needs_tool("gnuplot");
  toolkit_enter();
  unsetenv("COLUMNS"); // the width of charts in a terminal, which some shells hand on
  cr_assert_eq(toolkit_run("mkdir -p " FOLDER).status, 0);
}

TestSuite(plots, .init = enter, .fini = toolkit_leave);

// Draws charts, or "all", as files; every line of output names one of them.
static void draw_silently(const char *charts) {
  char command[256];
  snprintf(
      command, sizeof command,
      "scripts/plot.sh '%s' test-gpu >said 2>&1; status=$?; grep -Ev '^(written|removed): ' said; "
      "exit $status",
      charts);
  const script_result result = toolkit_run(command);
  cr_expect_eq(result.status, 0, "it ended with %d", result.status);
  cr_expect_str_empty(result.out, "it said: %s", result.out);
}

// Returns the words of a chart from its SVG.
static script_result words_of(const char *chart) {
  char command[256];
  snprintf(command, sizeof command,
           "tr -d '\\n' <plots/test-gpu/%s.svg | sed 's/<title[^<]*//g; s/<desc[^<]*//g; "
           "s/<[^>]*>/ /g; s/[\\t "
           "][\\t ]*/ /g'",
           chart);
  return toolkit_run(command);
}

static void expect_words(const char *chart, const char *words) {
  const script_result result = words_of(chart);
  cr_expect(strstr(result.out, words), "'%s' is not in %s: %s", words, chart, result.out);
}

Test(plots, every_chart_from_little_data) {
  const struct {
    const char *chart;
    const char *words[4]; // in the order of the file
  } cases[] = {
      {"speedup", {"01", "4×", "40×", "Speed-up over step 01"}},
      {"speedup-again", {"Speed-up over step 01"}},
      {"scaling-dim64-fp16", {"512", "1024", "FlashAttention-3 (quoted)", "mma fp16 100"}},
      {"roofline", {"fp32 fma 30", "05 fused"}},
      {"memory-dim64", {"10 MB", "step 01: ×3.6", "step 05: ×2.0"}},
      {"latency", {"n = 3", "n = 1"}},
      {"sweep", {"64x64x4x2", "20 TFLOP/s, 2 ms", "skipped"}},
      {"peers-dim64-fp16", {"as SDPA flash", "05 fused", "as the best peer"}},
      {"spread-fp16", {"head_dim 64, random scores", "06 copied", "SDPA flash", "rising scores"}},
      {"decode", {"1024", "8192", "GB/s, batch 1", "only reading"}},
      {"splits", {"Time by the number of splits", "06 copied"}},
      {"saves", {"shared memory, wavefronts", "not seen"}},
      {"timeline",
       {"Timeline of step 06 copied", "5.0 % slower, and 10.0 %",
        "queued for 70 % of the time; 0 % of", "warps 4-7"}},
      {"speedup-by-length-dim64-fp16", {"Speed-up over step 01 plain by sequence length"}},
      {"ceiling-share-dim64-fp16", {"% of the ceiling, not causal", "fp32 fma 30, mma fp16 100"}},
  };
  recorded_write_all();
  draw_silently("all");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int word = 0; word < 4 && cases[i].words[word]; word++) {
      expect_words(cases[i].chart, cases[i].words[word]);
    }
    expect_words(cases[i].chart, "Test GPU, commit abc1234, 2026-01-02");
    cr_expect_null(strstr(words_of(cases[i].chart).out, "Not recorded"), "%s", cases[i].chart);
  }
  const script_result files = toolkit_run("ls plots/test-gpu | wc -l");
  cr_expect_str_eq(files.out, "16\n", "%s files", files.out); // groups.csv needs several GPUs
}

Test(plots, every_chart_from_no_data) {
  const struct {
    const char *chart;
    const char *command;
  } cases[] = {
      {"speedup", "ladder.csv of " FOLDER ": make ladder records it"},
      {"scaling", "bench.csv of " FOLDER ": make bench records it"},
      {"roofline", "ceilings.csv of " FOLDER ": make ceilings records it"},
      {"memory", "bench.csv of " FOLDER ": make bench records it"},
      {"latency", "bench-samples.csv of " FOLDER ": make bench records it"},
      {"sweep", "sweep.csv of " FOLDER ": make step06 sweep records it"},
      {"peers", "peers.csv of " FOLDER ": make peers records it"},
      {"spread", "spread.csv of " FOLDER ": make spread records it"},
      {"decode", "decode.csv of " FOLDER ": make decode records it"},
      {"splits", "splits.csv of " FOLDER ": make step18 splits records it"},
      {"saves", "counts.csv of " FOLDER ": make count records it"},
      {"timeline", "timeline.csv of " FOLDER ": make step14 timeline records it"},
      {"groups", "groups.csv of " FOLDER ": make groups records it"},
  };
  draw_silently("all");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    expect_words(cases[i].chart, cases[i].command);
  }
  // A page that says that data is missing does not stay once there is data.
  recorded_write_all();
  draw_silently("scaling");
  cr_expect_neq(toolkit_run("ls plots/test-gpu/scaling.svg 2>&1").status, 0, "the old page stays");
  // Nor is there one of a GPU that lacks what another one has.
  const script_result both =
      toolkit_run("mkdir -p plots/data/other-gpu && scripts/plot.sh all && ls plots/*-gpu");
  cr_expect_eq(both.status, 0, "it ended with %d", both.status);
  cr_expect_null(strstr(both.out, "plots/other-gpu/scaling"), "%s", both.out);
  cr_expect_not_null(strstr(both.out, "plots/other-gpu/groups.svg"), "%s", both.out);
}

Test(plots, files_without_a_usable_row) {
  const char *const none =
      ROW_HEADER NOT_TIMED("01_plain", LARGE, "FAILED") NOT_TIMED("02_tiled", LARGE, "skipped");
  const char *const files[] = {"ladder", "bench", "peers", "sweep"};
  for (int i = 0; i < 4; i++) recorded_write(files[i], none);
  recorded_write("ceilings", CEILINGS_HEADER CEILING("exp2", "Gop/s", "1", ""));
  recorded_write("counts", COUNTS_HEADER COUNTED("06_copied", "emulator", "400", ""));
  draw_silently("all");
  expect_words("speedup", "No step was right and timed in this ladder.");
  expect_words("scaling-dim64-fp16", "No step was right and timed with head_dim 64 in fp16.");
  expect_words("peers-dim64-fp16", "No step was timed beside a peer");
  expect_words("roofline", "There is no copy_bandwidth in ceilings.csv");
}

// Readers who cannot see a picture have a description; a dark page does not shine through the picture.
Test(plots, words_for_a_screen_reader_and_a_white_ground) {
  recorded_write_all();
  draw_silently("speedup scaling");
  const script_result head = toolkit_run("head -n 15 plots/test-gpu/speedup.svg");
  EXPECT(head, "role=\"img\" aria-labelledby=\"title description\"",
         "<title id=\"title\">Speed-up over step 01 plain</title>",
         "<desc id=\"description\">batch 4, heads 4, seq 1024, head_dim 64, fp16. ",
         "01 plain 1× 0.5 TFLOP/s; 02 tiled 4× 2 TFLOP/s", "</desc>", "fill=\"#ffffff\"");
  const script_result lines = toolkit_run("grep '<desc' plots/test-gpu/scaling-dim64-fp16.svg");
  EXPECT(lines, "Panel, not causal: 01 plain 0.25 at 512 and 0.5 at 1024; ");
  const script_result names = toolkit_run("grep -c 'gnuplot_plot.*</title>' plots/test-gpu/*.svg");
  EXPECT(names, ":0\n", ":0\n");
}

// A picture that is no longer drawn is removed, and every published one is shown on a page.
Test(plots, pictures_that_are_left_over) {
  recorded_write_all();
  cr_assert_eq(
      toolkit_run("mkdir plots/test-gpu; touch plots/test-gpu/old.svg plots/test-gpu/a.png").status,
      0);
  const script_result result = toolkit_run("scripts/plot.sh all test-gpu 2>&1 | grep removed");
  cr_expect_str_eq(result.out, "removed: plots/test-gpu/old.svg\nremoved: plots/test-gpu/a.png\n",
                   "%s", result.out);
}

// With sixteen steps and more, no two names of a panel overlap.
Test(plots, names_of_many_steps_do_not_overlap) {
  char many[8192] = ROW_HEADER, row[256];
  for (int i = 1; i <= 23; i++) {
    snprintf(row, sizeof row, TIMED("%02d_a_step", LARGE, "0", "1", "1", "1", "%d"), i,
             500 + i / 4);
    strcat(many, row);
  }
  recorded_write("bench", many);
  draw_silently("scaling");
  const script_result nearest = toolkit_run(
      "grep -B 1 '>[0-9][0-9] a step<' plots/test-gpu/scaling-dim64-fp16.svg | "
      "sed -n 's/.*translate(\\([0-9.]*\\),\\([0-9.]*\\)).*/\\1 \\2/p' | sort -k 1,1n -k 2,2n | "
      "awk '$1 == x { gap = $2 - y; if (!n++ || gap < least) least = gap } { x = $1; y = $2 } "
      "END { print n + 0, (least >= 17 ? \"apart\" : least) }'");
  cr_expect_str_eq(nearest.out, "33 apart\n", "%s", nearest.out);
}

Test(plots, a_single_row) {
  recorded_write("ladder", ROW_HEADER TIMED("06_copied", LARGE, "0", "2", "2", "2", "20"));
  recorded_write("bench", ROW_HEADER TIMED("06_copied", LARGE, "0", "2", "2", "2", "20"));
  recorded_write("bench-samples", SAMPLES_HEADER SAMPLED("06_copied", "2000.000"));
  recorded_write("ladder-samples", SAMPLES_HEADER SAMPLED("06_copied", "2000.000"));
  recorded_write("counts", COUNTS_HEADER COUNTED("06_copied", "emulator", "400", ""));
  draw_silently("all");
  cr_expect_eq(toolkit_run("test ! -e plots/test-gpu/speedup-samples.svg").status, 0,
               "samples were drawn as a ladder");
  expect_words("scaling-dim64-fp16", "06 copied");
  expect_words("scaling-dim64-fp16",
               "Not recorded yet: peers.csv (make peers), ceilings.csv (make ceilings)");
  expect_words("saves", "counted by the emulator");
  // No command records what is quoted.
  cr_expect_null(strstr(words_of("scaling-dim64-fp16").out, "quoted"), "it asks for quoted.csv");
}

Test(plots, in_the_terminal) {
  recorded_write_all();
  const script_result result = toolkit_run("scripts/plot.sh --dumb speedup test-gpu ladder 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d", result.status);
  EXPECT(result, "Speed-up over step 01", "batch 4, heads 4, seq 1024", "tiled", "40×");
  cr_expect_null(strchr(result.out, '\033'), "escape codes: %s", result.out);
  cr_expect_null(strstr(result.out, "/*0.8"), "codes of a font: %s", result.out);
  const script_result scatter = toolkit_run("scripts/plot.sh --dumb latency test-gpu 2>&1");
  EXPECT(scatter, "Scatter of the times", "01 plain, median 80 ms +", "05 fused, median 2 ms +");
  const script_result all =
      toolkit_run("scripts/plot.sh --dumb all test-gpu 2>&1 >/dev/null; ls plots | grep test-gpu");
  cr_expect_str_empty(all.out, "it said, or left: %s", all.out);
}

// The names of many lines stand below one another, and leave half of a narrow terminal to the lines.
Test(plots, many_lines_in_a_narrow_terminal) {
  char many[8192] = ROW_HEADER, row[256];
  for (int i = 1; i <= 23; i++) {
    snprintf(row, sizeof row, TIMED("%02d_a_long_name", LARGE, "0", "1", "1", "1", "%d"), i,
             500 + i);
    strcat(many, row);
  }
  recorded_write("bench", many);
  const script_result result =
      toolkit_run("COLUMNS=80 scripts/plot.sh --dumb scaling test-gpu 2>&1");
  EXPECT(result, "01 a long name", "+------------------------------", "sequence length");
  for (int i = 1; i <= 23; i++) {
    snprintf(row, sizeof row, "%02d a long name", i);
    cr_expect(strstr(result.out, row), "'%s' is not in %s", row, result.out);
  }
}

// The words of a timeline stand beside its boxes and below one another, none over another.
Test(plots, a_timeline_in_a_narrow_terminal) {
  recorded_write_all();
  const script_result result =
      toolkit_run("COLUMNS=80 scripts/plot.sh --dumb timeline test-gpu 2>&1");
  EXPECT(result, " ****Q K under way &&&&waits for a product \n",
         " ####P V under way ====waits for turn or block \n", "waits for a tile or a stage \n",
         "copies, stores \n", "softmax, other arithmetic \n", " Timeline of step 06 copied \n",
         " warps 4-7 ", " clocks of the multiprocessor \n");
}

// A chart drawn in the terminal leaves the files of the charts unchanged.
Test(plots, in_the_terminal_beside_files) {
  recorded_write_all();
  draw_silently("speedup");
  const script_result before = toolkit_run("cksum plots/test-gpu/*");
  EXPECT(before, "plots/test-gpu/speedup.svg");
  cr_assert_eq(toolkit_run("scripts/plot.sh --dumb speedup test-gpu").status, 0);
  const script_result after = toolkit_run("cksum plots/test-gpu/* 2>&1");
  cr_expect_str_eq(after.out, before.out, "%s", after.out);
}

Test(plots, an_emulator_has_no_times) {
  recorded_write_all();
  cr_assert_eq(toolkit_run("mv " FOLDER " plots/data/emulated-gpu").status, 0);
  const script_result result =
      toolkit_run("scripts/plot.sh >/dev/null 2>&1; cd plots/emulated-gpu && ls *.svg");
  cr_expect_str_eq(result.out, "ladder_counts-again.svg\nladder_counts.svg\nsaves.svg\n", "%s",
                   result.out);
}

Test(plots, refuses_what_is_not_there) {
  const struct {
    const char *command;
    int status;
    const char *sentence;
  } cases[] = {
      {"scripts/plot.sh no_such 2>&1", 2,
       "error: there is no chart 'no_such': there are ceiling-share decode groups ladder_counts"},
      {"scripts/plot.sh speedup no-gpu 2>&1", 2, "error: there is no plots/data/no-gpu to draw"},
      {"PATH=$PWD/path scripts/plot.sh 2>&1", 0,
       "plot: no chart is drawn, gnuplot is not installed"},
  };
  cr_assert_eq(toolkit_run("mkdir path; for p in bash dirname env grep mktemp rm sed tr; do "
                           "ln -s $(command -v $p) path/; done")
                   .status,
               0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = toolkit_run(cases[i].command);
    cr_expect_eq(result.status, cases[i].status, "%s ended with %d", cases[i].command,
                 result.status);
    EXPECT(result, cases[i].sentence);
  }
}

// Behind a verb that has recorded, what counts is the record.
Test(plots, gnuplot_that_does_not_run) {
  recorded_write_all();
  toolkit_write_program("bin/gnuplot", "#!/bin/bash\necho 'gnuplot: no library' >&2\nexit 127\n");
  const script_result alone = toolkit_run("PATH=$PWD/bin:$PATH scripts/plot.sh speedup 2>&1");
  cr_expect_eq(alone.status, 1, "it ended with %d", alone.status);
  EXPECT(alone, "gnuplot: no library\nerror: no chart is drawn: gnuplot fails, as it says above");
  const script_result afterwards = toolkit_run(
      "cp -r plots/data results; PATH=$PWD/bin:$PATH scripts/plot.sh --afterwards --data results "
      "speedup test-gpu ladder 2>&1");
  cr_expect_eq(afterwards.status, 0, "it ended with %d", afterwards.status);
  EXPECT(afterwards,
         "gnuplot: no library\nplot: no chart is drawn, gnuplot fails, as it says above; "
         "what was recorded stays (make plots draws later)\n");
}
