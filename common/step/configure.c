#include "step/step.h"

#include <string.h>

// A step that splits the keys takes a number of splits with its own choice of tile, as ":1".
static bool splits_keys(const attention_step *step) {
  const bool takes = step->configure(":1");
  step->configure(NULL);
  return takes;
}

bool step_configure(attention_step *step, const char *configuration, error_text *error) {
  step->configuration = configuration;
  if (!step->configure) {
    const bool splits = configuration && configuration[0] == ':';
    return !configuration || fail(error, "step %s has one configuration only: leave --%s out",
                                  step->name, splits ? "splits" : "config");
  }
  if (step->configure(configuration)) return true;
  const char *colon = strchr(configuration, ':');
  if (colon && !splits_keys(step))
    return fail(error, "step %s does not split the keys: leave --splits %s out, or take step 18",
                step->name, colon + 1);
  char names[512] = "";
  for (const char *const *name = step->configurations(); *name; name++) {
    const size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", *name);
  }
  return fail(error, "step %s has no configuration \"%s\": it has %s", step->name, configuration,
              names);
}
