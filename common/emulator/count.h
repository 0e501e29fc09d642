// The results of the emulator's count mode: how much kernels asked of memory and of the tensor cores, for
// each source line. Only libemulator.so of a build with MODE=count has these functions. C17 and C++17.
//
// The counts describe the source as g++ compiled it. nvcc may merge loads, move them
// out of loops, or remove a branch; `make calibrate` compares the counts with a GPU's.
#ifndef COUNT_H
#define COUNT_H

#include "columns/columns.h"
#include "emulator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *file; // "" where the compiler recorded no line
  int line;
  count_values counts;
} emulator_line_counts;

// Returns the sums over all launches since the last reset. Call these three functions between launches only.
EMULATOR_API count_values emulator_count_total(void);
EMULATOR_API void emulator_count_reset(void);

// Gives the same sums for each line of the kernels' source, sorted by file and line. The caller frees
// *lines; the names of the files stay valid. The lines come from addr2line, of GNU binutils; without
// it all sums belong to file "". Returns the number of lines, or SIZE_MAX when memory has run out.
EMULATOR_API size_t emulator_count_lines(emulator_line_counts **lines);

#ifdef __cplusplus
}
#endif
#endif
