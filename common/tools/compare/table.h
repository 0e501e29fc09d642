// Prints the result of a comparison for the terminal.
#ifndef COMPARE_TABLE_H
#define COMPARE_TABLE_H

#include "compare/pairing.h"

// Prints one line for each comparison, then the rows that have no partner, then the count of each verdict.
void table_print(FILE *file, const recording *old_run, const recording *new_run,
                 const pairing *pairing, const judgement *judgement);

// Prints sentences about differences that make a comparison weaker. These are drivers, CUDA versions, clocks
// or power limits that differ between the two recordings, rows that one measured under throttling and the
// other not, too few runs where the medians are apart by more than the limit, and a difference that all rows
// have in common.
void table_print_warnings(FILE *file, const recording *old_run, const recording *new_run,
                          const pairing *pairing, const judgement *judgement);

#endif
