#include "npy/header.h"

#include "file/file.h"

bool npy_write(const char *path, npy_dtype dtype, int rank, const size_t *shape, const void *data,
               error_text *error) {
  size_t count;
  if (rank < 0 || rank > NPY_MAX_RANK)
    return fail(error, "cannot write %s: %d dimensions, the lab's .npy files have 0 to %d", path,
                rank, NPY_MAX_RANK);
  if (!npy_count_elements(dtype, rank, shape, &count))
    return fail(error, "cannot write %s: the shape has more elements than memory can hold", path);
  char header[NPY_HEADER_CAPACITY];
  size_t header_bytes = npy_header_format(dtype, rank, shape, header);
  const file_part parts[] = {{header, header_bytes}, {data, count * npy_element_bytes(dtype)}};
  return file_write_parts(path, parts, 2, error);
}
