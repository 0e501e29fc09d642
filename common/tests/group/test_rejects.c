// What several ranks have written is collected and checked as that of one. A fake step copies the right answers to the
// parts of the ranks, except for one planted fault of one rank, which must be found.
#include "suite.h"

#include "device/device.h"
#include "numeric/float16.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, LAST = RANKS - 1, WORKSPACE = 64 };

typedef enum {
  CLEAN,
  UNWRITTEN,     // the last element of a rank's O
  UNWRITTEN_LSE, // likewise
  FROM_WORKSPACE,
  WRONG_WITHOUT_LSE,
  TWO_UNITS_OFF_WITHOUT_LSE, // which is right
  NO_LAUNCH_WITHOUT_LSE,
  PAST_LSE,
  CHANGED_Q,
  CHANGED_THE_END_OF_K
} fault;

static fault planted;
static bool row_of_no_rank; // the last row
static trial tested;
static gpu_group group;
static uint16_t *right_o;
static float *right_lse;
static bool lse_asked_for, peers_given; // in the last launch of the last rank

// Two pieces for each rank, one from either end. Of two rows in six pieces rank 1 has none.
static void rows_of_a_rank(int seq, int rank, int ranks, attention_rows rows[2]) {
  for (int run = 0; run < 2; run++) {
    const int piece = run == 0 ? rank : 2 * ranks - 1 - rank;
    rows[run].first = seq * piece / (2 * ranks);
    rows[run].count = seq * (piece + 1) / (2 * ranks) - rows[run].first;
    if (row_of_no_rank && rank == 0 && run == 1) rows[run].count--;
  }
}

static void copy_rows(char *part, const void *whole, int heads, int seq, size_t bytes, int rank) {
  attention_rows rows[2];
  rows_of_a_rank(seq, rank, RANKS, rows);
  for (int head = 0; head < heads; head++)
    for (int run = 0; run < 2; run++) {
      const size_t count = (size_t)rows[run].count * bytes;
      memcpy(part, (const char *)whole + (size_t)(head * seq + rows[run].first) * bytes, count);
      part += count;
    }
}

static cudaError_t fake_forward(const attention_args *args, const attention_group *of,
                                cudaStream_t stream) {
  const gpu_rank *member = &group.members[of->rank];
  const attention_shape *shape = &args->shape;
  const int heads = group.by_heads ? 1 : shape->batch * shape->heads;
  const int seq = shape->seq_q * shape->batch * shape->heads / heads;
  const size_t dim = (size_t)shape->head_dim;
  size_t o_bytes = member->o.bytes, lse_bytes = member->lse.bytes;
  uint16_t *o = malloc(o_bytes + 2);
  float *lse = malloc(lse_bytes + 4);
  cr_assert(o && lse);
  copy_rows((char *)o, right_o, heads, seq, dim * sizeof *o, of->rank);
  copy_rows((char *)lse, right_lse, heads, seq, sizeof *lse, of->rank);
  (void)stream;
  cudaError_t status = cudaSuccess;
  if (of->rank == LAST) {
    lse_asked_for = args->lse;
    peers_given = of->peers && of->peers[LAST].k == args->k && of->peers[LAST].v == args->v;
    if (planted == UNWRITTEN) o_bytes -= sizeof *o;
    if (planted == UNWRITTEN_LSE) lse_bytes -= sizeof *lse;
    if (planted == FROM_WORKSPACE) cudaMemcpy(o, args->workspace, 2, cudaMemcpyDeviceToHost);
    if (planted == WRONG_WITHOUT_LSE && !args->lse) o[0] ^= 0x8000; // the sign
    if (planted == TWO_UNITS_OFF_WITHOUT_LSE && !args->lse) o[0] ^= 2;
    if (planted == NO_LAUNCH_WITHOUT_LSE && !args->lse) status = cudaErrorInvalidValue;
    if (planted == PAST_LSE) cudaMemset((char *)args->lse + lse_bytes + 1, 0, 1);
    if (planted == CHANGED_Q) cudaMemset((void *)(uintptr_t)args->q, 0, 2);
    if (planted == CHANGED_THE_END_OF_K)
      cudaMemset((char *)(uintptr_t)args->k + member->k.bytes - 2, 0, 2);
  }
  cudaMemcpy(args->o, o, o_bytes, cudaMemcpyHostToDevice);
  if (args->lse) cudaMemcpy(args->lse, lse, lse_bytes, cudaMemcpyHostToDevice);
  free(o);
  free(lse);
  return status;
}

