#define _GNU_SOURCE
#include "file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *file_open(const char *path, error_text *error) {
  // Without O_NONBLOCK the open itself would wait until another process opens a named pipe for
  // writing.
  const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  FILE *file = NULL;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    fail(error, "cannot open %s: %s", path, strerror(errno));
  } else if (S_ISDIR(status.st_mode)) {
    fail(error, "%s is a folder: name a file in it", path);
  } else if (!S_ISREG(status.st_mode)) {
    fail(error, "%s is a pipe or a device: save its contents to an ordinary file and name that",
         path);
  } else if ((file = fdopen(descriptor, "rb")) == NULL) {
    fail(error, "cannot open %s: %s", path, strerror(errno));
  }
  if (!file && descriptor >= 0) close(descriptor);
  return file;
}
