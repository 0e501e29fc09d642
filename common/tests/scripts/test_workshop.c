// The exercises with the compiler and the suite themselves: what check, watch and the other verbs say of a file that is
// not written yet, is wrong, does not compile, or is not the step that it should be.
#define _GNU_SOURCE
#include "exercise.h"
#include "part.h"
#include "tests/needs.h"
#include <glob.h>

TestSuite(workshop, .init = lab_enter, .fini = lab_leave);

// All compile with every warning an error, each in its first configuration, and check says of each what is missing. A
// thread that waits for a missing part is ended at once, with a report. Steps 01, 03, 04 and 12 are never left out.
Test(workshop, skeletons_compile_and_fail, .timeout = 300) {
  glob_t found;
  cr_assert_eq(glob("steps/*/attention.cu", 0, NULL, &found), 0);
  char started[4096] = "";
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char step[64];
    cr_assert(sscanf(found.gl_pathv[i], "steps/%63[^/]", step) == 1);
    const int number = atoi(step);
    if (!in_tenth(i) && number != 1 && number != 3 && number != 4 && number != 12) continue;
    EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start %s", step), 0);
    snprintf(started + strlen(started), sizeof started - strlen(started), "%s ", step);
  }
  globfree(&found);
  script_result result = lab_run("scripts/workshop/progress.sh 03_3dgrid");
  EXPECT(result, "03_3dgrid ", " 4 of 4 - -\n", "0 of 1 steps pass");
  result = lab_run(MAKE UNOPTIMISED "check-work WORK=1 QUICK=1");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "04_online_softmax/attention.cu, your own (3 of 3 parts still to be written)",
         "the first test that does not pass is ", "3 of 3 parts of ",
         "04_online_softmax/attention.cu are still to be written:\n line ",
         ", about 3 lines: compute new_max", "04_online_softmax/attention.cu fails\n",
         "Deadlock: no thread of block (", "can go on", "wait at mbarrier.try_wait.parity in ",
         "12_warp_specialized/attention.cu:", "3 of 3 parts of ",
         "12_warp_specialized/attention.cu are still");
  for (char *step = strtok(started, " "); step; step = strtok(NULL, " ")) {
    char several[128], one[128];
    snprintf(several, sizeof several, "/%s/attention.cu are still to be written:", step);
    snprintf(one, sizeof one, "/%s/attention.cu is still to be written:", step);
    cr_expect(strstr(result.out, several) || strstr(result.out, one), "of %s: %s", step,
              result.out);
  }
  result = lab_run("scripts/workshop/progress.sh 04_online_softmax");
  EXPECT(result, "3 of 3 - failed on the cpu", "0 of 1 steps pass",
         "next: part 1: store in S[index] the dot product", "then make step01 check PART=1\n");
}

// The parts of a step, by their lines, in which none of its planted bugs changes a line.
#define PARTS_WITHOUT_BUG                                                                          \
  "awk 'NR == FNR && /\\/\\/ exercise: / { first[++parts] = FNR } "                                \
  "NR == FNR && /\\/\\/ end of exercise/ { last[parts] = FNR } "                                   \
  "/^@@ / { split($2, from, /[-,]/); line = from[2] + 2; " /* two lines of context come first */   \
  "for (i = 1; i <= parts; i++) if (line > first[i] && line < last[i]) broken[i] = 1 } "           \
  "END { for (i = 1; i <= parts; i++) if (!(i in broken)) print i }' "

// check finds each part that a participant leaves out but marks as written. Each takes a compilation, so those parts are
// left out that a planted bug breaks: each bug is planted in a run of all tests, and must be caught.
static void expect_parts_missed(const char *source) {
  char step[64];
  cr_assert(sscanf(source, "steps/%63[^/]", step) == 1);
  const int parts = atoi(lab_run("grep -c '// exercise: ' %s", source).out);
  const script_result left = lab_run(PARTS_WITHOUT_BUG "%s steps/%s/bugs/*.patch", source, step);
  EXPECT_STATUS(left, 0);
  for (int part = 1; part <= parts; part++) {
    const char digit = (char)('0' + part);
    if (!strchr(left.out, digit)) continue;
    script_result result = lab_run(
        "export FORCE=1; scripts/workshop/exercise.sh start %s && for part in $(seq %d); do "
        "[ $part = %d ] || PART=$part scripts/workshop/exercise.sh fill %s || exit; done && "
        "sed -i '/ TODO /,+1d' %s/%s/attention.cu",
        step, parts, part, step, lab_work, step);
    EXPECT_STATUS(result, 0);
    // Without a word of the compiler, which finds what nothing uses.
    result =
        lab_run(MAKE "STEP_FLAGS='-O0 -w -DLAB_ONE_TYPE' step%.2s check-work WORK=1 QUICK=1", step);
    EXPECT_STATUS(result, 2);
    EXPECT(result, "the first test that does not pass is ", "attention.cu fails\n");
  }
}

