// Which step a step comes after, where its source says so.
#define _GNU_SOURCE
#include "step/step.h"
#include "tests/driver/temporary_folder.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(parent, .init = temporary_folder_enter, .fini = temporary_folder_leave);

static void put(const char *step, const char *text) {
  char path[64];
  mkdir("own", 0700);
  snprintf(path, sizeof path, "own/%s", step);
  mkdir(path, 0700);
  strcat(path, "/attention.cu");
  FILE *file = fopen(path, "w");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void expect(const char *step, const char *expected) {
  char parent[64] = "not set";
  step_read_parent(step, parent);
  cr_expect_str_eq(parent, expected, "%s: %s", step, parent);
}

Test(parent, is_named_in_the_first_comment) {
  put("30_mine", "// Step 30.\n// After: 09_tile_order\n// After: 08_swizzle\n\nint x;\n");
  put("31_next", "// Step 31.\n\n// After: 09_tile_order\n");
  setenv("STEPS_FOLDER", "own", 1);
  expect("30_mine", "09_tile_order");
  expect("31_next", "");
  expect("32_none", "");
  // The folder of the lab has no such step.
  setenv("STEPS_FOLDER", "", 1);
  expect("30_mine", "");
  unlink("own/30_mine/attention.cu");
  unlink("own/31_next/attention.cu");
  rmdir("own/30_mine");
  rmdir("own/31_next");
}
