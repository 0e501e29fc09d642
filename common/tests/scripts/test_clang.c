// make CC=clang CXX=clang++: the library, the emulator and a step's kernel build with clang as well, and are right.
#define _GNU_SOURCE
#include "lab.h"
#include "part.h"
#include <glob.h>

static void enter(void) {
  if (system("command -v clang >/dev/null && command -v clang++ >/dev/null") != 0) {
    cr_skip_test("needs clang++");
  }
  if (system("echo 'int main() {}' | clang++ -fopenmp -x c++ - -o /dev/null 2>/dev/null") != 0) {
    cr_skip_test("needs libomp");
  }
  lab_enter();
}

TestSuite(clang, .init = enter, .fini = lab_leave, .timeout = 300);

#define BUILD                                                                                      \
  "env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory -f make/build.mk DEVICE=cpu -j2 "    \
  "'OPTIMISE=-O0 -g -DNDEBUG' PLAIN=%s/build WERROR=1 "

Test(clang, builds_a_step_that_is_right) {
  const script_result result = lab_run(
      BUILD "CC=clang CXX=clang++ %s/build/step04 2>&1 && %s/build/step04 --seq 70 --causal",
      lab_work, lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "step 04_online_softmax", "check ok: ");
  // Objects of another compiler are not linked with these.
  const script_result again =
      lab_run(BUILD "-n CC=gcc CXX=g++ %s/build/step04 | grep -c '^gcc -std'", lab_work, lab_work);
  cr_expect_gt(atoi(again.out), 50, "%s", again.out);
}

// g++ gets the emulator's headers precompiled, in front of each source, and clang does not. So clang alone finds that a
// source does not include what it needs.
Test(clang, kernels_that_tests_launch) {
  glob_t found;
  cr_assert_eq(glob("common/tests/emulator/*.cu", 0, NULL, &found), 0);
  cr_assert_eq(glob("common/tests/kernel/*.cu", GLOB_APPEND, NULL, &found), 0);
  char path[256];
  snprintf(path, sizeof path, "%s/objects", lab_work);
  FILE *objects = fopen(path, "w");
  cr_assert(objects != NULL);
  for (size_t i = 0; i < found.gl_pathc; i++)
    if (in_tenth(i)) fprintf(objects, "%s/build/%s.o\n", lab_work, found.gl_pathv[i]);
  cr_assert_eq(fclose(objects), 0);
  globfree(&found);
  EXPECT_STATUS(lab_run(BUILD "CC=clang CXX=clang++ $(cat %s) 2>&1", lab_work, path), 0);
}

// g++ compiles the kernels that the emulator or gdb watches.
Test(clang, watched_kernels) {
  script_result result =
      lab_run(BUILD "-n CC=clang CXX=clang++ MODE=sanitize %s/build-sanitize/step04 | "
                    "grep -e -fsanitize=thread -e '^clang++'",
              lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "g++ -std=c++17 -O0", " -fsanitize=thread", "clang++ -fopenmp ");
  result = lab_run(BUILD "-n CC=clang CXX=clang++ DEBUG=1 %s/build/step04 | "
                         "grep -o '^[a-z+]* .*04_online_softmax/attention.rewritten.cpp'",
                   lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "g++ -include ");
  cr_expect_null(strstr(result.out, "clang++"), "%s", result.out);
}

Test(clang, not_one_of_two) {
  const script_result result = lab_run(BUILD "CC=clang CXX=g++ 2>&1", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "CC is clang and CXX is g++, and only one of them is clang", "give both");
}
