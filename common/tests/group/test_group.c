// The suite of the steps for several GPUs: right for any number of ranks, any lengths and any configuration.
#define _GNU_SOURCE
#include "suite.h"

#include "tests/left_out.h"
#include "tests/tested_as.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void expect_right_in(const attention_step *configured, attention_shape shape, int ranks) {
  const attention_step step = *configured;
  if (step.configure) step.configure(step.configuration);
  if (step.unsupported(&shape)) return; // a configuration need not take head_dim 128
  trial trial;
  error_text error;
  if (!group_supported(&step, &shape, ranks, &error)) return; // of a variant
  group_suite_prepare(&trial, &shape);
  group_suite_run_and_check(&step, &trial, ranks);
  trial_free(&trial);
}

static void expect_right(attention_shape shape, int ranks) {
  const attention_step step = group_suite_step();
  expect_right_in(&step, shape, ranks);
}

// `make step21 check` tries every number of ranks. A check of the whole lab tries two of them, in turn.
static void expect_right_for_all_ranks(attention_shape shape) {
  static int first = 1;
  const int gpus = group_suite_gpus();
  const char *large = getenv("LAB_LARGE");
  const bool all = large && *large;
  for (int ranks = all ? 1 : 1 + first++ % gpus; ranks <= gpus; ranks += all ? 1 : 3)
    expect_right(shape, ranks);
}

// --- the shares ----------------------------------------------------------------------------------

// scripts/workshop/check.sh asks this first, because a configuration that a step lacks says nothing about its kernels.
Test(group, has_its_configuration) { cr_assert_not_null(group_suite_step().name); }

Test(group, each_row_has_one_rank) {
  static const int lengths[] = {1, 2, 127, 128, 129, 500, 1000, 4096, 5000, 100000};
  const attention_step step = group_suite_step();
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
  const attention_step step = group_suite_step();
  if (tested_number(step.name) < 22) return; // step 21 does not promise it
  for (int ranks = 1; ranks <= 9; ranks++) {
    const int seq = 2 * 256 * ranks;
    for (int rank = 0; rank < ranks; rank++) {
      attention_rows rows[2];
      step.group_rows(seq, rank, ranks, rows);
      long long keys = 0;
      for (int run = 0; run < 2; run++)
        for (int row = 0; row < rows[run].count; row++) keys += rows[run].first + row + 1;
      cr_assert_eq(keys * ranks, (long long)seq * (seq + 1) / 2,
                   "under a causal mask the rows of rank %d of %d see %lld keys together, and "
                   "should see %lld, as those of every rank",
                   rank, ranks, keys, (long long)seq * (seq + 1) / 2 / ranks);
    }
  }
}

// --- the results ---------------------------------------------------------------------------------

Test(group, few_rows) { // most ranks have none
  expect_right_for_all_ranks(group_suite_shape(ATTENTION_FP16, 5, 7, 64, true));
  expect_right_for_all_ranks(group_suite_shape(ATTENTION_BF16, 130, 130, 128, false));
}

Test(group, ragged_lengths) {
  expect_right_for_all_ranks(group_suite_shape(ATTENTION_BF16, 700, 700, 64, true));
  expect_right_for_all_ranks(group_suite_shape(ATTENTION_FP16, 600, 600, 64, false));
}

Test(group, whole_shares) {
  attention_shape shape = group_suite_shape(ATTENTION_BF16, 0, 0, 128, true);
  shape.heads = 1;
  shape.kv_heads = 1;
  const int gpus = group_suite_gpus();
  for (int ranks = 1; ranks <= gpus && ranks <= 4; ranks++) {
    shape.seq_q = shape.seq_kv = 256 * ranks;
    expect_right(shape, ranks);
  }
}

// With a causal mask and more queries than keys the first rows see no key.
Test(group, lengths_that_differ) {
  expect_right_for_all_ranks(group_suite_shape(ATTENTION_FP16, 150, 530, 64, true));
  expect_right_for_all_ranks(group_suite_shape(ATTENTION_BF16, 530, 150, 64, true));
}

Test(group, grouped_heads) {
  attention_shape shape = group_suite_shape(ATTENTION_FP16, 200, 300, 64, true);
  shape.batch = 2;
  shape.heads = 6;
  for (int kv_heads = 1; kv_heads <= 3; kv_heads++) {
    shape.kv_heads = kv_heads;
    expect_right_for_all_ranks(shape);
  }
}

// The other tests are of few tiles, for which the steps choose the configuration of the lowest tiles. Here each
// configuration runs, in both types in turn. On the emulator there is one multiprocessor, so that the tiles are dealt
// out by the counter.
Test(group, each_configuration) {
  setenv("EMU_MULTIPROCESSORS", "1", 1);
  if (group_suite_gpus() < 2) return;
  attention_step step = step_linked();
  int dtype = ATTENTION_FP16;
  for (const char *const *name = step.configurations(); *name; name++, dtype = !dtype) {
    error_text error;
    cr_assert(step_configure(&step, *name, &error), "%s", error.text);
    for (int head_dim = 64; head_dim <= 128; head_dim *= 2, dtype = !dtype) {
      attention_shape shape = group_suite_shape((attention_dtype)dtype, 150, 300, head_dim, true);
      shape.heads = 2;
      shape.kv_heads = 1;
      expect_right_in(&step, shape, 2);
    }
  }
}

