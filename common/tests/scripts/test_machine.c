// The messages of the lab on a machine that lacks a GPU, a compiler, or a place to write to.
#define _GNU_SOURCE
#include "lab.h"
#include "tests/needs.h"

TestSuite(machine, .init = lab_enter, .fini = lab_leave);

// Where there is no GPU, or no place to write to, one sentence comes before the first test.
Test(machine, what_the_machine_lacks, .timeout = 60) {
  script_result result = lab_run("PATH=/usr/bin:/bin CUDA_VISIBLE_DEVICES= env -u MAKEFLAGS make "
                                 "check DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: DEVICE=gpu needs a GPU and the CUDA toolkit", "DEVICE=cpu runs the same");
  cr_expect_null(strstr(result.out, "FAIL"), "%s", result.out);
  result =
      lab_run("touch %s/file; scripts/writable.sh %s/folder && scripts/writable.sh %s/file/build",
              lab_work, lab_work, lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: cannot write to ", "/file/build: ", "/file is a file, and the lab needs");
}

// Nothing can be made: mkdir fails, as in a checkout of another user, where root alone could write.
#define CLOSED "PATH=%s/bin:$PATH "

Test(machine, a_checkout_that_cannot_be_written_to, .timeout = 120) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && mkdir %s/bin "
                        "%s/lab && printf '#!/bin/sh\\necho \"mkdir: Read-only file system\" >&2; "
                        "exit 1\\n' >%s/bin/mkdir && printf '#!/bin/sh\\n' >%s/bin/nvcc && "
                        "chmod +x %s/bin/* && cp -r Makefile make scripts steps %s/lab",
                        lab_work, lab_work, lab_work, lab_work, lab_work, lab_work),
                0);
  static const char *const commands[] = {
      MAKE "step04 hint",
      MAKE "step04 fill PART=1",
      MAKE "hunt BUG=1",
      MAKE "step04 hunt",
      MAKE "step04 run PART=1",
      MAKE "step04 run VARIANT=no_pad",
      MAKE "book",
      MAKE "step04 ptx ARCH=sm_90a NVCC=nvcc",
      "scripts/book.sh build/cpu/book build/book/index.html",
      "scripts/nvcc-cpu steps/04_online_softmax/attention.cu",
  };
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    const script_result result =
        lab_run("cd %s/lab && " CLOSED "%s", lab_work, lab_work, commands[i]);
    cr_expect_eq(result.status, 2, "%s ended with %d: %s", commands[i], result.status, result.out);
    cr_expect(strstr(result.out, "error: cannot write to "), "%s: %s", commands[i], result.out);
    cr_expect(strstr(result.out, ": the lab builds and keeps your files below its own folder"),
              "%s: %s", commands[i], result.out);
    cr_expect_null(strstr(result.out, "Read-only"), "%s: %s", commands[i], result.out);
    cr_expect_null(strstr(result.out, "there is no"), "%s: %s", commands[i], result.out);
  }
  EXPECT_STATUS(lab_run("ls %s/04_online_softmax | grep -v '^attention.cu$'", lab_work), 1);
}

Test(machine, a_file_in_the_place_of_work) {
  EXPECT_STATUS(lab_run("touch %s/work", lab_work), 0);
  static const char *const commands[] = {
      "scripts/workshop/exercise.sh start 04_online_softmax",
      "scripts/workshop/hint.sh 04_online_softmax",
      "scripts/workshop/hunt.sh hand-out 1",
      "scripts/workshop/hunt.sh of 04_online_softmax",
      "scripts/workshop/progress.sh 04_online_softmax",
  };
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    const script_result result = lab_run("NAME=anna LAB_WORK=%s/work %s", lab_work, commands[i]);
    EXPECT_STATUS(result, 2);
    EXPECT(result, "error: cannot write to ", "/work is a file, and the lab needs a folder");
    cr_expect_eq(strchr(result.out, '\n')[1], '\0', "more than a sentence: %s", result.out);
  }
}

// The compiler that the doctor looks at is the one that is used, and where it is missing the build ends with a sentence.
Test(machine, the_compilers_are_gcc_and_gxx) {
  needs_gcc();
  EXPECT_STATUS(lab_run("mkdir $LAB_WORK/path && ln -s /usr/bin/* $LAB_WORK/path && "
                        "rm $LAB_WORK/path/cc $LAB_WORK/path/gcc"),
                0);
  script_result result = lab_run("export PATH=$LAB_WORK/path; " MAKE "step01 build");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "there is no gcc to compile with: make doctor says how to get it");
  result = lab_run("ln -s /bin/true $LAB_WORK/path/gcc; export PATH=$LAB_WORK/path; " MAKE
                   "-f make/config.mk --eval 'say:;@echo $(CC) $(CXX)' say");
  EXPECT(result, "gcc g++\n");
  // With -R make has no values of its own, and the lab's stand in for them.
  result = lab_run(MAKE "-R -f make/config.mk --eval 'say:;@echo $(CC) $(CXX) $(AR)' say");
  EXPECT(result, "gcc g++ ar\n");
}

// A checkout of Git for Windows, whose lines end in CRLF, would stop at the first line of the first script.
Test(machine, lines_end_in_lf_where_git_is_told_to_end_them_in_crlf) {
  needs_tool("git");
  const script_result result = lab_run(
      "unset GIT_DIR; cp .gitattributes Makefile scripts/doctor.sh %s && cd %s && "
      "git init -q && git add -A && rm Makefile doctor.sh && "
      "git -c core.autocrlf=true checkout -q . && ! grep -l $(printf '\\r') Makefile doctor.sh",
      lab_work, lab_work);
  EXPECT_STATUS(result, 0);
}

// POSIXLY_CORRECT takes from gawk, patch and others what the scripts use.
Test(machine, posix_mode_stays_outside) {
  const script_result result = lab_run("export POSIXLY_CORRECT=1; " MAKE "-f make/config.mk --eval "
                                       "'say:;@echo mode=$${POSIXLY_CORRECT-none}.' say");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "mode=none.\n");
}
