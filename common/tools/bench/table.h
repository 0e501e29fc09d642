// The table that the bench prints while it works: a line for each cell, with a column for each step.
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "bench/cell.h"
#include "bench/session.h"

// Prints the heading: the device, the unit, and the names of the columns.
void table_print_head(const bench_session *s);

// Prints the line of a cell that took so many seconds. `measured` are the numbers of its steps.
void table_print_cell(const bench_session *s, size_t number, const cell *cell,
                      const size_t *measured, double seconds);

#endif
