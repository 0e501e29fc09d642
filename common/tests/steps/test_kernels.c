// Every kernel that a step is compiled into is run: each configuration that it can choose, in each element type and
// padded head_dim. On the emulator, which knows the kernels of a program; a GPU does not tell which it has run.
#define _GNU_SOURCE
#include "suite.h"

#include "device/device.h"
#include "options/options.h"
#include "tests/tested_as.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int compiled, launched;
  char missing[512]; // the first kernel that was not launched
} kernel_count;

// The C++ library provides this function (Itanium C++ ABI, section 3.4).
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

static void count_kernel(const char *mangled, bool launched, void *context) {
  kernel_count *count = context;
  if (!launched && count->compiled == count->launched) {
    int status;
    char *name = __cxa_demangle(mangled, NULL, NULL, &status);
    snprintf(count->missing, sizeof count->missing, "%s", name ? name : mangled);
    free(name);
  }
  count->compiled++;
  count->launched += launched;
}

// Counts the kernels of the linked step, which the emulator lists. On a GPU it counts none.
static kernel_count count_kernels(void) {
  kernel_count count = {0};
  void *forward;
  cudaError_t (*const function)(const attention_args *, cudaStream_t) = step_linked().forward;
  memcpy(&forward, &function, sizeof forward);
  const bool known = device_visit_kernels(forward, count_kernel, &count);
  cr_assert_eq(known, suite_emulated(), "the program's symbols cannot be read");
  cr_assert(!known || count.compiled > 0, "the step has no kernel");
  return count;
}

static bool all_launched(void) {
  const kernel_count count = count_kernels();
  return count.compiled > 0 && count.compiled == count.launched;
}

static void expect_all_launched(const char *where) {
  const kernel_count count = count_kernels();
  cr_assert_eq(count.launched, count.compiled,
               "%d of the step's %d kernels are launched by no problem of %s, such as %s: does "
               "the step choose it where it should? If it does, add a problem that reaches it",
               count.compiled - count.launched, count.compiled, where, count.missing);
}

typedef struct {
  int heads, seq_q, seq_kv, head_dim;
  bool causal;
} problem;

// Whether a step has kernels of their own for callers that ask for O alone. The first problem tells. Where it has none, a
// kernel may still do something else without lse, so O alone is checked with the step's own choice of a configuration.
static enum { UNKNOWN, SAME_KERNELS, OWN_KERNELS } without_lse;

static void expect_right(const problem *problem, attention_dtype dtype, const char *configuration) {
  attention_step step = step_linked();
  error_text error;
  cr_assert(step_configure(&step, configuration, &error), "%s", error.text);
  attention_shape shape =
      suite_shape(dtype, problem->seq_q, problem->seq_kv, problem->head_dim, problem->causal);
  shape.heads = shape.kv_heads = problem->heads;
  if (step.unsupported(&shape)) return;
  char name[96] = "the step's own choice";
  if (configuration && configuration[0] == ':')
    snprintf(name, sizeof name, "--splits %s", configuration + 1);
  else if (configuration)
    snprintf(name, sizeof name, "--config %s", configuration);
  const shape_text where = shape_describe(&shape);
  trial trial;
  suite_prepare(&trial, shape, INPUTS_NORMAL);
  check_result result;
  cr_assert(trial_run(&trial, &step, NULL, &error), "%s, %s: %s", name, where.text, error.text);
  cr_assert(trial_check(&trial, &result), "%s, %s: %s", name, where.text, result.message.text);
  const int launched = count_kernels().launched;
  if (without_lse != SAME_KERNELS || !configuration) {
    cr_assert(trial_check_o_alone(&trial, &step, &result), "%s, %s: %s", name, where.text,
              result.message.text);
  }
  if (without_lse == UNKNOWN && suite_emulated())
    without_lse = count_kernels().launched == launched ? SAME_KERNELS : OWN_KERNELS;
  trial_free(&trial);
}

