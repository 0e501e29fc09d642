// The data of one run of the ladder, which its parts share.
#ifndef SESSION_H
#define SESSION_H

#include "device/device.h"
#include "ladder/row.h"
#include "measure/measure.h"
#include "options/options.h"
#include "record/folder.h"
#include "trial/trial.h"

enum { LADDER_MOST_ROWS = 128 };

typedef struct {
  device_info device;
  options options;
  trial trial;
  size_t
      count; // of the rows of the table, one for each step, or for each configuration or variant of one
  size_t
      beside; // of rows behind them: steps in configurations that they do not choose themselves (pairs.c)
  attention_step *steps;   // [LADDER_MOST_ROWS], as many as rows
  ladder_row *rows;        // [LADDER_MOST_ROWS]
  measured_steps measured; // of those that are right
  record_folder folder;
  bool device_lost; // a step has left the device in a state in which nothing runs any more
} ladder_session;

// Adds one contender for each path. "STEP.so:all" adds one for each configuration of that step, "STEP.so:splits" one
// for each of some numbers of splits, and "STEP.so:variant=NAME" one that goes by that name. Cuts the paths off at the
// colon. Returns false with a sentence when a step cannot be loaded, or there are too many.
bool ladder_load_steps(ladder_session *s, char **paths, size_t count, error_text *error);

// Returns the row that a row's "x before" is relative to. It is that of the step which it comes after, or else `last`.
const ladder_row *ladder_row_before(const ladder_session *s, const ladder_row *row,
                                    const ladder_row *last);

// Two configurations, one of each step, that are the same but for a ring of stages that one of the steps lacks. It is
// that which `before` chooses for the shape, if `own` has it; else that which `own` chooses; else the first of `own`
// that both have. Both names are NULL when there is none.
typedef struct {
  const char *own, *before;
} ladder_pair;
ladder_pair ladder_find_pair(const attention_step *own, const attention_step *before,
                             const attention_shape *shape);

// Finds for each row the two rows that compare the step with the step before it in one configuration, and adds those
// that the table does not have. Returns false with a sentence when there are too many.
bool ladder_add_pairs(ladder_session *s, error_text *error);

// They tell whether the contenders are variants of a step, which are all compared with the step itself, and whether
// they are the configurations of one step.
bool ladder_has_variants(const ladder_session *s);
bool ladder_is_sweep(const ladder_session *s);

// Times the steps whose results are right, because the speed of a wrong step does not matter, and compares them. The
// rows of a sweep are ranked.
bool ladder_time_steps(ladder_session *s, error_text *error);

#endif
