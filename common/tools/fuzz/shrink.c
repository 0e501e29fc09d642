#include "fuzz/shrink.h"

#include "progress/progress.h"
#include <string.h>

enum { MOST_TRIES = 400 };

// The ways to make a problem smaller or simpler, with the largest gain first.
typedef enum {
  HALF_SEQ_Q,
  HALF_SEQ_KV,
  HALF_HEAD_DIM,
  ONE_BATCH,
  ONE_HEAD,
  ONE_KV_HEAD,
  AS_MANY_KV_HEADS,
  NO_MASK,
  USUAL_SCALE,
  NORMAL_INPUTS,
  FIRST_SEED,
  OWN_CONFIGURATION,
  WITH_LSE,
  PLAIN_SCHEDULE,
  FP16,
  SHORTER_SEQ_Q,
  SHORTER_SEQ_KV,
  SMALLER_HEAD_DIM,
  SIMPLIFICATIONS
} simplification;

static int half(int size) { return size > 1 ? size / 2 : size; }
static int one_less(int size) { return size > 1 ? size - 1 : size; }

static fuzz_problem simplify(fuzz_problem problem, simplification kind) {
  attention_shape *shape = &problem.shape;
  const bool usual = shape->scale == problem_usual_scale(shape);
  switch (kind) {
  case HALF_SEQ_Q: shape->seq_q = half(shape->seq_q); break;
  case HALF_SEQ_KV: shape->seq_kv = half(shape->seq_kv); break;
  case HALF_HEAD_DIM: shape->head_dim = half(shape->head_dim); break;
  case ONE_BATCH: shape->batch = 1; break;
  case ONE_HEAD: shape->heads = shape->kv_heads = 1; break;
  case ONE_KV_HEAD: shape->kv_heads = 1; break;
  case AS_MANY_KV_HEADS: shape->heads = shape->kv_heads; break;
  case NO_MASK: shape->causal = false; break;
  case USUAL_SCALE: shape->scale = problem_usual_scale(shape); break;
  case NORMAL_INPUTS: problem.inputs = INPUTS_NORMAL; break;
  case FIRST_SEED: problem.seed = 1; break;
  case OWN_CONFIGURATION: problem.configuration = NULL; break;
  case WITH_LSE: problem.o_alone = false; break;
  case PLAIN_SCHEDULE: problem.schedule = 0; break;
  case FP16: shape->dtype = ATTENTION_FP16; break;
  case SHORTER_SEQ_Q: shape->seq_q = one_less(shape->seq_q); break;
  case SHORTER_SEQ_KV: shape->seq_kv = one_less(shape->seq_kv); break;
  case SMALLER_HEAD_DIM: shape->head_dim = one_less(shape->head_dim); break;
  case SIMPLIFICATIONS: break;
  }
  if (usual) shape->scale = problem_usual_scale(shape); // it goes with head_dim
  return problem;
}

static bool same(const fuzz_problem *a, const fuzz_problem *b) {
  const attention_shape *s = &a->shape;
  const attention_shape *t = &b->shape;
  return s->dtype == t->dtype && s->batch == t->batch && s->heads == t->heads &&
         s->kv_heads == t->kv_heads && s->seq_q == t->seq_q && s->seq_kv == t->seq_kv &&
         s->head_dim == t->head_dim && s->causal == t->causal && s->scale == t->scale &&
         a->inputs == b->inputs && a->seed == b->seed && a->schedule == b->schedule &&
         a->configuration == b->configuration && a->o_alone == b->o_alone;
}

shrink_result shrink(const attention_step *step, const fuzz_problem *problem,
                     const error_text *message) {
  shrink_result result = {*problem, *message, 0};
  progress bar = progress_start("shrinking", MOST_TRIES);
  int kind = 0;
  while (kind < SIMPLIFICATIONS && result.tries < MOST_TRIES) {
    const fuzz_problem smaller = simplify(result.problem, (simplification)kind);
    if (same(&smaller, &result.problem)) {
      kind++;
      continue;
    }
    progress_show(&bar, ++result.tries);
    const run_outcome outcome = run_problem(step, &smaller, true);
    if (outcome.verdict == RUN_FAILED) {
      result.problem = smaller;
      result.message = outcome.message;
      // A change that did not help before may help now, but to begin again after each single change would
      // cost too much.
      if (kind < SHORTER_SEQ_Q) kind = 0;
    } else {
      kind++;
    }
  }
  progress_end(&bar);
  return result;
}
