// What the emulator's count mode has counted: what kernels asked of memory and tensor cores, for each
// source line. Only libemulator.so of a build with MODE=count has these functions. C17 and C++17.
//
// Counts describe the source as g++ compiled it. nvcc may join loads, move them out of loops, or do
// without a branch: compare with `make calibrate` on a GPU.
#ifndef COUNT_H
#define COUNT_H

#include "columns/columns.h"
#include "emulator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *file; // "" where the compiler told no line
  int line;
  count_values counts;
} emulator_line_counts;

// Sums over all launches since the last reset. Call these three between launches.
EMULATOR_API count_values emulator_count_total(void);
EMULATOR_API void emulator_count_reset(void);

// The same by line of the kernels' source, sorted by file and line: *lines is to be freed, the names of
// files stay. Lines come from addr2line, of GNU binutils; without it all is at file "". Returns how many,
// or SIZE_MAX when memory has run out.
EMULATOR_API size_t emulator_count_lines(emulator_line_counts **lines);

#ifdef __cplusplus
}
#endif
#endif
