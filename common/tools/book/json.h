// Writes the JSON that the lab book's page holds.
#ifndef BOOK_JSON_H
#define BOOK_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Writes a string in quotes. "<" is escaped too, so the text may stand in a script element of HTML, whatever it
// contains. The bytes must be UTF-8.
void json_string(FILE *out, const char *bytes, size_t length);

// Writes the comma in front of all items but the first; *first becomes false.
void json_next(FILE *out, bool *first);

#endif
