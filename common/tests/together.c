// Linked into each test program, so that all its processes end together. Criterion moves the program into a process
// group of its own, and starts each test in a session of its own. So a terminal's Ctrl-C would reach neither, and a
// test in an endless loop would go on when its program has been killed.
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static pid_t group; // that the program was started in

// Runs before main in the program, and in each test's process, which finds BXFI_MAP. A script that must not leave its
// programs behind, however it ends, sets LAB_TIED for them.
__attribute__((constructor)) static void end_with_parent(void) {
  group = getpgrp();
  if (getenv("BXFI_MAP") || getenv("LAB_TIED")) prctl(PR_SET_PDEATHSIG, SIGKILL);
}

// Returns to the group; this fails only where the group is gone, and then no terminal reaches it any more.
ReportHook(PRE_ALL)(struct criterion_test_set *all) {
  (void)all;
  setpgid(0, group);
}
