// How a step takes the name of a configuration. That each of them is right is in test_kernels.c.
#define _GNU_SOURCE
#include "suite.h"

#include "tests/left_out.h"
#include "tests/tested_as.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(configurations, unknown_ones_are_refused_by_name) {
  attention_step step = step_linked();
  error_text error;
  cr_assert(!step_configure(&step, "7x7x7x7", &error));
  const char *words = step.configurations ? "has no configuration \"7x7x7x7\": it has "
                                          : "has one configuration only";
  cr_assert_not_null(strstr(error.text, words), "\"%s\" does not say \"%s\"", error.text, words);
}

// A configuration may have no room for a problem. Where the reader has named the configuration, with make check CONFIG=...,
// that is no mistake of the step.
Test(configurations, a_named_one_without_room_is_left_out) {
  attention_step step = step_linked();
  error_text error;
  const attention_shape shape =
      shape_in_the_build(&step, suite_shape(ATTENTION_FP16, 64, 64, 128, false));
  for (const char *const *known = step.configurations ? step.configurations() : NULL;
       known && *known; known++) {
    cr_assert(step_configure(&step, *known, &error), "%s", error.text);
    const char *reason = step.unsupported(&shape);
    if (!reason) continue;
    unsetenv("LAB_CONFIG");
    cr_expect(!left_out(reason), "%s: %s", *known, reason);
    setenv("LAB_CONFIG", *known, 1);
    cr_expect(left_out(reason), "%s: %s", *known, reason);
  }
}

static bool takes(const char *name) {
  attention_step step = step_linked();
  error_text error;
  return step_configure(&step, name, &error);
}

// A name is taken as a whole: not its beginning, not with something behind it, and not with another last character.
Test(configurations, similar_names_are_refused) {
  cr_assert(takes(NULL));
  cr_assert(!takes(""));
  const attention_step step = step_linked();
  for (const char *const *known = step.configurations ? step.configurations() : NULL;
       known && *known; known++) {
    char name[64];
    const int length = (int)strlen(*known);
    cr_assert(takes(*known), "%s", *known);
    snprintf(name, sizeof name, "%.*s", length - 1, *known);
    cr_assert(!takes(name), "%s", name);
    snprintf(name, sizeof name, "%.*sx", length - 1, *known);
    cr_assert(!takes(name), "%s", name);
    snprintf(name, sizeof name, "%sx", *known);
    cr_assert(!takes(name), "%s", name);
  }
}

// A refused name leaves the choice to the step, also where a number of splits stands behind it.
Test(configurations, refused_names_choose_nothing) {
  const attention_step step = step_linked();
  if (!step.configure) return;
  const attention_shape shape = suite_shape(ATTENTION_FP16, 16, 5000, 64, false);
  cr_assert(takes(NULL));
  const size_t own = step.workspace_bytes(&shape);
  static const char *const refused[] = {"7x7x7x7", "7x7x7x7:7", "7x7x7x7:2"};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    cr_assert(!step.configure(refused[i]), "%s", refused[i]);
    const size_t bytes = step.workspace_bytes(&shape);
    cr_assert_eq(bytes, own, "after %s: %zu bytes of workspace, before %zu", refused[i], bytes,
                 own);
  }
}

// A number of splits is written in digits alone, and is from 1 to 65536. A configuration may stand in front of it.
Test(configurations, numbers_of_splits) {
  static const char *const right[] = {":1", ":9", ":10", ":010", ":65536"};
  static const char *const wrong[] = {":", ":0", ":65537", ":x", ":2x", ":+2", ": 2", ":-2"};
  if (!takes(":1")) return; // it does not split the keys
  const char *known = step_linked().configurations()[0];
  char name[64];
  for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
    snprintf(name, sizeof name, "%s%s", known, right[i]);
    cr_assert(takes(right[i]) && takes(name), "%s", name);
    snprintf(name, sizeof name, "%.3s%s", known, right[i]);
    cr_assert(!takes(name), "%s", name);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    cr_assert(!takes(wrong[i]), "%s", wrong[i]);
}

