// The data of one run of the program, which its parts share.
#ifndef SESSION_H
#define SESSION_H

#include "device/device.h"
#include "group/group.h"
#include "record/folder.h"
#include "record/record.h"
#include "timing/figures.h"

enum { MOST_CONTENDERS = 40, MOST_SIZES = 8, GROUPS_HEADS = 16 };

// The work of a contender on its GPUs: the whole problem, or a part of what a step for several GPUs does.
typedef enum {
  GROUPS_WHOLE,
  GROUPS_PRODUCTS, // each GPU computes some of the heads, and nothing is exchanged
  GROUPS_EXCHANGE, // NCCL gathers K and V
  GROUPS_COPIES,   // K and V are copied from GPU to GPU
  GROUPS_MEETING,  // the GPUs wait for each other
} groups_part;

typedef struct {
  attention_step step;
  const char *variant; // NULL or its name
  int gpus;
  int size; // the number of its size in session.sizes
  groups_part part;
  gpu_group group;
  int launches; // one behind the other in a round
  timing_burst bursts[TIMING_MOST_ROUNDS];
} contender;

// How a time is taken, and how the GPUs are watched. Tests have functions of their own.
typedef struct {
  bool (*time)(gpu_group *group, const attention_step *step, int launches, int rounds,
               double *milliseconds, error_text *error);
  monitor_reading (*read)(int gpus);
  void (*pause)(void *context, double seconds);
} groups_gauge;

typedef struct {
  device_info device;
  record_folder folder;
  int gpus;
  gpu_group sizes[MOST_SIZES]; // groups of 1, 2, 4, ... GPUs, and of all, connected once
  int size_count;
  groups_gauge gauge;
  contender contenders[MOST_CONTENDERS];
  timing_contender timed[MOST_CONTENDERS]; // the same, in their order
  int count;
  bool variants;         // some are variants of a step, and all are timed on all GPUs alone
  bool failed;           // a contender computed a wrong result, or its launch failed
  FILE *lines, *samples; // of the two files
} session;

// Loads the step for one GPU and those for several from the paths, up to the end or to "--", where `next` then is. Adds a
// contender for the first, and for each number of GPUs one for each of the others and each part; where there are variants
// of a step, for all GPUs alone, because the table of variants compares nothing on fewer. The copies are left out
// where the GPUs do not reach each other's memory, and the products where they cannot have equal shares of the heads. The
// groups of GPUs must be connected before.
bool groups_load_contenders(session *s, int argc, char **argv, int *next, error_text *error);

// Returns the plan of timing_default_plan, with one time in each burst: that of several launches in a row. On the
// emulator, whose times mean nothing, there is one round.
timing_plan groups_plan(bool emulated);

// Tells whether the contender computes attention, so that its result is compared and it has an efficiency.
static inline bool groups_computes(const contender *c) {
  return c->part == GROUPS_WHOLE || c->part == GROUPS_PRODUCTS;
}

// Says in the sentence of a rank that fails which contender it was.
void groups_name_work(contender *c, const attention_shape *shape, const char *what);

// Finds for each contender how many launches in a row take about 40 ms, from 3 to 4000, by its own time. On the emulator
// it is one.
bool groups_choose_launches(session *s, const attention_shape *shape, error_text *error);

// Times all contenders in rounds, each once in a round, in a new random order, and leaves the rounds in s->timed.
bool groups_time(session *s, const attention_shape *shape, const timing_plan *plan,
                 error_text *error);

// The results of a contender, from the rounds. The efficiency is the time of the first contender, divided by the number
// of GPUs and by the contender's own time, from pairs of one round. The link's bandwidth is that of the copies alone, of
// as many GPUs: the bytes that reach a GPU, divided by their time. The share is the bandwidth at which the contender's own
// bytes reach a GPU, averaged over its whole time, divided by the link's, from pairs as well. NaN stands for what does not
// apply.
typedef struct {
  timing_figures figures;
  statistics_ratio efficiency;
  double arriving_bytes; // of K and V, that reach a GPU in one launch
  double gb_per_s;       // of a contender that moves K and V alone
  double link_gb_per_s, link_share;
} groups_result;
groups_result groups_result_of(const session *s, const contender *c, const attention_shape *shape);

// Writes a contender's line of the record; where `names` is true, the names of its columns. The first contender is the
// step on one GPU, to which the others are compared.
void groups_write_row(FILE *file, bool names, const session *s, const contender *c,
                      const attention_shape *shape, const record_conditions *conditions);

// Writes a line for each round of the contender, or one with the names of the columns.
void groups_write_samples(FILE *file, bool names, const session *s, const contender *c,
                          const attention_shape *shape, const record_conditions *conditions);

// Prints a contender's time, and its efficiency or its bandwidth.
void groups_print_row(const session *s, const contender *c, const attention_shape *shape);

#endif
