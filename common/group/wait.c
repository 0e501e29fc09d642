// The host threads of the ranks wait for the GPU, and for each other.
#define _GNU_SOURCE
#include "device/device.h"
#include "group/parts.h"
#include <sched.h>
#include <unistd.h>

static const char other_failed[] = "another rank has failed";

bool group_wait(gpu_group *group, gpu_rank *member, error_text *error) {
  const double begin = group_seconds(), limit = device_limit_seconds();
  for (;;) {
    const cudaError_t status = cudaStreamQuery(member->stream);
    if (status == cudaSuccess) return true;
    if (status != cudaErrorNotReady) return device_ok(status, "running the step", error);
    if (group->failed) return fail(error, other_failed);
    ncclResult_t result = ncclSuccess;
    if (ncclCommGetAsyncError(member->group.comm, &result) == ncclSuccess &&
        result != ncclSuccess && result != ncclInProgress) {
      return group_nccl_ok(result, member->group.comm, "the exchange between the GPUs", error);
    }
    const double waited = group_seconds() - begin;
    if (limit > 0 && waited > limit)
      return fail(
          error,
          "rank %d has waited for %g s and its work has not ended: a rank does not take part "
          "in an exchange, or a kernel is endless, or slow (LAB_LIMIT=%g waits longer)",
          member->group.rank, limit, 10 * limit);
    if (waited > 0.01) usleep(100);
  }
}

// Returns a member that has not come as often, or NULL.
static const gpu_rank *late_member(const gpu_group *group, unsigned times) {
  for (int i = 0; i < group->count; i++)
    if (atomic_load(&group->lined_up[i]) < times) return &group->members[i];
  return NULL;
}

bool group_line_up(gpu_group *group, gpu_rank *member, error_text *error) {
  const unsigned times = atomic_fetch_add(&group->lined_up[member - group->members], 1) + 1;
  const double begin = group_seconds(), limit = device_limit_seconds();
  for (;;) {
    const gpu_rank *late = late_member(group, times);
    if (!late) return true;
    if (group->failed) return fail(error, other_failed);
    const double waited = group_seconds() - begin;
    if (limit > 0 && waited > limit)
      return fail(error,
                  "rank %d has waited for %g s to begin a launch, because rank %d does not come "
                  "back from the one before (LAB_LIMIT=%g waits longer)",
                  member->group.rank, limit, late->group.rank, 10 * limit);
    if (waited > 0.01)
      usleep(100);
    else
      sched_yield();
  }
}
