// Tests the description that a step gives of itself.
#define _GNU_SOURCE
#include "suite.h"

#include "tests/failing_calls.h"
#include "tests/left_out.h"
#include "tests/tested_as.h"
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The first steps that refuse what those before take: a scale that is not above 0, and a head_dim other than
// 64 and 128.
enum { FIRST_OF_POSITIVE_SCALES = 4, FIRST_OF_TWO_HEAD_DIMS = 7 };

Test(interface, name_and_summary) {
  const attention_step step = suite_step();
  cr_assert(step.name[0] >= '0' && step.name[0] <= '9' && step.name[2] == '_',
            "a step is named after its folder, such as 04_online_softmax, not \"%s\"", step.name);
  const size_t length = strlen(step.summary);
  cr_assert(length > 0 && length <= 60, "the summary is one short line, not \"%s\"", step.summary);
}

Test(interface, refuses_a_head_dim_of_129_by_name) {
  const attention_shape shape = suite_shape(ATTENTION_FP16, 64, 64, 129, false);
  const char *reason = suite_step().unsupported(&shape);
  cr_assert_not_null(reason);
  cr_assert_not_null(strstr(reason, "head_dim"), "\"%s\" does not name head_dim", reason);
}

// Any two heads, lengths and masks, in the step's own choice of configuration.
static const char *refusal(attention_dtype dtype, int head_dim, int i) {
  static const int lengths[] = {1, 63, 64, 129, 1000};
  attention_shape shape =
      suite_shape(dtype, lengths[i % 5], lengths[(i / 5) % 5], head_dim, i % 2 == 0);
  shape.kv_heads = 1 + i % 2;
  return step_linked().unsupported(&shape);
}

Test(interface, takes_head_dim_64_and_128) {
  for (int i = 0; i < 50; i++) {
    const char *reason = refusal(i % 3 ? ATTENTION_FP16 : suite_bf16(), i % 4 < 2 ? 64 : 128, i);
    cr_assert(!reason || left_out(reason), "%s", reason);
  }
}

// A step refuses a problem with a sentence that names an earlier step
// which takes it, and thus a step before the first that may refuse it.
static void expect_step_named(const char *reason, const char *what, int first_refusing) {
  cr_assert_not_null(strstr(reason, what), "\"%s\" does not name %s", reason, what);
  const char *can = strstr(reason, ": step ");
  cr_assert_not_null(can, "\"%s\" does not say which step can", reason);
  const int step = atoi(can + strlen(": step "));
  cr_assert(step >= 1 && step < first_refusing, "\"%s\": step %d cannot", reason, step);
}

Test(interface, other_head_dims) {
  for (int head_dim = 1; head_dim <= 128; head_dim++) {
    const char *reason = refusal(ATTENTION_FP16, head_dim, head_dim);
    if (left_out(reason)) reason = refusal(ATTENTION_BF16, head_dim, head_dim);
    if (head_dim == 64 || head_dim == 128 ||
        tested_number(step_linked().name) < FIRST_OF_TWO_HEAD_DIMS) {
      cr_assert_null(reason, "head_dim %d: %s", head_dim, reason);
    } else if (reason) {
      expect_step_named(reason, "head_dim", FIRST_OF_TWO_HEAD_DIMS);
    }
  }
}

// A step that takes a scale is right with it. With a scale of 0, a masked score of -infinity must not become 0 times that.
Test(interface, scales) {
  static const float scales[] = {1.0f, 1e-4f, 50.0f, 0.0f, -0.5f};
  for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
    attention_shape shape = suite_shape(ATTENTION_FP16, 64, 64, 64, true);
    shape.scale = scales[i];
    const char *reason = step_linked().unsupported(&shape);
    if (shape.scale > 0.0f || tested_number(step_linked().name) < FIRST_OF_POSITIVE_SCALES) {
      cr_assert_null(reason, "scale %g: %s", (double)shape.scale, reason);
    } else if (reason) {
      expect_step_named(reason, "scale", FIRST_OF_POSITIVE_SCALES);
    }
    suite_expect_right(shape, INPUTS_NORMAL);
  }
}

// From step 04 on the scale is multiplied by log2(e), which must not make an infinity of it.
Test(interface, largest_scale) {
  attention_shape shape = suite_shape(ATTENTION_FP16, 64, 64, 64, false);
  const bool refuses = tested_number(step_linked().name) >= FIRST_OF_POSITIVE_SCALES;
  shape.scale = 1.9e38f;
  const char *reason = step_linked().unsupported(&shape);
  cr_assert_null(reason, "%s", reason);
  shape.scale = 2.5e38f;
  reason = step_linked().unsupported(&shape);
  cr_assert_eq(reason != NULL, refuses, "%s", reason ? reason : "it is taken");
  if (reason) expect_step_named(reason, "scale", FIRST_OF_POSITIVE_SCALES);
}

static const char *refusal_of(int batch, int heads) {
  attention_shape shape = suite_shape(ATTENTION_FP16, 1, 1, 64, false);
  shape.batch = batch;
  shape.heads = shape.kv_heads = heads;
  return step_linked().unsupported(&shape);
}

static void expect_later_step(const char *reason) {
  cr_assert_not_null(reason, "an int cannot count the tiles, and the step does not say so");
  cr_assert_not_null(strstr(reason, "heads"), "\"%s\" does not name heads", reason);
  cr_assert_not_null(strstr(reason, ": step "), "\"%s\" does not say which step can", reason);
}

