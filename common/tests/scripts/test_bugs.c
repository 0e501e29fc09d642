// scripts/bugs.sh fails when it must: for a bug that no tool catches, for a message other than
// the patch expects, and for a patch that no longer applies. It builds step 01 with each patch.
#define _GNU_SOURCE
#include "lab.h"
#include "tests/needs.h"

#define PATCH(caught_by, expect, from, to)                                                         \
  "Title: a bug\nCaught-by: " caught_by "\nExpect: " expect "\nStory: none\n\n"                    \
  "--- a/steps/01_naive/attention.cu\n+++ b/steps/01_naive/attention.cu\n@@ -16,1 +16,1 @@\n"      \
  "-" from "\n+" to "\n"
#define THREADS  "static constexpr int THREADS = 256; // of a block, in all three kernels"
#define TOO_MANY "static constexpr int THREADS = 2048;"

static char folder[] = "/tmp/lab-bugs-XXXXXX";

static void put(const char *name, const char *patch) {
  char path[128];
  snprintf(path, sizeof path, "%s/01_naive/bugs/test_%s.patch", folder, name);
  toolkit_write(path, patch);
}

static void enter(void) {
  needs_tool("patch");
  cr_assert(mkdtemp(folder), "no temporary folder");
  char command[128];
  snprintf(command, sizeof command, "mkdir -p %s/01_naive/bugs", folder);
  cr_assert_eq(toolkit_run(command).status, 0);
}

static void leave(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  toolkit_run(command);
}

TestSuite(bugs, .init = enter, .fini = leave);

Test(bugs, each_that_is_not_caught_as_it_should_be) {
  put("caught", PATCH("check, sanitize", "launching the step failed", THREADS, TOO_MANY));
  put("other_words", PATCH("check", "what nobody says", THREADS, TOO_MANY));
  put("stale", PATCH("check", "wrong", "static constexpr int WARPS = 8;", "int A;"));
  char command[128];
  snprintf(command, sizeof command, "DEVICE=cpu PATCHES=%s scripts/bugs.sh 01_naive 2>&1", folder);
  script_result result = toolkit_run(command);
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "01_naive test_caught caught caught", " a block of 2048 x 1 x 1 threads; ",
         "01_naive test_other_words caught caught", "01_naive test_stale - -",
         "test_other_words.patch: it is caught, but no tool says \"what nobody says\"\n",
         "bugs: 2 of 3 planted bugs are not caught as they should be\n");
  // Only the tools that the patches name run, and the test that a patch names.
  put("other_words",
      PATCH("check", "launching\nTest: interface/name_and_summary", THREADS, TOO_MANY));
  put("escapes", PATCH("sanitize", "wrong", THREADS, "static constexpr int THREADS = 128;"));
  snprintf(command, sizeof command, "DEVICE=cpu NAMED=1 PATCHES=%s scripts/bugs.sh 01_naive 2>&1",
           folder);
  result = toolkit_run(command);
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "01_naive test_caught caught caught", " a block of 2048 x 1 x 1 threads; ",
         "01_naive test_escapes - passes\n", "01_naive test_other_words passes -",
         "01_naive test_stale - -", "test_escapes.patch: sanitize does not catch it\n",
         "test_other_words.patch: check does not catch it in the test interface/name_and_summary\n",
         "test_stale.patch: the patch no longer applies to steps/01_naive/attention.cu",
         "bugs: 3 of 4 planted bugs are not caught as they should be\n");

  // The second tenth of the four has the one that escapes alone, and the fifth has none.
  result = lab_run("DEVICE=cpu NAMED=1 TENTH=1 PATCHES=%s scripts/bugs.sh 01_naive 2>&1", folder);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "test_escapes.patch: sanitize does not catch it\n",
         "bugs: 1 of 1 planted bugs of this tenth are not caught as they should be\n");
  lab_run("rm %s/01_naive/bugs/test_[!c]*.patch", folder);
  result = lab_run("DEVICE=cpu NAMED=1 TENTH=0 PATCHES=%s scripts/bugs.sh 01_naive 2>&1", folder);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "bugs: all 1 planted bugs of this tenth are caught (");
  result = lab_run("DEVICE=cpu TENTH=4 PATCHES=%s scripts/bugs.sh 01_naive 2>&1", folder);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "bugs: there are none in this tenth (TENTH=4)\n");
  result = lab_run("RECORD=1 DEVICE=cpu TENTH=2 PATCHES=%s scripts/bugs.sh 01_naive 2>&1", folder);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: RECORD=1 records all bugs: leave TENTH=2 out\n");
  toolkit_run("rm -rf build/bugs/01_naive-test_*");
}

