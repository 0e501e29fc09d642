// scripts/check.sh: the order of its lines, what fails, and which programs run beside others.
#define _GNU_SOURCE
#include "tests/kept.h"
#include "tests/needs.h"
#include "toolkit.h"

// A test program that records when it begins and ends, and takes some time.
#define PROGRAM(seconds, last)                                                                     \
  "#!/bin/bash\necho \"begin ${0##*/}\" >>ran\nsleep " seconds "\n"                                \
  "echo \"end ${0##*/}\" >>ran\necho \"threads: $OMP_NUM_THREADS $*\" >>threads\n" last
#define PASSES "echo 'Synthesis: Tested: 3'\necho 'finished: 3 tests'\n"

static void enter(void) {
  toolkit_enter();
  cr_assert_eq(toolkit_run("mkdir -p build/gpu/timing").status, 0);
  toolkit_write_program("build/gpu/slow", PROGRAM("0.6", PASSES));
  toolkit_write_program("build/gpu/quick", PROGRAM("0.2", PASSES));
  toolkit_write_program("build/gpu/timing/alone", PROGRAM("0.1", PASSES));
  toolkit_write_program("build/gpu/fails", PROGRAM("0", PASSES "echo what is wrong\nexit 1\n"));
  toolkit_write_program("build/gpu/empty",
                        PROGRAM("0", "echo 'Synthesis: Tested: 0'; echo 'finished: 0 tests'\n"));
  // The check that runs this program sets both for it.
  cr_assert(unsetenv("OMP_NUM_THREADS") == 0);
  cr_assert(unsetenv("AT_ONCE") == 0);
}

TestSuite(check, .init = enter, .fini = toolkit_leave);

#define CHECK                                                                                      \
  "scripts/check.sh build/gpu/slow build/gpu/quick build/gpu/timing/alone build/gpu/fails "        \
  "build/gpu/empty 2>&1; "

Test(check, the_same_lines_however_many_at_once) {
  for (int at_once = 1; at_once <= 4; at_once++) {
    char command[256];
    snprintf(command, sizeof command, "AT_ONCE=%d " CHECK, at_once);
    const script_result result = toolkit_run(command);
    EXPECT(result, " ok slow 3 tests, ", " ok quick 3 tests, ", " ok timing/alone 3 tests, ",
           " FAIL fails\n Synthesis: Tested: 3\n finished: 3 tests\n what is wrong\n FAIL empty\n "
           "it finished no test\n",
           "check: 2 of 5 test programs failed: fails empty\n");
  }
}

// Only on a GPU do times mean anything, so only there do programs that measure them have the machine for themselves.
Test(check, programs_that_measure_times_run_alone_on_a_gpu) {
  cr_assert_eq(toolkit_run("mkdir -p build/cpu/timing").status, 0);
  // Each waits for the other for a while, which comes only where both run at a time.
#define NOTES_ITS_TIME                                                                             \
  "#!/bin/bash\necho begins >>order\n"                                                             \
  "for i in {1..20}; do [ $(grep -c begins order) -eq 2 ] && break; sleep $WAIT; done\n"           \
  "echo ends >>order\n" PASSES
  toolkit_write_program("build/gpu/timing/measures", NOTES_ITS_TIME);
  toolkit_write_program("build/gpu/other", NOTES_ITS_TIME);
  toolkit_write_program("build/cpu/timing/measures", NOTES_ITS_TIME);
  toolkit_write_program("build/cpu/other", NOTES_ITS_TIME);
#define BESIDE(device, wait)                                                                       \
  "WAIT=" wait " AT_ONCE=2 scripts/check.sh build/" device "/timing/measures build/" device        \
  "/other >log; "                                                                                  \
  "cat order; rm order"
  cr_expect_str_eq(kept(toolkit_run(BESIDE("gpu", "0.01")).out), "begins\nends\nbegins\nends\n");
  cr_expect_str_eq(kept(toolkit_run(BESIDE("cpu", "0.5")).out), "begins\nbegins\nends\nends\n");
}

