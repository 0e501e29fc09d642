#define _GNU_SOURCE // fstat, fileno
#include "npy/header.h"

#include "file/file.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data is copied as it lies in the file");

typedef struct {
  const char *path;
  FILE *stream;
  size_t left; // bytes not yet read
  error_text *error;
} input;

static bool fail_cut_short(const input *file, const char *part) {
  return fail(file->error,
              "%s ends in the middle of its %s: it was cut short; save or copy it again",
              file->path, part);
}

static bool read_bytes(input *file, void *out, size_t bytes, const char *part) {
  if (bytes > file->left) return fail_cut_short(file, part);
  errno = 0;
  if (fread(out, 1, bytes, file->stream) != bytes) {
    if (!ferror(file->stream)) return fail_cut_short(file, part);
    return fail(file->error, "cannot read %s: %s", file->path, strerror(errno));
  }
  file->left -= bytes;
  return true;
}

static bool allocate(input *file, size_t bytes, void **memory) {
  *memory = malloc(bytes);
  return *memory != NULL ||
         fail(file->error, "%s: no memory for its %zu bytes: free some", file->path, bytes);
}

// Reads magic, version and the length of the dictionary that follows.
static bool read_prefix(input *file, size_t *header_length) {
  char magic[NPY_MAGIC_BYTES];
  unsigned char version[2], length[4] = {0};
  if (file->left < sizeof magic)
    return fail(file->error, "%s is no .npy file: it has %zu bytes; save it with numpy.save",
                file->path, file->left);
  if (!read_bytes(file, magic, sizeof magic, "header")) return false;
  if (memcmp(magic, NPY_MAGIC, sizeof magic) != 0) {
    bool zip = memcmp(magic, "PK", 2) == 0;
    return fail(file->error, "%s is no .npy file: %s; save one array with numpy.save", file->path,
                zip ? "it looks like a .npz archive" : "it does not begin with \\x93NUMPY");
  }
  if (!read_bytes(file, version, sizeof version, "header")) return false;
  if (version[0] < 1 || version[0] > 3 || version[1] != 0)
    return fail(file->error,
                "%s has .npy format version %d.%d; known are 1.0, 2.0 and 3.0: write the file "
                "again with numpy.save",
                file->path, version[0], version[1]);
  if (!read_bytes(file, length, version[0] == 1 ? 2 : 4, "header")) return false;
  *header_length =
      length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
  return true;
}

static bool read_header(input *file, npy_array *array) {
  size_t length = 0;
  if (!read_prefix(file, &length)) return false;
  if (length > file->left)
    return fail(file->error,
                "%s: the header should be %zu bytes long, but only %zu follow: the file was cut "
                "short or is damaged; save or copy it again",
                file->path, length, file->left);
  void *text;
  // It allocates one byte more, because an allocation of 0 bytes may be NULL.
  if (!allocate(file, length + 1, &text)) return false;
  bool parsed = read_bytes(file, text, length, "header") &&
                npy_header_parse(file->path, text, length, array, file->error);
  free(text);
  return parsed;
}

static bool read_data(input *file, npy_array *array) {
  size_t bytes = array->count * npy_element_bytes(array->dtype);
  if (bytes != file->left)
    return fail(file->error,
                "%s: the data should be %zu bytes long (%zu elements of %zu bytes), but %zu follow "
                "the header: the file %s; save or copy it again",
                file->path, bytes, array->count, npy_element_bytes(array->dtype), file->left,
                file->left < bytes ? "was cut short" : "has something behind the array");
  if (bytes == 0) return true;
  return allocate(file, bytes, &array->data) && read_bytes(file, array->data, bytes, "data");
}

bool npy_read(const char *path, npy_array *array, error_text *error) {
  *array = (npy_array){0};
  input file = {.path = path, .stream = file_open(path, error), .error = error};
  if (file.stream == NULL) return false;
  struct stat status;
  bool done = fstat(fileno(file.stream), &status) == 0 ||
              fail(error, "cannot read %s: %s", path, strerror(errno));
  // The size of the file is checked before memory is taken.
  file.left = done ? (size_t)status.st_size : 0;
  done = done && read_header(&file, array) && read_data(&file, array);
  fclose(file.stream);
  if (!done) npy_free(array);
  return done;
}

void npy_free(npy_array *array) {
  free(array->data);
  *array = (npy_array){0};
}
