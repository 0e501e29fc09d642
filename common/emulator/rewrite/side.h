// A preprocessed text that is walked through, token by token, with the place in the sources of each.
#ifndef SIDE_H
#define SIDE_H

#include "emulator/rewrite/source.h"

enum { DEPTH_MAX = 200 }; // of files that include each other; g++ stops there

// The place in the source that a token comes from: the lines of the #includes around it, and its own. Both texts have
// the places in the same order, so they tell which tokens only one of them has.
typedef struct {
  size_t lines[DEPTH_MAX + 1];
  size_t depth;
} place;

typedef struct {
  source file;
  size_t *include_lines; // for each marker that enters a file
  size_t at;             // token outside of preprocessor lines; the count of tokens at the end
  size_t next_marker;
  place place; // of `at`
} side;

side side_open(const char *path, const char *text, size_t length);
void side_close(side *side);
bool side_ended(const side *side);
void side_go_to(side *side, size_t index); // forward only

// Do the two stand at the same token of the same place?
bool sides_meet(const side *a, const side *b);

// Passes what the two have not in common, up to where they meet again or end.
void sides_pass_difference(side *a, side *b);

#endif
