// For tests that depend on the number of a step. A step that a reader has made has another number than those that it is
// like.
#ifndef TESTED_AS_H
#define TESTED_AS_H

#include "step/step.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SANITIZE_SHAPES "scripts/sanitize_shapes.txt"

static inline bool has_shapes(const char *step) {
  FILE *file = fopen(SANITIZE_SHAPES, "r");
  cr_assert_not_null(file, "cannot read %s: run the tests from the folder of the lab",
                     SANITIZE_SHAPES);
  char line[512];
  const size_t length = strlen(step);
  bool found = false;
  while (!found && fgets(line, sizeof line, file))
    found = strncmp(line, step, length) == 0 && line[length] == ' ';
  fclose(file);
  return found;
}

// Writes the name of the step as which this one is tested. It is its own name, or where scripts/sanitize_shapes.txt has no
// line of it, the name of the step that it comes after, and so on.
static inline void tested_as(const char *step, char name[64]) {
  enum { MOST = 100 }; // steps may not come after each other in a circle
  char next[64];
  snprintf(next, sizeof next, "%.63s", step);
  for (int i = 0; i < MOST && *next; i++) {
    memcpy(name, next, sizeof next);
    if (has_shapes(name)) return;
    step_read_parent(name, next);
  }
}

// Returns the number of that step.
static inline int tested_number(const char *step) {
  char name[64];
  tested_as(step, name);
  return atoi(name);
}

#endif
