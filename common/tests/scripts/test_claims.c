// scripts/claims.sh: claims that are right, those that the records contradict, and files that make no sense.
#define _GNU_SOURCE
#include "../needs.h"
#include "recorded.h"

static void enter(void) {
  needs_tool("python3");
  toolkit_enter();
  recorded_write("ladder", LADDER);
  recorded_write("bench", BENCH);
  recorded_write("bench-samples", SAMPLES);
  toolkit_run("mkdir -p plots/claims");
  toolkit_write("page.md",
                "# A page\n\nStep 05 takes 2.00 ms and is\n10 times as fast as step 02. In "
                "all three problems\nit is 40 to 40.0 times as fast as step 01, or\n900 % "
                "faster. It has four problems, not 1,000.\n");
}

TestSuite(claims, .init = enter, .fini = toolkit_leave);

#define HEAD "page: page.md\ndata: test-gpu\n\n"

static script_result checked(const char *claims) {
  toolkit_write("plots/claims/page.txt", claims);
  return toolkit_run("scripts/claims.sh 2>&1");
}

static void expect_whole(const char *claims, int status, const char *text) {
  const script_result result = checked(claims);
  cr_expect_eq(result.status, status, "it ended with %d: %s", result.status, result.out);
  cr_expect_str_eq(result.out, text, "%s", result.out);
}

// Line breaks count as blanks, and a number is compared with as many decimals as the page shows.
Test(claims, that_are_right) {
  expect_whole(HEAD "# The first claim.\n"
                    "Step 05 takes {} ms\nand is {} times as fast as step 02.\n"
                    "  median_ms[ladder 05]\n"
                    "  (median_ms[test-gpu/ladder 02_tiled] /\n"
                    "    median_ms[ladder 05])\n\n"
                    "it is {} to {} times as fast as step 01\n"
                    "  least(median_ms[bench 01] / median_ms[bench 05])\n"
                    "  most(median_ms[bench 01] / median_ms[bench 05], 1, 2)\n"
                    "  median_ms[bench 01 seq_q=512..1023|1024] > median_ms[bench 05]\n\n"
                    "{} % faster\n"
                    "  more(median_ms[ladder 02] / median_ms[ladder 05])\n\n"
                    "all {} problems\n"
                    "  count(median_ms[bench 05])\n"
                    "  count(median_ms[bench 05] >= 2) >= 2\n"
                    "  count(median_ms[bench 05] >= 2) <= 2\n"
                    "  count(median_ms[bench 05 seq_q=512..1024]) >= 3\n\n"
                    "not {}\n"
                    "  median_ms[ladder 01] * 12.5\n",
               0, "claims: 11 numbers and comparisons of the pages are what plots/data says\n");
}

// Launches of a graph are compared where the tables of decode and waves compare them, and else single launches. At batch
// 2 the peer has none of a graph, so that the step's own would be compared with a single launch.
Test(claims, of_short_launches) {
  recorded_write("decode", DECODE GRAPHED("20_one_kernel", "2,32,8,1,1024,128,0", "0.02", "0.01")
                               GRAPHED("sdpa_cudnn", "2,32,8,1,1024,128,0", "0.06", ""));
  recorded_write("waves", WAVES);
  toolkit_write("page.md", "Step 20 is 0.75 to 2.00 times as fast as the best peer, and step 24 is "
                           "1.25 to 1.88 times as fast as step 17.\n");
  expect_whole(HEAD "is {} to {} times as fast as the best peer\n"
                    "  least(times_as_fast[decode 20 best_peer])\n"
                    "  most(times_as_fast[decode 20 best_peer batch=1])\n"
                    "  times_as_fast[decode 20 best_peer batch=2] >= 2.99\n"
                    "  times_as_fast[decode 20 best_peer batch=2] <= 3.01\n"
                    "\n"
                    "is {} to {} times as fast as step 17\n"
                    "  least(times_as_fast[waves 24 17])\n"
                    "  most(times_as_fast[waves 24 17])\n"
                    "  times_as_fast[waves 24 17|18 heads=1] <= times_as_fast[waves 24 18]\n"
                    "  count(median_ms[decode 20 kv_mb=4.1..4.2 dtype=*]) <= 1\n",
               0, "claims: 8 numbers and comparisons of the pages are what plots/data says\n");
}

// The claims of every file are checked, and a wrong one in any of them is told.
Test(claims, of_several_files) {
  toolkit_write("plots/claims/other.txt", HEAD "takes {} ms\n  median_ms[ladder 05]\n");
  toolkit_write("plots/claims/z.txt", HEAD "takes {} ms\n  median_ms[ladder 02]\n");
  expect_whole(HEAD "takes {} ms\n  median_ms[ladder 05]\n", 1,
               "page.md:3: the page says 2.00 and the records say 20.00: takes 2.00 ms "
               "(plots/claims/z.txt:4)\n"
               "claims: mend the page where its number is old, and plots/claims where the page was "
               "reworded\n");
}

