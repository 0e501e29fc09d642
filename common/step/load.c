#include "step/step.h"

#include <dlfcn.h>
#include <string.h>

// dlsym returns a pointer to an object. POSIX promises that it can hold a function's address as
// well, but C has no cast from one to the other.
static bool find(void *library, const char *path, const char *symbol, void *function,
                 error_text *error) {
  void *address = dlsym(library, symbol);
  if (!address) return fail(error, "%s is not a step of this lab: it has no %s", path, symbol);
  memcpy(function, &address, sizeof address);
  return true;
}

static void find_optional(void *library, const char *symbol, void *function) {
  void *address = dlsym(library, symbol);
  memcpy(function, &address, sizeof address);
}

// Counts and times are recorded by the step's name, and its files are named by its number. A copy in a folder of another
// number would stand there as the step that it is a copy of.
static bool has_number_of_its_folder(const attention_step *step, error_text *error) {
  if (!step->source) return true; // of steps/, where each name is its folder's
  const char *end = strrchr(step->source, '/');
  const char *folder = end;
  while (folder && folder > step->source && folder[-1] != '/') folder--;
  if (!folder) return true;
  const size_t number = strcspn(step->name, "_");
  if (strncmp(folder, step->name, number + 1) == 0) return true;
  return fail(error,
              "the step of %s calls itself %s, and its numbers would be recorded as that step's: "
              "let its attention_name return \"%.*s\", as its folder is called",
              step->source, step->name, (int)(end - folder), folder);
}

// Finds what all steps have.
static bool load(const char *path, attention_step *step, error_text *error) {
  step_keep_locale();
  *step = (attention_step){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
  if (!step->library) return fail(error, "cannot load a step: %s", dlerror());
  const char *(*name)(void) = NULL;
  const char *(*summary)(void) = NULL;
  if (!find(step->library, path, "attention_name", &name, error) ||
      !find(step->library, path, "attention_summary", &summary, error) ||
      !find(step->library, path, "attention_unsupported", &step->unsupported, error)) {
    return false;
  }
  find_optional(step->library, "attention_forward_group", &step->forward_group);
  find_optional(step->library, "attention_group_unsupported", &step->group_unsupported);
  find_optional(step->library, "attention_configurations", &step->configurations);
  find_optional(step->library, "attention_configure", &step->configure);
  find_optional(step->library, "attention_configuration", &step->configuration_for);
  find_optional(step->library, "attention_shared_memory_bytes", &step->shared_memory_bytes);
  find_optional(step->library, "attention_timeline", &step->timeline);
  const char *(*source)(void) = NULL;
  find_optional(step->library, "attention_source", &source);
  step->source = source ? source() : NULL;
  step->name = name();
  step->summary = summary();
  return has_number_of_its_folder(step, error);
}

bool step_load_either(const char *path, attention_step *step, error_text *error) {
  const bool good = load(path, step, error);
  const bool several = step->forward_group;
  step_unload(step);
  return good && (several ? step_load_group : step_load)(path, step, error);
}

bool step_load(const char *path, attention_step *step, error_text *error) {
  bool good = load(path, step, error);
  if (good && step->forward_group)
    good = fail(error,
                "%s is a step for several GPUs, and this program runs steps on one GPU: use the "
                "step's own program, as in make step%.2s run, or make groups for its times",
                path, step->name);
  good = good && find(step->library, path, "attention_forward", &step->forward, error) &&
         find(step->library, path, "attention_workspace_bytes", &step->workspace_bytes, error);
  if (!good) step_unload(step);
  return good;
}

bool step_load_group(const char *path, attention_step *step, error_text *error) {
  bool good = load(path, step, error);
  if (good && !step->forward_group)
    good = fail(error, "%s is a step for one GPU: give a step for several, from 21 on", path);
  good = good && find(step->library, path, "attention_group_rows", &step->group_rows, error) &&
         find(step->library, path, "attention_group_workspace_bytes", &step->group_workspace_bytes,
              error);
  if (!good) step_unload(step);
  return good;
}

void step_unload(attention_step *step) {
  if (step->library) dlclose(step->library);
  step->library = NULL;
}
