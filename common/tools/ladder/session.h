// The data of one run of the ladder, which its parts share.
#ifndef SESSION_H
#define SESSION_H

#include "device/device.h"
#include "ladder/row.h"
#include "measure/measure.h"
#include "options/options.h"
#include "record/folder.h"
#include "trial/trial.h"

typedef struct {
  device_info device;
  options options;
  trial trial;
  size_t count; // of steps
  attention_step *steps;
  ladder_row *rows;
  measured_steps measured; // of those that are right
  record_folder folder;
} ladder_session;

// Adds one contender for each path. "STEP.so:all" adds one for each configuration of that step, "STEP.so:splits" one for
// each of some numbers of splits, and
// "STEP.so:variant=NAME" one that goes by that name. Cuts the paths off at the colon. Returns false with a sentence
// when a step cannot be loaded, or there are too many.
bool ladder_load_steps(ladder_session *s, char **paths, size_t count, error_text *error);

// Reads which step the step comes after, where its first comment says so with `// After: NN_name`. Else `parent` is
// empty, and the step comes after the one before it by number.
void ladder_read_parent(const char *step, char parent[64]);

// They tell whether the contenders are variants of a step, which are all compared with the step itself, and whether
// they are the configurations of one step.
bool ladder_has_variants(const ladder_session *s);
bool ladder_is_sweep(const ladder_session *s);

// Times the steps whose results are right, because the speed of a wrong step does not matter, and compares them. The
// rows of a sweep are ranked.
bool ladder_time_steps(ladder_session *s, error_text *error);

#endif
