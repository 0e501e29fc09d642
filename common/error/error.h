// How the lab's functions say what went wrong: a sentence for the person at the terminal.
#ifndef ERROR_H
#define ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

// Exit statuses of every program of the lab.
enum { EXIT_OK = 0, EXIT_CHECK_FAILED = 1, EXIT_BAD_INPUT = 2 };

typedef struct {
  char text[1024]; // no "error: " in front, no newline at the end
} error_text;

// Writes the sentence and returns false, so that a caller can `return fail(error, "...")`.
__attribute__((format(printf, 2, 3))) static inline bool fail(error_text *error, const char *format,
                                                              ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return false;
}

#endif
