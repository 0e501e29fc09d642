// A reader's records are drawn in results/, and only publish.sh turns them into published ones.
#define _GNU_SOURCE
#include "recorded.h"

static void enter(void) {
  toolkit_enter();
  recorded_write("ladder", LADDER);
  cr_assert_eq(
      toolkit_run("git init -q . && mkdir -p results/test-gpu results/emulated-test-gpu " //
                  EMULATED_FOLDER)
          .status,
      0);
}

TestSuite(publish, .init = enter, .fini = toolkit_leave);

Test(publish, the_readers_charts_lie_beside_the_readers_records) {
  if (system("command -v gnuplot >/dev/null") != 0) cr_skip_test("gnuplot is not installed");
  toolkit_write("results/test-gpu/ladder.csv", LADDER);
  toolkit_write("results/test-gpu/ladder-mine.csv", LADDER);
  const script_result drawn =
      toolkit_run("scripts/plot.sh --data results 'speedup roofline' test-gpu 2>&1; ls plots | "
                  "grep test-gpu; ls results/test-gpu");
  EXPECT(drawn, "written: results/test-gpu/speedup-mine.svg\n",
         "written: results/test-gpu/speedup.svg\n",
         "ladder-mine.csv\nladder.csv\nspeedup-mine.svg\nspeedup.svg\n");
  cr_expect_null(strstr(drawn.out, "roofline"), "what is not recorded is drawn: %s", drawn.out);
  cr_expect_null(strstr(drawn.out, "plots/"), "%s", drawn.out);
}

#define BUG(step, name, verdict)                                                                   \
  "\"" step "\",\"" name "\",\"a title\",\"" verdict "\",\"row 0, column 1\",\"-\",\"\"," ORIGIN

Test(publish, whole_files_and_merged_ones) {
  recorded_write("counts", COUNTS_HEADER COUNTED("01_plain", "ncu", "3200", "5")
                               COUNTED("05_fused", "ncu", "400", "5"));
  recorded_write("bugs", BUGS_HEADER BUG("01_plain", "1_a", "caught") BUG("04_x", "1_b", "caught")
                             BUG("04_x", "2_c", "caught"));
  toolkit_write("results/test-gpu/ladder.csv",
                ROW_HEADER TIMED("01_mine", LARGE, "0", "7", "7", "7", "9"));
  toolkit_write("results/test-gpu/counts.csv",
                "# a comment\n" COUNTS_HEADER COUNTED("05_fused", "ncu", "401", "5")
                    COUNTED("06_copied", "ncu", "402", "5"));
  toolkit_write("results/test-gpu/bugs.csv", BUGS_HEADER BUG("04_x", "1_b", "passes"));
  toolkit_write("results/emulated-test-gpu/bugs.csv", BUGS_HEADER BUG("04_x", "1_b", "hangs"));
  toolkit_write("results/emulated-test-gpu/mutants.csv", "source,line\n\"b\",\"2\"\n\"b\",\"1\"\n");
  toolkit_write(EMULATED_FOLDER "/mutants.csv", "source,line\n\"a\",\"3\"\n\"b\",\"4\"\n");
  toolkit_write("results/emulated-test-gpu/ladder.csv", LADDER);
  toolkit_write("document.md", "<!-- table: ladder test-gpu -->\n<!-- end of table -->\n");
  const script_result result = toolkit_run("LAB_COMMIT=now scripts/publish.sh 2>&1");
  cr_assert_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "published: " EMULATED_FOLDER "/bugs.csv\n", "published: " FOLDER "/bugs.csv\n",
         "published: " FOLDER "/counts.csv\n", "published: " FOLDER "/ladder.csv\n",
         "written: document.md\n");
  const script_result document = toolkit_run("cat document.md");
  EXPECT(document, "| 01 mine | | 7.000");
  const script_result whole = toolkit_run("cmp " FOLDER "/ladder.csv results/test-gpu/ladder.csv");
  cr_expect_eq(whole.status, 0, "%s", whole.out);
  const script_result counts = toolkit_run("cut -d , -f 1,14,27,28 " FOLDER "/counts.csv");
  EXPECT(counts, "step,", "01_plain,3200," ORIGIN "05_fused,401," ORIGIN "06_copied,402," ORIGIN);
  const script_result bugs = toolkit_run("cut -d , -f 1,2,4 " FOLDER "/bugs.csv");
  EXPECT(bugs, "\"01_plain\",\"1_a\",\"caught\"\n\"04_x\",\"1_b\",\"passes\"\n");
  cr_expect_null(strstr(bugs.out, "2_c"), "a bug that is no more is published: %s", bugs.out);
  const script_result files = toolkit_run("ls " EMULATED_FOLDER);
  cr_expect_str_eq(files.out, "bugs.csv\nmutants.csv\n", "%s", files.out);
  const script_result mutants = toolkit_run("cat " EMULATED_FOLDER "/mutants.csv");
  cr_expect_str_eq(mutants.out, "source,line\n\"a\",\"3\"\n\"b\",\"2\"\n\"b\",\"1\"\n", "%s",
                   mutants.out);
}

