// Reads and writes files in the way that all programs of the lab share.
#ifndef FILE_H
#define FILE_H

#include "error/error.h"
#include <stddef.h>

// ---- Output files appear whole or not at all (write.c) ------------------------------------------

// Writes the bytes to a new file beside `path`, under a name that no other file has, and renames it to
// `path`, so that a reader sees the old file or the new one and never a part. A file of that name is replaced
// by one of the same mode and owner; a new file has the mode that the umask leaves. On failure the old file
// stays and the sentence gives the path and the system's reason. The new file beside `path` is removed on
// failure, and when SIGINT, SIGTERM, SIGHUP or SIGQUIT ends the process. One thread of a process writes at a
// time.
bool file_write(const char *path, const void *bytes, size_t count, error_text *error);

// The same for bytes that lie in several places, written one behind the other.
typedef struct {
  const void *bytes;
  size_t count;
} file_part;
bool file_write_parts(const char *path, const file_part *parts, size_t count, error_text *error);

// Tells whether file_write could write a file of this name. It makes one beside it and removes it again.
bool file_can_write(const char *path, error_text *error);

// ---- Input files are ordinary files (read.c) ----------------------------------------------------

// Opens an ordinary file for reading. Returns NULL with a sentence for a folder, a pipe or a device, whose
// end may never come.
FILE *file_open(const char *path, error_text *error);

// ---- Names (same.c) -----------------------------------------------------------------------------

// Tells whether both names mean one file. They may do so through links of either kind, or, where neither file
// exists yet, because both would be made in one folder under one name.
bool file_same(const char *a, const char *b);

#endif
