// scripts/mutant.sh, mutants_record.sh and mutants.sh: who is said to have caught a mutant, whatever the tools answer, and
// a small sample of mutants of step 01, all of which must be caught.
#define _GNU_SOURCE
#include "lab.h"

static char folder[] = "/tmp/lab-mutants-XXXXXX";

static void enter(void) { cr_assert(mkdtemp(folder), "no temporary folder"); }
static void leave(void) { lab_run("rm -rf %s", folder); }

TestSuite(mutants, .init = enter, .fini = leave);

// Stand-ins for what builds and runs a mutant. BUILT holds the builds that work once the reference of the level is built,
// SAME the levels at which the object is that of the unchanged step, UNCHANGED the level and the tests that the unchanged
// step fails. QUICK, WHOLE and SANITIZE are exit statuses of the tools. Each tool leaves its name in the file `ran`. In
// the step 02_b the tools find nothing.
#define STAND_INS                                                                                  \
  ". scripts/planted_bug.sh; . scripts/mutant.sh\n"                                                \
  "mutant_folder=$FOLDER/tried\n"                                                                  \
  "mutant_write() { mkdir -p $3/steps/$4; printf '  X(%d)\\n' $CONFIGURATIONS >$3/steps/$4/k; }\n" \
  "rm -f $FOLDER/ready-*\n"                                                                        \
  "mutant_build() { [[ \" $BUILT \" == *\" $3$4 \"* && -e $FOLDER/ready-$3 ]] && echo $2; }\n"     \
  "mutant_is_seen() { [ \"$SAME\" != text ]; }\n"                                                  \
  "mutant_reference() { : >$FOLDER/ready-$2; }\n"                                                  \
  "mutant_reference_passes() { [ \"$UNCHANGED\" != \"$2 $3\" ]; }\n"                               \
  "mutant_is_same() { [[ \" $SAME \" == *\" $3$FIRST_CONFIGURATION \"* ]]; }\n"                    \
  "bug_sanitize() { echo \"sanitize $2\" >>$FOLDER/ran\n"                                          \
  "  echo '========= Invalid read' >\"$4\"; [ $2 = 02_b ] || return $SANITIZE; }\n"                \
  "bug_check() { echo 'error: a test failed' >\"$2\"; [ $1 != 02_b ] || return 0\n"                \
  "  if [[ $3 == *inputs* ]]; then echo \"quick $1\" >>$FOLDER/ran; return $QUICK; fi\n"           \
  "  echo \"tests $1\" >>$FOLDER/ran; return $WHOLE; }\n"                                          \
  "hunt() { mutant_hunt common/kernel/k.cuh 1 $FOLDER \"$@\"; cat $FOLDER/*.verdict; }\n"

Test(mutants, verdicts) {
  static const struct {
    const char *tools, *said;
  } cases[] = {
      {"BUILT=none", "compile\t01_a\t\n"},
      {"SAME=text QUICK=1", "same\t01_a\t\n"},
      {"SAME=O0", "same\t01_a\t\n"},
      {"QUICK=1", "check\t01_a\terror: a test failed\n"},
      {"QUICK=124", "hang\t01_a\tstill running after 300 s\n"},
      {"QUICK=1 UNCHANGED=\"O0 $mutant_quick\"",
       "unknown\t01_a\tthe unchanged step fails as well: error: a test failed\n"},
      {"WHOLE=1 UNCHANGED=\"O0 $mutant_quick\"", "check\t01_a\terror: a test failed\n"},
      {"QUICK=99", "unknown\t01_a\terror: a test failed\n"},
      {"SANITIZE=1", "sanitize\t01_a\tInvalid read\n"},
      {"BUILT=O0", "compile\t01_a\t\n"},
      {"SAME=O2", "same\t01_a\t\n"},
      {"WHOLE=1", "check\t01_a\terror: a test failed\n"},
      {"QUICK=0", "survives\t01_a\t\n"},
      // The mutant refuses all shapes of the sanitizer, which does not say whether it may.
      {"SANITIZE=99 WHOLE=1", "check\t01_a\terror: a test failed\n"},
      {"SANITIZE=99", "survives\t01_a\t\n"},
      // A step with three configurations is first tested in one. Where that one is unchanged, the others may differ.
      {"CONFIGURATIONS=\"1 2 3\" SAME=O0 QUICK=1", "check\t01_a\terror: a test failed\n"},
      {"CONFIGURATIONS=\"1 2 3\" SAME=\"O0 O01\" QUICK=1", "same\t01_a\t\n"},
      {"CONFIGURATIONS=\"1 2 3\" SAME=O01 QUICK=1", "check\t01_a\terror: a test failed\n"},
      {"CONFIGURATIONS=\"1 2 3\" SAME=\"O01 O2\"", "same\t01_a\t\n"},
  };
  char path[64];
  snprintf(path, sizeof path, "%s/stand_ins", folder);
  toolkit_write(path, STAND_INS);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result =
        lab_run("FOLDER=%s bash -c 'BUILT=\"O0 O0sanitize O2\" SAME= QUICK=0 WHOLE=0 SANITIZE=0 "
                "CONFIGURATIONS=1; . %s; %s; hunt 01_a'",
                folder, path, cases[i].tools);
    cr_expect_str_eq(result.out, cases[i].said, "%s: %s", cases[i].tools, result.out);
  }
}

