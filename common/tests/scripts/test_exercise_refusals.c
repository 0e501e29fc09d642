// scripts/workshop/exercise.sh and its kin: what they refuse, each in a sentence.
#define _GNU_SOURCE
#include "exercise.h"

TestSuite(exercise_refusals, .init = lab_enter, .fini = lab_leave);

// The step itself, or a later one, would leave nothing to write.
Test(exercise_refusals, from_no_later_step) {
  static const char *const from[] = {"04", "05", "26"};
  for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
    for (int reset = 0; reset < 2; reset++) {
      if (reset) {
        EXPECT_STATUS(lab_run("mkdir -p %s/04_online_softmax && echo mine >%s", lab_work, file04()),
                      0);
      }
      const script_result result =
          lab_run("FROM=%s scripts/workshop/exercise.sh %s 04_online_softmax", from[i],
                  reset ? "reset" : "start");
      EXPECT_STATUS(result, 2);
      EXPECT(result, "error: FROM is \"",
             "an exercise of step 04 starts from a step before it, and step ",
             " is not before step 04\n");
      EXPECT_STATUS(lab_run("[ ! -e %s ] || grep -qx mine %s", file04(), file04()), 0);
    }
    EXPECT_STATUS(lab_run("rm %s", file04()), 0);
  }
}

// STEPS_FOLDER may name a folder whose steps are not the lab's, as in guide/experiments.md.
Test(exercise_refusals, of_the_labs_steps_alone) {
  static const char *const verbs[] = {"exercise", "hint", "fill", "solution", "reset", "watch"};
  EXPECT_STATUS(lab_run("mkdir -p %s/mine && cp -r steps/04_online_softmax %s/mine/30_mine",
                        lab_work, lab_work),
                0);
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    const script_result result =
        lab_run("{ " MAKE "-s step30 %s STEPS_FOLDER=%s/mine; } 2>&1 | grep -v '^make: '", verbs[i],
                lab_work);
    char expected[256];
    snprintf(expected, sizeof expected,
             "error: there is no steps/30_mine/attention.cu, and exercises are made of the steps "
             "in steps/: leave STEPS_FOLDER=%s/mine out and name one of those, as in make step04 "
             "%s\n",
             lab_work, verbs[i]);
    cr_expect_str_eq(result.out, expected, "%s", result.out);
  }
}

// A part that there is not, and one that has the lab's lines.
Test(exercise_refusals, what_cannot_be_filled) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  static const char *const parts[] = {"7", "0", "x"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const script_result result =
        lab_run("PART=%s scripts/workshop/exercise.sh fill 04_online_softmax", parts[i]);
    EXPECT_STATUS(result, 2);
    EXPECT(result, "error: PART is \"", "\": the exercise of step 04 has parts 1 to 3\n");
  }
  EXPECT_STATUS(lab_run("PART=1 scripts/workshop/exercise.sh fill 04_online_softmax"), 0);
  script_result result = lab_run("PART=1 scripts/workshop/exercise.sh fill 04_online_softmax");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: part 1 of ", "attention.cu is filled already: it has the lab's lines\n");
  result = lab_run("sed -i '/TODO 3 of/,+1d' %s; "
                   "PART=3 scripts/workshop/exercise.sh fill 04_online_softmax",
                   file04());
  EXPECT_STATUS(result, 2);
  EXPECT(result, "attention.cu has no TODO 3 that step 04 has a solution for\n");
}

// It would go on for ever.
Test(exercise_refusals, watch_needs_a_number_of_rounds, .timeout = 60) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  static const char *const rounds[] = {"x", "0", "1.5", "-1"};
  for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
    const script_result result =
        lab_run("ROUNDS=%s timeout 10 scripts/workshop/watch.sh 04_online_softmax", rounds[i]);
    EXPECT_STATUS(result, 2);
    EXPECT(result, "error: ROUNDS is \"", "\": give the number of checks after which watch ends");
  }
}