// The suites ask a step that is compiled in one element type, as a planted bug is, for nothing else. So what fails there is
// the bug. The step itself refuses the other type, that for several GPUs as well.
Test(bugs, suites_of_one_element_type, .timeout = 120) {
  static const char *const runs[] = {
      "step12-check --jobs 2 --filter '*/@(bf16|fp16|other_*|takes_*|those_*|two_*)'",
      "step21-check --jobs 2 --filter '*/@(bf16*|fp16|late_*|rising|those_*)'",
      "step21 --gpus 2 --seq 300 --dim 128 --dtype bf16"};
  static const char *const refused[] = {"12 --seq 9 --dim 64 --dtype bf16",
                                        "21 --seq 9 --dim 64 --dtype bf16",
                                        "21 --seq 9 --dim 128 --dtype fp16"};
  script_result result = lab_run("cp -r steps/12_* steps/21_* %s", folder);
  EXPECT_STATUS(result, 0);
  result =
      lab_run("built=build/cpu/elsewhere/$(echo %s | sed 's|_|__|g; s|/|_.|g').quick; ln -s "
              "\"$PWD/$built\" "
              "%s/built; FIRST_CONFIGURATION=1 " MAKE "-s -f make/build.mk STEPS_FOLDER=%s "
              "'STEP_FLAGS=-O0 -DLAB_ONE_TYPE' $built/step12 $built/step12-check $built/step21 "
              "$built/step21-check",
              folder, folder, folder);
  EXPECT_STATUS(result, 0);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    result = lab_run("env -u BXFI_MAP OMP_WAIT_POLICY=passive %s/built/%s", folder, runs[i]);
    EXPECT_STATUS(result, 0);
  }
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    result = lab_run("%s/built/step%s", folder, refused[i]);
    EXPECT_STATUS(result, 2);
    EXPECT(result, "this build leaves out the head_dim in this element type");
  }
  lab_run("rm -rf \"$(readlink %s/built)\"", folder);
}

Test(bugs, no_patch_at_all) {
  const script_result result = toolkit_run("PATCHES=/none scripts/bugs.sh 01_naive 2>&1");
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "error: none of the steps given (01_naive) has planted bugs");
}

