#define _GNU_SOURCE // fsync, O_CLOEXEC
#include "npy/header.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  char text[PATH_MAX];
} file_path;

// Creates a new file beside `path`, on the same file system, so that it can be renamed to it.
// Returns its descriptor, or -1 with errno set.
static int create_beside(const char *path, file_path *created) {
  for (unsigned attempt = 0;; attempt++) {
    int length = snprintf(created->text, sizeof created->text, "%s.%ld-%u.tmp", path,
                          (long)getpid(), attempt);
    if (length < 0 || (size_t)length >= sizeof created->text) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int descriptor = open(created->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
}

static bool write_bytes(int descriptor, const void *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    ssize_t written = write(descriptor, (const char *)bytes + done, count - done);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += (size_t)written;
  }
  return true;
}

// Writes and closes; errno tells why when it fails.
static bool fill(int descriptor, const char *header, size_t header_bytes, const void *data,
                 size_t data_bytes) {
  bool written = write_bytes(descriptor, header, header_bytes) &&
                 write_bytes(descriptor, data, data_bytes) && fsync(descriptor) == 0;
  int cause = errno;
  bool closed = close(descriptor) == 0;
  if (!written) errno = cause;
  return written && closed;
}

bool npy_write(const char *path, npy_dtype dtype, int rank, const size_t *shape, const void *data,
               error_text *error) {
  size_t count;
  if (rank < 0 || rank > NPY_MAX_RANK)
    return fail(error, "cannot write %s: %d dimensions, the lab's .npy files have 0 to %d", path,
                rank, NPY_MAX_RANK);
  if (!npy_count_elements(dtype, rank, shape, &count))
    return fail(error, "cannot write %s: the shape has more elements than memory can hold", path);
  struct stat existing;
  if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode))
    return fail(error, "cannot write %s: it exists and is no ordinary file; choose another name",
                path);
  char header[NPY_HEADER_CAPACITY];
  size_t header_bytes = npy_header_format(dtype, rank, shape, header);

  file_path temporary;
  int descriptor = create_beside(path, &temporary);
  if (descriptor < 0) return fail(error, "cannot write %s: %s", path, strerror(errno));
  if (fill(descriptor, header, header_bytes, data, count * npy_element_bytes(dtype)) &&
      rename(temporary.text, path) == 0)
    return true;
  int cause = errno;
  unlink(temporary.text);
  return fail(error, "cannot write %s: %s", path, strerror(cause));
}
