// What fails on a rank of the steps for several GPUs is reported, and ends all ranks. A launch waits for nothing on the host.
#define _GNU_SOURCE
#include "suite.h"

#include "device/device.h"
#include "tests/failing_calls.h"
#include "tests/tested_as.h"
#include "tests/watched_calls.h"
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <dlfcn.h>
#include <nccl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

FAILING_FUNCTION_THAT(watched_call("ncclAllGather", stream);
                      , ncclResult_t, ncclInternalError, ncclAllGather,
                      (const void *send, void *receive, size_t count, ncclDataType_t type,
                       ncclComm_t comm, cudaStream_t stream),
                      (send, receive, count, type, comm, stream))
FAILING_FUNCTION_THAT(watched_call("ncclAllReduce", stream);
                      , ncclResult_t, ncclInternalError, ncclAllReduce,
                      (const void *send, void *receive, size_t count, ncclDataType_t type,
                       ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream),
                      (send, receive, count, type, reduction, comm, stream))
FAILING_FUNCTION(cudaError_t, cudaErrorMemoryAllocation, cudaEventCreate, (cudaEvent_t * event),
                 (event))
FAILING_FUNCTION(cudaError_t, cudaErrorUnknown, cudaDeviceEnablePeerAccess,
                 (int peer, unsigned flags), (peer, flags))

// Arguments of rank 0 of three. The rank is told that there are others whose tensors are these as well, but its
// communicator has no other, so that no rank waits for one that fails.
typedef struct {
  attention_step step;
  gpu_group group;
  attention_args args;
  attention_peer peers[3];
  cudaStream_t copies[3];
  attention_group rank;
  char *memory;
} lonely_rank;

static void open_lonely_rank(lonely_rank *it) {
  error_text error;
  attention_shape shape = group_suite_shape(ATTENTION_FP16, 150, 300, 64, true);
  shape.kv_heads = 1;
  shape.batch = 2;
  it->step = group_suite_step();
  setenv("EMU_MULTIPROCESSORS", "1", 1); // less than there are tiles
  group_suite_gpus();
  const size_t tensor = (size_t)shape.batch * 2 * 300 * 64 * sizeof(uint16_t);
  const size_t bytes = 5 * tensor + it->step.group_workspace_bytes(&shape, 3) + 2;
  cr_assert(group_open(&it->group, 1, &error), "%s", error.text);
  cr_assert_eq(cudaMalloc((void **)&it->memory, bytes), cudaSuccess);
  cr_assert_eq(cudaMemset(it->memory, 0, bytes), cudaSuccess);
  it->args = (attention_args){.shape = shape,
                              .q = it->memory,
                              .k = it->memory + tensor,
                              .v = it->memory + 2 * tensor,
                              .o = it->memory + 3 * tensor,
                              .lse = (float *)(it->memory + 4 * tensor),
                              .workspace = it->memory + 5 * tensor};
  it->rank = it->group.members[0].group;
  for (int i = 0; i < 3; i++) {
    it->peers[i] = (attention_peer){it->args.k, it->args.v};
    it->copies[i] = it->rank.copies[0];
  }
  it->rank.copies = it->copies;
  it->rank.ranks = 3;
  it->rank.peers = it->peers;
}

// Launches the step. Its call `number` fails, and `failed` receives the name of the function.
static cudaError_t launch_lonely_rank(const lonely_rank *it, int number, const char **failed) {
  failing_calls_begin(number);
  const cudaError_t status =
      it->step.forward_group(&it->args, &it->rank, it->group.members[0].stream);
  *failed = failing_calls_end();
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  cudaGetLastError(); // of a kernel that was launched all the same
  return status;
}

// Variants that exchange with certain ranks have no use for a lonely one. Their source is not the lab's.
static bool takes_lonely_rank(const lonely_rank *it) {
  const char *none;
  error_text error;
  if (!it->step.source) return true;
  return group_supported(&it->step, &it->args.shape, it->rank.ranks, &error) &&
         launch_lonely_rank(it, 0, &none) == cudaSuccess;
}

static void close_lonely_rank(lonely_rank *it) {
  cudaFree(it->memory);
  group_close(&it->group);
}

// Each call of CUDA or NCCL that a launch makes on the host fails once. See test_interface.c of the other steps.
Test(group, failures_of_calls_are_reported) {
  static lonely_rank it;
  open_lonely_rank(&it);
  for (int before = 0; before <= 2 && takes_lonely_rank(&it); before++) {
    if (before == 2) it.rank.peers = NULL; // out of reach
    const char *failed = "";
    for (int number = 1; failed; number++) {
      const cudaError_t status = launch_lonely_rank(&it, number, &failed);
      if (failed)
        cr_assert_neq(status, cudaSuccess, "call %d, %s, fails, and the step returns no error",
                      number, failed);
      else
        cr_assert_eq(status, cudaSuccess);
    }
  }
  close_lonely_rank(&it);
}

// A host thread that waits in a launch, or that takes memory, may wait for a GPU that waits for another host thread. And
// copies are hidden only if the host goes on. Here all streams of the rank are one, so a call on another one is found.
Test(group, a_launch_only_enqueues) {
  static lonely_rank it;
  open_lonely_rank(&it);
  const cudaStream_t stream = it.group.members[0].stream;
  it.rank.products = stream;
  for (int i = 0; i < 3; i++) it.copies[i] = stream;
  for (int reachable = 1; reachable >= 0 && takes_lonely_rank(&it); reachable--) {
    if (!reachable) it.rank.peers = NULL;
    watched_calls_begin(stream);
    const cudaError_t status = it.step.forward_group(&it.args, &it.rank, stream);
    const char *call = watched_calls_end();
    cr_expect_eq(status, cudaSuccess);
    cr_expect_null(call,
                   "the launch calls %s: it may neither wait nor allocate, nor work on a stream "
                   "that is not the rank's",
                   call);
  }
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  close_lonely_rank(&it);
}

