#define _GNU_SOURCE // uselocale
#include "step/step.h"

#include <locale.h>

void step_keep_locale(void) {
  static locale_t c;
  if (!c) c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c)
    uselocale(
        c); // without memory the locale of the process stays, which is C until a step changes it
}
