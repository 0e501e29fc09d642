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

// Thrust and CUB may lie in the system's folders, or where make deps PREFIX=.deps has put them. Distributions later than
// Debian 12 have a version that the emulator cannot take.
static inline void need_libraries(void) {
  if (lab_run("scripts/deps.sh --missing | grep -q -e libthrust-dev -e libcub-dev").status == 0)
    cr_skip_test("needs Thrust and CUB");
  write_source("version.cu", "#include <thrust/version.h>\n");
  script_result result = lab_run(BUILT_AS "-c version.cu", lab_work);
  if (strstr(result.out, "this is Thrust 2 or later")) cr_skip_test("needs Thrust and CUB 1.17");
  EXPECT_STATUS(result, 0);
}

#endif
