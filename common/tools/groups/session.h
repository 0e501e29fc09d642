// The data of one run of the program, which its parts share.
#ifndef SESSION_H
#define SESSION_H

#include "device/device.h"
#include "group/group.h"
#include "record/folder.h"
#include "record/record.h"

enum { MOST_CONTENDERS = 40, MOST_ROUNDS = 7, MOST_SIZES = 8 };

typedef struct {
  attention_step step;
  const char *variant; // NULL or its name
  int gpus;
  int size;     // the number of its size in session.sizes
  bool checked; // it computes attention
  gpu_group group;
  double milliseconds[MOST_ROUNDS];
} contender;

typedef struct {
  device_info device;
  record_folder folder;
  int gpus;
  gpu_group sizes[MOST_SIZES]; // groups of 1, 2, 4, ... GPUs, and of all, connected once
  int size_count;
  contender contenders[MOST_CONTENDERS];
  int count;
  int rounds;
  bool failed; // a contender computed a wrong result, or its launch failed
  FILE *lines;
} session;

// Loads the step for one GPU and those for several from the paths, up to the end or to "--", where `next` then is. Adds a
// contender for the first, one for each of the others and each number of GPUs, and the exchange of K and V alone. The
// groups of GPUs must be connected before.
bool groups_load_contenders(session *s, int argc, char **argv, int *next, error_text *error);

// Writes a contender's line of the record; where `names` is true, the names of its columns. The first contender is the
// step on one GPU, to which the others are compared.
void groups_write_row(FILE *file, bool names, const session *s, const contender *c,
                      const attention_shape *shape, const record_conditions *conditions);

// Prints a contender's time, and its efficiency or its bandwidth.
void groups_print_row(const session *s, const contender *c, const attention_shape *shape);

#endif