// The suites of a machine with two GPUs take both, one program each, unless the user has chosen a GPU.
Test(check, programs_for_one_gpu_take_turns_with_the_gpus) {
  toolkit_write_program("nvidia-smi", "#!/bin/bash\necho 'GPU 0: one'\necho 'GPU 1: two'\n");
  for (char program[] = "build/gpu/a"; program[10] < 'e'; program[10]++)
    toolkit_write_program(
        program, "#!/bin/bash\necho \"${0##*/} ${CUDA_VISIBLE_DEVICES-all}\" >>gpus\n" PASSES);
  static const char *const programs =
      "PATH=$PWD:$PATH ONE_GPU='build/gpu/a build/gpu/b build/gpu/c' scripts/check.sh build/gpu/a "
      "build/gpu/b build/gpu/c build/gpu/d >log; cat gpus; rm gpus";
  cr_assert(unsetenv("CUDA_VISIBLE_DEVICES") == 0);
  script_result result = toolkit_run(programs);
  cr_expect_str_eq(result.out, "a 0\nb 1\nc 0\nd all\n", "%s", result.out);
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  result = toolkit_run(programs);
  cr_expect_str_eq(result.out, "a 1\nb 1\nc 1\nd 1\n", "%s", result.out);
}

// Two programs that both exchange data between the same GPUs may wait for ever.
Test(check, programs_for_all_gpus_run_alone_and_one_test_at_a_time) {
  toolkit_write_program(
      "build/gpu/group",
      "#!/bin/bash\necho group $* >>order\nsleep 0.2\necho ends >>order\n" PASSES);
  toolkit_write_program("build/gpu/other", "#!/bin/bash\necho other $* >>order\n" PASSES);
  const script_result result = toolkit_run("AT_ONCE=2 ALL_GPUS=build/gpu/group scripts/check.sh "
                                           "build/gpu/group build/gpu/other >log; cat order");
  cr_expect_str_eq(result.out, "group --jobs 1\nends\nother --jobs 2\n", "%s", result.out);
}

// More tests at a time, but not where the suite needs all GPUs, and not on a CPU, where two keep its cores busy.
Test(check, one_step_on_a_gpu_runs_four_tests_at_a_time) {
  toolkit_run("mkdir -p build/cpu");
  static const char *const suites[] = {"build/gpu/step04-check", "build/cpu/step04-check"};
  for (int i = 0; i < 2; i++)
    toolkit_write_program(suites[i], "#!/bin/bash\necho ${*%%--tap*} >>order\n" PASSES);
  const script_result result = toolkit_run(
      "scripts/check.sh build/gpu/step04-check >log; scripts/check.sh build/cpu/step04-check "
      ">log; ALL_GPUS=build/gpu/step04-check scripts/check.sh build/gpu/step04-check "
      ">log; cat order");
  EXPECT(result, "--jobs 4\n--jobs 2\n--jobs 1\n");
}

// A wrong step fails most tests of its suite.
Test(check, one_step_shows_its_first_failure) {
  toolkit_write_program(
      "build/gpu/step04-check",
      "#!/bin/bash\nfor i in 1 2; do echo '========= Race'; echo '=========  the launch is "
      "abandoned: '\n"
      "done; echo '[----] a.c:1: Assertion Failed'\necho '[----]   a sentence'\n"
      "echo '[FAIL] shapes::a: (1s)'\necho '[----]   another'\necho '[FAIL] shapes::b: (1s)'\n"
      "echo '[====] Synthesis: Tested: 9 | Passing: 7 | Failing: 2'\nexit 1\n");
  const script_result result =
      toolkit_run("scripts/check.sh build/gpu/step04-check; grep another build/gpu/*.log");
  EXPECT(result,
         " FAIL step04-check\n ========= Race\n ========= the launch is abandoned: \n 7 of 9 tests "
         "pass; the first that does not is shapes::a:\n "
         "a sentence\n what all its tests say: build/gpu/step04-check.log\n",
         "check: 1 of 1 test programs failed: step04-check\n[----] another\n");
}

Test(check, one_after_the_other) {
  const script_result result = toolkit_run(CHECK "cat ran; sort -u threads");
  EXPECT(result,
         "begin slow\nend slow\nbegin quick\nend quick\nbegin alone\nend alone\nbegin fails\n",
         "threads: --jobs 2\n");
}