// A newer lab may record columns that the published rows of other steps lack: these keep their values by name.
Test(publish, rows_of_fewer_columns) {
  recorded_write("variants", "step,variant,ms,commit\n05_x,no_pad,7,old\n06_x,no_ring,8,old\n");
  toolkit_write("results/test-gpu/variants.csv",
                "step,variant,configuration,ms,same,commit\n06_x,no_ring,64x64,9,1,new\n");
  const script_result result = toolkit_run("scripts/publish.sh test-gpu variants 2>&1");
  cr_assert_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  const script_result rows = toolkit_run("cat " FOLDER "/variants.csv");
  cr_expect_str_eq(rows.out,
                   "step,variant,configuration,ms,same,commit\n05_x,no_pad,,7,,old\n"
                   "06_x,no_ring,64x64,9,1,new\n",
                   "%s", rows.out);
}

// The same variants may be recorded on machines with different numbers of GPUs.
Test(publish, rows_of_other_numbers_of_gpus) {
  recorded_write("variants-groups", "step,variant,gpus,ms\n21_x,,2,1\n21_x,,4,2\n22_x,,2,3\n");
  toolkit_write("results/test-gpu/variants-groups.csv",
                "step,variant,gpus,ms\n21_x,,2,7\n21_x,a,2,8\n");
  const script_result result = toolkit_run("scripts/publish.sh test-gpu variants-groups 2>&1");
  cr_assert_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  const script_result rows = toolkit_run("cat " FOLDER "/variants-groups.csv");
  cr_expect_str_eq(rows.out, "step,variant,gpus,ms\n21_x,,4,2\n21_x,,2,7\n21_x,a,2,8\n22_x,,2,3\n",
                   "%s", rows.out);
}

// The counts of a step's lines replace those that were recorded of the same step, first in the reader's record, then in
// the published one.
Test(publish, counts_of_lines) {
  toolkit_write("rows.csv", "step,file,line,sectors\n05_x,a.cu,3,7\n05_x,a.cu,9,8\n");
  toolkit_write(
      "results/emulated-test-gpu/counts-lines.csv",
      "step,file,line,sectors,commit,date\n05_x,a.cu,1,1,old,then\n04_x,a.cu,2,2,old,then\n");
  toolkit_write(
      EMULATED_FOLDER "/counts-lines.csv",
      "step,file,line,sectors,commit,date\n06_x,a.cu,5,5,old,then\n05_x,a.cu,4,4,old,then\n");
  const script_result result = toolkit_run(
      "LAB_COMMIT=now scripts/record_count_lines.sh results/emulated-test-gpu <rows.csv && "
      "LAB_COMMIT=now scripts/publish.sh emulated-test-gpu counts-lines 2>&1 && "
      "cut -d , -f 1-5 " EMULATED_FOLDER "/counts-lines.csv");
  cr_assert_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "published: " EMULATED_FOLDER "/counts-lines.csv\n",
         "step,file,line,sectors,commit\n04_x,a.cu,2,2,old\n05_x,a.cu,3,7,now\n05_x,a.cu,9,8,now\n"
         "06_x,a.cu,5,5,old\n");
}

