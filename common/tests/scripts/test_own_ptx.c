// The PTX of common/kernel, without a GPU. The lab's own build for the emulator has functions in its place. Here steps are
// compiled as other people's programs are: the emulator reads each asm statement, and the results must be right.
#define _GNU_SOURCE
#include "lab.h"
#include "tests/needs.h"

#define COMPILE                                                                                    \
  "scripts/nvcc-cpu -std=c++17 -arch=sm_90a -I%s/kernel -Icommon -Icommon/kernel "                 \
  "steps/%s/attention.cu "

static char build[4096];

static void enter(void) {
  const char *named = getenv("LAB_BUILD");
  if (!named) cr_skip_test("LAB_BUILD names no folder of a build, such as build/cpu");
  cr_assert(realpath(named, build), "LAB_BUILD is %s, and there is no such folder", named);
  lab_enter();
}
TestSuite(own_ptx, .init = enter, .fini = lab_leave, .timeout = 240);

static int times(const char *text, const char *word) {
  int count = 0;
  for (; (text = strstr(text, word)) != NULL; text += strlen(word)) count++;
  return count;
}

// Together these steps call every function of ptx.cuh, hopper.cuh, wgmma.cuh and words.cuh that contains PTX.
Test(own_ptx, of_a_step_for_one_gpu) {
  static const char *const steps[] = {"10_tma",      "11_wgmma",      "14_pingpong",
                                      "17_lazy_max", "20_one_kernel", "25_marked_words"};
  const int count = sizeof steps / sizeof *steps;
  for (int i = 0; i < count; i++)
    EXPECT_STATUS(lab_run(COMPILE "-O1 -shared -Xcompiler -fPIC -o %s/%s.so", lab_work, steps[i],
                          lab_work, steps[i]),
                  0);
  static const char *const problems[] = {
      "--dtype fp16 --dim 64 --seq-q 130 --seq-kv 300 --causal",
      "--dtype bf16 --dim 128 --seq-q 200 --seq-kv 200",
      "--dtype bf16 --dim 64 --seq-q 3 --seq-kv 700",
  };
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    const script_result result = lab_run("%s/ladder %s ptx %s/*.so -- --heads 4 --kv-heads 2 %s",
                                         build, lab_work, lab_work, problems[i]);
    EXPECT_STATUS(result, 0);
    cr_expect_eq(times(result.out, " ok "), count, "%s: %s", problems[i], result.out);
  }
}

// The function of flags.cuh, which a variant calls.
// nvcc-cpu links with g++ and its OpenMP, and what clang compiles needs another one.
Test(own_ptx, of_a_variant_for_several_gpus) {
  needs_gcc();
  EXPECT_STATUS(lab_run("patch -s -o %s/variant.cu steps/23_hidden_copies/attention.cu "
                        "steps/23_hidden_copies/variants/one_launch.patch && "
                        "scripts/nvcc-cpu -O1 -std=c++17 -arch=sm_90a -Icommon -Icommon/kernel "
                        "%s/variant.cu -Xcompiler -fopenmp %s/common/tools/group/main.o "
                        "%s/common/step/linked.o %s/common/group/*.o %s/libcommon.a -o %s/step",
                        lab_work, lab_work, build, build, build, build, lab_work),
                0);
  const script_result result = lab_run("EMU_GPUS=2 %s/step --heads 2 --seq 200 --dim 64", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "check ok: ");
}

// Under sanitize the fences count as well. `spoil` is what sed does to a copy of hopper.cuh that the step includes.
static script_result sanitized(const char *step, const char *spoil) {
  EXPECT_STATUS(
      lab_run("mkdir -p %s/kernel && sed '%s' common/kernel/hopper.cuh >%s/kernel/hopper.cuh",
              lab_work, spoil, lab_work),
      0);
  EXPECT_STATUS(lab_run(COMPILE
                        "--mode=sanitize -O0 -DLAB_ONE_TYPE -Xcompiler -fopenmp "
                        "%s/common/tools/driver/main.o %s/common/step/linked.o %s/libcommon.a "
                        "-o %s/step",
                        lab_work, step, build, build, build, lab_work),
                0);
  return lab_run("%s/step --heads 2 --seq-q 100 --seq-kv 150 --dim 64 --causal --no-time",
                 lab_work);
}

Test(own_ptx, is_sanitized) {
  needs_gcc();
  static const struct {
    const char *step, *spoil, *report;
  } cases[] = {
      {"10_tma", "", NULL},
      {"10_tma", "/^.*reads_before_copies/,/^}/s/asm/if (0) asm/",
       "that a thread has read without a fence.proxy.async"},
      {"11_wgmma", "", NULL},
      {"11_wgmma", "/^.*wgmma_fence/,/^}/s/asm/if (0) asm/",
       "Product without a wgmma.fence before it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = sanitized(cases[i].step, cases[i].spoil);
    EXPECT_STATUS(result, cases[i].report ? 1 : 0);
    EXPECT(result, cases[i].report ? cases[i].report : "check ok: ");
  }
}