Test(workshop, every_part_is_missed, .timeout = 300) {
  glob_t found;
  cr_assert_eq(glob("steps/*/attention.cu", 0, NULL, &found), 0);
  int steps = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    if (!in_tenth(i)) continue;
    if (lab_run("grep -q '^// Needs: ' %s", found.gl_pathv[i]).status != 0) continue;
    expect_parts_missed(found.gl_pathv[i]);
    steps++;
  }
  globfree(&found);
  cr_expect_geq(steps, 2);
}

// Tests the output for a mistake and for a finished part, with the suite itself.
Test(workshop, watch_shows_the_first_failure, .timeout = 300) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                        "scripts/workshop/exercise.sh fill 04_online_softmax && "
                        "sed -i 's/row_sum \\*= correction;//' %s",
                        file04()),
                0);
  const script_result result = lab_run(MAKE UNOPTIMISED "step04 watch ROUNDS=1");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "the first test that does not pass is ", " is wrong at batch ",
         "04_online_softmax/attention.cu fails\n");
  cr_expect_null(strchr(result.out, '\033'), "escape codes without a terminal");
}

// A quick check compiles the first configuration that takes a head_dim, out of nine.
Test(workshop, a_quick_check_compiles_one_configuration, .timeout = 120) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 06_cp_async"), 0);
  script_result result = lab_run(MAKE UNOPTIMISED "step06 check-work WORK=1 QUICK=1");
  EXPECT(result, "06_cp_async/attention.cu fails\n");
  result = lab_run("nm -C build/cpu/elsewhere/_.tmp_.%s.quick/steps/06_cp_async/attention.cu.o | "
                   "grep -o 'attention_kernel<configuration<[0-9, ]*>' | sort -u | wc -l",
                   lab_work + strlen("/tmp/"));
  cr_expect_str_eq(result.out, "2\n", "%s configurations",
                   result.out); // the second for head_dim 128
  // A configuration that the step does not have says nothing about the file.
  result = lab_run("env -u BXFI_MAP QUICK=1 LAB_CONFIG=nope scripts/workshop/check.sh cpu "
                   "build/cpu/elsewhere/_.tmp_.%s.quick 06_cp_async",
                   lab_work + strlen("/tmp/"));
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: step 06_cp_async has no configuration \"nope\": it has ");
  cr_expect_null(strstr(result.out, "attention.cu fails"), "%s", result.out);
}

// Every verb that builds folds the compiler's words, those of a part with the lab's other parts as well.
Test(workshop, every_verb_says_in_short_what_does_not_compile, .timeout = 120) {
  EXPECT_STATUS(
      lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
              "sed -i 's|^  const float correction = 1.0f; // until then|  correction|' %s",
              file04()),
      0);
  const char *verbs[] = {"run", "sanitize", "run PART=2"};
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    script_result result = lab_run(MAKE UNOPTIMISED "step04 %s", verbs[i]);
    EXPECT_STATUS(result, 2);
    EXPECT(result, "error: ", "04_online_softmax/attention.cu does not compile:\n ",
           "04_online_softmax/attention.cu:145: error: ", "everything that the compiler says: ",
           "/.state/04_online_softmax/compiler.log\n");
    cr_expect_null(strstr(result.out, ": In "), "%s folds nothing: %s", verbs[i], result.out);
    cr_expect_null(strstr(result.out, "build.mk"), "%s: %s", verbs[i], result.out);
  }
#ifndef __clang__ // which says in no line of its own which function a mistake is in
  EXPECT_STATUS(lab_run("grep -q 'In function' %s/.state/04_online_softmax/compiler.log", lab_work),
                0);
#endif
}

TestSuite(goals, .init = lab_enter, .fini = lab_leave);

Test(goals, each_exercise_has_some) {
  const script_result result =
      lab_run("for source in $(grep -l '// exercise: ' steps/*/attention.cu); do "
              "grep -qE '^(run|count|budget)( --.*)? \\| .* (=|<=|>=) [0-9.]+ \\| .+' "
              "${source%%attention.cu}goals.txt || echo $source; done");
  cr_expect_str_empty(result.out, "no goals: %s", result.out);
}