static size_t fake_workspace_bytes(const attention_shape *shape, int ranks) {
  (void)shape, (void)ranks;
  return WORKSPACE;
}

static const attention_step fake = {.name = "fake",
                                    .summary = "",
                                    .forward_group = fake_forward,
                                    .group_rows = rows_of_a_rank,
                                    .group_workspace_bytes = fake_workspace_bytes};

// Returns whether there are enough GPUs.
static bool open_problem(int seq_q) {
  error_text error;
  if (group_suite_gpus() < RANKS) return false;
  const attention_shape shape = group_suite_shape(ATTENTION_FP16, seq_q, 31, 8, false);
  group_suite_prepare(&tested, &shape);
  right_o = malloc(shape_q_count(&shape) * sizeof *right_o);
  right_lse = malloc(shape_lse_count(&shape) * sizeof *right_lse);
  cr_assert(right_o && right_lse);
  for (size_t i = 0; i < shape_q_count(&shape); i++)
    right_o[i] = fp16_from_float((float)tested.reference.o[i]);
  for (size_t i = 0; i < shape_lse_count(&shape); i++)
    right_lse[i] = (float)tested.reference.lse[i];
  cr_assert(group_open(&group, RANKS, &error), "%s", error.text);
  return true;
}

static void close_problem(void) {
  group_close(&group);
  trial_free(&tested);
  free(right_o);
  free(right_lse);
}

static void deal(void) {
  error_text error;
  cr_assert(group_deal(&group, &fake, &tested, &error), "%s", error.text);
}

// Runs the step, of which the parts have been dealt out, and checks it for O alone as well.
static bool is_right(check_result *result) {
  error_text error;
  cr_assert(group_run(&group, &fake, 1, &tested, &error), "%s", error.text);
  return group_check(&group, &tested, result) &&
         group_check_o_alone(&group, &fake, &tested, result);
}

Test(group, a_fault_of_one_rank_is_found) {
  static const struct {
    fault fault;
    const char *words;
  } cases[] = {
      {UNWRITTEN, "O is wrong at batch 0, head 1, row 23, column 7: expected "},
      {UNWRITTEN, "1 were never written"},
      {UNWRITTEN_LSE, "lse is wrong at batch 0, head 1, row 23: expected "},
      {UNWRITTEN_LSE, "1 were never written"},
      {FROM_WORKSPACE, "O is wrong at batch 0, head 0, row 12, column 0: expected "},
      {FROM_WORKSPACE, "computed from device memory that was never written"},
      {WRONG_WITHOUT_LSE, "where lse is not asked for: O is wrong at batch 0, head 0, row 12, "},
      {PAST_LSE, "rank 2: something was written outside lse: 2 bytes past its end"},
      {CHANGED_Q, "rank 2: the step changed its input Q"},
      {CHANGED_THE_END_OF_K, "rank 2: the step changed its input K"},
      {NO_LAUNCH_WITHOUT_LSE, "where lse is not asked for: launching the step failed: "
                              "invalid "}, // and the group is not used again
  };
  if (!open_problem(37)) return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_result result;
    deal();
    planted = CLEAN; // so that the memory of the trial holds what is right
    cr_expect(is_right(&result), "%s", result.message.text);
    planted = cases[i].fault;
    cr_expect_not(is_right(&result), "case %zu", i);
    cr_expect(strstr(result.message.text, cases[i].words), "case %zu: %s", i, result.message.text);
    if (planted == WRONG_WITHOUT_LSE) cr_expect_eq(result.o_bad, 1);
    group_undeal(&group);
  }
  close_problem();
}

// The larger error is kept, and the launches for O alone are not asked for lse.
Test(group, what_is_right_stays_right_for_o_alone) {
  if (!open_problem(37)) return;
  check_result with_lse, both;
  error_text error;
  deal();
  planted = TWO_UNITS_OFF_WITHOUT_LSE;
  cr_assert(group_run(&group, &fake, 1, &tested, &error), "%s", error.text);
  cr_expect(lse_asked_for);
  cr_expect_eq(peers_given, group.reachable);
  cr_expect(group_check(&group, &tested, &with_lse), "%s", with_lse.message.text);
  both = with_lse;
  cr_expect(group_check_o_alone(&group, &fake, &tested, &both), "%s", both.message.text);
  cr_expect_not(lse_asked_for);
  cr_expect_gt(both.o_error, with_lse.o_error);
  close_problem();
}