// A mutant of a header meets the fast tools of all steps before the slow ones of the first step.
Test(mutants, of_a_header_stage_by_stage) {
  char path[64];
  snprintf(path, sizeof path, "%s/stand_ins", folder);
  toolkit_write(path, STAND_INS);
  const script_result result =
      lab_run("FOLDER=%s bash -c 'BUILT=\"O0 O0sanitize O2\" SAME= QUICK=0 WHOLE=1 SANITIZE=0 "
              "CONFIGURATIONS=\"1 2\"; . %s; hunt 02_b 01_a 03_c; cat $FOLDER/ran'",
              folder, path);
  cr_expect_str_eq(
      result.out,
      "check\t01_a\terror: a test failed\n"
      "sanitize 02_b\nquick 01_a\nsanitize 01_a\nquick 03_c\nsanitize 03_c\n"
      "sanitize 02_b\nquick 01_a\nsanitize 01_a\nquick 03_c\nsanitize 03_c\ntests 01_a\n",
      "%s", result.out);
}

// The step that was given goes through two stages before the others.
Test(mutants, of_a_header_in_the_steps_given_first) {
  char path[64];
  snprintf(path, sizeof path, "%s/stand_ins", folder);
  toolkit_write(path, STAND_INS);
  const script_result result =
      lab_run("FOLDER=%s bash -c 'BUILT=\"O0 O0sanitize O2\" SAME= QUICK=0 WHOLE=1 SANITIZE=0 "
              "CONFIGURATIONS=\"1 2\"; . %s; mutant_given=1; hunt 01_a 03_c; cat $FOLDER/ran'",
              folder, path);
  cr_expect_str_eq(result.out,
                   "check\t01_a\terror: a test failed\n"
                   "quick 01_a\nsanitize 01_a\nquick 01_a\nsanitize 01_a\n"
                   "quick 03_c\nsanitize 03_c\nquick 03_c\nsanitize 03_c\ntests 01_a\n",
                   "%s", result.out);
}

// A mutant of which nothing is known must not look as if it had been caught.
Test(mutants, no_verdict_at_all) {
  const script_result result = lab_run(
      "bash -c '. scripts/planted_bug.sh; . scripts/mutant.sh; mutant_folder=%s; "
      "mutant_write() { false; }; mutant_hunt steps/01_a/attention.cu 1 %s 01_a; "
      "mutant_write() { :; }; mutant_first() { :; }; mutant_few() { :; }; mutant_all() { :; }; "
      "mutant_optimised() { [ $2 = 01_a ] || printf same; }; "
      "mutant_hunt steps/01_a/attention.cu 2 %s 01_a 02_b; cat %s/*.verdict'",
      folder, folder, folder, folder);
  cr_expect_str_eq(result.out,
                   "unknown\t01_a\tthe mutant could not be written\n"
                   "unknown\t02_b\tno tool gave a verdict\n",
                   "%s", result.out);
}

#define ROW(number, verdict, reason)                                                               \
  "\"steps/01_a\",\"" number "\",\"7\",\"bound\",\"`a,\"\"` -> `b`\",\"" verdict                   \
  "\",\"\",\"\",\"" reason "\",\"now\",\"today\"\n"

// A record of several runs: what was not tried keeps its row, and what survived is no survivor once it has a reason.
Test(mutants, the_record_keeps_what_was_tried_before) {
  char path[64];
  snprintf(path, sizeof path, "%s/old.csv", folder);
  toolkit_write(path, "source\n\"other\",\"1\"\n" ROW("1", "check", "") ROW("2", "survives", "")
                          ROW("3", "survives", "") ROW("4", "check", "") ROW("9", "check", ""));
  snprintf(path, sizeof path, "%s/rows", folder);
#define NEW(number, verdict, reason)                                                               \
  "steps/01_a\t" number "\t7\tbound\t`a,\"` -> `b`\t" verdict "\t\t\t" reason "\n"
  toolkit_write(path, NEW("1", "not tried", "") NEW("2", "not tried", "slower")
                          NEW("3", "not tried", "") NEW("4", "sanitize", "")
                              NEW("5", "not tried", "") NEW("6", "not tried", "slower"));
  const script_result result = lab_run(
      "bash -c '. scripts/planted_bug.sh; . scripts/mutants_record.sh; commit=now; date=today; "
      "mutants_merge %s/old.csv %s/rows steps/01_a'",
      folder, folder);
  cr_expect_str_eq(result.out,
                   "source,line,column,operator,change,verdict,step,message,reason,commit,date\n"
                   "\"other\",\"1\"\n" ROW("1", "check", "") ROW("2", "reason", "slower")
                       ROW("3", "survives", "") ROW("4", "sanitize", "") ROW("5", "not tried", "")
                           ROW("6", "not tried", "slower"),
                   "%s", result.out);
}