// Three consumers and more have too few registers for head_dim 128. Two and one, in up to 8 warps, have enough.
Test(configurations, those_of_few_warps_take_head_dim_128) {
  const attention_shape narrow = group_suite_shape(ATTENTION_FP16, 150, 300, 64, false);
  attention_step step = step_linked();
  group_suite_gpus();
  const attention_shape wide =
      shape_in_the_build(&step, group_suite_shape(ATTENTION_FP16, 150, 300, 128, false));
  for (const char *const *name = step.configurations(); *name; name++) {
    error_text error;
    int warps = 0;
    cr_assert_eq(sscanf(*name, "%*dx%*dx%d", &warps), 1);
    cr_assert(step_configure(&step, *name, &error), "%s", error.text);
    if (warps > 8 || step.unsupported(&narrow))
      continue; // in a quick look the others are not compiled
    cr_assert_null(step.unsupported(&wide), "%s: %s", *name, step.unsupported(&wide));
  }
}

// On GPUs two ranks can otherwise wait for each other at their first launches.
Test(group, kernels_and_connections_are_made_at_the_start) {
  cr_expect_str_eq(getenv("CUDA_MODULE_LOADING"), "EAGER");
  cr_expect_str_eq(getenv("NCCL_RUNTIME_CONNECT"), "0");
}

// A copy from GPU to GPU works without this as well, but through the memory of the host.
Test(group, memory_in_reach) {
  static gpu_group group;
  error_text error;
  if (group_suite_gpus() < 3) return;
  cr_assert(group_open(&group, 3, &error), "%s", error.text);
  for (int pair = 0; pair < 9 && group.reachable; pair++) {
    if (pair / 3 == pair % 3) continue;
    cudaSetDevice(pair / 3);
    cr_expect_eq(cudaDeviceEnablePeerAccess(pair % 3, 0), cudaErrorPeerAccessAlreadyEnabled,
                 "GPU %d was not let into the memory of GPU %d", pair / 3, pair % 3);
  }
  cudaGetLastError();
  group_close(&group);
}

// Where a GPU cannot reach the memory of the others, NCCL brings their keys and values.
Test(group, memory_out_of_reach) {
  setenv("EMU_PEER_ACCESS", "0", 1);
  if (group_suite_gpus() < 2) return;
  attention_shape shape = group_suite_shape(ATTENTION_FP16, 200, 300, 64, true);
  shape.batch = 2;
  shape.heads = 4;
  expect_right(shape, 2);
}

static const char *takes_three_ranks(const attention_shape *shape, int ranks) {
  (void)shape;
  return ranks == 3 ? NULL : "it takes three";
}

Test(group, refuses_what_the_step_cannot_share_out) {
  const attention_shape shape = group_suite_shape(ATTENTION_FP16, 9, 9, 64, true);
  const attention_step any = {.name = "any"};
  const attention_step three = {.name = "three", .group_unsupported = takes_three_ranks};
  error_text error;
  cr_expect(group_supported(&any, &shape, 2, &error), "%s", error.text);
  cr_expect(group_supported(&three, &shape, 3, &error), "%s", error.text);
  cr_expect_not(group_supported(&three, &shape, 2, &error));
  cr_expect_str_eq(error.text, "three cannot take 1x2x9x64 fp16 causal on 2 GPUs: it takes three",
                   "%s", error.text);
}

// A value that the user has set stays, unless a number has been given.
Test(group, the_emulator_imitates_what_is_asked_for) {
  static const struct {
    const char *set;
    int gpus;
    bool overwrite;
    const char *expected;
  } cases[] = {{"3", 2, false, "3"}, {"3", 2, true, "2"}, {"3", 8, true, "8"}, {"3", 9, true, "8"}};
  for (size_t i = 0; i < LENGTH(cases); i++) {
    setenv("EMU_GPUS", cases[i].set, 1);
    group_imitate(cases[i].gpus, cases[i].overwrite);
    cr_expect_str_eq(getenv("EMU_GPUS"), cases[i].expected, "case %zu", i);
  }
}

Test(group, refuses_too_many_ranks) {
  const attention_shape shape = group_suite_shape(ATTENTION_FP16, 3, 9, 64, false);
  error_text error;
  cr_assert(group_fits(&shape, 3, 4, &error));
  cr_assert_not(group_fits(&shape, 4, 4, &error));
  cr_assert(strstr(error.text, "4 GPUs cannot take 3 rows of the queries"), "%s", error.text);
  cr_assert_not(group_fits(&shape, 3, 2, &error));
  cr_assert(strstr(error.text, "--gpus is 3, and there are 2"), "%s", error.text);
  cr_assert(group_fits(&shape, 3, 3, &error));
  const attention_shape few_keys = group_suite_shape(ATTENTION_FP16, 9, 3, 64, false);
  cr_assert_not(group_fits(&few_keys, 4, 4, &error));
  cr_assert(strstr(error.text, "4 GPUs cannot take 3 rows of the keys"), "%s", error.text);
  // As many as a group has room for, and one more.
  const attention_shape many = group_suite_shape(ATTENTION_FP16, 99, 99, 64, false);
  cr_assert(group_fits(&many, GROUP_MOST_RANKS, GROUP_MOST_RANKS, &error));
  cr_assert_not(group_fits(&many, GROUP_MOST_RANKS + 1, GROUP_MOST_RANKS + 1, &error));
  cr_assert(strstr(error.text, "--gpus is 65: give at most 64"), "%s", error.text);
  // The emulator imitates eight.
  cr_assert_not(group_fits(&many, 8, 1, &error));
  cr_assert(strstr(error.text, "there is 1: give at most as many, or with DEVICE=cpu let the "
                               "emulator imitate them, EMU_GPUS=8"),
            "%s", error.text);
  cr_assert_not(group_fits(&many, 9, 4, &error));
  cr_assert_not(strstr(error.text, "EMU_GPUS"), "%s", error.text);
}