// Kernels of two streams can run at the same time, so both must not count their tiles in the same word. The emulator runs
// one kernel at a time, so no result tells. But a counter that is new is cleared before the kernel, on the same stream.
Test(group, kernels_of_two_streams_have_two_counters) {
  static lonely_rank it;
  device_info device;
  error_text error;
  open_lonely_rank(&it);
  cr_assert(device_open(&device, &error), "%s", error.text);
  const cudaStream_t stream = it.group.members[0].stream;
  for (int i = 0; i < 3; i++) it.copies[i] = stream;
  watched_calls_begin(stream);
  const cudaError_t status = it.step.forward_group(&it.args, &it.rank, stream);
  const char *call = watched_calls_end(); // the first one on the stream `products`
  // A GPU needs no counter for so few tiles. Variants, whose source is not the lab's, may use the stream otherwise.
  if (device.emulated && !it.step.source && status == cudaSuccess && call)
    cr_expect_str_eq(
        call, "cudaMemsetAsync",
        "the stream `products` begins with %s, so its kernel has no counter of its own", call);
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  close_lonely_rank(&it);
}

// The driver's function that describes tensors refuses those off the 16-byte grid.
Test(group, failures_of_the_driver_are_reported) {
  static lonely_rank it;
  const char *none;
  open_lonely_rank(&it);
  if (!takes_lonely_rank(&it)) {
    close_lonely_rank(&it);
    return;
  }
  cr_assert_eq(launch_lonely_rank(&it, 0, &none),
               cudaSuccess); // allows the kernel its shared memory
  const void **const pointers[] = {&it.args.q, (const void **)&it.args.workspace, &it.args.k,
                                   &it.args.v};
  const int described =
      tested_number(it.step.name) < 23 ? 2 : 4; // steps 21 and 22 copy K and V first
  for (int i = 0; i < described; i++) {
    const void *const aligned = *pointers[i];
    *pointers[i] = (const char *)aligned + 2;
    cr_assert_eq(launch_lonely_rank(&it, 0, &none), cudaErrorInvalidValue,
                 "tensor %d lies off the 16-byte grid, and the step does not say so", i);
    *pointers[i] = aligned;
  }
  close_lonely_rank(&it);
}

// A time needs two events, and neither may be missing.
Test(group, failures_while_timing_are_reported) {
  const attention_step step = group_suite_step();
  const attention_shape shape = group_suite_shape(ATTENTION_FP16, 64, 64, 64, false);
  trial trial;
  group_suite_gpus();
  group_suite_prepare(&trial, &shape);
  int failures = 0;      // the emulator's cudaEventCreate calls another of these functions
  bool launched = false; // the step's own calls come then
  for (const char *failed = ""; !launched; failures++) {
    static gpu_group group;
    error_text error;
    double milliseconds;
    cr_assert(group_open(&group, 1, &error), "%s", error.text);
    cr_assert(group_deal(&group, &step, &trial, &error), "%s", error.text);
    failing_calls_begin(failures + 1);
    const bool good = group_time(&group, &step, 1, 1, &milliseconds, &error);
    failed = failing_calls_end();
    cr_assert(failed && !good, "call %d fails, and there is a time", failures + 1);
    launched = strstr(error.text, "launching the step failed: ");
    if (!launched) cr_assert(strstr(error.text, "making an event failed: "), "%s", error.text);
    group_close(&group);
  }
  cr_assert_gt(failures, 2);
  trial_free(&trial);
}

// A GPU that could reach the memory of the others may be denied it all the same. Then nothing fails, and a line says so.
Test(group, memory_that_is_denied_is_out_of_reach) {
  static gpu_group group;
  error_text error;
  if (group_suite_gpus() < 2) return;
  cr_assert(group_open(&group, 2, &error), "%s", error.text);
  const bool reachable = group.reachable;
  group_close(&group);
  if (!reachable) return; // nothing is left to deny
  cr_redirect_stderr();
  failing_calls_begin(1);
  cr_assert(group_open(&group, 2, &error), "%s", error.text);
  cr_expect_str_eq(failing_calls_end(), "cudaDeviceEnablePeerAccess");
  cr_expect_not(group.reachable);
  group_close(&group);
  cr_expect_stderr_eq_str("note: GPU 0 cannot reach the memory of GPU 1: their data goes through "
                          "the memory of the host, which is slower\n");
}

static bool fail_on_rank_1(gpu_group *group, gpu_rank *rank, void *context, error_text *error) {
  const attention_step *step = context;
  if (rank->group.rank == 1) return fail(error, "rank 1 fails for a test");
  const attention_args args = group_arguments(group, rank, false);
  return device_ok(step->forward_group(&args, &rank->group, rank->stream), "a launch", error) &&
         group_wait(group, rank, error);
}

Test(group, a_rank_that_fails_ends_all) {
  attention_step step = group_suite_step();
  const attention_shape shape = group_suite_shape(ATTENTION_FP16, 256, 256, 64, false);
  static gpu_group group;
  trial trial;
  error_text error;
  if (group_suite_gpus() < 2) return;
  group_suite_prepare(&trial, &shape);
  cr_assert(group_open(&group, 2, &error), "%s", error.text);
  cr_assert(group_deal(&group, &step, &trial, &error), "%s", error.text);
  const time_t begin = time(NULL);
  cr_assert_not(group_each(&group, fail_on_rank_1, &step, &error));
  cr_assert_str_eq(error.text, "rank 1 fails for a test");
  cr_assert_lt(time(NULL) - begin, 10);
  group_close(&group);
  trial_free(&trial);
}
