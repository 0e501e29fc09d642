// The suite of the steps for several GPUs: right for any number of ranks and any lengths, and ended by a rank that fails.
// On the emulator the GPUs are imitated, EMU_GPUS of them or five.
#define _GNU_SOURCE
#include "device/device.h"
#include "group/group.h"
#include "inputs/inputs.h"
#include "shape/shape.h"
#include "tests/failing_calls.h"
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <nccl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

FAILING_FUNCTION(ncclResult_t, ncclInternalError, ncclAllGather,
                 (const void *send, void *receive, size_t count, ncclDataType_t type,
                  ncclComm_t comm, cudaStream_t stream),
                 (send, receive, count, type, comm, stream))
FAILING_FUNCTION(ncclResult_t, ncclInternalError, ncclAllReduce,
                 (const void *send, void *receive, size_t count, ncclDataType_t type,
                  ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream),
                 (send, receive, count, type, reduction, comm, stream))

static attention_step step_under_test(void) {
  attention_step step = step_linked();
  const char *name = getenv("LAB_CONFIG");
  error_text error;
  if (name && *name) cr_assert(step_configure(&step, name, &error), "%s", error.text);
  return step;
}

static int count_gpus(void) {
  setenv("EMU_GPUS", "5", 0); // a GPU does not read it
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  int gpus = 0;
  cr_assert_eq(cudaGetDeviceCount(&gpus), cudaSuccess);
  return gpus;
}

static attention_shape shape_of(attention_dtype dtype, int seq_q, int seq_kv, int head_dim,
                                bool causal) {
  const float scale = 1.0f / sqrtf((float)head_dim);
  return (attention_shape){dtype, 1, 2, 2, seq_q, seq_kv, head_dim, causal, scale};
}

static void prepare(trial *trial, const attention_shape *shape) {
  static uint64_t seed = 1;
  error_text error;
  cr_assert(trial_create(trial, shape, &error), "%s", error.text);
  inputs_fill(shape, INPUTS_NORMAL, INPUTS_Q, seed, trial->q);
  inputs_fill(shape, INPUTS_NORMAL, INPUTS_K, seed, trial->k);
  inputs_fill(shape, INPUTS_NORMAL, INPUTS_V, seed, trial->v);
  seed++;
  cr_assert(trial_reference(trial, &error), "%s", error.text);
}

static void expect_right_in(const attention_step *configured, attention_shape shape, int ranks) {
  const attention_step step = *configured;
  if (step.configure) step.configure(step.configuration);
  if (step.unsupported(&shape)) return; // a configuration need not take head_dim 128
  static gpu_group group;
  const shape_text where = shape_describe(&shape);
  trial trial;
  error_text error;
  check_result result;
  prepare(&trial, &shape);
  cr_assert(group_open(&group, ranks, &error), "%s", error.text);
  cr_assert(group_deal(&group, &step, &trial, &error), "%s", error.text);
  for (int o_alone = 0; o_alone <= 1; o_alone++) {
    trial.o_alone = o_alone;
    cr_assert(group_run(&group, &step, 1, &trial, &error), "%d ranks, %s: %s", ranks, where.text,
              error.text);
    cr_assert(group_check(&group, &trial, &result), "%d ranks, %s%s: %s", ranks, where.text,
              o_alone ? ", O alone" : "", result.message.text);
  }
  group_close(&group);
  trial_free(&trial);
}

static void expect_right(attention_shape shape, int ranks) {
  const attention_step step = step_under_test();
  expect_right_in(&step, shape, ranks);
}

// `make step21 check` tries every number of ranks. A check of the whole lab tries two of them, in turn.
static void expect_right_for_all_ranks(attention_shape shape) {
  static int first = 1;
  const int gpus = count_gpus();
  const char *large = getenv("LAB_LARGE");
  const bool all = large && *large;
  for (int ranks = all ? 1 : 1 + first++ % gpus; ranks <= gpus; ranks += all ? 1 : 3)
    expect_right(shape, ranks);
}

// --- the shares ----------------------------------------------------------------------------------

Test(group, each_row_has_one_rank) {
  static const int lengths[] = {1, 2, 127, 128, 129, 500, 1000, 4096, 5000, 100000};
  const attention_step step = step_under_test();
  for (size_t i = 0; i < LENGTH(lengths); i++) {
    for (int ranks = 1; ranks <= 9; ranks++) {
      char *times = calloc((size_t)lengths[i], 1); // that each row is dealt out
      for (int rank = 0; rank < ranks; rank++) {
        attention_rows rows[2];
        step.group_rows(lengths[i], rank, ranks, rows);
        for (int run = 0; run < 2; run++) {
          cr_assert(rows[run].count >= 0 && rows[run].first >= 0 &&
                        rows[run].first + rows[run].count <= lengths[i],
                    "%d rows, rank %d of %d: rows %d to %d are not there", lengths[i], rank, ranks,
                    rows[run].first, rows[run].first + rows[run].count - 1);
          for (int row = 0; row < rows[run].count; row++) times[rows[run].first + row]++;
        }
      }
      for (int row = 0; row < lengths[i]; row++)
        cr_assert_eq(times[row], 1, "%d rows: row %d belongs to %d of %d ranks", lengths[i], row,
                     times[row], ranks);
      free(times);
    }
  }
}

