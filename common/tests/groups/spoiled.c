// A step for several GPUs for testing the program that times it: that of the shared object SPOILED_STEP, whose result is
// right until the environment variable SPOIL changes it:
//   unwritten   under a causal mask row 63 of each head and rank is left as it was
//   alone       O is 0 where lse is not asked for
//   later       the same, from the second such launch after one with lse on
#define _GNU_SOURCE
#include "step/step.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 63 };

static bool spoil(const char *kind) {
  const char *chosen = getenv("SPOIL");
  return chosen && strcmp(chosen, kind) == 0;
}

// The step is not closed, so its functions stay.
static const attention_step *right_step(void) {
  static attention_step step;
  error_text error;
  const char *path = getenv("SPOILED_STEP");
  if (!step.library && !(path && step_load_group(path, &step, &error))) {
    fprintf(stderr, "error: SPOILED_STEP names no step for several GPUs\n");
    exit(EXIT_BAD_INPUT);
  }
  return &step;
}

const char *attention_name(void) { return "00_spoiled"; }

const char *attention_summary(void) { return "right until it is spoiled"; }

const char *attention_unsupported(const attention_shape *shape) {
  return right_step()->unsupported(shape);
}

void attention_group_rows(int seq, int rank, int ranks, attention_rows rows[2]) {
  right_step()->group_rows(seq, rank, ranks, rows);
}

static size_t row_bytes(const attention_shape *shape) {
  return (size_t)shape->head_dim * sizeof(uint16_t);
}

// Where the rows begin that are to stay as they were.
static size_t kept_begin(const attention_shape *shape, int ranks) {
  return (right_step()->group_workspace_bytes(shape, ranks) + 255) / 256 * 256;
}

size_t attention_group_workspace_bytes(const attention_shape *shape, int ranks) {
  return kept_begin(shape, ranks) + (size_t)shape->batch * (size_t)shape->heads * row_bytes(shape);
}

// Copies the row of each head from O, or back to it.
static void copy_rows(const attention_args *args, int own_rows, char *kept, bool back,
                      cudaStream_t stream) {
  const size_t bytes = row_bytes(&args->shape);
  for (int head = 0; head < args->shape.batch * args->shape.heads && own_rows > ROW; head++) {
    char *row = (char *)args->o + ((size_t)head * (size_t)own_rows + ROW) * bytes;
    char *place = kept + (size_t)head * bytes;
    cudaMemcpyAsync(back ? row : place, back ? place : row, bytes, cudaMemcpyDeviceToDevice,
                    stream);
  }
}

cudaError_t attention_forward_group(const attention_args *args, const attention_group *group,
                                    cudaStream_t stream) {
  static atomic_int alone[64]; // launches of each rank for O alone, since one with lse
  attention_rows rows[2];
  attention_group_rows(args->shape.seq_q, group->rank, group->ranks, rows);
  const int own_rows = rows[0].count + rows[1].count;
  const bool unwritten = spoil("unwritten") && args->shape.causal;
  char *kept = (char *)args->workspace + kept_begin(&args->shape, group->ranks);
  int before = 0;
  if (args->lse)
    alone[group->rank] = 0;
  else
    before = alone[group->rank]++;
  if (unwritten) copy_rows(args, own_rows, kept, false, stream);
  const cudaError_t status = right_step()->forward_group(args, group, stream);
  if (unwritten) copy_rows(args, own_rows, kept, true, stream);
  if (!args->lse && (spoil("alone") || (spoil("later") && before > 0)))
    cudaMemsetAsync(args->o, 0,
                    (size_t)args->shape.batch * (size_t)args->shape.heads * (size_t)own_rows *
                        row_bytes(&args->shape),
                    stream);
  return status;
}