Test(check, what_measures_runs_alone) {
  const script_result result = toolkit_run("AT_ONCE=2 " CHECK "sed 2q ran | sort; sed 1,2d ran");
  EXPECT(result, "begin quick\nbegin slow\n", "end quick\nend slow\nbegin alone\nend alone\nbegin");
}

Test(check, the_cores_are_divided) {
  toolkit_write_program("bin/nproc", "#!/bin/bash\necho 16\n");
  const script_result result =
      toolkit_run("PATH=$PWD/bin:$PATH AT_ONCE=4 " CHECK "sort -u threads");
  EXPECT(result, "threads: 2 --jobs 2\n");
}

// A terminal shows on one line how many programs have ended, and which run for how long; a file gets no such line.
Test(check, shows_what_runs) {
  needs_tool("script");
  // Long enough that both run at the same time on a busy machine, too.
  toolkit_write_program("build/gpu/slow", PROGRAM("1.5", PASSES));
  toolkit_write_program("build/gpu/quick", PROGRAM("1", PASSES));
  script_result result = toolkit_run(
      "script -qec 'AT_ONCE=2 scripts/check.sh build/gpu/quick build/gpu/slow' /dev/null");
  cr_expect_eq(result.status, 0, "%s", result.out);
  EXPECT(result, "\r .... 0 of 2", ", quick ", " s, slow ", " ok quick 3", "\r .... 1 of 2, slow ",
         " ok slow 3", "check: all 2 test programs pass");
  result = toolkit_run("scripts/check.sh build/gpu/quick 2>&1");
  cr_expect_null(strpbrk(result.out, "\r\033"), "%s", result.out);
}

// A program fails if it does not say how many tests it finished, or gives fewer than Criterion counts.
Test(check, what_does_not_finish) {
  static const char *const logs[] = {"", "echo 'Synthesis: Tested: 3'\n",
                                     "echo 'finished: 3 tests'\n",
                                     "echo 'finished: 2 tests'; echo 'Synthesis: Tested: 3'\n",
                                     // The first line is of a program that a test has run.
                                     ("echo 'Synthesis: Tested: 2'; echo 'finished: 2 tests'\n"
                                      "echo 'Synthesis: Tested: 3'\n")};
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
    char text[256];
    snprintf(text, sizeof text, "#!/bin/bash\n%s", logs[i]);
    toolkit_write_program("build/gpu/ends", text);
    const script_result result = toolkit_run("scripts/check.sh build/gpu/ends 2>&1");
    cr_expect_eq(result.status, 1, "%s: %s", logs[i], result.out);
    EXPECT(result, " FAIL ends\n it ", "check: 1 of 1 test programs failed: ends\n");
  }
}

// A test that lacks a tool is skipped, and the check says so; but
// tests that are skipped for another reason must not be the only ones.
Test(check, what_needs_a_tool) {
#define NOTHING "echo 'Synthesis: Tested: 0'\necho 'finished: 0 tests'\n"
  toolkit_write_program("build/gpu/plots",
                        "#!/bin/bash\n" NOTHING "echo 'skipped: 9 tests: needs gnuplot'\n");
  toolkit_write_program("build/gpu/parts",
                        "#!/bin/bash\n" PASSES "echo 'skipped: 2 tests: needs gdb'\n"
                        "echo 'skipped: 1 tests: needs gnuplot'\n"
                        "echo 'skipped: 1 tests: the emulator takes minutes'\n");
  script_result result = toolkit_run("scripts/check.sh build/gpu/plots build/gpu/parts 2>&1");
  cr_expect_eq(result.status, 0, "%s", result.out);
  EXPECT(result, " skip plots: needs gnuplot\n",
         // The seconds may be 0 or 1.
         " ok parts 3 tests, ", " s, 2 skipped: needs gdb, 1 skipped: needs gnuplot\n",
         "check: skipped, because this machine lacks something: 10 tests need gnuplot, 2 tests "
         "need gdb\n",
         "check: 1 of 2 test programs pass, 1 skipped (");
  toolkit_write_program("build/gpu/idle",
                        "#!/bin/bash\n" NOTHING "echo 'skipped: 3 tests: no mood'\n");
  result = toolkit_run("scripts/check.sh build/gpu/idle 2>&1");
  cr_expect_eq(result.status, 1, "%s", result.out);
  EXPECT(result, " FAIL idle\n it finished no test\n");
}

