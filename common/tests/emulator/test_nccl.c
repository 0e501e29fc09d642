// Tests the stand-in for NCCL: what collectives deliver, and when.
#define _GNU_SOURCE
#include "emulator.h"
#include "numeric/float16.h"
#include "numeric/poison.h"

#include "ranks.h"

#include <string.h>

Test(nccl, says_its_version_and_errors, .init = three_gpus) {
  int version;
  NCCL(ncclGetVersion(&version));
  cr_assert_geq(version, 21900);
  cr_assert_str_eq(ncclGetErrorString(ncclInvalidUsage), "invalid usage");
}

// ---- What arrives -------------------------------------------------------------------------------

static void gather(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, (float)rank), *all = on_device(rank, N * RANKS, -1);
  int count, device, number;
  NCCL(ncclCommCount(comm, &count));
  NCCL(ncclCommCuDevice(comm, &device));
  NCCL(ncclCommUserRank(comm, &number));
  cr_assert(count == RANKS && device == rank && number == rank);
  for (int round = 0; round < 2; round++) { // the second one in place
    const float *send = round == 0 ? mine : all + (size_t)rank * N;
    NCCL(ncclAllGather(send, all, N, ncclFloat, comm, stream));
    OK(cudaStreamSynchronize(stream));
    for (int from = 0; from < RANKS; from++) expect_all(all + (size_t)from * N, N, (float)from);
  }
}

Test(nccl, gathers, .init = three_gpus) {
  run_ranks(gather, true);
  for (int from = 0; from < RANKS; from++) {
    cr_assert_eq(emulator_link_bytes(from, (from + 1) % RANKS), 2 * 2 * N * sizeof(float));
    cr_assert_eq(emulator_link_bytes(from, (from + 2) % RANKS), 0);
  }
}

static void ring(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, (float)rank), *other = on_device(rank, N, -1);
  const int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
  NCCL(ncclGroupStart());
  NCCL(ncclSend(mine, N, ncclFloat, next, comm, stream));
  NCCL(ncclRecv(other, N, ncclFloat, before, comm, stream));
  NCCL(ncclGroupEnd());
  OK(cudaStreamSynchronize(stream));
  expect_all(other, N, (float)before);
}

Test(nccl, sends_in_a_ring, .init = three_gpus) {
  run_ranks(ring, true);
  cr_assert_eq(emulator_link_bytes(2, 0), N * sizeof(float));
}

// Messages between the same two ranks arrive in the order in which they were sent, also where all are under way at once.
static void two_messages(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *first = on_device(rank, N, rank == 0 ? 1 : -1);
  float *second = on_device(rank, N, rank == 0 ? 2 : -1);
  if (rank > 1) return;
  NCCL(ncclGroupStart());
  for (int i = 0; i < 2; i++) {
    float *memory = i == 0 ? first : second;
    if (rank == 0) NCCL(ncclSend(memory, N, ncclFloat, 1, comm, stream));
    if (rank == 1) NCCL(ncclRecv(memory, N, ncclFloat, 0, comm, stream));
  }
  NCCL(ncclGroupEnd());
  OK(cudaStreamSynchronize(stream));
  expect_all(first, N, 1);
  expect_all(second, N, 2);
}

Test(nccl, messages_in_order, .init = three_gpus) { run_ranks(two_messages, true); }

// Sends without a group work in an order that each rank can follow.
static void relay(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *memory = on_device(rank, N, (float)rank);
  if (rank > 0) NCCL(ncclRecv(memory, N, ncclFloat, rank - 1, comm, stream));
  devices_add(memory, memory, 1, N, stream);
  if (rank + 1 < RANKS) NCCL(ncclSend(memory, N, ncclFloat, rank + 1, comm, stream));
  OK(cudaStreamSynchronize(stream));
  expect_all(memory, N, (float)rank + 1);
}

Test(nccl, relays, .init = three_gpus) { run_ranks(relay, true); }

static void broadcast(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *memory = on_device(rank, N, (float)rank), *parts = on_device(rank, N * RANKS, 1);
  NCCL(ncclBroadcast(memory, memory, N, ncclFloat, 1, comm, stream));
  NCCL(ncclReduceScatter(parts, parts, N, ncclFloat, ncclSum, comm, stream));
  OK(cudaStreamSynchronize(stream));
  expect_all(memory, N, 1);
  expect_all(parts, N, RANKS);
}

Test(nccl, broadcasts_and_scatters, .init = three_gpus) { run_ranks(broadcast, true); }

