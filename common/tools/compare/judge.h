// Is a step slower than it was? Runs of one shape in two recordings, compared.
#ifndef JUDGE_H
#define JUDGE_H

#include "compare/recording.h"
#include "statistics/statistics.h"

typedef enum { VERDICT_SLOWER, VERDICT_FASTER, VERDICT_SAME, VERDICT_TOO_FEW, VERDICTS } verdict;

// "slower", "faster", "no difference", "too few runs"
const char *verdict_name(verdict verdict);

// The part up to which a difference that all cells have in common is the machine's.
#define JUDGE_MOST_COMMON 0.03

typedef struct {
  const measurement *old_run, *new_run; // both timed
  bool paired;                          // round for round: both were timed in one run
  double old_ms, new_ms;                // medians
  statistics_ratio ratio;               // new / old
  double limit;                         // the part by which they must differ at least
  verdict verdict;
} comparison;

// What all comparisons say together.
typedef struct judgement {
  double
      common;   // the median of the ratios: what the machine of the new recording does to all cells
  bool divided; // the verdicts are of the ratios divided by that
  double noise; // how far the other ratios lie from it, as a deviation; NaN of too few cells
  double smallest; // of the limits
  double largest;
} judgement;

// Fills in everything but the two runs and `paired`. `threshold` is a part: 0.01 for 1 %. `same_cells` says
// that the comparisons are of many cells with themselves, most of which have not changed: then the ratios
// tell how far two recordings of one thing lie apart, and where the machine of one is a little faster.
//
// Slower: the ratio is above 1 + limit, and its interval above 1. Faster: the same with the runs swapped.
// The limit is the larger of the threshold and three times the noise of cells that take about as long, a
// little more where those are few, which counts up to 10 %. Both are needed, see the README beside this file. Too few runs: a side has fewer than
// five.
//
// False with a sentence when memory runs out.
bool judge(comparison *comparisons, size_t count, double threshold, bool same_cells,
           judgement *judgement, error_text *error);

#endif