// A GPU's tools must catch wrong sums, but not faults that depend on the order of threads, or that the emulator reports.
Test(bugs, verdicts_on_a_gpu) {
  put("sum", PATCH("check", "wrong", THREADS, TOO_MANY));
  put("race", PATCH("check, sanitize", "wrong", THREADS, TOO_MANY));
  put("wild", PATCH("check", "Invalid read", THREADS, TOO_MANY));
  put("chek", PATCH("chek", "wrong", THREADS, TOO_MANY));
  put("bare", "Title: a bug\nCaught-by: check\nStory: none\n\n--- a/x\n");
  put("mute", "Title: a bug\nCaught-by: check\nExpect: wrong\n\n--- a/x\nStory: none\n");
  const struct {
    const char *arguments, *said;
  } cases[] = {{"gpu sum passes -", "check does not catch it\n"},
               {"gpu sum caught -", "it is caught, but no tool says \"wrong\"\n"},
               {"gpu sum unfinished -", "check has not come to its end in 600 s\n"},
               {"gpu race passes passes", ""},
               {"gpu wild passes -", ""},
               {"gpu wild caught -", ""},
               {"cpu wild passes -", "check does not catch it\n"},
               {"cpu race passes passes", "check does not catch it\n"},
               {"cpu race caught passes", "sanitize does not catch it\n"},
               {"gpu race unknown passes", "a tool did not run: \n"},
               {"cpu race caught unknown", "a tool did not run: \n"},
               {"cpu chek - -", "Caught-by names no tool: give check, sanitize or both\n"},
               {"cpu bare caught -", "its head lacks a Title, an Expect or a Story\n"},
               {"cpu mute caught -", "its head lacks a Title, an Expect or a Story\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char device[8], name[8], verdicts[32], command[256];
    cr_assert_eq(sscanf(cases[i].arguments, "%7s %7s %31[^\n]", device, name, verdicts), 3);
    snprintf(command, sizeof command,
             "bash -c '. scripts/planted_bug.sh; bug_share_machine %s; bug_judge %s "
             "%s/01_naive/bugs/test_%s.patch %s /dev/null'",
             device, device, folder, name, verdicts);
    const script_result result = toolkit_run(command);
    cr_expect_str_eq(result.out, cases[i].said, "%s: %s", cases[i].arguments, result.out);
  }
}

// Which tools are tried, and whether one configuration is enough.
Test(bugs, tools_and_configurations_of_a_device) {
  put("sum", PATCH("check", "wrong", THREADS, TOO_MANY));
  put("race", PATCH("check, sanitize", "wrong", THREADS, TOO_MANY));
  put("all", "Configurations: all\n" PATCH("check", "wrong", THREADS, TOO_MANY));
  const struct {
    const char *settings, *arguments, *said;
  } cases[] = {
      {"", "cpu sum", "check sanitize few:"},    {"", "gpu sum", "check few:1"},
      {"", "gpu race", "check sanitize few:1"},  {"", "gpu all", "check few:"},
      {"NAMED=1", "cpu sum", "check few:1"},     {"NAMED=1", "cpu all", "check few:"},
      {"ONLY=check", "gpu race", "check few:1"}, {"ONLY=sanitize", "cpu race", "sanitize few:"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char device[8], name[8];
    cr_assert_eq(sscanf(cases[i].arguments, "%7s %7s", device, name), 2);
    const script_result result =
        lab_run("%s bash -c '. scripts/planted_bug.sh; patch=%s/01_naive/bugs/test_%s.patch; "
                "for tool in check sanitize; do if bug_runs %s $patch $tool; then printf \"%%s \" "
                "$tool; fi; done; printf few:%%s $(bug_few %s $patch)'",
                cases[i].settings, folder, name, device, device);
    cr_expect_str_eq(result.out, cases[i].said, "%s %s: %s", cases[i].settings, cases[i].arguments,
                     result.out);
  }
  const script_result wrong = lab_run("PATCHES=%s ONLY=chek scripts/bugs.sh 01_naive 2>&1", folder);
  cr_expect_eq(wrong.status, 2, "it ended with %d: %s", wrong.status, wrong.out);
  cr_expect_str_eq(wrong.out,
                   "error: ONLY is \"chek\": give check or sanitize, the one tool to try\n", "%s",
                   wrong.out);
}

// A suite that is slow has found nothing yet, and no kernel need be endless.
Test(bugs, suites_that_do_not_come_to_their_end) {
  for (int status = 124; status <= 137; status += 13) {
    const script_result result =
        lab_run("bash -c '. scripts/planted_bug.sh; bug_verdict %d /dev/null'", status);
    cr_expect_str_eq(result.out, "unfinished\tstill running after 300 s", "%s", result.out);
  }
}

Test(bugs, messages_without_addresses) {
  const script_result result = toolkit_run("bash -c '. scripts/planted_bug.sh; bug_first_line "
                                           "<(echo \"========= Invalid read at address "
                                           "0x7f83: 0 bytes past the end\")'");
  cr_expect_str_eq(result.out, "Invalid read: 0 bytes past the end\n", "%s", result.out);
}

// A step that sends a shape to another kernel than its own leaves a kernel that no shape reaches.
Test(bugs, messages_of_kernels_that_no_shape_reaches) {
  const script_result result =
      toolkit_run("bash -c '. scripts/planted_bug.sh; bug_first_line <(echo \"  ok    04 --seq 9\n"
                  "  FAIL  04 has kernels that no shape of list reaches: add one for each of\n"
                  "        void first(int)\n        void second(int)\nsanitize: faults in 04\")'");
  cr_expect_str_eq(result.out,
                   "04 has kernels that no shape of list reaches: add one for each of void "
                   "first(int)\n",
                   "%s", result.out);
}

// The launch is ended in time, and its message is kept.
Test(bugs, endless_kernels) {
  char command[512];
  const char *const logs[] = {"========= Launch timed out: block (0,0,0) has run for 20 seconds",
                              "error: the launch timed out: the GPU has worked for 20 s",
                              "[FAIL] a::b: Timed out. (600.02s)"};
  const char *const said[] = {"hangs\tLaunch timed out: block (0,0,0) has run for 20 seconds\n",
                              "hangs\terror: the launch timed out: the GPU has worked for 20 s\n",
                              "hangs\ta::b: Timed out. (600.02s)\n"};
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
    snprintf(command, sizeof command,
             "echo '%s' >%s/log; bash -c '. scripts/planted_bug.sh; bug_verdict 1 %s/log'", logs[i],
             folder, folder);
    const script_result result = toolkit_run(command);
    cr_expect_str_eq(result.out, said[i], "%s", result.out);
  }
  snprintf(command, sizeof command,
           "printf '#!/bin/sh\\necho limit $LAB_LIMIT\\necho Tested: 1\\n' >%s/suite; chmod +x "
           "%s/suite; bash -c '. scripts/planted_bug.sh; bug_check %s/suite %s/log; cat %s/log'",
           folder, folder, folder, folder, folder);
  const script_result result = toolkit_run(command);
  EXPECT(result, "limit 20\n");
}

// A tool that has not come to an answer has caught nothing, and a suite that ends early has not passed. 99 is the status
// of both.
Test(bugs, tools_that_did_not_run) {
  static const struct {
    const char *program, *call, *status;
  } cases[] = {
      {"exit 0", "bug_check ./program log", "99\n"},
      {"echo Synthesis: Tested: 3; echo finished: 2 tests", "bug_check ./program log", "99\n"},
      {"echo Synthesis: Tested: 3; echo finished: 3 tests", "bug_check ./program log", "0\n"},
      {"exit 1", "bug_check ./program log", "99\n"},
      {"echo Synthesis: Tested: 0; exit 1", "bug_check ./program log", "99\n"},
      {"echo Synthesis: Tested: 3; exit 1", "bug_check ./program log", "1\n"},
      {"exit 2", "bug_sanitize cpu a/step04 04_x log", "99\n"},
      {"exit 1", "bug_sanitize cpu a/step04 04_x log", "1\n"},
      {"exit 0", "bug_sanitize cpu a/step04 04_x log", "0\n"},
  };
  cr_assert_eq(lab_run("cp -r scripts %s", folder).status, 0);
  cr_assert_eq(chdir(folder), 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[128];
    snprintf(text, sizeof text, "#!/bin/bash\n%s\n", cases[i].program);
    toolkit_write_program("program", text);
    toolkit_write_program("scripts/sanitize.sh", text);
    const script_result result =
        lab_run("bash -c '. scripts/planted_bug.sh; %s; echo $?'", cases[i].call);
    cr_expect_str_eq(result.out, cases[i].status, "%s: %s", cases[i].program, result.out);
  }
}

// A bug that is only slow must show in the timeline of the bug, and not in that of the step. The two texts stand in for
// what the timelines say.
Test(bugs, that_are_only_slow) {
  static const struct {
    const char *bug, *step;
    int status;
    const char *said;
  } cases[] = {
      {"it waits", "nothing", 0, "01_naive-1_slow: timeline shows: it waits\n"},
      {"nothing", "nothing", 1, "1_slow.patch: the timeline does not show: it waits\n"},
      {"it waits", "it waits", 1, "the timeline of the step itself shows it, too: it waits\n"},
  };
  EXPECT_STATUS(lab_run("mkdir -p %s/lab/steps && cp -r scripts %s/lab && cp -r steps/01_naive "
                        "%s/lab/steps && mkdir %s/lab/steps/01_naive/slow",
                        folder, folder, folder, folder),
                0);
  cr_assert(chdir(folder) == 0 && chdir("lab") == 0);
  toolkit_write("steps/01_naive/slow/1_slow.patch",
                PATCH("timeline", "it waits", THREADS, "static constexpr int THREADS = 128;"));
  toolkit_write_program("scripts/timeline.sh",
                        "#!/bin/bash\nif [ $2 = steps ]; then echo $STEP; else echo $BUG; fi\n");
  EXPECT_STATUS(lab_run("echo 'bug_build() { echo $3; }' >>scripts/planted_bug.sh"), 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result =
        lab_run("BUG='%s' STEP='%s' scripts/slow.sh 01_naive", cases[i].bug, cases[i].step);
    cr_expect_eq(result.status, cases[i].status, "it ended with %d: %s", result.status, result.out);
    cr_expect(strstr(result.out, cases[i].said), "%s", result.out);
  }
}

// None is in no tenth, and none is in two.
Test(bugs, ten_tenths_are_all) {
  const script_result result =
      lab_run("for tenth in 0 1 2 3 4 5 6 7 8 9; do TENTH=$tenth bash -c '. scripts/tenth.sh; "
              "all=($(seq 23)); take_tenth all bugs; printf \"%%d\\n\" ${all[*]}'; done | "
              "sort -n | tr '\n' ' '");
  cr_expect_str_eq(result.out, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 ");
}

Test(bugs, the_record_keeps_other_steps) {
  char old[128], rows[128], command[512];
  snprintf(old, sizeof old, "%s/bugs.csv", folder);
  snprintf(rows, sizeof rows, "%s/rows", folder);
  toolkit_write(old, "step,bug\n"
                     "\"05_wmma\",\"1_b\",\"old\"\n"
                     "\"06_cp_async\",\"2_c\",\"old\"\n"
                     "\"06_cp_async\",\"9_gone\",\"old\"\n"
                     "\"07_mma\",\"1_d\",\"old\"\n");
  toolkit_write(rows, "06_cp_async\t2_c\tsays \"so\"\tcaught\tm\t-\t\n");
  snprintf(
      command, sizeof command,
      "bash -c '. scripts/planted_bug.sh; commit=abc; date=today; bugs_merge %s %s 06_cp_async'",
      old, rows);
  const script_result result = toolkit_run(command);
  cr_expect_str_eq(
      result.out,
      "step,bug,title,check,check_message,sanitize,sanitize_message,commit,date\n"
      "\"05_wmma\",\"1_b\",\"old\"\n"
      "\"06_cp_async\",\"2_c\",\"says \"\"so\"\"\",\"caught\",\"m\",\"-\",\"\",\"abc\",\"today\"\n"
      "\"07_mma\",\"1_d\",\"old\"\n",
      "%s", result.out);
}