// Steps from 10 on number the tiles of all heads in one int. Other steps take as many as there may be.
Test(interface, heads_and_batches) {
  enum { FIRST_WITH_NUMBERED_TILES = 10, MOST_TILES = INT_MAX - 65535 };
  cr_assert_null(refusal_of(1, MOST_TILES), "heads: %s", refusal_of(1, MOST_TILES));
  cr_assert_null(refusal_of(MOST_TILES, 1), "batch entries: %s", refusal_of(MOST_TILES, 1));
  if (tested_number(step_linked().name) >= FIRST_WITH_NUMBERED_TILES) {
    expect_later_step(refusal_of(1, MOST_TILES + 1));
    expect_later_step(refusal_of(2, 1 << 30));
  } else {
    cr_assert_null(refusal_of(1, INT_MAX), "heads: %s", refusal_of(1, INT_MAX));
  }
}

// In steps 10 to 17 a driver's function describes the tensors, and refuses those off the 16-byte grid.
Test(interface, failures_of_the_driver_are_reported) {
  enum { FIRST_WITH_TENSOR_MAPS = 10, LAST_WITH_TENSOR_MAPS = 17 };
  const int number = tested_number(step_linked().name);
  if (number < FIRST_WITH_TENSOR_MAPS || number > LAST_WITH_TENSOR_MAPS) return;
  const attention_step step = suite_step();
  trial trial;
  attention_shape shape = suite_shape(ATTENTION_FP16, 5, 5, 64, true);
  shape.heads = shape.kv_heads = 140; // more tiles than an H200 has multiprocessors
  suite_prepare(&trial, shape, INPUTS_NORMAL);
  suite_run_and_check(&trial, NULL);
  for (int tensor = 0; tensor < 3; tensor++) {
    attention_args arguments = trial_arguments(&trial);
    const void **const pointers[] = {&arguments.q, &arguments.k, &arguments.v};
    *pointers[tensor] = (const uint16_t *)*pointers[tensor] + 1;
    cr_assert_eq(step.forward(&arguments, NULL), cudaErrorInvalidValue,
                 "%c lies off the 16-byte grid, and the step does not say so", "QKV"[tensor]);
  }
  trial_free(&trial);
}

// Each call of CUDA that a launch makes on the host fails once. First the kernels have never been launched; then they have,
// and what an earlier launch has allowed them would hide an error that the step does not return.
static void expect_failures_to_be_reported(attention_shape shape) {
  const attention_step step = suite_step();
  if (left_out(step.unsupported(&shape))) return;
  trial trial;
  suite_prepare(&trial, shape, INPUTS_NORMAL);
  attention_args arguments = trial_arguments(&trial);
  const size_t workspace = step.workspace_bytes(&shape);
  if (workspace > 0) cr_assert_eq(cudaMalloc(&arguments.workspace, workspace), cudaSuccess);
  for (int before = 0; before <= 1; before++) {
    const char *failed = "";
    for (int number = 1; failed; number++) {
      failing_calls_begin(number);
      const cudaError_t status = step.forward(&arguments, NULL);
      failed = failing_calls_end();
      if (failed)
        cr_assert_neq(status, cudaSuccess,
                      "%s: call %d of the launch, %s, fails, and the step returns no error",
                      shape_describe(&shape).text, number, failed);
      else
        cr_assert_eq(status, cudaSuccess);
      cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
      cudaGetLastError(); // a kernel that was launched all the same
    }
  }
  if (workspace > 0) cudaFree(arguments.workspace);
  trial_free(&trial);
}

// With one multiprocessor there are more tiles than blocks; the second shape is for steps that split the keys.
Test(interface, failures_of_calls_are_reported) {
  setenv("EMU_MULTIPROCESSORS", "1", 1);
  expect_failures_to_be_reported(suite_shape(ATTENTION_FP16, 130, 40, 64, true));
  setenv("EMU_MULTIPROCESSORS", "4", 1);
  expect_failures_to_be_reported(suite_shape(ATTENTION_FP16, 3, 300, 64, true));
  expect_failures_to_be_reported(suite_shape(ATTENTION_FP16, 130, 40, 128, true));
}

Test(interface, workspace_that_cannot_be_counted) {
  attention_shape shape = suite_shape(ATTENTION_FP16, 1 << 30, 1 << 30, 1, false);
  shape.batch = shape.heads = shape.kv_heads = 1 << 20;
  const size_t bytes = suite_step().workspace_bytes(&shape);
  cr_assert(bytes == 0 || bytes == SIZE_MAX || bytes < SIZE_MAX / 2,
            "%zu bytes look like a product that has wrapped around", bytes);
}

// A reader's own step stands for the step that it comes after where a test knows steps by their numbers.
Test(interface, a_step_of_a_reader_is_tested_as_its_parent) {
  char folder[] = "/tmp/lab-test-XXXXXX", path[64], name[64];
  cr_assert_not_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/98_mine", folder);
  cr_assert_eq(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/98_mine/attention.cu", folder);
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file);
  fprintf(file, "// 98_mine: a step of a reader.\n// After: %s\n", step_linked().name);
  cr_assert_eq(fclose(file), 0);
  setenv("STEPS_FOLDER", folder, 1);
  cr_expect_eq(tested_number("98_mine"), tested_number(step_linked().name));
  tested_as(step_linked().name, name);
  cr_expect_str_eq(name, step_linked().name);
  unlink(path);
  path[strlen(path) - strlen("/attention.cu")] = '\0';
  rmdir(path);
  rmdir(folder);
}
