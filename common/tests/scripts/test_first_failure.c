// The first failure that check shows of a step, of the lab's or of a participant's: it has its own message, and its own
// report of the emulator, in whatever order tests write that run side by side. A script stands in for the program of the
// tests.
#define _GNU_SOURCE
#include "exercise.h"

static void write_file(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", lab_work, name);
  toolkit_write(path, text);
}

// It writes the file `alone` when it is asked for the test shapes::a, else the files `together` and, as Criterion does,
// `tap`. It notes its options.
#define PROGRAM                                                                                    \
  "#!/bin/bash\nF=${0%/*}\necho \"$*\" >>$F/ran\n"                                                 \
  "for option; do [[ $option != --tap=* ]] || cp $F/tap ${option#--tap=}; done\n"                  \
  "if [[ $* == *'--filter shapes/a'* ]]; then cat $F/alone; else cat $F/together; fi\n"            \
  "exit 1\n"

static void enter(void) {
  lab_enter();
  char path[128];
  snprintf(path, sizeof path, "%s/step04-check", lab_work);
  toolkit_write(path, PROGRAM);
  cr_assert(chmod(path, 0700) == 0);
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                        "scripts/workshop/exercise.sh fill 04_online_softmax"),
                0);
}

TestSuite(first_failure, .init = enter, .fini = lab_leave);

#define COUNTS "[====] Synthesis: Tested: 9 | Passing: 8 | Failing: 1 | Crashing: 0\n"
#define REFUSED                                                                                    \
  "========= cuTensorMapEncodeTiled: the tensor is at 0x7fcc1acdc202: give a multiple of 16\n"
// Test a fails, b passes, and makes a mistake on purpose.
#define TOGETHER                                                                                   \
  "[RUN ] shapes::a\n[RUN ] shapes::b\n[----] x.c:1: Assertion Failed\n[----]   \n"                \
  "[----]   message of a\n" REFUSED "[PASS] shapes::b: (1s)\n[RUN ] shapes::c\n"                   \
  "[----]   message of c\n[FAIL] shapes::a: (1s)\n[FAIL] shapes::c: (1s)\n" COUNTS
#define TAP                                                                                        \
  "TAP version 13\nnot ok - shapes::c  (1s)\n  failures:\n  - x.c:1: |+\n"                         \
  "      Assertion failed: message of c\n  ...\nok - shapes::b  (1s)\n"                            \
  "not ok - shapes::a  (1s)\n  failures:\n  - x.c:2: |+\n      Assertion failed: second of a\n"    \
  "  - x.c:1: |+\n      Assertion failed: message of a\n      in two lines\n  ...\n"
#define ALONE                                                                                      \
  "[SKIP] shapes::b: Test is disabled\n[RUN ] shapes::a\n[----]   message of a\n"                  \
  "[FAIL] shapes::a: (1s)\n" COUNTS
#define FIRST "8 of 9 tests pass; the first that does not is shapes::a:\n"

// Who checks: a participant their file, or the lab its step.
typedef enum { PARTICIPANT, LAB } checker;

static script_result verdict(checker by) {
  return lab_run("rm -f %s/ran; %s %s%s", lab_work,
                 by == LAB ? "scripts/check.sh" : "scripts/workshop/check.sh cpu", lab_work,
                 by == LAB ? "/step04-check" : " 04_online_softmax");
}

static void expect_run(const char *times) {
  const script_result result = lab_run("grep -v -c -e --list %s/ran", lab_work);
  cr_expect_str_eq(result.out, times, "the program ran %s", result.out);
}

static void expect_own_message(checker by) {
  write_file("together", TOGETHER);
  write_file("tap", TAP);
  write_file("alone", ALONE);
  script_result result = verdict(by);
  EXPECT_STATUS(result, 1);
  EXPECT(result, FIRST " message of a\n");
  cr_expect_null(strstr(result.out, "message of c"), "%s", result.out);
  cr_expect_null(strstr(result.out, "====="), "the report of a test that passes: %s", result.out);
  // Its report stands among those of others, too.
  write_file("alone", "[RUN ] shapes::a\n========= Deadlock: of a\n[----]   message of a\n"
                      "[FAIL] shapes::a: (1s)\n" COUNTS);
  result = verdict(by);
  EXPECT(result, "========= Deadlock: of a\n", FIRST " message of a\n");
  cr_expect_null(strstr(result.out, "cuTensorMap"), "%s", result.out);
  // It passes alone: Criterion's report of all tests has its message.
  write_file("alone", "[RUN ] shapes::a\n[PASS] shapes::a: (1s)\n" COUNTS);
  result = verdict(by);
  EXPECT(result, FIRST " message of a\n in two lines\n second of a\n alone it passes: ");
  cr_expect_null(strstr(result.out, "message of c"), "%s", result.out);
}

