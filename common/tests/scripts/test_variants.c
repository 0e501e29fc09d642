// scripts/variants.sh refuses a bad variant: one with other results, one that races, one with compiler
// warnings, one without a description, and one that no longer applies. It builds step 01 with each patch.
#define _GNU_SOURCE
#include "lab.h"
#include "tests/needs.h"

#define HEAD   "Title: a variant\\nExpect: nothing\\n"
#define SOURCE "steps/01_naive/attention.cu"

// Writes a patch with this head that changes step 01 as the sed program `script` says.
static void put(const char *name, const char *head, const char *script) {
  const script_result result =
      lab_run("{ printf '%%b\\n' '%s'; sed '%s' " SOURCE " | diff -U 1 --label a/" SOURCE
              " --label b/" SOURCE " " SOURCE " -; } >%s/01_naive/variants/test_%s.patch",
              head, script, lab_work, name);
  EXPECT_STATUS(result, 1); // they differ
}

static void enter(void) {
  needs_tool("patch");
  lab_enter();
  EXPECT_STATUS(lab_run("mkdir -p %s/01_naive/variants", lab_work), 0);
}

// Removes the files of the one test that builds a variant; the other tests run at the same time.
static void leave_built(void) {
  lab_run("rm -rf build/variants/*/01_naive-test_* build/cpu*/elsewhere/*.01__naive-test__*");
  lab_leave();
}

TestSuite(variants, .init = enter, .fini = lab_leave, .timeout = 240);

#define VARIANTS "DEVICE=cpu JOBS=2 SHORT=1 PATCHES=%s scripts/variants.sh 01_naive"

Test(variants, each_that_is_not_right, .fini = leave_built) {
  put("right", HEAD, "s/THREADS = 256/THREADS = 128/");
  script_result result = lab_run(VARIANTS, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "variants: all 1 variants are right (");

  put("wrong", HEAD, "s/= shape.scale \\* sum;/= sum;/");
  put("stale", HEAD, "s/THREADS = 256/THREADS = 128/");
  EXPECT_STATUS(
      lab_run("sed -i 's/^-.*/-int gone;/' %s/01_naive/variants/test_stale.patch", lab_work), 0);
  put("unused", HEAD, "s/^static constexpr int THREADS/static int unused() { return 1; }\\n&/");
  put("wild", HEAD, "s/= shape.scale \\* sum;/= shape.scale * sum + 0 * to_float(Q[1 << 20]);/");
  put("silent", "Title: a variant\\n", "s/THREADS = 256/THREADS = 128/");
  put("kind", "Title: a variant\\nExpect: nothing\\nKind: extra\\n",
      "s/THREADS = 256/THREADS = 128/");
  result = lab_run(VARIANTS, lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "test_kind.patch: its head says Kind: extra, and the only kind that a head",
         "test_silent.patch: its head lacks a Title or an Expect\n",
         "test_stale.patch: the patch no longer applies to steps/01_naive/attention.cu",
         "test_unused.patch: it does not compile for sanitize: ", "unused",
         "test_wild.patch: sanitize finds a fault: ", "test_wrong.patch: sanitize finds a fault: ",
         "O is wrong", "variants: 6 of 7 variants are not right\n");

  // The last of the seven, "wrong", is alone in its tenth.
  result = lab_run("TENTH=6 " VARIANTS, lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "test_wrong.patch: ", "variants: 1 of 1 variants are not right\n");
  EXPECT_STATUS(lab_run("rm %s/01_naive/variants/test_[!r]*.patch", lab_work), 0);
  // STEPS names all steps whose variants are tried, and the copy that is built has one of them.
  result = lab_run("STEPS='01_naive 02_tiled' TENTH=0 " VARIANTS, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "variants: all 1 variants of this tenth are right (");
  result = lab_run("TENTH=4 " VARIANTS, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "variants: there are none in this tenth (TENTH=4)\n");
  result = lab_run("TENTH=10 " VARIANTS, lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: TENTH is '10': give it 0 to 9");
}

// Only what passes, or was not tried, is right.
Test(variants, verdicts) {
  static const struct {
    const char *verdict, *said;
  } cases[] = {{"passes\\t", ""},
               {"-\\t", ""},
               {"caught\\tO is wrong", "sanitize finds a fault: O is wrong\n"},
               {"hangs\\tTimed out", "it hangs under sanitize: Timed out\n"},
               {"unknown\\tno such file", "sanitize did not run: no such file\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result =
        lab_run("bash -c '. scripts/planted_bug.sh; . scripts/variant.sh; variant_judge sanitize "
                "\"$(printf -- \"%s\")\"'",
                cases[i].verdict);
    cr_expect_str_eq(result.out, cases[i].said, "%s: %s", cases[i].verdict, result.out);
  }
}

Test(variants, none_to_try) {
  script_result result = lab_run(VARIANTS, "/none");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: none of the steps given (01_naive) has variants");
  result = lab_run(MAKE "check VARIANT=no_pad");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "VARIANT is one of a step: name the step as well");
  result = lab_run(MAKE "step04 run VARIANT=nothing");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: 04_online_softmax has no variant 'nothing': it has ");
}

// The other verbs take the changed copy of the step, and know it from the step itself.
Test(variants, are_built_like_a_step) {
  const script_result result =
      lab_run(MAKE "-n step04 run VARIANT=no_pad MODE= | grep -e STEPS_FOLDER -e step04");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "STEPS_FOLDER=", "build/variants/04_online_softmax-no_pad/steps'",
         "build/cpu/elsewhere/build_.variants_.04__online__softmax-no__pad_.steps/step04");
}

