// scripts/tables.sh: the contents of the tables, when they are stale, and which documents it refuses.
#define _GNU_SOURCE
#include "tables.h"
#include "tests/kept.h"

TestSuite(tables, .init = tables_enter, .fini = toolkit_leave);

Test(tables, the_ladder_and_its_verdicts) {
  toolkit_write("steps/99_recorded/attention.cu",
                "const char *attention_summary(void) { return \"what it adds\"; }\n");
  cr_assert_eq(toolkit_run("mv steps/99_recorded steps/02_tiled").status, 0);
  const script_result result = filled("before\n\n" BLOCK("ladder test-gpu") "after\n");
  EXPECT(
      result, "before\n\n<!-- table: ladder test-gpu -->\n",
      "batch 4, heads 4, seq 1024, head_dim 64, fp16.\n\n| step | adds |", "|---|---|---:|",
      "| 01 plain | | 80.00 [79.50, 80.50] | 0.500 | 1.00 | | 67.1 MB | ≈ 0.025 | ≈ 0.02 | stop "
      "and "
      "profile |\n",
      "| 02 tiled | what it adds | 20.00 [19.90, 20.10] | 2.00 | 4.00 | 4.00 | 67.1 MB |",
      "| 03 wrong | | FAILED | | | | | | | |\n| 04 narrow | | skipped |",
      // 2 ms of the ladder are 40 times step 01; 2.5 ms beside the peers are 0.8 and 0.64 of theirs
      "| 05 fused | | 2.000 [1.996, 2.004] | 20.0 | 40.0 | 10.0 | 0 B | 0.80 | 0.64 | keep going "
      "|\n",
      "fastest peer that was timed at this shape is SDPA cuDNN",
      "The sign ≈ stands where step and peer were timed in different runs.\n",
      "Test GPU, commit abc1234, 2026-01-02: `ladder.csv`, `peers.csv` in `" FOLDER "`.\n"
      "<!-- end of table -->\nafter\n");
}

// ladder-*.csv are the other ladders, and not the samples, which have other columns.
Test(tables, samples_are_no_ladder) {
  recorded_write("ladder-samples", SAMPLES_HEADER SAMPLED("05_fused", "2000.000"));
  const script_result result = filled(BLOCK("step test-gpu 05"));
  EXPECT(result, "| batch 4, heads 4, seq 1024, head_dim 64, fp16 | 2.000 [1.996, 2.004] |");
  cr_expect_null(strstr(result.out, "-samples"), "%s", result.out);
}

// A step of another name that has the number by now does not get the times of the old one.
Test(tables, a_number_that_has_gone_to_another_step) {
  toolkit_run("mkdir -p steps/05_other");
  const script_result result = filled(BLOCK("step test-gpu 05"));
  EXPECT(result, "No recorded ladder holds step 05 yet: `make ladder`");
}

// The steps of a GPU, in ranges, and those of them whose fragments have no bf16 there.
Test(tables, which_gpu_runs_which_steps) {
  const script_result steps = toolkit_run(
      "rm -r steps/* && for step in 01_a 02_b 03_c 05_e 06_f 08_h 09_i; do mkdir steps/$step; echo "
      "'// A step.' >steps/$step/attention.cu; done && echo '#include \"wmma.cuh\"' | tee -a "
      "steps/02_b/attention.cu >>steps/03_c/attention.cu; echo '// Needs: sm_80' "
      ">>steps/06_f/attention.cu; echo '// Needs: sm_90a' | tee -a steps/08_h/attention.cu "
      ">>steps/09_i/attention.cu");
  cr_assert_eq(steps.status, 0, "%s", steps.out);
  const script_result result = filled(BLOCK("gpus"));
  EXPECT(result, "| T4, GeForce RTX 20 | sm_75 | 64 KB | 01 to 05 | 02, 03 |\n",
         "| A100 | sm_80 | 163 KB | 01 to 06 | |\n",
         "| H100, H200 | sm_90a | 227 KB | 01 to 09 | |\n",
         "| GeForce RTX 50 | sm_120 | 99 KB | 01 to 06 | |\n");
  // A step between two others that is not for the GPU ends the range.
  cr_assert_eq(toolkit_run("echo '// Needs: sm_90a' >>steps/02_b/attention.cu && sed -i '/wmma/d' "
                           "steps/02_b/attention.cu")
                   .status,
               0);
  const script_result holes = filled(BLOCK("gpus"));
  EXPECT(holes, "| sm_75 | 64 KB | 01, 03, 05 | 03 |\n");
}

