#define _GNU_SOURCE
#include "file/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_write(const char *path, const void *bytes, size_t count, error_text *error) {
  struct stat existing;
  if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode)) {
    return fail(error, "cannot write %s: it exists and is no ordinary file", path);
  }
  char partial[4096];
  const int length = snprintf(partial, sizeof partial, "%s.%ld.tmp", path, (long)getpid());
  FILE *file = NULL;
  errno = ENAMETOOLONG;
  if (length > 0 && (size_t)length < sizeof partial) file = fopen(partial, "wx");
  if (!file) return fail(error, "cannot write %s: %s", path, strerror(errno));

  bool written = fwrite(bytes, 1, count, file) == count;
  written = fclose(file) == 0 && written;
  if (written && rename(partial, path) == 0) return true;
  const int cause = errno;
  unlink(partial);
  return fail(error, "cannot write %s: %s", path, strerror(cause));
}
