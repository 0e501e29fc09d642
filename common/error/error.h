// The lab's functions say what went wrong in a sentence for the reader at the terminal.
#ifndef ERROR_H
#define ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

// Every program of the lab ends with one of these exit statuses.
enum { EXIT_OK = 0, EXIT_CHECK_FAILED = 1, EXIT_BAD_INPUT = 2 };

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  char text[1024]; // no "error: " in front, no newline at the end
} error_text;

// Writes the sentence and returns false, so that a caller can `return fail(error, "...")`. File names,
// options and cells that it quotes may hold any bytes; the sentence is written as error_printable does.
__attribute__((format(printf, 2, 3))) bool fail(error_text *error, const char *format, ...);

// Returns the text in a form that is safe to show on a terminal, cut where the room ends. A control character
// could move the cursor or change colours or the window's title, so it appears in a form such as \x1b, and so
// do bytes that are not UTF-8. Use it for text from outside that is not printed through fail().
error_text error_printable(const char *text);

// Returns the first byte of the text that error_printable would not show as it is; NULL when there is none.
const char *error_unprintable(const char *text);

#ifdef __cplusplus
}
#endif

#endif
