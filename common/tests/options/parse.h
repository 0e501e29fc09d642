// For the tests of the options: a command line as one string, parsed.
#ifndef PARSE_H
#define PARSE_H

#include "../driver/command_line.h"
#include "options/options.h"
#include <criterion/criterion.h>

// The paths in the options point into the words, so the words must live as long.
static command_line words;

static inline bool parse(const char *arguments, options *parsed, error_text *error) {
  error->text[0] = '\0';
  command_line_split(&words, "step", arguments);
  return options_parse(words.argc, words.argv, parsed, error);
}

static inline options parse_good(const char *arguments) {
  options parsed;
  error_text error;
  cr_assert(parse(arguments, &parsed, &error), "'%s' was refused: %s", arguments, error.text);
  return parsed;
}

#endif
