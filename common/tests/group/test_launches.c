// Launches on several GPUs that follow each other, and inputs that come late: what a rank reads and writes is in the order
// of the streams of all ranks, whatever the hosts wait for.
#define _GNU_SOURCE
#include "suite.h"

#include "device/device.h"
#include "tests/left_out.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, LAUNCHES = 3 };

typedef struct {
  attention_step step;
  trial *trial;
  void *q[RANKS], *k[RANKS], *v[RANKS]; // what the inputs will be
  void *o[RANKS], *lse[RANKS];          // outputs that are not looked at
} launches;

static bool take_away(const guarded_buffer *input, void **to, error_text *error) {
  return device_ok(cudaMalloc(to, input->bytes + 1), "allocating", error) &&
         device_ok(cudaMemcpy(*to, input->data, input->bytes, cudaMemcpyDeviceToDevice), "copying",
                   error) &&
         guard_poison(input, error);
}

static bool take_inputs_away(gpu_group *group, gpu_rank *member, void *context, error_text *error) {
  launches *it = context;
  const int rank = member->group.rank;
  (void)group;
  return take_away(&member->q, &it->q[rank], error) && take_away(&member->k, &it->k[rank], error) &&
         take_away(&member->v, &it->v[rank], error) && take_away(&member->o, &it->o[rank], error) &&
         take_away(&member->lse, &it->lse[rank], error) &&
         guard_poison_workspace(&member->workspace, error) &&
         device_ok(cudaDeviceSynchronize(), "taking the inputs away", error);
}

static bool bring_late(const guarded_buffer *input, const void *from, cudaStream_t stream,
                       error_text *error) {
  return input->bytes == 0 || device_ok(cudaMemcpyAsync(input->data, from, input->bytes,
                                                        cudaMemcpyDeviceToDevice, stream),
                                        "a late input", error);
}

// The last launch has written what the first one has.
static bool expect_same(const guarded_buffer *first, const void *last, error_text *error) {
  char *a = malloc(first->bytes + 1), *b = malloc(first->bytes + 1);
  bool good =
      a && b &&
      device_ok(cudaMemcpy(a, first->data, first->bytes, cudaMemcpyDeviceToHost), "copying back",
                error) &&
      device_ok(cudaMemcpy(b, last, first->bytes, cudaMemcpyDeviceToHost), "copying back", error);
  if (good && memcmp(a, b, first->bytes) != 0)
    good = fail(error, "the last launch has other results than the first");
  free(a);
  free(b);
  return good;
}

static bool launch_again_and_again(gpu_group *group, gpu_rank *member, void *context,
                                   error_text *error) {
  launches *it = context;
  const int rank = member->group.rank;
  if (!bring_late(&member->q, it->q[rank], member->stream, error) ||
      !bring_late(&member->k, it->k[rank], member->stream, error) ||
      !bring_late(&member->v, it->v[rank], member->stream, error))
    return false;
  attention_args args = group_arguments(group, member, false);
  for (int i = 0; i < LAUNCHES; i++) {
    if (!group_line_up(group, member, error) ||
        !device_ok(it->step.forward_group(&args, &member->group, member->stream), "a launch",
                   error))
      return false;
    args.o = it->o[rank];
    args.lse = it->lse[rank];
  }
  return group_wait(group, member, error) && group_collect(group, member, it->trial, error) &&
         expect_same(&member->o, it->o[rank], error) &&
         expect_same(&member->lse, it->lse[rank], error);
}

static void expect_right(attention_shape shape) {
  static gpu_group group;
  trial trial;
  launches it = {.step = group_suite_step(), .trial = &trial};
  error_text error;
  check_result result;
  int ranks = RANKS;
  while (!group_supported(&it.step, &shape, ranks, &error)) ranks--; // of a variant
  group_suite_prepare(&trial, &shape);
  cr_assert(group_open(&group, ranks, &error), "%s", error.text);
  cr_assert(group_deal(&group, &it.step, &trial, &error), "%s", error.text);
  cr_assert(group_each(&group, take_inputs_away, &it, &error), "%s", error.text);
  cr_assert(group_each(&group, launch_again_and_again, &it, &error), "%s", error.text);
  cr_assert(group_check(&group, &trial, &result), "%s", result.message.text);
  for (int i = 0; i < ranks; i++) {
    void *const all[] = {it.q[i], it.k[i], it.v[i], it.o[i], it.lse[i]};
    cudaSetDevice(group.members[i].device);
    for (int t = 0; t < 5; t++) cudaFree(all[t]);
  }
  group_close(&group);
  trial_free(&trial);
}

// No rank may read the inputs before its stream, or for K and V that of the other rank, has come to the launch. No launch
// may overwrite K and V that the launch before still reads: the first one's outputs must be right. The emulator runs what
// different streams do in different orders, and on one multiprocessor, where tiles are dealt out by a counter.
Test(group, late_inputs_and_launches_back_to_back) {
  setenv("EMU_MULTIPROCESSORS", "1", 1);
  if (group_suite_gpus() < RANKS) return;
  const attention_step step = group_suite_step();
  attention_shape shape =
      shape_in_the_build(&step, group_suite_shape(ATTENTION_BF16, 300, 300, 64, true));
  shape.batch = 2;
  shape.heads = 4; // two tiles at least in each slice of step 23
  for (int seed = 0; seed < 3; seed++) {
    device_set_schedule((uint64_t)seed); // a GPU has its own order
    expect_right(shape);
  }
}
