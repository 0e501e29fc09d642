// Why some mutants are no faults: files that the lab keeps beside what they speak of. An entry is a mutant's
// key (mutant.h) on a line that begins without a blank, and behind it one line or several that begin with
// blanks: the reason, in a sentence. Lines that begin with # are comments, and blank lines count for nothing.
#ifndef REASONS_H
#define REASONS_H

#include "emulator/rewrite/text_buffer.h"
#include "error/error.h"

typedef struct {
  char *key;
  char *reason; // its lines joined by blanks
  size_t line;  // of the key
  bool used;    // reasons_find has found it
} reason;

typedef struct {
  char *path;
  reason *items;
  size_t count;
  size_t capacity;
} reason_list;

// Reads a file's text. False with a sentence that names file and line when a key has no reason, a reason no
// key, or when a key stands there twice.
bool reasons_read(reason_list *reasons, const char *path, const char *text, size_t length,
                  error_text *error);
void reasons_free(reason_list *reasons);

// The reason of the mutant with this key, and NULL when there is none.
const char *reasons_find(reason_list *reasons, const char *key);

// False with a sentence when some entry has never been found: the source has changed since.
bool reasons_all_used(const reason_list *reasons, error_text *error);

#endif
