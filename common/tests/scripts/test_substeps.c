// scripts/substeps.sh refuses substeps that do not lead from a step's parent to the step, and diff.sh shows each of them.
// The substeps of step 03 that are made here first put a line into the source of step 02, and then do the rest.
#define _GNU_SOURCE
#include "lab.h"
#include "tests/needs.h"

#define HEAD    "Title: a substep\\nExpect: nothing\\n"
#define BEFORE  "steps/02_tiled/attention.cu"
#define STEP    "steps/03_3dgrid/attention.cu"
#define FOLDER  "%s/03_3dgrid/substeps/"
#define BETWEEN "%s/between.cu"

// Writes a patch with this head that leads from one source to another.
static void put(const char *name, const char *head, const char *from, const char *to) {
  const script_result result = lab_run("printf '%s' >" FOLDER "%s.patch; diff -u --label a/" STEP
                                       " --label b/" STEP " %s %s >>" FOLDER "%s.patch",
                                       head, lab_work, name, from, to, lab_work, name);
  EXPECT_STATUS(result, 1); // they differ
}

static char between[128];

static void enter(void) {
  needs_tool("patch");
  lab_enter();
  snprintf(between, sizeof between, BETWEEN, lab_work);
  EXPECT_STATUS(
      lab_run("mkdir -p " FOLDER " && sed '20i // between' " BEFORE " >%s", lab_work, between), 0);
  put("1_line", HEAD, BEFORE, between);
  put("2_rest", HEAD, between, STEP);
}

TestSuite(substeps, .init = enter, .fini = lab_leave, .timeout = 120);

#define VERIFY "SUBSTEPS=%s scripts/substeps.sh --verify 03_3dgrid"

Test(substeps, that_lead_to_the_step) {
  const script_result result = lab_run(VERIFY, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "substeps: those of 1 steps lead from the source before to the step's own\n");
}

Test(substeps, that_end_elsewhere) {
  EXPECT_STATUS(lab_run("rm " FOLDER "2_rest.patch", lab_work), 0);
  const script_result result = lab_run(VERIFY, lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "FAIL 03_3dgrid: its substeps lead to another source than " STEP);
}

Test(substeps, that_do_not_apply) {
  put("2_rest", HEAD, STEP, between);
  const script_result result = lab_run(VERIFY, lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "2_rest.patch no longer applies to the source before it: ");
}

Test(substeps, that_are_missing) {
  EXPECT_STATUS(lab_run("cd " FOLDER " && mv 2_rest.patch 3_rest.patch", lab_work), 0);
  const script_result result = lab_run(VERIFY, lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "FAIL 03_3dgrid: substep 2 is missing, and ", "3_rest.patch comes after it");
}

Test(substeps, that_say_nothing) {
  put("2_rest", "Title: a substep\\n", between, STEP);
  const script_result result = lab_run(VERIFY, lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "2_rest.patch: its head lacks a Title or an Expect");
}

// A source in between with another result is found, whatever the last one computes.
Test(substeps, with_a_wrong_result, .timeout = 240) {
  EXPECT_STATUS(lab_run("sed -i 's/shape.scale \\*/2 * shape.scale */' %s && ! cmp -s " BEFORE
                        " %s",
                        between, between),
                0);
  put("1_line", HEAD, BEFORE, between);
  put("2_rest", HEAD, between, STEP);
  const script_result result = lab_run(
      "DEVICE=cpu JOBS=2 SHORT=1 SUBSTEPS=%s scripts/substeps.sh 03_3dgrid; status=$?; "
      "rm -rf build/variants/*/03_3dgrid-1_line build/cpu*/elsewhere/*.03__3dgrid-1__line_* "
      "build/substeps/between/03_3dgrid; exit $status",
      lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "1_line.patch: sanitize finds a fault: ", "O is wrong",
         "substeps: 1 of 1 substeps are not right\n");
}

// The lab's own: the diff of one, whose head stands above it, and the lines of all.
Test(substeps, of_the_lab) {
  script_result result = lab_run("scripts/substeps.sh --verify $(ls steps)");
  EXPECT_STATUS(result, 0);
  result = lab_run(MAKE "step15 diff SUBSTEP=1");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "Title: ", "Expect: ", "The top comment is not shown",
         "a/steps/14_pingpong/attention.cu", "b/1_");
  cr_expect_null(strstr(result.out, "// 15_persistent: "), "%s", result.out);
  result = lab_run(MAKE "step15 diff SUBSTEP=2");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "Title: ", "a/1_", "b/2_");
  result = lab_run(MAKE "step15 diff STAT=1");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "15_persistent 14_pingpong ", " 1_", " 2_");
}

Test(substeps, that_are_not_there) {
  static const struct {
    const char *command, *sentence;
  } wrong[] = {
      {MAKE "step15 diff SUBSTEP=0", "error: 15_persistent has no substep '0': its substeps have"},
      {MAKE "step15 run SUBSTEP=99", "error: 15_persistent has no substep '99': its substeps have"},
      {MAKE "step03 diff SUBSTEP=1", "error: 03_3dgrid is not divided into substeps: make step03"},
      {MAKE "diff SUBSTEP=1", "SUBSTEP is one of a step: name the step as well"},
      {MAKE "step15 diff SUBSTEP=1 STAT=1", "error: STAT=1 counts the lines of all substeps"},
      {MAKE "step15 diff SUBSTEP=1 VARIANT=static_order", "are two different sources"},
      {MAKE "step03 substeps", "error: none of the steps given (03_3dgrid) is divided"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const script_result result = lab_run("%s", wrong[i].command);
    EXPECT_STATUS(result, 2);
    EXPECT(result, wrong[i].sentence);
  }
}

// The other verbs take the source behind a substep, and know it from the step itself.
Test(substeps, are_built_like_a_step) {
  const script_result result =
      lab_run(MAKE "-n step15 run SUBSTEP=2 MODE= | grep -e STEPS_FOLDER -e step15");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "STEPS_FOLDER=", "build/substeps/15_persistent-2/steps'",
         "build/cpu/elsewhere/build_.substeps_.15__persistent-2_.steps/step15");
}