// From step 22 on, all ranks see as many keys under a causal mask.
Test(group, causal_work_is_equal) {
  const attention_step step = step_under_test();
  if (strcmp(step.name, "22") < 0) return; // step 21 does not promise it
  for (int ranks = 1; ranks <= 9; ranks++) {
    const int seq = 2 * 256 * ranks;
    for (int rank = 0; rank < ranks; rank++) {
      attention_rows rows[2];
      step.group_rows(seq, rank, ranks, rows);
      long long keys = 0;
      for (int run = 0; run < 2; run++)
        for (int row = 0; row < rows[run].count; row++) keys += rows[run].first + row + 1;
      cr_assert_eq(keys * ranks, (long long)seq * (seq + 1) / 2, "rank %d of %d sees %lld keys",
                   rank, ranks, keys);
    }
  }
}

// --- the results ---------------------------------------------------------------------------------

Test(group, few_rows) { // most ranks have none
  expect_right_for_all_ranks(shape_of(ATTENTION_FP16, 5, 7, 64, true));
  expect_right_for_all_ranks(shape_of(ATTENTION_BF16, 130, 130, 128, false));
}

Test(group, ragged_lengths) {
  expect_right_for_all_ranks(shape_of(ATTENTION_BF16, 700, 700, 64, true));
  expect_right_for_all_ranks(shape_of(ATTENTION_FP16, 600, 600, 64, false));
}

Test(group, whole_shares) {
  attention_shape shape = shape_of(ATTENTION_BF16, 0, 0, 128, true);
  shape.heads = 1;
  shape.kv_heads = 1;
  const int gpus = count_gpus();
  for (int ranks = 1; ranks <= gpus && ranks <= 4; ranks++) {
    shape.seq_q = shape.seq_kv = 256 * ranks;
    expect_right(shape, ranks);
  }
}

// With a causal mask and more queries than keys the first rows see no key.
Test(group, lengths_that_differ) {
  expect_right_for_all_ranks(shape_of(ATTENTION_FP16, 150, 530, 64, true));
  expect_right_for_all_ranks(shape_of(ATTENTION_BF16, 530, 150, 64, true));
}

Test(group, grouped_heads) {
  attention_shape shape = shape_of(ATTENTION_FP16, 200, 300, 64, true);
  shape.batch = 2;
  shape.heads = 6;
  for (int kv_heads = 1; kv_heads <= 3; kv_heads++) {
    shape.kv_heads = kv_heads;
    expect_right_for_all_ranks(shape);
  }
}

// The other tests are of few tiles, for which the steps choose the configuration of the lowest tiles. Here each
// configuration has more tiles than there are multiprocessors, so that the tiles are dealt out by the counter.
Test(group, each_configuration) {
  setenv("EMU_MULTIPROCESSORS", "1", 1);
  if (count_gpus() < 2) return;
  attention_step step = step_linked();
  for (const char *const *name = step.configurations(); *name; name++) {
    error_text error;
    cr_assert(step_configure(&step, *name, &error), "%s", error.text);
    for (int variant = 0; variant < 4; variant++) {
      attention_shape shape = shape_of(variant % 2 ? ATTENTION_BF16 : ATTENTION_FP16, 150, 300,
                                       64 << variant / 2, true);
      shape.heads = 2;
      shape.kv_heads = 1;
      expect_right_in(&step, shape, 2);
    }
  }
}

// Where a GPU cannot reach the memory of the others, NCCL brings their keys and values.
Test(group, memory_out_of_reach) {
  setenv("EMU_PEER_ACCESS", "0", 1);
  if (count_gpus() < 2) return;
  attention_shape shape = shape_of(ATTENTION_FP16, 200, 300, 64, true);
  shape.batch = 2;
  shape.heads = 4;
  expect_right(shape, 2);
}

