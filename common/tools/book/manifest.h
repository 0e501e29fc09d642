// The list of what the lab book holds; main.c tells its form.
#ifndef BOOK_MANIFEST_H
#define BOOK_MANIFEST_H

#include "emulator/rewrite/text_buffer.h"

enum { ENTRY_WORDS = 4 };

typedef struct {
  const char *kind;
  const char *word[ENTRY_WORDS]; // "" where the line has fewer
} manifest_entry;

typedef struct {
  char *text; // entries point into it
  manifest_entry *entries;
  size_t count;
} manifest;

// Takes the text apart. Returns false with a sentence that names the line when it has too many words.
bool manifest_read(const text_buffer *text, manifest *list, error_text *error);
void manifest_free(manifest *list);

#endif
