// Loads steps as the programs that time several of them do. LAB_BUILD is the folder of the build, with the shared objects
// of step 01 and, on the emulator, step 21.
#include "step/step.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  char text[512];
} path;

// Skips the test where there is no such file.
static path built(const char *name) {
  path found;
  const char *build = getenv("LAB_BUILD");
  if (!build) cr_skip_test("LAB_BUILD names no folder of a build, such as build/cpu");
  snprintf(found.text, sizeof found.text, "%s%s/%s", build[0] == '/' ? "" : "./", build, name);
  if (access(found.text, R_OK) != 0) cr_skip_test("there is no %s", found.text);
  return found;
}

typedef bool loader(const char *path, attention_step *step, error_text *error);

static void expect_refused(loader *load, const path *file, const char *words) {
  attention_step step;
  error_text error = {""};
  cr_expect_not(load(file->text, &step, &error), "%s", file->text);
  cr_expect(strstr(error.text, words), "%s", error.text);
  cr_expect_null(step.library, "it is still open");
}

Test(load, a_step_for_one_gpu) {
  const path file = built("step01.so");
  attention_step step;
  error_text error;
  cr_assert(step_load(file.text, &step, &error), "%s", error.text);
  cr_expect_str_eq(step.name, "01_naive");
  cr_expect(step.forward && step.workspace_bytes && step.unsupported && !step.forward_group);
  step_unload(&step);
  cr_expect_null(step.library);
  cr_assert(step_load_either(file.text, &step, &error), "%s", error.text);
  cr_expect(step.forward && !step.forward_group);
  step_unload(&step);
  expect_refused(step_load_group, &file, "is a step for one GPU: give a step for several");
}

// A sweep times a step in each of its configurations.
Test(load, the_configurations_of_a_step) {
  const path file = built("step04.so");
  attention_step step;
  error_text error;
  cr_assert(step_load(file.text, &step, &error), "%s", error.text);
  cr_expect(step.configurations && step.configure && step.configuration_for &&
            step.shared_memory_bytes);
  cr_expect(step_configure(&step, step.configurations()[0], &error), "%s", error.text);
  step_unload(&step);
}

Test(load, a_step_for_several_gpus) {
  const path file = built("step21.so");
  attention_step step;
  error_text error;
  cr_assert(step_load_group(file.text, &step, &error), "%s", error.text);
  cr_expect_str_eq(step.name, "21_gather");
  cr_expect(step.forward_group && step.group_rows && step.group_workspace_bytes && !step.forward);
  step_unload(&step);
  cr_assert(step_load_either(file.text, &step, &error), "%s", error.text);
  cr_expect(step.forward_group && step.group_rows);
  step_unload(&step);
  expect_refused(step_load, &file,
                 "is a step for several GPUs, and this program runs steps on one");
}

Test(load, what_is_no_step) {
  static const path none = {"./none.so"}, other = {"libm.so.6"};
  loader *const loaders[] = {step_load, step_load_group, step_load_either};
  for (size_t i = 0; i < 3; i++) {
    expect_refused(loaders[i], &none, "cannot load a step: ./none.so: ");
    expect_refused(loaders[i], &other,
                   "libm.so.6 is not a step of this lab: it has no attention_name");
  }
}
