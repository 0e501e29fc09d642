// The ranks of a process begin each launch together.
#define _GNU_SOURCE
#include "suite.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 2, TIMES = 20 };

typedef struct {
  int absent; // the rank that does not come to the last launch, or -1
  bool fails; // it fails instead, and does not wait for the others
  atomic_int begun[RANKS];
  atomic_int farthest_ahead; // of the launches that one rank had begun and another had not
} launches;

// One rank takes long for the first half of its launches, and the other for the second half.
static bool launch_slowly(gpu_group *group, gpu_rank *member, void *context, error_text *error) {
  launches *it = context;
  const int rank = member->group.rank;
  for (int i = 0; i < TIMES; i++) {
    if (i + 1 == TIMES && rank == it->absent)
      return it->fails ? fail(error, "rank %d fails for a test", rank)
                       : group_wait(group, member, error);
    if (!group_line_up(group, member, error)) return false;
    const int ahead = ++it->begun[rank] - it->begun[!rank];
    if (ahead > it->farthest_ahead) it->farthest_ahead = ahead;
    if (i * RANKS / TIMES == rank) usleep(2000);
  }
  return true;
}

static bool launch_all(launches *it, error_text *error) {
  static gpu_group group;
  cr_assert(group_open(&group, RANKS, error), "%s", error->text);
  const bool good = group_each(&group, launch_slowly, it, error);
  group_close(&group);
  return good;
}

Test(group, no_rank_is_a_whole_launch_ahead) {
  if (group_suite_gpus() < RANKS) return;
  launches it = {.absent = -1};
  error_text error;
  cr_assert(launch_all(&it, &error), "%s", error.text);
  cr_expect_eq(it.begun[0], TIMES);
  cr_expect_eq(it.begun[1], TIMES);
  cr_expect_leq(it.farthest_ahead, 1, "a rank was %d launches ahead", it.farthest_ahead);
}

// A limit that is no number is refused, as where one GPU is waited for.
Test(group, a_bad_limit_ends_the_program, .exit_code = EXIT_BAD_INPUT) {
  if (group_suite_gpus() < RANKS) _exit(EXIT_BAD_INPUT);
  setenv("LAB_LIMIT", "soon", 1);
  launches it = {.absent = -1};
  error_text error;
  launch_all(&it, &error);
}

Test(group, a_rank_that_does_not_come_to_a_launch_is_named) {
  if (group_suite_gpus() < RANKS) return;
  setenv("LAB_LIMIT", "0.2", 1);
  launches it = {.absent = 1};
  error_text error;
  cr_assert(!launch_all(&it, &error));
  cr_expect(strstr(error.text, "rank 0 has waited for 0.2 s to begin a launch, because rank 1 "),
            "it says: %s", error.text);
}

// The others need not wait for the limit, nor be ended from outside.
Test(group, a_rank_that_fails_is_not_waited_for) {
  if (group_suite_gpus() < RANKS) return;
  launches it = {.absent = 1, .fails = true};
  error_text error;
  const time_t begin = time(NULL);
  cr_assert(!launch_all(&it, &error));
  cr_expect_str_eq(error.text, "rank 1 fails for a test");
  cr_expect_leq(time(NULL) - begin, 5);
}