// A program that lacks a tool has no excuse for anything else that is wrong with it.
Test(check, a_tool_that_is_missing_hides_no_failure) {
  toolkit_write_program("build/gpu/dies",
                        "#!/bin/bash\n" NOTHING "echo 'skipped: 9 tests: needs gnuplot'\nexit 1\n");
  toolkit_write_program("build/gpu/ends",
                        "#!/bin/bash\necho 'Synthesis: Tested: 3'\necho 'finished: 2 tests'\n"
                        "echo 'skipped: 1 tests: needs gnuplot'\n");
  const script_result result = toolkit_run("scripts/check.sh build/gpu/dies build/gpu/ends 2>&1");
  cr_expect_eq(result.status, 1, "%s", result.out);
  EXPECT(result, " FAIL dies\n", " FAIL ends\n it does not say that it finished all its tests\n",
         "check: 2 of 2 test programs failed: dies ends\n");
}

// Where the check is killed, no program of it goes on.
Test(check, programs_end_with_it) {
  toolkit_write_program("build/gpu/tied", "#!/bin/bash\necho \"$LAB_TIED\" >tied\n" PASSES);
  cr_assert(unsetenv("LAB_TIED") == 0);
  const script_result result = toolkit_run("scripts/check.sh build/gpu/tied >log; cat tied");
  cr_expect_str_eq(result.out, "1\n");
}

Test(check, bad_settings) {
  const script_result none = toolkit_run("scripts/check.sh 2>&1");
  cr_expect_eq(none.status, 2);
  EXPECT(none, "error: check was given no test program to run");
  const script_result bad = toolkit_run("AT_ONCE=0 scripts/check.sh build/gpu/slow 2>&1");
  cr_expect_eq(bad.status, 2);
  EXPECT(bad, "error: AT_ONCE is \"0\": give the number of programs");
}

TestSuite(side_by_side, .init = toolkit_enter, .fini = toolkit_leave);

// They run at the same time and their lines come in order; one that fails is not forgotten.
Test(side_by_side, in_order_with_the_first_failure) {
  script_result result = toolkit_run(
      "scripts/side_by_side.sh 'until [ -e met ]; do sleep 0.05; done; echo first; exit 3' "
      "': >met; echo second; exit 4' 'echo third >&2' 2>&1");
  cr_expect_str_eq(result.out, "first\nsecond\nthird\n", "%s", result.out);
  cr_expect_eq(result.status, 3);
  result = toolkit_run("scripts/side_by_side.sh 'true' 'exit 4' 2>&1");
  cr_expect_eq(result.status, 4);
  result = toolkit_run("scripts/side_by_side.sh 'true' 'true' 2>&1");
  cr_expect_eq(result.status, 0);
}

// Tests the whole path: a test that needs gnuplot, on a machine that has none.
Test(check_without_gnuplot, the_tests_of_charts_are_skipped) {
  const char *build = getenv("LAB_BUILD");
  if (!build) cr_skip_test("LAB_BUILD names no folder of a build, such as build/cpu");
  char command[512];
  snprintf(
      command, sizeof command,
      "unset BXFI_MAP; W=$(mktemp -d) || exit; (IFS=:; for folder in $PATH; do ln -s $folder/* "
      "\"$W\"; done) 2>/dev/null; rm -f \"$W\"/gnuplot*; PATH=$W scripts/check.sh "
      "%s/tests/scripts/test_plots 2>&1; status=$?; rm -r \"$W\"; exit $status",
      build);
  const script_result result = toolkit_run(command);
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, " skip tests/scripts/test_plots: needs gnuplot\n",
         "check: skipped, because this machine lacks something: ", " tests need gnuplot\n",
         "check: 0 of 1 test programs pass, 1 skipped");
}
