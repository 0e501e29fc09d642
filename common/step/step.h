// A step as its callers see it: the functions of attention.h, linked in or loaded at run time.
#ifndef STEP_H
#define STEP_H

#include "attention.h"
#include "error/error.h"

typedef struct {
  const char *name;
  const char *summary;
  cudaError_t (*forward)(const attention_args *args, cudaStream_t stream);
  size_t (*workspace_bytes)(const attention_shape *shape);
  const char *(*unsupported)(const attention_shape *shape);
  void *library; // NULL for the step that is linked in
} attention_step;

// The step this program was linked with (step/linked.c, only for programs that hold one).
attention_step step_linked(void);

// Opens a step's shared object, such as build/cpu/step01.so. Several can be open at once.
bool step_load(const char *path, attention_step *step, error_text *error);
void step_unload(attention_step *step);

#endif