// All that was timed at one shape was timed in one run, and is replaced together; other shapes stay, in their order.
Test(publish, peers_by_shape) {
#define COLUMNS   "step,dtype,seq_q,causal,score_deviation,rising,median_ms\n"
#define OF_SHAPES "# PyTorch\n# a GPU\n" COLUMNS
  toolkit_write(FOLDER "/peers.csv",
                "# PyTorch\n# an older GPU\n" COLUMNS
                "04_x,fp16,512,0,1,0,1\ncudnn,fp16,512,0,1,0,2\n04_x,fp16,512,1,1,0,3\n"
                "04_x,fp16,1024,0,1,0,4\n");
  toolkit_write("results/test-gpu/peers.csv", OF_SHAPES
                "05_y,fp16,2048,0,1,0,9\n05_y,fp16,512,1,1,0,7\ncudnn,fp16,512,1,1,0,8\n");
  const char *const published =
      "scripts/publish.sh test-gpu peers >log 2>&1; cat " FOLDER "/peers.csv";
  script_result result = toolkit_run(published);
  cr_expect_str_eq(result.out,
                   "# PyTorch\n# a GPU\n# an older GPU\n" COLUMNS
                   "04_x,fp16,512,0,1,0,1\ncudnn,fp16,512,0,1,0,2\n05_y,fp16,512,1,1,0,7\n"
                   "cudnn,fp16,512,1,1,0,8\n04_x,fp16,1024,0,1,0,4\n05_y,fp16,2048,0,1,0,9\n",
                   "%s", result.out);
#define ALL_SHAPES                                                                                 \
  "# a third GPU\n" COLUMNS                                                                        \
  "04_x,fp16,512,0,1,0,5\n04_x,fp16,512,1,1,0,5\n04_x,fp16,1024,0,1,0,5\n"                         \
  "04_x,fp16,2048,0,1,0,5\n"
  toolkit_write("results/test-gpu/peers.csv", ALL_SHAPES);
  result = toolkit_run(published); // the GPUs of before have no row any more
  cr_expect_str_eq(result.out, ALL_SHAPES, "%s", result.out);
  // A new column is empty in the rows that stay.
  toolkit_write("results/test-gpu/peers.csv",
                "step,dtype,seq_q,causal,score_deviation,rising,median_ms,gpu\n"
                "04_x,fp16,512,0,1,0,6,GPU-1\n");
  result = toolkit_run(published);
  cr_expect_str_eq(result.out,
                   "# a third GPU\nstep,dtype,seq_q,causal,score_deviation,rising,median_ms,gpu\n"
                   "04_x,fp16,512,0,1,0,6,GPU-1\n04_x,fp16,512,1,1,0,5,\n04_x,fp16,1024,0,1,0,5,\n"
                   "04_x,fp16,2048,0,1,0,5,\n",
                   "%s", result.out);
  toolkit_write("results/test-gpu/peers.csv", "step,dtype,causal,floor_ms\n05_y,fp16,1,7\n");
  result = toolkit_run(published); // of other columns
  cr_expect_str_eq(result.out, "step,dtype,causal,floor_ms\n05_y,fp16,1,7\n", "%s", result.out);
}

