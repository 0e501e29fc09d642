#include "fuzz/problem.h"

#include "numeric/random.h"
#include "shape/shape.h"
#include <inttypes.h>
#include <math.h>

// Returns a number from `low` to `high`, both included.
static int between(uint64_t *state, int low, int high) {
  return low + (int)(random_next(state) % (uint64_t)(high - low + 1));
}

static bool one_in(uint64_t *state, int count) { return between(state, 1, count) == 1; }

static int random_length(uint64_t *state) {
  switch (between(state, 0, 3)) {
  case 0: return 16 * between(state, 1, 16) + between(state, -1, 1); // around the end of a tile
  case 1: return between(state, 1, 300);
  default: return between(state, 1, 80);
  }
}

static int random_head_dim(uint64_t *state) {
  static const int usual[] = {8, 16, 32, 40, 64, 80, 96, 128};
  return one_in(state, 2) ? usual[between(state, 0, 7)] : between(state, 1, 128);
}

float problem_usual_scale(const attention_shape *shape) {
  return 1.0f / sqrtf((float)shape->head_dim);
}

static float random_scale(uint64_t *state, const attention_shape *shape) {
  static const float factors[] = {0.0f, -1.0f, 0.01f, 2.0f};
  const float usual = problem_usual_scale(shape);
  return one_in(state, 4) ? usual * factors[between(state, 0, 3)] : usual;
}

static attention_shape random_shape(uint64_t *state) {
  attention_shape shape = {0};
  shape.dtype = one_in(state, 2) ? ATTENTION_FP16 : ATTENTION_BF16;
  shape.batch = one_in(state, 4) ? 2 : 1;
  shape.kv_heads = between(state, 1, 2);
  shape.heads = shape.kv_heads * between(state, 1, 2);
  shape.seq_q = random_length(state);
  shape.seq_kv = one_in(state, 2) ? shape.seq_q : random_length(state);
  shape.head_dim = random_head_dim(state);
  shape.causal = one_in(state, 2);
  shape.scale = random_scale(state, &shape);
  return shape;
}

// A step that takes few head_dims refuses most shapes. This number of tries is enough to find one.
enum { TRIES = 1000 };

static const char *random_configuration(uint64_t *state, const attention_step *step) {
  int count = 0;
  if (!step->configurations) return NULL;
  while (step->configurations()[count]) count++;
  const int chosen = between(state, 0, count);
  return step->configurations()[chosen]; // the NULL at the end is the step's own choice
}

fuzz_problem problem_random(const attention_step *step, uint64_t seed, uint64_t number) {
  uint64_t state = seed;
  state = random_next(&state) + number; // far from those of the next seed
  fuzz_problem problem = {0};
  for (int try = 0; try < TRIES; try++) {
    problem.shape = random_shape(&state);
    if (!step->unsupported(&problem.shape)) break;
  }
  problem.inputs =
      one_in(&state, 2) ? INPUTS_NORMAL : (inputs_kind)between(&state, 0, INPUTS_KINDS - 1);
  problem.seed = random_next(&state) % 1000000;
  problem.schedule = one_in(&state, 4) ? 0 : random_next(&state) % 1000000;
  problem.configuration = random_configuration(&state, step);
  problem.o_alone = one_in(&state, 3);
  return problem;
}

command_text problem_command(const fuzz_problem *problem, const char *program, bool emulated) {
  const attention_shape *shape = &problem->shape;
  command_text command;
  int length =
      snprintf(command.text, sizeof command.text,
               "%s --dtype %s --batch %d --heads %d --kv-heads %d --seq-q %d --seq-kv %d "
               "--dim %d%s --scale %.9g --inputs %s --seed %" PRIu64,
               program, shape_dtype_name(shape->dtype), shape->batch, shape->heads, shape->kv_heads,
               shape->seq_q, shape->seq_kv, shape->head_dim, shape->causal ? " --causal" : "",
               (double)shape->scale, inputs_name(problem->inputs), problem->seed);
  const size_t room = sizeof command.text;
  if (problem->configuration && (size_t)length < room) {
    length += snprintf(command.text + length, room - (size_t)length, " --config %s",
                       problem->configuration);
  }
  if (problem->o_alone && (size_t)length < room)
    length += snprintf(command.text + length, room - (size_t)length, " --o-alone");
  if (emulated && (size_t)length < room) {
    snprintf(command.text + length, room - (size_t)length, " --emu-seed %" PRIu64,
             problem->schedule);
  }
  return command;
}
