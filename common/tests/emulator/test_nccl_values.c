// Tests what the stand-in for NCCL makes of the ranks' numbers, for each type and operation, and whom it lets join.
#define _GNU_SOURCE
#include "emulator.h"
#include "numeric/float16.h"

#include "ranks.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Reductions ---------------------------------------------------------------------------------

enum { VALUES = 3 };

// Each rank has the largest of the values once, and the smallest.
static const double SIGNED[RANKS][VALUES] = {{5, -4, 2}, {-3, 6, -1}, {2, 1, 7}};
// The largest are negative if the bits are read as those of a signed number; their place in the type is behind the others.
static const double UNSIGNED[RANKS][VALUES] = {{200, 4, 2}, {3, 230, 1}, {2, 1, 240}};

// Operations in their order in nccl.h. The averages of whole numbers are rounded to zero.
typedef struct {
  const char *name;
  ncclDataType_t type;
  size_t bytes;
  bool is_unsigned, is_whole;
} type_case;
static const type_case TYPES[] = {
    {"ncclInt8", ncclInt8, 1, false, true},        {"ncclUint8", ncclUint8, 1, true, true},
    {"ncclInt32", ncclInt32, 4, false, true},      {"ncclUint32", ncclUint32, 4, true, true},
    {"ncclInt64", ncclInt64, 8, false, true},      {"ncclUint64", ncclUint64, 8, true, true},
    {"ncclFloat16", ncclFloat16, 2, false, false}, {"ncclBfloat16", ncclBfloat16, 2, false, false},
    {"ncclFloat32", ncclFloat32, 4, false, false}, {"ncclFloat64", ncclFloat64, 8, false, false},
};

// The largest unsigned numbers have the highest bit of their type, and for a sum of them nothing else of it is lost.
static uint64_t whole_bits(const type_case *it, double value) {
  if (!it->is_unsigned || value < 200) return (uint64_t)(int64_t)value;
  return (uint64_t)value - 128 + (UINT64_C(1) << (8 * it->bytes - 1));
}

static void write_value(const type_case *it, double value, char *to) {
  const uint64_t whole = whole_bits(it, value);
  const float single = (float)value;
  const uint16_t half = fp16_from_float(single), brain = bf16_from_float(single);
  const void *from = it->is_whole               ? (const void *)&whole
                     : it->type == ncclFloat16  ? (const void *)&half
                     : it->type == ncclBfloat16 ? (const void *)&brain
                     : it->type == ncclFloat32  ? (const void *)&single
                                                : (const void *)&value;
  memcpy(to, from, it->bytes);
}

static double extreme(const double values[RANKS][VALUES], int k, bool largest) {
  double found = values[0][k];
  for (int rank = 1; rank < RANKS; rank++)
    if (largest ? values[rank][k] > found : values[rank][k] < found) found = values[rank][k];
  return found;
}

static void write_expected(const type_case *it, ncclRedOp_t operation, int k, char *to) {
  const double(*values)[VALUES] = it->is_unsigned ? UNSIGNED : SIGNED;
  if (operation == ncclMax || operation == ncclMin) {
    write_value(it, extreme(values, k, operation == ncclMax), to);
    return;
  }
  double real = operation == ncclProd ? 1 : 0;
  uint64_t whole = operation == ncclProd ? 1 : 0;
  for (int rank = 0; rank < RANKS; rank++) {
    const uint64_t more = whole_bits(it, values[rank][k]);
    real = operation == ncclProd ? real * values[rank][k] : real + values[rank][k];
    whole = operation == ncclProd ? whole * more : whole + more;
  }
  if (operation == ncclAvg) {
    real /= RANKS;
    whole = it->is_unsigned ? whole / RANKS : (uint64_t)((int64_t)whole / RANKS);
  }
  if (it->is_whole)
    memcpy(to, &whole, it->bytes);
  else
    write_value(it, real, to);
}

static void reduce(int rank, ncclComm_t comm, cudaStream_t stream) {
  for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
    for (int operation = ncclSum; operation <= ncclAvg; operation++) {
      const type_case *it = &TYPES[i];
      char sent[VALUES * 8], got[VALUES * 8], expected[8], *memory;
      for (int k = 0; k < VALUES; k++)
        write_value(it, (it->is_unsigned ? UNSIGNED : SIGNED)[rank][k],
                    sent + (size_t)k * it->bytes);
      OK(cudaMalloc((void **)&memory, sizeof sent));
      OK(cudaMemcpy(memory, sent, VALUES * it->bytes, cudaMemcpyHostToDevice));
      NCCL(ncclAllReduce(memory, memory, VALUES, it->type, (ncclRedOp_t)operation, comm, stream));
      OK(cudaStreamSynchronize(stream));
      OK(cudaMemcpy(got, memory, VALUES * it->bytes, cudaMemcpyDeviceToHost));
      for (int k = 0; k < VALUES; k++) {
        write_expected(it, (ncclRedOp_t)operation, k, expected);
        cr_assert_arr_eq(got + (size_t)k * it->bytes, expected, it->bytes,
                         "operation %d of %s, value %d", operation, it->name, k);
      }
      OK(cudaFree(memory));
    }
  }
}

