// The check finds a change that a rank has made beside its outputs.
#include "suite.h"

#include "tests/left_out.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// Spoils what a rank has in its memory after a right launch.
typedef enum { NOTHING, INPUT, BEHIND_O, BEHIND_WORKSPACE } damage;

static void do_damage(const gpu_rank *member, damage where) {
  char *const places[] = {
      NULL,
      member->v.data,
      (char *)member->o.data + member->o.bytes,
      (char *)member->workspace.data + member->workspace.bytes,
  };
  cr_assert_eq(cudaSetDevice(member->device), cudaSuccess);
  if (places[where]) cr_assert_eq(cudaMemset(places[where], 0x5a, 2), cudaSuccess);
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
}

// The memory of every rank is looked at, and not that of the first alone.
Test(group, damage_on_any_rank_is_found) {
  static const char *const sentences[] = {
      [INPUT] = "the step changed its input V",
      [BEHIND_O] = "something was written outside O: ",
      [BEHIND_WORKSPACE] = "something was written outside the workspace: ",
  };
  if (group_suite_gpus() < 2) return;
  const attention_step step = group_suite_step();
  const attention_shape shape =
      shape_in_the_build(&step, group_suite_shape(ATTENTION_FP16, 256, 256, 64, false));
  static gpu_group group;
  trial trial;
  error_text error;
  group_suite_prepare(&trial, &shape);
  cr_assert(group_open(&group, 2, &error), "%s", error.text);
  for (damage where = NOTHING; where <= BEHIND_WORKSPACE; where++) {
    check_result result;
    cr_assert(group_deal(&group, &step, &trial, &error), "%s", error.text);
    cr_assert(group_run(&group, &step, 1, &trial, &error), "%s", error.text);
    const gpu_rank *last = &group.members[1];
    if (last->o.bytes == 0) last = &group.members[0]; // of a substep that gives rank 0 all rows
    do_damage(last, where);
    const bool right = group_check(&group, &trial, &result);
    if (where == NOTHING)
      cr_assert(right, "%s", result.message.text); // the step itself is wrong
    else
      cr_expect(!right &&
                    strtol(result.message.text + strlen("rank "), NULL, 10) == last->group.rank &&
                    strstr(result.message.text, sentences[where]),
                "rank %d: %s", last->group.rank, result.message.text);
    group_undeal(&group);
  }
  group_close(&group);
  trial_free(&trial);
}
