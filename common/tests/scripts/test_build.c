// make/build.mk: each folder of steps has a build of its own, and a build that was stopped goes on.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(build, .timeout = 120);

// The programs of one folder must never be taken for those of another.
Test(build, two_folders_share_no_build) {
  static const char *const folders[] = {"a/b",   "a_b", "a__b",   "a_/b",   "a/_b",   "a/b/c",
                                        "a_b/c", "a.b", "a/b_c",  "a_.b",   "a/.b",   "/a/b",
                                        "/a_b",  "_.a", "home_a", "home/a", "/home/a"};
  enum { FOLDERS = sizeof folders / sizeof *folders };
  char builds[FOLDERS][sizeof((script_result *)NULL)->out];
  for (int i = 0; i < FOLDERS; i++) {
    // Only the names are read: ALL_STEPS says that there are steps, and no file is searched for its needs.
    const script_result asked =
        lab_run("env -u MAKEFLAGS make -s -f make/config.mk --eval 'say:;@echo $(STEP_BUILD)' say "
                "DEVICE=cpu ALL_STEPS=01_naive MADE_FOR= STEPS_FOLDER=%s",
                folders[i]);
    EXPECT_STATUS(asked, 0);
    strcpy(builds[i], asked.out);
    for (int other = 0; other < i; other++) {
      cr_expect_str_neq(builds[i], builds[other], "%s and %s share %s", folders[i], folders[other],
                        builds[i]);
    }
    const script_result planted =
        lab_run("bash -c '. scripts/planted_bug.sh; bug_folder cpu \"\" %s'", folders[i]);
    cr_expect_str_eq(planted.out, builds[i], "%s: bugs.sh looks into %s", folders[i], planted.out);
  }
}

// The emulator of a mode shares objects with the plain one, but none that reads a file in which the mode is named. The
// compiler has listed the files that each object read.
Test(build, modes_share_no_object_that_they_change) {
#define MAKE_BUILD "env -u MAKEFLAGS -u MAKELEVEL make -s -f make/build.mk DEVICE=cpu "
  EXPECT_STATUS(lab_run(MAKE_BUILD "build/cpu/libemulator.so"), 0);
  static const char *const modes[] = {"sanitize", "count"};
  for (int i = 0; i < 2; i++) {
    const script_result found = lab_run(
        "lists=$(" MAKE_BUILD "MODE=%s --eval 'say:;@echo $(EMULATOR)' say | tr ' ' '\\n' | "
        "sed -n 's|^\\(build/cpu/common/emulator/.*\\)[.]o$|\\1.d|p'); "
        "for list in $lists; do grep -so ' common/[^ ]*' $list | xargs grep -lE "
        "'EMULATOR_(OBSERVED|LOCKSTEP)' | sed \"s|^|$list: |\"; done; echo $lists | wc -w",
        modes[i]);
    cr_expect(atoi(found.out) > 20, "%s shares an object that it changes, or none: %s", modes[i],
              found.out);
  }
}

// Several machines with different GPUs may share a checkout: code for one GPU does not run on another one.
Test(build, code_for_another_gpu_is_compiled_again, .init = lab_enter, .fini = lab_leave) {
  char compiler[sizeof lab_work + 16];
  snprintf(compiler, sizeof compiler, "%s/nvcc", lab_work);
  toolkit_write(compiler, "#!/bin/bash\n"
                          "grep -o 'code=[^ ]*' <<<\"$*\" >>$LAB_WORK/log\n"
                          "while [ $1 != -o ]; do shift; done\n"
                          "echo object >$2\n");
  cr_assert(chmod(compiler, 0700) == 0);
  const char *const architectures[] = {"sm_80", "sm_80", "sm_90a"};
  for (int i = 0; i < 3; i++) {
    const script_result made =
        lab_run("env -u MAKEFLAGS -u MAKELEVEL make -s -f make/build.mk DEVICE=gpu CUDA_HOME=/none "
                "NVCC=$LAB_WORK/nvcc 'headers=' 'object=$(whole)' PLAIN=$LAB_WORK/build ARCH=%s "
                "$LAB_WORK/build/steps/01_naive/attention.cu.o",
                architectures[i]);
    EXPECT_STATUS(made, 0);
  }
  const script_result compiled = lab_run("cat $LAB_WORK/log");
  cr_expect_str_eq(compiled.out, "code=sm_80\ncode=sm_90a\n", "%s", compiled.out);
}

// A header that has changed is compiled again into the build of a single configuration as well: of the lab's steps, and of
// a reader's.
Test(build, quick_build_reads_the_headers, .init = lab_enter, .fini = lab_leave) {
  EXPECT_STATUS(lab_run("mkdir -p %s/one && cp -r steps/01_naive %s/one", lab_work, lab_work), 0);
  char own[sizeof lab_work + 8];
  snprintf(own, sizeof own, "%s/one", lab_work);
  const char *const folders[] = {"steps", own};
  for (int i = 0; i < 2; i++) {
    const script_result made = lab_run(
        "quick='" MAKE_BUILD "FIRST_CONFIGURATION=1 MADE_FOR= STEPS_FOLDER=%s'; "
        "program=$($quick --eval 'say:;@echo $(STEP_BUILD)' say)/step01.so; $quick $program && "
        "$quick -q $program && ! $quick -q -W common/kernel/kernel.cuh $program",
        folders[i]);
    cr_expect_eq(made.status, 0, "%s: %s", folders[i], made.out);
  }
}

