// A step for several GPUs for testing the program around it. It computes nothing: the ranks add up a number twice, and
// each gathers its rows of K. The environment variable SABOTAGE spoils rank 1:
//   launch        its launch returns an error
//   leaves        it takes part in the first sum alone
//   hangs         it never comes back from its launch
//   shape         it gathers as if it had half of its rows
//   unsupported   the step takes no number of ranks
#include "shape/shape.h"
#include <nccl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool sabotage(const char *kind) {
  const char *chosen = getenv("SABOTAGE");
  return chosen && strcmp(chosen, kind) == 0;
}

const char *attention_name(void) { return "00_sabotaged"; }

const char *attention_summary(void) { return "on several GPUs, spoiled on demand"; }

const char *attention_unsupported(const attention_shape *shape) {
  (void)shape;
  return NULL;
}

const char *attention_group_unsupported(const attention_shape *shape, int ranks) {
  (void)shape, (void)ranks;
  return sabotage("unsupported") ? "it takes none" : NULL;
}

// Shares without a remainder: the tests give lengths that have none.
void attention_group_rows(int seq, int rank, int ranks, attention_rows rows[2]) {
  rows[0] = (attention_rows){seq / ranks * rank, seq / ranks};
  rows[1] = (attention_rows){seq, 0};
}

enum { NUMBER_BYTES = 256 };

size_t attention_group_workspace_bytes(const attention_shape *shape, int ranks) {
  (void)ranks;
  return NUMBER_BYTES + 2 * shape_kv_count(shape) * sizeof(uint16_t);
}

cudaError_t attention_forward_group(const attention_args *args, const attention_group *group,
                                    cudaStream_t stream) {
  const bool spoiled = group->rank == 1;
  const size_t rows = shape_kv_count(&args->shape) / (size_t)group->ranks;
  const size_t given = spoiled && sabotage("shape") ? rows / 2 : rows;
  char *all = (char *)args->workspace + NUMBER_BYTES;
  for (int i = 0; i < 2; i++) {
    if (ncclAllReduce(args->workspace, args->workspace, 1, ncclInt32, ncclSum, group->comm,
                      stream) != ncclSuccess)
      return cudaErrorUnknown;
    if (spoiled && sabotage("launch")) return cudaErrorInvalidConfiguration;
    if (spoiled && sabotage("leaves")) return cudaSuccess;
    while (spoiled && sabotage("hangs")) pause();
  }
  return ncclAllGather(args->k, all, given, ncclFloat16, group->comm, stream) == ncclSuccess
             ? cudaSuccess
             : cudaErrorUnknown;
}
