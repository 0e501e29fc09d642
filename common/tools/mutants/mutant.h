// Mutants of a CUDA source: copies with one small fault each, such as a barrier that is left out.
//
// Found in the tokens of the source, so that comments and strings stay as they are, and so do preprocessor
// lines but for the bodies of macros, what stands in a static_assert, and what only nvcc reads (behind
// #ifdef __CUDACC__), because it is the emulator that runs mutants. The source is laid out by clang-format:
// that is how `a < b` is told from `f<b>`, and `a * b` from `float *b`.
#ifndef MUTANT_H
#define MUTANT_H

#include "emulator/rewrite/source.h"

typedef struct {
  const char *kind; // its operator's name, such as "barrier"
  size_t start;     // the bytes of the source that the fault takes the place of
  size_t length;
  char *replacement;
  size_t line, column; // of the first byte, from 1
} mutant;

typedef struct {
  mutant *items;
  size_t count;
  size_t capacity;
} mutant_list;

// The names of all operators in the order of the tables, and behind the last NULL.
extern const char *const mutant_operators[];

// Appends all mutants of the source, in the order of their first bytes.
void mutants_find(const source *file, mutant_list *mutants);
void mutants_free(mutant_list *mutants);

// Appends the source with this fault in it. Its lines keep their numbers.
void mutant_write(const source *file, const mutant *mutant, text_buffer *out);

// Appends what the mutant replaces, and by what, each run of white space made one space:
// "`a < b` -> `a <= b`".
void mutant_append_change(const source *file, const mutant *mutant, text_buffer *out);

// Appends the mutant's key: "NAME: operator: `original` -> `mutated`: LINE", where NAME is the file's name
// without its folder and LINE the line of source in which the fault begins. The second mutant of the same
// source that would have this key has " (2)" behind it, and so on. The key does not change when lines are
// added to or taken from other places of the source.
void mutant_append_key(const source *file, const mutant_list *mutants, size_t index,
                       text_buffer *out);

#endif
