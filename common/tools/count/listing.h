// Prints a step's source with the counts of each line in the margin.
#ifndef LISTING_H
#define LISTING_H

#include "emulator/count.h"
#include "error/error.h"

typedef struct {
  emulator_line_counts *lines; // sorted by file and line
  size_t count;
  count_values total;
} listing;

// Takes the counts of the emulator since its last reset. Returns false with a sentence when memory runs out, or when no
// count has a known line.
bool listing_take(listing *listing, error_text *error);
void listing_free(listing *listing);

// Prints the whole of each source file that has counts, under the text of `heading`. Returns false with a sentence when
// such a file cannot be read from the current folder.
bool listing_print(FILE *out, const listing *listing, const char *heading, error_text *error);

// Prints the lines that keep memory busiest, by sectors and wavefronts, at most `most` of them.
void listing_print_busiest(FILE *out, const listing *listing, size_t most);

// Prints all columns, one to a line, and the bytes that went from each device to each other one.
void listing_print_total(FILE *out, const listing *listing);

#endif