// A bench that was interrupted replaces the shapes that it reached. Their commits and new columns are no part of the shape.
// A run of which no row stays leaves no comment behind.
Test(publish, bench_by_shape) {
#define OLDER_RUN   "# before: gpu = GPU-1\n# before: commit = older, date = today\n"
#define OLD_RUN     "# before: gpu = GPU-2\n# before: commit = old, date = today\n"
#define NEW_RUN     "# before: gpu = GPU-3\n# before: commit = new, date = today\n"
#define OLD_COLUMNS "step,dtype,seq_q,causal,median_ms,commit\n"
#define NEW_COLUMNS "step,dtype,seq_q,causal,inputs,median_ms,commit\n"
  toolkit_write(FOLDER "/bench.csv", OLDER_RUN OLD_RUN OLD_COLUMNS
                "01_x,fp16,512,0,1,older\n01_x,fp16,512,1,2,older\n01_x,fp16,8192,0,3,old\n");
  toolkit_write("results/test-gpu/bench.csv",
                NEW_RUN NEW_COLUMNS "01_x,fp16,512,0,normal,4,new\n02_x,fp16,512,0,normal,5,new\n"
                                    "01_x,fp16,512,1,normal,6,new\n");
  toolkit_write(FOLDER "/bench-samples.csv",
                "step,dtype,seq_q,causal,commit,microseconds\n01_x,fp16,512,0,old,1000 1001\n"
                "01_x,fp16,8192,0,old,3000 3001\n");
  toolkit_write("results/test-gpu/bench-samples.csv",
                "step,dtype,seq_q,causal,commit,microseconds\n01_x,fp16,512,0,new,4000 4001\n");
  const script_result result =
      toolkit_run("scripts/publish.sh test-gpu bench >log 2>&1; cat " FOLDER
                  "/bench.csv; cat " FOLDER "/bench-samples.csv");
  cr_expect_str_eq(
      result.out,
      NEW_RUN OLD_RUN NEW_COLUMNS
      "01_x,fp16,512,0,normal,4,new\n"
      "02_x,fp16,512,0,normal,5,new\n01_x,fp16,512,1,normal,6,new\n01_x,fp16,8192,0,,3,old\n"
      "step,dtype,seq_q,causal,commit,microseconds\n01_x,fp16,512,0,new,4000 4001\n"
      "01_x,fp16,8192,0,old,3000 3001\n",
      "%s", result.out);
}

// A step that has got another name is not beside its new name in the charts.
Test(publish, rows_of_renamed_steps_are_left_out) {
  toolkit_write("results/test-gpu/bench.csv", "# a comment\nstep,median_ms\n01_old,1\n01_new,2\n"
                                              "\"02_mine\",3\nsdpa_flash,4\n");
  // By whatever rule a file comes into the record.
  static const char *const others[] = {"ladder", "variants", "counts"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    char path[64];
    snprintf(path, sizeof path, "results/test-gpu/%s.csv", others[i]);
    toolkit_write(path, "step,source\n01_old,ncu\n01_new,ncu\n");
  }
  cr_assert_eq(toolkit_run("mkdir -p steps/01_new").status, 0);
  const script_result result =
      toolkit_run("scripts/publish.sh test-gpu bench >log 2>&1; cat " FOLDER "/bench.csv");
  cr_expect_str_eq(result.out,
                   "# a comment\nstep,median_ms\n01_new,2\n\"02_mine\",3\nsdpa_flash,4\n", "%s",
                   result.out);
  const script_result rows = toolkit_run(
      "for name in ladder variants counts; do scripts/publish.sh test-gpu $name >log 2>&1; "
      "echo $name; grep -o '^01_[a-z]*' " FOLDER "/$name.csv; done");
  cr_expect_str_eq(rows.out, "ladder\n01_new\nvariants\n01_new\ncounts\n01_new\n", "%s", rows.out);
}

