// A part of CUDA that the emulator lacks is an error with one sentence, and the guide has the same list.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(lacking, .init = lab_enter, .fini = lab_leave);

#define HEADERS "common/emulator/include"

// "what<tab>use instead<tab>header" for each header that stands for one of CUDA's. The same from the guide's table.
#define OF_HEADERS                                                                                 \
  "grep -rl '^#error' " HEADERS " | while read -r file; do "                                       \
  "sed -e ':a' -e '/\\\\$/{N;s/ *\\\\\\n */ /;ba' -e '}' \"$file\" | sed -n 's/^#error \"the "     \
  "emulator has no \\(.*\\): use \\(.*\\), or a GPU "                                              \
  "(DEVICE=gpu)\"$/\\1\\t\\2/p' "                                                                  \
  "| sed \"s|$|\\t${file#" HEADERS "/}|\"; done | sort"
#define OF_GUIDE                                                                                   \
  "sed -n 's/^| `<\\(.*\\)>` | \\(.*\\) | \\(.*\\) |$/\\2\\t\\3\\t\\1/p' guide/setup.md | sort"

Test(lacking, the_guide_lists_the_headers) {
  const script_result headers = lab_run("%s", OF_HEADERS), guide = lab_run("%s", OF_GUIDE);
  cr_expect_str_eq(headers.out, guide.out, "the headers say:\n%sguide/setup.md says:\n%s",
                   headers.out, guide.out);
  cr_expect(strstr(headers.out, "CUB\t"), "%s", headers.out);
}

Test(lacking, the_guide_lists_the_functions) {
  const script_result result =
      lab_run("for name in $(sed -n 's/^EMULATOR_LACKS(\\([A-Za-z]*\\),.*/\\1/p' " HEADERS
              "/detail/lacking_functions.h); do echo $name; grep -q \"\\`$name\\`\" guide/setup.md "
              "|| echo missing; done");
  EXPECT(result, "cudaCreateTextureObject\n");
  cr_expect(!strstr(result.out, "missing"), "%s", result.out);
}

// The first error of the compiler is the sentence, in the reader's line, and nothing follows but its end.
Test(lacking, a_header_is_one_sentence) {
  const script_result result = lab_run(
      "for file in $(grep -rl '^#error' " HEADERS "); do printf '\\n#include <%%s>\\nint x = "
      "unknown;\\n' ${file#" HEADERS "/} | g++ -std=c++17 -I" HEADERS
      " -Icommon -fsyntax-only -x c++ - 2>&1 | "
      "grep -e 'error: ' -e '<stdin>:2' | cut -d : -f 1-4 | uniq -c | sed 's/^ *//'; done");
  char *rest = strdup(result.out);
  int errors = 0;
  for (char *line = strtok(rest, "\n"); line; line = strtok(NULL, "\n")) {
    if (strstr(line, "#error") || strstr(line, ": error")) errors++;
    cr_expect(!strstr(line, "unknown"), "%s", result.out);
  }
  free(rest);
  const int headers = atoi(lab_run("grep -rl '^#error' " HEADERS " | wc -l").out);
  cr_expect_eq(errors, headers, "%d of %d: %s", errors, headers, result.out);
}

static void write_step(const char *from, const char *to) {
  EXPECT_STATUS(lab_run("mkdir -p %s/steps && cp -r steps/01_naive %s/steps && sed -i \"s|%s|%s|\" "
                        "%s/steps/01_naive/attention.cu && ! cmp -s steps/01_naive/attention.cu "
                        "%s/steps/01_naive/attention.cu",
                        lab_work, lab_work, from, to, lab_work, lab_work),
                0);
}
#define RUN MAKE UNOPTIMISED "step01 run STEPS_FOLDER=%s/steps ARGS='--seq 8'"

Test(lacking, functions_and_ptx, .timeout = 120) {
  write_step("float sum = 0.0f;", "float sum; asm(\\\"mov.b32 %%0, 0;\\\" : \\\"=f\\\"(sum));");
  script_result result = lab_run(RUN, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "check ok: ");
  write_step("float sum = 0.0f;", "float sum = 0.0f; asm volatile(\\\"tcgen05.fence;\\\");");
  result = lab_run(RUN, lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "steps/01_naive/attention.cu:",
         "the emulator has no PTX instruction tcgen05.fence: use a function of CUDA C++ that ");
  write_step("cudaError_t error = cudaGetLastError();",
             "cudaError_t error = cudaCreateTextureObject(stream, 0);");
  result = lab_run(RUN, lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "the emulator has no textures: read global memory");
}

// Thrust is there for programs of nvcc-cpu. In a step its own headers would be errors of many lines.
Test(lacking, thrust, .timeout = 120) {
  if (access("/usr/include/thrust/device_vector.h", R_OK) != 0) cr_skip_test("needs libthrust-dev");
  write_step("#include .kernel.cuh.", "#include <thrust/device_vector.h>\\n&");
  const script_result result = lab_run(RUN, lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "attention.cu:", "the emulator has no Thrust: use kernels of your own");
  cr_expect(!strstr(result.out, "not declared"), "%s", result.out);
}

// An assertion holds in a reader's file, in the kernel and on the host.
Test(lacking, nothing_of_assert, .timeout = 120) {
  write_step("S\\[index\\] = shape.scale", "assert(key < 3); S[index] = shape.scale");
  EXPECT_STATUS(lab_run("sed -i '1i #include <cassert>' %s/steps/01_naive/attention.cu", lab_work),
                0);
  const script_result result = lab_run(RUN, lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "attention.cu:", "scores_kernel", "thread: [3,0,0] Assertion `key < 3` failed.");
}