Test(first_failure, of_a_participant) { expect_own_message(PARTICIPANT); }

Test(first_failure, of_the_lab) { expect_own_message(LAB); }

// A test of streams fails first, and one of plain shapes says what is wrong without a word of streams.
Test(first_failure, of_plain_shapes) {
  write_file("together",
             "[RUN ] inputs::b\n[FAIL] launches::c: Timed out. (1s)\n[FAIL] inputs::b: (1s)\n"
             "[FAIL] shapes::a: (1s)\n[FAIL] shapes::d: (1s)\n[FAIL] inputs::e: (1s)\n" COUNTS);
  write_file("tap", TAP);
  write_file("alone", ALONE);
  for (checker by = PARTICIPANT; by <= LAB; by++) {
    const script_result result = verdict(by);
    EXPECT(result, FIRST " message of a\n");
    cr_expect_null(strstr(result.out, "it did not end"), "%s", result.out);
  }
}

// A test that takes all its time would do so once more, and one that says nothing must not be left without a word.
Test(first_failure, without_a_message) {
  for (checker by = PARTICIPANT; by <= LAB; by++) {
    write_file("together", "[RUN ] shapes::b\n[RUN ] shapes::a\n[PASS] shapes::b: (1s)\n"
                           "[FAIL] shapes::a: Timed out. (1s)\n" COUNTS);
    write_file("tap", "not ok - shapes::a timed out (1s)\n");
    script_result result = verdict(by);
    EXPECT(result, FIRST " it did not end: ");
    expect_run("1\n");
    write_file("together",
               "[RUN ] shapes::b\n[RUN ] shapes::a\n"
               "error: the test has used all its processor time and has not ended: shapes::a\n"
               "[PASS] shapes::b: (1s)\n[FAIL] shapes::a: (0s)\n" COUNTS);
    write_file("tap", "not ok - shapes::a  (0s)\n  failures:\n  ...\n");
    result = verdict(by);
    EXPECT(result, FIRST " it did not end: ");
    expect_run("1\n");
    write_file("together", "[RUN ] shapes::a\n[FAIL] shapes::a: (0s)\n" COUNTS);
    write_file("alone", "[RUN ] shapes::a\n[FAIL] shapes::a: (0s)\n" COUNTS);
    result = verdict(by);
    EXPECT(result, FIRST " it said nothing: its process ended before");
    expect_run("2\n");
    write_file("tap", "not ok - shapes::a unexpected signal after x.c:5\n");
    write_file("alone", "[PASS] shapes::a: (0s)\n");
    result = verdict(by);
    EXPECT(result, FIRST " unexpected signal after x.c:5\n alone it passes: ");
  }
}

// The quick tests run one after the other: what stands before the end of a test is its own.
Test(first_failure, of_the_quick_tests) {
  write_file("together", "[RUN ] shapes::b\n" REFUSED
                         "[PASS] shapes::b: (1s)\n========= Deadlock: of a\n[RUN ] shapes::a\n"
                         "[----]   message of a\n[FAIL] shapes::a: (1s)\n" COUNTS);
  cr_assert(setenv("QUICK", "1", 1) == 0);
  const script_result result = verdict(PARTICIPANT);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "========= Deadlock: of a\n",
         "the first test that does not pass is shapes::a:\n message of a\n");
  cr_expect_null(strstr(result.out, "cuTensorMap"), "%s", result.out);
  expect_run("1\n");
}

// The limit of a launch is told by its own report.
Test(first_failure, a_launch_without_end) {
  write_file("together", "[RUN ] shapes::b\n" REFUSED "[PASS] shapes::b: (1s)\n[RUN ] shapes::a\n"
                         "========= Launch timed out: block (0,0,0)\n=========   at x.cu:3\n");
  const script_result result = verdict(PARTICIPANT);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "Launch timed out: block (0,0,0)\n", " at x.cu:3\n", "the tests were stopped");
  cr_expect_null(strstr(result.out, "cuTensorMap"), "%s", result.out);
}

#define BAD(nan) "O is wrong at row 0 (allowed error 1). 8 of 64 elements are bad: row 0; " nan

