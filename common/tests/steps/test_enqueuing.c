// A launch only enqueues its work, and all of it on the stream that it is given.
#define _GNU_SOURCE
#include "device/device.h"
#include "suite.h"
#include "tests/left_out.h"
#include "tests/watched_calls.h"
#include <criterion/criterion.h>
#include <stdlib.h>

static void expect_to_enqueue(attention_shape shape) {
  const attention_step step = suite_step();
  if (left_out(step.unsupported(&shape))) return;
  trial trial;
  cudaStream_t stream;
  suite_prepare(&trial, shape, INPUTS_NORMAL);
  cr_assert_eq(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  attention_args arguments = trial_arguments(&trial);
  const size_t workspace = step.workspace_bytes(&shape);
  if (workspace > 0) cr_assert_eq(cudaMalloc(&arguments.workspace, workspace), cudaSuccess);
  watched_calls_begin(stream);
  const cudaError_t status = step.forward(&arguments, stream);
  const char *call = watched_calls_end();
  cr_assert_eq(status, cudaSuccess, "%s: launching the step failed: %s",
               shape_describe(&shape).text, cudaGetErrorString(status));
  cr_assert_null(call,
                 "%s: the launch calls %s: it may neither wait nor allocate, nor work on another "
                 "stream than its own",
                 shape_describe(&shape).text, call);
  cr_assert_eq(cudaStreamSynchronize(stream), cudaSuccess);
  if (workspace > 0) cudaFree(arguments.workspace);
  cudaStreamDestroy(stream);
  trial_free(&trial);
}

// The first launch of the process, which might keep memory for the later ones. With one multiprocessor there are more
// tiles than blocks. The other shapes are for steps that split the keys, and for those that divide tiles.
Test(enqueuing, on_its_own_stream) {
  setenv("EMU_MULTIPROCESSORS", "1", 1);
  expect_to_enqueue(suite_shape(ATTENTION_FP16, 130, 130, 64, true));
  setenv("EMU_MULTIPROCESSORS", "4", 1);
  expect_to_enqueue(suite_shape(ATTENTION_FP16, 3, 300, 64, true));
  expect_to_enqueue(suite_shape(ATTENTION_FP16, 40, 1030, 64, true));
}
