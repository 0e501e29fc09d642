// Which steps take part: those of the command line, with their configurations, or as variants of one step.
#define _GNU_SOURCE
#include "ladder/session.h"

#include <stdlib.h>
#include <string.h>

bool ladder_has_variants(const ladder_session *s) {
  for (size_t i = 0; i < s->count; i++) {
    if (s->rows[i].result.variant) return true;
  }
  return false;
}

bool ladder_is_sweep(const ladder_session *s) { return s->rows[0].step->configuration != NULL; }

// Cuts off the word behind the path's colon and returns it. It is "all" or a variant's name, or NULL where
// there is none.
static bool take_choice(char *path, const char **variant) {
  static const char of_variant[] = ":variant=";
  char *name = strstr(path, of_variant);
  *variant = name ? name + sizeof of_variant - 1 : NULL;
  char *colon = name ? name : strrchr(path, ':');
  const bool all = colon && strcmp(colon, ":all") == 0;
  if (name || all) *colon = '\0';
  return all;
}

bool ladder_load_steps(ladder_session *s, char **paths, size_t count, error_text *error) {
  enum { MOST = 64 };
  s->steps = calloc(MOST, sizeof *s->steps);
  s->rows = calloc(MOST, sizeof *s->rows);
  if (!s->steps || !s->rows) return fail(error, "not enough memory");
  for (size_t i = 0; i < count; i++) {
    const char *variant = NULL;
    const bool all = take_choice(paths[i], &variant);
    attention_step step;
    if (!step_load(paths[i], &step, error)) return false;
    if (all && (!step.configurations || !step.configurations()[1])) {
      return fail(error, "step %s has one configuration only: there is nothing to sweep",
                  step.name);
    }
    const char *const own_choice[] = {NULL, NULL};
    const char *const *configuration = all ? step.configurations() : own_choice;
    do {
      if (s->count == MOST) return fail(error, "more than %d steps and configurations", MOST);
      step.configuration = *configuration;
      s->steps[s->count] = step;
      s->rows[s->count].step = &s->steps[s->count];
      s->rows[s->count].result.variant = variant;
      s->count++;
    } while (*configuration && *++configuration);
  }
  for (size_t i = 0; ladder_has_variants(s) && i < s->count; i++) {
    const char **variant = &s->rows[i].result.variant;
    if (!*variant) *variant = "";
  }
  return true;
}
