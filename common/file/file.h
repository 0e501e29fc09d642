// Output files that appear whole or not at all.
#ifndef FILE_H
#define FILE_H

#include "error/error.h"
#include <stddef.h>

// Writes the bytes to a new file beside `path` and renames it to `path`, so that a reader sees the old
// file or the new one and never a part. A file of that name is replaced; on failure it stays, nothing
// else is left behind, and the sentence gives the path and the system's reason.
bool file_write(const char *path, const void *bytes, size_t count, error_text *error);

#endif
