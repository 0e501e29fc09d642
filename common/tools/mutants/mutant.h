// Mutants of a CUDA source are copies with one small fault each, such as a barrier that is left out.
//
// Faults are made in the tokens of the source, so that comments and strings do not change. Preprocessor
// lines, except the bodies of macros, and static_asserts do not change either, nor does code that only nvcc
// reads (behind #ifdef __CUDACC__), because the emulator runs the mutants. The source must be laid out by
// clang-format, whose blanks distinguish `a < b` from `f<b>`, and `a * b` from `float *b`.
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

// Returns the names of all operators in the order of the tables, with NULL behind the last.
extern const char *const mutant_operators[];

// Appends all mutants of the source, in the order of their first bytes.
void mutants_find(const source *file, mutant_list *mutants);
void mutants_free(mutant_list *mutants);

// Appends the source with this fault in it. Its lines keep their numbers.
void mutant_write(const source *file, const mutant *mutant, text_buffer *out);

// Appends the original and the mutated text, with one space for each run of white space, such as "`a < b` ->
// `a <= b`".
void mutant_append_change(const source *file, const mutant *mutant, text_buffer *out);

// Appends the mutant's key: "NAME: operator: `original` -> `mutated`: LINE", where NAME is the file's name
// without its folder and LINE the line of source in which the fault begins. The second mutant of the same
// source that would have this key has " (2)" behind it, and so on. The key does not change when lines are
// added to or taken from other places of the source.
void mutant_append_key(const source *file, const mutant_list *mutants, size_t index,
                       text_buffer *out);

#endif
