// The files of progress that participants hand in, and the leader's view of them.
#define _GNU_SOURCE
#include "exercise.h"

TestSuite(room, .init = lab_enter, .fini = lab_leave);

Test(room, a_room_at_one_glance) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                        "PART=1 scripts/workshop/exercise.sh fill 04_online_softmax && "
                        "PART=2 scripts/workshop/hint.sh 04_online_softmax && "
                        "scripts/workshop/hunt.sh hand-out 2 && mkdir %s/room",
                        lab_work),
                0);
  EXPECT_STATUS(lab_run("NAME=anna scripts/workshop/progress.sh 03_3dgrid 04_online_softmax && "
                        "mv %s/progress-anna.csv %s/room",
                        lab_work, lab_work),
                0);
  EXPECT_STATUS(
      lab_run("cat >%s/room/ben.csv <<'END'\n"
              "name,step,parts,left,hints,verdict,date\n"
              "ben,03_3dgrid,4,0,0,passed,2026-11-22\nben,05_wmma,3,3,6,failed,2026-11-22\n"
              "ben,hunt,2,1,,,\nEND\n",
              lab_work),
      0);
  script_result result = lab_run("WITH=%s/room scripts/workshop/room.sh", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "\nben 1 05_wmma 3 of 3 6 failed 1 of 2\n",
         "anna 0 04_online_softmax 2 of 3 1 begun 0 of 1\n");
  // An older file of the same participant, from a machine with other line ends, is left out.
  EXPECT_STATUS(
      lab_run(
          "printf 'name,step,parts,left,hints,verdict,date\\r\\nben,03_3dgrid,4,2,0,begun,\\r\\n' "
          ">'%s/room/ben (1).csv' && touch -d 2026-11-01 '%s/room/ben (1).csv'",
          lab_work, lab_work),
      0);
  result = lab_run("WITH=%s/room scripts/workshop/room.sh 2>&1", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "room/ben (1).csv is left out: a newer file has the name ben\n",
         "\nben 1 05_wmma 3 of 3 6 failed 1 of 2\n");
  static const char *const names[] = {"'a,b'", "'a\"b'", "a/b", "\"$(printf 'a\\nb')\""};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) { // another name in the leader's view
    result = lab_run("NAME=%s scripts/workshop/progress.sh 04_online_softmax", names[i]);
    EXPECT_STATUS(result, 2);
    EXPECT(result, "error: NAME is \"a", "give it no comma, quote, slash or line break\n");
    EXPECT_STATUS(lab_run("ls %s | grep progress", lab_work), 1);
  }
  result = lab_run("WITH=/none scripts/workshop/room.sh");
  EXPECT_STATUS(result, 2);
  result =
      lab_run("echo >%s/room/other.csv; WITH=%s/room scripts/workshop/room.sh", lab_work, lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "other.csv is not a file that make progress NAME=... writes");
}

// A file that is right and lacks a goal does not pass, and what the sanitizer has said of another file is nothing.
Test(room, progress_counts_what_passes) {
#define WITH_VERDICT(word)                                                                         \
  "bash -c '. scripts/workshop/work.sh; hash=$(file_hash $(work_file 02_tiled)); note_check "      \
  "02_tiled " word " cpu $hash; scripts/workshop/progress.sh 02_tiled'"
  EXPECT_STATUS(lab_run("FROM=01 scripts/workshop/exercise.sh start 02_tiled"), 0);
  EXPECT_STATUS(lab_run("bash -c '. scripts/workshop/work.sh; note_sanitized 02_tiled clean 0123'"),
                0);
  script_result result = lab_run(WITH_VERDICT("right"));
  EXPECT(result, "right on the cpu, ", ", and not all goals met\n",
         "progress: 0 of 1 steps pass\n");
  result = lab_run(WITH_VERDICT("passed"));
  EXPECT(result, "passed on the cpu, ", ", not sanitized\n", "progress: 1 of 1 steps pass\n");
}

// Check keeps that verdict of a file that passes its tests. Scripts stand in for these, and for the measuring of the goals.
Test(room, check_keeps_that_a_goal_is_not_met) {
  EXPECT_STATUS(lab_run("mkdir %s/lab && cp -r scripts steps %s/lab && "
                        "FROM=01 scripts/workshop/exercise.sh start 02_tiled",
                        lab_work, lab_work),
                0);
  cr_assert(chdir(lab_work) == 0 && chdir("lab") == 0);
  toolkit_write_program("scripts/workshop/goals.sh",
                        "#!/bin/bash\necho '  not met  a goal'\nexit 1\n");
  toolkit_write_program("step02-check", "#!/bin/bash\necho 'finished: 3 tests'\n"
                                        "echo 'Synthesis: Tested: 3 | Passing: 3'\n");
  script_result result = lab_run("scripts/workshop/check.sh cpu . 02_tiled");
  EXPECT_STATUS(result, 0);
  EXPECT(result, " passes, and does not meet the goals of the step:\n not met a goal\n");
  result = lab_run("scripts/workshop/progress.sh 02_tiled");
  EXPECT(result, "right on the cpu, ", "progress: 0 of 1 steps pass\n");
  cr_assert_eq(chdir("/"), 0);
}

// A goal is met from its number on, to its number, or at it. A script stands in for the step's program.
Test(room, goals_have_limits) {
  EXPECT_STATUS(
      lab_run("mkdir -p %s/lab/steps/02_tiled && cp -r scripts %s/lab", lab_work, lab_work), 0);
  cr_assert(chdir(lab_work) == 0 && chdir("lab") == 0);
  toolkit_write_program("program", "#!/bin/bash\necho 'workspace  100 B'\n");
  EXPECT_STATUS(lab_run("echo 'bug_build() { echo ./program; }' >>scripts/planted_bug.sh"), 0);
  static const struct {
    const char *goal;
    int status;
    const char *said;
  } cases[] = {
      {"= 100", 0, " met a: workspace is 100\n"},
      {"= 99", 1, " not met a: workspace is 100, and should be 99\n"},
      {">= 100", 0, " met a: workspace is 100\n"},
      {">= 101", 1, " not met a: workspace is 100, and should be at least 101\n"},
      {"<= 100", 0, " met a: workspace is 100\n"},
      {"<= 99", 1, " not met a: workspace is 100, and should be at most 99\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = lab_run("echo 'run|workspace %s| a' >steps/02_tiled/goals.txt; "
                                         "scripts/workshop/goals.sh 02_tiled steps",
                                         cases[i].goal);
    EXPECT_STATUS(result, cases[i].status);
    EXPECT(result, cases[i].said);
  }
  cr_assert_eq(chdir("/"), 0);
}
