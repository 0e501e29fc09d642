// Problems whose scores a test chooses, for the suites of all steps: far beyond those of a model, as long as float32 holds
// them.
#ifndef SCORES_H
#define SCORES_H

#include "trial/trial.h"

// The score of key `key` among `keys`, in units of the largest: from -1 to 1.
typedef float score_pattern(int key, int keys);

enum { SCORE_PATTERNS = 8 };
extern score_pattern *const score_patterns[SCORE_PATTERNS];
extern score_pattern scores_all_tied, scores_one_key_at_the_start, scores_rising,
    scores_every_third_tied;

// Odd rows have the score 0, and so have the rows of which bit 3 is not as this says: a lane holds two rows whose numbers
// differ in that bit.
typedef enum { BOTH_ROWS, FIRST_ROW, SECOND_ROW, ROWS } rows_of_lane;

// Returns the shape with the scale with which scores_fill makes scores up to the largest.
attention_shape scores_shape(attention_shape shape, float largest);

// Fills Q and K of a trial with that shape: row i and key j have the score largest * pattern(j), a product of two numbers.
// V is normal.
void scores_fill(trial *trial, float largest, score_pattern *pattern, rows_of_lane rows);

#endif
