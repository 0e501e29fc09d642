// Places in the source: each instruction or call that accesses
// memory has a number, and a text for reports.
#ifndef PLACES_H
#define PLACES_H

#include "code_line.h"
#include "emulator.h"

// The place of the instruction that ends at `pc` in a kernel's module, and that of a library call.
uint32_t place_of_code(const void *pc);
uint32_t place_of_site(const emulator_site *site);

typedef code_line place_text;

// Looks up the texts of `count` places, those in code as code_lines_find does.
void places_describe(const uint32_t *places, size_t count, place_text *texts);

#endif
