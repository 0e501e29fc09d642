// make/build.mk: each folder of steps has a build of its own, and a build that was stopped goes on.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(build, .timeout = 120);

// The programs of one folder must never be taken for those of another.
Test(build, two_folders_share_no_build) {
  static const char *const folders[] = {"a/b",   "a_b", "a__b",   "a_/b",   "a/_b",   "a/b/c",
                                        "a_b/c", "a.b", "a/b_c",  "a_.b",   "a/.b",   "/a/b",
                                        "/a_b",  "_.a", "work_a", "work/a", "/work/a"};
  enum { FOLDERS = sizeof folders / sizeof *folders };
  char builds[FOLDERS][sizeof((script_result *)NULL)->out];
  for (int i = 0; i < FOLDERS; i++) {
    // The names alone: ALL_STEPS says that there are steps, and no file is asked what it needs.
    const script_result asked =
        lab_run("env -u MAKEFLAGS make -s -f make/config.mk --eval 'say:;@echo $(STEP_BUILD)' say "
                "DEVICE=cpu ALL_STEPS=01_naive needs= STEPS_FOLDER=%s",
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
