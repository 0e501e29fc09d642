// The time of launches on all ranks.
#define _GNU_SOURCE
#include "device/device.h"
#include "group/group.h"

typedef struct {
  const attention_step *step;
  int launches;
  float milliseconds[GROUP_MOST_RANKS]; // of a launch, of each rank
} timed_run;

static bool time_member(gpu_group *group, gpu_rank *member, void *context, error_text *error) {
  timed_run *run = context;
  const attention_args args = group_arguments(group, member, true);
  cudaEvent_t begin = NULL, end = NULL;
  bool good = device_ok(cudaEventCreate(&begin), "making an event", error);
  good = good && device_ok(cudaEventCreate(&end), "making an event", error);
  // The first launch is not timed. Its exchange brings the ranks together.
  for (int i = 0; i <= run->launches && good; i++) {
    good = group_line_up(group, member, error) &&
           (i != 1 || device_ok(cudaEventRecord(begin, member->stream), "an event", error)) &&
           device_ok(run->step->forward_group(&args, &member->group, member->stream),
                     "launching the step", error);
  }
  good = good && device_ok(cudaEventRecord(end, member->stream), "an event", error) &&
         group_wait(group, member, error);
  float all = 0;
  good = good && device_ok(cudaEventElapsedTime(&all, begin, end), "reading a time", error);
  run->milliseconds[member - group->members] = all / (float)run->launches;
  if (begin) cudaEventDestroy(begin);
  if (end) cudaEventDestroy(end);
  return good;
}

bool group_time(gpu_group *group, const attention_step *step, int launches, int rounds,
                double *milliseconds, error_text *error) {
  timed_run run = {.step = step, .launches = launches};
  bool good = true;
  for (int round = 0; round < rounds && good; round++) {
    good = group_each(group, time_member, &run, error);
    milliseconds[round] = 0;
    for (int i = 0; i < group->count; i++)
      if (run.milliseconds[i] > milliseconds[round]) milliseconds[round] = run.milliseconds[i];
    if (good && group->count < group->ranks)
      milliseconds[round] = processes_largest(milliseconds[round]);
  }
  return good;
}
