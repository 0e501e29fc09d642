// Finds who called a function whose line a report names, where the two lines may be in different files.
#ifndef CALLER_H
#define CALLER_H

#include "emulator.h"

#include <stdint.h>

enum { CALLER_TEXT = 256, CALLER_CALLS = 12 };

// Writes "called from FILE:LINE": the next line outside of the site's file of those that have led to the site, or, where
// all are in that file, the line that called the site's function. Empty where that is not known. Call it on the stack of
// the thread that is at the site.
void caller_of(const emulator_site *site, char text[CALLER_TEXT]);

// The instructions of the calls that have led somewhere, the innermost first.
typedef struct {
  const void *code[CALLER_CALLS];
  size_t count;
} caller_chain;

// Takes those that have led here. In a handler of a signal they begin with the instruction that it has interrupted.
void caller_take(caller_chain *chain);

// Does the same as caller_of, later and on any stack. `line` is the line of the first of these instructions that belongs to
// the program.
void caller_of_chain(const caller_chain *chain, int line, char text[CALLER_TEXT]);

// Returns the instruction if its line belongs to the program or to Thrust, and otherwise the first call behind it in the chain
// whose line does: g++ need not inline a function of a stand-in header, and a reader does not know that header's lines.
uintptr_t caller_in_program(const caller_chain *chain, uintptr_t instruction);

#endif
