// How the lab's functions say what went wrong: a sentence for the person at the terminal.
#ifndef ERROR_H
#define ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

// Exit statuses of every program of the lab.
enum { EXIT_OK = 0, EXIT_CHECK_FAILED = 1, EXIT_BAD_INPUT = 2 };

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  char text[1024]; // no "error: " in front, no newline at the end
} error_text;

// Writes the sentence and returns false, so that a caller can `return fail(error, "...")`. File names,
// options and cells that it quotes may hold any bytes: it is written as error_printable does.
__attribute__((format(printf, 2, 3))) bool fail(error_text *error, const char *format, ...);

// The text as a terminal may show it, cut where the room ends: a control character would move the
// cursor, change colours or the window's title, so that it appears as \x1b, and so does what is not
// UTF-8. For text from outside that is printed by other ways than fail().
error_text error_printable(const char *text);

// The first byte of the text that error_printable would not show as it is; NULL when there is none.
const char *error_unprintable(const char *text);

#ifdef __cplusplus
}
#endif

#endif
