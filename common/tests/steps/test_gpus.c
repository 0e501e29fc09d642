// On each GPU that the emulator imitates, a step is right or says in a sentence what it does not support.
#define _GNU_SOURCE
#include "suite.h"

#include "device/device.h"
#include "tests/left_out.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The architecture that the step's first comment asks for, as "sm_80"; empty when it asks for none.
static void read_needs(const char *name, char needs[16]) {
  const char *folder = getenv("STEPS_FOLDER");
  char path[512], line[256];
  snprintf(path, sizeof path, "%s/%s/attention.cu", folder && *folder ? folder : "steps", name);
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "cannot read %s: run the tests from the folder of the lab", path);
  needs[0] = '\0';
  while (fgets(line, sizeof line, file) && strncmp(line, "//", 2) == 0) {
    if (sscanf(line, "// Needs: %15s", needs) == 1) break;
  }
  fclose(file);
}

// Whether make builds the step for a GPU of this compute capability: scripts/made_for.sh.
static bool is_made_for(const char *name, int capability) {
  char needs[16];
  int least = 0;
  char letter = '\0';
  read_needs(name, needs);
  sscanf(needs, "sm_%d%c", &least, &letter);
  return letter ? capability == least : capability >= least;
}

static void expect_right_on(const char *gpu) {
  if (!suite_emulated()) cr_skip_test("a GPU imitates no other");
  setenv("EMU_GPU", gpu, 1);
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  const attention_step step = suite_step();
  if (!is_made_for(step.name, device.compute_capability)) return;
  int most = 0;
  cr_assert_eq(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
               cudaSuccess);
  for (int head_dim = 64; head_dim <= 128; head_dim *= 2) {
    for (int dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++) {
      const attention_shape shape = suite_shape((attention_dtype)dtype, 140, 90, head_dim, true);
      const char *reason = step.unsupported(&shape);
      if (left_out(reason)) continue;
      const bool too_old = dtype == ATTENTION_BF16 && device.compute_capability < 80;
      cr_assert(!reason || (too_old && strstr(reason, "bf16") && strstr(reason, ": step ")),
                "%s on %s: %s", shape_describe(&shape).text, gpu, reason);
      if (reason) continue;
      if (step.shared_memory_bytes) {
        const size_t bytes = step.shared_memory_bytes(&shape);
        cr_assert(bytes > 0 && bytes <= (size_t)most, "%s on %s: %zu bytes of shared memory of %d",
                  shape_describe(&shape).text, gpu, bytes, most);
      }
      suite_expect_right(shape, INPUTS_NORMAL);
    }
  }
}

Test(other_gpus, t4) { expect_right_on("t4"); }
Test(other_gpus, l4) { expect_right_on("l4"); }
Test(other_gpus, a100) { expect_right_on("a100"); }

// Blocks that wait for each other must run at the same time, and a launch of more of them than there is room
// for fails. Of this problem's blocks an A100 has room for one in a multiprocessor, and an H200 for two.
Test(other_gpus, a_block_at_once) {
  if (!suite_emulated()) cr_skip_test("a GPU imitates no other");
  setenv("EMU_GPU", "a100", 1);
  setenv("EMU_MULTIPROCESSORS", "1", 1);
  if (!is_made_for(step_linked().name, 80)) return;
  attention_shape shape = suite_shape(ATTENTION_FP16, 100, 300, 128, false);
  shape.heads = shape.kv_heads = 1;
  suite_expect_right(shape, INPUTS_NORMAL);
}

// A configuration that was requested by name is used or refused, and never replaced by another one.
Test(other_gpus, a_named_configuration_fits_or_is_refused) {
  if (!suite_emulated()) cr_skip_test("a GPU imitates no other");
  setenv("EMU_GPU", "t4", 1);
  enum { MOST = 65536 };
  attention_step step = step_linked();
  const attention_shape shape = suite_shape(ATTENTION_FP16, 64, 64, 128, false);
  for (const char *const *name = step.configurations ? step.configurations() : NULL; name && *name;
       name++) {
    error_text error;
    cr_assert(step_configure(&step, *name, &error), "%s", error.text);
    const size_t bytes = step.shared_memory_bytes(&shape);
    const char *reason = step.unsupported(&shape);
    if (left_out(reason)) continue;
    const char *words = bytes == 0     ? "too few registers"
                        : bytes > MOST ? "more shared memory than the GPU has"
                                       : NULL;
    cr_expect(words ? reason && strstr(reason, words) : !reason, "%s, %zu bytes: %s", *name, bytes,
              reason ? reason : "is not refused");
  }
}