// No part of a longer number, such as that of a release, is the number of a claim.
Test(claims, of_whole_numbers) {
  toolkit_write("page.md", "Of release 12.4.1 was said that it takes 2 ms.\n");
  expect_whole(HEAD "Of release {}\n  median_ms[ladder 05]\n\n"
                    "{} was said\n  median_ms[ladder 05]\n",
               1,
               "plots/claims/page.txt:4: page.md has no such phrase: Of release {}\n"
               "plots/claims/page.txt:7: page.md has no such phrase: {} was said\n"
               "claims: mend the page where its number is old, and plots/claims where the page was "
               "reworded\n");
}

// A table of a page has the numbers that its cells begin with, of the device that the claim names.
Test(claims, of_a_generated_table) {
  toolkit_write("table.md",
                "<!-- table: shares other-gpu -->\n| step | waits for a tile |\n|---|---:|\n"
                "| 05 fused | 7 % |\n<!-- end of table -->\n\n"
                "<!-- table: shares test-gpu -->\n| step | head_dim | waits for a tile |\n"
                "|---|---:|---:|\n| 05 fused | 64 | 13 % |\n| 05 fused | 128 | 2.5 % |\n"
                "| 06 copied | 64 | |\n\nTest GPU\n<!-- end of table -->\n");
  toolkit_write("page.md", "It waits for 13 % of its time, or for 2.4 %.\n");
  const char *const right =
      HEAD "waits for {} % of its time\n"
           "  waits_for_a_tile[table.md:shares 05 head_dim=64]\n"
           "  count(waits_for_a_tile[table.md:shares 05|06_copied] > 2) >= 2\n";
  expect_whole(right, 0,
               "claims: 2 numbers and comparisons of the pages are what plots/data says\n");
  expect_whole(HEAD "for {} %.\n  least(waits_for_a_tile[table.md:shares 05])\n", 1,
               "page.md:1: the page says 2.4 and the records say 2.5: for 2.4 %. "
               "(plots/claims/page.txt:4)\n"
               "claims: mend the page where its number is old, and plots/claims where the page was "
               "reworded\n");
  expect_whole(HEAD "for {} %.\n  turns[table.md:shares 05]\n", 2,
               "error: plots/claims/page.txt:4: table.md:shares has no column turns\n");
}

// One number stands for several values if they are nearly alike.
Test(claims, of_several_values) {
  toolkit_write("page.md", "It waits for 13 % of its time, or for thirteen.\n");
  const struct {
    const char *first, *last, *recorded;
  } cases[] = {
      {"12.6", "13.4", NULL},       {"12.6", "13.6", NULL}, {"12.4", "13.4", NULL},
      {"12.4", "13.6", "12 to 14"}, {"13.6", "13.7", "14"}, {"12.6", "16", "13 to 16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char table[256];
    snprintf(table, sizeof table,
             "<!-- table: shares test-gpu -->\n| step | head_dim | waits |\n|---|---:|---:|\n"
             "| 05 fused | 64 | %s %% |\n| 05 fused | 128 | %s %% |\n<!-- end of table -->\n",
             cases[i].first, cases[i].last);
    toolkit_write("table.md", table);
    const script_result result =
        checked(HEAD "waits for {} % of its time\n  waits[table.md:shares 05]\n");
    cr_expect_eq(result.status, cases[i].recorded != NULL, "%s", result.out);
    cr_expect(strstr(result.out, cases[i].recorded ? cases[i].recorded : "claims: 1 number"),
              "%s and %s: %s", cases[i].first, cases[i].last, result.out);
  }
}

Test(claims, that_the_records_contradict) {
  expect_whole(HEAD "takes {} ms\n  median_ms[ladder 05] + 0.006\n\n"
                    "takes 2.00 ms\n  median_ms[bench 05] < 2\n\n"
                    "all {} problems\n  count(median_ms[bench 05]) + 1\n\n"
                    "Step 05 took {} ms\n  median_ms[ladder 05]\n\n"
                    "step {}\n  median_ms[ladder 05]\n",
               1,
               "page.md:3: the page says 2.00 and the records say 2.01: takes 2.00 ms "
               "(plots/claims/page.txt:4)\n"
               "page.md:3: the records do not say that median_ms[bench 05] < 2, as the page "
               "claims: takes 2.00 ms "
               "(plots/claims/page.txt:7)\n"
               "page.md:4: the page says three and the records say four: all three problems "
               "(plots/claims/page.txt:10)\n"
               "plots/claims/page.txt:13: page.md has no such phrase: Step 05 took {} ms\n"
               "plots/claims/page.txt:16: page.md has this phrase 2 times: step {}\n"
               "claims: mend the page where its number is old, and plots/claims where the page was "
               "reworded\n");
}

Test(claims, that_make_no_sense) {
  const struct {
    const char *expression;
    const char *sentence;
  } cases[] = {
      {"median_ms[lader 05]", "there is no record plots/data/test-gpu/lader.csv"},
      {"median_ms[other-gpu/ladder 05]", "there is no record plots/data/other-gpu/ladder.csv"},
      {"median_ms[bench-samples 05]", "there is no record plots/data/test-gpu/bench-samples.csv"},
      {"median_ms[ladder 06]", "no row holds median_ms[ladder 06]"},
      {"median_ms[ladder 0]", "no row holds median_ms[ladder 0]"},
      {"median_ms[ladder 04]", "no row holds median_ms[ladder 04]"},
      {"median_ms[ladder 05 seq_q=..512]", "no row holds median_ms[ladder 05 seq_q=..512]"},
      {"median_ms[ladder 05 seq_q=a..b]", "this is no range of numbers: a..b"},
      {"median_us[ladder 05]", "ladder.csv has no column median_us"},
      {"median_ms[none.md:ladder 05]", "there is no page none.md"},
      {"median_ms[page.md:ladder 05]", "page.md has no table ladder of test-gpu"},
      {"median_ms[ladder 05 size=1]", "ladder.csv has no column size"},
      {"median_ms[bench 05] / median_ms[bench]",
       "a problem has several rows, so that it is not clear which belong together: add a "
       "condition"},
      {"median_ms[bench] / median_ms[bench 05]",
       "a problem has several rows, so that it is not clear which belong together: add a "
       "condition"},
      {"mean(median_ms[bench 05])", "there is no function mean of 1 values: there are least most "
                                    "median count percent more less"},
      {"__import__('os').system('touch run')[ladder]",
       "this is no part of an expression: __import__('os').system('touch run')['ladder']"},
      {"times_as_fast[ladder 05 best_peer]",
       "no problem has both contenders of times_as_fast[ladder 05 best_peer]"},
      {"tflops[ladder 05] / 0", "this divides by zero: tflops[ladder 05] / 0"},
      {"median_ms[ladder 05", "this is no expression: median_ms[ladder 05"},
      {"2", "this reads no record: 2"},
      {"2 < tflops[ladder 05] < 3",
       "this is no part of an expression: 2 < tflops['ladder 05'] < 3"},
      {"tflops[ladder 05] > 1",
       "each {} needs an expression, and each phrase one at least: takes {} ms"},
      {"median_ms[ladder 05]\n  tflops[ladder 05]",
       "the phrase has no number left for: tflops[ladder 05]"},
  };
  char claims[4096] = HEAD, expected[8192] = "";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t length = strlen(claims);
    snprintf(claims + length, sizeof claims - length, "takes {} ms\n  %s\n\n", cases[i].expression);
    length = strlen(expected);
    snprintf(expected + length, sizeof expected - length, "error: plots/claims/page.txt:%zu: %s\n",
             4 + 3 * i, cases[i].sentence);
  }
  expect_whole(claims, 2, expected);
  cr_expect_neq(access("run", F_OK), 0, "an expression was run as a program");
}