// Sanitize is told of where nothing is reported, and where a report names what may follow of another mistake. It is not
// where all that is wrong is NaN of the kernel's own making.
Test(first_failure, what_the_sanitizer_explains_better) {
  static const struct {
    const char *report;
    bool helps;
  } reports[] = {
      {"", true},
      {"[----]   " BAD("8 are NaN or infinite") "\n", false},
      {"[----]   " BAD("3 are NaN or infinite") "\n", true},
      {"[----]   " BAD("8 are NaN, computed from memory") "\n", true},
      {"========= mbarrier.arrive.expect_tx in common/kernel/hopper.cuh:224: one too many\n", true},
      {"========= Invalid __shared__ write: block (0,0,0) has written behind the end\n", true},
      {"========= Invalid __local__ read: far outside of the arrays and registers of a thread\n",
       true},
      {"========= ldmatrix needs all 32 lanes of the warp, but the lanes 0x77777777 do not exist "
       "or "
       "have exited\n",
       true},
      {"========= Barrier error detected. Deadlock: no thread of block (0,0,0) can go on\n"
       "=========   32 wait at mbarrier.try_wait.parity in x.cu:3\n",
       false},
      {"========= Invalid size of cp.async in x.cu:3: 3 bytes\n", false},
  };
  write_file("together", TOGETHER);
  for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
    char alone[512];
    snprintf(alone, sizeof alone, "[RUN ] shapes::a\n%s%s", reports[i].report,
             "[----]   message of a\n[FAIL] shapes::a: (1s)\n" COUNTS);
    write_file("alone", alone);
    const script_result result = verdict(PARTICIPANT);
    EXPECT(result, FIRST);
    cr_expect_eq(strstr(result.out, "make step04 sanitize looks for a race") != NULL,
                 reports[i].helps, "%s: %s", reports[i].report, result.out);
  }
}

// The record of a bug or a mutant leaves out the mistakes that a test makes on purpose, if the test passes.
Test(first_failure, in_the_records) {
  write_file("together", "[RUN ] shapes::b\n" REFUSED "[PASS] shapes::b: (1s)\n[RUN ] shapes::a\n"
                         "[----] x.c:1: Assertion Failed\n[----]   \n[----]   message of a\n"
                         "[FAIL] shapes::a: (1s)\n" COUNTS);
  const script_result result =
      lab_run("bash -c '. scripts/planted_bug.sh; bug_check %s/step04-check %s/log; "
              "bug_verdict $? %s/log'",
              lab_work, lab_work, lab_work);
  cr_expect_str_eq(result.out, "caught\tmessage of a\n", "%s", result.out);
  EXPECT_STATUS(lab_run("grep -e '--verbose' %s/ran", lab_work), 0); // without it no test passes
}

// A part between the lab's other parts: the text of these would be the solutions of what the reader has not written yet.
Test(first_failure, without_the_solutions_of_other_parts) {
  write_file("step04",
             "#!/bin/bash\nif [[ $* != *verbose* ]]; then cat ${0%/*}/report >&2; exit 1; fi\n"
             "cat ${0%/*}/report\necho '[FAIL] shapes::a: (1s)'; echo '" COUNTS "'; exit 1\n");
  write_file("report", "========= Race: a write and a read\n"
                       "=========     write at f in steps/04_online_softmax/attention.cu:82\n"
                       "=========         solution();\n"
                       "=========         called from work/04_online_softmax/attention.cu:9\n"
                       "=========     read at g in work/04_online_softmax/attention.cu:83\n"
                       "=========         mine();\n"
                       "   25.4%  84  steps/04_online_softmax/attention.cu:82  solution();\n");
  EXPECT_STATUS(lab_run("cd %s && chmod 700 step04 && cp step04 step04-check", lab_work), 0);
  const char *commands[] = {"SEEDS=1 scripts/sanitize.sh %s 04_online_softmax",
                            "scripts/workshop/check.sh cpu %s 04_online_softmax",
                            "scripts/run.sh %s/step04"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    char command[128];
    snprintf(command, sizeof command, commands[i], lab_work);
    script_result result = lab_run("PART=2 %s", command);
    EXPECT_STATUS(result, 1);
    EXPECT(result, "attention.cu:82\n", "called from work/", "attention.cu:83\n", " mine();\n");
    cr_expect_null(strstr(result.out, "solution"), "%s: %s", command, result.out);
    result = lab_run("%s", command);
    EXPECT(result, "attention.cu:82\n========= solution();\n========= called from work/");
  }
}
