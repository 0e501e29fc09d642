// Reads the files that say why some mutants are not faults. They lie beside the sources of the mutants. An
// entry is a mutant's key (mutant.h) on a line that begins without a blank, and behind it one line or several
// that begin with blanks and hold the reason, in a sentence. Lines that begin with # are comments, and blank
// lines are skipped.
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

// Reads a file's text. Returns false with a sentence that names file and line when a key has no reason, a
// reason has no key, or a key stands there twice.
bool reasons_read(reason_list *reasons, const char *path, const char *text, size_t length,
                  error_text *error);
void reasons_free(reason_list *reasons);

// Returns the reason of the mutant with this key, or NULL when there is none.
const char *reasons_find(reason_list *reasons, const char *key);

// Returns false with a sentence when an entry was never found, which means that the source has changed since.
bool reasons_all_used(const reason_list *reasons, error_text *error);

#endif