Test(claims, files_that_make_no_sense) {
  expect_whole(HEAD
               "Step 05 takes {} ms\nand is {} times as fast as step 02.\n"
               "  median_ms[ladder 05]\n"
               "  median_ms[test-gpu/ladder 02_tiled] /\n" // no bracket is open, so this is two
               "  median_ms[ladder 05]\n",
               2,
               "error: plots/claims/page.txt:4: this is no expression: "
               "median_ms[test-gpu/ladder 02_tiled] /\n");
  expect_whole(
      "data: test-gpu\ntakes {} ms\n  1\n", 2,
      "error: plots/claims/page.txt:2: a phrase needs a line page: and a line data: above it\n");
  expect_whole(
      HEAD "  1\n", 2,
      "error: plots/claims/page.txt:4: an expression stands below its phrase, and here is none\n");
  expect_whole("page: gone.md\ndata: test-gpu\ntakes {} ms\n  1\n", 2,
               "error: plots/claims/page.txt:3: there is no page gone.md\n");
}

// A new record is published even if the texts are older; what they should say is shown.
Test(claims, are_shown_when_a_record_is_published) {
  toolkit_run("git init -q . && mkdir -p results/test-gpu");
  toolkit_write("plots/claims/page.txt", HEAD "takes {} ms\n  median_ms[ladder 05]\n");
  toolkit_write("results/test-gpu/ladder.csv",
                ROW_HEADER TIMED("05_fused", LARGE, "0", "3", "3", "3", "9"));
  const script_result result =
      toolkit_run("LAB_COMMIT=now scripts/publish.sh test-gpu ladder 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "published: " FOLDER "/ladder.csv\n",
         "page.md:3: the page says 2.00 and the records say 3.00: takes 2.00 ms "
         "(plots/claims/page.txt:4)\n",
         "publish: the texts above are older than the record: make claims-check says when none is "
         "left\n",
         "publish: look at git diff");
}

// Without Python nothing is checked, and the line says so.
Test(claims, need_python) {
  const script_result result = toolkit_run("for tool in bash dirname; do ln -s $(command -v $tool) "
                                           "bin; done; PATH=$PWD/bin scripts/claims.sh");
  cr_expect_eq(result.status, 0);
  cr_expect_str_eq(result.out, "claims: skipped, python3 is not installed\n");
}
