#include "step/step.h"

#include <string.h>

bool step_configure(attention_step *step, const char *configuration, error_text *error) {
  step->configuration = configuration;
  if (!step->configure) {
    return !configuration ||
           fail(error, "step %s has one configuration only: leave --config out", step->name);
  }
  if (step->configure(configuration)) return true;
  char names[512] = "";
  for (const char *const *name = step->configurations(); *name; name++) {
    const size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", *name);
  }
  return fail(error, "step %s has no configuration \"%s\": it has %s", step->name, configuration,
              names);
}