// Rows of hours of a GPU would be lost if a file that is merged replaced the published one.
Test(publish, each_file_by_its_rule) {
  static const struct {
    const char *names, *old, *fresh, *published;
  } cases[] = {
      {"bench peers shapes spread waves decode decode-samples",
       "step,dtype,seq_q,causal,ms\n04_x,fp16,512,0,1\n04_x,fp16,1024,0,2\n",
       "step,dtype,seq_q,causal,ms\n04_x,fp16,512,0,7\n",
       "step,dtype,seq_q,causal,ms\n04_x,fp16,512,0,7\n04_x,fp16,1024,0,2\n"},
      {"bugs mutants counts-lines variants variants-causal substeps substeps-dim128",
       "step,ms\n04_x,1\n04_x,2\n05_y,3\n", "step,ms\n04_x,7\n", "step,ms\n04_x,7\n05_y,3\n"},
      {"ladder sweep-06 ceilings", "step,ms\n04_x,1\n05_y,3\n", "step,ms\n04_x,7\n",
       "step,ms\n04_x,7\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[512];
    toolkit_write("old.csv", cases[i].old);
    toolkit_write("fresh.csv", cases[i].fresh);
    toolkit_write("published.csv", cases[i].published);
    snprintf(
        command, sizeof command,
        "rm -f results/test-gpu/*; for name in %s; do cp old.csv " FOLDER "/$name.csv; "
        "cp fresh.csv results/test-gpu/$name.csv; done; scripts/publish.sh test-gpu >log 2>&1; "
        "for name in %s; do cmp " FOLDER "/$name.csv published.csv 2>&1; done",
        cases[i].names, cases[i].names);
    const script_result result = toolkit_run(command);
    cr_expect_str_empty(result.out, "%s", result.out);
  }
}

Test(publish, one_file) {
  toolkit_write("results/test-gpu/ladder.csv", ROW_HEADER);
  toolkit_write("results/test-gpu/ladder-samples.csv", "step\n");
  toolkit_write("results/test-gpu/ladder-mine.csv", LADDER);
  toolkit_write("results/test-gpu/ladder-mine-samples.csv", "step\n");
  const script_result result = toolkit_run("scripts/publish.sh test-gpu ladder-mine 2>&1");
  EXPECT(result,
         "published: " FOLDER
         "/ladder-mine-samples.csv\n", // the samples of one record belong together
         "published: " FOLDER "/ladder-mine.csv\n");
  cr_expect_null(strstr(result.out, FOLDER "/ladder.csv"), "%s", result.out);
  cr_expect_null(strstr(result.out, FOLDER "/ladder-samples.csv"), "%s", result.out);
}

Test(publish, nothing) {
  toolkit_write("results/emulated-test-gpu/ladder.csv", LADDER);
  const char *const commands[] = {"scripts/publish.sh 2>&1", "scripts/publish.sh no-gpu 2>&1",
                                  "scripts/publish.sh test-gpu ladder 2>&1",
                                  "rm -r results; scripts/publish.sh 2>&1"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    const script_result result = toolkit_run(commands[i]);
    cr_expect_eq(result.status, 2, "%s ended with %d", commands[i], result.status);
    EXPECT(result, "error: there is nothing to publish, as there is no results/");
  }
}

// A signal in the middle of a write leaves the old file, and nothing beside it.
Test(publish, an_interrupted_write_leaves_nothing, .timeout = 60) {
  static const char *const signals[] = {"TERM", "INT", "HUP"};
  toolkit_write("write.sh", "trap - INT; . scripts/whole.sh; echo old >c\n"
                            "(echo new; sleep 20) | write_whole c\n");
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    char command[512];
    // A shell starts what is to run in the background with INT ignored, nohup with HUP, and env puts them back.
    snprintf(command, sizeof command,
             "setsid env --default-signal=INT,HUP bash write.sh & "
             "for i in $(seq 100); do ls c.*.tmp >/dev/null 2>&1 && break; sleep 0.1; done; "
             "ls c.*.tmp | wc -l; kill -s %s -- -$!; wait $!; sleep 0.2; "
             "cat c; ls c.*.tmp 2>/dev/null | wc -l",
             signals[i]);
    const script_result result = toolkit_run(command);
    cr_expect_str_eq(result.out, "1\nold\n0\n", "%s: %s", signals[i], result.out);
  }
}

// Files written by a script keep their permissions, new ones have what the umask leaves; where none can be made, a
// sentence says so.
Test(publish, a_file_is_written_whole) {
  toolkit_write("write.sh", "umask 027; . scripts/whole.sh\necho new | write_whole a\n"
                            "echo 1 >b; chmod 600 b; echo 2 | write_whole b\n"
                            "stat -c '%n %a' a b; cat a b; ls *.tmp 2>/dev/null\n"
                            "echo 3 | write_whole no/such 2>&1; echo $?\n");
  const script_result result = toolkit_run("bash write.sh");
  cr_expect_str_eq(result.out,
                   "a 640\nb 600\nnew\n2\n"
                   "error: cannot write no/such: nothing can be made in its folder\n2\n",
                   "%s", result.out);
}