// Times are what RECORD records, and the emulator has none.
Test(variants, are_recorded_on_a_gpu_alone) {
  const script_result result = lab_run(MAKE "step04 variants RECORD=1");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: RECORD=1 records times, which mean nothing on the emulator");
}

// The rows of a step are replaced, so those of its other variants would be lost.
Test(variants, are_recorded_together) {
  const script_result result =
      lab_run("DEVICE=gpu RECORD=1 VARIANT=no_pad scripts/variants.sh 04_online_softmax");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: RECORD=1 records all variants of a step in the place of those before: "
                 "leave VARIANT=no_pad out, or give NAME for a file of its own");
}

// On a GPU the short form would try nothing, and say that all variants are right.
Test(variants, are_tried_in_short_on_the_emulator_alone) {
  const script_result result = lab_run("DEVICE=gpu SHORT=1 scripts/variants.sh 04_online_softmax");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: SHORT=1 tries variants on the emulator, and nothing of them on a GPU");
}

// The ladder compares each variant with the step itself, and tells them apart in its table and in the record.
Test(variants, of_the_ladder) {
  script_result result = lab_run(MAKE "-f make/build.mk --silent build/cpu/ladder "
                                      "build/cpu/step01.so");
  EXPECT_STATUS(result, 0);
  result = lab_run("env -u BXFI_MAP build/cpu/ladder %s/data variants build/cpu/step01.so "
                   "build/cpu/step01.so:variant=no_pad -- --seq 9 --heads 1 && cut -d , -f 1-3 "
                   "%s/data/*/variants.csv",
                   lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "step variant check", "01_naive the step itself ok", "01_naive no_pad ok",
         "step,variant,configuration\n01_naive,,\n01_naive,no_pad,\n");
}

// A step that is made for other problems than the steps before is timed on those.
Test(variants, problems_of_a_step) {
  script_result result =
      lab_run("bash -c '. scripts/problems.sh && for step in 04_online_softmax 24_last_wave; do "
              "problems_of $step substeps && printf \"%%s\\n\" \"${problems[@]/%%/:}\" "
              "\"${options[@]}\"; done'");
  EXPECT_STATUS(result, 0);
  cr_expect_str_eq(
      result.out,
      "substeps:\nsubsteps-dim128:\nsubsteps-causal:\n\n--heads 16 --dim 128\n--causal\n"
      "substeps:\nsubsteps-dim128:\nsubsteps-few-keys:\n"
      "--batch 1 --heads 4 --seq-q 1024 --seq-kv 8192\n"
      "--batch 1 --heads 10 --seq 2048 --dim 128 --dtype bf16\n"
      "--batch 1 --heads 16 --seq 1536\n",
      "%s", result.out);
  // The tables look for each record that a problems.txt names.
  result = lab_run("bash -c '. scripts/problems.sh && for file in steps/*/problems.txt; do "
                   "step=${file#steps/} && "
                   "for called in variants substeps; do problems_of ${step%%/*} $called && "
                   "[ ${problems[0]} = $called ] || echo $file has no $called; "
                   "for name in ${problems[*]#$called}; do "
                   "grep -q \"^# With:.* $called$name\\.csv\" scripts/tables/$called.awk || echo "
                   "$file: $called$name; "
                   "done; done; done'");
  EXPECT_STATUS(result, 0);
  cr_expect_str_empty(result.out, "the tables know nothing of: %s", result.out);
}

#define MERGE "scripts/merge_rows.sh %s/old %s/new"

Test(variants, the_record_keeps_other_steps) {
  char path[128];
  snprintf(path, sizeof path, "%s/old", lab_work);
  toolkit_write(path, "step,variant,ms\n05_wmma,no_pad,1\n06_cp_async,gone,2\n07_mma,,3\n");
  snprintf(path, sizeof path, "%s/new", lab_work);
  toolkit_write(path,
                "# before: x\nstep,variant,ms\n06_cp_async,,4\n06_cp_async,a,5\n# after: y\n");
  script_result result = lab_run(MERGE, lab_work, lab_work);
  cr_expect_str_eq(
      result.out, "step,variant,ms\n05_wmma,no_pad,1\n06_cp_async,,4\n06_cp_async,a,5\n07_mma,,3\n",
      "%s", result.out);
  result = lab_run("rm %s/old; " MERGE, lab_work, lab_work, lab_work);
  cr_expect_str_eq(result.out, "step,variant,ms\n06_cp_async,,4\n06_cp_async,a,5\n", "%s",
                   result.out);
}

// A record may be of a lab that recorded more, or less, and its rows are of hours of a GPU.
Test(variants, the_record_keeps_rows_of_other_columns) {
  char path[128];
  snprintf(path, sizeof path, "%s/old", lab_work);
  toolkit_write(path, "step,seconds,variant,note\n05_wmma,1,no_pad,\"a, \"\"b\"\"\"\n"
                      "06_cp_async,2,gone,\n07_mma,3,,\n");
  snprintf(path, sizeof path, "%s/new", lab_work);
  toolkit_write(path, "step,variant,ms\n06_cp_async,,4\n06_cp_async,a,5\n");
  script_result result = lab_run(MERGE, lab_work, lab_work);
  cr_expect_str_eq(result.out,
                   "step,variant,ms,seconds,note\n05_wmma,no_pad,,1,\"a, \"\"b\"\"\"\n"
                   "06_cp_async,,4,,\n06_cp_async,a,5,,\n07_mma,,,3,\n",
                   "%s", result.out);
  result = lab_run("sed -i '/^0[57]/d' %s/old; " MERGE, lab_work, lab_work, lab_work);
  cr_expect_str_eq(result.out, "step,variant,ms\n06_cp_async,,4\n06_cp_async,a,5\n", "%s",
                   result.out);
}