// Rank r gives 1 + r, and -r, in each type.
static void reduce(int rank, ncclComm_t comm, cudaStream_t stream) {
  static const struct {
    ncclDataType_t type;
    size_t bytes;
  } types[] = {{ncclHalf, 2}, {ncclBfloat16, 2}, {ncclFloat, 4}, {ncclDouble, 8}, {ncclInt, 4}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    char host[2 * 8], *memory;
    for (int k = 0; k < 2; k++) {
      const float value = k == 0 ? 1.0f + (float)rank : -(float)rank;
      const uint16_t half = fp16_from_float(value), brain = bf16_from_float(value);
      const double whole = (double)value;
      const int number = (int)value;
      const void *const forms[] = {&half, &brain, &value, &whole, &number};
      memcpy(host + (size_t)k * types[i].bytes, forms[i], types[i].bytes);
    }
    OK(cudaMalloc((void **)&memory, sizeof host));
    OK(cudaMemcpy(memory, host, 2 * types[i].bytes, cudaMemcpyHostToDevice));
    NCCL(ncclAllReduce(memory, memory, 1, types[i].type, ncclSum, comm, stream));
    NCCL(ncclAllReduce(memory + types[i].bytes, memory + types[i].bytes, 1, types[i].type, ncclMax,
                       comm, stream));
    OK(cudaStreamSynchronize(stream));
    char back[2 * 8];
    OK(cudaMemcpy(back, memory, 2 * types[i].bytes, cudaMemcpyDeviceToHost));
    const float sum = 6, most = 0;
    const uint16_t half = fp16_from_float(sum), brain = bf16_from_float(sum);
    const double whole = 6;
    const int number = 6;
    const void *const forms[] = {&half, &brain, &sum, &whole, &number};
    cr_assert_arr_eq(back, forms[i], types[i].bytes, "the sum of type %zu", i);
    // Either zero is the largest.
    cr_assert(memcmp(back + types[i].bytes, "\0\0\0\0\0\0\0", types[i].bytes - 1) == 0,
              "the maximum of type %zu, which is %g", i, (double)most);
  }
}

Test(nccl, reduces, .init = three_gpus) { run_ranks(reduce, true); }

Test(nccl, serves_ranks_of_one_host_thread, .init = three_gpus) {
  ncclComm_t comms[RANKS];
  float *memory[RANKS];
  NCCL(ncclCommInitAll(comms, RANKS, NULL));
  for (int rank = 0; rank < RANKS; rank++) memory[rank] = on_device(rank, N, (float)(rank + 1));
  NCCL(ncclGroupStart());
  for (int rank = 0; rank < RANKS; rank++) {
    NCCL(ncclAllReduce(memory[rank], memory[rank], N, ncclFloat, ncclSum, comms[rank], NULL));
  }
  NCCL(ncclGroupEnd());
  for (int rank = 0; rank < RANKS; rank++) {
    OK(cudaSetDevice(rank));
    OK(cudaDeviceSynchronize());
    expect_all(memory[rank], N, 6);
    NCCL(ncclCommDestroy(comms[rank]));
  }
}

Test(nccl, works_with_one_device) {
  ncclComm_t comm;
  NCCL(ncclCommInitAll(&comm, 1, NULL));
  float *a = on_device(0, N, 5), *b = on_device(0, N, 0);
  NCCL(ncclAllGather(a, b, N, ncclFloat, comm, NULL));
  expect_all(b, N, 5);
  NCCL(ncclGroupStart());
  NCCL(ncclSend(a, N, ncclFloat, 0, comm, NULL));
  NCCL(ncclRecv(b, N, ncclFloat, 0, comm, NULL));
  NCCL(ncclGroupEnd());
  expect_all(b, N, 5);
  NCCL(ncclCommDestroy(comm));
}

// ---- When it arrives ----------------------------------------------------------------------------

// A kernel in another stream uses what is gathered; `event` makes it wait.
static void use(int rank, ncclComm_t comm, cudaStream_t stream, bool event) {
  float *mine = on_device(rank, N, 1), *all = on_device(rank, N * RANKS, 1);
  float *out = on_device(rank, N * RANKS, 0);
  const cudaStream_t computes = stream_on(rank);
  NCCL(ncclAllGather(mine, all, N, ncclFloat, comm, stream));
  if (event) wait_for(stream, computes);
  devices_add(all, out, 1, N * RANKS, computes);
  meet_ranks();
  OK(cudaDeviceSynchronize());
  if (event)
    expect_all(out, N * RANKS, 2);
  else
    expect_poison(out, N * RANKS);
  expect_all(all, N * RANKS, 1);
}

static void use_with_event(int rank, ncclComm_t comm, cudaStream_t stream) {
  use(rank, comm, stream, true);
}

static void use_without_event(int rank, ncclComm_t comm, cudaStream_t stream) {
  use(rank, comm, stream, false);
}

Test(nccl, delivers_before_an_event, .init = three_gpus) { run_ranks(use_with_event, true); }

Test(nccl, delivers_not_before_it_must, .init = three_gpus) { run_ranks(use_without_event, true); }

static void change_while_sending(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 1), *all = on_device(rank, N * RANKS, 0);
  NCCL(ncclAllGather(mine, all, N, ncclFloat, comm, stream));
  devices_add(mine, mine, 1, N, stream_on(rank)); // must not happen yet
  meet_ranks();
  OK(cudaDeviceSynchronize());
  expect_poison(all + (size_t)rank * N, N);
}

Test(nccl, shows_a_send_buffer_that_changes, .init = three_gpus) {
  run_ranks(change_while_sending, true);
}
