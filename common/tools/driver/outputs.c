#define _GNU_SOURCE
#include "driver/outputs.h"

#include "file/file.h"
#include "npy/npy.h"
#include "shape/shape.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool writable(const char *path, error_text *error) {
  struct stat status;
  const size_t length = strlen(path);
  const bool exists = lstat(path, &status) == 0;
  if (path[length - 1] == '/' || (exists && S_ISDIR(status.st_mode))) {
    return fail(error, "cannot write %s: it is a folder: name a file in it", path);
  }
  // A rename would put a file in the place of a device or of a link.
  if (exists && !S_ISREG(status.st_mode)) {
    return fail(error, "cannot write %s: it is there and not an ordinary file: give another name",
                path);
  }
  // Making a file there finds missing permissions, read-only disks and names that are too long.
  return file_can_write(path, error);
}

bool outputs_writable(const options *options, error_text *error) {
  return (!options->out || writable(options->out, error)) &&
         (!options->lse || writable(options->lse, error));
}

static bool write_as_float32(const char *path, const trial *trial, const size_t *shape,
                             error_text *error) {
  const size_t count = shape_q_count(&trial->shape);
  float *values = malloc(count * sizeof *values);
  if (!values) return fail(error, "not enough memory to convert O to float32");
  for (size_t i = 0; i < count; i++) {
    values[i] = reference_value(trial->shape.dtype, trial->o[i]);
  }
  const bool good = npy_write(path, NPY_FLOAT32, 4, shape, values, error);
  free(values);
  return good;
}

bool outputs_write(const options *options, const trial *trial, error_text *error) {
  const size_t shape[4] = {(size_t)trial->shape.batch, (size_t)trial->shape.heads,
                           (size_t)trial->shape.seq_q, (size_t)trial->shape.head_dim};
  if (options->out) {
    const npy_dtype own = options->out_dtype == OUTPUT_FLOAT16 ? NPY_FLOAT16 : NPY_UINT16;
    const bool good = options->out_dtype == OUTPUT_FLOAT32
                          ? write_as_float32(options->out, trial, shape, error)
                          : npy_write(options->out, own, 4, shape, trial->o, error);
    if (!good) return false;
  }
  return !options->lse || npy_write(options->lse, NPY_FLOAT32, 3, shape, trial->lse, error);
}
