// A step gives the right result whatever its workspace holds before a launch.
#define _POSIX_C_SOURCE 200809L // setenv

#include "device/device.h"
#include "suite.h"
#include "tests/failing_calls.h"
#include <criterion/criterion.h>
#include <stdlib.h>

// A launch must not take what one before has left in the workspace. All values change their sign, and so must O.
Test(workspaces, with_other_values_in_the_same_workspace) {
  error_text error;
  trial trial;
  suite_prepare(&trial, suite_shape(ATTENTION_FP16, 3, 300, 64, true), INPUTS_NORMAL);
  suite_run_and_check(&trial, NULL);
  for (size_t i = 0; i < shape_kv_count(&trial.shape); i++) trial.v[i] ^= 0x8000;
  suite_upload(&trial);
  cr_assert(trial_reference(&trial, &error), "%s", error.text);
  const attention_args arguments = trial_arguments(&trial);
  suite_expect_right_again(&trial, &arguments);
  trial_free(&trial);
}

// Nor what a launch with fewer rows has left: here one row less in the last tile of 64 rows. Whether a block reads what
// is left depends on the order in which blocks run, so there are several rounds.
Test(workspaces, with_fewer_rows_in_the_same_workspace) {
  error_text error;
  trial more, fewer;
  suite_prepare(&more, suite_shape(ATTENTION_FP16, 66, 300, 64, true), INPUTS_NORMAL);
  suite_prepare(&fewer, suite_shape(ATTENTION_FP16, 65, 300, 64, true), INPUTS_NORMAL);
  suite_run_and_check(&more, NULL);
  const attention_args arguments = trial_arguments(&more);
  attention_args before = trial_arguments(&fewer);
  before.workspace = arguments.workspace;
  for (int round = 0; round < 10; round++) {
    cr_assert(device_ok(suite_step().forward(&before, NULL), "launching", &error), "%s",
              error.text);
    suite_expect_right_again(&more, &arguments);
  }
  trial_free(&more);
  trial_free(&fewer);
}

static void expect_right_with_counters(attention_shape shape) {
  static const uint64_t words[] = {0xfff500000000c0de, 0xfff500003f800000, 0x3f8123450000c0de};
  error_text error;
  trial trial;
  suite_prepare(&trial, shape, INPUTS_NORMAL);
  suite_run_and_check(&trial, NULL);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    for (size_t at = 0; at + sizeof *words <= trial.workspace.bytes; at += sizeof *words)
      cr_assert_eq(cudaMemcpy((char *)trial.workspace.data + at, &words[i], sizeof *words,
                              cudaMemcpyHostToDevice),
                   cudaSuccess);
    const attention_args arguments = trial_arguments(&trial);
    for (int launch = 0; launch < 3; launch++) { // the later ones have what those before have left
      cr_assert(guard_poison(&trial.device_o, &error));
      suite_expect_right_again(&trial, &arguments);
    }
  }
  trial_free(&trial);
}

// Nor may it take what another step has left there: here counters all over (count_call in counter.cuh), and words of
// which another number covers one half of a counter. With two multiprocessors there are more tiles than blocks. The other
// shape is for steps that split the keys.
Test(workspaces, with_counters_in_the_workspace) {
  setenv("EMU_MULTIPROCESSORS", "2", 1);
  attention_shape shape = suite_shape(ATTENTION_FP16, 130, 130, 64, true);
  shape.heads = shape.kv_heads = suite_emulated() ? 3 : 140;
  expect_right_with_counters(shape);
  setenv("EMU_MULTIPROCESSORS", "4", 1);
  expect_right_with_counters(suite_shape(ATTENTION_FP16, 3, 300, 64, true));
}

// Memory on the device that is new to the step. It may hold anything: here all words are marks of step 25 (words.cuh).
static void *new_memory(size_t bytes) {
  void *memory;
  uint32_t *marks = malloc(bytes);
  cr_assert_not_null(marks);
  for (size_t i = 0; i < bytes / sizeof *marks; i++) marks[i] = 0xffeadbed;
  cr_assert_eq(cudaMalloc(&memory, bytes), cudaSuccess);
  cr_assert_eq(cudaMemcpy(memory, marks, bytes, cudaMemcpyHostToDevice), cudaSuccess);
  free(marks);
  return memory;
}

// A problem that needs more of it comes second. The first one clears its own part alone.
Test(workspaces, with_more_of_new_memory) {
  error_text error;
  trial few, many;
  suite_prepare(&few, suite_shape(ATTENTION_FP16, 3, 300, 64, false), INPUTS_NORMAL);
  suite_prepare(&many, suite_shape(ATTENTION_FP16, 3, 1500, 64, false), INPUTS_NORMAL);
  suite_run_and_check(&few, NULL);
  suite_run_and_check(&many, NULL);
  const size_t bytes = many.workspace.bytes;
  if (bytes > few.workspace.bytes) {
    attention_args first = trial_arguments(&few), second = trial_arguments(&many);
    first.workspace = second.workspace = new_memory(bytes);
    cr_assert(device_ok(suite_step().forward(&first, NULL), "launching", &error), "%s", error.text);
    suite_expect_right_again(&many, &second);
    cudaFree(first.workspace);
  }
  trial_free(&few);
  trial_free(&many);
}

// A launch that a graph records clears nothing before the graph is replayed, so memory that is new to it stays new.
Test(workspaces, behind_one_that_a_graph_records) {
  error_text error;
  trial trial;
  suite_prepare(&trial, suite_shape(ATTENTION_FP16, 3, 1500, 64, false), INPUTS_NORMAL);
  suite_run_and_check(&trial, NULL);
  attention_args arguments = trial_arguments(&trial);
  const size_t bytes = trial.workspace.bytes;
  if (bytes > 0) {
    cudaStream_t stream;
    cudaGraph_t graph;
    arguments.workspace = new_memory(bytes);
    cr_assert_eq(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    cr_assert_eq(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
    cr_assert(device_ok(suite_step().forward(&arguments, stream), "recording", &error), "%s",
              error.text);
    cr_assert_eq(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cr_assert(guard_poison(&trial.device_o, &error));
    suite_expect_right_again(&trial, &arguments);
    cudaFree(arguments.workspace);
  }
  trial_free(&trial);
}

// Nor is memory known if the launch that was the first to use it has failed.
Test(workspaces, behind_a_launch_that_fails) {
  enum {
    CALLS = 8
  }; // of a launch at most; the memory of each stays, because its place would be known
  error_text error;
  void *memory[CALLS] = {NULL};
  trial trial;
  suite_prepare(&trial, suite_shape(ATTENTION_FP16, 3, 1500, 64, false), INPUTS_NORMAL);
  suite_run_and_check(&trial, NULL);
  const char *failed = trial.workspace.bytes > 0 ? "" : NULL;
  for (int number = 1; failed; number++) {
    cr_assert_leq(number, CALLS);
    attention_args arguments = trial_arguments(&trial);
    arguments.workspace = memory[number - 1] = new_memory(trial.workspace.bytes);
    failing_calls_begin(number);
    suite_step().forward(&arguments, NULL);
    failed = failing_calls_end();
    cudaGetLastError(); // of a kernel that was launched all the same
    cr_assert(guard_poison(&trial.device_o, &error));
    suite_expect_right_again(&trial, &arguments);
  }
  for (int i = 0; i < CALLS; i++) cudaFree(memory[i]);
  trial_free(&trial);
}