Test(nccl_values, reductions, .init = three_gpus) { run_ranks(reduce, true); }

// ---- Parts, and the links that they take --------------------------------------------------------

// Rank r gives r + 10 times the number of the part.
static void scatter(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *parts = on_device(rank, N * RANKS, 0), *part = on_device(rank, N, -1);
  for (int to = 0; to < RANKS; to++) {
    float *from = on_device(rank, N, (float)(rank + 10 * to));
    OK(cudaMemcpy(parts + (size_t)to * N, from, BYTES, cudaMemcpyDeviceToDevice));
    OK(cudaFree(from));
  }
  NCCL(ncclReduceScatter(parts, part, N, ncclFloat, ncclSum, comm, stream));
  OK(cudaStreamSynchronize(stream));
  expect_all(part, N, (float)(0 + 1 + 2 + RANKS * 10 * rank));
}

Test(nccl_values, each_rank_gets_its_part, .init = three_gpus) { run_ranks(scatter, true); }

static void broadcast(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *memory = on_device(rank, N, (float)rank);
  const float *sent = rank == 1 ? memory : NULL; // the others have nothing to send
  NCCL(ncclBroadcast(sent, memory, N, ncclFloat, 1, comm, stream));
  OK(cudaStreamSynchronize(stream));
  expect_all(memory, N, 1);
}

// The bytes go from the root around the ring, and not into it again.
Test(nccl_values, links_of_a_broadcast, .init = three_gpus) {
  run_ranks(broadcast, true);
  cr_expect_eq(emulator_link_bytes(1, 2), BYTES);
  cr_expect_eq(emulator_link_bytes(2, 0), BYTES);
  cr_expect_eq(emulator_link_bytes(0, 1), 0);
}

static void sum(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *memory = on_device(rank, 3 * N, 1);
  NCCL(ncclAllReduce(memory, memory, 3 * N, ncclFloat, ncclSum, comm, stream));
  OK(cudaStreamSynchronize(stream));
}

// Each third of the sums goes around twice, but for one step: once to be added, and once as it is.
Test(nccl_values, links_of_a_sum, .init = three_gpus) {
  run_ranks(sum, true);
  for (int from = 0; from < RANKS; from++)
    cr_expect_eq(emulator_link_bytes(from, (from + 1) % RANKS), 2 * (RANKS - 1) * BYTES);
}

// ---- Joining ------------------------------------------------------------------------------------

static void quiet(void) {
  three_gpus();
  cr_assert_not_null(freopen("/dev/null", "w", stderr)); // the sentences
}

Test(nccl_values, ranks_must_agree_on_their_number, .init = quiet) {
  ncclUniqueId id;
  ncclComm_t comm;
  NCCL(ncclGetUniqueId(&id));
  NCCL(ncclGroupStart());
  NCCL(ncclCommInitRank(&comm, 2, id, 0));
  OK(cudaSetDevice(1));
  cr_expect_eq(ncclCommInitRank(&comm, 3, id, 1), ncclInvalidUsage);
  cr_expect_str_eq(ncclGetLastError(NULL),
                   "ncclCommInitRank: rank 1 says that the number of ranks is 3, and others say 2");
}

Test(nccl_values, a_rank_joins_once, .init = quiet) {
  ncclUniqueId id;
  ncclComm_t comm;
  NCCL(ncclGetUniqueId(&id));
  NCCL(ncclGroupStart());
  NCCL(ncclCommInitRank(&comm, 2, id, 0));
  OK(cudaSetDevice(1));
  cr_expect_eq(ncclCommInitRank(&comm, 2, id, 0), ncclInvalidUsage);
}

// The ranks are host threads of one process.
Test(nccl_values, ids_of_other_processes, .init = quiet) {
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  const pid_t child = fork();
  ncclUniqueId id;
  if (child == 0) {
    ncclGetUniqueId(&id);
    _exit(write(ends[1], &id, sizeof id) == sizeof id ? 0 : 1);
  }
  cr_assert_eq(read(ends[0], &id, sizeof id), (ssize_t)sizeof id);
  waitpid(child, NULL, 0);
  ncclComm_t comm;
  cr_expect_eq(ncclCommInitRank(&comm, 1, id, 0), ncclInvalidUsage);
}

// The device that was current stays so.
Test(nccl_values, joining_of_all_leaves_the_device, .init = three_gpus) {
  ncclComm_t comms[RANKS];
  int device = -1;
  OK(cudaSetDevice(1));
  NCCL(ncclCommInitAll(comms, RANKS, NULL));
  OK(cudaGetDevice(&device));
  cr_expect_eq(device, 1);
  for (int rank = 0; rank < RANKS; rank++) NCCL(ncclCommDestroy(comms[rank]));
}