// Returns the bytes of shared memory that the step asks for, or 0 where it does not take the head_dim.
static size_t shared_memory_at(const attention_step *step, int head_dim) {
  const attention_shape shape = suite_shape(ATTENTION_FP16, 64, 64, head_dim, false);
  return step->unsupported(&shape) ? 0 : step->shared_memory_bytes(&shape);
}

// A head_dim is padded to 32, 64 or 128, and tiles of more columns need more shared memory. If a step asked for more than
// its kernel needs, it would refuse a configuration that fits.
Test(configurations, shared_memory_is_that_of_the_padded_head_dim) {
  attention_step step = step_linked();
  for (const char *const *known = step.configurations ? step.configurations() : NULL;
       known && *known; known++) {
    error_text error;
    cr_assert(step_configure(&step, *known, &error), "%s", error.text);
    size_t narrower = 0;
    for (int dim = 32; dim <= 128; dim *= 2) {
      const size_t bytes = shared_memory_at(&step, dim);
      const size_t padded = shared_memory_at(&step, dim / 2 + 1);
      if (bytes == 0) continue;
      cr_assert(
          bytes > narrower && (padded == 0 || padded == bytes),
          "%s: head_dim %d needs %zu bytes, %d needs %zu, and the next smaller padded one %zu",
          *known, dim, bytes, dim / 2 + 1, padded, narrower);
      narrower = bytes;
    }
  }
}

// The workspace of a step that splits the keys holds parts of O, which are half as wide at head_dim 64 as at 128. The
// number of splits is the same for both here: a step's own choice may differ, as fewer blocks have room with more columns.
Test(configurations, workspace_is_that_of_the_head_dim) {
  if (!takes(":3")) return; // it does not split the keys
  attention_step step = step_linked();
  for (const char *const *known = step.configurations(); *known; known++) {
    char name[64];
    snprintf(name, sizeof name, "%s:3", *known);
    error_text error;
    cr_assert(step_configure(&step, name, &error), "%s", error.text);
    const attention_shape narrow = suite_shape(ATTENTION_FP16, 64, 1000, 64, false);
    const attention_shape wide = suite_shape(ATTENTION_FP16, 64, 1000, 128, false);
    if (step.unsupported(&narrow) || step.unsupported(&wide)) continue;
    const size_t bytes = step.workspace_bytes(&narrow);
    const size_t wider = step.workspace_bytes(&wide);
    cr_assert(0 < bytes && bytes < wider, "%s: %zu bytes at head_dim 64, and %zu at 128", name,
              bytes, wider);
  }
}

// A configuration can be launched with each problem that it does not refuse. For each kernel that it is compiled into see
// test_kernels.c.
Test(configurations, what_is_not_refused_is_right) {
  const attention_step step = step_linked();
  for (const char *const *known = step.configurations ? step.configurations() : NULL;
       known && *known; known++) {
    setenv("LAB_CONFIG", *known, 1);
    for (int dim = 32; dim <= 128; dim *= 2)
      suite_expect_right(suite_shape(ATTENTION_FP16, 20, 40, dim, false), INPUTS_NORMAL);
  }
}

// Three consumers and more have too few registers for head_dim 128. Two and one, in up to 8 warps, have enough, and so have
// the warps of the steps before that multiply by mma.sync.
Test(configurations, those_of_few_warps_take_head_dim_128) {
  enum { FIRST_THAT_DOES = 7 };
  attention_step step = step_linked();
  if (tested_number(step.name) < FIRST_THAT_DOES) return;
  const attention_shape narrow = suite_shape(ATTENTION_FP16, 64, 64, 64, false);
  const attention_shape wide =
      shape_in_the_build(&step, suite_shape(ATTENTION_FP16, 64, 64, 128, false));
  for (const char *const *known = step.configurations(); *known; known++) {
    error_text error;
    int warps = 0;
    cr_assert_eq(sscanf(*known, "%*dx%*dx%d", &warps), 1);
    cr_assert(step_configure(&step, *known, &error), "%s", error.text);
    if (warps > 8 || step.unsupported(&narrow))
      continue; // in a quick look the others are not compiled
    cr_assert_null(step.unsupported(&wide), "%s: %s", *known, step.unsupported(&wide));
  }
}
