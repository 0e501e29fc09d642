// Compares runs of one shape in two recordings, to find out whether a step has become slower.
#ifndef JUDGE_H
#define JUDGE_H

#include "compare/recording.h"
#include "statistics/statistics.h"

typedef enum { VERDICT_SLOWER, VERDICT_FASTER, VERDICT_SAME, VERDICT_TOO_FEW, VERDICTS } verdict;

// Returns "slower", "faster", "no difference" or "too few runs".
const char *verdict_name(verdict verdict);

// A difference that all cells have in common, up to this part, is taken for a difference of the machines.
#define JUDGE_MOST_COMMON 0.03

// Short times scatter more than long ones, and another machine changes them more. So there are bands of up to 20 us,
// 200 us, 2 ms, and longer.
enum { JUDGE_BANDS = 4 };

typedef struct {
  const measurement *old_run, *new_run; // both timed
  bool paired;                          // round for round: both were timed in one run
  double old_ms, new_ms;                // medians
  statistics_ratio ratio;               // new / old, of times without the difference of the floors
  double limit;                         // the part by which they must differ at least
  verdict verdict;
} comparison;

// The result of all comparisons together.
typedef struct {
  size_t cells;
  double common; // the median of the ratios, which is the effect of the new machine on these cells
  bool divided;  // the verdicts are of the ratios divided by that
  double noise;  // how far the other ratios lie from it, as a deviation; NaN of too few cells
  double limit;  // three times that, and more where the cells are few; NaN likewise
} judge_band;

typedef struct judgement {
  judge_band bands[JUDGE_BANDS]; // up to 20 us, ...
  judge_band all;                // which is also used for cells of a band that has too few
  double
      floor_us; // by which an empty kernel takes longer in the new recording; NaN when it is not known
  double smallest; // of the limits
  double largest;
} judgement;

// Returns where a band ends, in milliseconds; infinity for the last one.
double judge_band_end(int band);

// Fills in everything but the two runs and `paired`. `threshold` is a part: 0.01 for 1 %. `same_cells` says
// that many cells are each compared with themselves, and that most have not changed. Then the ratios show how
// far two recordings of the same code lie apart, and whether one machine is a little faster. And if both recordings
// tell how long an empty kernel takes, the difference is subtracted from the new times.
//
// A cell is slower when the ratio is above 1 + limit and its interval is above 1. It is faster when the same
// holds with the runs swapped. The limit is the larger of the threshold and three times the noise of cells
// that take about as long, or a little more where those are few; that second number counts up to 10 %. The README
// beside this file says why both conditions are needed. There are too few runs when a side has fewer than
// five.
//
// Returns false with a sentence when memory runs out.
bool judge(comparison *comparisons, size_t count, double threshold, bool same_cells,
           judgement *judgement, error_text *error);

#endif
