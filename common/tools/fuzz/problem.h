// A random problem for a step, with everything that determines a run of its program.
#ifndef PROBLEM_H
#define PROBLEM_H

#include "inputs/inputs.h"
#include "step/step.h"

typedef struct {
  attention_shape shape;
  inputs_kind inputs;
  uint64_t seed;             // of the inputs
  uint64_t schedule;         // order in which the emulator runs threads; 0 is the plain one
  const char *configuration; // NULL for the step's own choice
  bool o_alone;              // the step is asked for O alone, without lse
} fuzz_problem;

// Makes problem number `number` of a seed. The same arguments give the same problem. The step takes it in its
// own choice of configuration, and small enough to run in milliseconds; lengths are often one below, at or
// above a multiple of a tile.
fuzz_problem problem_random(const attention_step *step, uint64_t seed, uint64_t number);

// Returns the usual scale, 1 / sqrt(head_dim).
float problem_usual_scale(const attention_shape *shape);

// Returns the command that runs `program` on the problem, with every option written out. `emulated` adds the
// order of threads, which cannot be set on a GPU.
typedef struct {
  char text[512];
} command_text;
command_text problem_command(const fuzz_problem *problem, const char *program, bool emulated);

#endif