Test(tables, a_verdict_at_each_threshold) {
  const struct {
    const char *median;
    const char *cells;
  } cases[] = {{"3.21", "| 0.62 | 0.50 | stop and profile |"}, // 0.498
               {"3.2", "| 0.62 | 0.50 | keep going |"},
               {"1.61", "| 1.24 | 0.99 | keep going |"},
               {"1.6", "| 1.25 | 1.00 | ahead |"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[256];
    recorded_write("peers", PEERS);
    snprintf(command, sizeof command, "sed -i '/^05/s/2\\.5/%s/g' " FOLDER "/peers.csv",
             cases[i].median);
    cr_assert_eq(toolkit_run(command).status, 0);
    const script_result result = filled(BLOCK("ladder test-gpu"));
    EXPECT(result, "| 05 fused |", cases[i].cells);
  }
}

Test(tables, every_table) {
  const struct {
    const char *block;
    const char *rows[4];
  } cases[] = {
      {BLOCK("step test-gpu 05"),
       {"| problem | ms",
        "| batch 4, heads 4, seq 1024, head_dim 64, fp16 | 2.000 [1.996, 2.004] | "
        "20.0 | 10.0 | 40.0 |"}},
      {BLOCK("step test-gpu 77"), {"No recorded ladder holds step 77 yet: `make ladder`"}},
      {BLOCK("scaling test-gpu 64 fp16 0"),
       {"| TFLOP/s; seq | 512 | 1024 |", "| 01 plain | 0.250 | 0.500 |",
        "| 05 fused | 10.0 | 16.0 |",
        "| SDPA math | | skipped |\n| SDPA flash | | 20.0 |\n| SDPA cuDNN | | 25.0 |"}},
      {BLOCK("scaling test-gpu 64 fp16 1"),
       {"| TFLOP/s; seq | 1024 |", "| 01 plain | skipped |\n| 05 fused | 10.0 |"}},
      {BLOCK("scaling test-gpu 128 bf16 1"), {"No row of this kind is recorded: `make bench`"}},
      {BLOCK("peers test-gpu 64 fp16 0"), {"| 05 fused | 16.0 (0.64) |", "| SDPA flash | 20.0 |"}},
      {BLOCK("decode test-gpu"),
       {"| 32 | 8 | 1 | 1024 | 1 | | 10.0 | | 8.00 | | 16.0 | SDPA cuDNN | 2.00 | 4.00 | 0.50 |\n",
        "| 32 | 8 | 1 | 8192 | 1 | | | | 64.0 | | | | | 32.0 | 0.50 |\n",
        "| 32 | 8 | 1 | 4096 | 1 | | | | 64.0 | | 48.0 | SDPA cuDNN | 0.75 | 16.0 | 0.25 |\n"}},
      {BLOCK("waves test-gpu 64 0"),
       {"| 1 | 4096 | 4096 | 30.0 | 24.0 | 16.0 | 1.88 | 32.0 | SDPA flash | 2.00 |\n"
        "| 10 | 2048 | 2048 | 60.0 | | 48.0 | 1.25 | | | |\n"}},
      {BLOCK("waves_merge test-gpu"),
       {"| 64 | no | 1 | 4096 | 4096 | 16.0 | 20.0 | 0.80 | 32.0 | SDPA flash | 1.60 |\n"
        "| 64 | no | 10 | 2048 | 2048 | 48.0 | | | | | |\n"}},
      {BLOCK("waves_early test-gpu 10:2048:64:0,1:4096:64:0"),
       {"| 64 | no | 1 | 4096 | 4096 | 20.0 | 16.0 | 1.25 | 16.0 | 20.0 | 0.80 |\n"
        "| 64 | no | 10 | 2048 | 2048 | 48.0 | | | 45.0 | | |\n"}},
      {BLOCK("waves_early test-gpu 1:2048:64:0"),
       {"No row of this kind is recorded: `make waves`"}},
      {BLOCK("waves_short test-gpu 10:2048:64:0,1:4096:64:1"),
       {"| head_dim | mask | heads |",
        "|\n| 64 | no | 10 | 2048 | 2048 | 60.0 | | 48.0 | 1.25 | | | |\n\n"}},
      {BLOCK("waves_short test-gpu 1:2048:64:0"),
       {"No row of this kind is recorded: `make waves`"}},
      {BLOCK("waves test-gpu 64 1"), {"No row of this kind is recorded: `make waves`"}},
      {BLOCK("decode_quoted test-gpu 32 8"),
       {"| only reading (quoted) | step 20 | only reading |\n",
        "| 1 | 1024 | 1 | 9.00 | | | 8.00 | 4.00 |\n\nTest GPU, commit abc1234, 2026-01-02"}},
      {BLOCK("spread test-gpu 06"),
       {"| TFLOP/s (× the step before); deviation | 1 | 16 |",
        "| head_dim 64, fp16 | 25.0 (1.25) | 16.0 (0.80) |\n",
        "| head_dim 64, fp16, rising | | 8.00 (0.40) |\n"}},
      {BLOCK("spread test-gpu 05"), {"| head_dim 64, fp16 | 20.0 | 20.0 |\n"}},
      {BLOCK("spread test-gpu 07"), {"No recorded spread holds step 07 yet: `make spread`"}},
      {BLOCK("quoted test-gpu flash_attention_3"),
       {"| TFLOP/s; seq | 512 | 1024 |", "| head_dim 64, fp16 | 30.0 | 33.0 |",
        "| head_dim 64, bf16, causal | | 34.0 |", "Test GPU: `quoted.csv` in"}},
      {BLOCK("ceilings test-gpu"),
       {"| copy bandwidth | GB/s | 1000 [1000, 1000] | 1250 | 80 % | data sheet |",
        "| l2 latency | ns | 250.5 [250.5, 250.5] | | |",
        "| mma fp16 | TFLOP/s | 100.0 [100.0, 100.0] | | |"}},
      {BLOCK("sweep test-gpu sweep"),
       {"Step 06 copied, batch 4", "| 64x64x4x2 | 2.000 [2.000, 2.000] | 20.0 | 1.00 |",
        "| 32x64x4x1 | 4.000 [4.000, 4.000] | 10.0 | 0.500 |", "| 128x64x4x2 | skipped | | |"}},
      {BLOCK("counts test-gpu"),
       {"counted by the GPU (ncu).",
        "| 01 plain | 3.2 k | 32.0 | 40 | 60 | 8 | 0 | 0 | 99 | 1 | 2 G |",
        "counted by the emulator.",
        "| 01 plain | 3.1 k | 31.0 | 40 | 60 | 8 | 0 | 0 | 99 | 1 | |"}},
      {BLOCK("calibration test-gpu"),
       {"| load stride 1 | 1 | 1 | |\n", "| 05 fused | 2 | 1 | `divergent_branches` 80, 16 |\n\n",
        "No counter of this GPU tells `block_barriers`.\n\ncommit abc1234, 2026-01-02: "}},
      {BLOCK("mutants test-gpu"),
       {"| source | mutants | tried | compiler | check | sanitize | hangs | no fault | survive |\n",
        "| `01_plain` | 3 | 2 | 0 | 1 | 0 | 0 | 1 | 0 |\n| `tiles.cuh` | 5 | 5 | 1 | 0 | 1 | 1 | 1 "
        "| "
        "1 |\n| all | 8 | 7 | 1 | 1 | 1 | 1 | 2 | 1 |\n"}},
      {BLOCK("bugs test-gpu"),
       {"| bug | title | check, CPU | sanitize, CPU | check, GPU | sanitize, GPU | the first line "
        "|\n",
        "| 01.1 | a \"quoted\" word | caught | passes | caught | caught | `row 0, column 1` |\n",
        "| 05.2 | another | passes | caught | passes | - | `a \\| b` |\n\ncommit abc1234, "
        "2026-01-02: `bugs.csv` in `" EMULATED_FOLDER "`, `bugs.csv` in `" FOLDER "`.\n"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = filled(cases[i].block);
    const char *const *rows = cases[i].rows;
    EXPECT(result, rows[0], rows[1] ? rows[1] : "", rows[2] ? rows[2] : "", rows[3] ? rows[3] : "",
           "<!-- end of table -->\n");
  }
}

Test(tables, columns_are_found_by_name) {
  recorded_write("ladder", "# before: commit = older, date = 2025-01-02T03:04:05Z\r\n"
                           "tflops,median_ms,check,device,head_dim,seq_q,seq_kv,step\r\n"
                           "3,7,ok,Test GPU,64,9,9,01_plain\r\n");
  const script_result result = filled(BLOCK("ladder test-gpu"));
  EXPECT(result, "| 01 plain | | 7.000 | 3.00 |",
         "commit older, abc1234, 2025-01-02 to 2026-01-02");
}

// More than six commits are counted, and not named.
Test(tables, many_commits_are_counted) {
  for (int commits = 5; commits <= 6; commits++) { // and that of peers.csv
    char text[1024] = "tflops,median_ms,check,device,head_dim,seq_q,seq_kv,step,commit\n";
    for (int i = 1; i <= commits; i++) {
      const size_t length = strlen(text);
      snprintf(text + length, sizeof text - length, "3,7,ok,Test GPU,64,9,9,0%d_step,c%d\n", i, i);
    }
    recorded_write("ladder", text);
    const script_result result = filled(BLOCK("ladder test-gpu"));
    EXPECT(result, commits == 5 ? "commit c1, c2, c3, c4, c5, " : ", 7 commits");
  }
}

// The documents' own shape has a length of the grid, and is smaller.
Test(tables, the_larger_shape_counts) {
  const char *const rows[] = {TIMED("05_fused", SMALL, "0", "1", "1", "1", "10"),
                              TIMED("05_fused", SMALLER, "0", "1", "1", "1", "5")};
  for (int first = 0; first < 2; first++) {
    char text[2048];
    snprintf(text, sizeof text, ROW_HEADER "%s%s", rows[first], rows[1 - first]);
    recorded_write("bench", text);
    const script_result result = filled(BLOCK("scaling test-gpu 64 fp16 0"));
    EXPECT(result, "| 05 fused | 10.0 |");
  }
}

Test(tables, say_what_is_not_recorded) {
  cr_assert_eq(toolkit_run("rm " FOLDER "/peers.csv " FOLDER "/bench.csv").status, 0);
  const script_result result = filled(BLOCK("ladder test-gpu") BLOCK("peers test-gpu 64 fp16 0")
                                          BLOCK("scaling no-gpu 64 fp16 0")
                                              BLOCK("spread no-gpu 10") BLOCK("quoted no-gpu x"));
  EXPECT(result, "| step | adds | ms [95 %] | TFLOP/s | × step 01 | × before | workspace |\n",
         "Not recorded yet: `" FOLDER "/peers.csv` (`make peers`, `make publish`).",
         "<!-- table: peers test-gpu 64 fp16 0 -->\nNot recorded yet: `" FOLDER
         "/peers.csv` (`make peers`, `make publish`).\n<!-- end of table -->\n",
         "Not recorded yet: `plots/data/no-gpu/bench.csv` (`make bench`, `make publish`).",
         "Not recorded yet: `plots/data/no-gpu/spread.csv` (`make spread`, `make publish`).",
         "Not recorded yet: `plots/data/no-gpu/quoted.csv`.");
}

Test(tables, bugs_of_the_emulator_alone) {
  cr_assert_eq(toolkit_run("rm " FOLDER "/bugs.csv").status, 0);
  const script_result result = filled(BLOCK("bugs test-gpu"));
  EXPECT(result, "| bug | title | check, CPU | sanitize, CPU | the first line |\n",
         "| 05.2 | another | passes | caught | `a \\| b` |\n\n",
         "Not recorded yet: `" FOLDER "/bugs.csv` (`make bugs DEVICE=gpu`, `make publish`).");
}

Test(tables, are_stale_when_data_or_text_changes) {
  const char *const changes[] = {"sed -i 's/0\\.25,abc/0.26,abc/' " FOLDER "/bench.csv",
                                 "sed -i 's/0\\.250/0.251/' document.md", "rm " FOLDER "/bench.csv",
                                 "sed -i '/^| 05/d' document.md"};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    recorded_write_all();
    filled("A document.\n\n" BLOCK("ceilings test-gpu") BLOCK("scaling test-gpu 64 fp16 0"));
    const char *const check = "cp document.md kept.md; scripts/tables.sh --check document.md 2>&1; "
                              "status=$?; cmp kept.md document.md || exit 9; exit $status";
    cr_expect_eq(toolkit_run(check).status, 0, "%s: stale before", changes[i]);
    cr_assert_eq(toolkit_run(changes[i]).status, 0);
    const script_result result = toolkit_run(check);
    cr_expect_eq(result.status, 1, "%s: it ended with %d", changes[i], result.status);
    EXPECT(result, "document.md:", ": the table 'scaling test-gpu 64 fp16 0' is not what",
           "run make tables");
    cr_expect_null(strstr(result.out, "'ceilings"), "ceilings are not stale: %s", result.out);
  }
}

Test(tables, refuse_what_makes_no_sense) {
  const struct {
    const char *text;
    const char *sentence;
  } cases[] = {
      {"\n" BLOCK("no_such test-gpu"),
       "error: document.md:2: there is no table 'no_such': there are "
       "bugs calibration ceilings counts decode decode_parts decode_quoted decode_short "
       "decode_sizes gpus groups ladder lengths mutants overlap peers quoted scaling "
       "shapes spread step substeps substeps_groups sweep variants variants_groups waves "
       "waves_early waves_merge waves_short"},
      {BLOCK(""), "error: document.md:1: there is no table ''"},
      {BLOCK("scaling test-gpu 64"),
       "error: document.md:1: this table is written as: scaling DEVICE HEAD_DIM DTYPE CAUSAL"},
      {"\n\n<!-- table: ladder test-gpu -->\ntext\n",
       "error: document.md:3: a table begins here and"},
      {"text\n<!-- end of table -->\n",
       "error: document.md:2: a table ends here, and none has begun"},
      {"<!-- table: ladder test-gpu -->\n" BLOCK("ladder test-gpu"),
       "error: document.md:2: a table begins here, and the one of line 1 has no end"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    toolkit_write("document.md", cases[i].text);
    const script_result result =
        toolkit_run("cp document.md kept.md; scripts/tables.sh document.md 2>&1; status=$?; "
                    "cmp kept.md document.md || exit 9; exit $status");
    cr_expect_eq(result.status, 2, "%s ended with %d", cases[i].text, result.status);
    EXPECT(result, cases[i].sentence);
  }
  const script_result result = toolkit_run("scripts/tables.sh --check none.md 2>&1");
  cr_expect_eq(result.status, 2, "it ended with %d", result.status);
  EXPECT(result, "error: cannot read none.md: ");
}

Test(tables, leave_examples_alone) {
  const char *const text = "    <!-- table: no_such -->\n    <!-- end of table -->\n";
  cr_expect_str_eq(kept(filled(text).out), text);
}
