#include "ladder/problem.h"

// Step 01 computes 0.779 TFLOP/s on the 132 multiprocessors of an H200 (ladder.csv of the published record). The
// multiprocessors of smaller GPUs are not as fast, so that it takes somewhat longer there than the estimate says.
static const double FLOPS_PER_MULTIPROCESSOR = 0.779e12 / 132;
static const double MOST_SECONDS = 1.0;
static const double MOST_OF_MEMORY = 0.75;
enum { SHORTEST_SEQ = 256 };

static void estimate(ladder_problem *problem, const device_info *device) {
  const attention_shape *shape = &problem->shape;
  const double head_dim = shape->head_dim ? shape->head_dim : 64;
  const double kv_heads = shape->kv_heads ? shape->kv_heads : shape->heads;
  const double rows = (double)shape->batch * shape->heads * shape->seq_q;
  const double kv_rows = (double)shape->batch * kv_heads * shape->seq_kv;
  const double scores = rows * shape->seq_kv;
  problem->seconds = 4 * scores * head_dim / (device->multiprocessors * FLOPS_PER_MULTIPROCESSOR);
  problem->bytes = 4 * scores + 2 * 2 * (rows + kv_rows) * head_dim + 4 * rows;
}

static bool halve(int *size, int given, int least) {
  if (given || *size / 2 < least) return false;
  *size /= 2;
  return true;
}

// Makes the problem smaller in one size. Returns false where no size is left that may shrink.
static bool shrink(attention_shape *shape, const attention_shape *given) {
  if (halve(&shape->batch, given->batch, 1)) return true;
  if (halve(&shape->seq_q, given->seq_q, SHORTEST_SEQ)) {
    if (!given->seq_kv) shape->seq_kv = shape->seq_q;
    return true;
  }
  if (given->seq_q && halve(&shape->seq_kv, given->seq_kv, SHORTEST_SEQ)) return true;
  return halve(&shape->heads, given->heads || given->kv_heads, 1);
}

ladder_problem ladder_choose(const attention_shape *given, const device_info *device) {
  ladder_problem problem = {.shape = *given};
  attention_shape *shape = &problem.shape;
  if (shape->batch == 0) shape->batch = 4;
  if (shape->heads == 0) shape->heads = 32;
  if (shape->seq_q == 0) shape->seq_q = 4096;
  if (shape->seq_kv == 0) shape->seq_kv = shape->seq_q;
  estimate(&problem, device);
  while ((problem.seconds > MOST_SECONDS ||
          problem.bytes > MOST_OF_MEMORY * (double)device->memory_bytes) &&
         shrink(shape, given)) {
    problem.smaller = true;
    estimate(&problem, device);
  }
  return problem;
}
