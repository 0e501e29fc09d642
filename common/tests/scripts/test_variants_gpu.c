// scripts/variants.sh on a GPU: what is timed, and what comes into the record. Scripts stand in for make, for nvidia-smi and
// for the programs that time.
#define _GNU_SOURCE
#include "tests/needs.h"
#include "toolkit.h"

#define SEVERAL "// GPUs: several\n"
#define PATCH                                                                                      \
  "Title: a variant\nExpect: nothing\n--- a/steps/99_recorded/attention.cu\n"                      \
  "+++ b/steps/99_recorded/attention.cu\n@@ -1,2 +1,2 @@\n // GPUs: several\n-int one;\n+int "     \
  "two;\n"

// Writes the record of as many GPUs as $COUNT says.
#define GROUPS                                                                                     \
  "#!/bin/bash\nmkdir -p \"$1/test-gpu\"\n{ echo '# before: x'; echo step,variant,gpus,ms; "       \
  "echo 17_one,,1,$COUNT; echo 99_recorded,,$COUNT,5; "                                            \
  "echo 99_recorded,other,$COUNT,6; } >\"$1/test-gpu/$2.csv\"\n"                                   \
  "[ -z \"$SAMPLES\" ] || printf 'step,ms\n%s,5\n' 99_recorded "                                   \
  ">\"$1/test-gpu/$2-samples.csv\"\n" FINISHES "[ -z \"$BROKEN\" ] || exit 1\n"

static void enter(void) {
  needs_tool("patch");
  toolkit_enter();
  cr_assert_eq(toolkit_run("mkdir -p build/gpu steps/17_one steps/99_recorded/variants").status, 0);
  toolkit_write("steps/99_recorded/attention.cu", SEVERAL "int one;\n");
  toolkit_write("steps/17_one/attention.cu", "int one;\n");
  toolkit_write("steps/99_recorded/variants/other.patch", PATCH);
  toolkit_write_program("bin/make", "#!/bin/bash\n");
  toolkit_write_program("bin/nvidia-smi", "#!/bin/bash\nprintf 'GPU %d: a GPU\\n' 0 1 2 3\n");
  toolkit_write_program("build/gpu/ladder", "#!/bin/bash\necho test-gpu\n");
  toolkit_write_program("build/gpu/groups", GROUPS);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TestSuite(variants_gpu, .init = enter, .fini = toolkit_leave);

#define VARIANTS "PATH=$PWD/bin:$PATH DEVICE=gpu RECORD=1 scripts/variants.sh 99_recorded 2>&1"

// nvidia-smi tells of GPUs that this program may not use.
Test(variants_gpu, of_steps_for_several_are_left_out_on_one) {
  const script_result result = toolkit_run("CUDA_VISIBLE_DEVICES=3 COUNT=1 " VARIANTS);
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "SKIP 99_recorded: its variants are timed on several GPUs, and there is one here "
                 "(CUDA_VISIBLE_DEVICES=3)\n");
}

// A run on two GPUs and one on four are two rows of the tables.
Test(variants_gpu, the_record_keeps_other_numbers_of_gpus) {
  const script_result result =
      toolkit_run("{ COUNT=2 " VARIANTS "; COUNT=4 " VARIANTS "; COUNT=2 " VARIANTS
                  "; } >log; cat results/test-gpu/variants-groups.csv; cat log");
  cr_expect(strstr(result.out, "step,variant,gpus,ms\n17_one,,1,2\n99_recorded,,4,5\n"
                               "99_recorded,other,4,6\n99_recorded,,2,5\n99_recorded,other,2,6\n"),
            "%s", result.out);
}

// Where nothing was timed the samples of an earlier run are of other rows.
Test(variants_gpu, the_record_keeps_no_samples_of_an_earlier_run) {
  const script_result result = toolkit_run(
      "{ SAMPLES=1 COUNT=2 " VARIANTS "; cd results/test-gpu; cp variants-groups-samples.csv ..; "
      "echo 21_gather,7 >>variants-groups-samples.csv; cd ../..; COUNT=2 " VARIANTS
      "; } >log; cat results/variants-groups-samples.csv results/test-gpu/*-samples.csv; cat log");
  cr_expect(strstr(result.out, "step,ms\n99_recorded,5\nstep,ms\n21_gather,7\n"), "%s", result.out);
}

// A variant whose result is wrong, as the program that times it finds, fails the verb, and nothing is recorded.
Test(variants_gpu, what_cannot_be_timed_is_a_failure) {
  const script_result result = toolkit_run("BROKEN=1 COUNT=2 " VARIANTS);
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  const script_result recorded = toolkit_run("ls results/test-gpu 2>&1");
  cr_expect_null(strstr(recorded.out, "variants"), "%s", recorded.out);
}

// A step for one GPU is timed by the ladder on all problems of the tables, beside its own variants alone.
Test(variants_gpu, of_a_step_for_one_gpu) {
  cr_assert_eq(toolkit_run("mkdir -p steps/98_single/variants && sed s/99_recorded/98_single/ "
                           "steps/99_recorded/variants/other.patch >steps/98_single/variants/"
                           "mine.patch && sed 's|^// GPUs.*|// one|' "
                           "steps/99_recorded/attention.cu >steps/98_single/attention.cu && "
                           "sed -i 's|^ // GPUs.*| // one|' steps/98_single/variants/mine.patch")
                   .status,
               0);
  toolkit_write_program("build/gpu/ladder",
                        "#!/bin/bash\n[ \"$1\" != --slug ] || { echo test-gpu; exit; }\n"
                        "shift; echo \"$*\" >>asked\n" FINISHES);
  const script_result result =
      toolkit_run("PATH=$PWD/bin:$PATH CUDA_VISIBLE_DEVICES=3 DEVICE=gpu RECORD=1 "
                  "scripts/variants.sh 98_single "
                  "99_recorded >log 2>&1 || cat log; sed 's|[^ ]*/step98.so:|step98.so:|' asked");
#define TIMED_OF "build/gpu/step98.so step98.so:variant=mine --"
  cr_expect_str_eq(result.out,
                   "variants " TIMED_OF "\nvariants-dim128 " TIMED_OF
                   " --heads 16 --dim 128\nvariants-causal " TIMED_OF " --causal\n",
                   "%s", result.out);
}
