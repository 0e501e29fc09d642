// For tests: a command line as one string.
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <string.h>

enum { COMMAND_WORDS = 64 };

typedef struct {
  char text[4096];
  char *argv[COMMAND_WORDS + 1]; // the words of `text`, then NULL
  int argc;
} command_line;

// Splits at single spaces, so that two in a row hold an empty word between them.
static inline void command_line_split(command_line *line, const char *program,
                                      const char *arguments) {
  line->argc = 0;
  strncpy(line->text, arguments, sizeof line->text - 1);
  line->text[sizeof line->text - 1] = '\0';
  line->argv[line->argc++] = (char *)program;
  char *rest = line->text[0] ? line->text : NULL;
  while (rest && line->argc < COMMAND_WORDS) line->argv[line->argc++] = strsep(&rest, " ");
  line->argv[line->argc] = NULL;
}

#endif
