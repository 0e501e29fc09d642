// The settings of a verb reach the script or the program behind it: what make would run.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(passed, .init = lab_enter, .fini = lab_leave, .timeout = 60);

#define ON_GPU " DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a"

Test(passed, settings_of_verbs) {
  static const struct {
    const char *goals, *words[4];
  } cases[] = {
      {"plots CHART=scaling STEPS=07,17 BASE=sdpa_cudnn WITH='results/my run' AXIS=linear "
       "TERM=dumb NAME=x",
       {"scripts/plot.sh --dumb ", " --steps \"07,17\" --base \"sdpa_cudnn\" ",
        " --with \"$WITH\" --axis \"linear\" ", " \"scaling\" \"*\" x\n"}},
      {"plots RESULTS=1", {"scripts/plot.sh --data results ", " \"all\" "}},
      {"publish DEVICE_FOLDER=gpu NAME=ladder", {"scripts/publish.sh \"gpu\" ladder\n"}},
      {"step04 fuzz SECONDS=5 COUNT=3 SEED=2", {" $step --seconds 5 --count 3 --seed 2 "}},
      {"step04 fuzz", {" $step --seconds 60 || exit"}},
      {"step04 mutants SECONDS=9 COUNT=3 SEED=2 OPERATORS='wait early' FILES='a b'",
       {"OPERATORS='wait early' ", "FILES='a b' ",
        "scripts/mutants.sh --seconds 9 --count 3 --seed 2 04_online_softmax\n"}},
      {"step04 bugs RECORD=1 TENTH=3", {"TENTH=3 RECORD=1 scripts/bugs.sh 04_online_softmax\n"}},
      {"step04 variants RECORD=1 NAME=mine",
       {"RECORD=1 NAME=mine VARIANT= ", "scripts/variants.sh 04_online_softmax\n"}},
      {"step15 substeps NAME=mine", {"NAME=mine scripts/substeps.sh 15_persistent\n"}},
      {"step06 sanitize-now SEEDS=7 MODE=sanitize",
       {"SEEDS=7 ", "scripts/sanitize.sh build/cpu-sanitize 06_cp_async\n"}},
      {"bench QUICK=1 FRESH=1" ON_GPU, {" -- --quick --fresh\n"}},
      {"peers FA3=x.so QUICK=1" ON_GPU,
       {" --without sdpa_math sdpa_efficient", " --fa3 \"$FA3\" --quick"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    // TERM is in every environment, so only that of the command line counts. A Python that has whatever is asked of it.
    const script_result result =
        lab_run("printf '#!/bin/bash\\n' >$LAB_WORK/python3; chmod +x $LAB_WORK/python3; "
                "TERM=dumb PATH=$LAB_WORK:$PATH " MAKE "-n %s",
                cases[i].goals);
    EXPECT_STATUS(result, 0);
    const char *const *words = cases[i].words;
    EXPECT(result, words[0], words[1] ? words[1] : "", words[2] ? words[2] : "",
           words[3] ? words[3] : "");
    if (!strstr(cases[i].goals, "TERM="))
      cr_expect_null(strstr(result.out, "--dumb"), "%s", result.out);
  }
}

// One recording and two of its steps, by their numbers; a path may hold blanks.
Test(passed, make_compare) {
  EXPECT_STATUS(
      lab_run("cp plots/data/nvidia-h200/peers.csv \"$LAB_WORK/a b.csv\" && "
              "cp plots/data/nvidia-h200/peers-samples.csv \"$LAB_WORK/a b-samples.csv\""),
      0);
#define COMPARE MAKE "compare OLD=\"$LAB_WORK/a b.csv\" "
  script_result result = lab_run(COMPARE "A=11 B=16");
  EXPECT_STATUS(result, 0); // step 16 is nowhere slower than step 11
  EXPECT(result, "old: ", "/a b.csv, 11_wgmma", "new: ", "/a b.csv, 16_row_sums", "\n0 slower, ");
  result = lab_run(COMPARE "A=16 B=11");
  EXPECT_STATUS(result, 2); // 1 of the program, as make says it
  EXPECT(result, " slower\n", " 0 faster, ");
  result = lab_run(COMPARE "A=16 B=11 THRESHOLD=900");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "\n0 slower, 0 faster, ");
  result = lab_run(COMPARE "NEW=/none.csv");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: cannot open /none.csv: ");
}
