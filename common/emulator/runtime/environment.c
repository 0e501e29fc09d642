#include "environment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t environment_number(const char *variable, uint64_t otherwise, uint64_t least,
                            uint64_t most) {
  const char *text = getenv(variable);
  if (text == NULL || text[0] == '\0') return otherwise;
  char *end;
  errno = 0;
  const uint64_t number = strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || number < least ||
      number > most) {
    fprintf(stderr,
            "error: %s is \"%s\", which is not a whole number from %" PRIu64 " to %" PRIu64 "\n",
            variable, text, least, most);
    exit(2);
  }
  return number;
}
