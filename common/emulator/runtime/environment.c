#include "environment.h"

#include "error/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void environment_refuse(void) {
  fflush(stdout);
  _exit(EXIT_BAD_INPUT);
}

// NULL when it is unset or empty.
static const char *value_of(const char *variable) {
  const char *text = getenv(variable);
  return text != NULL && text[0] != '\0' ? text : NULL;
}

// A number must begin with a digit, because strtoull accepts signs and blanks, and strtod words.
static bool begins_with_digit(const char *text) { return text[0] >= '0' && text[0] <= '9'; }

uint64_t environment_number(const char *variable, uint64_t otherwise, uint64_t least,
                            uint64_t most) {
  const char *text = value_of(variable);
  if (text == NULL) return otherwise;
  char *end;
  errno = 0;
  const uint64_t number = strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0' || !begins_with_digit(text) || number < least || number > most) {
    fprintf(stderr,
            "error: %s is \"%s\", which is not a whole number from %" PRIu64 " to %" PRIu64 "\n",
            variable, error_printable(text).text, least, most);
    environment_refuse();
  }
  return number;
}

double environment_seconds(const char *variable, double otherwise) {
  enum { MOST = 1000000 };
  const char *text = value_of(variable);
  if (text == NULL) return otherwise;
  char *end;
  const double seconds = strtod(text, &end);
  if (*end != '\0' || !begins_with_digit(text) || !(seconds <= MOST)) {
    fprintf(stderr, "error: %s is \"%s\", which is not a number of seconds from 0 to %d\n",
            variable, error_printable(text).text, MOST);
    environment_refuse();
  }
  return seconds;
}
