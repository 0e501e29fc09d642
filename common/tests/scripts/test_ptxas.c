// scripts/ptxas.sh on recorded answers of the compiler, and the occupancy that it tells.
#define _GNU_SOURCE
#include "toolkit.h"

TestSuite(ptxas, .init = toolkit_enter, .fini = toolkit_leave);

Test(ptxas, a_row_for_each_kernel) {
  const script_result result = toolkit_run("scripts/ptxas.sh sm_80 99_recorded 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  // registers, threads, static and dynamic shared memory, stack, spills; blocks, occupancy, room
  EXPECT(result, "step for kernel registers threads static_shared dynamic_shared stack",
         "99_recorded sm_80 attention_kernel<128x64x4x2, half, 64> 128 128 4096 - 0 0 0 4 25.0% "
         "registers 36864\n",
         "99_recorded sm_80 attention_kernel<128x64x4x2, bf16, 64> 255 128 0 - 0 0 0 2 12.5% "
         "registers 82944\n",
         "99_recorded sm_80 softmax_kernel 29 - 1024 - 0 0 0 - - - -\n");
}

Test(ptxas, a_row_for_each_architecture) {
  const script_result result = toolkit_run("scripts/ptxas.sh 'sm_90a sm_80' 99_recorded 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "sm_90a attention_kernel", "sm_90a softmax_kernel", "sm_80 attention_kernel",
         "sm_80 softmax_kernel");
}

Test(ptxas, fails_on_a_spill) {
  toolkit_write("log", LOG_WITH_SPILL);
  const script_result result = toolkit_run("scripts/ptxas.sh sm_80 99_recorded 2>&1");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  EXPECT(
      result,
      "error: attention_kernel<128x64x4x2, bf16, 64> of step 99_recorded spills registers on sm_80",
      "bf16, 64> 255 128 0 - 8 16 20");
  cr_expect_null(strstr(result.out, "half, 64> of step"), "half does not spill: %s", result.out);
}

// A spill in a function that a kernel calls is a spill of the kernel.
Test(ptxas, fails_on_a_spill_of_a_function) {
  toolkit_write("log", LOG "ptxas info    : Function properties for _Z6calledv\n    8 bytes stack "
                           "frame, 12 bytes spill stores, 4 bytes spill loads\n");
  const script_result result = toolkit_run("scripts/ptxas.sh sm_80 99_recorded 2>&1");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "half, 64> of step 99_recorded spills registers on sm_80",
         "half, 64> 128 128 4096 - 0 12 4");
}

// Half of the kernels take half of the time.
Test(ptxas, short_compiles_one_type_for_each_head_dim) {
  toolkit_run("sed -i '2i echo \"$@\" >>said' bin/nvcc");
  const script_result result =
      toolkit_run("scripts/ptxas.sh sm_80 99_recorded >log.1 2>&1; SHORT=1 scripts/ptxas.sh sm_80 "
                  "99_recorded >log.2 2>&1; grep -c attention.cu said; grep -c LAB_ONE_TYPE said");
  cr_expect_str_eq(result.out, "2\n1\n", "%s", result.out);
}