// Ubuntu's g++ defines _FORTIFY_SOURCE by itself when it optimises, and then the C library's memcpy is in the place of
// the one that a watching emulator has.
Test(build, kernels_compile_where_the_compiler_is_hardened) {
  static const char *const modes[] = {"", "sanitize", "count"};
  for (int i = 0; i < 3; i++) {
    const script_result compiled = lab_run(
        "flags=$(" MAKE_BUILD
        "MODE=%s --eval 'say:;@printf \"%%s\\n\" \"$(call KERNEL_FLAGS)\"' say) "
        "&& echo '#include <cuda_runtime.h>' | eval \"g++ -D_FORTIFY_SOURCE=2 $flags -fsyntax-only "
        "-x c++ -\"",
        modes[i]);
    cr_expect_eq(compiled.status, 0, "MODE=%s: %s", modes[i], compiled.out);
  }
}

// gold is taken where it links a program that throws, and the answer stays.
Test(build, gold_is_tried, .init = lab_enter, .fini = lab_leave) {
  const script_result tried = lab_run(
      "cd %s && printf '#!/bin/sh\nfor out; do :; done; cp \"$made\" \"$out\"\n' >compiler && "
      "chmod u+x compiler && W=$PWD && cd - >/dev/null && for made in /bin/true /bin/false /none; "
      "do "
      "export made; scripts/linker.sh $W/$made/answer $W/compiler 2>/dev/null; "
      "cat $W/$made/answer; done",
      lab_work);
  cr_expect_str_eq(tried.out, "-fuse-ld=gold\n-fuse-ld=gold\nnone\nnone\nnone\nnone\n", "%s",
                   tried.out);
}

// A tool of the build, such as the compiler. When it makes the first file of a folder and an ending, it writes half
// of it and kills the whole build, make included.
#define KILLER                                                                                     \
  "#!/bin/bash\n"                                                                                  \
  "tool=$1 && shift\n"                                                                             \
  "for ((i = 1; i <= $#; i++)); do [ \"${!i}\" != -o ] || { ((i++)) && out=${!i}; }; done\n"       \
  "if [ $tool = ar ]; then out=$2; fi\n"                                                           \
  "whole=${out%.*.part} && mark=$LAB_WORK/killed/$(tr / _ <<<\"${whole%/*}.${whole##*.}\")\n"      \
  "if [ ! -e \"$mark\" ]; then\n"                                                                  \
  "  : >\"$mark\" && echo half >\"$out\" && kill -KILL 0\n"                                        \
  "fi\n"                                                                                           \
  "exec $tool \"$@\"\n"

Test(build, goes_on_after_a_kill, .init = lab_enter, .fini = lab_leave) {
  char killer[64];
  snprintf(killer, sizeof killer, "%s/killer", lab_work);
  toolkit_write(killer, KILLER);
  EXPECT_STATUS(lab_run("cd %s && chmod u+x killer && mkdir -p killed steps/01_empty && "
                        "echo 'int answer = 42;' >steps/01_empty/attention.cu",
                        lab_work),
                0);
  // As few files as there can be for a step's shared object: every kind of rule that compiles, archives or links.
  int killed = 0;
  script_result result;
  do {
    result = lab_run(
        "W=%s; env -u MAKEFLAGS -u MAKELEVEL setsid make --no-print-directory -s -f make/build.mk "
        "DEVICE=cpu 'OPTIMISE=-O0 -DNDEBUG' PLAIN=$W/build STEPS_FOLDER=$W/steps "
        "CC=\"$W/killer gcc\" CXX=\"$W/killer g++\" AR=\"$W/killer ar\" "
        "LIBRARY_C=\"$(ls common/file/*.c common/error/*.c common/emulator/rewrite/*.c | grep -v "
        "main.c | tr "
        "'\\n' "
        "' ')\" EMULATOR_SOURCES=\"common/emulator/runtime/registers.c $(ls "
        "common/emulator/runtime/*.S)\" $W/build/libpeers.so "
        "$W/build/elsewhere/$(echo $W/steps | sed 's|_|__|g; s|/|_.|g')/step01.so",
        lab_work);
    killed++;
  } while (result.status == 137 || result.status == -1);
  EXPECT_STATUS(result, 0);
  cr_expect_geq(killed, 10, "the build was killed %d times only", killed);
  result = lab_run("cd %s/build && nm -D elsewhere/*/step01.so | grep -c answer; "
                   "find . -name '*.part' -prune -o -size -6c -type f -print",
                   lab_work);
  cr_expect_str_eq(result.out, "1\n", "%s", result.out);
}

// A failing command removes the file that it has begun. The next build removes files that a killed one left an hour ago,
// and keeps younger ones, which another build may be writing.
Test(build, no_beginnings_stay, .init = lab_enter, .fini = lab_leave) {
  script_result result =
      lab_run("cd %s && printf '#!/bin/sh\\necho half >$2; exit 3\\n' >ar && chmod u+x ar && "
              "mkdir -p build/common && touch -d '2 hours ago' build/common/old.d.1.part && "
              "touch build/common/new.d.2.part && cd - >/dev/null && " MAKE_BUILD
              "PLAIN=$LAB_WORK/build AR=$LAB_WORK/ar LIBRARY_C=common/error/error.c "
              "$LAB_WORK/build/libcommon.a",
              lab_work);
  EXPECT_STATUS(result, 2);
  result = lab_run("cd %s/build && find . -name '*.part'", lab_work);
  cr_expect_str_eq(result.out, "./common/new.d.2.part\n", "%s", result.out);
}