// With 4 multiprocessors, so that a step which chooses by their number chooses as it does in a problem that fills
// them.
Test(kernels, each_is_launched_and_right) {
  // For each configuration; the keys go round every ring of stages.
  static const problem small[] = {{1, 150, 210, 64, true},
                                  {1, 150, 210, 128, false},
                                  {1, 70, 210, 128, true},
                                  {1, 150, 210, 33, false},
                                  {1, 150, 210, 9, true}};
  // For the step's own choice, as long as a kernel is left: the cheapest first.
  static const problem large[] = {
      {1, 3, 210, 64, false}, // one tile: steps that split the keys split these
      {1, 3, 210, 128, true},   {2, 300, 650, 64, false}, {1, 300, 650, 128, false},
      {1, 530, 530, 128, true}, {1, 4097, 140, 64, true}};
  setenv("EMU_MULTIPROCESSORS", "4", 1);
  setenv("EMU_GPU", "h200", 1); // which refuses no kernel
  static const char *const none[] = {NULL};
  const attention_step step = step_linked();
  const char *const *name = step.configurations ? step.configurations() : none;
  for (int dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++) {
    for (const char *const *next = name;; next++) { // NULL, at the end, is the step's own choice
      for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        expect_right(&small[i], (attention_dtype)dtype, *next);
      if (!*next) break;
    }
  }
  // For a step with kernels that run only where a tile is divided, and others that run only where none is: few rows, with
  // many keys and with few.
  static const problem few_rows[] = {{1, 40, 1030, 64, true},
                                     {1, 40, 1030, 128, false},
                                     {1, 40, 100, 64, true},
                                     {1, 40, 100, 128, false}};
  for (const char *const *next = name; *next && !all_launched(); next++) {
    for (size_t i = 0; i < 8; i++) // each in both types
      expect_right(&few_rows[i / 2], (attention_dtype)(i % 2), *next);
  }
  for (size_t i = 0; i < sizeof large / sizeof large[0] && !all_launched(); i++) {
    expect_right(&large[i], ATTENTION_FP16, NULL);
    expect_right(&large[i], ATTENTION_BF16, NULL);
  }
  expect_all_launched("common/tests/steps/test_kernels.c");
}

// The numbers of splits that the command line may ask for, also more than there are blocks of keys. In the third problem
// the first rows see no key, so that there is nothing to merge, and in the last one no number divides the blocks.
Test(kernels, any_number_of_splits) {
  static const problem problems[] = {{2, 3, 210, 64, true},
                                     {1, 70, 210, 128, false},
                                     {1, 70, 33, 64, true},
                                     {1, 3, 600, 128, false}};
  static const char *const splits[] = {":1", ":2", ":3", ":40"};
  attention_step step = step_linked();
  error_text error;
  if (!step_configure(&step, splits[0], &error)) return; // it does not split the keys
  for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
    expect_right(&problems[0], ATTENTION_FP16, splits[i]);
    expect_right(&problems[1], ATTENTION_BF16, splits[i]);
    expect_right(&problems[2], ATTENTION_FP16, splits[i]);
    expect_right(&problems[3], ATTENTION_BF16, splits[i]);
  }
}

// Runs the linked step as its program does with these options.
static void run_line(char *line) {
  enum { MOST = 40 };
  char *words[MOST] = {"step"};
  int count = 1;
  for (char *word = strtok(line, " \n"); word && count < MOST; word = strtok(NULL, " \n"))
    words[count++] = word;
  attention_step step = step_linked();
  options options;
  error_text error;
  trial trial;
  cr_assert(options_parse(count, words, &options, &error), "%s: %s", SANITIZE_SHAPES, error.text);
  const attention_shape shape = options_shape(&options, true);
  cr_assert(step_configure(&step, options.config, &error), "%s: %s", SANITIZE_SHAPES, error.text);
  if (step.unsupported(&shape)) return;
  cr_assert(trial_create(&trial, &shape, &error), "%s: %s", SANITIZE_SHAPES, error.text);
  trial.o_alone = options.given[OPTION_O_ALONE];
  cr_assert(trial_upload(&trial, &error) && trial_run(&trial, &step, NULL, &error), "%s: %s: %s",
            SANITIZE_SHAPES, shape_describe(&shape).text, error.text);
  trial_free(&trial);
}

// A sanitizer says nothing of a kernel that it has not seen. The emulator's has 2 multiprocessors.
Test(kernels, each_is_sanitized) {
  if (!suite_emulated()) cr_skip_test("a GPU does not tell which kernels it has run");
  setenv("EMU_MULTIPROCESSORS", "2", 1);
  setenv("EMU_GPU", "h200", 1);
  FILE *file = fopen(SANITIZE_SHAPES, "r");
  cr_assert_not_null(file, "cannot read %s: run the tests from the folder of the lab",
                     SANITIZE_SHAPES);
  char line[512], name[64];
  tested_as(step_linked().name, name);
  while (fgets(line, sizeof line, file)) {
    const size_t step = strcspn(line, " \n");
    const bool every = strncmp(line, "every ", 6) == 0;
    if (every || (strncmp(line, name, step) == 0 && !name[step])) run_line(line + step);
  }
  fclose(file);
  expect_all_launched(SANITIZE_SHAPES);
}
