// A random problem for a step: everything that decides what a run of its program does.
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
} fuzz_problem;

// Problem number `number` of a seed: the same arguments give the same problem. It is one that the step
// takes in its own choice of configuration, and small enough to run in milliseconds; lengths are often one
// below, at or above a multiple of a tile.
fuzz_problem problem_random(const attention_step *step, uint64_t seed, uint64_t number);

// The usual scale, 1 / sqrt(head_dim).
float problem_usual_scale(const attention_shape *shape);

// The command that runs `program` on the problem, with every option written out. `emulated` adds the
// order of threads, which no GPU takes.
typedef struct {
  char text[512];
} command_text;
command_text problem_command(const fuzz_problem *problem, const char *program, bool emulated);

#endif