static const char *configured;

static bool take_configuration(const char *name) {
  configured = name;
  return true;
}

static cudaError_t configured_forward(const attention_args *args, const attention_group *of,
                                      cudaStream_t stream) {
  if (!configured || strcmp(configured, "its own") != 0) return cudaErrorInvalidConfiguration;
  return fake_forward(args, of, stream);
}

// Another contender may have configured the same library.
Test(group, what_is_launched_has_its_own_configuration) {
  if (!open_problem(37)) return;
  attention_step step = fake;
  error_text error;
  step.configure = take_configuration;
  step.configuration = "its own";
  step.forward_group = configured_forward;
  deal();
  configured = "another one";
  cr_expect(group_run(&group, &step, 1, &tested, &error), "%s", error.text);
  close_problem();
}

Test(group, a_row_of_no_rank_is_found) {
  if (!open_problem(37)) return;
  for (int o_alone = 0; o_alone < 2; o_alone++) {
    check_result result;
    error_text error;
    row_of_no_rank = false;
    tested.o_alone = o_alone;
    deal();
    cr_expect(is_right(&result), "%s", result.message.text);
    group_undeal(&group);
    row_of_no_rank = true;
    deal();
    cr_assert(group_run(&group, &fake, 1, &tested, &error), "%s", error.text);
    cr_expect_not(group_check(&group, &tested, &result));
    cr_expect(strstr(result.message.text, "O is wrong at batch 0, head 0, row 36, column 0") &&
                  strstr(result.message.text, "16 were never written"),
              "%s", result.message.text);
    cr_expect_eq(result.lse_bad, o_alone ? 0 : 2);
    group_undeal(&group);
  }
  close_problem();
}

// It has no memory for lse, and is still told whether the others want theirs.
Test(group, a_rank_without_rows_knows_what_is_asked_for) {
  if (!open_problem(2)) return;
  check_result result;
  deal();
  cr_assert_eq(group.members[1].lse.bytes, 0);
  cr_expect_not_null(group_arguments(&group, &group.members[1], false).lse);
  cr_expect_null(group_arguments(&group, &group.members[1], true).lse);
  cr_expect(is_right(&result), "%s", result.message.text);
  close_problem();
}

// Of a process with one rank of a group, on a machine that has started one rank more than it has GPUs.
Test(group, a_rank_without_a_gpu_is_refused) {
  const int gpus = group_suite_gpus();
  const process_place place = {.rank = 0, .ranks = 1, .local = gpus};
  error_text error = {""};
  cr_expect_not(group_open_process(&group, &place, &error));
  cr_expect(strstr(error.text, "rank 0 has no GPU, because its machine has "), "%s", error.text);
}

// Problems of a recording follow each other in the same group.
Test(group, what_was_dealt_out_is_free_again) {
  if (!open_problem(37)) return;
  device_info device;
  error_text error;
  size_t before = 0, after = 0, total = 0;
  cr_assert(device_open(&device, &error), "%s", error.text);
  cudaMemGetInfo(&before, &total);
  for (int i = 0; i < 3; i++) {
    deal();
    group_undeal(&group);
  }
  cr_assert_eq(cudaSetDevice(0), cudaSuccess);
  cudaMemGetInfo(&after, &total);
  if (device.emulated) // on a GPU other programs take memory meanwhile
    cr_expect_eq(after, before, "%zu bytes were free, and now %zu", before, after);
  close_problem();
}

// The rows of all heads are dealt out as those of one sequence.
Test(group, heads_are_dealt_out) {
  if (!open_problem(37)) return;
  check_result result;
  group.by_heads = true;
  deal();
  cr_expect_eq(group.members[LAST].q_rows[1].first, 2 * 37 * 3 / 6);
  cr_expect_eq(group.members[LAST].kv_rows[1].first, 2 * 31 * 3 / 6);
  cr_expect(is_right(&result), "%s", result.message.text);
  close_problem();
}
