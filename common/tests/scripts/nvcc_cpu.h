// For tests of scripts/nvcc-cpu: writes sources and builds them in a folder of the test's own.
#ifndef NVCC_CPU_H
#define NVCC_CPU_H

#include "lab.h"

#define BUILT_AS "lab=$PWD; exec 2>&1; cd %s && env -u NVCC_CPU_MODE $lab/scripts/nvcc-cpu -O0 "

static inline void write_source(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", lab_work, name);
  FILE *file = fopen(path, "w");
  cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

// Thrust and CUB may lie in the system's folders, or where make deps PREFIX=.deps has put them.
static inline void need_libraries(void) {
  if (lab_run("scripts/deps.sh --missing | grep -q -e libthrust-dev -e libcub-dev").status == 0)
    cr_skip_test("Thrust and CUB are not installed (make deps installs them)");
}

#endif