Test(mutants, those_without_a_verdict) {
  char path[64];
  snprintf(path, sizeof path, "%s/old.csv", folder);
  toolkit_write(path, "source\n" ROW("1", "check", "") ROW("2", "not tried", "") ROW("4", "", "")
                          ROW("5", "unknown", ""));
  const script_result result =
      lab_run("bash -c '. scripts/mutants_record.sh; for n in 1 2 3 4 5; do printf "
              "\"steps/01_a\\t$n\\tsteps/01_a:$n:7\\tbound\\t\\`a,\\\"\\` -> \\`b\\`\\n\"; done | "
              "mutants_untried %s/old.csv | cut -f 2'",
              folder);
  cr_expect_str_eq(result.out, "2\n3\n4\n5\n", "%s", result.out);
}

// In the place of the tools stand a list of mutants, of which the second one has a reason, and their verdicts.
Test(mutants, what_comes_of_verdicts) {
  static const struct {
    const char *verdicts;
    int status;
    const char *said;
  } cases[] = {
      {"check check", 1, "0 survive without a reason; 1 have one and are caught all the same\n"},
      {"check survives", 0, "none survives without a reason\n"},
      {"survives survives", 1,
       "1 survive without a reason; 0 have one and are caught all the same"},
      {"unknown survives", 2, "of 1 nothing is known, because a tool did not run\n"},
      {"hang same", 0, "none survives without a reason\n"},
  };
  char path[64];
  EXPECT_STATUS(lab_run("mkdir -p %s/lab/steps %s/lab/build/cpu && cp -r scripts %s/lab && "
                        "cp -r steps/01_naive %s/lab/steps",
                        folder, folder, folder, folder),
                0);
  snprintf(path, sizeof path, "%s/lab/build/cpu/mutants", folder);
  toolkit_write_program(path,
                        "#!/bin/bash\nif [ $1 = operators ]; then echo bound; exit; fi\n"
                        "[[ $* == *steps/* ]] || exit 0\nfor n in 1 2; do printf "
                        "'%s\\tsteps/01_naive/attention.cu:%s:1\\tbound\\tless\\tkey\\t%s\\n' "
                        "$n $n \"$([ $n = 1 ] || echo slower)\"; done\n");
  EXPECT_STATUS(
      lab_run("cd %s/lab && echo 'bug_build() { echo built; }' >>scripts/planted_bug.sh && "
              "echo 'mutant_headers() { :; }; mutant_precompile() { :; }; mutant_hunt() { "
              "printf \"%%s\\t01_naive\\t\\n\" \"$(cut -d \" \" -f $2 <<<\"$VERDICTS\")\" "
              ">$3/${1//\\//_}-$2.verdict; }' >>scripts/mutant.sh",
              folder),
      0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = lab_run(
        "VERDICTS='%s' DEVICE=cpu %s/lab/scripts/mutants.sh 01_naive", cases[i].verdicts, folder);
    cr_expect_eq(result.status, cases[i].status, "%s: it ended with %d: %s", cases[i].verdicts,
                 result.status, result.out);
    cr_expect(strstr(result.out, cases[i].said), "%s: %s", cases[i].verdicts, result.out);
  }
}

Test(mutants, what_cannot_be_tried) {
  static const struct {
    const char *command, *said;
  } cases[] = {
      {"scripts/mutants.sh --seconds ten 01_naive", "error: --seconds is \"ten\": give a whole"},
      {"scripts/mutants.sh --many 10 01_naive", "error: --many is none of --seconds, --count"},
      {"scripts/mutants.sh", "error: give the steps whose mutants to try"},
      {"RECORD=1 OPERATORS=wait scripts/mutants.sh 01_naive", "error: some of the operators alone"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = lab_run("%s", cases[i].command);
    cr_expect_eq(result.status, 2, "%s: it ended with %d", cases[i].command, result.status);
    EXPECT(result, cases[i].said);
  }
}

// The sample is fixed, because the seed repeats it. Mutants that were not tried are recorded, too.
Test(mutants, a_sample_is_caught) {
  const script_result result = lab_run("DEVICE=cpu JOBS=2 FILES=steps/ RECORD=1 DATA=%s "
                                       "scripts/mutants.sh --count 2 --seed 1 01_naive",
                                       folder);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "source mutants compiler check sanitize hangs same code reason survives\n",
         "steps/01_naive 2 ", "all 2 ", "written: ", "mutants: 2 of 2 mutants tried",
         "none survives without a reason");
  EXPECT_STATUS(lab_run("! ls -d build/*/elsewhere/build_.mutants_.* 2>/dev/null"), 0);
  const script_result recorded =
      lab_run("cut -d '\"' -f 12 %s/*/mutants.csv | grep -c 'not tried'; "
              "build/cpu/mutants list steps/01_naive/attention.cu | grep -vc narrow",
              folder);
  int untried, all;
  cr_assert_eq(sscanf(recorded.out, "%d %d", &untried, &all), 2, "%s", recorded.out);
  cr_expect_eq(untried, all - 2, "%d of %d were not tried", untried, all);
}
