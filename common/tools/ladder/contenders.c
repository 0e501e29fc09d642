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

typedef enum { OWN_CHOICE, ALL_CONFIGURATIONS, ALL_SPLITS } contender_choice;

// Cuts off the word behind the path's colon. It is "all", "splits" or a variant's name, which goes to `variant`.
static contender_choice take_choice(char *path, const char **variant) {
  static const char of_variant[] = ":variant=";
  char *name = strstr(path, of_variant);
  *variant = name ? name + sizeof of_variant - 1 : NULL;
  char *colon = name ? name : strrchr(path, ':');
  const contender_choice choice = !colon || name                  ? OWN_CHOICE
                                  : strcmp(colon, ":all") == 0    ? ALL_CONFIGURATIONS
                                  : strcmp(colon, ":splits") == 0 ? ALL_SPLITS
                                                                  : OWN_CHOICE;
  if (name || choice != OWN_CHOICE) *colon = '\0';
  return choice;
}

// Returns the configurations that the step runs in, ended by NULL; NULL with a sentence when there is nothing to sweep.
static const char *const *configurations_of(attention_step *step, contender_choice choice,
                                            error_text *error) {
  static const char *const own_choice[] = {NULL, NULL};
  static const char *const splits[] = {":1",  ":2",  ":3",  ":4",  ":6",  ":8",   ":12", ":16",
                                       ":24", ":32", ":48", ":64", ":96", ":128", NULL};
  if (choice == OWN_CHOICE) return own_choice;
  if (choice == ALL_SPLITS) return step_configure(step, splits[0], error) ? splits : NULL;
  if (step->configurations && step->configurations()[1]) return step->configurations();
  fail(error, "step %s has one configuration only: there is nothing to sweep", step->name);
  return NULL;
}

bool ladder_load_steps(ladder_session *s, char **paths, size_t count, error_text *error) {
  s->steps = calloc(LADDER_MOST_ROWS, sizeof *s->steps);
  s->rows = calloc(LADDER_MOST_ROWS, sizeof *s->rows);
  if (!s->steps || !s->rows) return fail(error, "not enough memory");
  for (size_t i = 0; i < count; i++) {
    const char *variant = NULL;
    const contender_choice choice = take_choice(paths[i], &variant);
    attention_step step;
    if (!step_load(paths[i], &step, error)) return false;
    const char *const *configuration = configurations_of(&step, choice, error);
    if (!configuration) return false;
    do {
      if (s->count == LADDER_MOST_ROWS)
        return fail(error, "more than %d steps and configurations", LADDER_MOST_ROWS);
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