// Without ARCH: those of scripts/few_gpus.sh, of which one is compiled in all configurations, and with the code for the
// host.
Test(ptxas, short_takes_few_gpus) {
  toolkit_run("sed -i '2i echo \"$@\" >>said' bin/nvcc");
  script_result result = toolkit_run("SHORT=1 scripts/ptxas.sh '' 99_recorded 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "sm_75 softmax_kernel", "sm_90a softmax_kernel", "sm_120 softmax_kernel",
         "sm_89 softmax_kernel", "sm_100 softmax_kernel");
  cr_expect_null(strstr(result.out, "sm_80 "), "%s", result.out);
  result = toolkit_run("grep attention.cu said | grep -e ' -c ' | grep -c 'code=sm_90a'; "
                       "grep -c -e ' -cubin ' said; grep -c FIRST_CONFIGURATION said; grep "
                       "FIRST_CONFIGURATION said | grep -c 'code=sm_90a'");
  cr_expect_str_eq(result.out, "1\n4\n4\n0\n", "%s", result.out);
  // With TENTH that holds for every tenth step.
  result =
      toolkit_run("for tenth in 7 8 9; do TENTH=$tenth scripts/few_gpus.sh 99_recorded | wc -l; "
                  "done; TENTH=1 scripts/few_gpus.sh 99_recorded");
  cr_expect_str_eq(result.out, "1\n1\n5\n99_recorded sm_90a bare\n", "%s", result.out);
  result = toolkit_run("rm said; SHORT=1 TENTH=3 scripts/ptxas.sh '' 99_recorded 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "99_recorded sm_90a softmax_kernel");
  result = toolkit_run("grep -c 'ONE_DIM.* -cubin .*attention.cu' said; grep -c attention.cu said");
  cr_expect_str_eq(result.out, "1\n1\n", "with code for the host: %s", result.out);
  result = toolkit_run("TENTH=1 scripts/ptxas.sh '' 99_recorded 2>&1");
  cr_expect_eq(result.status, 2);
  EXPECT(result, "error: TENTH=1 takes a part of what SHORT=1 compiles");
}

// Of a step whose kernels another one has as well, only the first configuration, and on sm_90a for one head_dim.
Test(ptxas, short_takes_one_head_dim_of_step_26) {
  toolkit_run("sed -i '2i echo \"$@\" >>said' bin/nvcc; cp -r steps/99_recorded steps/26_recorded");
  script_result result = toolkit_run("SHORT=1 scripts/ptxas.sh '' 26_recorded 99_recorded 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "26_recorded sm_75 softmax_kernel", "99_recorded sm_75 softmax_kernel");
  result = toolkit_run("grep attention.cu said | grep 'FIRST_CONFIGURATION.*ONE_DIM' | "
                       "grep -o 'code=sm_[0-9a]*\\|steps/.*'");
  cr_expect_str_eq(result.out, "code=sm_90a\nsteps/26_recorded/attention.cu\n", "%s", result.out);
}

// An array in a stack has no spill, and is as slow: a thread's own memory is in DRAM.
Test(ptxas, fails_on_a_stack) {
  toolkit_write("log", LOG_WITH_STACK);
  const script_result result = toolkit_run("scripts/ptxas.sh sm_80 99_recorded 2>&1");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  EXPECT(result,
         "error: attention_kernel<128x64x4x2, half, 64> of step 99_recorded keeps an array of 16 "
         "bytes in a stack",
         "half, 64> 128 128 4096 - 16 0 0");
  cr_expect_null(strstr(result.out, "bf16, 64> of step"), "bf16 has none: %s", result.out);
}

// Without ARCH: all GPUs that the lab is kept working on, and a sentence for those that a step is not made for.
Test(ptxas, takes_all_gpus) {
  const char *const needs[] = {"", "sm_80", "sm_90a"};
  const char *const left_out[] = {
      "", "Step 99 needs sm_80 or newer: it is not compiled for sm_75.\n",
      "Step 99 needs sm_90a: it is not compiled for sm_75 sm_80 sm_86 sm_89 sm_100 sm_120.\n"};
  for (int i = 0; i < 3; i++) {
    char command[256];
    snprintf(command, sizeof command,
             "echo '%s%s' >steps/99_recorded/attention.cu; scripts/ptxas.sh '' 99_recorded 2>&1",
             i ? "// Needs: " : "", needs[i]);
    const script_result result = toolkit_run(command);
    cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
    if (i < 2)
      EXPECT(result, "sm_80 softmax_kernel", "sm_86 softmax_kernel", "sm_89 softmax_kernel",
             "sm_90a softmax_kernel", "sm_100 softmax_kernel", "sm_120 softmax_kernel",
             left_out[i]);
    if (i == 2) EXPECT(result, "sm_90a softmax_kernel", left_out[i]);
    cr_expect_eq(!strstr(result.out, "99_recorded  sm_75"), i > 0, "%s: %s", needs[i], result.out);
    cr_expect_eq(!strstr(result.out, "not compiled"), i == 0, "%s: %s", needs[i], result.out);
  }
}

// A plain architecture is a least one; one with a letter has instructions that no other has.
Test(ptxas, what_a_step_needs) {
  const struct {
    const char *needs;
    const char *made_for; // of sm_75 sm_80 sm_89 sm_90a sm_100 sm_100a sm_120
    int status;
  } cases[] = {{"// Needs: sm_75", "sm_75 sm_80 sm_89 sm_90a sm_100 sm_100a sm_120", 0},
               {"// Needs: sm_80", "sm_80 sm_89 sm_90a sm_100 sm_100a sm_120", 0},
               {"// Needs: sm_89", "sm_89 sm_90a sm_100 sm_100a sm_120", 0},
               {"// Needs: sm_90a", "sm_90a", 0},
               {"// Needs: sm_100", "sm_100 sm_100a sm_120", 0},
               {"// Needs: sm_100a", "sm_100a", 0},
               {"// Needs: sm_130", "", 0},
               {"#include \"kernel.cuh\"\n// Needs: sm_130",
                "sm_75 sm_80 sm_89 sm_90a sm_100 sm_100a sm_120", 0}, // not in the first comment
               {"// Needs: Hopper", "names no architecture: write // Needs: sm_80", 2},
               {"// Needs: sm_80 or more", "names no architecture", 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char source[256];
    snprintf(source, sizeof source, "// 99_recorded: a step.\n%s\n", cases[i].needs);
    toolkit_write("steps/99_recorded/attention.cu", source);
    const script_result result =
        toolkit_run("scripts/made_for.sh 'sm_75 sm_80 sm_89 sm_90a sm_100 sm_100a sm_120' "
                    "99_recorded >made 2>&1; status=$?; sed 's/^99_recorded //' made | "
                    "paste -sd ' '; exit $status");
    cr_expect_eq(result.status, cases[i].status, "%s: %s", cases[i].needs, result.out);
    if (cases[i].status) {
      EXPECT(result, cases[i].made_for);
    } else {
      cr_expect_eq(strncmp(result.out, cases[i].made_for, strlen(cases[i].made_for)), 0, "%s: %s",
                   cases[i].needs, result.out);
      cr_expect_eq(strlen(result.out), strlen(cases[i].made_for) + 1, "%s: %s", cases[i].needs,
                   result.out);
    }
  }
}

Test(ptxas, fails_on_a_warning) {
  const char *const warnings[] = {
      "attention.cu(7): warning #177-D: variable \"x\" was declared\n" LOG,
      "ptxas info : (C7510) Potential Performance Loss: wgmma\n" LOG};
  for (int i = 0; i < 2; i++) {
    toolkit_write("log", warnings[i]);
    const script_result result = toolkit_run("scripts/ptxas.sh sm_80 99_recorded 2>&1");
    cr_expect_eq(result.status, 1, "warning %d: it ended with %d", i, result.status);
    EXPECT(result, "error: steps/99_recorded/attention.cu compiles with warnings for sm_80");
  }
}

Test(ptxas, fails_with_the_words_of_the_compiler) {
  toolkit_write("broken", "");
  toolkit_write("log", "attention.cu(7): error: expected a \";\"\n");
  const script_result result = toolkit_run("scripts/ptxas.sh sm_80 99_recorded 2>&1");
  cr_expect_eq(result.status, 1, "it ended with %d", result.status);
  EXPECT(result, "expected a \";\"",
         "error: steps/99_recorded/attention.cu does not compile for sm_80");
}

Test(ptxas, fails_when_a_kernel_is_missing_from_the_log) {
  toolkit_write("log", REPORT(KERNEL_HALF, "0", "0", "0", "128 registers"));
  const script_result result = toolkit_run("scripts/ptxas.sh sm_80 99_recorded 2>&1");
  cr_expect_eq(result.status, 1, "it ended with %d", result.status);
  EXPECT(result, "error: ptxas said nothing of the kernel " KERNEL_BF16);
}

Test(ptxas, refuses_what_it_cannot_do) {
  const struct {
    const char *command;
    const char *sentence;
  } cases[] = {
      {"NVCC=no-such-nvcc scripts/ptxas.sh sm_80 99_recorded 2>&1", "error: ptxas needs nvcc"},
      {"scripts/ptxas.sh sm_80 98_unknown 2>&1", "error: there is no steps/98_unknown"},
      {"sed -i '1i// Needs: sm_90a' steps/99_recorded/attention.cu; "
       "scripts/ptxas.sh sm_80 99_recorded 2>&1",
       "error: none of the steps given (99_recorded) is made for sm_80"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = toolkit_run(cases[i].command);
    cr_expect_eq(result.status, 2, "%s ended with %d", cases[i].command, result.status);
    EXPECT(result, cases[i].sentence);
  }
}

Test(ptxas, readable_names) {
  const struct {
    const char *demangled;
    const char *readable;
  } cases[] = {
      {"softmax_kernel(float*, float*, attention_shape)", "softmax_kernel\n"},
      {"void output_kernel<__nv_bfloat16>(float const*)", "output_kernel<bf16>\n"},
      {"void attention_kernel<configuration<16, 64, 4, 1>, __half, 32>(__half const*)",
       "attention_kernel<16x64x4x1, half, 32>\n"},
      {"void attention_kernel<__half, configuration<16, 64, 4, 1> >(int (*) [3])",
       "attention_kernel<half, 16x64x4x1>\n"},
      {"void (anonymous namespace)::attention_kernel<(mode)1, 64>(int)",
       "attention_kernel<(mode)1, 64>\n"},
      {"void attention_kernel<emulator::number16<emulator::fp16_format>, 64>(float*)",
       "attention_kernel<half, 64>\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[256];
    snprintf(command, sizeof command, "echo '%s' | awk -f scripts/readable_names.awk",
             cases[i].demangled);
    const script_result result = toolkit_run(command);
    cr_expect_str_eq(result.out, cases[i].readable, "%s: %s", cases[i].demangled, result.out);
  }
}

// Counted by hand from the table of limits; the CUDA Occupancy Calculator agrees.
Test(ptxas, occupancy) {
  const struct {
    const char *architecture;
    const char *kernel; // registers, threads, static and dynamic shared memory
    const char *expected;
  } cases[] = {
      {"sm_80", "32\\t1024\\t0\\t0", "2\t100.0%\tthreads\t82944\n"},
      {"sm_80", "33\\t1024\\t0\\t-", "1\t50.0%\tregisters\t166912\n"}, // 40 are allocated
      {"sm_80", "33\\t128\\t0\\t-", "12\t75.0%\tregisters\t12928\n"},  // 48 warps
      {"sm_80", "152\\t32\\t0\\t-", "12\t18.8%\tregisters\t12928\n"},  // 3 warps a partition
      {"sm_90a", "16\\t32\\t0\\t-", "32\t50.0%\tblocks\t6272\n"},
      {"sm_89", "16\\t32\\t0\\t-", "24\t50.0%\tblocks\t3200\n"},
      {"sm_80", "168\\t96\\t0\\t-", "4\t18.8%\tregisters\t40960\n"},  // 12 warps
      {"sm_80", "168\\t160\\t0\\t-", "2\t15.6%\tregisters\t82944\n"}, // 12 warps, 5 a block
      {"sm_80", "64\\t128\\t0\\t82944", "2\t12.5%\tshared memory\t82944\n"},
      {"sm_80", "64\\t128\\t0\\t82945", "1\t6.2%\tshared memory\t166912\n"},
      {"sm_80", "64\\t128\\t1000\\t81944", "2\t12.5%\tshared memory\t81944\n"},
      {"sm_80", "64\\t128\\t0\\t166912", "1\t6.2%\tshared memory\t166912\n"},
      {"sm_80", "64\\t128\\t0\\t166913", "0\t0%\tshared memory\t-\n"},
      {"sm_90a", "64\\t128\\t0\\t166913", "1\t6.2%\tshared memory\t232448\n"},
      {"sm_80", "255\\t512\\t0\\t-", "0\t0%\tregisters\t-\n"},
      {"sm_75", "64\\t128\\t0\\t-", "8\t100.0%\tthreads\t8192\n"}, // 32 warps, no bytes reserved
      {"sm_75", "64\\t256\\t0\\t43648", "1\t25.0%\tshared memory\t65536\n"},
      {"sm_75", "64\\t256\\t0\\t65537", "0\t0%\tshared memory\t-\n"},
      {"sm_80", "64\\t-\\t0\\t-", "-\t-\t-\t-\n"},
      {"sm_999", "64\\t128\\t0\\t-", "-\t-\t-\t-\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[256];
    snprintf(command, sizeof command,
             "printf '%s\\n' | awk -v architecture=%s -f scripts/occupancy.awk 2>&1",
             cases[i].kernel, cases[i].architecture);
    const script_result result = toolkit_run(command);
    cr_expect_str_eq(result.out, cases[i].expected, "%s on %s: %s", cases[i].kernel,
                     cases[i].architecture, result.out);
  }
}
