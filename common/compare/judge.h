// Is a step slower than it was? Two runs of one shape, compared.
#ifndef JUDGE_H
#define JUDGE_H

#include "compare/recording.h"
#include "statistics/statistics.h"

// What counts as significant, after the adjustment for many comparisons at once.
#define JUDGE_ALPHA 0.05

typedef enum { VERDICT_SLOWER, VERDICT_FASTER, VERDICT_SAME, VERDICT_TOO_FEW, VERDICTS } verdict;

// "slower", "faster", "no difference", "too few samples"
const char *verdict_name(verdict verdict);

typedef struct {
  const measurement *old_run, *new_run; // both timed
  double old_ms, new_ms;                // medians
  statistics_ratio ratio;               // new / old, of the medians
  double p;                             // Mann-Whitney, adjusted over all comparisons
  double delta;                         // Cliff's, positive when the new times are longer
  verdict verdict;
} comparison;

// Fills in everything but the two runs. `threshold` is a part: 0.03 for 3 %.
//
// Slower: the medians' ratio is above 1 + threshold, and p is below JUDGE_ALPHA. Faster: the same with
// the runs swapped. Both are needed, see the README beside this file.
//
// Too few samples: a side has fewer than two, or so few that p would stay above JUDGE_ALPHA even if
// the two runs did not overlap at all.
//
// False with a sentence when memory runs out.
bool judge(comparison *comparisons, size_t count, double threshold, error_text *error);

#endif
