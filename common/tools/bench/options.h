// Reads the command line of the bench.
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench/grid.h"
#include "error/error.h"

enum { BENCH_MOST_ONLY = 32 };

typedef struct {
  grid_filter filter;
  bool fresh;                        // forget what an earlier run has measured
  bool help;                         // nothing else was looked at
  size_t rounds;                     // of each row; 0: as many as it needs
  double seconds;                    // that a row's bursts may take
  const char *only[BENCH_MOST_ONLY]; // names or numbers of steps
  size_t only_count;                 // 0 stands for all
} bench_options;

extern const char bench_usage[];

// Reads the command line, whose words from argv[1] on are options. Returns false with a sentence when one is
// wrong. The names in `only` point into argv.
bool bench_options_parse(int argc, char **argv, bench_options *options, error_text *error);

// Tells whether the options ask for a step of this name. Both "05" and "05_wmma" ask for "05_wmma".
bool bench_options_want(const bench_options *options, const char *step);

#endif
