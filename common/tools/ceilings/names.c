// Finds out which ceilings a command line asks for.
#include "ceilings/ceiling.h"
#include <string.h>

bool ceiling_is_wanted(const ceiling *limit, char *const *names) {
  for (char *const *name = names; *name; name++)
    if (strcmp(*name, limit->name) == 0) return true;
  return !*names;
}

bool ceiling_names_are_known(const ceiling *all, size_t count, char *const *names,
                             error_text *error) {
  char list[512] = "";
  for (size_t i = 0, length = 0; i < count && length < sizeof list; i++)
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i == 0 ? "" : ", ",
                               all[i].name);
  for (char *const *name = names; *name; name++) {
    bool known = false;
    for (size_t i = 0; i < count; i++) known |= strcmp(*name, all[i].name) == 0;
    if (!known) return fail(error, "there is no ceiling '%.100s': there are %s", *name, list);
  }
  return true;
}