// Step 03 under the name of step 04 computes the same, and is not step 04.
Test(goals, are_not_met_by_the_step_before, .timeout = 120) {
  EXPECT_STATUS(lab_run("FROM=03 scripts/workshop/exercise.sh start 04_online_softmax && "
                        "echo 'bool warned_of(int a, unsigned b) { return a < b; }' >>%s",
                        file04()),
                0);
  script_result result =
      lab_run("STEP_FLAGS=-O0 scripts/workshop/goals.sh 04_online_softmax %s", lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, " not met there is no matrix of scores in global memory: workspace is 524288, ",
         "and should be 0\n",
         " not met the three kernels are one: launches is 3, and should be 1\n");
  cr_expect_null(strstr(result.out, "warning"), "the build of the tests says it: %s", result.out);
  result = lab_run("scripts/workshop/goals.sh 06_cp_async steps && "
                   "scripts/workshop/goals.sh 14_pingpong steps");
  EXPECT_STATUS(result, 0);
  EXPECT(result, " met all tiles are copied", " met the next tiles are under way", " met ");
}

// The goals of a copy of a step that a command has changed, which runs in the copy's folder.
static script_result goals_behind(const char *step, const char *command) {
  EXPECT_STATUS(lab_run("mkdir -p %s/steps && cp -r steps/%s %s/steps && cd %s/steps/%s && %s",
                        lab_work, step, lab_work, lab_work, step, command),
                0);
  return lab_run("FIRST_CONFIGURATION=1 STEP_FLAGS=-w scripts/workshop/goals.sh %s %s/steps", step,
                 lab_work);
}

// The goals of a step with a patch that leaves the result right, and leaves out what the goal is about.
static script_result goals_of(const char *step, const char *patch) {
  char command[128];
  needs_tool("patch");
  snprintf(command, sizeof command, "patch -sp3 <%s.patch", patch);
  return goals_behind(step, command);
}

Test(goals, see_the_order_of_the_tiles, .timeout = 120) {
  const script_result result = goals_of("09_tile_order", "variants/tiles_forward");
  EXPECT_STATUS(result, 1);
  EXPECT(result, " met the batch entry is the third", " not met the blocks that start first take ",
         " is 0.3333333333, and should be at least 0.6\n");
  EXPECT_STATUS(lab_run("scripts/workshop/goals.sh 09_tile_order steps"), 0);
}

Test(goals, see_that_no_thread_block_is_wary, .timeout = 120) {
  const script_result result = goals_of("17_lazy_max", "variants/no_wary_tiles");
  EXPECT_STATUS(result, 1);
  EXPECT(result, " met most key blocks of ordinary inputs",
         " not met where the old max is too small", " is 3996, and should be at most 3860\n");
  EXPECT_STATUS(lab_run("scripts/workshop/goals.sh 17_lazy_max steps"), 0);
}

// A failure is counted where the old max was tried. Else each tile with a rehearsal in vain would make others wary.
Test(goals, see_that_wary_tiles_count_no_failures, .timeout = 120) {
  const script_result result = goals_behind(
      "17_lazy_max", "sed -i 's/if (may_be_lazy.value) failures++/failures++/' attention.cu");
  EXPECT_STATUS(result, 1);
  EXPECT(result, " met where the old max is too small",
         " not met a tile that is wary because of its ", " is 4260, and should be at least 4700\n");
}

// One warp alone fails twice in a tile that forgives two failures. What makes its thread block wary is the blocks behind.
Test(goals, see_that_blocks_of_a_wary_warp_count, .timeout = 120) {
  const script_result result = goals_behind(
      "17_lazy_max",
      "sed -i 's/if (may_be_lazy.value) failures++/if (attempt) failures++/' attention.cu");
  EXPECT_STATUS(result, 1);
  EXPECT(result, " met where the old max is too small", " met a tile that is wary because of its ",
         " not met each key block that a wary warp ", " is 531, and should be at most 525\n");
}

// Consumer 0 arrives at the barrier at which it waits itself, which counts it twice: it begins, and the results are right.
Test(goals, see_a_consumer_that_lets_itself_in, .timeout = 120) {
  const script_result result = goals_behind(
      "14_pingpong", "sed -i 's/if (consumer == tile::CONSUMERS - 1) pass_turn();/"
                     "if (consumer == 0) named_barrier_arrive(1, 256);/' attention.cu");
  EXPECT_STATUS(result, 1);
  EXPECT(result, " met in each round the softmax begins ",
         " not met no warp comes to a barrier again ");
}

Test(goals, see_a_softmax_without_a_product, .timeout = 120) {
  const script_result result = goals_of("13_softmax_overlap", "slow/1_waits_for_both");
  EXPECT_STATUS(result, 1);
  EXPECT(result, " not met in each round the softmax begins while the product of O is under way",
         " is 0, and should be at least 864\n");
}

Test(goals, see_that_nothing_is_in_flight_at_the_end_of_a_tile, .timeout = 120) {
  const script_result result = goals_of("15_persistent", "variants/stored_first");
  EXPECT_STATUS(result, 1);
  EXPECT(result, " not met O is stored while the first scores of the next tile are under way",
         " is 0, and should be at least 12000\n");
}
