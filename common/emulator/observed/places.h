// Places in the source: a number for each instruction or call that accesses memory, and what a report
// says of it.
#ifndef PLACES_H
#define PLACES_H

#include "code_line.h"
#include "emulator.h"

// The place of the instruction that ends at `pc` in a kernel's module; that of a library call.
uint32_t place_of_code(const void *pc);
uint32_t place_of_site(const emulator_site *site);

typedef code_line place_text;

// Looks up what is known of `count` places: of code as code_lines_find does.
void places_describe(const uint32_t *places, size_t count, place_text *texts);

#endif
