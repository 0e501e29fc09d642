// For tests that try a part of what there is.
#ifndef PART_H
#define PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

// Whether number i, from 0 on, is in the part to try: LAB_TENTH=0 to 9, from `make check TENTH=`, takes one in ten.
static inline bool in_tenth(size_t i) {
  const char *tenth = getenv("LAB_TENTH");
  return !tenth || !*tenth || i % 10 == (size_t)atoi(tenth);
}

#endif