// A launch must not overwrite K and V that the launch before still reads, on any rank.
Test(group, launches_back_to_back) {
  const attention_step step = step_under_test();
  const attention_shape shape = shape_of(ATTENTION_BF16, 300, 300, 64, true);
  static gpu_group group;
  trial trial;
  error_text error;
  check_result result;
  const int gpus = count_gpus();
  prepare(&trial, &shape);
  cr_assert(group_open(&group, gpus < 3 ? gpus : 3, &error), "%s", error.text);
  cr_assert(group_deal(&group, &step, &trial, &error), "%s", error.text);
  cr_assert(group_run(&group, &step, 5, &trial, &error), "%s", error.text);
  cr_assert(group_check(&group, &trial, &result), "%s", result.message.text);
  group_close(&group);
  trial_free(&trial);
}

// --- ranks that fail -----------------------------------------------------------------------------

// Each call of CUDA or NCCL that a launch makes on the host fails once. The rank is told that there is another one whose
// tensors are these as well, but its communicator has no other, so that no rank waits for one that fails.
static void expect_failures_to_be_reported(bool reachable) {
  const attention_step step = step_under_test();
  static gpu_group group;
  error_text error;
  attention_shape shape = shape_of(ATTENTION_FP16, 150, 300, 64, true);
  shape.kv_heads = 1;
  shape.batch = 2;
  char *memory;
  const size_t tensor = 300 * 64 * 2 * 2 * sizeof(uint16_t);
  const size_t workspace = step.group_workspace_bytes(&shape, 2);
  cr_assert(group_open(&group, 1, &error), "%s", error.text);
  cr_assert_eq(cudaMalloc((void **)&memory, 5 * tensor + workspace), cudaSuccess);
  cr_assert_eq(cudaMemset(memory, 0, 5 * tensor + workspace), cudaSuccess);
  const attention_args args = {.shape = shape,
                               .q = memory,
                               .k = memory + tensor,
                               .v = memory + 2 * tensor,
                               .o = memory + 3 * tensor,
                               .lse = (float *)(memory + 4 * tensor),
                               .workspace = memory + 5 * tensor};
  const attention_peer peers[2] = {{args.k, args.v}, {args.k, args.v}};
  attention_group rank = group.members[0].group;
  rank.ranks = 2;
  rank.peers = reachable ? peers : NULL;
  for (int before = 0; before <= 1; before++) { // see test_interface.c of the other steps
    const char *failed = "";
    for (int number = 1; failed; number++) {
      failing_calls_begin(number);
      const cudaError_t status = step.forward_group(&args, &rank, group.members[0].stream);
      failed = failing_calls_end();
      if (failed)
        cr_assert_neq(status, cudaSuccess, "call %d, %s, fails, and the step returns no error",
                      number, failed);
      else
        cr_assert_eq(status, cudaSuccess);
      cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
      cudaGetLastError();
    }
  }
  cudaFree(memory);
  group_close(&group);
}

Test(group, failures_of_calls_are_reported) {
  setenv("EMU_MULTIPROCESSORS", "1", 1); // less than there are tiles
  count_gpus();
  expect_failures_to_be_reported(true);
  expect_failures_to_be_reported(false);
}

static bool fail_on_rank_1(gpu_group *group, gpu_rank *rank, void *context, error_text *error) {
  const attention_step *step = context;
  if (rank->group.rank == 1) return fail(error, "rank 1 fails for a test");
  const attention_args args = group_arguments(group, rank, false);
  return device_ok(step->forward_group(&args, &rank->group, rank->stream), "a launch", error) &&
         group_wait(group, rank, error);
}

Test(group, a_rank_that_fails_ends_all) {
  attention_step step = step_under_test();
  const attention_shape shape = shape_of(ATTENTION_FP16, 256, 256, 64, false);
  static gpu_group group;
  trial trial;
  error_text error;
  if (count_gpus() < 2) return;
  prepare(&trial, &shape);
  cr_assert(group_open(&group, 2, &error), "%s", error.text);
  cr_assert(group_deal(&group, &step, &trial, &error), "%s", error.text);
  const time_t begin = time(NULL);
  cr_assert_not(group_each(&group, fail_on_rank_1, &step, &error));
  cr_assert_str_eq(error.text, "rank 1 fails for a test");
  cr_assert_lt(time(NULL) - begin, 10);
  group_close(&group);
  trial_free(&trial);
}

Test(group, refuses_too_many_ranks) {
  const attention_shape shape = shape_of(ATTENTION_FP16, 3, 9, 64, false);
  error_text error;
  cr_assert(group_fits(&shape, 3, 4, &error));
  cr_assert_not(group_fits(&shape, 4, 4, &error));
  cr_assert(strstr(error.text, "4 GPUs cannot take 3 rows of the queries"), "%s", error.text);
  cr_assert_not(group_fits(&shape, 3, 2, &error));
  cr_assert(strstr(error.text, "--gpus is 3, and there are 2"), "%s", error.text);
}
