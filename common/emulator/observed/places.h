// Places in the source: a number for each instruction or call that accesses memory, and what a report
// says of it.
#ifndef PLACES_H
#define PLACES_H

#include "emulator.h"

// The place of the instruction that ends at `pc` in a kernel's module; that of a library call.
uint32_t place_of_code(const void *pc);
uint32_t place_of_site(const emulator_site *site);

typedef struct {
  char function[96]; // without parameters; empty when it is not known
  char file[256];    // empty when it is not known
  int line;
  char operation[64]; // of a library call: "wmma::load_matrix_sync()"; else empty
  char caller
      [256]; // "called from FILE:LINE" where the function was inlined into another; else empty
} place_text;

// Looks up what is known of `count` places. Lines come from addr2line, which reads the debug
// information; where the code is one of the stand-in headers', the line is that of its caller.
void places_describe(const uint32_t *places, size_t count, place_text *texts);

#endif
