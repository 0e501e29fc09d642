// A step as its callers see it, with the functions of attention.h, linked in or loaded at run time.
#ifndef STEP_H
#define STEP_H

#include "attention.h"
#include "error/error.h"
#include "timeline/timeline.h"

typedef struct {
  const char *name;
  const char *summary;
  // A step has either these two, or the three for several GPUs. The others are NULL.
  cudaError_t (*forward)(const attention_args *args, cudaStream_t stream);
  size_t (*workspace_bytes)(const attention_shape *shape);
  cudaError_t (*forward_group)(const attention_args *args, const attention_group *group,
                               cudaStream_t stream);
  size_t (*group_workspace_bytes)(const attention_shape *shape, int ranks);
  void (*group_rows)(int seq, int rank, int ranks, attention_rows rows[2]);
  const char *(*group_unsupported)(const attention_shape *shape, int ranks); // may be NULL
  const char *(*unsupported)(const attention_shape *shape);
  const char *source; // path of a source that is not the one in steps/, else NULL
  // These are NULL in steps without named configurations.
  const char *const *(*configurations)(void);
  bool (*configure)(const char *name);
  const char *(*configuration_for)(const attention_shape *shape);
  size_t (*shared_memory_bytes)(const attention_shape *shape);
  cudaError_t (*timeline)(
      const timeline_plan *plan); // of a step built with LAB_TIMELINE, else NULL
  const char *configuration;      // chosen before each launch; NULL leaves the choice to the step
  void *library;                  // NULL for the step that is linked in
} attention_step;

// Chooses one of the step's configurations by name; NULL leaves the choice to the step. Returns false with a
// sentence that lists the names, when the step has none of that name.
bool step_configure(attention_step *step, const char *configuration, error_text *error);

// Reads which step the step comes after, where its first comment says so with `// After: NN_name`. Else `parent` is
// empty, and the step comes after the one before it by number.
void step_read_parent(const char *step, char parent[64]);

// From this call on the thread writes and reads numbers as in the C locale. A step may contain any code. If
// it called setlocale, the record of its run could otherwise have decimal commas. The two functions below
// call this one.
void step_keep_locale(void);

// Returns the step that this program was linked with (step/linked.c, only for programs that contain one).
attention_step step_linked(void);

// Opens a step's shared object, such as build/cpu/step01.so. Several can be open at once.
// It refuses a step for several GPUs; the second function opens such a step, and refuses the others.
bool step_load(const char *path, attention_step *step, error_text *error);
bool step_load_group(const char *path, attention_step *step, error_text *error);
// Opens a step of either sort; forward_group is NULL in one for one GPU.
bool step_load_either(const char *path, attention_step *step, error_text *error);
void step_unload(attention_step *step);

#endif
